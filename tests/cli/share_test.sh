# SPDX-License-Identifier: GPL-2.0-or-later
# What two threads take from each other, with every collector that is there, against numbers counted
# by hand: who wrote, who missed, and which variables they were.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"

program=$SRC/tests/threads/by_turns.c
ball=$(grep -n 'ball\[0\]++' "$program" | cut -d: -f1)
left=$(grep -n 'left++' "$program" | cut -d: -f1)
right=$(grep -n 'right++' "$program" | cut -d: -f1)

# is WANT QUERY
is() {
	local got
	got=$(sqlite3 p.loci "$2" | tr '\n' ' ')
	[ "${got% }" = "$1" ] || fail "$collector: $2: \"${got% }\", want \"$1\""
}
# Sharing as "kind write-line write-variable miss-line miss-variable misses thread-pairs".
sharing="select s.kind || ' ' || w.line || ' ' || wo.name || ' ' || m.line || ' ' || mo.name || ' ' || misses || ' ' || threads
	from sharing s join site w on w.id = write_site_id join site m on m.id = miss_site_id
	join object wo on wo.id = write_object_id join object mo on mo.id = s.object_id"

try() {
	collector=$1
	rm -f p.loci kept.trace
	expect 0 timeout 120 loci record -q --collector "$collector" --share 2,3 --trace kept.trace -o p.loci ./by_turns
	has out "200 101 101"
	# each takes the ball from the other but for its first time; the load misses, the store hits
	is "true $ball ball $ball ball 198 2" "$sharing where mo.name = 'ball' or wo.name = 'ball'"
	# the twins take each other's line, and both are named
	is "false $right right $left left 99 1 false $left left $right right 99 1" \
		"$sharing where mo.name in ('left', 'right') or wo.name in ('left', 'right') order by m.line"
	# what stands apart, or is read only, nobody takes
	is "0" "select count(*) from sharing s join object o on o.id in (s.object_id, write_object_id)
		where name like 'far%' or name = 'table'"
	is "0" "select sum(coherence) from histogram join object o on owner = 'object' and owner_id = o.id
		where distance = 'private' and (name like 'far%' or name = 'table')"
	# both read all eight lines of the table: each for the first time once, and 8 at most lie between
	is "16|0" "select cold, coherence from histogram join object o on owner = 'object' and owner_id = o.id
		where distance = 'private' and name = 'table'"
	# sums
	is "1|1|1" "select (select sum(true_sharing + false_sharing) from coherence where owner = 'thread') = t,
		(select sum(misses) from sharing) = t, (select coherence from histogram where distance = 'private' and owner = 'whole') = t
		from (select true_sharing + false_sharing t from coherence where owner = 'whole')"
	# the trace gives the same again
	cp p.loci live.loci
	expect 0 loci analyse -q --no-sets --share 2,3 -o p.loci kept.trace
	for table in thread thread_group coherence shared_blocks sharing "histogram where distance = 'private'"; do
		[ "$(sqlite3 p.loci "select * from $table")" = "$(sqlite3 live.loci "select * from $table")" ] ||
			fail "$collector: the trace's $table differs from the run's"
	done
	is "$(sqlite3 live.loci 'select sum(low * weight) from bin')" 'select sum(low * weight) from bin'
}

# A trace of another tool: two threads write one word by turns, and each another beside it.
{
	echo "Output format:"
	echo "<record#>: T<tid> <record details>"
	echo "        1: T100 <marker: version 4>"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		for thread in 100 200; do
			echo "        $i: T$thread write        8 byte(s) @ 0x0000000000601000 by PC 0x0000000000402680"
			echo "        $i: T$thread write        8 byte(s) @ 0x0000000000601$thread by PC 0x0000000000402684"
		done
	done
} >view.txt
collector=drmemtrace
expect 0 loci analyse -q --order arrival --share 2 -o p.loci view.txt
is "40|18|0|19" "select touches, true_sharing, false_sharing, remote from coherence where owner = 'whole'"
is "20|9|0 20|9|0" "select touches, true_sharing, false_sharing from coherence where owner = 'thread'"
is "40|0|0|0" "select touches, true_sharing, false_sharing, remote from coherence where owner = 'thread_group'"
is "2|0|1" "select alone, read_only, written from shared_blocks"
expect 2 loci analyse --share 1 view.txt
expect 2 loci analyse --share 2,2 view.txt
has err "given twice"
expect 2 loci analyse --share 2,3,4,5,6 view.txt
expect 2 loci analyse --share , view.txt

# Variables stand in the order in which they are written.
expect 0 cc -Wall -Wextra -Werror -O1 -g -fno-toplevel-reorder -pthread -o by_turns "$program"
if [ -x "$BUILD/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null; then
	try any

	# Threads that come and go give back what they had: 4 MiB each would be a quarter of a GiB for each
	# 64 of them. All numbers stay.
	expect 0 timeout 120 loci record -q -o p.loci ./by_turns 12
	is "12|1" "select count(*), min(touches > 65536) from coherence where owner = 'thread' and touches > 60000"
fi
if ls "$BUILD"/lib/loci/loci-pass-*.so >/dev/null 2>&1; then
	for major in 14 19; do
		[ -e "$BUILD/lib/loci/loci-pass-$major.so" ] && command -v clang-$major >/dev/null || continue
		expect 0 loci cc --loci-clang=$major -O1 -g -pthread -o by_turns "$program"
		try cc
	done
fi
if loci gcc --version >/dev/null 2>&1; then
	expect 0 loci gcc -O1 -g -fno-toplevel-reorder -pthread -o by_turns "$program"
	try gcc
fi
finish
