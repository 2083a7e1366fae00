# SPDX-License-Identifier: GPL-2.0-or-later
# Copies and fills of many blocks, each of which is one reference, or two: their parts are sampled by themselves. A program
# fills 65536 blocks, copies them, and goes over a few others: of its touches a third are of each kind, and their reuses
# come after one, two and three times 65536 touches. Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >bulk.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 65536, ROUNDS = 400, FEW = 256 };
static unsigned long few[FEW];

__attribute__((noinline)) static void fill(void *to, int value, size_t n)
{
	memset(to, value, n);
}

__attribute__((noinline)) static void copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

int main(void)
{
	unsigned long *from = aligned_alloc(64, 8 * BLOCKS), *to = aligned_alloc(64, 8 * BLOCKS), sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		fill(from, round, 8 * BLOCKS);
		copy(to, from, 8 * BLOCKS);
		copy(few, to + round, 8);
		for (int i = 1; i < FEW; i++)
			few[i] += few[i - 1] * 3;
		sum += few[FEW - 1];
	}
	printf("%lu\n", sum);
	return 0;
}
END
# third DISTANCE: about a third of the weight is there
third() {
	sqlite3 bulk.loci "select coalesce(sum(weight) filter (where low >= $1 * 0.98 and high <= $1 * 1.03), 0) / sum(weight)
		from bin join histogram on histogram.id = histogram_id where owner = 'whole' and distance = 'time'" >share
	awk '{ exit !($1 > 0.26 && $1 < 0.40) }' share || fail "clang $clang $opt: $(cat share) of the touches are $1 apart"
}
for clang in $clangs; do
	for opt in -O2 -O0; do
		expect 0 cc $clang $opt -g -o bulk bulk.c
		expect 0 ./bulk
		cp out alone
		expect 0 loci record -q -m watch --watch-by registers -b 8 -c 5000 --seed 1 -o bulk.loci ./bulk
		cp out watched
		expect 0 cmp watched alone
		if [ "$(sqlite3 bulk.loci 'select by_watch > 50 from sampling')" != 1 ]; then
			echo "no debug registers here: clang $clang is not tried"
			continue
		fi
		third 65536
		third 131072
		third 196608
		# what they touch is known: 78.6 million blocks and few others
		expect 0 sqlite3 bulk.loci "select sum(weight) between 70e6 and 88e6 from bin join histogram h on h.id = histogram_id
			where owner = 'whole' and distance = 'time'"
		has out 1
		# and whose they are: those of the functions, not of the C library
		expect 0 sqlite3 bulk.loci "select f.name, round(1.0 * sum(b.weight) / (select sum(weight) from bin join histogram h on
			h.id = histogram_id where owner = 'site' and distance = 'stack'), 1) from histogram h join bin b on histogram_id = h.id
			join site s on s.id = owner_id join function f on f.id = function_id where owner = 'site' and distance = 'stack'
			group by 1 order by 1"
		has out 'copy|0.7'
		has out 'fill|0.3'
	done
done
finish
