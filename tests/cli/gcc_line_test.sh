# SPDX-License-Identifier: GPL-2.0-or-later
# What loci gcc, g++ and gfortran make of a command line, and what they say when something is missing.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"

fake_tree tree
loci=$PWD/tree/bin/loci
lib=$PWD/tree/lib/loci
: >"$lib/gcc.specs"
: >"$lib/libloci-rt-gcc.a"
printf '# functions\nmemcpy\n' >"$lib/touched.txt"
mkdir fake
for driver in gcc g++ gfortran gcc-12; do
	printf '#!/bin/sh\n[ "$*" != -dumpfullversion ] || { echo 12.2.0; exit; }\necho %s >driver\nprintf "%%s\\n" "$@" >words\n' \
		$driver >fake/$driver
	chmod +x fake/$driver
done
PATH=$PWD/fake:/bin:/usr/bin
touch a.c a.cc a.f90 a.o b.o 'a b.c' a.h

# What was added, in few words.
added() {
	local what=
	! grep -qx -- "-specs=$lib/gcc.specs" words || what="$what specs"
	! grep -qx -- "$lib/libloci-rt.so" words || what="$what shared"
	! grep -qx -- "$lib/libloci-rt.a" words || what="$what static"
	! grep -qx -- "$lib/libloci-rt-gcc.a" words || what="$what beside"
	! grep -qx -- "--wrap=memcpy" words || what="$what touched"
	! grep -qx -- "--wrap=malloc" words || what="$what wrapped"
	! grep -qx -- "--eh-frame-hdr" words || what="$what unwinding"
	echo "${what# }"
}
# line WHAT-IS-ADDED WORD..: and the caller's words stand at the end, in their order.
line() {
	local want=$1
	shift
	rm -f words
	"$loci" gcc "$@" >out 2>err || fail "$* fails: $(cat err)"
	[ "$(added)" = "$want" ] || fail "$*: added \"$(added)\", want \"$want\""
	printf '%s\n' "$@" >want
	tail -n $# words >got
	cmp -s want got || fail "$*: gcc is given $(tr '\n' ' ' <words)"
	[ ! -s out ] && [ ! -s err ] || fail "$*: says something: $(cat out err)"
}
line 'specs shared touched' a.c
line 'specs shared touched' -O2 -g 'a b.c' -o a '' '-DX="a b"'
line 'specs shared touched' a.o b.o -o a
line 'specs shared touched' -shared -fPIC a.c -o a.so
line 'specs static beside touched wrapped unwinding' -static a.c
line 'specs' -c a.c
line 'specs' -S a.c
line 'specs' -E a.c
line 'specs' -M a.c
line 'specs' a.h
line 'specs' -r a.o b.o -o c.o
line '' -v
line '' --version
line '' -dumpmachine
line '' -print-prog-name=ld
line '' -m32 a.c
line '' -ffreestanding -c a.c
line 'specs' -fsanitize=undefined -c a.c

"$loci" gcc -nostdlib a.o -lc
[ "$(added)" = "specs shared" ] && grep -qx -- --as-needed words || fail "-nostdlib: $(tr '\n' ' ' <words)"

# each its own compiler, by the number too, and as one word
for driver in gcc g++ gfortran; do
	expect 0 "$loci" $driver -c a.c
	[ "$(cat driver)" = $driver ] || fail "loci $driver runs $(cat driver)"
	ln -sf loci tree/bin/loci-$driver
	expect 0 tree/bin/loci-$driver -c a.c
	[ "$(cat driver)" = $driver ] || fail "loci-$driver runs $(cat driver)"
done
expect 0 "$loci" gcc -c --loci-gcc=12 a.c
[ "$(cat driver)" = gcc-12 ] || fail "--loci-gcc=12 runs $(cat driver)"
lacks words --loci-gcc
expect 0 "$loci" gcc --loci-gcc="$PWD/fake/gcc-12" -c a.c
[ "$(cat driver)" = gcc-12 ] || fail "--loci-gcc=PATH runs $(cat driver)"

# mistakes
expect 2 "$loci" gcc --loci-only=f a.c
has err "there is no option --loci-only=f"
expect 2 "$loci" gcc --loci-gcc= a.c
has err "needs a value"
expect 1 "$loci" g++ --loci-gcc=99 a.cc
has err "there is no compiler g++-99"
fake_clang fake/clang 14
printf '#!/bin/sh\necho "clang: error: unknown argument" >&2\nexit 1\n' >fake/clang
expect 1 "$loci" gcc --loci-gcc=clang a.c
has err "is no gcc"
has err "loci cc"
for what in thread address undefined,leak hwaddress; do
	expect 2 "$loci" gcc -fsanitize=$what a.c
	has err "-fsanitize=$what: gcc does not do that"
done
mkdir empty
expect 1 env PATH="$PWD/empty" "$loci" gfortran a.f90
has err "apt install gfortran"
rm "$lib/touched.txt"
expect 1 "$loci" gcc a.c
has err "touched.txt"
rm "$lib/gcc.specs"
expect 1 "$loci" gcc a.c
has err "gcc.specs"
rm "$lib/libloci-rt.so"
expect 1 "$loci" gcc -c a.c
has err "libloci-rt.so, is not in"
finish
