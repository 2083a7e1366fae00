/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of publishing share: ids of what has been put, and sums of owners. */
#ifndef LOCI_ANALYSE_PUBLISH_STATE_H
#define LOCI_ANALYSE_PUBLISH_STATE_H

#include "analyse/naming.h"
#include "analyse/publish.h"

/* What an owner's touches met: distances by bin as in spread.h, and levels. */
struct loci_counts {
	uint64_t bins[UINT8_MAX + 1];
	uint64_t times[UINT8_MAX + 1]; /* the same of time distances, where these are known */
	struct loci_level_tally level[LOCI_LEVELS];
};

/* What an owner's touches met in the stacks that threads have to themselves. */
struct loci_private_counts {
	uint64_t bins[UINT8_MAX + 1]; /* but coherence misses */
	struct loci_coherence met;
	uint64_t touches; /* all, of which the others may be estimates */
};

/* In the order of the code; its id is its place, from 1. */
struct loci_published_loop {
	int64_t module_id, function_id;
	const struct loci_ledger_loop *from;
	ptrdiff_t outer; /* the nearest before it that reaches to its header; -1: none */
};

struct loci_publication {
	struct loci_ledger *ledger;
	const struct loci_publish_options *options;
	struct loci_profile *profile;
	struct loci_naming naming;
	uint64_t refs;     /* of all sites */
	uint64_t all_refs; /* those without a site included */
	/* By number in the ledger; 0: not put. */
	uint32_t *site_rank; /* in the order of code, from 1 */
	int64_t *site_id, *context_id, *object_id, *loop_id, *region_id;
	struct loci_published_loop *loop;
	size_t n_loops;
	/* By number of the row. */
	int64_t *field_id, *access_id;
	uint32_t *row_order;   /* rows by site and object */
	size_t n_rows;         /* of them */
	uint64_t *site_misses; /* of the first level, by number in the ledger */
	int64_t coherence_id;  /* the last one put */
};

void loci_counts_add_row(
	struct loci_counts *counts, const struct loci_ledger *ledger, uint32_t row);
void loci_counts_add_context(
	struct loci_counts *counts, const struct loci_ledger *ledger, uint32_t context);
/* Its histogram, if wanted, and its levels into the profile. */
int loci_publish_counts(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	struct loci_counts *counts, bool histogram, struct loci_err *err);

/* What makes it one of samples, if there are any. 0 or -ENOMEM. */
int loci_publish_square(const struct loci_publication *p, struct loci_hist *hist);

/* The histogram alone, at the block size that is so many after the first. */
int loci_publish_side(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	unsigned side, const struct loci_counts *counts, struct loci_err *err);

/* publish_share.c, where the ledger has threads. */
void loci_private_add_row(
	struct loci_private_counts *counts, const struct loci_ledger *ledger, uint32_t row);
int loci_publish_private(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	struct loci_private_counts *counts, struct loci_err *err);
int loci_publish_sharing(struct loci_publication *p, struct loci_err *err);

/* In this order. */
int loci_publish_loops(struct loci_publication *p, struct loci_err *err);
int loci_publish_sites(struct loci_publication *p, struct loci_err *err);
int loci_publish_contexts(struct loci_publication *p, struct loci_err *err);
int loci_publish_objects(struct loci_publication *p, struct loci_err *err);
int loci_publish_pieces(struct loci_publication *p, struct loci_err *err);
int loci_publish_pairs(struct loci_publication *p, struct loci_err *err);
int loci_publish_regions(struct loci_publication *p, struct loci_err *err);
int loci_publish_phases(struct loci_publication *p, struct loci_err *err);
int loci_publish_footprints(struct loci_publication *p, struct loci_err *err);
int loci_publish_blocks(struct loci_publication *p, struct loci_err *err);

/* Those of fixed code, with ids after this one. */
int loci_publish_fixed_loops(struct loci_publication *p, int64_t id, struct loci_err *err);
/* The innermost loop around a site of fixed code: its number in the ledger, LOCI_NO_LOOP: none. 1:
 * it is such a site, 0: it is not. */
int loci_publish_fixed_loop_of(struct loci_publication *p, const struct loci_site *site,
	uint32_t *ret, struct loci_err *err);
/* The symbols' loop of that number, as it was put; 0: it was not. */
int64_t loci_publish_fixed_loop_id(
	const struct loci_publication *p, uint32_t module, uint64_t loop);
/* The innermost loop around an address of a function; 0: none. */
int64_t loci_publish_loop_of(
	const struct loci_publication *p, int64_t function_id, uint32_t module, uint64_t offset);

#endif
