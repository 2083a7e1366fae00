/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts behind a report's first sentence: what is near, what is not, and at which cache size
 * that changes. */
#ifndef LOCI_MODEL_VERDICT_H
#define LOCI_MODEL_VERDICT_H

#include "model/culprit.h"
#include "model/curve.h"
#include "model/sharing.h"
#include "model/subject.h"

enum loci_verdict_kind {
	LOCI_VERDICT_NOTHING,   /* no touches */
	LOCI_VERDICT_UNKNOWN,   /* samples tell short reuses only */
	LOCI_VERDICT_ALL_NEW,   /* no reuses */
	LOCI_VERDICT_ONE_BLOCK, /* nothing but reuses of one block */
	LOCI_VERDICT_FITS,      /* no reuse reaches beyond `near` */
	LOCI_VERDICT_NEW,       /* first touches prevail */
	LOCI_VERDICT_NEAR,      /* most touches fit in `near` */
	LOCI_VERDICT_FAR,       /* most do not */
};

/* A cache size and what it means here. */
struct loci_verdict_size {
	uint64_t blocks; /* 0: there is no such size */
	int level;       /* the level of exactly this size, or -1 */
	int holder;      /* the smallest level that holds it, or -1 */
	double share;    /* of all touches */
};

#define LOCI_VERDICT_KNEES 32

struct loci_verdict {
	enum loci_verdict_kind kind;
	double touches;
	double cold;    /* share of first touches, and of blocks lost to other threads' writes */
	double unknown; /* share of touches of which samples do not tell when they are reused */
	double far;     /* share of reuses that do not fit in `near` */
	double beyond;  /* share of reuses that do not fit in the outermost level */
	struct loci_verdict_size near;    /* the first level, or the size half of all touches need;
					     share: that fits */
	struct loci_verdict_size next;    /* the first step beyond near; share: of the step */
	struct loci_verdict_size largest; /* the largest one, where it is not the next */
	struct loci_verdict_size enough;  /* the last step, or the longest reuse where there is
					     none; share: that fits */
	struct loci_cache level[LOCI_LEVELS_MAX]; /* ascending, lines as large as the blocks */
	unsigned n_levels;
	int conflict_level;                        /* where sets are used unevenly, or -1 */
	double conflict;                           /* share of touches */
	struct loci_knee knee[LOCI_VERDICT_KNEES]; /* the effective cache sizes */
	size_t n_knees;
	struct loci_culprit culprit; /* where sites were recorded */
	double lost;                 /* share of touches that miss what another thread wrote .. */
	double lost_false;           /* .. of which it touches other bytes */
	struct loci_sharing sharing; /* its worst case alone, in worst, where has_worst */
	struct loci_sharing_case worst;
	bool has_worst;
};

void loci_verdict(const struct loci_subject *subject, struct loci_verdict *ret);

#endif
