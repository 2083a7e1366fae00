#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The operations in definitions:	operations.sh VERSION BIN PASS LISTING
#
# Of small functions as they were counted by hand, and of the kernels as the text of the intermediate
# code has them, at several levels of optimisation. Without the option there are none.
set -u
version=$1 bin=$2 pass=$3 listing=$4
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

fail() {
	echo "operations, clang $version: $*" >&2
	failures=$((failures + 1))
}

command -v python3 >/dev/null || {
	echo "no python3"
	exit 77
}

# compile NAME SOURCE OPTION..: the library NAME.so with the pass, and NAME.ll without
compile() {
	local name=$1 source=$2 compiler=$bin/clang
	shift 2
	case $source in *.cpp) compiler="$bin/clang++ -std=c++17" ;; esac
	$compiler -g0 "$@" -fPIC -S -emit-llvm "$source" -o "$name.ll" || return 1
	LOCI_OPS=1 LOCI_PASS_VERIFY=1 $compiler -g0 "$@" -fPIC -fpass-plugin="$pass" -shared \
		-Wl,--unresolved-symbols=ignore-all "$source" -o "$name.so"
}

for level in -O0 -O2 -O3; do
	compile hand "$here/operations.c" $level -fno-math-errno -ffp-contract=off || fail "$level: does not compile"
	"$listing" hand.so >listed || fail "$level: cannot be read"
	"$here/ops_compare.py" hand $level "$here/operations.c" <listed >differs || fail "by hand: $(cat differs)"
done
compile hand "$here/operations_thrown.cpp" -O2 || fail "C++ does not compile"
"$listing" hand.so >listed
"$here/ops_compare.py" hand -O2 "$here/operations_thrown.cpp" <listed >differs || fail "by hand: $(cat differs)"

# Each kernel at one level with this clang, at another with another; in make check-long at all.
kernels=$here/../../bench/kernels
turn=$version
for level in -O0 -O2 "-O3 -march=native"; do
	for source in "$kernels"/{fft,quicksort,cg,sweep3d,matrix_product,join}.c "$kernels"/btree.cpp; do
		turn=$((turn + 1))
		[ $((turn % 3)) = 0 ] || [ -n "${LONG-}" ] || continue
		compile kernel "$source" $level || fail "$source, $level: does not compile"
		"$listing" kernel.so >listed || fail "$source, $level: cannot be read"
		"$here/ops_compare.py" text kernel.ll <listed >differs ||
			fail "$(basename "$source"), $level: $(cat differs)"
	done
done

$bin/clang -O2 -fPIC -fpass-plugin="$pass" -shared -Wl,--unresolved-symbols=ignore-all "$kernels/fft.c" -o plain.so &&
	[ -z "$("$listing" plain.so)" ] || fail "operations without being asked"
exit $((failures != 0))
