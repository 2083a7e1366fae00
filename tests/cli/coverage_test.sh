# SPDX-License-Identifier: GPL-2.0-or-later
# loci report --coverage and loci diff --rank: the fewest sites with most of the reuses that miss, by
# hand and against plain SQL.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
. "$SRC/tests/cli/thread_profiles.sh"

# json EXPRESSION: true of d, the first profile (or the document) in the JSON of out
json() {
	python3 -c 'import json, sys; d = json.load(open("out")); d = d.get("profiles", [d])[0]
sys.exit(not ('"$1"'))' || fail "not so: $1"
}

# One thread, 4 sites that go round 2, 4, 8 and 12 blocks, ten times each: reuses
# 18 from 1, 36 from 3, 72 from 7, 108 from 11.
threads_profile sites.loci '10*(s1 r0..128)' '10*(s2 r1024..1280)' '10*(s3 r2048..2560)' \
	'10*(s4 r4096..4864)'
# 234 reuses: 23.4 are a tenth. From 11 blocks all 108 of site 4 miss, from 12 none does.
expect 0 loci report sites.loci --coverage 90 --json
valid coverage
json 'd["cache_bytes"] == 11 * 64 and d["chosen"] and d["distance"] == "stack"'
json 'd["reuses"] == 234 and d["missing_reuses"] == d["misses"] == 108 and d["cold"] == 26'
json '[r["key"] for r in d["rows"]] == ["work+40"] and d["rows"][0]["share"] == 1'
# half of them are 117: from 7 blocks 180 miss, 72 of site 3
expect 0 loci report sites.loci --coverage 75 --miss 50% --json
json 'd["cache_bytes"] == 7 * 64 and [r["misses"] for r in d["rows"]] == [108, 72]'
json '[c["sites"] for c in d["coverage"]] == [2, 2, 2, 2]' # 108 / 180 is 60 %
# sizes given: from 2 blocks on 216 miss: 108, 72, 36: 50 %, 83.3 %, 100 %
expect 0 loci report sites.loci --coverage 80 --cache 128 --json
json 'not d["chosen"] and d["misses"] == 216 and [c["sites"] for c in d["coverage"]] == [2, 2, 3, 3]'
json 'len(d["rows"]) == 2 and not d["interpolated"]'
expect 0 loci report sites.loci --coverage 95 --cache 64
has out '4 of 4 sites make 95 % of the reuses that miss; first touches, 26, are left'
[ "$(awk '/^  work.c/ { print $NF }' out | paste -sd' ')" = '46.2 76.9 92.3 100.0' ] ||
	{ fail 'sums'; cat out; }
narrow
expect 0 loci report sites.loci --coverage 95 --cache 1M
has out 'no reuse of any site misses such a cache'
expect 0 loci report sites.loci --coverage 95 --cache 1M --json
valid coverage
json 'd["rows"] == [] and d["misses"] == 0'
threads_profile cold.loci 's1 r0..512'
expect 0 loci report cold.loci --coverage 90 --json
json 'd["cache_bytes"] == 64 and d["reuses"] == 0 and d["cold"] == 8 and d["rows"] == []'
# 30 blocks lie within a bin of sites' histograms: 28 to 32
threads_profile wide.loci '10*(s1 r0..1984)' '10*(s2 r8192..8320)'
expect 0 loci report wide.loci --coverage 75 --cache 1920 --json
json 'd["interpolated"]'
expect 0 loci report wide.loci --coverage 75 --cache 1920
has out '~'

# Threads: what is lost to a write is a miss of a private cache at any size, and none of a shared one.
threads_profile two.loci objects=x:0:64 '10*(t1 s1 w0 s3 r1024..1152 t2 s2 w8 s4 r2048..2560)'
weight() { # SITE DISTANCE BLOCKS
	sqlite3 two.loci "SELECT coherence + (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = h.id AND low >= $3) FROM histogram h
		WHERE owner = 'site' AND owner_id = $1 AND distance = '$2'"
}
for kind in private shared; do
	distance=${kind/shared/stack}
	expect 0 loci report two.loci --coverage 95 --cache 256 --$kind --json
	valid coverage
	json "d['distance'] == '$distance' and {r['key']: r['misses'] for r in d['rows']}.items() <=
		{$(for site in 1 2 3 4; do
			echo "'work+${site}0': $(weight $site $distance 4),"
		done)}.items()"
done
expect 0 loci report two.loci --coverage 95 --cache 4K --json
json '[r["misses"] for r in d["rows"]] == [9, 9] and d["distance"] == "private"'
expect 0 loci report two.loci --coverage 95 --cache 4K --shared
has out 'no reuse'

# Rank. Another profile of the same sites that finds them otherwise: site 3 before 4, 1 before 2.
threads_profile other.loci '10*(s1 r0..128)' '3*(s2 r1024..1280)' '10*(s3 r2048..2560)' \
	'3*(s4 r4096..4864)'
row() { # DISTANCE PERCENT
	python3 -c 'import json, sys
rows = json.load(open("out"))["rows"]
r = next(r for r in rows if r["distance"] == sys.argv[1] and r["percent"] == int(sys.argv[2]))
print(r["cache_bytes"], r["sites"], "%.4f %.4f" % (r["weight_match"], r["key_match"]))' "$1" "$2"
}
is() { # WANT DISTANCE PERCENT
	local got
	got=$(row "$2" "$3")
	[ "$got" = "$1" ] || fail "$2 $3 %: $got, not $1"
}
expect 0 loci diff --rank --cache 64 --json sites.loci other.loci
valid rank
# truth 108, 72, 36, 18; the other has 72 of site 3, 24 of 4, 18 of 1, 8 of 2
is '64 2 1.0000 1.0000' stack 75    # 180 of 234: sites 4 and 3, both there
is '64 3 0.9167 0.6667' stack 80    # the third is site 1: 108 + 72 + 18 of 216
is '64 3 0.9167 0.6667' stack 90
is '64 4 1.0000 1.0000' stack 95
expect 0 loci diff --rank --json sites.loci other.loci
is '704 1 1.0000 1.0000' stack 90 # chosen by the first: site 4 alone
expect 0 loci diff --rank --json sites.loci other.loci --miss 50%
is '448 2 1.0000 1.0000' stack 90
threads_profile none.loci '10*(s3 r2048..2560)'
expect 0 loci diff --rank --json sites.loci none.loci
is '704 1 0.0000 0.0000' stack 75 # nothing there reaches so far
expect 0 loci diff --rank --json two.loci two.loci
valid rank
[ "$(python3 -c 'import json; print(len(json.load(open("out"))["rows"]))')" = 8 ] || fail 'eight rows'
is "$(row private 90 | cut -d' ' -f1-2) 1.0000 1.0000" private 90
expect 0 loci diff --rank sites.loci other.loci --cache 64
has out 'the worst sites of sites.loci, as other.loci finds them'
grep -qE 'stack +64 B +80 % +3 +0.917 +0.667' out || { fail 'the table'; cat out; }
narrow

# nonsense
for bad in '--coverage 50' '--coverage x' '--miss 5%' '--private' '--coverage 90 --by site' \
	'--coverage 90 --private --shared' '--coverage 90 --cache 1K --miss 5%' '--coverage 90 --miss 0%' \
	'--coverage 90 --cache L1=4K'; do
	expect 2 loci report sites.loci $bad
done
for bad in '--rank --accuracy' '--miss 5%' '--rank --cache L1=1K' '--rank --fail-if p90>5'; do
	expect 2 loci diff sites.loci sites.loci $bad
done
threads_profile bare.loci sites=no '10*(r0..128)'
expect 1 loci report bare.loci --coverage 90
has err 'its sites have no stack distances'
expect 0 loci report sites.loci --cache L1=4K # a machine elsewhere
finish
