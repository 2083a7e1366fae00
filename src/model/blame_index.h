/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a blame keeps to itself: the rows of the table that its owners are made of, and which owner
 * each belongs to. */
#ifndef LOCI_MODEL_BLAME_INDEX_H
#define LOCI_MODEL_BLAME_INDEX_H

#include "model/blame.h"

struct loci_blame_index {
	enum loci_owner base; /* whose rows the owners are made of */
	const char *rows;
	size_t n, row_bytes;
	double *misses;      /* of each, at the chosen level */
	uint32_t *member;    /* row numbers of the base, owner by owner */
	uint32_t *serial_of; /* row number of the base -> the owner's serial */
	struct loci_blame_thread *thread;
	/* Accesses, owner by owner: made when first asked for. */
	uint32_t *access, *access_first;
	double *access_misses;
	uint32_t private_owners;
};

/* Row number of an id in the base, or SIZE_MAX. */
size_t loci_blame_base_find(const struct loci_blame_index *index, int64_t id);

/* blame_levels.c: fills misses (n of them) of the rows of a table, by counts or by histograms. rows
 * is an array whose rows begin with their ids. touches, writebacks and level_misses
 * (LOCI_LEVELS_MAX each) may be NULL. */
struct loci_blame_counts {
	double *misses, *touches, *writebacks, *level_misses;
};
int loci_blame_count(const struct loci_blame *blame, enum loci_owner owner, const char *rows,
	size_t n, size_t row_bytes, const struct loci_blame_counts *ret, struct loci_err *err);

/* blame_levels.c: whether owners of the kind have histograms of the block size. */
bool loci_blame_has_hists(
	const struct loci_profile *profile, enum loci_owner owner, uint64_t block_bytes);

/* blame_levels.c: what the owners met of other threads, where that was counted by such owners;
 * before they are sorted. */
void loci_blame_count_sharing(struct loci_blame *blame);

/* blame_levels.c: those that have private distances, where the chosen level is private; a bit by
 * enum loci_owner. */
uint32_t loci_blame_private_owners(
	const struct loci_profile *profile, const struct loci_blame_levels *levels);

/* By which an owner is judged. */
static inline enum loci_distance loci_blame_distance(
	const struct loci_blame *blame, enum loci_owner owner)
{
	return blame->index->private_owners >> owner & 1 ? LOCI_DISTANCE_PRIVATE
							 : LOCI_DISTANCE_STACK;
}

#endif
