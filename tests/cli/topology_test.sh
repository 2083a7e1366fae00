# SPDX-License-Identifier: GPL-2.0-or-later
# loci cache on runs with threads: private, shared and grouped levels, each thread, the share of a
# shared cache; by hand, and against plain SQL over the profile.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
. "$SRC/tests/cli/thread_profiles.sh"

# json EXPRESSION: true of the JSON in out
json() {
	python3 -c 'import json, sys; d = json.load(open("out")); l = d["levels"]
def t(id): return next(t["levels"] for t in d["threads"] if t["thread"] == id)
sys.exit(not ('"$1"'))' || fail "not so: $1"
}

# misses FILE OWNER IDS DISTANCE BLOCKS: of a fully associative cache, from the tables
misses() {
	sqlite3 "$1" "SELECT sum(cold + coherence + (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = h.id AND low >= $5)) FROM histogram h
		WHERE owner = '$2' AND owner_id IN ($3) AND distance = '$4'"
}

# Two threads that share a written block and read blocks of their own, four and eight, and some
# that both read.
threads_profile a.loci '20*(t1 s1 w0 r64..320 t2 s2 w8 r4096..4608 r64..192 t1 r128)'
for blocks in 1 4 5 11; do
	bytes=$((64 * blocks))
	expect 0 loci cache a.loci --cache L1=$bytes,L2=$bytes:shared --by-thread --json
	valid cache
	json "l[0]['misses'] == $(misses a.loci whole 0 private $blocks) and
		l[0]['misses'] == $(misses a.loci thread 1,2 private $blocks) and
		l[1]['misses'] == $(misses a.loci whole 0 stack $blocks)"
	for thread in 1 2; do
		json "t($thread)[0]['misses'] == $(misses a.loci thread $thread private $blocks) and
			t($thread)[1]['misses'] == $(misses a.loci thread $thread stack $blocks)"
	done
	expect 0 loci cache a.loci --cache L1=$bytes,L2=$bytes:shared --threads 2 --json
	json "l[0]['misses'] == $(misses a.loci thread 2 private $blocks) and
		l[1]['misses'] == $(misses a.loci thread 2 stack $blocks)"
done
# the written block: thread 1 loses it 19 times, thread 2 too; nothing is lost in a shared cache
expect 0 loci cache a.loci --cache L1=1K,L2=2K:shared --by-thread --json
json 'l[0]["coherence"] == l[0]["false_sharing"] == 38 and l[0]["true_sharing"] == 0'
json 'l[0]["cold"] == 5 + 11 and l[0]["misses"] == 38 + 16 and l[0]["capacity"] == 0'
json 'l[1]["coherence"] == l[1]["false_sharing"] == 0 and l[1]["cold"] == 13'
json 't(1)[0]["false_sharing"] == 19 and t(2)[0]["accesses"] == 220'
json 't(1)[0]["remote"] == 19 + 19 + 20' # blocks 0 and 1, and 2 at the end of each round
json 'l[0]["basis"] == "exact" and l[0]["writebacks"] is None'
# true: the second reads what the first wrote
threads_profile true.loci '10*(t1 w0 t2 r0)'
expect 0 loci cache true.loci --cache L1=1K --by-thread --json
json 'l[0]["true_sharing"] == 9 and l[0]["false_sharing"] == 0 and l[0]["misses"] == 11'
json 't(1)[0]["misses"] == 1 and t(2)[0]["misses"] == 10 and t(1)[0]["true_sharing"] == 0'
expect 0 loci cache a.loci --cache L1=256,L2=2K:shared --by-thread
has out 'L1 256:private'
has out 'L2 2K:shared'
has out 'coherence: lost to another thread'
narrow

# The share of a shared cache. Cycles over 4 and 8 blocks: their reuses are 3 and 7 blocks apart
# in their own stacks and 11 in the shared one.
threads_profile cycles.loci '10*(t1 r0..256 t2 r1024..1536)'
expect 0 loci cache cycles.loci --cache L2=768:shared --by-thread --json
json 't(1)[0]["effective_bytes"] == 256 and t(2)[0]["effective_bytes"] == 512'
json 't(1)[0]["effective_share"] == 4 / 12 and not t(1)[0]["effective_beyond"]'
expect 0 loci cache cycles.loci --cache L2=704:shared --by-thread --json # 11 blocks: nothing stays
json 't(1)[0]["effective_bytes"] == 0 and t(1)[0]["miss_ratio"] == 1'
# two of three touches miss the smaller one, as in a cache of one block
threads_profile part.loci '10*(t1 r0 r0 r64 t2 r1024..1280)'
expect 0 loci cache part.loci --cache L2=256:shared --by-thread --json
json 't(1)[0]["effective_bytes"] == 64 and t(1)[0]["misses"] == 20'
# the second finds what the first brought: four blocks hold its reuses, and would miss more
threads_profile after.loci '10*(t1 r0..256 t2 r0..256)'
expect 0 loci cache after.loci --cache L2=256:shared --by-thread --json
json 't(2)[0]["misses"] == 0 and t(2)[0]["effective_beyond"] and t(2)[0]["effective_bytes"] == 256'
json 't(1)[0]["effective_bytes"] == 256 and not t(1)[0]["effective_beyond"]'
expect 0 loci cache after.loci --cache L2=256:shared --by-thread
has out 'share of L2'
has out '> 256 B'
has out '>: it holds all its reuses, and still it would miss more'

# Groups of two: threads 1 and 2 of four write one block, 3 and 4 read it.
threads_profile groups.loci share=2 '10*(t1 w0 r64..192 t2 w8 r256 t3 r0 t4 r8 r1024..1152)'
for blocks in 2 4 8; do
	expect 0 loci cache groups.loci --cache L2=$((64 * blocks)):share2 --by-thread --json
	json "l[0]['misses'] == $(misses groups.loci thread_group 1,2 private $blocks) and
		t(2)[0]['misses'] == $(misses groups.loci thread_group 1 private $blocks) and
		t(3)[0]['misses'] == $(misses groups.loci thread_group 2 private $blocks)"
done
json 'l[0]["share"] == "some" and l[0]["share_threads"] == 2'
json 'l[0]["coherence"] == 9 == l[0]["true_sharing"]' # the readers' group alone loses the block
expect 0 loci cache groups.loci --cache L2=512:share2 --threads 3-4 --json
json "l[0]['misses'] == $(misses groups.loci thread_group 2 private 8)"
expect 1 loci cache groups.loci --cache L2=512:share2 --threads 1,3,4
has err 'threads 1,2 share one L2'
expect 1 loci cache groups.loci --cache L2=512:share4
has err 'no such groups; it has groups of 2; record them with loci record --share 4'
expect 1 loci cache a.loci --cache L2=512:share2
has err 'the profile has no such groups; record them with loci record --share 2'

# Sets: of private caches a model, P(Binomial(d, 1/4) >= 2) for 36 reuses from 3 and 72 from 7 ..
expect 0 loci cache cycles.loci --cache L1=512/2 --json
json 'abs(l[0]["misses"] - (12 + 36 * .15625 + 72 * .5550537109375)) < 1e-6'
json 'l[0]["basis"] == "binomial model" and "record time" in l[0]["why"]'
# .. unless the cache was named at record time; and shared otherwise it is another cache
threads_profile named.loci levels=L1:4:private,L2:16:shared \
	'10*(t1 r0 t2 r1024..2304 t1 r0 r64)'
sqlite3 named.loci 'UPDATE level SET ways = 2 WHERE id = 1'
counted="$(sqlite3 named.loci "SELECT misses FROM level_count WHERE level_id = 1 AND owner = 'whole'")"
expect 0 loci cache named.loci --cache L1=256/2 --json
json "l[0]['misses'] == $counted and l[0]['basis'] == 'exact'"
expect 0 loci cache named.loci --cache L1=256/2:shared --json
json 'l[0]["basis"] == "binomial model"'
sqlite3 named.loci 'UPDATE level SET ways = 0'
# Hits of an outer level that others fill: the difference of misses is wrong, counts are not.
first() {
	sqlite3 named.loci "SELECT coalesce(sum(first_hits), 0) FROM level_count
		WHERE level_id = $1 AND owner = '$2' AND owner_id = $3"
}
expect 0 loci cache named.loci --cache L1=256,L2=1K:shared --by-thread --json
for level in 1 2; do
	json "l[$level - 1]['hits'] == $(first $level whole 0) and not l[$level - 1]['hits_estimated']"
	json "t(1)[$level - 1]['hits'] == $(first $level thread 1)"
done
json 'l[1]["hits"] > l[0]["misses"] - l[1]["misses"]' # what hits inside and would miss outside
# the outer one alone hits whatever it holds
expect 0 loci cache named.loci --cache L2=1K:shared --json
json 'l[0]["hits"] == l[0]["accesses"] - l[0]["misses"] > 0'
expect 0 loci cache named.loci --cache L1=256,L2=2K:shared --json
json 'l[1]["hits_estimated"]'

# Nothing of this where there are no threads, or none that share memory.
threads_profile one.loci '10*(t1 r0..512)'
expect 0 loci cache one.loci --cache L1=256,L2=512:share4 --json
valid cache
json 'not l[0]["threaded"] and l[1]["misses"] == 8 and l[0]["true_sharing"] is None'
expect 0 loci cache one.loci --cache L1=256:private,L2=1K:shared
lacks out private
expect 1 loci cache one.loci --cache L1=256 --threads 1
has err 'no threads that share memory'
expect 1 loci cache one.loci --cache L1=256 --by-thread
expect 1 loci cache a.loci --threads 3
has err 'there is no thread 3 in a.loci, but 1, 2'
for bad in '' x 1, 1-x 2-1; do
	expect 2 loci cache a.loci --threads "$bad"
	has err 'no list of threads'
done
expect 2 loci cache a.loci --by-thread --sweep L1=64..256
expect 1 loci cache a.loci --cache L1=256 --policy random
has err 'of threads apart there are none'
expect 1 loci cache a.loci --cache L1=256:shared --from time # none recorded here
expect 0 loci cache a.loci --cache L1=256,L2=4K:shared --sweep L1=64..512 --json
python3 -c 'import json, sys
rows = json.load(open("out"))["sweep"]
print(*[int(r["misses"]) for r in rows])' >got
for blocks in 1 2 4 8; do misses a.loci whole 0 private $blocks; done | tr '\n' ' ' >want
[ "$(cat got)" = "$(sed 's/ $//' want)" ] || fail "sweep: $(cat got), not $(cat want)"
# Private distances are of one block size: of others the threads share.
sqlite3 a.loci "INSERT INTO grain SELECT 128, touches, writes, straddles, blocks, 1, 0, 0 FROM grain;
	INSERT INTO histogram SELECT 999, owner, 0, distance, 128, 0, scheme, 0, cold, coherence
		FROM histogram WHERE owner = 'whole' AND distance = 'stack'"
expect 0 loci cache a.loci --cache L1=256@128,L2=4K@128:shared
has out 'L1: one for all threads, since what each has to itself was recorded of 64-byte'
lacks out 'L2: one for all'
expect 0 loci cache a.loci --cache L1=256
lacks out 'one for all threads'
finish
