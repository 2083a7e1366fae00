/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the weigher (weigh.h) knows of samples when all is told, for the steps that settle weights:
 * first strata, where samples that took part in lotteries stand for all that did
 * (loci_weigh_stratify), then what was given up goes to those that were watched for longer
 * (loci_weigh_share_out). */
#ifndef LOCI_ANALYSE_WEIGH_KNOWN_H
#define LOCI_ANALYSE_WEIGH_KNOWN_H

#include "analyse/weigh.h"

#define LOCI_GOLDEN 0.6180339887498949 /* whose multiples, modulo 1, are spread evenly */

struct loci_weigh_context {
	uint64_t key, samples;
	double base, weight; /* of its samples, and of its outcomes */
	double unknown;      /* of samples that were given up, which no outcome stands for */
	double touches;      /* by shares of any samples */
	bool has_outcome;    /* of its own, or for what was given up */
};

/* An outcome, or what was given up: Kaplan-Meier learns from that for how long it was not reused.
 */
struct loci_weigh_known {
	struct loci_weigh_outcome outcome; /* context is its number until the end; distance is of
					      what was given up, too */
	double base;
	uint32_t thread;
	uint64_t from, to; /* references of the thread; of what is never reused nothing */
	uint64_t in_parts; /* touches beside theirs */
	bool at_once;
	bool is_drawn;  /* its sample took part in the lotteries */
	bool is_beyond; /* what is reused in any burst, which is of references and not touches */
	size_t teller;  /* whose outcome it has, one more than its number; 0: its own */
	bool given_up;
};

/* By distance; at the same one outcomes before what was given up. Who was given up was not reused
 * for as many references as others are followed, whatever number of touches that is. */
static inline int loci_weigh_compare_distance(
	const struct loci_weigh_known *a, const struct loci_weigh_known *b)
{
	if (a->is_beyond != b->is_beyond)
		return (int)a->is_beyond - (int)b->is_beyond;
	if (a->outcome.distance != b->outcome.distance)
		return a->outcome.distance < b->outcome.distance ? -1 : 1;
	return (int)a->given_up - (int)b->given_up;
}

/* By context, and so. */
static inline int loci_weigh_compare(
	const struct loci_weigh_known *a, const struct loci_weigh_known *b)
{
	if (a->outcome.context != b->outcome.context)
		return a->outcome.context < b->outcome.context ? -1 : 1;
	return loci_weigh_compare_distance(a, b);
}

/* A sample that was given up, and not for another: it would have met its reuse later. */
static inline bool loci_weigh_is_open(const struct loci_weigh_known *known)
{
	return known->given_up && known->outcome.weight > 0;
}

/* One that gave way to another, which has what it stood for. */
static inline bool loci_weigh_gave_way(const struct loci_weigh_known *known)
{
	return known->given_up && !(known->outcome.weight > 0);
}

/* Lets the known of that number have what became of another, with a weight of its own. */
static inline void loci_weigh_borrow(
	struct loci_weigh_known *known, size_t number, size_t from, double weight)
{
	struct loci_weigh_known own = known[number], *borrower = &known[number];

	*borrower = known[from];
	if (!borrower->teller)
		borrower->teller = from + 1;
	borrower->base = own.base;
	borrower->is_drawn = own.is_drawn;
	borrower->outcome.context = own.outcome.context;
	borrower->outcome.use = own.outcome.use;
	borrower->outcome.weight = weight;
	borrower->outcome.is_borrowed = true;
}

int loci_weigh_stratify(struct loci_weigh_known *known, size_t n,
	struct loci_weigh_context *context, size_t n_contexts);
int loci_weigh_share_out(
	struct loci_weigh_known *known, size_t n, struct loci_weigh_context *context);

#endif
