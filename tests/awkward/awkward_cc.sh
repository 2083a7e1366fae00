#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The awkward programs built by `loci cc`: on their own they behave as if clang had built them, and
# recorded as on their own. make check-long: each level with each clang, and watched in both ways.
#
#	tests/awkward/awkward_cc.sh BUILD
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(realpath "$1")
PATH=$BUILD:$PATH
. "$here/../cli/clangs.sh"
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

# Without optimisation a frame of instrumented code takes several times as much of the stack, and
# one of the programs is 100000 frames deep.
ulimit -s 65536

# What is not compiled here.
others="script interpreted shell python"
try() { # MAJOR FLAGS WATCHED-BY
	local major=$1 flags=$2
	dir=$scratch/$1$2
	CC=clang-$major CXX=clang++-$major "$here/awkward_build.sh" "$dir.native" $flags || exit 1
	CC="loci cc --loci-clang=$major" CXX="loci c++ --loci-clang=$major" \
		"$here/awkward_build.sh" "$dir.cc" $flags || exit 1
	LEAVE=$others INSTEAD=$dir.cc check "clang $major $flags, on their own" \
		"$here/awkward.sh" "$dir.native" "$scratch/instead"
	# What records every reference has the smallest stacks of handlers to itself.
	LEAVE="$others alt_stacks" PROFILE=$scratch/cc.loci check "clang $major $flags, recorded" \
		"$here/awkward.sh" "$dir.cc" "$BUILD/loci" record -q --collector cc -o "$scratch/cc.loci" --
	# Of few references there may be no sample: the recorder says so, and may fail for that.
	for by in "" --watch-by=pages; do
		[ "$by" = "$3" ] || [ -n "${LONG-}" ] || continue
		LEAVE="$others streams" PARTS="out status" LOCI_RUNS=0 \
			check "clang $major $flags, watched $by" "$here/awkward.sh" "$dir.cc" \
			"$BUILD/loci" record -q -m watch $by -c 200 --burst 20 \
			-o "$scratch/watched.loci" --
	done
}
in_turn "$clangs" try -O0 --watch-by=pages
in_turn "$clangs" try -O2 ""
exit $failures
