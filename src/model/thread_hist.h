/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The distances of some threads, or of all, added up. */
#ifndef LOCI_MODEL_THREAD_HIST_H
#define LOCI_MODEL_THREAD_HIST_H

#include "profile/profile.h"

/* Whether threads ran together and their private distances are known. */
bool loci_thread_hist_known(const struct loci_profile *profile, uint64_t block_bytes);

/* The sum of the histograms of that key which these owners have: threads, or groups of them, as
 * key->owner says. ids NULL: the whole run's, or where it has none all threads'. ret is initialised
 * here. -ENOENT, err untouched, where none has one. Of a run of one thread private distances are
 * the stack's. */
int loci_thread_hist(struct loci_profile *profile, const struct loci_hist_key *key,
	const int64_t *ids, size_t n_ids, struct loci_hist *ret, struct loci_err *err);

#endif
