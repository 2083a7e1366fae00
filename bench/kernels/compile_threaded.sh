#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the kernels of several threads:	bench/kernels/compile_threaded.sh OUT [FLAG..]
#
# CC is the compiler, clang unless given. Where it has no OpenMP those that need it are left out, and
# a line says so. No operations are fused, so that variants agree to the bit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
: "${CC:=clang}"
objects=$out.objects
rm -rf "$objects"
mkdir -p "$objects"
set -- -g -ffp-contract=off -pthread "$@"
openmp='cg_threads ft_threads lu_threads mg_threads stencil_threads'
printf '%s\n' 'int main(int n, char **v) { (void)v;' '#pragma omp parallel for reduction(+ : n)' \
	'for (int i = 0; i < 9; i++) n += i; return n; }' >"$objects/openmp.c"
if $CC -fopenmp "$objects/openmp.c" -o "$objects/openmp" >"$objects/openmp.log" 2>&1; then
	set -- "$@" -fopenmp
else
	echo "compile_threaded.sh: $CC has no OpenMP here: cg, ft, lu, mg and stencil are left out" >&2
	set -- "$@" -DWITHOUT_OPENMP
	left_out=$openmp
fi
for source in "$here"/threaded/*.c "$here/kernel_input.c"; do
	name=$(basename "$source" .c)
	case " ${left_out-} " in *" $name "*) continue ;; esac
	$CC "$@" -c "$source" -o "$objects/$name.o"
done
$CC "$@" -o "$out" "$objects"/*.o -lm
rm -rf "$objects"
