# SPDX-License-Identifier: GPL-2.0-or-later
# Reuses that are further away than a sample is followed. A program goes over 16385 blocks, again and again: all stack distances are
# 16384, the size of a cache. What a watch meets is counted to a turn of the unrolled loop, also where a loop that is
# counted as a whole was under way; and some samples that are followed all the way (--far) make it exact.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >edge.c <<'END'
#include <stdio.h>

enum { BLOCKS = 16385, ROUNDS = 1500 };
static unsigned long many[BLOCKS];

__attribute__((noinline)) static unsigned long sum(void)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		sum = (sum ^ many[i]) * 3;
	return sum;
}

int main(void)
{
	unsigned long all = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		many[i] = i;
	for (unsigned round = 0; round < ROUNDS; round++) {
		all += sum();
		__asm__ volatile("" ::: "memory");
	}
	printf("%lu\n", all);
	return 0;
}
END
# share DISTANCE LOW HIGH: of the weight, that is from one distance up to another
share() {
	sqlite3 edge.loci "select coalesce(sum(weight) filter (where low >= $2 and high <= $3), 0) / sum(weight)
		from bin join histogram on histogram.id = histogram_id where owner = 'whole' and distance = '$1'"
}
# most DISTANCE LOW HIGH WHAT
most() {
	share "$1" "$2" "$3" >share
	awk '{ exit !($1 >= 0.99) }' share || fail "clang $clang, $4: $(cat share) of all $1 distances are from $2 to $3"
}
for clang in $clangs; do
	expect 0 cc $clang -O2 -g -o edge edge.c
	expect 0 ./edge
	cp out alone
	for far in 0% 50%; do
		expect 0 loci record -q -m watch --watch-by registers -b 8 -c 20000 --seed 1 --far $far -o edge.loci ./edge
		cp out watched
		expect 0 cmp watched alone
		if [ "$(sqlite3 edge.loci 'select by_watch > 50 from sampling')" != 1 ]; then
			echo "no debug registers here: clang $clang is not tried"
			continue
		fi
		most time 16256 16512 "--far $far"
		most near 16256 16512 "--far $far"
		[ $far = 0% ] || most near 16384 16512 "--far $far"
	done
done
finish
