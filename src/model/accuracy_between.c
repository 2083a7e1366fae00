// SPDX-License-Identifier: GPL-2.0-or-later
/* Two profiles of one program, the first the truth. */
#include "model/accuracy.h"

#include "base/cleanup.h"
#include "model/thread_hist.h"
#include "model/time_stack.h"

#include <errno.h>
#include <inttypes.h>

/* Samples that were watched have time distances, of which StatStack makes the others. */
static int find(struct loci_profile *profile, struct loci_hist_key key, bool *ret_converted,
	struct loci_hist *ret, struct loci_err *err)
{
	int r = loci_thread_hist(profile, &key, NULL, 0, ret, err);

	if (r != -ENOENT || key.distance != LOCI_DISTANCE_STACK)
		return r;
	*ret_converted = true;
	return loci_time_stack(profile, &key, ret, err);
}

/* 1: both have it, and the row is filled; 0: not both; or an error. */
static int compare(struct loci_profile *truth, struct loci_profile *other,
	enum loci_distance distance, uint64_t block_bytes, struct loci_accuracy_pair *ret,
	struct loci_err *err)
{
	loci_cleanup(loci_hist_fini) struct loci_hist a = { 0 };
	loci_cleanup(loci_hist_fini) struct loci_hist b = { 0 };
	const struct loci_hist *hist[2] = { &a, &b };
	struct loci_hist_key key = { .distance = distance, .block_bytes = block_bytes };
	bool converted = false;
	int r = find(truth, key, &converted, &a, err);

	if (r == 0)
		r = find(other, key, &converted, &b, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	ret->distance = distance;
	ret->converted = converted;
	for (unsigned i = 0; i < 2; i++) {
		ret->touches[i] = loci_hist_total(hist[i]);
		ret->infinite[i] = ret->touches[i] > 0
			? (hist[i]->cold + hist[i]->coherence) / ret->touches[i]
			: 0;
	}
	/* RDX's bins: stack distances are in bytes, time distances in touches, edges the same */
	loci_accuracy(&a, &b, distance == LOCI_DISTANCE_TIME ? 1 : block_bytes, &ret->accuracy);
	return 1;
}

int loci_accuracy_between(struct loci_profile *truth, struct loci_profile *other,
	uint64_t block_bytes, struct loci_accuracy_pair *ret, size_t *ret_n, struct loci_err *err)
{
	int r = compare(truth, other, LOCI_DISTANCE_STACK, block_bytes, &ret[0], err);

	if (r < 0)
		return r;
	*ret_n = (size_t)r;
	if (r == 1 && ret[0].converted) {
		r = compare(truth, other, LOCI_DISTANCE_TIME, block_bytes, &ret[1], err);
		if (r < 0)
			return r;
		*ret_n += (size_t)r;
	}
	if (loci_thread_hist_known(truth, block_bytes) ||
		loci_thread_hist_known(other, block_bytes)) {
		r = compare(truth, other, LOCI_DISTANCE_PRIVATE, block_bytes, &ret[*ret_n], err);
		if (r < 0)
			return r;
		*ret_n += (size_t)r;
	}
	return *ret_n ? 0
		      : loci_err_set(err, ENOENT,
				"%s and %s have no distances at block size %" PRIu64
				" in common, neither stack nor private",
				loci_profile_path(truth), loci_profile_path(other), block_bytes);
}
