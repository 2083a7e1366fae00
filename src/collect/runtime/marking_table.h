/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of marking share. */
#ifndef LOCI_COLLECT_RUNTIME_MARKING_TABLE_H
#define LOCI_COLLECT_RUNTIME_MARKING_TABLE_H

#include "collect/runtime/marking.h"

struct loci_marking_name {
	uint64_t hash, string, times; /* id; how often, of a mistake */
	size_t n;
	char text[];
};

/* Open addressing, at most half full. */
struct loci_marking_names {
	size_t n, mask;
	struct loci_marking_name *slot[];
};

struct loci_marking_object {
	uint64_t base, bytes, element_bytes; /* bytes 0: the slot is free */
	const struct loci_marking_name *name;
};

struct loci_marking_objects {
	size_t n, mask;
	struct loci_marking_object slot[];
};

struct loci_marking_told {
	uint64_t site, descriptor, id; /* id 0: the slot is free */
};

struct loci_marking_blocks {
	size_t n, mask;
	struct loci_marking_told slot[];
};

/* NULL: no memory. */
struct loci_marking_name *loci_marking_name(
	struct loci_marking *marking, const char *text, size_t n);
/* Counts and tells a mistake: the three texts, with names between. */
void loci_marking_mistake(struct loci_marking *marking, void *to, const char *before,
	const struct loci_marking_name *one, const char *between,
	const struct loci_marking_name *other, const char *after);

void loci_marking_objects_again(struct loci_marking *marking, void *to);
void loci_marking_blocks_again(struct loci_marking *marking); /* lock held */

static inline size_t loci_marking_home(uint64_t key, size_t mask)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;
}

#endif
