# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

make_profile a.loci cyclic:2:20000 wcyclic:200:50 +cyclic:3000:6
make_profile b.loci cyclic:2:18000 wcyclic:200:20 cyclic:40:200 +cyclic:3000:7
expect 0 loci diff a.loci b.loci
same diff
narrow
expect 0 loci diff a.loci a.loci
same diff-same
expect 0 loci diff --cache L1=8K a.loci b.loci
has out 'L1 8K misses'
lacks out L2
expect 0 loci diff --json a.loci b.loci --fail-if 'l1-misses>+5%'
valid diff

# bounds
expect 0 loci diff a.loci b.loci --fail-if 'l1-misses>+5%' --fail-if 'llc-misses>+5%'
[ -s err ] && fail "a bound fired"
expect 1 loci diff a.loci b.loci --fail-if 'l1-misses>+5%' --fail-if 'l2-misses>+5%'
has err "loci: --fail-if 'l2-misses>+5%': l2-misses went from 18.2 k to 21.2 k, +16.5 %"
lacks err l1-misses
has out 'L2 32K/8 misses' # the comparison is shown all the same
expect 1 loci diff --json a.loci b.loci --fail-if 'p70>=64K'
valid diff
has out '"fired": true'
has err 'p70 is 188 KiB (it was 12.5 KiB)'
for bad in '' 'llc-misses' 'llc-misses=5' 'llc-misses>five' 'l4-misses>5' 'p90>5%'; do
	expect 2 loci diff a.loci b.loci --fail-if "$bad"
	has err --fail-if
	[ -s out ] && fail "output with --fail-if '$bad'"
done

# runs that do not compare
make_profile object.loci unit=object caches= random:100:2000
make_profile bytes.loci block=8 cyclic:100:20
make_profile cold.loci caches= cyclic:100:1
make_profile more.loci unit=object caches= random:50:2000
expect 1 loci diff a.loci object.loci
has err 'a.loci counts in bytes, object.loci in objects'
expect 1 loci diff a.loci bytes.loci
has err 'a.loci has blocks of 64 bytes, bytes.loci of 8: they share no size'
expect 1 loci diff -b 8 a.loci b.loci
has err 'not both have the size asked for'
expect 0 loci diff object.loci more.loci
same diff-object
narrow
expect 0 loci diff object.loci more.loci --json
valid diff
expect 0 loci diff cold.loci cold.loci
has out 'there is nothing to compare'
expect 0 loci diff cold.loci a.loci --json
valid diff
make_profile sampled.loci error=3 cyclic:2:20000 wcyclic:200:50 +cyclic:3000:6
expect 0 loci diff a.loci sampled.loci
has out 'sampled: shares are known to +/- 3 points'

# what is within the error is neither better nor worse, nor are a few short reuses shorter
make_profile few.loci error=3 caches=L1=4K cyclic:3000:20 +cyclic:2:200
make_profile fewer.loci error=3 caches=L1=4K cyclic:3010:20 +cyclic:1:200
expect 0 loci diff few.loci fewer.loci
has out 'within the error'
grep -E 'moved.*(better|worse)|short reuses' out && fail 'noise is judged'

# levels are matched by name, also where one run lacks those that stand first
make_profile pages.loci block=64,4096 cyclic:300:20
expect 0 loci diff pages.loci a.loci --cache DTLB=16e/4@4K,L1=4K/4 --fail-if 'llc-misses>+1000000%'
has out 'L1 4K/4 misses'
lacks out 'DTLB'
expect 0 loci diff pages.loci pages.loci --cache DTLB=16e/4@4K,L1=4K/4
has out 'DTLB 16e/4@4K misses'
lacks out 'DTLB moved'
expect 0 loci diff pages.loci pages.loci --cache DTLB=16e/4@4K,L1=4K/4 --json
valid diff
expect 2 loci diff pages.loci pages.loci --cache DTLB=16e/4@4K --fail-if 'dtlb-moved>+1%'
has err 'DTLB is a TLB'
expect 0 loci diff object.loci more.loci --cache L1=100
has out 'L1 100 misses'

expect 2 loci diff a.loci
has err 'two profiles are compared, and 1 were given'
expect 1 loci diff a.loci nothere.loci
expect 2 loci diff --nothing a.loci b.loci
expect 0 loci diff -h
has out 'usage: loci diff'
# by line and object, matched by what survives rebuilding
make_profile old.loci matrix
cp old.loci new.loci
python3 - new.loci <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE site SET line = line + 2")
db.execute("UPDATE site SET site_key = 'other' WHERE line = 25")
(worst,), = db.execute("SELECT id FROM site JOIN level_count ON owner = 'site' AND owner_id = id AND"
    " level_id = 1 ORDER BY misses DESC LIMIT 1")
db.execute("UPDATE level_count SET misses = misses / 8 WHERE owner = 'site' AND owner_id = ?", (worst,))
db.execute("UPDATE level_count SET misses = misses / 8 WHERE owner = 'object' AND owner_id = 2")
db.commit()
END
expect 0 loci diff old.loci new.loci
same diff-moved
narrow 60
has out 'mm.c:17 dot, b'
expect 0 loci diff --json old.loci new.loci
valid diff
expect 0 loci diff old.loci a.loci # a run without sites has nothing to match
lacks out 'by line'
finish
