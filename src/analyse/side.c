// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/side.h"

#include <stdlib.h>

int loci_side_new(struct loci_grain_engine *grain, uint64_t block_bytes, struct loci_side **ret,
	struct loci_err *err)
{
	struct loci_side *side = calloc(1, sizeof(*side));

	*ret = side;
	if (!side)
		return loci_err_nomem(err);
	side->grain = grain;
	side->shift = (unsigned)__builtin_ctzll(block_bytes);
	return 0;
}

void loci_side_free(struct loci_side *side)
{
	if (!side)
		return;
	loci_spread_fini(&side->rows);
	free(side);
}

static int count(struct loci_side *side, size_t n)
{
	if (loci_spread_reserve(&side->rows, side->n_rows) < 0)
		return -1;
	side->near += n;
	if (side->near > LOCI_SPREAD_NEAR_COUNTS) {
		side->near = n;
		if (loci_spread_near_clear(&side->rows) < 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned bin = loci_spread_bin(side->distance[i]);

		loci_spread_near_count(&side->rows, side->row[i], bin);
		if (bin >= LOCI_SPREAD_NEAR &&
			loci_spread_far_count(&side->rows.far[side->row[i]], bin, 1) < 0)
			return -1;
	}
	return 0;
}

int loci_side_flush(struct loci_side *side, struct loci_err *err)
{
	size_t n = side->n;
	int r;

	loci_grain_halves(side->grain, side->second, side->n_seconds);
	loci_grain_straddled(side->grain, side->straddles);
	side->n = side->n_seconds = 0;
	side->straddles = 0;
	r = loci_grain_touches(
		side->grain, side->block, side->is_write, NULL, n, side->distance, NULL, err);
	if (r < 0)
		return r;
	return count(side, n) < 0 ? loci_err_nomem(err) : 0;
}
