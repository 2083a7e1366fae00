#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: builds for release and runs every benchmark, one after another, into build/bench.txt.
# Fails if a bar is missed. LONG=1 adds 1e9 touches, whose memory must not grow with their number.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath -m "${BUILD:-build}")
scratch=$build/bench

scripts/build.sh "$build" -DCMAKE_BUILD_TYPE=Release -DLOCI_SANITIZE= --target benchmarks || exit 1
mkdir -p "$scratch"
if [ ! -s "$scratch/gzip.lackey" ]; then
	if ! command -v valgrind >/dev/null; then
		echo "loci: valgrind is missing: no gzip trace, the bars on it are left out" >&2
	else
		echo "loci: tracing gzip with Valgrind's Lackey"
		bench/gzip_trace.sh "$scratch" || exit 1
	fi
fi
trace=
[ ! -s "$scratch/gzip.lackey" ] || trace=$scratch/gzip.lackey

machine() {
	sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1
	echo "$(nproc) processors, $(uname -sr), $(cc --version | head -n 1)"
	echo "loci $("$build/loci" --version | cut -d ' ' -f 2) $(git rev-parse --short HEAD 2>/dev/null)"
}

# run NAME COMMAND..
run() {
	echo
	echo "== $1"
	shift
	"$@" || {
		echo "FAIL: $(basename "$1") missed a bar"
		echo 1 >"$scratch/failed"
	}
}

rm -f "$scratch/failed"
{
	machine
	for source in bench/*_bench.c; do
		name=$(basename "$source" .c)
		case $name in
		engine_bench) arguments="${LONG:+--long} $trace" ;;
		coherent_bench | convert_bench | object_bench | symbol_bench | marks_bench) arguments= ;;
		profile_bench) arguments=$scratch/many.loci ;;
		attribute_bench) continue ;; # bench/record.sh has a trace for it
		sampled_bench) continue ;;   # takes a trace of samples
		sets_bench) arguments="-r 1" ;;
		*) arguments=$trace ;;
		esac
		[ "$name$trace" = together_bench ] || run "$name" "$build/bench/$name" $arguments
	done
	[ -z "$trace" ] || run pipeline bench/pipeline.sh "$build/loci" "$trace" "$scratch"
	# At full size (SCALE=1 ROUNDS=5 bench/record.sh) recording takes some hours.
	[ ! -x "$build/libexec/loci/loci-amd64-linux" ] ||
		SCALE=0.02 ROUNDS=3 run record bench/record.sh "$build" "$scratch/record"
} 2>&1 | tee "$build/bench.txt"
echo
if [ -e "$scratch/failed" ]; then
	echo "loci: a bar was missed; see $build/bench.txt" >&2
	exit 1
fi
echo "loci: every bar holds; $build/bench.txt"
