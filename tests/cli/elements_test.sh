# SPDX-License-Identifier: GPL-2.0-or-later
# -b 64,8: lines and elements of one run, by line, object and on the screen. A matrix of 64 x 64 is
# walked by columns four times: every element waits for 4095 others, of which the histogram says that
# they are 3584 to 4095.
# Not under sanitizers: blame_stream_test and block_sizes_test are.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
cat >walk.c <<'C'
static _Alignas(64) volatile double matrix[64][64], vector[64];

int main(void)
{
	for (int round = 0; round < 4; round++)
		for (int j = 0; j < 64; j++)
			for (int i = 0; i < 64; i++)
				matrix[i][j] = round;
	for (int i = 0; i < 64; i++)
		vector[i] = i;
	return 0;
}
C
cc "${clangs##* }" -g -O1 -o walk walk.c || fail "walk.c does not compile"
expect 0 loci record -q -b 64,8 --cache L1=16K -o walk.loci ./walk

# hist OBJECT BYTES: its bins and first touches
hist() {
	sqlite3 walk.loci "select coalesce(group_concat(low || ':' || weight), '') || ' cold ' || cold from (
		select low, weight, cold from histogram h join object o on owner = 'object' and owner_id = o.id
		left join bin b on b.histogram_id = h.id where o.name = '$1' and block_bytes = $2 order by low)"
}
# a line waits for the 63 others of its column, 7 times of 8, and once for all 511 others
[ "$(hist matrix 64)" = "56:14336,448:1536 cold 512" ] || fail "lines of matrix: $(hist matrix 64)"
[ "$(hist matrix 8)" = "3584:12288 cold 4096" ] || fail "elements of matrix: $(hist matrix 8)"
[ "$(hist vector 64)" = "0:56 cold 8" ] || fail "lines of vector: $(hist vector 64)"
[ "$(hist vector 8)" = " cold 64" ] || fail "elements of vector: $(hist vector 8)"
[ "$(sqlite3 walk.loci "select count(*) from histogram where owner = 'site' group by block_bytes" | uniq | wc -l)" = 1 ] ||
	fail "sites have not as many histograms at each size"

expect 0 loci report --no-color --by object -b 8 walk.loci
grep -q 'L1 16K@8' out || fail "$(head -n 3 out)"
grep -q 'matrix .*~16.4 k  *99.6  *16.4 k  *28 KiB' out || fail "$(cat out)"
expect 0 loci report --no-color --by object walk.loci
grep -q 'matrix .* 2.05 k' out || fail "by lines: $(cat out)"
expect 0 loci report --no-color --by line -b 8 --json walk.loci
python3 - <<'PY' || fail "JSON: $(cat out)"
import json
p = json.load(open("out"))["profiles"][0]
row = p["rows"][0]
assert row["misses"] == 16384 and row["touches"] == 16384 and row["distance_bytes"] == 28672, row
PY
expect 0 loci report --no-color -b 8 walk.loci
grep -q 'would miss 16 KiB of single 8-byte' out || fail "$(cat out)"
grep -q 'who misses L1@8' out || fail "$(cat out)"
for kind in pair context; do
	expect 1 loci report --by $kind -b 8 walk.loci
	grep -q "${kind}s have no distances of 8-byte blocks" err || fail "$(cat err)"
done
# elements alone
expect 0 loci record -q -b 8 -o only.loci ./walk
expect 0 loci report --no-color --by site --cache L1=16K/8 only.loci
grep -q '~16.4 k' out || fail "$(cat out)"
# two such profiles added up
expect 0 loci merge -o two.loci walk.loci walk.loci
[ "$(sqlite3 two.loci "select weight from histogram h join object o on owner = 'object' and owner_id = o.id join bin b
	on b.histogram_id = h.id where o.name = 'matrix' and block_bytes = 8")" = 24576 ] || fail "merged"
finish
