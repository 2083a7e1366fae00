# SPDX-License-Identifier: GPL-2.0-or-later
# loci mpicc, mpicxx and mpifort: the MPI library's wrapper compiles with loci cc, c++ and flang.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"

# Wrappers as Open MPI (divides OMPI_CC at spaces) and MPICH (a shell script) have them.
fake_tree tree 14 19
fake_clang fake/clang-14 14
fake_clang fake/flang-19 19 flang
for language in cc cxx fort; do
	variable=$(echo $language | tr a-z A-Z)
	cat >"fake/mpi$language" <<-END
		#!/bin/sh
		exec \$OMPI_${variable/FORT/FC} -Impi "\$@" -lmpi
	END
	sed 's/OMPI_/MPICH_/' "fake/mpi$language" >"fake/mpi$language.mpich"
done
chmod +x fake/mpi*
touch 'a b.c'
loci=$PWD/tree/bin/loci
PATH=$PWD/fake:$PATH
for wrapper in '' .mpich; do
	expect 0 "$loci" mpicc --loci-mpi=mpicc$wrapper --loci-clang=14 -DX='1 2' --loci-only='f*,g' 'a b.c'
	[ "$(sed '/^--start/,/^--end/d' words | tr '\n' '|')" = '-Impi|-DX=1 2|a b.c|-lmpi|' ] ||
		fail "mpicc$wrapper: clang is given $(tr '\n' '|' <words)"
	grep -q loci-pass-14 words || fail "mpicc$wrapper: without the pass"
	[ "$(cat told)" = 'lto= only=f*,g skip=' ] || fail "mpicc$wrapper: the pass is told $(cat told)"
	expect 0 "$loci" mpicxx --loci-mpi=mpicxx$wrapper --loci-clang=14 -c 'a b.c'
	[ "$(head -n 1 words)" = --driver-mode=g++ ] || fail "mpicxx$wrapper: $(tr '\n' '|' <words)"
	expect 0 "$loci" mpifort --loci-mpi=mpifort$wrapper --loci-flang=19 --loci-skip=x -c 'a b.c'
	[ "$(tr '\n' '|' <words)" = "-fpass-plugin=$PWD/tree/lib/loci/loci-pass-19.so|-Impi|-c|a b.c|-lmpi|-fno-omit-frame-pointer|" ] ||
		fail "mpifort$wrapper: $(tr '\n' '|' <words)"
	[ "$(cat told)" = 'lto= only= skip=x' ] || fail "mpifort$wrapper: the pass is told $(cat told)"
done
expect 2 "$loci" mpifort --loci-clang=14 a.f90
has err "there is no option --loci-clang=14"
# called by its name in PATH, from another directory
mkdir elsewhere
(cd elsewhere && PATH=$PWD/../tree/bin:$PATH loci mpicc --loci-clang=14 -c a.c && [ -s words ]) ||
	fail "not by its name in PATH"
# what cannot work says so
expect 1 "$loci" mpicc --loci-mpi=mpicc.none a.c
has err 'mpicc.none is not there'
expect 1 "$loci" mpicc --loci-only='a b' a.c
has err 'no option with a space'
mv tree 'a tree'
expect 1 'a tree/bin/loci' mpicc a.c
has err "cannot call a program whose path has a space"

# And the real one.
PATH=${PATH#*:}
if [ -z "$(clangs)" ] || ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
	echo "no MPI library, or no pass: only tried with a stand-in"
	finish
fi
cat >ring.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d of %d\n", sum, size);
	MPI_Finalize();
	return 0;
}
END
cp ring.c ring.cc
expect 0 "$LOCI" mpicc -O2 ring.c -o ring
readelf -SW ring | grep -q ' loci_fn ' || fail "ring is not instrumented"
expect 0 "$LOCI" mpicxx -O2 ring.cc -o ring++
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
programs='./ring ./ring++'
if (need_flang) >/dev/null && command -v mpifort >/dev/null; then
	cat >ring.f90 <<'END'
program ring
  implicit none
  include 'mpif.h'
  integer :: rank, n, total, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, n, ierr)
  call mpi_reduce(rank, total, 1, mpi_integer, mpi_sum, 0, mpi_comm_world, ierr)
  if (rank == 0) print '(i0, a, i0)', total, ' of ', n
  call mpi_finalize(ierr)
end program
END
	expect 0 "$LOCI" mpifort -O2 ring.f90 -o ring90
	readelf -SW ring90 | grep -q ' loci_fn ' || fail "ring90 is not instrumented"
	programs+=' ./ring90'
fi
for program in $programs; do
	expect 0 timeout 60 mpirun -n 3 $program
	[ "$(cat out)" = '3 of 3' ] || fail "$program says $(cat out) $(cat err)"
done
finish
