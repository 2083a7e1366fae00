# SPDX-License-Identifier: GPL-2.0-or-later
# What loci report and loci diff say of threads: the verdict, --by thread, --by sharing, false sharing
# told from true, the padded twin clean; by hand and against plain SQL.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
. "$SRC/tests/cli/thread_profiles.sh"

# json EXPRESSION: true of the first profile in the JSON of out
json() {
	python3 -c 'import json, sys; d = json.load(open("out"))["profiles"][0]
sys.exit(not ('"$1"'))' || fail "not so: $1"
}

# Two threads count in one array, each in a word of its own; both lists are read by both, and one
# passes what the other reads.
caches=caches=L1=512,L2=4K:shared
program='t1 s1 w0 r1024..1280 s3 w4096 t2 s2 w8 r1024..1152 r2048..2560 s4 r4096'
threads_profile count.loci $caches objects=counts:0:64,list:1024:256,flag:4096:64 "20*($program)"
threads_profile padded.loci $caches objects=counts:0:128,list:1024:256,flag:4096:64 \
	"20*(${program/w8/w64})"
expect 0 loci report count.loci
same report-threads
narrow 50
has out 'miss what another thread'
expect 0 loci report count.loci --by sharing
has out 'counts: give each thread'\''s part a block of its own, padded or aligned to 64'
[ "$(sed -n '/^  written at/,/^$/p' out | sed -n 2p | tr -s ' ')" = \
	' work.c:20 and back work.c:10 false 38 10.6 counts' ] || { fail 'the worst row'; cat out; }
narrow
expect 0 loci report count.loci --by sharing --json
valid sharing
json 'd["touches"] == 20 * 18 and d["true_sharing"] == 19 and d["false_sharing"] == 38'
# taken away 19 times each way; the flag: the second loses it 19 times, and the first never
json 'd["cases"] == 2 and d["rows"][0]["misses"] == 38 and d["rows"][0]["mutual"]'
json 'd["rows"][0]["kind"] == "false" and d["rows"][0]["data"] == "counts"'
json '{d["rows"][0][s]["line"] for s in ("written", "missed")} == {10, 20}'
json 'd["rows"][1]["kind"] == "true" and d["rows"][1]["data"] == "flag" and d["rows"][1]["misses"] == 19'
json 'd["rows"][1]["written"]["line"] == 30 and d["rows"][1]["missed"]["line"] == 40'
json 'd["rows"][1]["missed"]["object"] == "flag" and not d["rows"][1]["mutual"]'
# blocks: 2 and 8 of one thread, 2 read by both, counts and the flag written
json 'd["blocks"] == {"alone": 10, "read_only": 2, "written": 2}'
json "d['remote'] == $(sqlite3 count.loci "SELECT remote FROM coherence WHERE owner = 'whole'")"
expect 0 loci report count.loci --by sharing -n 1 --json
json 'len(d["rows"]) == 1 and d["cases"] == 2'

# two variables in one block
threads_profile two.loci $caches objects=x:0:8,y:8:8 '20*(t1 s1 w0 t2 s2 w8)'
expect 0 loci report two.loci --by sharing
has out 'lie in one block: align or pad them to 64 bytes'
expect 0 loci report two.loci --by sharing --json
json 'sorted([d["rows"][0]["written"]["object"], d["rows"][0]["missed"]["object"]]) == ["x", "y"]'

# the report's own object, threads and sites
expect 0 loci report count.loci --json
valid report
json 'd["threads"]["threads"] == 2 and d["threads"]["sharing"][0]["data"] == "counts"'
misses() { # OWNER ID DISTANCE BLOCKS
	sqlite3 count.loci "SELECT cold + coherence + (SELECT coalesce(sum(weight), 0) FROM bin
		WHERE histogram_id = h.id AND low >= $4) FROM histogram h
		WHERE owner = '$1' AND owner_id = $2 AND distance = '$3'"
}
json "d['threads']['levels'][0]['private_misses'] == $(misses whole 0 private 8) and
	d['threads']['levels'][0]['shared_misses'] == $(misses whole 0 stack 8) and
	d['threads']['levels'][1]['private_misses'] == $(misses whole 0 private 64)"
json 'd["threads"]["levels"][1]["coherence"] == 57 and d["levels"][0]["coherence"] == 57'
json 'd["levels"][1]["coherence"] == 0' # shared by all
json '"false sharing of counts at work.c:20 and work.c:10" in d["verdict"]["text"]'
expect 0 loci report count.loci --by thread
has out 'thread 1'
grep -qE 'thread 2 .* 19 +19 ' out || { fail 'true and false of thread 2'; cat out; }
expect 0 loci report count.loci --by thread --json
valid by
json "[r['misses'] for r in sorted(d['rows'], key=lambda r: r['name'])] ==
	[$(misses thread 1 private 8), $(misses thread 2 private 8)]"
json 'sum(r["false_sharing"] for r in d["rows"]) == 38 and all("remote" in r for r in d["rows"])'
expect 0 loci report count.loci --by site --json
valid by
json "[int(r['misses']) for r in sorted(d['rows'], key=lambda r: r['name'])] == [$(
	for site in 1 2 3 4; do misses site $site private 8; done | paste -sd,)]"
json '[r["true_sharing"] + r["false_sharing"] for r in sorted(d["rows"], key=lambda r: r["name"])] ==
	[19, 19, 0, 19]'
# of a shared cache sites are judged by the stack that all share
expect 0 loci report count.loci --by site --cache L1=512:shared --json
json "[int(r['misses']) for r in sorted(d['rows'], key=lambda r: r['name'])] == [$(
	for site in 1 2 3 4; do misses site $site stack 8; done | paste -sd,)]"
# nor are the counts of a private cache those of a shared one
threads_profile named.loci levels=L1:8:private $caches \
	objects=counts:0:64,list:1024:256,flag:4096:64 "20*($program)"
expect 0 loci report named.loci --by site --json
json "d['level']['basis'] == 'exact' and
	[int(r['misses']) for r in sorted(d['rows'], key=lambda r: r['name'])] == [$(
	for site in 1 2 3 4; do misses site $site private 8; done | paste -sd,)]"
expect 0 loci report named.loci --by site --cache L1=512:shared --json
json "d['level']['basis'] != 'exact' and
	[int(r['misses']) for r in sorted(d['rows'], key=lambda r: r['name'])] == [$(
	for site in 1 2 3 4; do misses site $site stack 8; done | paste -sd,)]"

# the padded twin
expect 0 loci report padded.loci --by sharing --json
valid sharing
json 'd["false_sharing"] == 0 and d["cases"] == 1 and d["rows"][0]["kind"] == "true"'
expect 0 loci report padded.loci
lacks out false\ sharing\ of

# and what a diff of the two says
expect 0 loci diff count.loci padded.loci
has out 'false sharing of counts is gone'
grep -qE '^  false sharing +38 +0 +gone' out || { fail 'false sharing in the table'; cat out; }
grep -qE '^  true sharing +19 +19 ' out || { fail 'true sharing in the table'; cat out; }
expect 0 loci diff padded.loci count.loci --json
valid diff
python3 - <<'P' || fail 'the moves'
import json, sys
s = json.load(open("out"))["sharing"]
assert s["false_sharing"]["before"] == 0 and s["false_sharing"]["after"] == 38, s
assert [m["name"] for m in s["moves"]] == ["false sharing of counts"], s
assert s["moves"][0]["misses"]["after"] == 38 and not s["moves"][0]["gone"], s
P
# both kinds of one variable are two things
both='t1 s1 w0 t2 s3 r0 t1 s1 w0 t2 s2'
threads_profile both.loci $caches objects=x:0:128 "20*($both w8)"
threads_profile apart.loci $caches objects=x:0:128 "20*($both w64)"
expect 0 loci diff both.loci apart.loci
has out 'false sharing of x is gone'
lacks out 'true sharing of x is gone'
# of its 20 reads the first is cold, and the others lost what was written before them
grep -qE '^  true sharing +19 +19 ' out || { fail 'true sharing of x'; cat out; }

# nothing of it without threads
threads_profile one.loci $caches objects=counts:0:64 "20*(t1 s1 w0 r64..512)"
expect 0 loci report one.loci
lacks out thread
lacks out sharing
expect 0 loci report one.loci --json
valid report
json 'd["threads"] is None'
expect 1 loci report one.loci --by sharing
has err 'no threads that share memory'
expect 0 loci report one.loci --by thread
lacks out remote
expect 0 loci diff one.loci one.loci
lacks out sharing
expect 0 loci diff one.loci one.loci --json
valid diff
grep -q '"sharing": null' out || fail 'sharing without threads'
finish
