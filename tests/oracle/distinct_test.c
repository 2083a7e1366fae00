// SPDX-License-Identifier: GPL-2.0-or-later
/* Which references a statement's execution has had: by hand, and random ones against lists that are
 * searched again from the start of the execution. */
#include "check.h"

#include "analyse/distinct.h"
#include "analyse/grow.h"
#include "base/cleanup.h"

#define SITES 12
#define REFS  20000

enum { NO_LINE = 1, FIRST = 2 };

static void free_distinct(struct loci_distinct **distinct)
{
	loci_distinct_free(*distinct);
}

/* Sites whose statements are known: none is asked for. */
static struct loci_distinct *made(uint64_t element_bytes, const uint32_t *statement, size_t n)
{
	static const struct loci_code code;
	struct loci_distinct *d = NULL;

	if (loci_distinct_new(&code, element_bytes, &d, NULL) < 0 ||
		loci_grow(&d->statement, &d->statement_cap, n, sizeof(*d->statement)) < 0 ||
		loci_grow(&d->ran_in, &d->ran_cap, n, sizeof(*d->ran_in)) < 0)
		abort();
	memcpy(d->statement, statement, n * sizeof(*statement));
	return d;
}

/* Sites 0, 1, 2 are of line 10, 3 and 4 of line 11, 5 has no line. */
static void check_by_hand(void)
{
	static const uint32_t statement[] = { FIRST, FIRST, FIRST, FIRST + 1, FIRST + 1, NO_LINE };
	static const struct {
		uint32_t site, thread;
		uint64_t address;
		int again;
	} refs[] = {
		{ 0, 0, 0x100, 0 }, /* a(i) = a(i) + a(i+1) */
		{ 1, 0, 0x108, 0 }, { 2, 0, 0x100, 1 },
		{ 0, 0, 0x100, 0 },                     /* the same site: the next execution */
		{ 1, 0, 0x104, 1 },                     /* the second half of the element */
		{ 3, 0, 0x100, 0 },                     /* another line */
		{ 2, 0, 0x100, 0 },                     /* and back */
		{ 1, 1, 0x100, 0 },                     /* another thread */
		{ 5, 1, 0x100, 0 },                     /* no line: always counts .. */
		{ 5, 1, 0x100, 0 }, { 0, 1, 0x100, 0 }, /* .. and ends what went on */
	};
	loci_cleanup(free_distinct) struct loci_distinct *d =
		made(8, statement, LOCI_ARRAY_SIZE(statement));

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(refs); i++) {
		int again =
			loci_distinct_again(d, refs[i].site, refs[i].thread, refs[i].address, NULL);

		if (again != refs[i].again)
			CHECK_FAIL("reference %zu: %d", i, again);
		check_count++;
	}
}

struct reference {
	uint32_t site, thread;
	uint64_t address;
};

/* Where the execution that the last reference is in begins. */
static size_t beginning(const struct reference *refs, size_t last, const uint32_t *statement)
{
	size_t from = 0;

	for (size_t i = 1; i <= last; i++) {
		bool ends = statement[refs[i].site] != statement[refs[i - 1].site] ||
			refs[i].thread != refs[i - 1].thread;

		for (size_t k = from; !ends && k < i; k++)
			ends = refs[k].site == refs[i].site;
		if (ends)
			from = i;
	}
	return from;
}

static void check_random(uint64_t seed, unsigned element_bytes)
{
	static struct reference refs[REFS];
	uint32_t statement[SITES];
	uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
	loci_cleanup(free_distinct) struct loci_distinct *d = NULL;

	for (unsigned i = 0; i < SITES; i++)
		statement[i] = i % 3 ? FIRST + i % 2 : i ? NO_LINE : FIRST;
	d = made(element_bytes, statement, SITES);
	for (size_t i = 0; i < REFS; i++) {
		/* executions do not grow longer than there are sites: look no further back */
		size_t window = i > 64 ? i - 64 : 0, from;
		bool want = false;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		refs[i] = (struct reference){ (uint32_t)(state >> 33) % SITES,
			(state >> 20) % 50 == 0, 0x1000 + (state >> 40) % 40 };
		if (state % 3) /* mostly in one line */
			refs[i].site = 1 + 6 * (uint32_t)(state >> 50 & 1);
		from = window + beginning(refs + window, i - window, statement);
		for (size_t k = from; k < i; k++)
			want |= refs[k].address / element_bytes == refs[i].address / element_bytes;
		want &= statement[refs[i].site] != NO_LINE;
		if (loci_distinct_again(d, refs[i].site, refs[i].thread, refs[i].address, NULL) !=
			want)
			CHECK_FAIL("seed %" PRIu64 ", reference %zu: want %d", seed, i, want);
		check_count++;
	}
}

int main(void)
{
	check_by_hand();
	for (uint64_t seed = 1; seed <= 3; seed++)
		check_random(seed, seed == 1 ? 1 : 8 << seed);
	return check_status();
}
