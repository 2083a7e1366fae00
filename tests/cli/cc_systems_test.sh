# SPDX-License-Identifier: GPL-2.0-or-later
# loci cc and c++ in the usual build systems: they are taken for the clang they are, and what is built
# runs and says the same as without loci. make check-long: each with every clang.
# Not under sanitizers: clang and build systems do the work; cc_line_test.sh has the wrapper under them.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_clang
mkdir 'a project' && cp -r "$SRC"/tests/projects/* 'a project' && cd 'a project' || exit 1

# instrumented FILE: it has code of loci's.
instrumented() {
	readelf -SW "$1" | grep -q " loci_fn " || fail "$1 is not instrumented"
}
# says FILE [WORD..]: it runs as the one made by plain clang.
says() {
	expect 0 "$@"
	cmp -s out "$OLDPWD/want" || fail "$* says: $(head -n 3 out err)"
}

expect 0 clang-"${versions%%[!0-9]*}" -O2 words.c tally.c -o native
./native <words.c >../want || exit 1
[ -s ../want ] || fail "the program says nothing"

# use VERSION
use() {
	cc="$LOCI cc --loci-clang=$1"
	cxx="$LOCI c++ --loci-clang=$1"
	rm -rf in
}
by_make() {
	use $1
	make -s clean && make -s CC="$cc" >out 2>err || fail "make: $(cat err)"
	instrumented words
	says ./words words.c
}
by_configure() {
	use $1
	mkdir in && (cd in && CC="$cc" CXX="$cxx" ../configure >log 2>&1 && make -s >>log 2>&1) ||
		fail "configure: $(cat in/log)"
	grep -q 'checking for clang.* yes' in/log || fail "configure does not see clang: $(cat in/log)"
	instrumented in/words
	says in/words words.c
}
by_cmake() {
	use $1
	CC="$cc" CXX="$cxx" cmake -S . -B in -DCMAKE_INSTALL_PREFIX="$PWD/in/usr" >log 2>&1 &&
		cmake --build in >>log 2>&1 && cmake --install in >>log 2>&1 || fail "CMake: $(cat log)"
	grep -q 'The C compiler identification is Clang' log || fail "CMake does not see clang: $(cat log)"
	for program in words words++; do
		instrumented "in/$program"
		says "in/$program" words.c
		# CMake has taken the build's run path out of what it installed
		says env "LD_LIBRARY_PATH=$PWD/in/usr/lib" "in/usr/bin/$program" words.c
	done
}
by_meson() {
	use $1
	command -v meson >/dev/null || { echo "meson is missing: not tried"; return; }
	CC="$cc" CXX="$cxx" meson setup in >log 2>&1 && meson compile -C in >>log 2>&1 ||
		fail "Meson: $(cat log)"
	grep -q 'C compiler for the host machine: .*clang' log || fail "Meson does not see clang: $(cat log)"
	instrumented in/words
	says in/words words.c
	says in/words++ words.c
}
in_turn "$versions" by_make
in_turn "$versions" by_configure
in_turn "$versions" by_cmake
in_turn "$versions" by_meson
rm -rf in
cmake -S . -B in -DCMAKE_C_COMPILER="$BUILD/loci-cc" -DCMAKE_CXX_COMPILER="$BUILD/loci-c++" >log 2>&1 &&
	cmake --build in >>log 2>&1 || fail "CMake, by one word: $(cat log)"
instrumented in/words
says in/words++ words.c
finish
