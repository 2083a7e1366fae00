# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

make_profile mm.loci command='./mm 800' cyclic:2:20000 wcyclic:200:50 +cyclic:3000:6
expect 0 loci report mm.loci
same report
narrow
expect 0 loci report # the only one here
same report
expect 0 loci report --cache 'L1=8K,L2=128K/8' mm.loci
same report-cache
narrow
expect 0 loci report --cache skylake-sp mm.loci
narrow

# cases that a verdict must not stumble over
make_profile empty.loci
make_profile one.loci cyclic:1:1
make_profile block.loci cyclic:1:1000
make_profile cold.loci cyclic:5000:1
make_profile stride.loci wstride:60:64:100
make_profile object.loci unit=object caches= command=cdn.csv random:1000:20000
make_profile sampled.loci error=1.4 caches=L1=4K/4,L2=24K/12 cyclic:2:5000 +random:1500:9000
make_profile reads.loci stores=no caches=L1=16K/4,DTLB=4e@4K cyclic:300:20
make_profile torn.loci complete=no note='input torn after 3 of 4 frames' lost=17 cyclic:9:9
make_profile two.loci block=64,4096 caches=L1=4K/4,DTLB=16e/4@4K random:3000:20000
for case in empty one block cold stride object sampled reads torn two; do
	expect 0 loci report $case.loci
	same report-$case
	narrow
	lacks out nan
	lacks out inf
	expect 0 loci report --json $case.loci
	valid report
done
expect 0 loci report -b 4096 two.loci
same report-pages
expect 0 loci report --cache C=500 object.loci
has out 'C 500'
lacks out '@1'

# several, one after the other; a bad one does not cost the others
expect 1 loci report one.loci nothere.loci block.loci
has out 'A single reference'
has out 'All references go to one 64-byte block'
has err nothere.loci
expect 1 loci report one.loci nothere.loci --json
valid report

# what is asked for and not there
expect 1 loci report -b 128 mm.loci
has err 'mm.loci was not recorded with 128-byte blocks, only with 64'
expect 2 loci report -b 100 mm.loci
has err 'powers of two'
expect 2 loci report -b x mm.loci
expect 2 loci report --cache L1=32Q mm.loci
has err '--cache'
expect 1 loci report --cache L1=3 mm.loci # sense it would make for objects only
has err '3 bytes are not a whole number of 64-byte lines'
expect 1 loci report -b 64 object.loci
has err 'no block sizes'
expect 1 loci report # now there are many
expect 2 loci report --frobnicate
has err 'loci report: there is no option --frobnicate'
expect 0 loci report -h
has out 'usage: loci report'
echo garbage >bad.loci
expect 1 loci report bad.loci
[ -s out ] && fail "output for a bad file"

# on a terminal: Unicode and colour, unless told otherwise
if command -v script >/dev/null; then
	tty() { TERM=xterm script -qec "stty cols 80; $*" /dev/null </dev/null | tr -d '\r' >out; }
	tty loci report mm.loci
	has out '█'
	has out $'\033[1m'
	tty loci report --no-color mm.loci
	same report-terminal
	tty env NO_COLOR=1 loci report mm.loci
	same report-terminal
fi
if [ -w /dev/full ]; then
	loci report mm.loci >/dev/full 2>err && fail "a full disk went unnoticed"
	has err 'standard output'
fi
finish
