// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of a context are of two kinds: those that were followed, whose outcomes are all known,
 * and those that were drawn for watches, few of which are. How many there are of each is known, so
 * each kind is scaled to its own number (post-stratification; Holt and Smith 1979). To scale both
 * by one ratio would let outcomes that are known for certain have what the others stood for,
 * wherever none of these is left.
 *
 * A ratio of few weights is biased, too, for far reuses have few outcomes that weigh much. So
 * contexts with few outcomes of watches are scaled together (collapsed strata); then each has what
 * belongs to it: too much of its own goes to those that have too little, for their samples that
 * gave way, each of which has the outcome of another, drawn by weight. Of n outcomes each the bias
 * is some 1/n however many contexts there are, and what chance makes of all N some 1/sqrt(N): with
 * few contexts those with fewer than ENOUGH outcomes are better by themselves, too. */
#include "analyse/weigh_known.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ENOUGH 10
#define FEW    2

struct stratum { /* of a context: samples that were drawn for watches */
	double base;
	double kept, gave_way; /* weight of what is known of them, base of those that gave way */
	size_t n_kept;
	bool is_small; /* it is scaled together with others */
	double factor; /* for what is known */
	double spare;  /* that part of each goes to other contexts */
	double due;    /* what those that gave way have of others */
};

struct strata {
	struct loci_weigh_known *known;
	size_t n;
	struct stratum *stratum;
	size_t n_strata;
	double small_base, small_kept;
	struct lender {
		size_t number;
		double upto; /* the weight of it and those before */
	} * lender;
	size_t n_lenders;
};

static void strata_fini(struct strata *strata)
{
	free(strata->stratum);
	free(strata->lender);
}

static bool is_kept(const struct loci_weigh_known *known)
{
	return known->is_drawn && known->outcome.weight > 0;
}

static bool gave_way(const struct loci_weigh_known *known)
{
	return known->is_drawn && loci_weigh_gave_way(known);
}

static struct stratum *stratum_of(const struct strata *strata, const struct loci_weigh_known *known)
{
	return &strata->stratum[known->outcome.context];
}

static void add_up(struct strata *strata)
{
	for (size_t i = 0; i < strata->n; i++) {
		const struct loci_weigh_known *known = &strata->known[i];
		struct stratum *stratum = stratum_of(strata, known);

		if (!known->is_drawn)
			continue;
		stratum->base += known->base;
		if (gave_way(known)) {
			stratum->gave_way += known->base;
		} else {
			stratum->kept += known->outcome.weight;
			stratum->n_kept++;
		}
	}
}

static int compare_sizes(const void *left, const void *right)
{
	const struct stratum *const *a = left, *const *b = right;

	if ((*a)->n_kept != (*b)->n_kept)
		return (*a)->n_kept < (*b)->n_kept ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

static size_t enough(const struct strata *strata)
{
	size_t n = 0;

	for (size_t i = 0; i < strata->n_strata; i++)
		n += strata->stratum[i].n_kept;
	return (size_t)fmin(fmax(sqrt((double)n) / 2, FEW), ENOUGH);
}

/* Those that are too small by themselves, and, if even together they are, the next ones. */
static int find_small(struct strata *strata)
{
	loci_autofree struct stratum **by_size = calloc(strata->n_strata + 1, sizeof(*by_size));
	size_t n = 0, n_kept = 0, least = enough(strata);

	if (!by_size)
		return -ENOMEM;
	for (size_t i = 0; i < strata->n_strata; i++)
		if (strata->stratum[i].base > 0)
			by_size[n++] = &strata->stratum[i];
	qsort(by_size, n, sizeof(*by_size), compare_sizes);
	for (size_t i = 0; i < n; i++) {
		if (by_size[i]->n_kept >= least && (!i || n_kept >= least))
			break;
		by_size[i]->is_small = true;
		n_kept += by_size[i]->n_kept;
		strata->small_base += by_size[i]->base;
		strata->small_kept += by_size[i]->kept;
	}
	return 0;
}

static void find_factors(struct strata *strata)
{
	double factor = strata->small_kept > 0 ? strata->small_base / strata->small_kept : 0;

	for (size_t i = 0; i < strata->n_strata; i++) {
		struct stratum *stratum = &strata->stratum[i];
		double own = stratum->kept * factor;

		if (stratum->kept > 0)
			stratum->factor = stratum->base / stratum->kept;
		if (!stratum->is_small)
			continue;
		if (own > stratum->base) {
			stratum->spare = own - stratum->base;
		} else if (stratum->gave_way > 0) {
			stratum->factor = factor;
			stratum->due = stratum->base - own;
		}
	}
}

static int compare_lenders(const void *left, const void *right, void *data)
{
	const struct lender *a = left, *b = right;
	const struct loci_weigh_known *known = data;
	int order = loci_weigh_compare_distance(&known[a->number], &known[b->number]);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* What is spare; if nothing is, all that is known. By distance, so that those that draw in turn
 * draw of all distances. */
static int find_lenders(struct strata *strata)
{
	double spare = 0, sum = 0;

	for (size_t i = 0; i < strata->n_strata; i++)
		spare += strata->stratum[i].spare;
	strata->lender = calloc(strata->n + 1, sizeof(*strata->lender));
	if (!strata->lender)
		return -ENOMEM;
	for (size_t i = 0; i < strata->n; i++) {
		const struct loci_weigh_known *known = &strata->known[i];

		if (is_kept(known) && (!(spare > 0) || stratum_of(strata, known)->spare > 0))
			strata->lender[strata->n_lenders++].number = i;
	}
	qsort_r(strata->lender, strata->n_lenders, sizeof(*strata->lender), compare_lenders,
		strata->known);
	for (size_t i = 0; i < strata->n_lenders; i++) {
		const struct loci_weigh_known *known = &strata->known[strata->lender[i].number];
		const struct stratum *stratum = stratum_of(strata, known);
		double part = spare > 0 ? stratum->spare / stratum->kept : 1;

		strata->lender[i].upto = sum += known->outcome.weight * part;
	}
	return 0;
}

static size_t lender_at(const struct strata *strata, double part)
{
	double weight = part * strata->lender[strata->n_lenders - 1].upto;
	size_t low = 0, high = strata->n_lenders - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strata->lender[middle].upto >= weight)
			high = middle;
		else
			low = middle + 1;
	}
	return strata->lender[low].number;
}

static void lend(struct strata *strata, struct loci_weigh_context *context)
{
	size_t turn = 0;

	for (size_t i = 0; i < strata->n; i++) {
		struct loci_weigh_known *known = &strata->known[i];
		const struct stratum *stratum = stratum_of(strata, known);
		double weight;

		if (!gave_way(known) || !(stratum->due > 0))
			continue;
		weight = stratum->due * known->base / stratum->gave_way;
		if (!strata->n_lenders) { /* nothing is known of any such sample */
			context[known->outcome.context].unknown += weight;
			continue;
		}
		loci_weigh_borrow(strata->known, i,
			lender_at(strata, fmod(0.5 + (double)turn++ * LOCI_GOLDEN, 1)), weight);
	}
}

int loci_weigh_stratify(struct loci_weigh_known *known, size_t n,
	struct loci_weigh_context *context, size_t n_contexts)
{
	loci_cleanup(strata_fini) struct strata strata = {
		.known = known,
		.n = n,
		.stratum = calloc(n_contexts + 1, sizeof(*strata.stratum)),
		.n_strata = n_contexts,
	};

	if (!strata.stratum)
		return -ENOMEM;
	add_up(&strata);
	if (find_small(&strata) < 0)
		return -ENOMEM;
	find_factors(&strata);
	if (find_lenders(&strata) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (is_kept(&known[i]))
			known[i].outcome.weight *= stratum_of(&strata, &known[i])->factor;
	lend(&strata, context);
	for (size_t i = 0; i < n_contexts; i++)
		context[i].weight = 0;
	for (size_t i = 0; i < n; i++)
		if (!known[i].given_up)
			context[known[i].outcome.context].weight += known[i].outcome.weight;
	return 0;
}
