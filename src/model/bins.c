// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/bins.h"

#include <stdbool.h>
#include <stddef.h>

#define QUIET 5e-5 /* rounds to less than 0.01 %: not worth a row of its own even at an edge */
#define SOFT  5e-4 /* not worth one elsewhere */

struct cutter {
	const struct loci_hist *hist[2];
	double total[2];
	struct loci_bins *bins;
	struct loci_bins_row row; /* the one being gathered */
};

/* Ends the row at high if it is loud enough, or if it must end here. */
static void end_row(struct cutter *c, uint64_t high, double threshold, bool must)
{
	double loudest = 0;

	c->row.high = high;
	for (unsigned i = 0; i < 2; i++) {
		c->row.share[i] = 0;
		if (c->total[i] > 0)
			c->row.share[i] = (loci_hist_at_least(c->hist[i], c->row.low, NULL) -
						  loci_hist_at_least(c->hist[i], high, NULL)) /
				c->total[i];
		if (c->row.share[i] > loudest)
			loudest = c->row.share[i];
	}
	if (loudest >= (must && threshold > QUIET ? QUIET : threshold) &&
		c->bins->n_rows < LOCI_BINS_ROWS)
		c->bins->row[c->bins->n_rows++] = c->row;
	else if (!must)
		return;
	c->row.low = high;
}

static void cut(struct cutter *c, const uint64_t *edge, unsigned n_edges, double threshold)
{
	unsigned e = 0;

	c->bins->n_rows = 0;
	c->row = (struct loci_bins_row){ 0 };
	for (unsigned log2 = 0; log2 <= 63; log2++) {
		uint64_t high = 1ull << log2;

		for (; e < n_edges && edge[e] < high; e++)
			if (edge[e] > c->row.low)
				end_row(c, edge[e], threshold, true);
		end_row(c, high, threshold, (e < n_edges && edge[e] == high) || log2 == 63);
	}
}

void loci_bins_cut(const struct loci_hist *first, const struct loci_hist *second,
	const uint64_t *edge, unsigned n_edges, unsigned max_rows, struct loci_bins *ret)
{
	struct cutter c = { .hist = { first, second }, .bins = ret };

	c.total[0] = loci_hist_total(first);
	c.total[1] = second ? loci_hist_total(second) : 0;
	for (double threshold = SOFT; threshold < 1; threshold *= 1.5) {
		cut(&c, edge, n_edges, threshold);
		if (ret->n_rows <= max_rows)
			return;
	}
}

void loci_bins_log2(const struct loci_hist *hist, struct loci_bins *ret)
{
	struct cutter c = { .hist = { hist, NULL }, .bins = ret };

	c.total[0] = loci_hist_total(hist);
	cut(&c, NULL, 0, 0);
	while (ret->n_rows && !(ret->row[ret->n_rows - 1].share[0] > 0))
		ret->n_rows--;
}
