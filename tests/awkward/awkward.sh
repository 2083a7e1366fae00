#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every awkward program natively and under a collector, and compares what it printed, on both
# streams, and how it ended:
#
#	tests/awkward/awkward.sh PROGRAMS [--only NAME] COMMAND..
#
# PROGRAMS is the folder they were built in; the program's command line is appended to COMMAND.
# NAME is a pattern. With PROFILE set to a path that COMMAND writes a profile to, there must be one
# after every run. LEAVE has patterns of those to leave out, separated by blanks; PARTS has what is
# compared (out err status).
set -u
programs=$(realpath "$1")
shift
only='*'
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
		printf 'some\ninput \001\377\n' | timeout 500 "$@" >"$out.out" 2>"$out.err"
		echo "status ${PIPESTATUS[1]}" >"$out.status"
	) 2>/dev/null
}

# try NAME STATUS COMMAND..: STATUS is what it must end with natively, or the test tests nothing.
try() {
	local name=$1 status=$2
	shift 2
	# shellcheck disable=SC2254
	case $name in $only) ;; *) return 0 ;; esac
	for pattern in ${LEAVE-}; do
		# shellcheck disable=SC2254
		case $name in $pattern) return 0 ;; esac
	done
	[ -e "$1" ] || [ -n "$(command -v "$1")" ] || {
		echo "skip $name: no $1"
		return 0
	}
	runs=$((runs + 1))
	run_to native "$@"
	[ "$(cat native.status)" = "status $status" ] || {
		echo "FAIL $name: natively it ends with $(cat native.status), not $status"
		failures=$((failures + 1))
	}
	[ -z "${PROFILE-}" ] || rm -f "$PROFILE"
	run_to watched "${command[@]}" "$@"
	for part in ${PARTS:-out err status}; do
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
case $1 in */*) command[0]=$(cd "$OLDPWD" && realpath "$1") ;; esac
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

for test in signals:143 jumps:3 fault_jumps:0 coroutines:0 forks:0 exec_chain:17 threads:0 recursion:0 \
	dynamic:0 accesses:0 memory:0 stripped:0 static:0 fixed:3 exceptions:0; do
	try "${test%:*}" "${test#*:}" "$programs/${test%:*}"
done
for test in return:11 abort:134 kill:137 _exit:5 segfault:139 divide:136 thread:23 main-gone:23; do
	try "ending-${test%:*}" "${test#*:}" "$programs/ending" "${test%:*}"
done
try traps 0 "$programs/traps"
for test in int3:133 raise:133 ignored:133 blocked:133 later:133 once:133 fault:139 fault-ignored:139 \
	sys:159; do
	try "traps-${test%:*}" "${test#*:}" "$programs/traps" "${test%:*}"
done
try alt_stacks 0 "$programs/alt_stacks"
try disarmed 0 "$programs/disarmed"
try signal_calls 0 "$programs/signal_calls"
try overflow 139 "$programs/signal_calls" overflow
try uncaught 134 "$programs/exceptions" uncaught
try streams 0 "$programs/streams" one 'two words' '' '*'
try script 6 ./script x y
try interpreted 0 ./interpreted
try shell 138 sh -c 'echo $((6 * 7)); kill -USR1 $$'
# Its own start is what there is to record: a library or two are many times as much of the same.
try python 4 python3 -I -S -c 'import posix, sys
d = {str(i): [i] * 3 for i in range(200)}
print(len(repr(d)), flush=True)
try:
    d["x"]
except KeyError as e:
    print("caught", e, flush=True)
posix.waitpid(posix.posix_spawn("/bin/echo", ["echo", "child"], {}), 0)
sys.exit(4)'

echo "$runs programs, $failures differences"
[ "$runs" -gt 0 ] && [ "$failures" = 0 ]
