# SPDX-License-Identifier: GPL-2.0-or-later
# loci diff --accuracy: agreement of two profiles' distances, shared and private, by hand.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
. "$SRC/tests/cli/thread_profiles.sh"

# figure NAME: of the row of distances $row in the document out
figure() {
	python3 -c 'import json, sys
rows = json.load(open("out"))["accuracy"]
value = next(r for r in rows if r["distance"] == sys.argv[1])[sys.argv[2]]
print("none" if value is None else "%.4f" % value)' "$row" "$1"
}
is() {
	local got
	got=$(figure "$1")
	[ "$got" = "$2" ] || fail "$row $1 is $got, not $2"
}

# Two threads, 4 blocks each, three rounds: one after the other, or round by round. Their own
# stacks do not tell (8 reuses each, from 3), the shared one does (from 3, or from 7).
threads_profile apart.loci '3*(t1 r0..256)' '3*(t2 r1024..1280)'
threads_profile woven.loci '3*(t1 r0..256 t2 r1024..1280)'
expect 0 loci diff --accuracy --json apart.loci woven.loci
valid accuracy
row=private
is s_schuff 1.0000
is s_schuff_far 1.0000
is worst_points 0.0000
is truth_touches 24.0000
is truth_infinite 0.3333
row=stack
is s_schuff 0.0000
is s_log2 0.0000
is s_rdx 1.0000          # both within the first 4 KiB
is s_beyond none
is worst_points 66.6667  # 4 blocks: 8 of 24 miss, or all
is worst_blocks 4.0000
is mean_points 16.6667   # of 1, 2, 4 and 8 blocks
expect 0 loci diff --accuracy apart.loci woven.loci
has out 'woven.loci for apart.loci'
[ "$(awk '$1 == "private" { print $2, $3 }' out)" = '1.000 1.000' ] || fail 'the private row'
narrow

# Distance 0 hides what lies beyond: 90 + 10 reuses against 10 + 10.
threads_profile spin.loci t1 r0 '90*(r0)' '5*(r64 r0)' t2 r640
threads_profile calm.loci t1 r0 '10*(r0)' '5*(r64 r0)' t2 r640
expect 0 loci diff --accuracy --json spin.loci calm.loci
is s_schuff_far 1.0000 # one of the ten is cold, alike in both
is s_schuff 0.6172     # 1 - |90/99 - 10/19|

# of a run of one thread the private distances are the stack's
threads_profile alone.loci '3*(t1 r0..256)' '3*(r1024..1280)'
expect 0 loci diff --accuracy --json alone.loci apart.loci
row=private
is s_schuff 1.0000
expect 0 loci diff --accuracy --json alone.loci alone.loci
lacks out private

expect 2 loci diff --accuracy --fail-if 'p90>5' apart.loci woven.loci
expect 2 loci diff --accuracy --cache host apart.loci woven.loci
has err '--accuracy'
finish
