/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking along a thread's words, counting what they stand for in references. */
#ifndef LOCI_STREAM_ORDER_PLACE_H
#define LOCI_STREAM_ORDER_PLACE_H

#include "stream/order_state.h"

/* DEFINE or DEFINE_MORE. */
int loci_order_learn(struct loci_ordered *order, const uint64_t *marker, struct loci_err *err);

/* Addresses and BLOCKs, from *left references on down: as far as a marker of another kind, or where
 * *left is used up and the execution of a block is. Returns how many words that is. */
size_t loci_order_count(const struct loci_ordered *order, struct loci_order_place *place,
	const uint64_t *words, size_t n, int64_t *left);
/* A marker: how many references it stands for, or -ENOMEM. */
int64_t loci_order_count_marker(
	const struct loci_ordered *order, struct loci_order_place *place, const uint64_t *marker);

/* Whether the next address starts an execution, or none is known to be under way. */
static inline bool loci_order_is_between(const struct loci_order_place *place)
{
	const struct loci_cursor *cursor = &place->cursors.cursor;

	return cursor->next == cursor->first && !cursor->half;
}

/* References of a RUN each time. */
static inline unsigned loci_order_run_refs(const uint64_t *marker)
{
	return loci_word_n_raw(*marker) > 3 ? (loci_word_n_raw(*marker) - 2) / 2 : 1;
}

#endif
