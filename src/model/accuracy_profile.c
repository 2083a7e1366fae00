// SPDX-License-Identifier: GPL-2.0-or-later
/* The conversions checked against the exact histogram of the same profile. */
#include "model/accuracy.h"

#include "model/convert.h"

#include <errno.h>
#include <inttypes.h>

static int whole_hist(struct loci_profile *profile, enum loci_distance distance,
	uint64_t block_bytes, const struct loci_hist **ret, struct loci_err *err)
{
	struct loci_hist_key key = {
		.distance = distance,
		.block_bytes = block_bytes,
		.owner = LOCI_OWNER_WHOLE,
	};
	int r = loci_profile_hist(profile, &key, ret, err);

	if (r == -ENOENT)
		return loci_err_set(err, ENOENT,
			"%s: has no %s distances at block size %" PRIu64
			", so a conversion cannot be checked against them",
			loci_profile_path(profile), loci_distance_name(distance), block_bytes);
	return r;
}

int loci_accuracy_profile(struct loci_profile *profile, uint64_t block_bytes,
	struct loci_accuracy_row *ret, size_t *ret_n, struct loci_err *err)
{
	static const enum loci_conversion conversions[LOCI_ACCURACY_ROWS] = {
		LOCI_CONVERT_STATSTACK, LOCI_CONVERT_SHEN
	};
	const struct loci_grain *grain = loci_profile_grain(profile, block_bytes);
	const struct loci_hist *stack, *time;
	int r = whole_hist(profile, LOCI_DISTANCE_STACK, block_bytes, &stack, err);

	if (r >= 0)
		r = whole_hist(profile, LOCI_DISTANCE_TIME, block_bytes, &time, err);
	if (r < 0)
		return r;
	*ret_n = 0;
	for (size_t i = 0; i < LOCI_ACCURACY_ROWS; i++) {
		struct loci_accuracy_row *row = &ret[i];
		struct loci_hist other;

		r = loci_convert(conversions[i], time, grain ? grain->blocks : stack->cold, &other);
		if (r < 0)
			return loci_err_nomem(err);
		row->conversion = conversions[i];
		row->block_bytes = block_bytes;
		loci_accuracy(stack, &other, block_bytes, &row->accuracy);
		loci_hist_fini(&other);
		(*ret_n)++;
	}
	return 0;
}
