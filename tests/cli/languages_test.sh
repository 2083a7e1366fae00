# SPDX-License-Identifier: GPL-2.0-or-later
# A program of C, C++ and Fortran, each from clang or flang and from gcc, is recorded as one: every
# function loads and stores its exact number of bytes (flang has vectors), whoever links it.
# Not under sanitizers: all of it is other compilers' code.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_clang
need_flang
need_gcc gcc g++ gfortran

cat >main.c <<'C'
#include <stdio.h>
int shared[1000];
void clang_c(int *, int), clang_cxx(int *, int), flang_f(int *, int);
void gcc_c(int *, int), gcc_cxx(int *, int), gcc_f(int *, int);
int main(void)
{
	clang_c(shared, 1000);
	clang_cxx(shared, 1000);
	flang_f(shared, 1000);
	gcc_c(shared, 1000);
	gcc_cxx(shared, 1000);
	gcc_f(shared, 1000);
	printf("%d %d\n", shared[0], shared[999]);
	return 0;
}
C
body() { # FUNCTION: its loop, which loads and stores each element
	echo "void $1(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 3 * a[i] + 1; }"
}
fortran() { # FUNCTION
	cat <<-F
		subroutine $1(a, n) bind(c)
		  use iso_c_binding
		  integer(c_int), value :: n
		  integer(c_int) :: a(n)
		  integer :: i
		  do i = 1, n
		    a(i) = 3 * a(i) + 1
		  end do
		end subroutine
	F
}
body clang_c >clang_c.c
body gcc_c >gcc_c.c
for name in clang_cxx gcc_cxx; do
	echo "extern \"C\" $(body $name)" >$name.cc
done
fortran flang_f >flang_f.f90
fortran gcc_f >gcc_f.f90

clang=19
case $versions in *19*) ;; *) echo "skipped: clang 19 is missing"; exit 77 ;; esac
options='-g -O1 -c'
expect 0 loci cc --loci-clang=$clang $options main.c
expect 0 loci cc --loci-clang=$clang $options clang_c.c
expect 0 loci c++ --loci-clang=$clang $options clang_cxx.cc
expect 0 loci flang $options flang_f.f90
expect 0 loci gcc $options gcc_c.c
expect 0 loci g++ $options gcc_cxx.cc
expect 0 loci gfortran $options gcc_f.f90
for linker in "loci c++ --loci-clang=$clang" 'loci g++' 'loci gfortran'; do
	expect 0 $linker main.o clang_c.o clang_cxx.o flang_f.o gcc_c.o gcc_cxx.o gcc_f.o -o all
	expect 0 loci record -o all.loci ./all
	has out '364 364'
	got=$(sqlite3 all.loci "select group_concat(name || ' ' || bytes, ', ') from (
		select name, sum(refs * size_bytes) as bytes from site join function on function_id = function.id
		where name <> 'main' group by name order by name)")
	want='clang_c 8000, clang_cxx 8000, flang_f 8000, gcc_c 8000, gcc_cxx 8000, gcc_f 8000'
	[ "$got" = "$want" ] || fail "$linker: $got, want $want"
	got=$(sqlite3 all.loci "select group_concat(name, ' ') from object where refs > 100")
	[ "$got" = shared ] || fail "$linker: objects $got"
	got=$(sqlite3 all.loci "select count(*) from site where line is null")
	[ "$got" = 0 ] || fail "$linker: $got sites without a line"
done
finish
