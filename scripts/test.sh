#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make test: builds the plain program and its variants under sanitizers and the fuzzer, then runs
# every test of all of them in one ctest, whose last lines are the verdict.
#
#	scripts/test.sh [--long] [CTEST OPTION..]
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
jobs=${JOBS:-2}
quick="-LE long" seconds=600
flags="-O1 -g1" # of symbols, sanitizers want functions and lines
# Nobody watches: make need not start cmake to announce each file.
unannounced="-DCMAKE_RULE_MESSAGES=OFF -DCMAKE_TARGET_MESSAGES=OFF"
if [ "${1-}" = --long ]; then
	quick= seconds=3600
	export FUZZ_SECONDS="${FUZZ_SECONDS:-600}" LINTIAN=1 LONG=1
	shift
fi

started=$(date +%s)
say() {
	echo "loci: $(($(date +%s) - started)) s: $*"
}

# links COMPILER FLAG: can it make a program so?
links() {
	echo 'int main(void) { return 0; }' |
		"$1" "$2" -x c -o "$build/probe" - >/dev/null 2>&1
}

mkdir -p "$build" || exit 1
variants=
if links cc -fsanitize=address,undefined; then
	variants="$variants;asan"
else
	echo "loci: the compiler has no address sanitizer: those tests are left out"
fi
if links cc -fsanitize=thread; then
	variants="$variants;tsan"
else
	echo "loci: the compiler has no thread sanitizer: those tests are left out"
fi
if clang=$(scripts/fuzz.sh --compiler); then
	variants="$variants;fuzz"
else
	echo "loci: no clang with libFuzzer: fuzzing is left out"
fi
rm -f "$build/probe"

# beside COMMAND..: runs while others do, since configuring takes one processor only
beside=
beside() {
	"$@" &
	beside="$beside $!"
}

# together: waits for these
together() {
	for process in $beside; do
		wait "$process" || exit 1
	done
	beside=
}

asan() {
	# Messages are cut to size on purpose, which this compiler overlooks under sanitizers.
	scripts/build.sh "$build/asan" $unannounced -DCMAKE_BUILD_TYPE=None "-DLOCI_COLLECTORS=$(realpath "$build")" \
		"-DCMAKE_C_FLAGS=$flags -Wno-format-truncation" \
		-DLOCI_SANITIZE=address,undefined -DLOCI_WERROR=ON
}

tsan() {
	scripts/build.sh "$build/tsan" $unannounced -DCMAKE_BUILD_TYPE=None "-DLOCI_COLLECTORS=$(realpath "$build")" \
		"-DCMAKE_C_FLAGS=$flags" -DLOCI_SANITIZE=thread --target threaded-tests
}

case $variants in
*fuzz*)
	say "building, and the fuzz targets with $clang"
	beside scripts/fuzz.sh --build
	;;
*) say "building" ;;
esac
scripts/build.sh "$build" $unannounced "-DLOCI_VARIANTS=${variants#;}" \
	"-DLOCI_TEST_SECONDS=$seconds" || {
	wait
	exit 1
}
# What the other builds take of this one must not warn either.
if grep -A 8 -E '^[^ ]+:[0-9]+:[0-9]+: warning: ' "$build/build.log" >&2; then
	echo "loci: the compiler warns" >&2
	exit 1
fi
say "building with sanitizers"
case $variants in *asan*) beside asan ;; esac
case $variants in *tsan*) beside tsan ;; esac
together

# Where python3 is a script that looks for one, looking takes longer than most of what tests ask it.
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && [ -x "${python%/*}/python3" ]; then
	[ "$(command -v python3)" = "${python%/*}/python3" ] || export PATH="${python%/*}:$PATH"
fi

say "testing"
# More than there are processors: many wait, for a clock, a browser, a program that they watch.
cd "$build" && ctest --output-on-failure -j "$((jobs + 2))" $quick "$@"
status=$?
[ $status = 0 ] && say "tests passed" || say "tests failed"
exit $status
