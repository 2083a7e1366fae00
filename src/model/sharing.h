/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads take from each other by writing: coherence misses, by the two lines and the data,
 * and whether it is the same bytes (true sharing) or only the same block (false sharing). */
#ifndef LOCI_MODEL_SHARING_H
#define LOCI_MODEL_SHARING_H

#include "model/catalogue.h"

/* One side of it; NULL: unknown. */
struct loci_sharing_side {
	const struct loci_site_row *site;
	const struct loci_object_row *object;
	const struct loci_field_row *field;
};

/* Two lines at the same data: all their sites, whichever takes it from the other. */
struct loci_sharing_case {
	bool is_false;
	struct loci_sharing_side writer, misser; /* of those that make most of its misses */
	bool is_mutual;                          /* both take it from the other */
	uint64_t misses;
	uint64_t threads; /* pairs of threads seen, at least */
};

struct loci_sharing {
	struct loci_catalogue catalogue;
	uint64_t block_bytes;
	const struct loci_coherence_row *whole;      /* NULL: no threads share memory */
	const struct loci_shared_blocks_row *blocks; /* or NULL */
	struct loci_sharing_case *row;               /* the most misses first */
	size_t n_rows;
};

/* A profile without threads that share memory has whole == NULL and no rows. */
int loci_sharing_new(struct loci_profile *profile, uint64_t block_bytes, struct loci_sharing *ret,
	struct loci_err *err);
void loci_sharing_fini(struct loci_sharing *sharing);

/* What one owner met of others, or NULL. */
const struct loci_coherence_row *loci_sharing_of(const struct loci_catalogue *catalogue,
	enum loci_owner owner, int64_t owner_id, uint64_t block_bytes);

/* Whether both sides are one piece of data, as far as is known. */
bool loci_sharing_is_one(const struct loci_sharing_case *c);

#endif
