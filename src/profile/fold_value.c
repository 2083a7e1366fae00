// SPDX-License-Identifier: GPL-2.0-or-later
/* How the values of two rows become one, so that the order of rows does not matter. */
#include "profile/fold.h"

#include "profile/sum.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned loop_depth(const struct fold *fold, int64_t id)
{
	unsigned depth = 0;

	for (; id; depth++) {
		const struct loci_loop_row *loop = loci_fold_row(fold, TABLE_loop, (size_t)id - 1);

		id = loop->parent_id;
	}
	return depth;
}

/* Runs may disagree on the loop around a site, since loops are found in what ran: the innermost;
 * of two such the one that is first in its source. */
static int64_t better_loop(const struct fold *fold, int64_t a, int64_t b)
{
	unsigned depth_a = loop_depth(fold, a), depth_b = loop_depth(fold, b);
	const struct loci_loop_row *loop;

	if (a == b || depth_a != depth_b)
		return depth_b > depth_a ? b : a;
	loop = (const void *)fold->table[TABLE_loop].row;
	return loop[b - 1].line < loop[a - 1].line ? b : a;
}

static const char *least_text(const char *a, const char *b)
{
	if (!a || !b)
		return a ? a : b;
	return strcmp(b, a) < 0 ? b : a;
}

int loci_fold_stride(struct fold *fold, size_t i, const struct loci_access_row *row, bool is_new)
{
	struct loci_access_row *sum = loci_fold_row(fold, TABLE_access, i);
	uint64_t *regular = fold->regular;

	if (is_new && (i & (i - 1)) == 0) {
		regular = realloc(regular, (i ? 2 * i : 1) * sizeof(*regular));
		if (!regular)
			return -ENOMEM;
		fold->regular = regular;
	}
	if (is_new || row->regular_refs > regular[i] ||
		(row->regular_refs == regular[i] && row->stride_bytes < sum->stride_bytes)) {
		regular[i] = row->regular_refs;
		sum->stride_bytes = row->stride_bytes;
	}
	return 0;
}

/* Relative, of the sum of two estimates. */
static double sum_error(const struct loci_footprint_row *a, const struct loci_footprint_row *b)
{
	double bytes = a->touched_bytes + b->touched_bytes;

	return bytes > 0 ? hypot(a->error * a->touched_bytes, b->error * b->touched_bytes) / bytes
			 : 0;
}

void loci_fold_column(
	const struct fold *fold, const struct column *column, void *sum, const void *row)
{
	void *to = (char *)sum + column->offset;
	const void *from = (const char *)row + column->offset;
	uint64_t *a = to;
	const uint64_t *b = from;

	switch (column->fold) {
	case FOLD_KEY:
	case FOLD_STRIDE:
		break;
	case FOLD_SUM:
		*a = loci_sum_u64(*a, *b);
		break;
	case FOLD_REAL:
		*(double *)to += *(const double *)from;
		break;
	case FOLD_ERROR:
		*(double *)to = sum_error(sum, row);
		break;
	case FOLD_LEAST:
		*a = *b < *a ? *b : *a;
		break;
	case FOLD_MOST:
		*a = *b > *a ? *b : *a;
		break;
	case FOLD_MOST_LINE:
		if (*(const unsigned *)from > *(unsigned *)to)
			*(unsigned *)to = *(const unsigned *)from;
		break;
	case FOLD_TEXT:
		*(const char **)to = least_text(*(const char **)to, *(const char *const *)from);
		break;
	case FOLD_LOOP:
		*(int64_t *)to = better_loop(fold, *(int64_t *)to, *(const int64_t *)from);
		break;
	case FOLD_LAST: { /* never, if not in all of them */
		bool *has_a = (bool *)((char *)sum + column->flag);
		bool has_b = *(const bool *)((const char *)row + column->flag);

		*has_a = *has_a && has_b;
		*a = !*has_a ? 0 : *b > *a ? *b : *a;
	}
	}
}
