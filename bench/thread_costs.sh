#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What recording programs of several threads costs, exactly and by samples, and how near samples come:
#
#	bench/thread_costs.sh BUILD SCRATCH
#
# The kernels of bench/kernels/threaded, built natively and by loci cc with the same clang (CLANG, 14) and
# FLAGS (-O2), with THREADS (4), in interleaved ROUNDS (5). SCALE (1) is a few hundredths of a native second
# for what is recorded exactly, a few tenths for what is sampled; ONLY are the kernels (all), as name:variant;
# PERIODS those of samples (100000 1000000). QUICK=1 is one round at a fifth.
# What was measured is kept in SCRATCH/threads.jsonl and not measured again: a run that was stopped goes
# on; FRESH=1 begins anew. Hours on two cores, QUICK=1 some seven minutes. Fails if a bar is missed.
set -u
build=$(realpath "$1") scratch=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
clang=${CLANG:-14} flags=${FLAGS:--O2}
mkdir -p "$scratch" || exit 1
export LC_ALL=C PATH=$build:$PATH OMP_WAIT_POLICY=passive

for tool in clang-$clang python3; do
	command -v "$tool" >/dev/null || {
		echo "threads: left out, $tool is missing" >&2
		exit 77
	}
done
[ -e "$build/lib/loci/loci-pass-$clang.so" ] || {
	echo "threads: left out, loci was built without a pass for clang $clang" >&2
	exit 77
}
[ -z "${FRESH-}" ] || rm -f "$scratch/threads.jsonl" "$scratch"/*.compared
if [ -n "${QUICK-}" ]; then
	export ROUNDS=${ROUNDS:-1} SCALE=${SCALE:-0.2}
fi
CC=clang-$clang "$here/kernels/compile_threaded.sh" "$scratch/threaded.native" $flags || exit 1
CC="loci cc --loci-clang=$clang" "$here/kernels/compile_threaded.sh" "$scratch/threaded.cc" $flags || exit 1
loci cc --loci-clang="$clang" $flags -g -pthread "$here/short_threads.c" -o "$scratch/short_threads" || exit 1
exec python3 "$here/thread_costs.py" "$scratch"
