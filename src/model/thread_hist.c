// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/thread_hist.h"

#include <errno.h>

bool loci_thread_hist_known(const struct loci_profile *profile, uint64_t block_bytes)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);

	for (size_t i = 0; i < n; i++)
		if (key[i].distance == LOCI_DISTANCE_PRIVATE && key[i].block_bytes == block_bytes &&
			(key[i].owner == LOCI_OWNER_WHOLE || key[i].owner == LOCI_OWNER_THREAD))
			return true;
	return false;
}

/* Adds one owner's to the sum; the first founds it. -ENOENT where it has none. */
static int add_one(struct loci_profile *profile, const struct loci_hist_key *key, bool *has_any,
	struct loci_hist *ret, struct loci_err *err)
{
	const struct loci_hist *one;
	int r = loci_profile_hist(profile, key, &one, err);

	if (r < 0)
		return r;
	r = *has_any ? loci_hist_merge(ret, one) : loci_hist_copy(ret, one);
	if (r < 0)
		return loci_err_nomem(err);
	*has_any = true;
	return 0;
}

/* Those of the ids, or of all threads. */
static int add_owners(struct loci_profile *profile, struct loci_hist_key key, const int64_t *ids,
	size_t n_ids, bool *has_any, struct loci_hist *ret, struct loci_err *err)
{
	size_t n;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);

	if (ids)
		n = n_ids;
	else
		key.owner = LOCI_OWNER_THREAD;
	for (size_t i = 0; i < n; i++) {
		int r;

		key.owner_id = ids ? ids[i] : (int64_t)thread[i].thread;
		r = add_one(profile, &key, has_any, ret, err);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return *has_any ? 0 : -ENOENT;
}

int loci_thread_hist(struct loci_profile *profile, const struct loci_hist_key *wanted,
	const int64_t *ids, size_t n_ids, struct loci_hist *ret, struct loci_err *err)
{
	struct loci_hist_key key = *wanted;
	bool has_any = false;
	int r = -ENOENT;

	loci_hist_init(ret, LOCI_SCHEME_FINE);
	if (!ids) {
		key.owner = LOCI_OWNER_WHOLE;
		key.owner_id = 0;
		r = add_one(profile, &key, &has_any, ret, err);
	}
	if (r == -ENOENT) {
		key.owner = wanted->owner;
		r = add_owners(profile, key, ids, n_ids, &has_any, ret, err);
	}
	if (r == -ENOENT && key.distance == LOCI_DISTANCE_PRIVATE &&
		loci_profile_run(profile)->threads <= 1) {
		key.distance = LOCI_DISTANCE_STACK;
		return loci_thread_hist(profile, &key, ids, n_ids, ret, err);
	}
	if (r < 0)
		loci_hist_fini(ret);
	return r;
}
