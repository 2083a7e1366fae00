# SPDX-License-Identifier: GPL-2.0-or-later
# loci record -m sample: programs built by loci cc, with and without threads. References are counted
# exactly; the distances of samples are those that the programs have; and threads, processes and
# recorders may come and go.
# Not under sanitizers: the recorder is tested by what it writes.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

major=${clangs##* }
expect 0 cc "$major" -g -O1 -o sampled "$SRC/tests/workloads/sampled.c" -lpthread

# sql QUERY: of the profile
sql() {
	sqlite3 p.loci "$1"
}
# holds WHAT CONDITION: of the tables that are given in words
holds() {
	[ "$(sql "with s as (select * from sampling),
		whole as (select * from histogram where owner = 'whole'),
		bins as (select distance, low, weight, square, weight / (select sum(weight) from bin join histogram i
			on i.id = histogram_id where i.owner = 'whole' and i.distance = h.distance) as share
			from bin join histogram h on h.id = histogram_id where h.owner = 'whole')
		select $2")" = 1 ] || fail "$1: not $2: $(sql 'select * from sampling'; sql "select owner, distance, low, weight, cold, coherence
		from histogram left join bin on histogram_id = id where owner = 'whole'")"
}
# counted PART: as -m count says
counted() {
	expect 0 loci record -m count ./sampled "$1"
	sed -n 's/^loci: \([0-9]*\) references.*/\1/p' err
}

# One thread: of the 16 references to a block, a load and a store of each word, the first is at 511.
expect 0 loci record -m sample -c 300 --seed 7 -o p.loci ./sampled alone
has err "samples of"
has err "were recorded for them: miss ratios"
holds alone "refs = $(counted alone) from s"
holds alone "samples between refs / 300 * 0.9 and refs / 300 * 1.1 and period = 300 and seed = 7 from s"
holds alone "count(*) = 2 from bins where distance = 'stack' and low in (0, 510) and share > 0.02"
holds alone "abs(share - 0.0625) < 0.012 from bins where distance = 'stack' and low = 510"
holds alone "count(*) = 0 from bins where distance = 'stack' and low not in (0, 510) and share > 0.002"
holds alone "sampled = 1 and scheme = 'fine' from whole where distance = 'stack'"
holds alone "count(*) = 0 from whole where distance = 'private'"
expect 0 loci report --coverage 90 p.loci
has out sampled.c:23
[ "$(sql "select mode || ' ' || (error_points > 0) from run, grain")" = "sample 1" ] || fail "mode: $(sql 'select mode from run')"
expect 0 loci info p.loci
has out "one in 300 references"
expect 0 loci report p.loci
has out "sampled, +/- "
has out "sampled.c:23 sweep"
lacks out irregular
mv p.loci first.loci
expect 0 loci record -q -m sample -c 300 --seed 7 -o p.loci ./sampled alone
for table in s.samples s.refs; do
	[ "$(sqlite3 first.loci "select $table from sampling s")" = "$(sql "select $table from sampling s")" ] ||
		fail "--seed 7 twice: $table differs"
done
expect 0 loci record -q -o exact.loci ./sampled alone
expect 0 loci diff --accuracy exact.loci p.loci

# A body that cannot stand twice tells of a piece once, also where a window begins with it: all told,
# in a window that is open to the end, are as many as were counted.
expect 0 loci record -m sample -c 300 --seed 7 -o p.loci ./sampled jumping
holds jumping "refs = $(counted jumping) from s"
expect 0 loci record -q -m watch -c 300 --burst 50 --seed 7 -o p.loci ./sampled jumping
holds jumping "refs = $(counted jumping) and lost < samples / 50 from s"

# --error chooses: far more samples than there are references for, so the first period stays
expect 0 loci record -m sample --error 5% --seed 1 -o p.loci ./sampled alone
holds --error "period = 1000 and last_period >= 1000 from s"

# Threads: private ones as one alone; what each counted is its own.
expect 0 loci record -m sample -c 500 --seed 1 -o p.loci ./sampled threads
holds threads "abs(sum(share) - 0.0625) < 0.012 from bins where distance = 'private' and low between 500 and 520"
holds threads "coherence < 0.001 * (select refs from s) from whole where distance = 'private'"
holds threads "count(*) >= 4 from histogram where owner = 'thread' and distance = 'private'"
for way in --sequential "--skew 5000"; do
	expect 0 loci record -m sample -c 500 --seed 1 $way -o p.loci ./sampled threads
	holds "$way" "abs(sum(share) - 0.0625) < 0.012 from bins where distance = 'private' and low between 500 and 520"
done
# Counters beside each other: writes of others take the block away.
expect 0 loci record -m sample -c 200 --seed 1 --sequential -o p.loci ./sampled beside
expect 0 loci report --coverage 90 --cache 32K p.loci
has out sampled.c:35
holds beside "coherence > 0.001 * (select refs from s) from whole where distance = 'private'"
expect 0 loci record -m sample -c 1000 --seed 1 -o p.loci ./sampled many
holds many "samples > 300 and (select count(*) from thread) >= 100 from s"

# Distances are the reuse's, as of exact profiles: what one place used is far, or lost, at another.
expect 0 cc "$major" -g -O1 -o handed_on "$SRC/tests/workloads/handed_on.c" -lpthread
expect 0 loci record -q -o exact.loci ./handed_on
expect 0 loci record -q -m sample -c 500 --seed 3 -o p.loci ./handed_on
expect 0 loci diff --rank --cache 32K --json exact.loci p.loci
python3 -c 'import json
for row in json.load(open("out"))["rows"]:
	assert row["weight_match"] > 0.95, row' || { fail "the worst sites are others"; cat out >&2; }
lost="select total(coherence) from histogram join site on owner_id = site.id
	where owner = 'site' and distance = 'private' and line = 21"
[ "$(sqlite3 p.loci "attach 'exact.loci' as e; select abs(($lost) / ($(echo "$lost" |
	sed 's/from histogram join site/from e.histogram join e.site/')) - 1) < 0.15")" = 1 ] ||
	fail "what others wrote: $(sqlite3 p.loci "$lost"), not $(sqlite3 exact.loci "$lost")"

# Ends of all kinds.
expect 0 loci record -m sample -c 1000 --seed 1 -o p.loci ./sampled detached
holds detached "samples > 100 from s"
expect 0 loci record -m sample -c 1000 --seed 1 -o p.loci ./sampled fork
holds fork "samples > 500 and (select count(*) from process) = 2 from s"
expect 137 loci record -m sample -c 1000 --seed 1 -o p.loci ./sampled killed
holds killed "samples > 300 from s"
expect 130 loci record -m sample -c 1000 --seed 1 -o p.loci ./sampled interrupted
holds interrupted "samples > 10 from s"
(loci record -q -m sample -c 1000 --seed 1 -o gone.loci ./sampled orphan >out 2>err) 2>killed
for ((i = 0; i < 600; i++)); do
	! grep -q done out || break
	sleep 0.1
done
has out done

# Fewer references than a period: it says so.
expect 0 loci record -m sample -c 1e9 --seed 1 -o p.loci ./sampled alone
has err "fewer references than the period"

# What does not go together.
expect 2 loci record -c 1000 ./sampled alone
has err "give -m sample, too"
expect 2 loci record -m sample -c 1000 --error 5% ./sampled alone
expect 2 loci record -m sample -c 0 ./sampled alone
expect 2 loci record -m sample --error 80% ./sampled alone
expect 2 loci record -m sample --delay 1 ./sampled alone
expect 2 loci record -m sample --sequential --skew 1000 ./sampled alone
expect 2 loci record -m sample --skew 3 ./sampled alone
expect 1 loci record -m sample /bin/true
has err "built without loci cc"

finish
