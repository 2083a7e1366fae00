# SPDX-License-Identifier: GPL-2.0-or-later
# loci cache --model: the equations of Anger et al. on a profile that has what they take, by hand and
# from the tables.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
. "$SRC/tests/cli/thread_profiles.sh"

# json EXPRESSION: true of the model in the JSON of out
json() {
	python3 -c 'import json, sys; d = json.load(open("out"))["model"]; l = d["levels"]
sys.exit(not ('"$1"'))' || fail "not so: $1"
}

# below FILE OWNER DISTANCE BLOCKS: finite distances below so many
below() {
	sqlite3 "$1" "SELECT coalesce(sum(weight), 0) FROM histogram h JOIN bin ON histogram_id = h.id
		WHERE owner = '$2' AND distance = '$3' AND low < $4"
}

# Two threads read one block in turn, and go round 3 and 5 of their own.
threads_profile a.loci alone=yes '10*(t1 r0 r1024..1216 t2 r0 r4096..4416)'
# Alone: 9 reuses of 4 blocks from 3, 9 of 6 from 5. The block of both: 9 from 3 and 9 from 5 alone, of
# what the other touched last; in the stack of all 10 from 3, when the first three of the other are
# between, and 9 from 5; the second's first touch is one of them.
for test in '4 36 0' '5 36 0' '6 90 0'; do
	set -- $test
	expect 0 loci cache a.loci --cache L1=$((64 * $1)) --model stack --json
	valid cache
	json "l[0]['hits'] == $2 == $(below a.loci thread alone $1) and d['remote_hits'] == $3"
	json 'd["threads"] == 2 and d["touches"] == 100 and l[0]["misses"] == 100 - l[0]["hits"]'
done
# Equation 4: as in one cache of both, 2 * 4 blocks: all 19. Equation 5: 36 + 19 - 9 of the first's.
expect 0 loci cache a.loci --cache L1=256 --model coherence --json
valid cache
json 'd["remote_hits"] == 19 and l[0]["hits"] == 36 + 19 - 9 and l[0]["misses"] == 54'
json "l[0]['hits'] == $(below a.loci thread alone 4) + $(below a.loci whole remote 8) -
	$(below a.loci thread alone_remote 4)"
# 2 * 2: only those from 3; nothing of its own
expect 0 loci cache a.loci --cache L1=128 --model coherence --json
json 'd["remote_hits"] == l[0]["hits"] == 10'
# Equation 2, and a shared level divided: 12 blocks of both are 6 of each
expect 0 loci cache a.loci --cache L1=256,L2=768:shared --model stack --json
json 'l[0]["hits"] == 36 and l[1]["hits"] == 90 - 36 and l[1]["misses"] == 10'
expect 0 loci cache a.loci --cache L1=256,L2=640:shared --model stack --json # 5 of each
json 'l[1]["hits"] == 0'
# Sets: P(Binomial(3, 1/2) < 2) of 36 and P(Binomial(5, 1/2) < 2) of 54 with two sets of two ways
expect 0 loci cache a.loci --cache L1=256/2 --model assoc --json
json 'abs(l[0]["hits"] - (36 * 4 / 8 + 54 * 6 / 32)) < 1e-9'
expect 0 loci cache a.loci --cache L1=256/2 --model stack --json
json 'l[0]["hits"] == 36'
expect 0 loci cache a.loci --cache L1=256,L2=768:shared --model coherence
has out 'model of Anger et al. (2014): coherence, 2 threads'
has out "19 of L1's hits are in other threads' (equation 4)"
narrow

threads_profile without.loci '10*(t1 r0 t2 r0)'
expect 1 loci cache without.loci --cache L1=256 --model stack
has err 'loci record --alone keeps it'
expect 2 loci cache a.loci --cache L1=256 --model schuff
has err 'write stack, assoc or coherence'
expect 2 loci cache a.loci --cache L1=256 --model stack --by-thread
expect 1 loci cache a.loci --cache DTLB=16e@4K --model stack
has err 'caches alone'
finish
