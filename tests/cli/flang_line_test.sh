# SPDX-License-Identifier: GPL-2.0-or-later
# What loci flang makes of a command line, and what it says when something is missing: before flang runs.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
fake_tree tree 14 19
fake_clang bin/flang-new-19 19 flang-new
loci=$PWD/tree/bin/loci
lib=$PWD/tree/lib/loci
only="env PATH=$PWD/bin" # whatever flang this machine has
touch a.f90 b.o 'a b.f90'

pass="-fpass-plugin=$lib/loci-pass-19.so"
runtime="-Wl,--push-state|-Wl,--no-as-needed|$lib/libloci-rt.so|-Wl,--pop-state"
static="-Wl,--push-state|-Wl,--whole-archive|$lib/libloci-rt.a|-Wl,--pop-state|-Wl,--wrap=malloc|-Wl,--wrap=free"
frames=-fno-omit-frame-pointer
# line WANT WORD..: the words that flang gets, with | between them
line() {
	local want=$1
	shift
	rm -f words
	expect 0 $only "$loci" flang "$@"
	[ "$(tr '\n' '|' <words)" = "$want|" ] || fail "$*: $(tr '\n' '|' <words), want $want"
}
# flang warns of what it does not use, and knows no -Xlinker
line "$pass|-c|a.f90|$frames" -c a.f90
line "$pass|-c|a b.f90|-o|x y.o|$frames" -c 'a b.f90' -o 'x y.o'
line "$pass|$runtime|a.f90|-O2|$frames" a.f90 -O2
line "$pass|$runtime|b.o|-o|b|$frames" b.o -o b
line "$pass|$static|-static|b.o|$frames" -static b.o
line "$pass|$runtime|-shared|-fPIC|a.f90|$frames" -shared -fPIC a.f90
line "$pass|-S|a.f90|$frames" -S a.f90
line "$pass|-c|a.f90|-module-dir|b.o|$frames" -c a.f90 -module-dir b.o
# no input, its own interior, another machine: as it is
line '--version|-v' --version -v
line "-module-dir|b.o" -module-dir b.o
line "-fc1|-emit-obj|a.f90" -fc1 -emit-obj a.f90
line '--target=aarch64-linux-gnu|-c|a.f90' --target=aarch64-linux-gnu -c a.f90
# loci's own options are the pass's
line "$pass|-c|a.f90|$frames" --loci-only='fill,s*' -c --loci-skip=x a.f90
[ "$(cat told)" = 'lto= only=fill,s* skip=x' ] || fail "the pass is told $(cat told)"

# Which flang: by number, by name, by path; the newer name first.
line "$pass|-c|a.f90|$frames" --loci-flang=19 -c a.f90
line "$pass|-c|a.f90|$frames" --loci-flang=flang-new-19 -c a.f90
line "$pass|-c|a.f90|$frames" --loci-flang="$PWD/bin/flang-new-19" -c a.f90
fake_clang bin/flang-19 19 flang
sed -i 's/>words/>newer/' bin/flang-19
expect 0 $only "$loci" flang -c a.f90
[ -s newer ] || fail "flang-19 is not found before flang-new-19"
rm bin/flang-19
mv bin/flang-new-19 bin/flang
line "$pass|-c|a.f90|$frames" -c a.f90
fake_clang bin/flang 17 flang
expect 1 $only "$loci" flang -c a.f90
has err "loci was built with passes for flang 19; found flang 17 ($PWD/bin/flang)"
has err "apt install flang-19"
# LLVM 14's loads no passes, whatever loci has; an older compiler of that name says that it is a clang
expect 1 $only "$loci" flang --loci-flang=14 -c a.f90
has err "there is no compiler flang-14"
fake_clang bin/flang 7 clang
expect 1 $only "$loci" flang -c a.f90
has err "loci flang compiles with flang 19, and there is none in PATH: apt install flang-19"
expect 1 $only "$loci" flang --loci-flang=flang -c a.f90
has err "is no flang, or does not run"
expect 1 $only "$loci" flang --loci-flang=none -c a.f90
has err "there is no compiler none"
rm tree/lib/loci/loci-pass-19.so
expect 1 $only "$loci" flang -c a.f90
has err "loci's pass for flang (loci-pass-N.so) is not in"
has err "flang-19 llvm-19-dev"

expect 2 $only "$loci" flang --loci-clang=19 a.f90
has err "there is no option --loci-clang=19"
expect 2 $only "$loci" flang --loci-flang= a.f90
has err "needs a value"
expect 2 $only "$loci" cc --loci-flang=19 a.c
has err "there is no option --loci-flang=19"
expect 0 $only "$loci" flang -h
has out "usage: loci flang"
has out "--loci-flang=FLANG"
expect 0 $only "$loci" flang --loci-help -c a.f90
has out "usage: loci flang"
finish
