# SPDX-License-Identifier: GPL-2.0-or-later
# loci cache: tables, sweeps, JSON, and what it says to nonsense.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
write=$BUILD/tests/predict_profile_test

# json EXPRESSION: true of the JSON in out
json() {
	python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not ('"$1"'))' ||
		fail "not so: $1"
}

"$write" a.loci || fail "no profile to test with"

# the only profile here, on the machine it names
expect 0 loci cache
has out "a.loci  columns  LRU, 15.8 k references"
has out "L1 4K/4"
has out "L2 16K/8"
has out "write-backs"
lacks out "~"
lacks err "l"
expect 0 loci cache a.loci --cache L1=4K/4,L2=33K/11
has out "~ L2: binomial model, since the number of sets is no power of two"
expect 0 loci cache a.loci --cache skylake-sp
has out "cycles per reference (L1 4, L2 14, L3 70, memory 258)"
expect 0 loci cache a.loci --cache DTLB=16e/4@4K,L1=4K/4
has out "DTLB 16e/4@4K"
lacks out "write-backs: not known"
# a TLB moves no pages
grep -qE 'DTLB.* - +-$' out || { fail "a TLB moves something"; cat out; }
expect 0 loci cache a.loci --policy random
has out "StatCache"
expect 0 loci cache a.loci --from time
has out "StatStack"
expect 0 loci cache a.loci --conversion shen
has out "Shen"
expect 0 loci cache --machines
has out "skylake-sp"
expect 0 loci cache -h
has out "usage: loci cache"

# the loop that LRU does worse with when nothing keeps it apart
expect 0 loci cache a.loci --cache L1=8K/8
has out "negative conflict: LRU's anomaly"

expect 0 loci cache a.loci --sweep L2=8K..64K
has out "L2 8K/8"
has out "L2 64K/8"
lacks out "L2 128K"
expect 0 loci cache a.loci --sweep line=16..512
has out "L2 16K/8@128"
has out "lines not recorded: 16, 32, 256, 512; record them with -b"
has out "16,32,64,128,256,512,4K"
expect 0 loci cache a.loci --sweep line=256..512
has out "lines not recorded: 256, 512"

expect 0 loci cache a.loci --json
valid cache
json 'd["format"] == "loci-cache" and d["version"] == 1 and d["policy"] == "lru"'
json 'd["hierarchy"] == "L1=4K/4,L2=16K/8" and len(d["levels"]) == 2'
json 'all(l["cold"] + l["capacity"] + l["conflict"] == l["misses"] for l in d["levels"])'
json 'd["levels"][0]["hits"] + d["levels"][1]["hits"] + d["levels"][1]["misses"] == 15840'
json 'd["levels"][0]["basis"] == "exact" and d["levels"][0]["error_points"] == 0'
json 'd["cycles_per_reference"] is None'
expect 0 loci cache a.loci --json --sweep line=32..128
valid cache
json 'len(d["sweep"]) == 4 and d["missing_line_bytes"] == [32]'
expect 0 loci cache a.loci --json --cache DTLB=16e/4@4K,L1=4K/4:share2
valid cache
expect 0 loci cache a.loci --json --policy random
valid cache
json 'd["levels"][0]["writebacks"] is None'

# other kinds of profile
"$write" b.loci object
expect 1 loci cache
has err "b.loci"
expect 1 loci cache b.loci
has err "counts objects"
expect 0 loci cache b.loci --cache L1=100,L2=1000
has out "L1 100"
expect 0 loci cache b.loci --cache L1=1024/16,L2=5000e
expect 2 loci cache b.loci --cache zen3
has err "counts objects"
expect 2 loci cache b.loci --cache L1=100 --sweep line=1..64
"$write" c.loci loads
expect 0 loci cache c.loci
has out "write-backs: not known"
"$write" d.loci watch
expect 0 loci cache d.loci
has out "StatStack"

"$write" e.loci sampled
expect 0 loci cache e.loci --cache L1=4K/4,L2=32K
has out "L2: sampled"
lacks out "~ L1"
has out "1.2 points"

# nonsense
expect 2 loci cache a.loci --cache L1=33000/8
has err "32960 or 32.25K would be"
expect 2 loci cache a.loci --cache skylake-ps
has err "did you mean skylake-sp?"
expect 2 loci cache a.loci --cache ''
has err "empty"
expect 1 loci cache a.loci --cache L1=4K/4@32
has err "record it again with -b 32,64,128,4K"
expect 2 loci cache a.loci --policy fifo
has err "lru or random"
expect 2 loci cache a.loci --from stack --policy random
expect 2 loci cache a.loci --policy random --conversion shen
expect 2 loci cache a.loci --sweep L2
has err "NAME=A..B"
expect 2 loci cache a.loci --sweep L9=1K..2K
has err "no level is named L9"
expect 2 loci cache a.loci --sweep L2=8K..4K
has err "small to large"
expect 2 loci cache a.loci --sweep L2=0..4K
expect 2 loci cache a.loci --sweep L2=x..4K
expect 1 loci cache a.loci --sweep L2=100..4K
has err "64-byte lines"
expect 2 loci cache a.loci b.loci
expect 2 loci cache --nonsense
expect 2 loci cache --cache
expect 1 loci cache missing.loci
has err "missing.loci"
echo garbage >g.loci
expect 1 loci cache g.loci
expect 1 loci cache /
if [ -w /dev/full ]; then
	loci cache a.loci >/dev/full 2>err && fail "a full disk is no error"
	has err "standard output"
fi
loci cache a.loci | head -1 >/dev/null || fail "a closed pipe is an error"
finish
