#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How true and how dear `loci record -m watch` is:
#
#	bench/accuracy.sh BUILD SCRATCH
#
# The kernels of bench/kernels and SQLite, built natively and by loci cc with the same clang (CLANG, 19) and
# FLAGS (-O2), run natively, counting, and watched by registers and by pages, one after the other, in ROUNDS (9); watched ones are held
# against exact profiles. SCALE (1) is 20 native seconds of what is judged and 4 of what is compared; KERNELS are some of them (all), as
# name:variant and sqlite. WAYS are some of what is measured (all): default, samples, pages, period, watches, replace, no;
# with WAYS=samples, whose period is fixed, so many samples as SAMPLES (20000 1000) says, a machine need not be quiet. SEED (0) is
# that of the first round. COUNTING=0 leaves out the runs that only count. After BUDGET seconds (3200) nothing new begins.
# JOBS_AT_ONCE (1), no more than there are processors: so many subjects are measured at a time, which makes each noisier,
# and where time is judged so many rounds of one subject: each run has others like it beside it.
# What was measured is kept in SCRATCH/accuracy.jsonl: the next run goes on where this one stopped, until all is
# measured, which takes many hours; FRESH=1 begins anew. QUICK=1 is a tenth, of seven kernels and SQLite, in three rounds
# and ten minutes. What the same source was found to take on another day is in bench/accuracy.jsonl.gz and counts, too,
# unless FRESH=1; KEEP=1 puts there what is known of this one. Fails if a bar is missed.
set -u
build=$(realpath "$1") scratch=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
clang=${CLANG:-19} flags=${FLAGS:--O2}
mkdir -p "$scratch" || exit 1
export LC_ALL=C PATH=$build:$PATH

for tool in clang-$clang clang++-$clang python3; do
	command -v "$tool" >/dev/null || {
		echo "accuracy: left out, $tool is missing" >&2
		exit 77
	}
done
[ -e "$build/lib/loci/loci-pass-$clang.so" ] || {
	echo "accuracy: left out, loci was built without a pass for clang $clang" >&2
	exit 77
}
[ -z "${FRESH-}" ] || rm -f "$scratch"/accuracy.* "$scratch"/*.exact "$scratch"/built.*

# What is measured depends on this source and on how it is measured, not on the commit; programs on the pass only, for the
# runtime is a library of its own.
pass=$build/lib/loci/loci-pass-$clang.so
measured=$(cd "$here/.." && { cat $(git ls-files -co --exclude-standard src include bench/kernels bench/sqlite_mix.sql \
	bench/accuracy.py bench/accuracy_runs.py | grep -vE '^src/(report|import)/') &&
	echo "$clang $flags" "${JOBS_AT_ONCE:-1}"; } | sha1sum | cut -c1-12)
compiled="$(cat "$pass" "$here"/kernels/* 2>/dev/null | sha1sum | cut -c1-12) $clang $flags"
native="clang-$clang" watched="loci cc --loci-clang=$clang"
# stale WHAT: it is not what was built last
stale() {
	[ "$(cat "$scratch/built.$1" 2>/dev/null)" != "$compiled" ]
}
if stale kernels; then
	rm -f "$scratch/built.kernels"
	CC=$native CXX="clang++-$clang" "$here/kernels/compile.sh" "$scratch/kernels.native" plain $flags || exit 1
	CC=$watched CXX="loci c++ --loci-clang=$clang" "$here/kernels/compile.sh" "$scratch/kernels.cc" plain $flags || exit 1
	echo "$compiled" >"$scratch/built.kernels"
fi
case " ${KERNELS:-sqlite} " in *" sqlite "*) with_sqlite=1 ;; *) with_sqlite= ;; esac
if [ "$with_sqlite" ] && stale sqlite; then # which takes minutes
	rm -f "$scratch/built.sqlite"
	"$here/sqlite_source.sh" "$scratch/sqlite"
	if [ -s "$scratch/sqlite/sqlite3.c" ]; then
		options="-g -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION"
		for kind in native cc; do
			case $kind in native) compiler=$native ;; cc) compiler=$watched ;; esac
			$compiler $flags $options -I"$scratch/sqlite" -o "$scratch/sqlite.$kind" "$scratch/sqlite/shell.c" \
				"$scratch/sqlite/sqlite3.c" -lm || exit 1
		done
	fi
	echo "$compiled" >"$scratch/built.sqlite"
fi
commit=$(git -C "$here" describe --always --dirty 2>/dev/null)
kept=$here/accuracy.jsonl.gz
[ -z "${FRESH-}" ] || kept=$scratch/none.gz
exec python3 -B "$here/accuracy.py" "$scratch" "$measured" "${commit:-none}" "$here/sqlite_mix.sql" "$kept"
