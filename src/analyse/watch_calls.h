/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The return addresses of watched samples, until they are asked for: lists, equal ones once. */
#ifndef LOCI_ANALYSE_WATCH_CALLS_H
#define LOCI_ANALYSE_WATCH_CALLS_H

#include "analyse/keymap.h"
#include "stream/decode.h"

struct loci_watch_calls {
	uint64_t *back; /* of all lists, and of the one that grows */
	size_t n_back, back_cap;
	size_t *begin; /* of each list; it ends where the next one begins */
	size_t n, cap;
	struct loci_keymap ids; /* by digest of the list */
};

void loci_watch_calls_fini(struct loci_watch_calls *calls);
/* STACK: the list that grows gets longer. 0 or -ENOMEM, as the next one. */
int loci_watch_calls_add(struct loci_watch_calls *calls, const struct loci_event *event);
/* Ends it. *ret is its number plus one, or 0 if it is empty. */
int loci_watch_calls_end(struct loci_watch_calls *calls, uint32_t *ret);
/* What that stands for. */
const uint64_t *loci_watch_calls_list(
	const struct loci_watch_calls *calls, uint32_t list, size_t *ret_n);

#endif
