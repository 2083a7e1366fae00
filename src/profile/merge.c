// SPDX-License-Identifier: GPL-2.0-or-later
/* Adding runs up. Inputs are opened one after another, so that any number of them can be merged;
 * what only some of them have is dropped at the end, since a sum over some would pass for a sum
 * over all. */
#include "profile/fold.h"
#include "profile/sum.h"

#include "base/cleanup.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct grain_sum {
	struct loci_grain grain;
	double error_square; /* sum of (error_points * touches)^2: the inputs err independently */
	size_t inputs;       /* that have it */
};

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

struct merge {
	size_t inputs; /* seen so far */
	struct loci_run run;
	struct grain_sum *grain;
	size_t n_grains;
	struct loci_thread_totals *thread;
	size_t n_threads;
	struct fold fold; /* dimensions */
	struct hist_sum *hist;
	struct key_set hists; /* their keys, with the ids they have here */
	struct hist_kind *kind;
	struct key_set kinds; /* the same without the owner's id */
	bool others;          /* histograms of owners that are not merged were seen */
};

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

static void merge_fini(struct merge *merge)
{
	loci_run_fini(&merge->run);
	for (size_t i = 0; i < merge->hists.n; i++)
		loci_hist_fini(&merge->hist[i].hist);
	loci_fold_fini(&merge->fold);
	loci_key_set_fini(&merge->hists);
	loci_key_set_fini(&merge->kinds);
	free(merge->hist);
	free(merge->kind);
	free(merge->grain);
	free(merge->thread);
}

/* A zeroed element more at the end of an array whose capacity is its length's next power of two. */
static void *append(void *array, size_t *n, size_t size)
{
	void **start = array;

	if ((*n & (*n - 1)) == 0) {
		void *moved = realloc(*start, (*n ? 2 * *n : 1) * size);

		if (!moved)
			return NULL;
		*start = moved;
	}
	return memset((char *)*start + (*n)++ * size, 0, size);
}

static int add_grains(struct merge *merge, const struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	for (size_t i = 0; i < n; i++) {
		struct grain_sum *sum = NULL;
		double error = grain[i].error_points * (double)grain[i].touches;

		for (size_t k = 0; k < merge->n_grains && !sum; k++)
			if (merge->grain[k].grain.block_bytes == grain[i].block_bytes)
				sum = &merge->grain[k];
		if (!sum) {
			sum = append(&merge->grain, &merge->n_grains, sizeof(*sum));
			if (!sum)
				return loci_err_nomem(err);
			sum->grain.block_bytes = grain[i].block_bytes;
			sum->grain.sampling_rate = 1;
		}
		if (grain[i].sampled_from && !sum->grain.sampled_from)
			sum->grain.sampled_from =
				loci_sum_u64(sum->grain.touches, grain[i].sampled_from);
		sum->grain.touches = loci_sum_u64(sum->grain.touches, grain[i].touches);
		sum->grain.writes = loci_sum_u64(sum->grain.writes, grain[i].writes);
		sum->grain.straddles = loci_sum_u64(sum->grain.straddles, grain[i].straddles);
		sum->grain.blocks += grain[i].blocks;
		sum->grain.sampling_rate = fmin(sum->grain.sampling_rate, grain[i].sampling_rate);
		sum->error_square += error * error;
		sum->inputs++;
	}
	return 0;
}

/* Threads of different runs are different threads: numbered anew, in the order of the inputs. */
static int add_threads(
	struct merge *merge, const struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);

	for (size_t i = 0; i < n; i++) {
		struct loci_thread_totals *totals =
			append(&merge->thread, &merge->n_threads, sizeof(*totals));

		if (!totals)
			return loci_err_nomem(err);
		totals->thread = (uint32_t)(merge->n_threads - 1);
		totals->references = thread[i].references;
	}
	return 0;
}

/* Counts the input as one that has histograms of this kind, and reads them all. */
static int add_kind(struct merge *merge, struct loci_profile *profile,
	const struct loci_hist_key *key, size_t *ret, struct loci_err *err)
{
	const struct loci_owner_hist *hists;
	uint64_t word[HIST_KEY_WORDS];
	struct hist_kind *kind;
	size_t i, n = merge->kinds.n;
	bool is_new;

	make_key(key, word);
	merge->kinds.width = HIST_KEY_WORDS - 1;
	if (loci_key_set_add(&merge->kinds, word, &i, &is_new) < 0 ||
		(is_new && !append(&merge->kind, &n, sizeof(*kind))))
		return loci_err_nomem(err);
	*ret = i;
	kind = &merge->kind[i];
	if (!is_new && kind->last == merge->inputs)
		return 0;
	kind->key = *key;
	kind->key.owner_id = 0;
	kind->last = merge->inputs;
	kind->inputs++;
	if (loci_owner_table(key->owner) == TABLE_NONE || key->set_bits)
		return 0;
	return loci_profile_hists(
		profile, key->distance, key->owner, key->block_bytes, &hists, &n, err);
}

static int find_sum(struct merge *merge, const struct loci_hist_key *key, struct hist_sum **ret,
	struct loci_err *err)
{
	uint64_t word[HIST_KEY_WORDS];
	size_t i, n = merge->hists.n;
	bool is_new;

	make_key(key, word);
	merge->hists.width = HIST_KEY_WORDS;
	if (loci_key_set_add(&merge->hists, word, &i, &is_new) < 0)
		return loci_err_nomem(err);
	if (is_new && !append(&merge->hist, &n, sizeof(**ret))) {
		merge->hists.n--; /* keys and sums go together */
		return loci_err_nomem(err);
	}
	*ret = &merge->hist[i];
	(*ret)->key = *key;
	return 0;
}

static int add_hist(struct merge *merge, struct loci_profile *profile,
	const struct loci_hist_key *key, struct loci_err *err)
{
	struct loci_hist_key here = *key;
	const struct loci_hist *hist = NULL;
	struct hist_sum *sum = NULL;
	size_t kind = 0;
	int r = add_kind(merge, profile, key, &kind, err);

	if (r == 0)
		r = loci_profile_check_owner(profile, "histogram", key->owner, key->owner_id, err);
	if (r == 0)
		r = loci_profile_hist(profile, key, &hist, err);
	if (key->owner != LOCI_OWNER_WHOLE)
		here.owner_id = loci_fold_owner(&merge->fold, profile, key->owner, key->owner_id);
	if (r == 0)
		r = find_sum(merge, &here, &sum, err);
	if (r < 0)
		return r;
	if (!sum->started)
		loci_hist_init(&sum->hist, hist->scheme);
	sum->started = true;
	sum->kind = kind;
	r = loci_hist_merge(&sum->hist, hist);
	if (r == -EINVAL)
		merge->kind[kind].broken = true;
	return r < 0 && r != -EINVAL ? loci_err_nomem(err) : 0;
}

static int add_hists(struct merge *merge, struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (key[i].owner == LOCI_OWNER_WHOLE || key[i].owner == LOCI_OWNER_THREAD ||
			loci_owner_table(key[i].owner) != TABLE_NONE)
			r = add_hist(merge, profile, &key[i], err);
		else
			merge->others = true;
	}
	return r;
}

static int add_profile(struct merge *merge, const char *path, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	int r = loci_profile_open(path, &profile, err);

	if (r == 0)
		r = loci_sum_run(
			&merge->run, loci_profile_run(profile), merge->inputs == 0, path, err);
	if (r == 0)
		r = add_grains(merge, profile, err);
	if (r == 0)
		r = add_threads(merge, profile, err);
	if (r == 0)
		r = loci_fold_add(&merge->fold, profile, err);
	if (r == 0)
		r = add_hists(merge, profile, err);
	merge->inputs++;
	return r;
}

static const struct grain_sum *shared_grain(const struct merge *merge, uint64_t block_bytes)
{
	for (size_t i = 0; i < merge->n_grains; i++)
		if (merge->grain[i].grain.block_bytes == block_bytes)
			return merge->grain[i].inputs == merge->inputs ? &merge->grain[i] : NULL;
	return NULL;
}

/* Whether all inputs that could have histograms of the kind have them, so that they can be added
 * up. Those of threads stand side by side. */
static bool is_shared(const struct merge *merge, const struct hist_kind *kind)
{
	enum loci_owner owner = kind->key.owner;
	enum table_id id = loci_owner_table(owner);

	if (owner == LOCI_OWNER_THREAD)
		return true;
	return !kind->broken &&
		kind->inputs >= (id == TABLE_NONE ? merge->inputs : merge->fold.with[id]);
}

static void say_kind(FILE *out, const struct loci_hist_key *key)
{
	fprintf(out, "%s distances of %" PRIu64 "-byte blocks", loci_distance_name(key->distance),
		key->block_bytes);
	if (key->set_bits)
		fprintf(out, " at %llu sets", 1ull << key->set_bits);
	if (key->owner != LOCI_OWNER_WHOLE)
		fprintf(out, " by %s", loci_owner_name(key->owner));
}

/* Appends to the note what is not in the sum. */
static int note_left_out(struct merge *merge, struct loci_err *err)
{
	loci_autofree char *text = NULL;
	size_t length = 0, hists = 0;
	const char *comma = "";
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return loci_err_nomem(err);
	fputs("left out because not all of the merged profiles have them: ", out);
	for (size_t i = 0; i < merge->n_grains; i++)
		if (merge->grain[i].inputs < merge->inputs) {
			fprintf(out, "%s%" PRIu64 "-byte blocks", comma,
				merge->grain[i].grain.block_bytes);
			comma = ", ";
		}
	for (size_t i = 0; i < merge->kinds.n; i++) {
		const struct hist_kind *kind = &merge->kind[i];

		if (is_shared(merge, kind) || !shared_grain(merge, kind->key.block_bytes) ||
			!loci_fold_is_whole(&merge->fold, kind->key.owner))
			continue;
		if (hists++ < 4) {
			fputs(comma, out);
			say_kind(out, &kind->key);
		}
		comma = ", ";
	}
	if (hists > 4)
		fprintf(out, " and %zu more", hists - 4);
	if (fclose(out) != 0)
		return loci_err_nomem(err);
	if (*comma && loci_sum_text(&merge->run.note, text) < 0)
		return loci_err_nomem(err);
	if (merge->others &&
		loci_sum_text(&merge->run.note,
			"merging left out histograms of sites by thread, phases and regions") < 0)
		return loci_err_nomem(err);
	return loci_fold_note(&merge->fold, &merge->run.note, err);
}

static int put_grains(struct merge *merge, struct loci_profile *profile, struct loci_err *err)
{
	size_t written = 0;

	for (size_t i = 0; i < merge->n_grains; i++) {
		struct grain_sum *sum = &merge->grain[i];
		int r;

		if (sum->inputs < merge->inputs)
			continue;
		if (sum->grain.touches)
			sum->grain.error_points =
				sqrt(sum->error_square) / (double)sum->grain.touches;
		r = loci_profile_put_grain(profile, &sum->grain, err);
		if (r < 0)
			return r;
		written++;
	}
	return written ? 0
		       : loci_err_set(err, EINVAL,
				 "the profiles share no block size, so there is nothing to add up; "
				 "analyse them with a common one (loci analyse -b)");
}

static int put_hists(const struct merge *merge, struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < merge->hists.n; i++) {
		const struct hist_sum *sum = &merge->hist[i];

		if (is_shared(merge, &merge->kind[sum->kind]) &&
			shared_grain(merge, sum->key.block_bytes) &&
			loci_fold_is_whole(&merge->fold, sum->key.owner))
			r = loci_profile_put_hist(profile, &sum->key, &sum->hist, err);
	}
	return r;
}

static int write_sum(struct merge *merge, const char *path, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	int r = loci_profile_create(path, &profile, err);

	if (r == 0)
		r = put_grains(merge, profile, err);
	for (size_t i = 0; r == 0 && i < merge->n_threads; i++)
		r = loci_profile_put_thread(profile, &merge->thread[i], err);
	if (r == 0)
		r = loci_fold_put(&merge->fold, profile, err);
	if (r == 0)
		r = put_hists(merge, profile, err);
	if (r == 0)
		r = loci_profile_put_run(profile, &merge->run, err);
	return r < 0 ? r : loci_profile_commit(profile, err);
}

int loci_profile_merge(const char *path, char *const *inputs, size_t n_inputs, struct loci_err *err)
{
	loci_cleanup(merge_fini) struct merge merge = { 0 };
	int r = n_inputs ? 0 : loci_err_set(err, EINVAL, "there are no profiles to merge");

	for (size_t i = 0; r == 0 && i < n_inputs; i++)
		r = add_profile(&merge, inputs[i], err);
	if (r == 0)
		r = note_left_out(&merge, err);
	if (r == 0) {
		free(merge.run.program_version);
		merge.run.program_version = strdup(LOCI_VERSION);
		r = write_sum(&merge, path, err);
	}
	return r;
}
