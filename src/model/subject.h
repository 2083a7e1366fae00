/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report is about: a profile at one block size, judged against one machine. */
#ifndef LOCI_MODEL_SUBJECT_H
#define LOCI_MODEL_SUBJECT_H

#include "model/convert.h"
#include "model/predict.h"
#include "profile/profile.h"

struct loci_subject {
	struct loci_profile *profile; /* borrowed */
	const struct loci_run *run;
	const struct loci_grain *grain;
	const struct loci_hist *stack;
	struct loci_hist made;           /* stack, where it is of a model */
	enum loci_conversion conversion; /* this one: the profile has time distances only */
	const struct loci_hist *own; /* of threads, each in its own stack; NULL: none share memory
				      */
	bool is_object;
	bool is_given;                   /* the machine was given, not recorded */
	struct loci_hierarchy hierarchy; /* no levels: the machine is not known */
	/* The levels that this profile can judge, and the names of the others, space separated. */
	struct loci_prediction level[LOCI_LEVELS_MAX];
	unsigned n_levels;
	char unjudged[LOCI_LEVELS_MAX * 17];
	uint64_t unjudged_bytes; /* a block size that would judge them */
};

/* block_bytes 0: 64 where the profile has it, else the next smaller, else the smallest. machine
 * NULL: the one the profile was recorded on; else what loci_hierarchy_parse takes, in objects where
 * that is the unit. */
int loci_subject_init(struct loci_subject *subject, struct loci_profile *profile,
	uint64_t block_bytes, const char *machine, struct loci_err *err);

void loci_subject_fini(struct loci_subject *subject); /* of zeros, too */
void loci_subjects_fini(struct loci_subject (*subject)[2]);

/* The sizes, in blocks of the subject, of those levels whose lines are its blocks: ascending, at
 * most LOCI_LEVELS_MAX. level, where not NULL, receives their indexes. Returns how many. */
unsigned loci_subject_edges(
	const struct loci_subject *subject, uint64_t *ret_blocks, unsigned *ret_level);

/* The innermost and the outermost level that is no TLB, or NULL. */
const struct loci_prediction *loci_subject_first(const struct loci_subject *subject);
const struct loci_prediction *loci_subject_llc(const struct loci_subject *subject);

#endif
