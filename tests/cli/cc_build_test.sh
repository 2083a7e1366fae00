# SPDX-License-Identifier: GPL-2.0-or-later
# Programs and libraries made by loci cc and c++, of every kind: they build without a word more than
# with clang, and run and say the same. make check-long: every kind with every clang.
# Not under sanitizers: clang and build systems do the work; cc_line_test.sh has the wrapper under them.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_clang
mkdir 'a project' && cp -r "$SRC"/tests/projects/* 'a project' && cd 'a project' || exit 1

# instrumented FILE: it has code of loci's.
instrumented() {
	readelf -SW "$1" | grep -q " loci_fn " || fail "$1 is not instrumented"
}
# functions FILE: how many of its functions are instrumented.
functions() {
	local bytes
	bytes=$(readelf -SW "$1" | sed -n 's/.* loci_fn *PROGBITS *[0-9a-f]* *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
	echo $((0x${bytes:-0} / 16))
}
# counts FILE: the references of a run.
counts() {
	"$LOCI" record -m count "$1" words.c 2>&1 >/dev/null | grep -o '[0-9][0-9]* references' ||
		fail "$1 is not counted"
}
# says FILE [WORD..]: it runs as the one made by plain clang.
says() {
	expect 0 "$@"
	cmp -s out "$OLDPWD/want" || fail "$* says: $(head -n 3 out err)"
}
# quiet COMMAND..: succeeds, and says nothing.
quiet() {
	expect 0 "$@"
	[ ! -s out ] && [ ! -s err ] || fail "$* says $(cat out err)"
}

expect 0 clang-"${versions%%[!0-9]*}" -O2 words.c tally.c -o native
./native <words.c >../want || exit 1
[ -s ../want ] || fail "the program says nothing"

# use VERSION
use() {
	version=$1
	cc="$LOCI cc --loci-clang=$version"
	cxx="$LOCI c++ --loci-clang=$version"
}

levels() { # VERSION FLAG..: one step
	use $1
	shift
	quiet $cc "$@" words.c tally.c -o words
	instrumented words
	says ./words words.c
}
steps() { # VERSION: two steps, C++, standard input
	use $1
	quiet $cc -O2 -c words.c
	quiet $cc -O2 -c tally.c -o 'a tally.o'
	quiet $cc words.o 'a tally.o' -o words
	says ./words words.c
	quiet $cxx -O2 -std=c++17 words.cc -o words
	instrumented words
	says ./words words.c
	echo '#include "words.c"' | $cc -I. -xc - tally.c -o words || fail "from standard input"
	says ./words words.c
}
some() { # VERSION: some functions only. -O0: none is inlined.
	use $1
	quiet $cc -O0 words.c tally.c -o words
	[ "$(functions words)" = 9 ] || fail "$(functions words) functions are instrumented, not 9"
	quiet $cc -O0 --loci-only='main,tally_*' words.c tally.c -o words
	[ "$(functions words)" = 5 ] || fail "--loci-only: $(functions words) functions are instrumented"
	says ./words words.c
	quiet $cc -O0 words.c --loci-skip='tally_?*,hash' tally.c -o words
	[ "$(functions words)" = 4 ] || fail "--loci-skip: $(functions words) functions are instrumented"
	says ./words words.c
}
placed() { # VERSION KIND: static, position independent or not
	use $1
	quiet $cc -O2 $2 words.c tally.c -o words
	instrumented words
	says ./words words.c
	quiet $cxx -O2 $2 words.cc -o words
	says ./words words.c
}
libraries() { # VERSION: an archive, a shared one, one that is loaded while the program runs
	use $1
	quiet $cc -O2 -c tally.c
	rm -f libtally.a && ar rcs libtally.a tally.o
	quiet $cc -O2 words.c -L. -ltally -o words
	says ./words words.c
	quiet $cc -O2 -shared -fPIC -Wl,--no-undefined -Wl,-z,defs tally.c -o libtally.so
	instrumented libtally.so
	quiet $cc -O2 words.c -L. -ltally "-Wl,-rpath,$PWD" -o words
	says ./words words.c
	quiet $cc -O2 -DLOAD='"./libtally.so"' words.c -o words -ldl
	says ./words words.c
	# and with a program that no loci made
	quiet clang-"$version" -O2 words.c -L. -ltally "-Wl,-rpath,$PWD" -o words
	says ./words words.c
	quiet clang-"$version" -O2 -DLOAD='"./libtally.so"' words.c -o words
	says ./words words.c
	rm -f libtally.*
}
between() { # VERSION: relocatable files, and those in between
	use $1
	quiet $cc -O2 -r -nostdlib words.c tally.c -o both.o
	quiet $cc both.o -o words
	instrumented words
	says ./words words.c
	quiet $cc -O2 -save-temps words.c tally.c -o words
	instrumented words
	says ./words words.c
}
other_linker() { # VERSION LINKER
	use $1
	[ "$2" = gold ] && ! command -v ld.gold >/dev/null && return
	[ "$2" = lld ] && ! [ -x "/usr/lib/llvm-$version/bin/ld.lld" ] && return
	quiet $cc -O2 -fuse-ld=$2 words.c tally.c -o words
	instrumented words
	says ./words words.c
}
lto() { # VERSION KIND
	use $1
	[ -x "/usr/lib/llvm-$version/bin/ld.lld" ] || return
	quiet $cc -O2 $2 -fuse-ld=lld words.c tally.c -o words
	instrumented words
	says ./words words.c
	# the compiler is not told of the linker
	quiet $cc -O2 $2 -c words.c tally.c
	quiet $cc -O2 $2 -fuse-ld=lld words.o tally.o -o words
	instrumented words
	says ./words words.c
	# and what was instrumented when it was compiled is not so a second time
	counts ./words >loci.count
	quiet clang-$version -O2 $2 -fuse-ld=lld words.o tally.o "$BUILD/lib/loci/libloci-rt.so" -o words
	counts ./words >clang.count
	cmp -s loci.count clang.count || fail "$2, linked by loci: $(cat loci.count), by clang: $(cat clang.count)"
}

in_turn "$versions" levels -O0 -g
in_turn "$versions" levels -O3 -march=native
in_turn "$versions" levels -Os -fomit-frame-pointer
in_turn "$versions" levels -O2 -ffunction-sections -Wl,--gc-sections
in_turn "$versions" steps
in_turn "$versions" some
for kind in -static -static-pie -no-pie; do
	in_turn "$versions" placed $kind
done
in_turn "$versions" libraries
in_turn "$versions" between
in_turn "$versions" other_linker gold
in_turn "$versions" other_linker lld
# The versions' ways to LTO differ: every kind with every version.
for each in $versions; do
	lto "$each" -flto
	lto "$each" -flto=thin
done
finish
