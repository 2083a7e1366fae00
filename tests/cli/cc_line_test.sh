# SPDX-License-Identifier: GPL-2.0-or-later
# What loci cc makes of a command line, and what it says when something is missing.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"

fake_tree tree 14 19
fake_clang fake/clang-14 14
loci=$PWD/tree/bin/loci
lib=$PWD/tree/lib/loci
PATH=$PWD/fake:/bin:/usr/bin
touch a.c a.cc a.o b.o 'a b.c' "it's.c" a.h ./-odd.c

# The words of the caller: all but those that were added, which stand between two markers.
given() {
	sed '/^--start-no-unused-arguments$/,/^--end-no-unused-arguments$/d' words
}

# What was added, in few words.
added() {
	local what=
	! grep -q -- "^-fpass-plugin=$lib/loci-pass-14.so$" words || what="$what pass"
	! grep -q -- "^$lib/libloci-rt.so$" words || what="$what shared"
	! grep -q -- "^$lib/libloci-rt.a$" words || what="$what static"
	! grep -q -- "^--whole-archive$" words || what="$what whole"
	[ "$(grep -c -- '^--wrap=' words)" != 2 ] || what="$what wrap"
	[ "$(tail -n 2 words | head -n 1)" != -mno-omit-leaf-frame-pointer ] || what="$what frames"
	echo "${what# }"
}

# line WHAT-IS-ADDED WORD..: and every word of the caller's arrives, in its order.
line() {
	local want=$1
	shift
	rm -f words
	"$loci" cc --loci-clang=clang-14 "$@" >out 2>err || fail "$* fails: $(cat err)"
	[ "$(added)" = "$want" ] || fail "$*: added \"$(added)\", want \"$want\""
	printf '%s\n' "$@" >want
	given >got
	cmp -s want got || fail "$*: clang is given $(tr '\n' ' ' <got)"
	[ ! -s out ] && [ ! -s err ] || fail "$*: says something: $(cat out err)"
}

line 'pass shared frames' a.c
line 'pass shared frames' a.c -o a
line 'pass shared frames' -o a a.o
line 'pass shared frames' -
line 'pass shared frames' -x c -
line 'pass shared frames' -shared a.c
line 'pass shared frames' -v a.c
line 'pass shared frames' '-### ' 'a b.c'
line 'pass shared frames' -O2 -g '-DTEXT="a b"' "it's.c" '-Wl,-rpath,$ORIGIN' '' '-D*'
line 'pass frames' -c a.c
line 'pass frames' a.c -c
line 'pass frames' -S a.c
line 'pass frames' -E a.c
line 'pass frames' -M a.c
line 'pass frames' -MM a.c
line 'pass frames' -fsyntax-only a.c
line 'pass shared frames' -MD -MF -c a.c -o a
line 'pass shared frames' -Xclang -E a.c
line 'pass shared frames' -I -c a.c
line 'pass frames' -r a.o b.o -o c.o
line 'pass frames' -Wl,-r a.o b.o -o c.o
line 'pass frames' -Xlinker -r a.o b.o -o c.o
line 'pass static whole wrap frames' -static a.c
line 'pass static whole wrap frames' a.c --static
line 'pass static whole wrap frames' -static-pie a.c
line 'pass static whole wrap frames' -Wl,-O1,-static a.c
line 'pass shared frames' -static-libgcc a.c
line 'pass shared frames' -nostartfiles a.c
line 'pass frames' -static -shared a.c
# no input: what clang says of itself is not disturbed
line '' -v
line '' -dumpversion
line '' -dumpmachine
line '' -print-prog-name=ld
line '' -Wl,--version
line '' -o a
line '' nothere.c
line '' @nothere
line 'pass frames' a.h
line 'pass frames' -x c-header a.c
line 'pass frames' -xc++-header a.c
line 'pass shared frames' -x c a.h
line 'pass shared frames' -x c-header -x none a.c
line 'pass shared frames' a.h a.o
line '' -x c -D NAME -I dir -include file.h -target x86_64-linux-gnu
# not for this machine, not hosted, not compiling
line '' -m32 a.c
line '' --target=aarch64-linux-gnu a.c
line '' -target i686-linux-gnu a.c
line 'pass shared frames' --target=x86_64-pc-linux-gnu a.c
line 'pass shared frames' -m32 -m64 a.c
line 'frames' -ffreestanding -nostdlib a.c
line 'frames' -ffreestanding -c a.c
line 'pass frames' -ffreestanding -fhosted -c a.c
line '' -cc1 -triple x86_64 a.c

# the libraries are the caller's own: the runtime after them, if something needs it
place() {
	grep -nx -- "$1" words | head -n 1 | cut -d : -f 1
}
"$loci" cc --loci-clang=14 -nostdlib -shared a.o -lc
[ "$(place a.o)" -lt "$(place "$lib/libloci-rt.so")" ] && grep -qx -- --as-needed words ||
	fail "-nostdlib: $(tr '\n' ' ' <words)"
"$loci" cc --loci-clang=14 -nostdlib -static a.o -lc
[ "$(place a.o)" -lt "$(place "$lib/libloci-rt.a")" ] && ! grep -q -- '--wrap\|--whole' words ||
	fail "-nostdlib -static: $(tr '\n' ' ' <words)"
# and else before everything
"$loci" cc --loci-clang=14 a.o -lc
[ "$(place "$lib/libloci-rt.so")" -lt "$(place a.o)" ] && grep -qx -- --no-as-needed words ||
	fail "the runtime is not first: $(tr '\n' ' ' <words)"

# files after --
"$loci" cc --loci-clang=14 -c -- -odd.c
[ "$(tail -n 2 words | tr '\n' ' ')" = '-- -odd.c ' ] || fail "--: $(tr '\n' ' ' <words)"
grep -qx -- -fno-omit-frame-pointer words || fail "--: frame pointers are forgotten"

# response files, quoted, nested, with -- inside, in a circle, not there
printf -- '-c "a b.c" -DX=\\"y\\"\n' >one
echo '@one -g' >two
echo "-I '-x y' @circle" >circle
printf -- '-c -- a.c' >dashes
echo '-Xlinker' >half
line 'pass frames' @one
line 'pass frames' -g @two
line 'pass shared frames' @circle a.c
line '' @circle
line 'pass shared frames' @nothere a.c
line 'pass frames' @half -r a.o
"$loci" cc --loci-clang=14 -O2 @dashes
[ "$(tail -n 1 words)" = @dashes ] || fail "something stands behind --: $(tr '\n' ' ' <words)"

# loci's own options, anywhere on the line
"$loci" cc --loci-only='hot*,cold' -c --loci-clang=14 a.c --loci-skip=main
[ "$(given | tr '\n' ' ')" = '-c a.c ' ] || fail "own options reach clang: $(given | tr '\n' ' ')"
[ "$(cat told)" = 'lto= only=hot*,cold skip=main' ] || fail "the pass is told $(cat told)"
LOCI_LTO=link "$loci" cc --loci-clang=14 -c a.c
[ "$(cat told)" = 'lto= only= skip=' ] || fail "the pass is told $(cat told)"
LOCI_OPS=1 "$loci" cc --loci-clang=14 -c a.c
[ -z "$(cat told_ops)" ] || fail "operations are counted unasked"
"$loci" cc --loci-clang=14 --loci-ops -c a.c
[ "$(cat told_ops)" = 1 ] || fail "--loci-ops does not reach the pass"
[ "$(given | tr '\n' ' ')" = '-c a.c ' ] || fail "--loci-ops reaches clang: $(given | tr '\n' ' ')"
expect 2 "$loci" cc --loci-ops=1 a.c
expect 2 "$loci" cc --loci-ony=f a.c
has err 'there is no option --loci-ony'
expect 2 "$loci" cc --loci-only= a.c
has err 'needs a value'
expect 2 "$loci" cc --loci-mpi=mpicc a.c
expect 0 "$loci" c++ --loci-help -c a.c
has out 'loci c++'
"$loci" c++ --loci-clang=14 -c a.cc
[ "$(head -n 1 words)" = --driver-mode=g++ ] || fail "c++ runs clang as C"

# by one word
ln -s loci tree/bin/loci-cc
ln -s "$loci" loci-c++
rm words
tree/bin/loci-cc --loci-clang=14 -c a.c && grep -qx -- -c words || fail "loci-cc: $(cat words)"
rm words
PATH=$PWD:$PATH loci-c++ --loci-clang=14 -c a.c && [ "$(head -n 1 words)" = --driver-mode=g++ ] ||
	fail "loci-c++: $(cat words)"
expect 2 tree/bin/loci-cc --loci-x
has err 'loci cc: there is no option'

# Signals are as the caller left them.
fake_clang fake/clang-14 14
echo '/bin/grep SigIgn /proc/self/status >ignored' >>fake/clang-14
"$loci" cc --loci-clang=14 a.c
fake/clang-14 a.c && cp ignored want
"$loci" cc --loci-clang=14 a.c && cmp -s want ignored || fail "signals are ignored: $(cat want ignored)"

# LTO: at link time with clang's own lld if that can, both when compiling and when linking
fake_clang fake/bin19/clang 19
ln -s bin19/clang fake/clang-19
told() {
	local want=$1
	shift
	"$loci" cc "$@"
	[ "$(cut -d ' ' -f 1 told)" = "$want" ] || fail "$*: the pass is told $(cat told)"
	[ "$(grep -c -- "^--load-pass-plugin=$lib/loci-pass-19.so$" words)" = "$([ "$want" = lto= ]; echo $?)" ] ||
		fail "$*: $(tr '\n' ' ' <words)"
}
told lto= -flto -fuse-ld=lld a.c
: >fake/bin19/ld.lld
chmod +x fake/bin19/ld.lld
told lto=link -flto -fuse-ld=lld a.c
told lto=link -flto=full --ld-path=/usr/bin/ld.lld-19 -c a.c
told lto= -flto=thin -fuse-ld=lld a.c
told lto= -flto a.c
told lto= -flto -fuse-ld=gold a.c
told lto= -flto -fuse-ld=lld -fno-lto a.c
told lto= -fuse-ld=lld a.c
ln -s "$PWD/fake/bin19/ld.lld" fake/ld.lld
line 'pass shared frames' -flto -fuse-ld=lld a.c # 14 cannot

# which clang
"$loci" cc a.c && grep -q 'loci-pass-19' words || fail "not the newest: $(cat words)"
rm fake/clang-19
rm words
PATH=$PWD/fake "$loci" cc a.c && grep -q 'loci-pass-14' words || fail "not 14: $(cat words)"
fake_tree odd 7 8
fake_clang fake/clang 9
expect 1 odd/bin/loci cc a.c
has err 'loci was built with passes for clang 8 and 7; found clang 9'
has err 'install clang-8'
fake_clang fake/clang 7
expect 0 odd/bin/loci cc a.c
has words 'loci-pass-7.so'
rm fake/clang
PATH=$PWD/fake expect 1 odd/bin/loci cc a.c
has err 'loci cc compiles with clang 8 or 7, and there is none in PATH: apt install clang-8'
expect 1 odd/bin/loci cc --loci-clang=clang-99 a.c
has err 'there is no compiler clang-99'
expect 1 odd/bin/loci cc --loci-clang=/bin/true a.c
has err '/bin/true is no clang'
expect 1 odd/bin/loci cc --loci-clang=14 a.c
has err 'found clang 14'
# the directory may be moved, and have spaces
mkdir 'a b' && mv tree 'a b/tree'
lib="$PWD/a b/tree/lib/loci" loci="$PWD/a b/tree/bin/loci"
line 'pass shared frames' a.c
(cd 'a b/tree' && rm -f lib/loci/libloci-rt.so)
expect 1 "$loci" cc --loci-clang=14 a.c
has err 'libloci-rt.so: No such file or directory; install loci whole'
line 'pass frames' -c a.c
rm "$lib/loci-pass-14.so" "$lib/loci-pass-19.so"
expect 1 "$loci" cc -c a.c
has err "loci's pass for clang (loci-pass-N.so) is not in"
finish
