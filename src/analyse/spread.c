// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/spread.h"

#include "analyse/grow.h"
#include "engine/stack.h"

#define BIN_SHIFT  LOCI_SPREAD_BIN_SHIFT
#define COUNT_MASK ((1ull << BIN_SHIFT) - 1)
#define FIRST_CAP  2
#define SOUGHT     32 /* times before there is an array */

void loci_spread_far_fini(struct loci_spread_far *far)
{
	free(far->slot);
	free(far->flat);
	*far = (struct loci_spread_far){ 0 };
}

void loci_spread_fini(struct loci_spread *spread)
{
	for (size_t i = 0; i < spread->far_cap; i++)
		loci_spread_far_fini(&spread->far[i]);
	free(spread->far);
	free(spread->near);
	*spread = (struct loci_spread){ 0 };
}

int loci_spread_reserve(struct loci_spread *spread, size_t n)
{
	int r = loci_grow_lines(&spread->near, &spread->near_cap, n, sizeof(*spread->near));

	return r < 0 ? r : loci_grow(&spread->far, &spread->far_cap, n, sizeof(*spread->far));
}

/* What was found moves one place forward: the frequent bins come to the front. */
int loci_spread_far_add(struct loci_spread_far *far, unsigned bin, uint64_t count)
{
	uint64_t *slot = far->slot;
	uint16_t i = 0;

	while (i < far->n && slot[i] >> BIN_SHIFT != bin)
		i++;
	if (i == far->n) {
		if (far->n == far->cap) {
			uint16_t cap = far->cap ? (uint16_t)(2 * far->cap) : FIRST_CAP;

			slot = realloc(far->slot, cap * sizeof(*slot));
			if (!slot)
				return -ENOMEM;
			far->slot = slot;
			far->cap = cap;
		}
		slot[far->n++] = (uint64_t)bin << BIN_SHIFT | count;
		return 0;
	}
	slot[i] += count;
	if (i) {
		uint64_t found = slot[i];

		slot[i] = slot[i - 1];
		slot[i - 1] = found;
	}
	return 0;
}

int loci_spread_far_seek(struct loci_spread_far *far, unsigned bin, uint32_t n)
{
	if (++far->sought == SOUGHT && !far->flat) {
		far->flat = calloc(LOCI_SPREAD_FLAT, sizeof(*far->flat));
		if (!far->flat)
			return -ENOMEM;
	}
	return loci_spread_far_add(far, bin, n);
}

int loci_spread_add(struct loci_spread *spread, uint32_t owner, unsigned bin, uint64_t count)
{
	if (!count)
		return 0;
	if (bin < LOCI_SPREAD_NEAR && spread->near[owner][bin] + count <= UINT32_MAX) {
		spread->near[owner][bin] += (uint32_t)count;
		return 0;
	}
	return loci_spread_far_add(&spread->far[owner], bin, count);
}

int loci_spread_near_clear(struct loci_spread *spread)
{
	for (size_t i = 0; i < spread->near_cap; i++)
		for (unsigned bin = 0; bin < LOCI_SPREAD_NEAR; bin++) {
			uint32_t *count = &spread->near[i][bin];

			if (*count <= LOCI_SPREAD_NEAR_COUNTS)
				continue;
			if (loci_spread_far_add(&spread->far[i], bin, *count) < 0)
				return -ENOMEM;
			*count = 0;
		}
	return 0;
}

void loci_spread_far_collect(const struct loci_spread_far *far, uint64_t *bins)
{
	for (uint16_t i = 0; i < far->n; i++)
		bins[far->slot[i] >> BIN_SHIFT] += far->slot[i] & COUNT_MASK;
	for (unsigned i = 0; far->flat && i < LOCI_SPREAD_FLAT; i++)
		bins[LOCI_SPREAD_FLAT_FROM + i] += far->flat[i];
}

void loci_spread_collect(const struct loci_spread *spread, uint32_t owner, uint64_t *bins)
{
	if (owner >= spread->near_cap)
		return;
	for (unsigned i = 0; i < LOCI_SPREAD_NEAR; i++)
		bins[i] += spread->near[owner][i];
	loci_spread_far_collect(&spread->far[owner], bins);
}

int loci_spread_hist(const uint64_t *bins, uint32_t unknown_from, struct loci_hist *hist)
{
	double unknown = (double)bins[LOCI_SPREAD_UNSAMPLED], known, scale;

	loci_hist_init(hist, LOCI_SCHEME_COARSE);
	if (loci_hist_from_counts(hist, bins, LOCI_SPREAD_UNSAMPLED) < 0)
		return -ENOMEM;
	hist->cold = (double)bins[LOCI_SPREAD_COLD];
	known = hist->cold;
	for (uint32_t i = unknown_from; i < hist->n_bins; i++)
		known += hist->weight[i];
	if (unknown == 0 || known == 0)
		return 0;
	scale = (known + unknown) / known;
	hist->cold *= scale;
	for (uint32_t i = unknown_from; i < hist->n_bins; i++)
		hist->weight[i] *= scale;
	return 0;
}
