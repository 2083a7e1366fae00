# SPDX-License-Identifier: GPL-2.0-or-later
# tests/counted/counted.c, recorded: every figure was counted by hand.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/counted_figures.sh"
loci doctor 2>/dev/null | grep -q '^ *any *yes' || { echo "the any collector does not work here"; exit 77; }

expect 0 loci record -q --pairs all --cache L1=32K/8,L2=1M/16 -o counted.loci "$BUILD/tests/counted"
figures counted.loci 1 1

# Without near pairs, touches of the block touched before are joined: nothing else may change.
expect 0 loci record -q --cache L1=32K/8,L2=1M/16 -o joined.loci "$BUILD/tests/counted"
for table in site access object context "level_count where owner <> 'pair'"; do
	for file in counted joined; do
		sqlite3 $file.loci "select * from $table" >$file.rows
	done
	cmp -s counted.rows joined.rows || fail "joined touches change the table $table"
done

# Everything again gives the same, but for the time.
expect 0 loci record -q --pairs all --cache L1=32K/8,L2=1M/16 -o again.loci "$BUILD/tests/counted"
for file in counted again; do
	sqlite3 $file.loci "update run set started = '', seconds = 0; update process set pid = 0, parent_id = null" .dump >$file.sql
done
cmp -s counted.sql again.sql || { fail "two recordings differ"; diff counted.sql again.sql | head -n 10 >&2; }
finish
