#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Configures and builds quietly; a failure shows the end of the log.
#
#	scripts/build.sh DIR [--configure-only] [-DNAME=VALUE..] [--target NAME..]
set -u
cd "$(dirname "$0")/.." || exit 1
dir=$1
shift

targets=
only=
n=$#
while [ "$n" -gt 0 ]; do
	argument=$1
	shift
	n=$((n - 1))
	case $argument in
	--configure-only) only=1 ;;
	--target)
		targets="$targets --target $1"
		shift
		n=$((n - 1))
		;;
	*) set -- "$@" "$argument" ;; # for the configuration
	esac
done

mkdir -p "$dir" || exit 1
log=$dir/build.log
if ! command -v cmake >/dev/null 2>&1; then
	echo "loci: cmake is missing; see scripts/deps.sh for what a build needs" >&2
	exit 1
fi
# Notes about parts left out go to standard error and are meant to be seen.
cmake -S . -B "$dir" "$@" >"$log" || {
	tail -n 20 "$log" >&2
	exit 1
}
[ -z "$only" ] || exit 0
if ! cmake --build "$dir" -j "${JOBS:-2}" $targets >"$log" 2>&1; then
	grep -B 2 -A 8 -E 'error|warning|Error' "$log" | tail -n 60 >&2
	echo "loci: building in $dir failed; the whole log is $log" >&2
	exit 1
fi
