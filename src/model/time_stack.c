// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/time_stack.h"

#include "base/cleanup.h"
#include "model/convert.h"

#include <errno.h>

int loci_time_stack(struct loci_profile *profile, const struct loci_hist_key *key,
	struct loci_hist *ret, struct loci_err *err)
{
	static const enum loci_distance distances[] = { LOCI_DISTANCE_TIME, LOCI_DISTANCE_NEAR,
		LOCI_DISTANCE_NEAR_TIME };
	const struct loci_hist *hist[LOCI_ARRAY_SIZE(distances)] = { NULL };
	struct loci_hist_key wanted = *key;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(distances); i++) {
		int r;

		wanted.distance = distances[i];
		r = loci_profile_hist(profile, &wanted, &hist[i], err);
		if (r < 0 && (r != -ENOENT || i == 0))
			return r;
	}
	return loci_convert_statstack_near(hist[0], hist[1], hist[2], ret) < 0 ? loci_err_nomem(err)
									       : 0;
}
