#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo: the same matrix product in two loop orders, recorded, blamed, compared. The profiles
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

echo "A matrix product runs under loci, which finds how far apart the reuses of its data are."
run 'loci record -o ijk.loci matmul ijk'
run 'loci report ijk.loci'
run 'loci annotate ijk.loci multiply_ijk'
echo
echo "The inner loop walks b by column. With two loops exchanged it walks by row:"
run 'loci record -q -o ikj.loci matmul ikj'
run 'loci diff ijk.loci ikj.loci'
echo
loci html -o demo.html ijk.loci ikj.loci
echo "To look around in both: open ${BUILD:-build}/demo/demo.html in a browser, or loci view ijk.loci ikj.loci."
echo "The profiles are in ${BUILD:-build}/demo. Next: loci cache ijk.loci --cache L1=32K/8,L2=1M/16,"
echo "or a program of yours: loci record ./prog; loci report prog.loci"
