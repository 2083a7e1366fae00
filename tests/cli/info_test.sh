# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

# The file's size depends on the SQLite library.
plain_size() {
	sed -i -E '1s/[0-9.]+ KiB$/SIZE/' out
}

make_profile mm.loci block=64,4096 command='./mm 800' cyclic:2:20000 wcyclic:200:50 +cyclic:3000:6
expect 0 loci info
plain_size
same info
narrow
expect 0 loci info --accuracy mm.loci
plain_size
same info-accuracy
narrow
expect 0 loci info --accuracy --json mm.loci
valid info
# a cyclic sweep is where StatStack is exact
make_profile cyclic.loci cyclic:1000:20
expect 0 loci info --accuracy cyclic.loci
grep -qE 'StatStack +1.000 +1.000 +1.000 +1.000 +0.00' out || fail "StatStack errs on a cyclic sweep"
make_profile object.loci unit=object caches= complete=no note='interrupted' random:1000:20000
expect 0 loci info --accuracy object.loci
plain_size
same info-object
expect 0 loci info --json object.loci
valid info
lacks out accuracy
make_profile shared.loci matrix
sqlite3 shared.loci "$share_rows"
expect 0 loci info shared.loci
has out 'coherence   15 misses (10 true, 5 false sharing) of 100 touches, blocks of 64 B; groups of 2'
expect 0 loci info --json shared.loci
valid info
has out '"thread_groups": 2'
make_profile empty.loci
expect 0 loci info --accuracy empty.loci
lacks out nan
expect 1 loci info nothere.loci
expect 2 loci info a b
expect 2 loci info --what
expect 0 loci info -h
finish
