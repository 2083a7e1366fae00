# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks in hot pages, watched by these. A program goes over 64 pages of doubles again and again: of each block seven of eight reuses
# are at once, and one comes 32761 references later, when its page was touched up to 504 times. Another goes
# over half of each of 16 pages four times and over its other half once, which comes again when the page was touched 1024
# times and more, so that a lot decides whether it is watched for so long. Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >hot.c <<'END'
#include <stdio.h>

enum { PAGE = 512, PAGES = 64, HOT_PAGES = 16 };
static double many[PAGES * PAGE] __attribute__((aligned(4096)));

__attribute__((noinline)) static double sum(const double *of, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = (sum + of[i]) * 0.5;
	__asm__ volatile("" ::: "memory");
	return sum;
}

int main(int argc, char **argv)
{
	double all = 0;

	for (unsigned i = 0; i < PAGES * PAGE; i++)
		many[i] = i;
	for (unsigned round = 0; argc == 1 && round < 2000; round++)
		all += sum(many, PAGES * PAGE);
	for (unsigned round = 0; argc > 1 && round < 6000 * HOT_PAGES; round++) {
		const double *page = many + round % HOT_PAGES * PAGE;

		for (unsigned i = 0; i < 4; i++)
			all += sum(page, PAGE / 2);
		all += sum(page + PAGE / 2, PAGE / 2);
	}
	printf("%g\n", all);
	return 0;
}
END
# share LOW HIGH LEAST MOST: of the weight, that of time distances from one up to another
share() {
	sqlite3 hot.loci "select coalesce(sum(weight) filter (where low >= $1 and high <= $2), 0) / sum(weight)
		from bin join histogram on histogram.id = histogram_id where owner = 'whole' and distance = 'time'" >share
	awk -v least="$3" -v most="$4" '{ exit !($1 >= least && $1 <= most) }' share ||
		fail "clang $clang: $(cat share) of all time distances are from $1 to $2, and not $3 to $4"
}
# watched ARGUMENTS: what it prints is as ever
watched() {
	expect 0 ./hot "$@"
	cp out alone
	expect 0 loci record -q -m watch --watch-by pages -b 64 -c 1e5 --seed 1 --far 0% -o hot.loci ./hot "$@"
	cp out told
	expect 0 cmp told alone
}
for clang in $clangs; do
	expect 0 cc $clang -O2 -g -o hot hot.c
	watched
	share 1 2 0.83 0.92
	share 32000 33600 0.09 0.16 # an eighth
	share 3 31999 0 0.005
	[ "$(sqlite3 hot.loci 'select abandoned from sampling')" = 0 ] || fail "clang $clang: watches were given up"
	watched hotter
	share 19500 19900 0.015 0.035 # of the halves gone over four times, one in 40
	share 20200 20700 0.01 0.045 # of the others, as many
	[ "$(sqlite3 hot.loci 'select abandoned > 4 from sampling')" = 1 ] || fail "clang $clang: no lots were drawn"
	expect 0 loci record -v -m watch --watch-by pages -o hot.loci ./hot
	has err "for at most 15 % of the time, 64-byte blocks, 4 by pages"
done
finish
