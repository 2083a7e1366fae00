# SPDX-License-Identifier: GPL-2.0-or-later
# The library's example, fed with addresses and with a profile of the same, agrees with loci cache.
. "$SRC/tests/cli/expect.sh"
misses=$BUILD/examples/misses

# 5 sweeps over 600 blocks: what 512 blocks hold of it, and 1024, is known.
for pass in 1 2 3 4 5; do
	for ((i = 0; i < 600; i++)); do
		printf '0x%x\n' $((0x7f0000 + 64 * i))
	done
done >addresses

expect 0 "$misses" -c L1=32K,L2=64K/16 addresses
cp out engine.out
has out 'L1               3000         3000  100.00%  exact'
has out 'L2               3000          600   20.00%  exact'

expect 0 "$LOCI" analyse -q -o profile.loci addresses
expect 0 "$misses" -c L1=32K,L2=64K/16 profile.loci
cmp -s out engine.out || fail "profile and engine differ: $(diff engine.out out)"

expect 0 "$LOCI" cache --cache L1=32K,L2=64K/16 --json profile.loci
has out '"misses": 3000'
has out '"misses": 600'

expect 1 "$misses" -c L1=0 addresses
has err 'misses: '
expect 1 "$misses" none.loci
has err none.loci
expect 2 "$misses" --nonsense
finish
