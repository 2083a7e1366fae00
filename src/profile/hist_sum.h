/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding up the histograms of several profiles. Private to this room. */
#ifndef LOCI_PROFILE_HIST_SUM_H
#define LOCI_PROFILE_HIST_SUM_H

#include "profile/fold.h"

struct hist_sum {
	struct loci_hist_key key;
	struct loci_hist hist;
	size_t kind;
	bool started;
};

struct hist_kind {
	struct loci_hist_key key; /* owner_id 0 */
	size_t inputs, last;      /* that have histograms of this kind, and the last of them */
	bool broken;              /* they are binned differently */
};

struct hist_sums {     /* all 0 to begin with */
	size_t inputs; /* seen so far */
	struct hist_sum *sum;
	struct key_set keys; /* theirs, with the ids they have in the sum */
	struct hist_kind *kind;
	struct key_set kinds; /* the same without the owner's id */
	bool others;          /* there are owners that are not merged */
};

/* The profile is the one that was folded last. */
int loci_hist_sums_add(struct hist_sums *sums, const struct fold *fold,
	struct loci_profile *profile, struct loci_err *err);
/* Whether all inputs that could have histograms of the kind have them, so that they can be added
 * up. Those of threads stand side by side. */
bool loci_hist_kind_is_shared(
	const struct hist_sums *sums, const struct fold *fold, const struct hist_kind *kind);
void loci_hist_sums_fini(struct hist_sums *sums);

#endif
