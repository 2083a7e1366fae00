# SPDX-License-Identifier: GPL-2.0-or-later
# Parts of a program built by loci cc, in time: --delay, --duration, --start-disabled and --toggle. A
# thread looks every 10000 references whether it is to begin, and whether it is to end when a chunk
# of its ring is full; else every reference is there.
# By the clock.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

major=${clangs##* }
expect 0 cc "$major" -g -O1 -DSTORES=1000000 -o parts "$SRC/tests/workloads/parts.c"

# stores WHAT NAME KIND: all 1000000 stores to the cell (all), those after the thread had looked
# (begun), those until it did (ended), or none
stores() {
	local refs
	refs=$(sqlite3 p.loci "select coalesce(sum(refs), 0) from object where name = '$2_cell'")
	case $3 in
	all) [ "$refs" = 1000000 ] ;;
	begun) [ "$refs" -ge 990000 ] && [ "$refs" -le 1000000 ] ;;
	ended) [ "$refs" -le 10000 ] ;;
	none) [ "$refs" = 0 ] ;;
	esac || fail "$1: $refs stores to $2_cell, which should be $3"
}
# windows WHAT: the profile says that there were some
windows() {
	[ "$(sqlite3 p.loci "select collector || ' ' || lost || ' ' || (capabilities like '%windows%') from run")" = "cc 0 1" ] ||
		fail "$1: $(sqlite3 p.loci 'select collector, lost, capabilities from run')"
	has err "reuses across what was left out look nearer than they are"
}
# cells WHAT EARLY MIDDLE LATE
cells() {
	stores "$1" early "$2"
	stores "$1" middle "$3"
	stores "$1" late "$4"
	windows "$1"
}

expect 0 loci record -o p.loci --toggle USR2 ./parts 400 toggle
cells --toggle all ended begun
expect 0 loci record -o p.loci --start-disabled --toggle USR2 ./parts 400 toggle
cells --start-disabled none begun ended
# In steps so long that the machine is quick, however busy it is.
. "$SRC/tests/cli/step_length.sh"
cell() { # what changes only when the thread looks is exact before
	case $1,$2,$3 in
	*,early,0) stores "$1" $2 none ;;
	--duration,early,1 | --delay,late,1) stores "$1" $2 all ;;
	*,1) stores "$1" $2 begun ;;
	--duration,late,0) stores "$1" $2 none ;;
	*) stores "$1" $2 ended ;;
	esac
}
step_length 4 loci record -q -o p.loci ./parts 0
while_told --delay 1 $step_ms ./parts --delay $step_s
windows --delay
while_told --duration 0 $step_ms ./parts --duration $step_s
windows --duration
while_told "--delay --duration" 10 0 ./parts --delay $step_s --duration $((2 * step_ms))e-3
windows "--delay --duration"
recorded_steps 2 3 || fail "--duration of two steps of $step_s s: $(cat err)"
rm p.loci
expect 1 loci record -o p.loci --delay 100 ./parts 0
has err "before --delay was over"
expect 1 loci record -o p.loci --start-disabled --toggle USR2 ./parts 0
has err "never turned on"
[ ! -e p.loci ] || fail "a profile of nothing"

# The second window begins in a function that was called when nobody looked: who called it is not
# known, and it is not who did when the first window ended.
cat >gaps.c <<'C'
#include "turn_recording.h"
volatile long first_cell, second_cell;

static __attribute__((noinline)) void work(volatile long *cell)
{
	for (int i = 0; i < 100000; i++)
		*cell = i;
	turn_recording();
	usleep(400000);
	for (int i = 0; i < 100000; i++)
		*cell = i;
}
static __attribute__((noinline)) void left(void)
{
	work(&first_cell);
	first_cell = 1;
}
static __attribute__((noinline)) void right(void)
{
	work(&second_cell);
	second_cell = 1;
}
int main(void)
{
	left();
	right();
	return 0;
}
C
for flags in -O0 -O2; do
	expect 0 cc "$major" -g $flags -I"$SRC/tests/workloads" -o gaps gaps.c
	expect 0 loci record -q -o p.loci --toggle USR2 ./gaps
	sqlite3 p.loci "select function.name, ifnull(above.name, '-'), sum(context.refs)
		from context join function on function.id = context.function_id
		left join context parent on parent.id = context.parent_id
		left join function above on above.id = parent.function_id
		where context.refs > 10 and function.name not in ('turn_recording', 'is_signal_pending')
		group by 1, 2 order by 1, 2" >contexts
	# -O0 keeps the counter in memory: three loads and a store of it, and the load of the pointer
	awk -F '|' -v each=$([ $flags = -O0 ] && echo 6 || echo 1) '
		{ seen = seen $1 "<" $2 " "; share[$2] = $3 / each }
		END { exit !(seen == "work<- work<left " && share["left"] >= 100000 && share["left"] <= 111000 &&
			share["-"] >= 89000 && share["-"] <= 100010) }' contexts || fail "$flags: contexts: $(cat contexts)"
done
finish
