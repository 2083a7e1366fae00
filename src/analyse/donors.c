// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/donors.h"

#include "base/cleanup.h"
#include "hist/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Equally far: within a bin, or where the count is time's within what that may be off. */
#define PARTS       128
#define ROUGH_PARTS 8
/* Others tell by their share, if two of them that are not much nearer or farther agree. */
#define NEAR        2
#define AGREE_PARTS 32
#define MOST_REFS   (UINT64_C(1) << 48) /* or it is senseless */

struct donor {
	uint64_t context, refs;
	size_t outcome;
};

struct donors {
	const struct loci_weigh_outcome *outcome;
	struct donor *donor; /* sorted */
	size_t n;
};

static int by_refs(const void *left, const void *right)
{
	const struct donor *a = left, *b = right;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a->refs != b->refs)
		return a->refs < b->refs ? -1 : 1;
	return (a->outcome > b->outcome) - (a->outcome < b->outcome);
}

static bool is_donor(const struct loci_weigh_outcome *outcome)
{
	return outcome->in_burst && !outcome->is_borrowed && outcome->distinct &&
		outcome->distinct <= outcome->distance && outcome->distance < MOST_REFS &&
		outcome->to > outcome->from;
}

static bool is_sought(const struct loci_weigh_outcome *outcome)
{
	return outcome->distance != LOCI_INFINITE && !outcome->distinct && !outcome->remote &&
		outcome->to > outcome->from && outcome->to - outcome->from < MOST_REFS;
}

/* How many come before these references of the context. */
static size_t before(const struct donors *donors, uint64_t context, uint64_t refs)
{
	const struct donor sought = { context, refs, 0 };
	size_t low = 0, high = donors->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_refs(&donors->donor[middle], &sought) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* References of two that differ by so much, of the larger. */
static bool is_within(uint64_t a, uint64_t b, uint64_t parts)
{
	return a < b ? (b - a) <= b / parts : (a - b) <= a / parts;
}

static void put(struct loci_weigh_outcome *sought, double distance, double distinct)
{
	sought->distance = (uint64_t)llround(fmin(fmax(distance, 1), (double)MOST_REFS));
	sought->distinct = (uint64_t)llround(fmax(fmin(distinct, (double)sought->distance), 1));
}

static void take(const struct donors *donors, size_t number, struct loci_weigh_outcome *sought)
{
	const struct loci_weigh_outcome *like = &donors->outcome[donors->donor[number].outcome];

	sought->distance = like->distance;
	sought->distinct = like->distinct;
}

/* Takes what the one that is nearest has, of those that are equally near the turn-th. */
static void copy(
	const struct donors *donors, size_t at, struct loci_weigh_outcome *sought, size_t turn)
{
	const struct donor *donor = &donors->donor[at];
	size_t first = before(donors, donor->context, donor->refs);
	size_t next = before(donors, donor->context, donor->refs + 1);

	take(donors, first + turn % (next - first), sought);
}

/* Between two that have about the same share of distinct blocks: in proportion. */
static void interpolate(
	const struct donors *donors, size_t low, size_t high, struct loci_weigh_outcome *sought)
{
	const struct donor *a = &donors->donor[low], *b = &donors->donor[high];
	const struct loci_weigh_outcome *of_a = &donors->outcome[a->outcome];
	const struct loci_weigh_outcome *of_b = &donors->outcome[b->outcome];
	double refs = (double)(sought->to - sought->from);
	double distinct_a = (double)of_a->distinct / (double)a->refs;
	double distinct_b = (double)of_b->distinct / (double)b->refs;
	double distance_a = (double)of_a->distance / (double)a->refs;
	double distance_b = (double)of_b->distance / (double)b->refs;
	double part = (refs - (double)a->refs) / (double)(b->refs - a->refs);

	if (fabs(distinct_a - distinct_b) * AGREE_PARTS > fmax(distinct_a, distinct_b))
		return;
	part = fmin(fmax(part, 0), 1);
	put(sought, refs * (distance_a + part * (distance_b - distance_a)),
		refs * (distinct_a + part * (distinct_b - distinct_a)));
}

/* Any of those that it may be as far as. The one that is nearest to what time says is not the
 * likeliest: beside many that are equally far it would always be the first or the last of them.
 * Returns false, if there are none. */
static bool draw(const struct donors *donors, struct loci_weigh_outcome *sought, size_t turn)
{
	uint64_t refs = sought->to - sought->from;
	size_t first = before(donors, sought->context, refs - refs / ROUGH_PARTS);
	size_t end = before(donors, sought->context, refs + refs / (ROUGH_PARTS - 1) + 1);
	uint64_t chance = turn * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	if (first == end)
		return false;
	take(donors, first + (chance * (end - first) >> 32), sought);
	return true;
}

static void fill(const struct donors *donors, struct loci_weigh_outcome *sought, size_t turn)
{
	uint64_t refs = sought->to - sought->from;
	size_t first = before(donors, sought->context, refs / NEAR);
	size_t next = before(donors, sought->context, refs), at = next;
	size_t end = before(donors, sought->context, NEAR * refs + 1);

	if (first == end || (sought->is_rough && draw(donors, sought, turn)))
		return;
	if (next == end ||
		(next > first &&
			refs - donors->donor[next - 1].refs < donors->donor[next].refs - refs))
		at = next - 1;
	if (is_within(donors->donor[at].refs, refs, PARTS))
		copy(donors, at, sought, turn);
	else if (next > first && next < end)
		interpolate(donors, next - 1, next, sought);
	else if (donors->donor[first].refs < donors->donor[end - 1].refs)
		interpolate(donors, first, end - 1, sought);
}

int loci_donors_fill(const struct loci_weigh_result *result)
{
	loci_autofree struct donor *donor = calloc(result->n + 1, sizeof(*donor));
	struct donors donors = { .outcome = result->outcome, .donor = donor };

	if (!donor)
		return -ENOMEM;
	for (size_t i = 0; i < result->n; i++) {
		const struct loci_weigh_outcome *outcome = &result->outcome[i];

		if (is_donor(outcome))
			donor[donors.n++] =
				(struct donor){ outcome->context, outcome->to - outcome->from, i };
	}
	qsort(donor, donors.n, sizeof(*donor), by_refs);
	for (size_t i = 0; donors.n && i < result->n; i++)
		if (is_sought(&result->outcome[i]))
			fill(&donors, &result->outcome[i], i);
	return 0;
}
