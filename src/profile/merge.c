// SPDX-License-Identifier: GPL-2.0-or-later
/* Adding runs up. Inputs are opened one after another, so that any number of them can be merged;
 * what only some of them have is dropped at the end, since a sum over some would pass for a sum
 * over all. */
#include "profile/hist_sum.h"
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
	double error_square; /* sum of (error_points * touches)^2: the inputs err independently, ..
			      */
	double unknown;      /* .. but for points * touches of which nothing is known */
	size_t inputs;       /* that have it */
};

struct merge {
	size_t inputs; /* seen so far */
	struct loci_run run;
	struct grain_sum *grain;
	size_t n_grains;
	struct loci_thread_totals *thread;
	size_t n_threads;
	struct loci_unseen_calls *unseen;
	size_t n_unseen;
	struct fold fold; /* dimensions */
	struct hist_sums hists;
};

static void merge_fini(struct merge *merge)
{
	loci_run_fini(&merge->run);
	loci_fold_fini(&merge->fold);
	loci_hist_sums_fini(&merge->hists);
	free(merge->grain);
	free(merge->thread);
	for (size_t i = 0; i < merge->n_unseen; i++)
		free((char *)merge->unseen[i].library);
	free(merge->unseen);
}

/* Percentage points of which no sample tells. */
static int unknown_points(struct loci_profile *profile, double *ret, struct loci_err *err)
{
	const struct loci_sampling_row *row;
	double refs = 0;
	size_t n;
	int r = loci_profile_samplings(profile, &row, &n, err);

	*ret = 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		*ret += 100 * row[i].unknown * (double)row[i].refs;
		refs += (double)row[i].refs;
	}
	refs = fmax(refs, (double)loci_profile_run(profile)->references); /* of all runs */
	*ret = refs > 0 ? *ret / refs : 0;
	return 0;
}

static int add_grains(struct merge *merge, struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);
	double unknown;
	int r = unknown_points(profile, &unknown, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct grain_sum *sum = NULL;
		double open = fmin(unknown, grain[i].error_points);
		double error = (grain[i].error_points - open) * (double)grain[i].touches;

		for (size_t k = 0; k < merge->n_grains && !sum; k++)
			if (merge->grain[k].grain.block_bytes == grain[i].block_bytes)
				sum = &merge->grain[k];
		if (!sum) {
			sum = loci_sum_append(&merge->grain, &merge->n_grains, sizeof(*sum));
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
		sum->unknown += open * (double)grain[i].touches;
		sum->inputs++;
	}
	return 0;
}

/* Threads of different runs are different threads: numbered anew, in the order of the inputs. The
 * profile has been folded in, which has numbered the processes. */
static int add_threads(
	struct merge *merge, const struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);

	for (size_t i = 0; i < n; i++) {
		struct loci_thread_totals *totals =
			loci_sum_append(&merge->thread, &merge->n_threads, sizeof(*totals));

		if (!totals)
			return loci_err_nomem(err);
		totals->thread = (uint32_t)(merge->n_threads - 1);
		totals->references = thread[i].references;
		totals->process_id = loci_fold_process(&merge->fold, profile, thread[i].process_id);
	}
	return 0;
}

static int add_unseen(struct merge *merge, const struct loci_profile *profile, struct loci_err *err)
{
	size_t n;
	const struct loci_unseen_calls *unseen = loci_profile_unseen(profile, &n);

	for (size_t i = 0; i < n; i++) {
		struct loci_unseen_calls *sum = NULL;

		for (size_t k = 0; k < merge->n_unseen && !sum; k++)
			if (!strcmp(merge->unseen[k].library, unseen[i].library))
				sum = &merge->unseen[k];
		if (!sum) {
			char *library = strdup(unseen[i].library);

			if (library)
				sum = loci_sum_append(
					&merge->unseen, &merge->n_unseen, sizeof(*sum));
			if (!sum) {
				free(library);
				return loci_err_nomem(err);
			}
			sum->library = library;
		}
		sum->calls = loci_sum_u64(sum->calls, unseen[i].calls);
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
		r = loci_fold_add(&merge->fold, profile, err);
	if (r == 0)
		r = add_threads(merge, profile, err);
	if (r == 0)
		r = add_unseen(merge, profile, err);
	if (r == 0)
		r = loci_hist_sums_add(&merge->hists, &merge->fold, profile, err);
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
	for (size_t i = 0; i < merge->hists.kinds.n; i++) {
		const struct hist_kind *kind = &merge->hists.kind[i];

		if (loci_hist_kind_is_shared(&merge->hists, &merge->fold, kind) ||
			!shared_grain(merge, kind->key.block_bytes) ||
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
	if (merge->hists.others &&
		loci_sum_text(&merge->run.note, "merging left out histograms of sites by thread") <
			0)
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
			sum->grain.error_points = (sqrt(sum->error_square) + sum->unknown) /
				(double)sum->grain.touches;
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

	for (size_t i = 0; r == 0 && i < merge->hists.keys.n; i++) {
		const struct hist_sum *sum = &merge->hists.sum[i];

		if (loci_hist_kind_is_shared(
			    &merge->hists, &merge->fold, &merge->hists.kind[sum->kind]) &&
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
	for (size_t i = 0; r == 0 && i < merge->n_unseen; i++)
		r = loci_profile_put_unseen(profile, &merge->unseen[i], err);
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
