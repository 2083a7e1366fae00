#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzzes the parsers, each from the seeds in tests/fuzz/corpus and from what earlier runs found
# interesting (build/corpus). What breaks a parser is left in build/fuzz.
#
#	scripts/fuzz.sh SECONDS            build, then fuzz every target that long
#	scripts/fuzz.sh SECONDS SUBJECT..  fuzz these, built already: from the seeds alone and with the
#	                                   same inputs each time, so that what passed passes again,
#	                                   as many of them as there is time for, and no others;
#	                                   FUZZ_SECONDS, if it is set: as above, and that long
#	scripts/fuzz.sh --build            only build
#	scripts/fuzz.sh --compiler         name the compiler, or fail
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath -m "${BUILD:-build}")

compiler() {
	for clang in clang-14 clang clang-19; do
		if echo 'int LLVMFuzzerTestOneInput(const char *p, long n); int LLVMFuzzerTestOneInput(const char *p, long n) { return 0; }' |
			"$clang" -fsanitize=fuzzer,address -x c -o /dev/null - >/dev/null 2>&1; then
			echo "$clang"
			return 0
		fi
	done
	return 1
}

build() {
	clang=$(compiler) || {
		echo "loci: no clang with libFuzzer (apt-get install clang libclang-rt-dev)" >&2
		exit 1
	}
	scripts/build.sh "$build/fuzz" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None \
		-DCMAKE_RULE_MESSAGES=OFF -DCMAKE_TARGET_MESSAGES=OFF \
		"-DCMAKE_C_FLAGS=-O1 -g1" -DLOCI_FUZZ=ON -DLOCI_WERROR=ON --target fuzz-targets
}

# What makes inputs the same each time: seeds in an order that is not the file system's, nothing of
# what the parser compared, which may be addresses, and an end that a fast machine comes to as well.
same() {
	echo "-seed=1 -use_cmp=0 -use_memmem=0 -runs=10000"
	echo "-seed_inputs=$(LC_ALL=C ls "$1" | sed "s,^,$1/," | paste -sd,)"
}

# An input may take 10 s and 2 GiB, no more: parsers must not be made to hang or to hoard.
fuzz() {
	corpus=$build/corpus/$2
	seeds=tests/fuzz/corpus/$2
	[ -d "$seeds" ] || seeds=
	if $same; then
		corpus=$build/fuzz/new/$2
		rm -rf "$corpus"
		[ -z "$seeds" ] || seeds=$(same "$seeds")
	fi
	mkdir -p "$corpus" "$build/fuzz/$2" || exit 1
	log=$build/fuzz/$2.log
	if ! "$build/fuzz/tests/$2_fuzz" -max_total_time="$1" -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$build/fuzz/$2/" "$corpus" $seeds >"$log" 2>&1; then
		tail -n 60 "$log" >&2
		echo "loci: fuzzing $2 failed; the input is in $build/fuzz/$2, the log is $log" >&2
		return 1
	fi
	echo "$2: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $1 s"
}

case ${1-} in
--compiler) compiler ;;
--build) build ;;
'' | *[!0-9]*)
	sed -n 's/^#	//p' "$0" >&2
	exit 2
	;;
*)
	seconds=${FUZZ_SECONDS:-$1}
	same=false
	shift
	if [ $# = 0 ]; then
		build || exit 1
		set -- $(cd tests/fuzz && ls *_fuzz.c | sed 's/_fuzz\.c$//')
	elif [ -z "${FUZZ_SECONDS-}" ]; then
		same=true
	fi
	status=0
	for subject; do
		fuzz "$seconds" "$subject" || status=1
	done
	exit $status
	;;
esac
