#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the kernels in Fortran:	bench/kernels/compile_fortran.sh OUT [FLAG..]
#
# FC is the compiler, flang-new-19 unless given. No operations are fused, so that variants agree to the
# bit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
: "${FC:=flang-new-19}"
rm -rf "$out.objects"
mkdir "$out.objects"
cd "$out.objects"
for name in measuring alternating transform mesh shallow solvers fortran_kernels; do
	$FC -g -ffp-contract=off "$@" -c "$here/$name.f90"
done
$FC "$@" ./*.o -o "$out"
cd /
rm -rf "$out.objects"
