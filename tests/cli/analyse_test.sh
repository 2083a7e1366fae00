# SPDX-License-Identifier: GPL-2.0-or-later
# loci analyse: from traces of several origins to the same profile.
. "$SRC/tests/cli/expect.sh"

# A cyclic sweep over 1000 blocks, ten times: 1000 cold, 9000 at distance 999.
awk 'BEGIN { for (i = 0; i < 10; i++) for (b = 0; b < 1000; b++) printf "0x%x\n", b * 64 }' >sweep.txt
expect 0 loci analyse --verify sweep.txt
has err "10 k references"
has err "10 k touches verified"
[ -f sweep.loci ] || fail "no sweep.loci"
expect 0 loci export --format csv sweep.loci
grep -q '^sweep.loci,stack,64,.*,996,1000,9000' out || { fail "no 9000 reuses at distance 999, in the bin 996..999"; head -5 out; }

# Packed, from standard input and through our own trace: the same histograms.
histograms() { loci export --format csv "$1" | cut -d, -f2-; }
histograms sweep.loci >want.csv
gzip -k sweep.txt
zstd -q sweep.txt
expect 0 loci analyse -q -o gz.loci sweep.txt.gz
expect 0 loci analyse -q -o zst.loci --trace sweep.trace sweep.txt.zst
expect 0 loci analyse -q -o own.loci sweep.trace
loci analyse -q -o stdin.loci - <sweep.txt || fail "standard input"
for p in gz zst own stdin; do
	histograms $p.loci | cmp -s - want.csv || fail "$p.loci differs from sweep.loci"
done
expect 0 test ! -s err

# Several block sizes at once equal each alone.
expect 0 loci analyse -q -b 1,64,4K,2M -o many.loci sweep.txt
expect 0 loci analyse -q -b 4K -o one.loci sweep.txt
for p in many one; do histograms $p.loci | grep '^[a-z_]*,4096,' >$p.csv; done
cmp -s many.csv one.csv || fail "4K blocks differ between one and many block sizes"
[ -s one.csv ] || fail "no rows for 4096"

# Every vector variant gives the same profile.
for isa in scalar avx2 avx512; do
	LOCI_ISA=$isa loci analyse -q -o $isa.loci sweep.txt
	histograms $isa.loci | cmp -s - want.csv || fail "$isa differs"
done

# A limit on memory turns to sampling and says so.
awk 'BEGIN { srand(1); for (i = 0; i < 3000000; i++) print int(rand() * 2000000) * 64 }' >big.txt
expect 0 loci analyse --format decimal --max-memory 64M -o sampled.loci big.txt
has err "memory limit reached"
has err "points"
has err "no per-set distances"
expect 1 loci analyse --max-memory 1 sweep.txt

# An existing profile is replaced, anything else is not.
expect 0 loci analyse -q -o sweep.loci sweep.txt
echo precious >notes.txt
expect 1 loci analyse -o notes.txt sweep.txt
has err "notes.txt exists"
[ "$(cat notes.txt)" = precious ] || fail "notes.txt was overwritten"

# --trace spares what is no trace of our own, the input first of all.
cp sweep.txt kept.txt
expect 1 loci analyse -q -o kept.loci --trace kept.txt kept.txt
has err "kept.txt exists and is no trace of loci's own"
cmp -s sweep.txt kept.txt || fail "the input was overwritten"
expect 1 loci analyse -q -o both --trace both sweep.txt
has err "at once"
[ -e both ] && fail "a file that is neither trace nor profile"
expect 0 loci analyse -q -o own.loci --trace sweep.trace sweep.trace
histograms own.loci | cmp -s - want.csv || fail "a trace written over itself differs"
expect 1 loci analyse -q -o - sweep.txt
has err "cannot be written to standard output"
expect 0 loci export -o - sweep.loci
has out '"histograms"'

# A reference over the end of the address space touches its last block, and straddles nothing.
printf ' L ffffffffffffffff,8\n L 1000,8\n' >end.lackey
expect 0 loci analyse end.lackey
expect 0 sqlite3 end.loci 'SELECT touches, straddles FROM grain'
has out "2|0"

# One is not many, and objects are requested.
printf ' L 1000,8\n' >one.lackey
expect 0 loci analyse one.lackey
has err "1 reference "
expect 0 loci cache --cache L1=4K one.loci
has out "LRU, 1 reference"
lacks out "1 references"
printf 'time,obj_id,obj_size\n1,7,10\n2,8,10\n3,7,10\n' >objects.csv
expect 0 loci analyse objects.csv
has err "3 requests"
expect 0 loci cache --cache L1=4 objects.loci
has out "3 requests"

# Torn before its first whole frame: nothing to show, and why.
head -c 200 sweep.trace >torn.trace
expect 1 loci analyse torn.trace
has err "torn"
[ -e torn.loci ] && fail "a profile of nothing"

# The commands that the README begins with, on a program that prints.
if loci doctor 2>/dev/null | grep -q '^ *any *yes'; then
	cp "$(command -v ls)" prog
	command=$(sed -n '/^    loci record/,/^    loci report/p; /^    loci report/q' "$SRC/README.md")
	expect 0 bash -o pipefail -c "${command/ARGS/-l}"
	has out "references"
fi

# Interrupted: a profile of what was read, and status 1.
mkfifo pipe
(for ((i = 0; i < 20; i++)); do cat sweep.txt; done; : >is-read; while cat sweep.txt; do sleep 1; done) >pipe 2>/dev/null &
loci analyse --format hex -o cut.loci - <pipe 2>err &
pid=$!
until [ -e is-read ]; do sleep 0.1; done
kill -INT $pid 2>/dev/null
wait $pid
[ $? = 1 ] || fail "interrupted analysis exits with $?"
has err "interrupted"
[ -f cut.loci ] || fail "no profile of the interrupted analysis"

# Usage.
expect 2 loci analyse
expect 2 loci analyse a b
expect 2 loci analyse -b 48 sweep.txt
has err "power of two"
expect 2 loci analyse -b 4M sweep.txt
expect 2 loci analyse -b 64,64 sweep.txt
expect 2 loci analyse --no-such-option sweep.txt
expect 0 loci analyse --formats
has out "lackey"
has out "oracleGeneral"
expect 0 loci analyse -h
expect 2 loci nonsense
finish
