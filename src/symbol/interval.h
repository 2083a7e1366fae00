/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of addresses, one inside another, made flat: disjoint pieces that each know the innermost
 * range around them, so that a lookup is one binary search and no tree is walked. */
#ifndef LOCI_SYMBOL_INTERVAL_H
#define LOCI_SYMBOL_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

struct loci_interval {
	uint64_t low, high; /* high is the first address outside */
	uint32_t id;
	uint32_t depth; /* of two that begin together the deeper one is the inner */
};

struct loci_intervals {
	struct loci_interval *items;
	size_t n, cap;
};

void loci_intervals_fini(struct loci_intervals *intervals);
/* 0 or -ENOMEM. An empty range is dropped. */
int loci_intervals_add(
	struct loci_intervals *intervals, uint64_t low, uint64_t high, uint32_t id, uint32_t depth);
/* Sorts and flattens what was added. Where ranges overlap without one holding the other (broken
 * debug information, wrong symbol sizes) the one that begins later wins. 0 or -ENOMEM. */
int loci_intervals_flatten(struct loci_intervals *intervals);
/* The piece around an address, or NULL. Flattened intervals only. */
const struct loci_interval *loci_intervals_find(
	const struct loci_intervals *intervals, uint64_t address);

#endif
