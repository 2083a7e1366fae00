# SPDX-License-Identifier: GPL-2.0-or-later
# loci record of a part of the run: functions by name, windows by time and by signal. The profile
# has that part, and says that it is one.
# By the clock.
# Not under sanitizers: record_cc_windows_test is, and what opens and closes runs in the program.
. "$SRC/tests/cli/expect.sh"
work=$BUILD/tests/workloads
[ -x "$(dirname "$LOCI")/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null || {
	echo "no Valgrind, or built without"
	exit 77
}

# cells NAME WANT: references to the objects named so, in the profile p.loci
cells() {
	local got
	got=$(sqlite3 p.loci "select name || ' ' || refs from object where name glob '*_cell' order by name" | tr '\n' ' ')
	[ "$got" = "$2" ] || fail "$1: $got, want $2"
}
# is_part TEXT: the profile says so wherever it is shown
is_part() {
	has err "$1"
	expect 0 loci report p.loci
	has out "a part of the run"
	lacks out "every reference"
	tr -s ' \n' ' ' <out >flat
	has flat "$1"
	expect 0 loci info p.loci
	grep -q 'complete *no, a part of the run' out || fail "info: $(cat out)"
	lacks out "(complete"
}

expect 0 loci record -o p.loci "$work/windows"
cells all "first_cell 5000 second_cell 5000 "
expect 0 loci report p.loci
has out "every reference"
expect 0 loci info p.loci
grep -q 'complete *yes$' out || fail "info: $(cat out)"

expect 0 loci record -o p.loci --only 'none,fir*' "$work/windows"
cells --only "first_cell 5000 "
is_part "--only none,fir*: references of other functions were left out"
expect 0 loci record -o p.loci --skip first "$work/windows"
cells --skip "second_cell 5000 "
is_part "--skip first: references of these functions were left out"
rm p.loci
expect 1 loci record -o p.loci --only no_such_function "$work/windows"
has err "no function of --only"
[ -e p.loci ] && fail "a profile of nothing"

# By time. It counts from the first instruction: what Valgrind does before is not the program's.
# In steps so long that the machine is quick, however busy it is.
. "$SRC/tests/cli/step_length.sh"
cell() {
	local refs
	refs=$(sqlite3 p.loci "select coalesce(sum(refs), 0) from object where name = '$2_cell'")
	[ "$refs" = $((1000 * $3)) ] || fail "$1: $refs stores to $2_cell, recording was $3"
}
step_length 1 loci record -q -o p.loci "$work/parts" 0
while_told --delay 1 $step_ms "$work/parts" --delay $step_s
recorded_steps 1 2 || fail "--delay: $(cat err)"
is_part "reuses across what was left out look nearer than they are"
while_told --duration 0 $step_ms "$work/parts" --duration $step_s
recorded_steps 1 2 || fail "--duration: $(cat err)"
while_told "--delay --duration" 10 0 "$work/parts" --delay $step_s --duration $((2 * step_ms))e-3
recorded_steps 2 3 || fail "--delay --duration: $(cat err)"
rm p.loci
expect 1 loci record -o p.loci --delay 100 true
has err "before --delay was over"
expect 2 loci record --duration 0 true
has err "records nothing"

# By signal.
expect 0 loci record -o p.loci --toggle USR2 "$work/parts" 500 toggle
cells --toggle "early_cell 1000 late_cell 1000 "
grep -qE 'recorded [0-9.]+ m?s of [1-9][0-9.]* s' err || fail "--toggle: $(cat err)"
expect 0 loci record -o p.loci --start-disabled --toggle SIGUSR2 "$work/parts" 500 toggle
cells --start-disabled "middle_cell 1000 "
rm p.loci
expect 1 loci record -o p.loci --start-disabled --toggle USR2 "$work/parts" 0
has err "never turned on"
finish
