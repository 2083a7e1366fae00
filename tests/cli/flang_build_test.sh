# SPDX-License-Identifier: GPL-2.0-or-later
# Fortran programs made by loci flang: in the usual build systems, static, shared, with objects of loci cc
# and c++, C programs with Fortran in them; they run, say and end as flang's do, recorded or not.
# Not under sanitizers: flang and build systems do the work; flang_line_test.sh has the wrapper under them.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_flang
loci_flang="$LOCI flang --loci-flang=$flang"

cat >steps.f90 <<'END'
module steps
  implicit none
  real(8), allocatable :: cells(:)
contains
  subroutine step(n)
    integer, intent(in) :: n
    integer :: i
    if (.not. allocated(cells)) allocate(cells(n), source=1d0)
    do i = 2, n
      cells(i) = cells(i) + 0.5d0 * cells(i - 1)
    end do
  end subroutine
end module
END
cat >ends.f90 <<'END'
program ends
  use steps
  implicit none
  character(len=16) :: how
  integer :: i
  call get_command_argument(1, how)
  do i = 1, 3
    call step(40)
  end do
  write (*, '(a, 1x, es12.5, 1x, i4)') trim(how), cells(40), size(cells)
  if (how == 'stop') stop 3
  if (how == 'error') error stop 'wrong'
  if (how == 'five') error stop 5
end program
END

# instrumented FILE: it has code of loci's.
instrumented() {
	readelf -SW "$1" | grep -q " loci_fn " || fail "$1 is not instrumented"
}
# quiet COMMAND..: succeeds, and says nothing.
quiet() {
	expect 0 "$@"
	[ ! -s out ] && [ ! -s err ] || fail "$* says $(cat out err)"
}
# same PROGRAM: as plain flang's, alone and recorded
same() {
	local how
	instrumented "$1"
	for how in plain stop error five; do
		./native $how >want.out 2>want.err
		status=$?
		expect $status "$1" $how
		cmp -s out want.out && cmp -s err want.err || fail "$1 $how says $(cat out err)"
		expect $status "$LOCI" record -q --collector cc -o p.loci "$1" $how
		cmp -s out want.out && cmp -s err want.err || fail "$1 $how, recorded, says $(cat out err)"
	done
}
expect 0 "$flang" -O1 steps.f90 ends.f90 -o native
./native stop >out 2>&1
[ $? = 3 ] || fail "flang's STOP 3 ends with $?"

for flags in -O0 '-O2 -g' '-O2 -static' '-O3 -march=native'; do
	quiet $loci_flang $flags steps.f90 ends.f90 -o program
	same ./program
done
# in steps; a module of its own in a shared library
quiet $loci_flang -O2 -fPIC -c steps.f90
quiet $loci_flang -O2 -c ends.f90 -o 'the end.o'
quiet $loci_flang steps.o 'the end.o' -o program
same ./program
quiet $loci_flang -shared steps.o -o libsteps.so
quiet $loci_flang 'the end.o' -L. -lsteps "-Wl,-rpath,$PWD" -o program
same ./program
if [ -x "$(dirname "$(readlink -f "$flang")")/ld.lld" ]; then
	quiet $loci_flang -O2 -flto -fuse-ld=lld steps.f90 ends.f90 -o program
	same ./program
fi
# what is unusual in Fortran; LOCI_PASS_VERIFY: the compiler stops at wrong code
features=$SRC/tests/workloads/features.f90
expect 0 "$flang" -O1 "$features" -o plain
./plain >features.want || fail "features ends with $?"
for flags in -O0 '-O2 -g' '-O3 -march=native'; do
	LOCI_PASS_VERIFY=1 expect 0 $loci_flang $flags "$features" -o features
	instrumented features
	expect 0 ./features
	cmp -s out features.want || fail "features $flags: $(diff features.want out)"
	expect 0 "$LOCI" record -q --collector cc -o features.loci ./features
	cmp -s out features.want || fail "features $flags, recorded: $(diff features.want out)"
	expect 0 "$LOCI" record -m count ./features
	[ "$(grep -o '[0-9]* references' err)" = "$(sqlite3 features.loci 'select sum(refs) from site') references" ] ||
		fail "features $flags: counted $(cat err), traced $(sqlite3 features.loci 'select sum(refs) from site')"
done

# some procedures only: names as in the symbol table
quiet $loci_flang -O0 -g --loci-only='_QMstepsP*' steps.f90 ends.f90 -o program
expect 0 "$LOCI" record -q --collector cc -o p.loci ./program plain
[ "$(sqlite3 p.loci 'select distinct name from site join function on function_id = function.id')" = steps::step ] ||
	fail "--loci-only: $(sqlite3 p.loci 'select distinct name from site join function on function_id = function.id')"

# make, CMake and what configure scripts do
cat >GNUmakefile <<'END'
program: steps.o ends.o
	$(FC) $(FFLAGS) -o $@ $^
%.o: %.f90
	$(FC) $(FFLAGS) -c $<
ends.o: steps.o
END
rm -f ./*.o ./*.mod program
make -s FC="$loci_flang" FFLAGS='-O2 -g' >log 2>&1 || fail "make: $(cat log)"
same ./program
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(steps LANGUAGES C Fortran)
add_library(steps STATIC steps.f90)
add_executable(program ends.f90)
target_link_libraries(program steps)
END
FC="$loci_flang" cmake -S . -B in >log 2>&1 && cmake --build in >>log 2>&1 || fail "CMake: $(cat log)"
grep -q 'The Fortran compiler identification is LLVMFlang' log || fail "CMake does not see flang: $(cat log)"
same in/program
rm -rf in
cmake -S . -B in -DCMAKE_Fortran_COMPILER="$BUILD/loci-flang" >log 2>&1 && cmake --build in >>log 2>&1 ||
	fail "CMake, by one word: $(cat log)"
same in/program
expect 0 $loci_flang --version
has out "flang"
expect 0 $loci_flang -dumpmachine
has out linux

# C and C++ in a Fortran program
clang=$(clangs | head -n 1)
if [ -n "$clang" ]; then
	cat >half.c <<'END'
void half_(double *x, const int *n)
{
	for (int i = 0; i < *n; i++)
		x[i] *= 0.5;
}
END
	cat >third.cpp <<'END'
#include <numeric>
#include <vector>
extern "C" double third(const double *x, int n)
{
	std::vector<double> v(x, x + n);
	return std::accumulate(v.begin(), v.end(), 0.0) / 3;
}
END
	cat >mixed.f90 <<'END'
program mixed
  use iso_c_binding
  implicit none
  interface
    real(c_double) function third(x, n) bind(c)
      import
      real(c_double), intent(in) :: x(*)
      integer(c_int), value :: n
    end function
  end interface
  external half
  real(8) :: x(120)
  integer :: i
  x = [(i, i = 1, 120)]
  call half(x, 120)
  print '(f8.2)', third(x, 120)
end program
END
	quiet "$LOCI" cc --loci-clang="$clang" -O0 -g -c half.c
	quiet "$LOCI" c++ --loci-clang="$clang" -O0 -g -c third.cpp
	quiet $loci_flang -O0 -g mixed.f90 half.o third.o -lstdc++ -o mixed
	expect 0 "$LOCI" record -q --collector cc -o mixed.loci ./mixed
	[ "$(cat out)" = ' 1210.00' ] || fail "mixed says $(cat out)"
	# x[i] *= 0.5 loads and stores every element; each is loaded to be copied
	[ "$(sqlite3 mixed.loci "select op, sum(access.refs) from site join access on site_id = site.id join function on site.function_id = function.id
		join object on object_id = object.id where function.name = 'half_' and object.name = 'x (main program)' group by 1 order by 1" |
		tr '\n' ' ')" = 'load|120 store|120 ' ] || fail "half_: $("$LOCI" report --by site mixed.loci)"
	[ "$(sqlite3 mixed.loci "select count(distinct name) from function where name in ('half_', 'main program', 'third')")" = 3 ] ||
		fail "functions: $("$LOCI" report --by function mixed.loci)"

	# Fortran in a C program, linked by either
	cat >scale.f90 <<'END'
subroutine scale(x, n, s)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  real(8), intent(in) :: s
  integer :: i
  do i = 1, n
    x(i) = x(i) * s
  end do
  if (x(1) < 0) error stop 'negative'
end subroutine
END
	cat >whole.c <<'END'
#include <stdio.h>
void scale_(double *x, const int *n, const double *s);
static double x[64];
int main(int argc, char **argv)
{
	double s = argc > 1 ? -2 : 2;
	int n = 64;
	for (int i = 0; i < n; i++)
		x[i] = i + 1;
	scale_(x, &n, &s);
	printf("%g\n", x[63]);
}
END
	quiet $loci_flang -O2 -g -c scale.f90
	quiet "$LOCI" cc --loci-clang="$clang" -O2 -g -c whole.c
	quiet $loci_flang whole.o scale.o -o by_flang
	quiet "$LOCI" cc --loci-clang="$clang" whole.o scale.o "-L$(dirname "$(readlink -f "$flang")")/../lib" -lFortranRuntime -lFortranDecimal -lm -o by_clang
	for program in ./by_flang ./by_clang; do
		expect 0 "$LOCI" record -q --collector cc -o whole.loci $program
		[ "$(cat out)" = 128 ] || fail "$program says $(cat out)"
		[ "$(sqlite3 whole.loci "select op, sum(access.refs * site.size_bytes) from site join access on site_id = site.id join function on site.function_id = function.id
			join object on object_id = object.id where function.name = 'scale' and object.name = 'x' and site.line = 7 group by 1 order by 1" |
			tr '\n' ' ')" = 'load|512 store|512 ' ] || fail "$program: $("$LOCI" report --by site whole.loci)"
		expect 1 "$LOCI" record -q --collector cc -o whole.loci $program x
		has err "ERROR STOP: negative"
	done
fi

# What flang refuses it says itself.
echo 'this is no program' >bad.f90
expect 1 $loci_flang -c bad.f90
has err "bad.f90"
expect 1 $loci_flang -c missing.f90
has err "missing.f90"
finish
