# SPDX-License-Identifier: GPL-2.0-or-later
# loci record -m watch: memory that is allocated, used and freed again and again at the same addresses is
# known by who allocated it, as often as it was, though most of what comes and goes is not told one by one.
# Not under sanitizers: the recorder is tested by what it writes.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

major=${clangs##* }
expect 0 cc "$major" -g -O1 -o lived "$SRC/tests/workloads/short_lived.c" -lpthread
early=$(sed -n '/^static.*early(/,/^}/{/calloc/=}' "$SRC/tests/workloads/short_lived.c")
late=$(sed -n '/^static.*late(/,/^}/{/calloc/=}' "$SRC/tests/workloads/short_lived.c")
grown=$(sed -n '/^static.*grow(/,/^}/{/realloc/=}' "$SRC/tests/workloads/short_lived.c")

sql() {
	sqlite3 p.loci "$1"
}
# lived PART: fixed samples of it
lived() {
	expect 0 loci record -m watch --seed 1 -c 20000 -o p.loci ./lived "$1"
	handled=$(sed -n 's/^handled //p' err)
}
# by WHAT LINE ALLOCATIONS BYTES: half of the references are to what was allocated there. A line is called in two copies of
# its function, and is two objects.
by() {
	local row
	row=$(sql "select sum(allocations), max(size_bytes), count(died_refs) = count(*),
		1.0 * sum(refs) / (select sum(refs) from object) between 0.47 and 0.53
		from object where kind = 'heap' and line = $2")
	[ "$row" = "$3|$4|1|1" ] || fail "$1, line $2: $row, not $3|$4|1|1: $(sql "select * from object")"
}

for part in turn fork; do
	lived $part
	by $part "$late" 150 128
done
lived turn
by turn "$early" 150 128
# Where others free it, and where it grows.
lived threads
by threads "$early" 150 128
by threads "$late" 150 128
lived resized
by resized "$early" 150 128
by resized "$grown" 150 12800
# In handlers; what they allocate is hardly referred to.
lived interrupted
by interrupted "$early" 150 128
by interrupted "$late" $((150 + handled)) 128
# A pair is of one object, and of one allocation but where it was freed in between.
lived turn
[ "$(sql "select total(p.refs) > 0.98 * (select sum(refs) from pair) from pair p join object o on o.id = object_id
	where not recycled and o.line in ($early, $late)")" = 1 ] || fail "pairs: $(sql "select * from pair")"

finish
