#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: the same matrix product in two loop orders, traced, analysed, compared. The profiles
# stay in build/demo for a further look.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath -m "${BUILD:-build}")
PATH=$build:$build/examples:$PATH
mkdir -p "$build/demo"
cd "$build/demo"

run() {
	echo
	echo "\$ $1"
	eval "$1"
}

echo "A matrix product writes a trace of its references; loci finds how far apart the reuses are."
run 'matmul ijk | loci analyse -o ijk.loci -'
run 'loci report ijk.loci'
echo
echo "The inner loop walks a matrix by column. With two loops exchanged it walks by row:"
run 'matmul ikj | loci analyse -o ikj.loci -'
run 'loci diff ijk.loci ikj.loci'
echo
echo "The profiles are in ${BUILD:-build}/demo. Next: loci cache ijk.loci --cache L1=32K/8,L2=1M/16,"
echo "or a program of yours, as README.md shows."
