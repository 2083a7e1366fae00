/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding up the dimensions of several profiles: rows that stand for one thing become one row.
 * Private to this room. */
#ifndef LOCI_PROFILE_FOLD_H
#define LOCI_PROFILE_FOLD_H

#include "profile/column.h"
#include "profile/key_set.h"

struct fold_table {
	char *row; /* in the order in which they first came; ids are 1, 2, 3, .. */
	size_t n, room;
	struct key_set keys;
	struct fold_seen {
		size_t input, n; /* how often the last input to have the key had it */
	} * seen;
	int64_t *map; /* the present input's rows -> ids here */
};

struct fold { /* all 0 to begin with */
	struct fold_table table[TABLE_END];
	struct text_pool texts;
	uint64_t *regular; /* of accesses: the most regular references of one input */
	size_t inputs, threads;
	uint64_t grains;   /* block sizes that all inputs have, or'ed .. */
	uint64_t coherent; /* .. and at which threads met, in all that have a reference */
	size_t busy, with[TABLE_END]; /* inputs that have a reference; of them those with rows */
	bool other_levels;            /* their caches differ */
};

int loci_fold_add(struct fold *fold, struct loci_profile *profile, struct loci_err *err);
/* The id here of an owner of the profile added last; 0: it has none. */
int64_t loci_fold_owner(const struct fold *fold, const struct loci_profile *profile,
	enum loci_owner owner, int64_t owner_id);
int64_t loci_fold_process(
	const struct fold *fold, const struct loci_profile *profile, int64_t process_id);
/* Whether what is known of such owners is known of all inputs, and here. */
bool loci_fold_is_whole(const struct fold *fold, enum loci_owner owner);
/* Appends to *note what is left out. */
int loci_fold_note(const struct fold *fold, char **note, struct loci_err *err);
int loci_fold_put(const struct fold *fold, struct loci_profile *profile, struct loci_err *err);
void loci_fold_fini(struct fold *fold);

static inline void *loci_fold_row(const struct fold *fold, enum table_id id, size_t i)
{
	return fold->table[id].row + i * loci_dimension_table(id)->row_bytes;
}

/* fold_value.c: adds one member of row to that of sum. */
void loci_fold_column(
	const struct fold *fold, const struct column *column, void *sum, const void *row);
/* An access's stride becomes that of the run that had most of it. 0 or -ENOMEM. */
int loci_fold_stride(struct fold *fold, size_t i, const struct loci_access_row *row, bool is_new);

#endif
