// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/survival.h"

#include "hist/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const struct loci_survival_outcome *a = left, *b = right;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->distance > b->distance) - (a->distance < b->distance);
}

static void add_up(struct loci_survival_outcome *outcome, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct loci_survival_outcome *one = &outcome[i];
		const struct loci_survival_outcome none = { 0 }, *before = i ? one - 1 : &none;
		double distance = one->distance == LOCI_INFINITE ? 0 : (double)one->distance;

		one->square = one->weight * one->weight;
		one->reach = before->reach + one->weight * distance;
		one->square_reach = before->square_reach + one->square * distance;
		one->square_reach2 = before->square_reach2 + one->square * distance * distance;
		one->weight += before->weight;
		one->square += before->square;
	}
}

int loci_survival_init(struct loci_survival *survival, struct loci_survival_outcome *outcome,
	size_t n, size_t contexts)
{
	size_t at = 0;

	*survival = (struct loci_survival){ outcome, n,
		calloc((contexts ? contexts : 1) + 1, sizeof(*survival->first)) };
	if (!survival->first) {
		free(outcome);
		return -ENOMEM;
	}
	for (size_t i = 0; !contexts && i < n; i++)
		outcome[i].context = 0;
	qsort(outcome, n, sizeof(*outcome), compare);
	for (uint32_t i = 0; i < (contexts ? contexts : 1); i++) {
		survival->first[i] = at;
		while (at < n && outcome[at].context == i)
			at++;
		add_up(&outcome[survival->first[i]], at - survival->first[i]);
	}
	survival->first[contexts ? contexts : 1] = at;
	return 0;
}

void loci_survival_fini(struct loci_survival *survival)
{
	free(survival->outcome);
	free(survival->first);
}

double loci_survival_weight(const struct loci_survival *survival, uint32_t context)
{
	size_t end = survival->first[context + 1];

	return end > survival->first[context] ? survival->outcome[end - 1].weight : 0;
}

/* The last that is nearer than this. */
static const struct loci_survival_outcome *before(
	const struct loci_survival *survival, uint32_t context, uint64_t distance)
{
	static const struct loci_survival_outcome none;
	size_t low = survival->first[context], high = survival->first[context + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (survival->outcome[middle].distance < distance)
			low = middle + 1;
		else
			high = middle;
	}
	return low > survival->first[context] ? &survival->outcome[low - 1] : &none;
}

/* The mean of the lesser of the distance and those of outcomes, less 1. */
double loci_survival_expected(
	const struct loci_survival *survival, uint32_t context, uint64_t distance)
{
	const struct loci_survival_outcome *near = before(survival, context, distance);
	double weight = loci_survival_weight(survival, context);

	return (near->reach + (double)distance * (weight - near->weight)) / weight - 1;
}

struct loci_survival_chance loci_survival_chance(
	const struct loci_survival *survival, uint32_t context, uint64_t distance)
{
	const struct loci_survival_outcome *near = before(survival, context, distance);
	double touches = (double)distance - 1, mean, part, part2, far;

	if (!(loci_survival_weight(survival, context) > 0) || !(touches > 0))
		return (struct loci_survival_chance){ 0 };
	mean = loci_survival_expected(survival, context, distance) / touches;
	far = survival->outcome[survival->first[context + 1] - 1].square - near->square;
	/* of the nearer ones: the part of the touches that they stay for, and its square */
	part = (near->square_reach - near->square) / touches;
	part2 = (near->square_reach2 - 2 * near->square_reach + near->square) / (touches * touches);
	return (struct loci_survival_chance){
		.part = fmax(0,
			part2 - 2 * mean * part + mean * mean * near->square +
				far * (1 - mean) * (1 - mean)),
		.place = fmax(0, part - part2),
	};
}
