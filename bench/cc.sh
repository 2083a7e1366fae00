#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `loci cc` costs: counting, with operations too, streaming, recording, compiling, against native
# and Cachegrind.
#
#	bench/cc.sh BUILD SCRATCH
#
# The kernels of bench/kernels and SQLite, built natively and by loci cc with the same clang (CLANG,
# 19) and FLAGS (-O2), run in interleaved rounds: ROUNDS (9) of the quick ways, HEAVY (3) of the slow
# ones; COMPILES (1) of the compiler. SCALE (1) is a tenth of a second a kernel and two of SQLite; ONLY are the kernels (all), as
# name:variant. Half an hour or so on two cores.
set -u
build=$(realpath "$1") scratch=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
clang=${CLANG:-19} flags=${FLAGS:--O2}
mkdir -p "$scratch" || exit 1
export LC_ALL=C PATH=$build:$PATH

for tool in clang-$clang clang++-$clang valgrind sqlite3 python3 size; do
	command -v "$tool" >/dev/null || {
		echo "cc: left out, $tool is missing" >&2
		exit 77
	}
done
native="clang-$clang" watched="loci cc --loci-clang=$clang"

# timed NAME COMMAND..: appends the processor's seconds to the file compile.NAME
timed() {
	local name=$1 TIMEFORMAT='%U %S'
	shift
	{ time "$@" 2>"$scratch/stderr"; } 2>&1 | awk '{ print $1 + $2 }' >>"$scratch/compile.$name"
	[ "${PIPESTATUS[0]}" = 0 ] || {
		cat "$scratch/stderr" >&2
		exit 1
	}
}

rm -f "$scratch"/compile.*
# Valgrind 3.19 cannot read all of what clang writes of DWARF 5.
CC=$native CXX="clang++-$clang" "$here/kernels/compile.sh" "$scratch/kernels.native" plain $flags -gdwarf-4 || exit 1
CC=$watched CXX="loci c++ --loci-clang=$clang" \
	"$here/kernels/compile.sh" "$scratch/kernels.cc" plain $flags || exit 1
CC="$watched --loci-ops" CXX="loci c++ --loci-clang=$clang --loci-ops" \
	"$here/kernels/compile.sh" "$scratch/kernels.ops" plain $flags || exit 1
"$here/sqlite_source.sh" "$scratch/sqlite"
if [ -s "$scratch/sqlite/sqlite3.c" ]; then
	options="-g -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION"
	for ((round = 0; round < ${COMPILES:-1}; round++)); do
		for kind in native cc; do
			case $kind in native) compiler=$native ;; cc) compiler=$watched ;; esac
			timed $kind $compiler $flags $options -c -o "$scratch/sqlite/$kind.o" "$scratch/sqlite/sqlite3.c"
		done
	done
	for kind in native cc; do
		case $kind in native) compiler=$native ;; cc) compiler=$watched ;; esac
		$compiler $flags $options -I"$scratch/sqlite" -o "$scratch/sqlite.$kind" "$scratch/sqlite/shell.c" \
			"$scratch/sqlite/$kind.o" -lm || exit 1
		size -A "$scratch/sqlite/$kind.o" | awk '/^\.text/ { s += $2 } END { print s }' >"$scratch/text.$kind"
	done
	$watched --loci-ops $flags $options -I"$scratch/sqlite" -o "$scratch/sqlite.ops" "$scratch/sqlite/shell.c" \
		"$scratch/sqlite/sqlite3.c" -lm || exit 1
fi
exec python3 "$here/cc_ratios.py" "$build" "$scratch" "$here/sqlite_mix.sql"
