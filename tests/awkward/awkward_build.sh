#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the awkward programs as CMakeLists.txt does, with other compilers:
#
#	CC="loci cc" CXX="loci c++" tests/awkward/awkward_build.sh DIR [FLAG..]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
shift
[ $# -gt 0 ] || set -- -O1

# make NAME SOURCE [FLAG..]
make() {
	name=$1 source=$here/$2
	shift 2
	$CC -g -w -D_GNU_SOURCE= -std=gnu11 -fPIE -pthread $flags "$source" -o "$name" "$@" -ldl
}

flags=$*
for name in signals jumps fault_jumps coroutines forks exec_chain threads dynamic accesses memory ending \
	streams traps alt_stacks disarmed signal_calls; do
	make $name $name.c
done
make recursion recursion.c -fno-optimize-sibling-calls
make stripped memory.c -s
make static memory.c -static
make fixed jumps.c -fno-pie -no-pie
$CC -g -w -D_GNU_SOURCE= -fPIC -shared $flags "$here/plugin.c" -o plugin.so
$CXX -g -w -fPIE -pthread $flags "$here/exceptions.cpp" -o exceptions
