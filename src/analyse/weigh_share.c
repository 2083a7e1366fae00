// SPDX-License-Identifier: GPL-2.0-or-later
/* A sample that was given up, and not for another, was not reused until then: what it stood for
 * goes to those that were watched for longer (Efron 1967). */
#include "analyse/weigh_known.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Outcomes and open samples by context and distance; then those that are left, of all contexts, by
 * distance, and the weight of these up to each, with what they have of others. */
struct sharing {
	struct loci_weigh_known **at;
	double *later; /* weight of those behind it, in its context or of what is left */
	size_t n;
	struct loci_weigh_known *
		*left; /* outcomes, and what is open if none of its context is later */
	double *upto;
	size_t n_left;
};

static void sharing_fini(struct sharing *sharing)
{
	free(sharing->at);
	free(sharing->later);
	free(sharing->left);
	free(sharing->upto);
}

static int compare_at(const void *left, const void *right)
{
	const struct loci_weigh_known *const *a = left, *const *b = right;
	int order = loci_weigh_compare(*a, *b);

	return order ? order : (*a > *b) - (*a < *b);
}

/* As above, whatever the context. */
static int compare_left(const void *left, const void *right)
{
	const struct loci_weigh_known *const *a = left, *const *b = right;
	int order = loci_weigh_compare_distance(*a, *b);

	return order ? order : (*a > *b) - (*a < *b);
}

static int sharing_init(struct sharing *sharing, struct loci_weigh_known *known, size_t n)
{
	*sharing = (struct sharing){ .at = calloc(n + 1, sizeof(*sharing->at)),
		.later = calloc(n + 1, sizeof(*sharing->later)),
		.left = calloc(n + 1, sizeof(*sharing->left)),
		.upto = calloc(n + 1, sizeof(*sharing->upto)) };
	if (!sharing->at || !sharing->later || !sharing->left || !sharing->upto)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!loci_weigh_gave_way(&known[i]))
			sharing->at[sharing->n++] = &known[i];
	}
	qsort(sharing->at, sharing->n, sizeof(*sharing->at), compare_at);
	return 0;
}

/* What an open sample stood for, with what it had of others, goes to all of its context that were
 * watched for longer, open ones too, as far as these stand for (Efron 1967): by then all of them
 * have grown alike. */
static void share_within(
	struct sharing *sharing, struct loci_weigh_context *contexts, size_t from, size_t to)
{
	struct loci_weigh_context *context = &contexts[sharing->at[from]->outcome.context];
	double sum = 0, grown = 1;
	size_t n_later = 0;

	for (size_t i = to; i-- > from;) {
		sharing->later[i] = sum;
		sum += sharing->at[i]->outcome.weight;
		n_later += !sharing->at[i]->given_up;
	}
	for (size_t i = from; i < to; i++) {
		struct loci_weigh_known *known = sharing->at[i];
		double weight = known->outcome.weight;

		if (!known->given_up) {
			known->outcome.weight *= grown;
			context->weight += known->outcome.weight - weight;
			sharing->left[sharing->n_left++] = known;
			n_later--;
		} else if (n_later && sharing->later[i] > 0) {
			grown *= 1 + weight / sharing->later[i];
		} else {
			known->outcome.weight *= grown;
			sharing->left[sharing->n_left++] = known;
		}
	}
}

/* The first of what is left up to which there is as much as that. */
static size_t first_beyond(const struct sharing *sharing, size_t low, double weight)
{
	size_t high = sharing->n_left - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sharing->upto[middle] >= weight)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* As within a context. */
static void grow_left(struct sharing *sharing)
{
	double sum = 0, grown = 1;
	size_t n = 0; /* up to the last outcome */

	for (size_t i = sharing->n_left; i-- > 0;) {
		sharing->later[i] = sum;
		sum += sharing->left[i]->outcome.weight;
		if (!n && !sharing->left[i]->given_up)
			n = i + 1;
	}
	sum = 0;
	for (size_t i = 0; i < sharing->n_left; i++) {
		const struct loci_weigh_known *known = sharing->left[i];

		if (known->given_up && i < n)
			grown *= 1 + known->outcome.weight / sharing->later[i];
		else
			sum += known->outcome.weight * grown;
		sharing->upto[i] = sum;
	}
}

/* One whose context has none that is later has an outcome like one of all that were watched for
 * longer, taken in turn. If that is open, too, or there is none, nothing is known. */
static void share_lone(const struct sharing *sharing, struct loci_weigh_known *known,
	struct loci_weigh_context *contexts, size_t number, double turn)
{
	struct loci_weigh_known *lone = sharing->left[number];
	struct loci_weigh_context *context = &contexts[lone->outcome.context];
	double before = sharing->upto[number], all = sharing->upto[sharing->n_left - 1];
	double weight = lone->outcome.weight;
	const struct loci_weigh_known *like = lone;

	if (number + 1 < sharing->n_left)
		like = sharing->left[first_beyond(
			sharing, number + 1, before + turn * (all - before))];
	if (like->given_up) {
		context->unknown += weight;
		return;
	}
	loci_weigh_borrow(known, (size_t)(lone - known), (size_t)(like - known), weight);
	context->weight += weight;
	context->has_outcome = true;
}

int loci_weigh_share_out(
	struct loci_weigh_known *known, size_t n, struct loci_weigh_context *context)
{
	loci_cleanup(sharing_fini) struct sharing sharing = { 0 };
	size_t open = 0, turn = 0;

	for (size_t i = 0; i < n; i++)
		open += loci_weigh_is_open(&known[i]);
	if (!open)
		return 0;
	if (sharing_init(&sharing, known, n) < 0)
		return -ENOMEM;
	for (size_t from = 0, to; from < sharing.n; from = to) {
		for (to = from; to < sharing.n; to++)
			if (sharing.at[to]->outcome.context != sharing.at[from]->outcome.context)
				break;
		share_within(&sharing, context, from, to);
	}
	qsort(sharing.left, sharing.n_left, sizeof(*sharing.left), compare_left);
	grow_left(&sharing);
	for (size_t i = 0; i < sharing.n_left; i++)
		if (sharing.left[i]->given_up)
			share_lone(&sharing, known, context, i,
				fmod(0.5 + (double)turn++ * LOCI_GOLDEN, 1));
	return 0;
}
