# SPDX-License-Identifier: GPL-2.0-or-later
# loci cc does what clang does: for many kinds of command lines clang plans the same steps (-###) with
# the same words, but for those that are loci's. make check-long: each line with each version.
# Not under sanitizers: clang and build systems do the work; cc_line_test.sh has the wrapper under them.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"

versions=
for version in 19 14; do
	! command -v "clang-$version" >/dev/null || versions="$versions $version"
done
[ -n "$versions" ] || { echo "skipped: neither clang-14 nor clang-19 is installed"; exit 77; }
fake_tree tree $versions
printf 'int main(void) { return 0; }\n' >a.c
printf 'int main() { return 0; }\n' >'a b.cc'
printf 'int x;\n' >x.h
printf '.globl f\nf: ret\n' >f.s
printf -- '-O2 -c a.c -DX="1 2"\n' >response
: >a.o
: >libz.a

# Names of temporary files differ from run to run.
steps() {
	"$@" 2>&1 >out | sed -E 's,"/tmp/[^"/]*-[0-9a-f]{6}\.([a-z]+)","/tmp/T.\1",g'
}
# What loci adds must be there and is taken out.
without_own() {
	local lib="$PWD/tree/lib/loci"
	sed -E -e "s, \"-fpass-plugin=$lib/loci-pass-$1\.so\",,g" \
		-e "s, \"--push-state\" \"--(no-)?as-needed\" \"$lib/libloci-rt\.so\" \"--pop-state\",,g" \
		-e "s, \"--push-state\" (\"--whole-archive\" )?\"$lib/libloci-rt\.a\" \"--pop-state\",,g" \
		-e 's, "--wrap=(malloc|free)",,g' -e "s, \"--load-pass-plugin=$lib[^\"]*\",,g"
}
frames() {
	sed 's/"-mframe-pointer=[a-z-]*"/"-mframe-pointer=F"/g'
}

# as_clang VERSION COMMAND WORD..: cc or c++
as_clang() {
	local version=$1 command=$2 driver=clang
	shift 2
	[ "$command" = cc ] || driver=clang++
	steps "$driver-$version" '-###' "$@" | frames >want
	steps tree/bin/loci "$command" --loci-clang="$version" '-###' "$@" >raw
	without_own "$version" <raw | frames >got
	[ -s want ] || fail "clang-$version -### $* plans nothing"
	cmp -s want got || fail "$command $version $*: clang (<), loci (>)
$(diff want got)"
	[[ $* == *-m32* || $* == *aarch64* ]] || ! grep -q '"-mframe-pointer=\(none\|non-leaf\)"' raw || fail "$command $*: frame pointers are lost"
}
same() {
	in_turn "$versions" as_clang "$@"
}
for flags in '' -O0 -O2 -g '-O3 -march=native -fomit-frame-pointer' -flto '-flto -fuse-ld=lld -O2' -pthread -save-temps; do
	same cc $flags a.c -o a
	same cc $flags -c a.c
	same cc a.o -o a $flags
	same c++ $flags 'a b.cc'
done
for stop in -c -S -E -M -MM -fsyntax-only '-MD -c' '-MMD -MF d -MT t -c' '-emit-llvm -c' '-emit-llvm -S' --analyze; do
	same cc $stop a.c
	same c++ $stop 'a b.cc'
done
for kind in -shared '-shared -fPIC -Wl,-soname,x' -static -static-pie -pie -no-pie -r '-nostdlib -shared' \
	'-nostdlib -static' '-nostartfiles' '-static-libgcc' -rdynamic '-Wl,--no-undefined -shared' \
	'-fuse-ld=lld' '-fuse-ld=gold' '-Wl,--as-needed -L. libz.a'; do
	same cc $kind a.c -o out.x
	same c++ $kind 'a b.cc' -o out.x
	same cc $kind a.o -o out.x
done
same cc a.c 'a b.cc' f.s a.o
same cc -x c++ a.c -x none a.o
same cc -c f.s
same cc -x assembler-with-cpp -c f.s
same cc -x c-header x.h
same cc x.h
same c++ -xc++-header x.h -o x.pch
same cc -include x.h -x c - -o x
same cc @response
same cc -c -- a.c
same cc -m32 -c a.c
same cc -ffreestanding -c a.c
same cc --target=aarch64-linux-gnu -c a.c
same cc -fsanitize=address a.c
same cc -no-such-option a.c
same cc nothere.c
same cc
same cc -v
same cc -c
same cc -o

# What configure, CMake and Meson look at.
answers() { # VERSION QUESTION
	"clang-$1" $2 >want 2>&1
	expect $? tree/bin/loci cc --loci-clang="$1" $2
	cat out err | cmp -s - want || fail "$2 is answered otherwise: $(cat out err | diff want -)"
}
for question in --version -v -dumpversion -dumpmachine -print-search-dirs -print-prog-name=ld \
	-print-libgcc-file-name -print-multi-os-directory '-Wl,--version' '-dM -E -x c /dev/null' --help; do
	in_turn "$versions" answers "$question"
done
finish
