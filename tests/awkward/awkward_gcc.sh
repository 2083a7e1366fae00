#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The awkward programs built by `loci gcc`: on their own they behave as if gcc had built them, and
# recorded as on their own.
#
#	tests/awkward/awkward_gcc.sh BUILD
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(realpath "$1")
PATH=$BUILD:$PATH
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

# Runs the program of that name in the folder INSTEAD.
cat >"$scratch/instead" <<'SCRIPT'
#!/bin/sh
program=$INSTEAD/${1##*/}
shift
exec "$program" "$@"
SCRIPT
chmod +x "$scratch/instead"

# check WHAT COMMAND..
check() {
	echo "$1:"
	shift
	"$@" || failures=1
}

# One of the programs is 100000 frames deep.
ulimit -s 65536
others="script interpreted shell python"
for flags in -O0 -O1; do
	dir=$scratch/$flags
	CC=gcc CXX=g++ "$here/awkward_build.sh" "$dir.native" $flags || exit 1
	CC="loci gcc" CXX="loci g++" "$here/awkward_build.sh" "$dir.gcc" $flags || exit 1
	LEAVE=$others INSTEAD=$dir.gcc check "gcc $flags, on their own" \
		"$here/awkward.sh" "$dir.native" "$scratch/instead"
	# What records every reference has the smallest stacks of handlers to itself.
	LEAVE="$others alt_stacks" PROFILE=$scratch/gcc.loci check "gcc $flags, recorded" \
		"$here/awkward.sh" "$dir.gcc" "$BUILD/loci" record -q --collector gcc -o "$scratch/gcc.loci" --
done
exit $failures
