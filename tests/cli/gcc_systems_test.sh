# SPDX-License-Identifier: GPL-2.0-or-later
# loci gcc, g++ and gfortran in the usual build systems: they are taken for the gcc they are, and what is
# built runs, says the same as without loci, and is recorded.
# Not under sanitizers: gcc and build systems do the work; gcc_line_test.sh has the wrapper under them.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_gcc gcc g++ gfortran
mkdir 'a project' && cp -r "$SRC"/tests/projects/* 'a project' && cd 'a project' || exit 1
cc="$LOCI gcc" cxx="$LOCI g++"

# told FILE: its code, or that of a library of its own, tells its references; with a profile to show.
told() {
	readelf -d "$1" | grep -q libloci-rt.so || fail "$1 is linked without the runtime"
	expect 0 loci record -q --collector gcc -o told.loci -- "$@"
	[ "$(sqlite3 told.loci "select collector || (refs > 100) from run")" = gcc1 ] || fail "$1: nothing is recorded"
}
# says FILE [WORD..]: it runs as the one made by plain gcc.
says() {
	expect 0 "$@"
	cmp -s out "$OLDPWD/want" || fail "$* says: $(head -n 3 out err)"
}

expect 0 gcc -O2 words.c tally.c -o native
./native <words.c >../want || exit 1
[ -s ../want ] || fail "the program says nothing"

make -s clean && make -s CC="$cc" >out 2>err || fail "make: $(cat err)"
says ./words words.c
told ./words words.c

mkdir in && (cd in && CC="$cc" CXX="$cxx" ../configure >log 2>&1 && make -s >>log 2>&1) ||
	fail "configure: $(cat in/log)"
says in/words words.c
told in/words words.c

rm -rf in
CC="$cc" CXX="$cxx" cmake -S . -B in -DCMAKE_INSTALL_PREFIX="$PWD/in/usr" >log 2>&1 &&
	cmake --build in >>log 2>&1 && cmake --install in >>log 2>&1 || fail "CMake: $(cat log)"
grep -q 'The C compiler identification is GNU' log || fail "CMake does not see gcc: $(cat log)"
for program in words words++; do
	says "in/$program" words.c
	told "in/$program" words.c
done

rm -rf in
cmake -S . -B in -DCMAKE_C_COMPILER="$BUILD/loci-gcc" -DCMAKE_CXX_COMPILER="$BUILD/loci-g++" >log 2>&1 &&
	cmake --build in >>log 2>&1 || fail "CMake, by one word: $(cat log)"
says in/words++ words.c
told in/words++ words.c

mkdir fortran
cp "$SRC/tests/gcc/told_arrays.f90" fortran
cat >fortran/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(fortran Fortran)
add_executable(arrays told_arrays.f90)
CMAKE
cmake -S fortran -B in/fortran -DCMAKE_Fortran_COMPILER="$BUILD/loci-gfortran" >log 2>&1 &&
	cmake --build in/fortran >>log 2>&1 || fail "CMake for Fortran: $(cat log)"
grep -q 'The Fortran compiler identification is GNU' log || fail "CMake does not see gfortran: $(cat log)"
told in/fortran/arrays
finish
