/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The distances of some threads, or of all, added up. */
#ifndef LOCI_MODEL_THREAD_HIST_H
#define LOCI_MODEL_THREAD_HIST_H

#include "profile/profile.h"

/* distance: STACK (in the stack that all threads share) or PRIVATE (each in its own, those of a
 * run of one thread being the stack's). ids: the threads wanted, ascending; NULL: all. ret is
 * initialised here. -ENOENT, err untouched, where the profile has none. */
int loci_thread_hist(struct loci_profile *profile, enum loci_distance distance,
	uint64_t block_bytes, const int64_t *ids, size_t n_ids, struct loci_hist *ret,
	struct loci_err *err);

#endif
