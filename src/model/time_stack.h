/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack distances of a profile that has time distances, as that of watched samples. */
#ifndef LOCI_MODEL_TIME_STACK_H
#define LOCI_MODEL_TIME_STACK_H

#include "profile/profile.h"

/* What StatStack makes of them but for those that are known. Of the owner and block size of key,
 * whatever its distance. ret is initialised here. -ENOENT: the profile has none. */
int loci_time_stack(struct loci_profile *profile, const struct loci_hist_key *key,
	struct loci_hist *ret, struct loci_err *err);

#endif
