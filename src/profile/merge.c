// SPDX-License-Identifier: GPL-2.0-or-later
/* Adding runs up. Inputs are opened one after another, so that any number of them can be merged;
 * what only some of them have is dropped at the end, since a sum over some would pass for a sum
 * over all. */
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
	size_t inputs;
};

struct merge {
	size_t inputs; /* seen so far */
	struct loci_run run;
	struct grain_sum *grain;
	size_t n_grains;
	struct loci_thread_totals *thread;
	size_t n_threads;
	struct hist_sum *whole; /* one per key */
	size_t n_whole;
	struct hist_sum *by_thread; /* of all inputs, with the new threads' numbers */
	size_t n_by_thread;
	bool others; /* histograms of owners that are not merged were seen */
};

static void merge_fini(struct merge *merge)
{
	loci_run_fini(&merge->run);
	for (size_t i = 0; i < merge->n_whole; i++)
		loci_hist_fini(&merge->whole[i].hist);
	for (size_t i = 0; i < merge->n_by_thread; i++)
		loci_hist_fini(&merge->by_thread[i].hist);
	free(merge->grain);
	free(merge->thread);
	free(merge->whole);
	free(merge->by_thread);
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

/* The new number of one of the profile's threads, whose rows were added last. */
static int new_thread(const struct merge *merge, const struct loci_profile *profile, int64_t old,
	int64_t *ret, struct loci_err *err)
{
	size_t n;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);

	for (size_t i = 0; i < n; i++)
		if (thread[i].thread == old) {
			*ret = (int64_t)(merge->n_threads - n + i);
			return 0;
		}
	return loci_profile_damaged(
		profile, err, "it has a histogram of thread %" PRId64 " but no such thread", old);
}

/* The sum that a histogram goes into: NULL with 0 if into none. */
static int find_sum(struct merge *merge, const struct loci_profile *profile,
	const struct loci_hist_key *key, struct hist_sum **ret, struct loci_err *err)
{
	struct hist_sum *sum;

	*ret = NULL;
	if (key->owner == LOCI_OWNER_THREAD) {
		sum = append(&merge->by_thread, &merge->n_by_thread, sizeof(*sum));
		if (!sum)
			return loci_err_nomem(err);
		sum->key = *key;
		*ret = sum;
		return new_thread(merge, profile, key->owner_id, &sum->key.owner_id, err);
	}
	if (key->owner != LOCI_OWNER_WHOLE) {
		merge->others = true;
		return 0;
	}
	for (size_t i = 0; i < merge->n_whole; i++) {
		sum = &merge->whole[i];
		if (sum->key.distance == key->distance &&
			sum->key.block_bytes == key->block_bytes &&
			sum->key.set_bits == key->set_bits) {
			*ret = sum;
			return 0;
		}
	}
	*ret = sum = append(&merge->whole, &merge->n_whole, sizeof(*sum));
	if (!sum)
		return loci_err_nomem(err);
	sum->key = *key;
	return 0;
}

static int add_hists(struct merge *merge, struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);

	for (size_t i = 0; i < n; i++) {
		const struct loci_hist *hist;
		struct hist_sum *sum;
		int r = find_sum(merge, profile, &key[i], &sum, err);

		if (r == 0 && !sum)
			continue;
		if (r == 0)
			r = loci_profile_hist(profile, &key[i], &hist, err);
		if (r < 0)
			return r;
		if (!sum->inputs)
			loci_hist_init(&sum->hist, hist->scheme);
		sum->inputs++;
		r = loci_hist_merge(&sum->hist, hist);
		if (r == -EINVAL) /* binned differently: as if it were missing here */
			sum->inputs--;
		else if (r < 0)
			return loci_err_nomem(err);
	}
	return 0;
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
	for (size_t i = 0; i < merge->n_whole; i++) {
		const struct hist_sum *sum = &merge->whole[i];

		if (sum->inputs == merge->inputs || !shared_grain(merge, sum->key.block_bytes))
			continue;
		if (hists++ < 4)
			fprintf(out, "%s%s distances of %" PRIu64 "-byte blocks", comma,
				loci_distance_name(sum->key.distance), sum->key.block_bytes);
		if (hists <= 4 && sum->key.set_bits)
			fprintf(out, " at %llu sets", 1ull << sum->key.set_bits);
		comma = ", ";
	}
	if (hists > 4)
		fprintf(out, " and %zu more", hists - 4);
	if (fclose(out) != 0)
		return loci_err_nomem(err);
	if (*comma && loci_sum_text(&merge->run.note, text) < 0)
		return loci_err_nomem(err);
	if (merge->others &&
		loci_sum_text(
			&merge->run.note, "merging left out what was known of code and data") < 0)
		return loci_err_nomem(err);
	return 0;
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

static int put_hists(const struct merge *merge, const struct hist_sum *sum, size_t n, size_t inputs,
	struct loci_profile *profile, struct loci_err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r;

		if (sum[i].inputs < inputs || !shared_grain(merge, sum[i].key.block_bytes))
			continue;
		r = loci_profile_put_hist(profile, &sum[i].key, &sum[i].hist, err);
		if (r < 0)
			return r;
	}
	return 0;
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
		r = put_hists(merge, merge->whole, merge->n_whole, merge->inputs, profile, err);
	if (r == 0)
		r = put_hists(merge, merge->by_thread, merge->n_by_thread, 1, profile, err);
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
