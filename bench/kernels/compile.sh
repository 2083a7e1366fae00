#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compiles the kernels:	bench/kernels/compile.sh OUT KIND [FLAG..]
#
# KIND: plain, static, shared (all kernels in libOUT.so beside it), lto. CC and CXX are the
# compilers, clang unless given. No operations are fused, so that variants agree to the bit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1 kind=$2
shift 2
: "${CC:=clang}" "${CXX:=clang++}"
objects=$out.objects
rm -rf "$objects"
mkdir -p "$objects"
set -- -g -ffp-contract=off "$@"
link=
case $kind in
plain) ;;
static) link=-static ;;
shared) set -- "$@" -fPIC ;;
lto)
	set -- "$@" -flto
	link=-fuse-ld=lld
	;;
*)
	echo "compile.sh: there is no kind \"$kind\"" >&2
	exit 2
	;;
esac
for source in "$here"/*.c; do
	$CC "$@" -c "$source" -o "$objects/$(basename "$source" .c).o"
done
for source in "$here"/*.cpp; do
	$CXX "$@" -std=c++17 -c "$source" -o "$objects/$(basename "$source" .cpp).o"
done
if [ "$kind" = shared ]; then
	library=$(dirname "$out")/lib$(basename "$out").so
	mv "$objects/kernels.o" "$objects/kernels.main"
	$CXX "$@" -shared -o "$library" "$objects"/*.o -lm
	$CXX "$@" -rdynamic -o "$out" "$objects/kernels.main" "$library" -Wl,-rpath,"$(cd "$(dirname "$out")" && pwd)" -lm
else
	$CXX "$@" $link -o "$out" "$objects"/*.o -lm
fi
rm -rf "$objects"
