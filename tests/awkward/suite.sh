#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every awkward program natively and under a collector, and compares what it printed, on both
# streams, and how it ended:
#
#	tests/awkward/suite.sh PROGRAMS [--only NAME] COMMAND..
#
# PROGRAMS is the folder they were built in; the program's command line is appended to COMMAND.
# With PROFILE set to a path that COMMAND writes a profile to, there must be one after every run.
set -u
programs=$(realpath "$1")
shift
only=
if [ "$1" = --only ]; then
	only=$2
	shift 2
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0 runs=0

# Not every way of dying leaves the same status in a shell: 128 + n for a signal in both.
run_to() {
	local out=$1
	shift
	(
		ulimit -c 0
		printf 'some\ninput \001\377\n' | timeout 120 "$@" >"$out.out" 2>"$out.err"
		echo "status ${PIPESTATUS[1]}" >"$out.status"
	) 2>/dev/null
}

try() {
	local name=$1
	shift
	[ -z "$only" ] || [ "$only" = "$name" ] || return 0
	[ -e "$1" ] || [ -n "$(command -v "$1")" ] || {
		echo "skip $name: no $1"
		return 0
	}
	runs=$((runs + 1))
	run_to native "$@"
	[ -z "${PROFILE-}" ] || rm -f "$PROFILE"
	run_to watched "${command[@]}" "$@"
	for part in out err status; do
		if ! cmp -s native.$part watched.$part; then
			echo "FAIL $name: $part differs"
			diff -a native.$part watched.$part | head -n 10 | sed 's/^/	/'
			failures=$((failures + 1))
		fi
	done
	if [ -n "${PROFILE-}" ] && [ ! -s "$PROFILE" ]; then
		echo "FAIL $name: no profile"
		failures=$((failures + 1))
	fi
}

command=("$@")
export AWKWARD='a value; with "quotes"'
cat >script <<'SCRIPT'
#!/bin/sh
# A script that starts programs.
echo script "$@"
ls / | wc -l | grep -q .
cat | tr a-z A-Z
exit 6
SCRIPT
chmod +x script
printf '#!%s/streams with\n' "$programs" >interpreted
chmod +x interpreted

for name in signals jumps coroutines forks exec_chain threads recursion dynamic accesses memory \
	stripped static fixed exceptions; do
	try $name "$programs/$name"
done
for how in return abort kill _exit segfault divide thread main-gone; do
	try "ending-$how" "$programs/ending" $how
done
try uncaught "$programs/exceptions" uncaught
try streams "$programs/streams" one 'two words' '' '*'
try script ./script x y
try interpreted ./interpreted
try shell sh -c 'echo $((6 * 7)); kill -USR1 $$'
try python python3 -c 'import json, sys, subprocess
d = {str(i): [i] * 3 for i in range(2000)}
print(len(json.dumps(d)))
try:
    d["x"]
except KeyError as e:
    print("caught", e)
subprocess.run(["echo", "child"])
sys.exit(4)'

echo "$runs programs, $failures differences"
[ "$runs" -gt 0 ] && [ "$failures" = 0 ]
