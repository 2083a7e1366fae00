/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For how long blocks are not touched again after touches of a context: the outcomes of its
 * samples, sorted by distance, with sums, so that questions about any distance take a search. */
#ifndef LOCI_ANALYSE_SURVIVAL_H
#define LOCI_ANALYSE_SURVIVAL_H

#include <stddef.h>
#include <stdint.h>

struct loci_survival_outcome {
	uint32_t context;  /* below their number */
	uint64_t distance; /* touches; LOCI_INFINITE: never reused */
	double weight;
	double square; /* of the weight; both, once settled, with all before it .. */
	double reach, square_reach, square_reach2; /* .. and times the distance, and its square */
};

struct loci_survival {
	struct loci_survival_outcome *outcome;
	size_t n;
	size_t *first; /* of a context; the next one's ends them */
};

/* outcome: of malloc, taken over, filled in up to weight. contexts: all as one, if 0. 0 or -ENOMEM,
 * when it need not be ended. */
int loci_survival_init(struct loci_survival *survival, struct loci_survival_outcome *outcome,
	size_t n, size_t contexts);
void loci_survival_fini(struct loci_survival *survival);

/* Of a context with weight: what StatStack expects of a reuse at this distance, the touches that
 * stay the last of their block if all in between are this context's. */
double loci_survival_expected(
	const struct loci_survival *survival, uint32_t context, uint64_t distance);
/* All weight; 0: there is no outcome. */
double loci_survival_weight(const struct loci_survival *survival, uint32_t context);
/* Sums of squared weights times: the square of by how much the part that stays differs from what is
 * expected, and the variance of whether it does at a random place in between. */
struct loci_survival_chance {
	double part, place;
};
struct loci_survival_chance loci_survival_chance(
	const struct loci_survival *survival, uint32_t context, uint64_t distance);

#endif
