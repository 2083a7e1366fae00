/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A further block size of attributed references: touches with the rows they belong to, on their way
 * to the size's own engine, and what that says of each, by row. The first block size has more:
 * contexts, pairs and caches (measure.h). */
#ifndef LOCI_ANALYSE_SIDE_H
#define LOCI_ANALYSE_SIDE_H

#include "analyse/grain.h"
#include "analyse/spread.h"

struct loci_side {
	struct loci_grain_engine *grain; /* borrowed */
	unsigned shift;                  /* of the block size */
	struct loci_spread rows;
	uint64_t near; /* counts since there was room for them */
	uint64_t straddles;
	size_t n, n_seconds;
	uint32_t n_rows; /* numbers in use so far */
	uint64_t block[LOCI_GRAIN_TOUCHES];
	uint64_t distance[LOCI_GRAIN_TOUCHES];
	uint32_t row[LOCI_GRAIN_TOUCHES];
	uint32_t second[LOCI_GRAIN_TOUCHES];
	uint8_t is_write[LOCI_GRAIN_TOUCHES];
};

int loci_side_new(struct loci_grain_engine *grain, uint64_t block_bytes, struct loci_side **ret,
	struct loci_err *err);
void loci_side_free(struct loci_side *side); /* NULL allowed */
/* After the last touch, and before. */
int loci_side_flush(struct loci_side *side, struct loci_err *err);

/* is_second: of the two blocks that a reference straddles. */
static inline int loci_side_touch(struct loci_side *side, uint64_t block, bool is_write,
	uint32_t row, bool is_second, struct loci_err *err)
{
	size_t n = side->n++;

	if (is_second)
		side->second[side->n_seconds++] = (uint32_t)n;
	side->block[n] = block;
	side->is_write[n] = is_write;
	side->row[n] = row;
	if (row >= side->n_rows)
		side->n_rows = row + 1;
	return n + 1 == LOCI_GRAIN_TOUCHES ? loci_side_flush(side, err) : 0;
}

#endif
