#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What definitions say, and where linkers put them:	describe.sh VERSION BIN PLUGIN LISTING PASS
#
#  - every site's function, line, column and inlined calls equal what the text of the code they were
#    made of says; what it is named stands in comments of the source. So too of what the pass of
#    `loci cc` itself plans;
#  - the linked program has one definition for each function that is left in it, whose entry is the
#    function's symbol, and nothing to relocate in the sections, linked in every way.
#
# make check-long: every level without debug information too, every way to link with every linker.
set -u
version=$1 bin=$2 plugin=$3 listing=$4 pass=$5
source=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
long=${LONG-}

fail() {
	echo "describe: $*" >&2
	failures=$((failures + 1))
}

# run WHAT COMMAND..: a failure is the test's
run() {
	local what=$1
	shift
	"$@" >log 2>&1 || {
		fail "$what: $*"
		head -n 30 log >&2
		return 1
	}
}

compiler() {
	case $1 in
	*.c) echo "$bin/clang" ;;
	*) echo "$bin/clang++" ;;
	esac
}

# content SOURCE MOST-UNNAMED FLAGS..: against the text of the code
content() {
	local file=$1 unnamed=$2 rest= compile how=some
	shift 2
	compile=$(compiler "$file")
	[ "$file" = described.c ] || rest=other.o
	[[ $* != *-O0* ]] || how=all
	run "$file $*" "$compile" "$@" -S -emit-llvm "$source/$file" -o code.ll &&
		run "$file $*" "$bin/opt" -load-pass-plugin="$plugin" -passes=simple-plan,verify \
			code.ll -o code.bc &&
		run "$file $*" "$compile" -O0 -Wno-override-module code.bc $rest -o program &&
		run "$file $* as a program" ./program &&
		run "$file $*" "$listing" program &&
		mv log list &&
		run "$file $*: locations" "$source/compare_sites.py" locations code.ll list || return
	echo "$file $*: $(cat log)"
	[[ " $* " = *' -g '* ]] && run "$file $*: variables" "$source/compare_sites.py" variables \
		list $how "$unnamed" || return
	run "$file $* by the pass" "$compile" "$@" -fPIC -S -emit-llvm "$source/$file" -o code.ll &&
		run "$file $* by the pass" "$compile" "$@" -fPIC -shared -fpass-plugin="$pass" \
			"$source/$file" -o library.so &&
		run "$file $* by the pass" "$listing" library.so &&
		mv log list &&
		run "$file $*: locations of the pass" "$source/compare_sites.py" pass code.ll list &&
		run "$file $*: variables of the pass" "$source/compare_sites.py" variables list \
			some $((unnamed + 5))
}

run other.o "$bin/clang++" -c "$source/described_other.cpp" -o other.o || exit 1
for level in -O0 -O2 '-O3 -march=native'; do
	[ -n "$long" ] || [ $version != 14 ] || [ "${level#-O3}" = "$level" ] || continue # 19 does
	[ "$level" = -O0 ] && most=(4 20) || most=(2 10)
	for debug in -g ''; do
		# Without line tables nothing but the number of sites can be wrong.
		[ -n "$debug$long" ] || [ "$level" = -O2 ] || continue
		content described.c ${most[0]} $level $debug
		content described.cpp ${most[1]} $level $debug
	done
done
content described.c 0 -O2 -gline-tables-only

# linked PROGRAM WHAT: one definition a function, at its symbol; no relocations
linked() {
	local program=$1 what=$2
	run "$what" "$listing" "$program" || return
	mv log list
	awk -F '\t' '$1 == "function" { print $2, $4 }' list | sort >defined
	[ -s defined ] || fail "$what: there are no definitions"
	nm "$program" | awk '$2 ~ /[tTwWV]/ { sub(/^0+/, "", $1); print $3, "0x" $1 }' | sort >symbols
	[ -z "$(comm -23 defined symbols)" ] ||
		fail "$what: no such symbol: $(comm -23 defined symbols | head -n 3)"
	[ -z "$(cut -d ' ' -f 2 defined | sort | uniq -d)" ] || fail "$what: defined twice"
	readelf -SW "$program" | sed -n 's/^ *\[ *[0-9]*\] //p' |
		awk '$1 ~ /^loci_/ { print $3, $5 }' >sections
	[ "$(wc -l <sections)" = 2 ] || fail "$what: there are not two sections"
	readelf -rW "$program" | python3 -c '
import sys
spans = [[int(x, 16) for x in line.split()] for line in open("sections")]
for line in sys.stdin:
    field = line.split()
    if len(field) > 2 and field[2].startswith("R_X86_64_"):
        at = int(field[0], 16)
        if any(low <= at < low + n for low, n in spans):
            sys.exit("relocated: " + line)' || fail "$what: to be relocated"
	! readelf -dW "$program" | grep -q TEXTREL || fail "$what: code is to be relocated"
}

linkers='bfd'
for linker in gold lld; do
	path=$(command -v ld.$linker-$version || command -v ld.$linker) && linkers="$linkers $linker"
done
cp "$source"/described* .
flags=(-g -O2 -fpass-plugin="$plugin")
cxx=$bin/clang++

# objects KIND [FLAG..]: of both C++ files, for every way to link that takes such
objects() {
	local kind=$1 name
	shift
	for name in described described_other; do
		run "$kind" "$cxx" "${flags[@]}" "$@" -c $name.cpp -o $name.$kind.o
	done
}
objects pie
objects fixed -fno-pie
objects pic -fPIC
run gc "$bin/clang" "${flags[@]}" -ffunction-sections -c described.c -o described.gc.o

# link WHAT KIND OUT [FLAG..]: by the linker of the turn
link() {
	local what=$1 kind=$2 out=$3
	shift 3
	run "$what" "$cxx" "${with[@]}" "$@" described.$kind.o described_other.$kind.o -o $out && linked $out "$what"
}
for linker in $linkers; do
	with=(-fuse-ld=$linker)
	[ $linker != lld ] || with=(-fuse-ld="$(command -v ld.lld-"$version" || command -v ld.lld)")
	what="$linker"
	link "$what pie" pie program && run "$what pie" ./program
	if [ $linker = bfd ] || [ -n "$long" ]; then
		link "$what no-pie" fixed program -no-pie && run "$what" ./program
		link "$what static" pie program -static && run "$what static" ./program
		link "$what shared" pic library.so -shared
	fi
	run "$what" "$bin/clang" "${with[@]}" -Wl,--gc-sections described.gc.o -o program &&
		linked program "$what gc" && run "$what gc" ./program &&
		! grep -q '^function.unused' list || fail "$what: what nobody calls is kept"
	! nm program | grep -qw unused || fail "$what: a definition keeps a function"
	grep -q '^function.walk' list || fail "$what: what is called is not there"
done

# Templates that both files have: one copy is left, with its definition.
run comdat "$cxx" "${flags[@]}" -O0 described.cpp described_other.cpp -o program &&
	linked program comdat
for symbol in _ZN5shape7polygonINS_5pointEE4nameEl _ZN5shape6largerIdEET_RKS1_S3_; do
	[ "$(grep -c "^function.$symbol" list)" = 1 ] || fail "$symbol is not defined once"
done

# Strings are merged by the linker: a file's path stands there once.
[ "$(strings -a -n 8 program | grep -c "^$PWD/described_other.cpp$")" -le 2 ] ||
	fail "a text stands there more than once"

lto=$(command -v ld.lld-"$version" || { [ "$version" != 14 ] || command -v ld.lld; })
if [ -n "$lto" ]; then
	run lto "$cxx" "${flags[@]}" -flto -fuse-ld="$lto" described.cpp described_other.cpp \
		-o program && linked program lto && run lto ./program
else
	echo "describe: no lld of version $version; -flto is left out"
fi
[ "$failures" = 0 ] && echo "describe: in order"
exit $((failures != 0))
