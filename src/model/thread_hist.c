// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/thread_hist.h"

#include "profile/dimension.h"

#include <errno.h>

static bool is_wanted(int64_t id, const int64_t *ids, size_t n_ids)
{
	for (size_t i = 0; i < n_ids; i++)
		if (ids[i] == id)
			return true;
	return !ids;
}

static int copy_whole(struct loci_profile *profile, enum loci_distance distance,
	uint64_t block_bytes, struct loci_hist *ret, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = distance, .block_bytes = block_bytes };
	const struct loci_hist *whole;
	int r = loci_profile_hist(profile, &key, &whole, err);

	if (r < 0)
		return r;
	return loci_hist_copy(ret, whole) < 0 ? loci_err_nomem(err) : 0;
}

static int add_up(const struct loci_owner_hist *hist, size_t n, const int64_t *ids, size_t n_ids,
	struct loci_hist *ret)
{
	size_t added = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!is_wanted(hist[i].owner_id, ids, n_ids))
			continue;
		if (added++)
			r = loci_hist_merge(ret, hist[i].hist);
		else
			r = loci_hist_copy(ret, hist[i].hist);
		if (r < 0)
			loci_hist_fini(ret);
	}
	return r < 0 ? r : added ? 0 : -ENOENT;
}

int loci_thread_hist(struct loci_profile *profile, enum loci_distance distance,
	uint64_t block_bytes, const int64_t *ids, size_t n_ids, struct loci_hist *ret,
	struct loci_err *err)
{
	const struct loci_owner_hist *hist;
	size_t n;
	int r = ids ? -ENOENT : copy_whole(profile, distance, block_bytes, ret, err);

	if (r != -ENOENT)
		return r;
	r = loci_profile_hists(profile, distance, LOCI_OWNER_THREAD, block_bytes, &hist, &n, err);
	if (r < 0)
		return r;
	r = add_up(hist, n, ids, n_ids, ret);
	if (r == -ENOMEM)
		return loci_err_nomem(err);
	if (r == -ENOENT && distance == LOCI_DISTANCE_PRIVATE &&
		loci_profile_run(profile)->threads <= 1)
		return loci_thread_hist(
			profile, LOCI_DISTANCE_STACK, block_bytes, ids, n_ids, ret, err);
	return r;
}
