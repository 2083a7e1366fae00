// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/hist_sum.h"

#include "profile/sum.h"

#include <errno.h>
#include <stdlib.h>

#define HIST_KEY_WORDS 5

/* owner_id last, so that what stands before it is the kind. */
static void make_key(const struct loci_hist_key *key, uint64_t *word)
{
	word[0] = key->owner;
	word[1] = key->block_bytes;
	word[2] = key->distance;
	word[3] = key->set_bits;
	word[4] = (uint64_t)key->owner_id;
}

/* Counts the input as one that has histograms of this kind, and reads them all. */
static int add_kind(struct hist_sums *sums, struct loci_profile *profile,
	const struct loci_hist_key *key, size_t *ret, struct loci_err *err)
{
	const struct loci_owner_hist *hists;
	uint64_t word[HIST_KEY_WORDS];
	struct hist_kind *kind;
	size_t i, n = sums->kinds.n;
	bool is_new;

	make_key(key, word);
	sums->kinds.width = HIST_KEY_WORDS - 1;
	if (loci_key_set_add(&sums->kinds, word, &i, &is_new) < 0 ||
		(is_new && !loci_sum_append(&sums->kind, &n, sizeof(*kind))))
		return loci_err_nomem(err);
	*ret = i;
	kind = &sums->kind[i];
	if (!is_new && kind->last == sums->inputs)
		return 0;
	kind->key = *key;
	kind->key.owner_id = 0;
	kind->last = sums->inputs;
	kind->inputs++;
	if (loci_owner_table(key->owner) == TABLE_NONE || key->set_bits)
		return 0;
	return loci_profile_hists(
		profile, key->distance, key->owner, key->block_bytes, &hists, &n, err);
}

static int find_sum(struct hist_sums *sums, const struct loci_hist_key *key, struct hist_sum **ret,
	struct loci_err *err)
{
	uint64_t word[HIST_KEY_WORDS];
	size_t i, n = sums->keys.n;
	bool is_new;

	make_key(key, word);
	sums->keys.width = HIST_KEY_WORDS;
	if (loci_key_set_add(&sums->keys, word, &i, &is_new) < 0)
		return loci_err_nomem(err);
	if (is_new && !loci_sum_append(&sums->sum, &n, sizeof(**ret))) {
		sums->keys.n--; /* keys and sums go together */
		return loci_err_nomem(err);
	}
	*ret = &sums->sum[i];
	(*ret)->key = *key;
	return 0;
}

static int add_hist(struct hist_sums *sums, const struct fold *fold, struct loci_profile *profile,
	const struct loci_hist_key *key, struct loci_err *err)
{
	struct loci_hist_key here = *key;
	const struct loci_hist *hist = NULL;
	struct hist_sum *sum = NULL;
	size_t kind = 0;
	int r = add_kind(sums, profile, key, &kind, err);

	if (r == 0)
		r = loci_profile_check_owner(profile, "histogram", key->owner, key->owner_id, err);
	if (r == 0)
		r = loci_profile_hist(profile, key, &hist, err);
	if (key->owner != LOCI_OWNER_WHOLE)
		here.owner_id = loci_fold_owner(fold, profile, key->owner, key->owner_id);
	if (r == 0)
		r = find_sum(sums, &here, &sum, err);
	if (r < 0)
		return r;
	if (!sum->started)
		loci_hist_init(&sum->hist, hist->scheme);
	sum->started = true;
	sum->kind = kind;
	r = loci_hist_merge(&sum->hist, hist);
	if (r == -EINVAL)
		sums->kind[kind].broken = true;
	return r < 0 && r != -EINVAL ? loci_err_nomem(err) : 0;
}

int loci_hist_sums_add(struct hist_sums *sums, const struct fold *fold,
	struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (key[i].owner == LOCI_OWNER_WHOLE || key[i].owner == LOCI_OWNER_THREAD ||
			loci_owner_table(key[i].owner) != TABLE_NONE)
			r = add_hist(sums, fold, profile, &key[i], err);
		else
			sums->others = true;
	}
	sums->inputs++;
	return r;
}

bool loci_hist_kind_is_shared(
	const struct hist_sums *sums, const struct fold *fold, const struct hist_kind *kind)
{
	enum loci_owner owner = kind->key.owner;
	enum table_id id = loci_owner_table(owner);

	if (owner == LOCI_OWNER_THREAD || owner == LOCI_OWNER_THREAD_GROUP)
		return true;
	return !kind->broken && kind->inputs >= (id == TABLE_NONE ? sums->inputs : fold->with[id]);
}

void loci_hist_sums_fini(struct hist_sums *sums)
{
	for (size_t i = 0; i < sums->keys.n; i++)
		loci_hist_fini(&sums->sum[i].hist);
	loci_key_set_fini(&sums->keys);
	loci_key_set_fini(&sums->kinds);
	free(sums->sum);
	free(sums->kind);
}
