/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ledger into a profile. Rows are put in an order that depends on their names alone, so that the
 * same program gives the same profile. */
#ifndef LOCI_ANALYSE_PUBLISH_H
#define LOCI_ANALYSE_PUBLISH_H

#include "analyse/ledger.h"
#include "profile/dimension.h"

struct loci_publish_options {
	const uint64_t *block_bytes; /* of distances: the first, and those of its sides */
	bool sites;                  /* the streams told code addresses */
	bool no_source;
	const struct loci_level_row *levels; /* ids are given here */
	double sample_weight;                /* of samples, on average; 0: all was counted */
	int64_t coherence_id;                /* the last one put */
	/* What a reader must know, if anything. */
	void (*note)(void *data, const char *text);
	void *note_data;
};

int loci_publish(struct loci_ledger *ledger, const struct loci_publish_options *options,
	struct loci_profile *profile, struct loci_err *err);

#endif
