// SPDX-License-Identifier: GPL-2.0-or-later
/* What is put into a profile comes out again: every member, every kind of histogram. */
#include "check.h"

#include "base/cleanup.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/loci-profile-XXXXXX";
static char path[64];
static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static const struct loci_run full_run = {
	.command = "./mm \"800\" 'caf\xc3\xa9' \xff,\n",
	.collector = "import",
	.origin = "lackey",
	.mode = "exact",
	.unit = "byte",
	.capabilities = "complete stores",
	.program_version = "0.1.0",
	.machine = "A processor",
	.caches = "L1=48K/12,L2=1.25M/20",
	.started = "2026-01-02T03:04:05Z",
	.seconds = 0.1,
	.complete = true,
	.note = "a note",
	.references = INT64_MAX,
	.loads = 1,
	.stores = 2,
	.fetches = 3,
	.bulk = 4,
	.lost = 5,
	.threads = 6,
	.merged = 7,
};

static const struct loci_grain grains[] = {
	{ .block_bytes = 1, .touches = 10, .writes = 3, .blocks = 2, .sampling_rate = 1 },
	{ .block_bytes = 64,
		.touches = 1ull << 53,
		.writes = 4,
		.straddles = 5,
		.blocks = 6.25,
		.sampling_rate = 0.0625,
		.error_points = 0.375,
		.sampled_from = 7 },
	{ .block_bytes = 2 << 20, .sampling_rate = 1 },
};

static void check_text(const char *got, const char *want)
{
	CHECK_STR(got ? got : "(null)", want ? want : "(null)");
}

static void check_run(const struct loci_run *got, const struct loci_run *want)
{
	check_text(got->command, want->command);
	check_text(got->collector, want->collector);
	check_text(got->origin, want->origin);
	check_text(got->mode, want->mode);
	check_text(got->unit, want->unit);
	check_text(got->capabilities, want->capabilities);
	check_text(got->program_version, want->program_version);
	check_text(got->machine, want->machine);
	check_text(got->caches, want->caches);
	check_text(got->started, want->started);
	check_text(got->note, want->note);
	CHECK_NEAR(got->seconds, want->seconds, 0);
	CHECK(got->complete == want->complete);
	CHECK_U64(got->references, want->references);
	CHECK_U64(got->loads, want->loads);
	CHECK_U64(got->stores, want->stores);
	CHECK_U64(got->fetches, want->fetches);
	CHECK_U64(got->bulk, want->bulk);
	CHECK_U64(got->lost, want->lost);
	CHECK_U64(got->threads, want->threads);
	CHECK_U64(got->merged, want->merged);
}

static void check_grain(const struct loci_grain *got, const struct loci_grain *want)
{
	CHECK_U64(got->block_bytes, want->block_bytes);
	CHECK_U64(got->touches, want->touches);
	CHECK_U64(got->writes, want->writes);
	CHECK_U64(got->straddles, want->straddles);
	CHECK_NEAR(got->blocks, want->blocks, 0);
	CHECK_NEAR(got->sampling_rate, want->sampling_rate, 0);
	CHECK_NEAR(got->error_points, want->error_points, 0);
	CHECK_U64(got->sampled_from, want->sampled_from);
}

static void check_hist(const struct loci_hist *got, const struct loci_hist *want)
{
	uint32_t n = got->n_bins > want->n_bins ? got->n_bins : want->n_bins;

	CHECK(got->scheme == want->scheme);
	CHECK(!got->square == !want->square);
	CHECK_NEAR(got->cold, want->cold, 0);
	CHECK_NEAR(got->coherence, want->coherence, 0);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_NEAR(i < got->n_bins ? got->weight[i] : 0,
			i < want->n_bins ? want->weight[i] : 0, 0);
		if (got->square && want->square)
			CHECK_NEAR(i < got->n_bins ? got->square[i] : 0,
				i < want->n_bins ? want->square[i] : 0, 0);
	}
}

static struct loci_profile *create(const struct loci_run *run)
{
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	CHECK(loci_profile_create(path, &profile, &err) == 0);
	CHECK(loci_profile_put_run(profile, run, &err) == 0);
	for (size_t i = LOCI_ARRAY_SIZE(grains); i-- > 0;) /* any order */
		CHECK(loci_profile_put_grain(profile, &grains[i], &err) == 0);
	CHECK_STR(err.text, "");
	return profile;
}

static struct loci_profile *commit_and_open(struct loci_profile *profile)
{
	struct loci_err err = { "" };

	CHECK(loci_profile_commit(profile, &err) == 0);
	loci_profile_close(profile);
	profile = NULL;
	CHECK(loci_profile_open(path, &profile, &err) == 0);
	CHECK_STR(err.text, "");
	return profile;
}

static void check_round_trip(const struct loci_run *run, const struct loci_run *want)
{
	static const struct loci_thread_totals threads[] = { { .thread = 7, .references = 11 },
		{ .thread = 0, .references = 12 }, { .thread = UINT32_MAX, .references = 13 } };
	struct loci_profile *profile = create(run);
	const struct loci_thread_totals *thread;
	const struct loci_grain *grain;
	size_t n;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(threads); i++)
		CHECK(loci_profile_put_thread(profile, &threads[i], NULL) == 0);
	profile = commit_and_open(profile);
	CHECK_STR(loci_profile_path(profile), path);
	CHECK_U64((uint64_t)loci_profile_version(profile), 1);
	check_run(loci_profile_run(profile), want);
	grain = loci_profile_grains(profile, &n);
	CHECK_U64(n, LOCI_ARRAY_SIZE(grains));
	for (size_t i = 0; i < n; i++) {
		check_grain(&grain[i], &grains[i]);
		CHECK(loci_profile_grain(profile, grains[i].block_bytes) == &grain[i]);
	}
	CHECK(!loci_profile_grain(profile, 32));
	thread = loci_profile_threads(profile, &n);
	CHECK_U64(n, 3);
	CHECK(thread[0].thread == 0 && thread[0].references == 12);
	CHECK(thread[1].thread == 7 && thread[1].references == 11);
	CHECK(thread[2].thread == UINT32_MAX && thread[2].references == 13);
	loci_profile_hist_keys(profile, &n);
	CHECK_U64(n, 0);
	loci_profile_close(profile);
}

/* Some bins of the scheme, the first and last among them. */
static void random_hist(struct loci_hist *hist, enum loci_scheme scheme, bool sampled)
{
	static const uint32_t bins[] = { LOCI_FINE_BINS, LOCI_COARSE_BINS, LOCI_LINEAR_BINS };

	loci_hist_init(hist, scheme);
	hist->cold = (double)(next_random() % 1000);
	hist->coherence = sampled ? 0.3 : 3;
	if (sampled)
		hist->square = calloc(1, sizeof(double));
	CHECK(loci_hist_reserve(hist, bins[scheme]) == 0);
	for (uint32_t i = 0; i < hist->n_bins; i++) {
		double weight = (double)(next_random() % (1ull << (next_random() % 54)));

		if (next_random() % 3 == 0 && i && i + 1 < hist->n_bins)
			continue;
		hist->weight[i] = sampled ? weight * 0.7 : weight;
		if (sampled)
			hist->square[i] = hist->weight[i] * 1.7;
	}
}

static bool same_key(const struct loci_hist_key *a, const struct loci_hist_key *b)
{
	return a->distance == b->distance && a->block_bytes == b->block_bytes &&
		a->set_bits == b->set_bits && a->owner == b->owner && a->owner_id == b->owner_id;
}

static void check_hists(void)
{
	static const struct {
		struct loci_hist_key key;
		enum loci_scheme scheme;
		bool sampled;
	} cases[] = {
		{ { LOCI_DISTANCE_STACK, 1, 0, LOCI_OWNER_WHOLE, 0 }, LOCI_SCHEME_FINE, false },
		{ { LOCI_DISTANCE_SET, 1, 0, LOCI_OWNER_WHOLE, 0 }, LOCI_SCHEME_LINEAR, false },
		{ { LOCI_DISTANCE_SET, 1, 16, LOCI_OWNER_WHOLE, 0 }, LOCI_SCHEME_LINEAR, false },
		{ { LOCI_DISTANCE_SET_DIRTY, 1, 0, LOCI_OWNER_WHOLE, 0 }, LOCI_SCHEME_LINEAR,
			true },
		{ { LOCI_DISTANCE_TIME, 64, 0, LOCI_OWNER_WHOLE, 0 }, LOCI_SCHEME_FINE, true },
		{ { LOCI_DISTANCE_DIRTY, 64, 0, LOCI_OWNER_WHOLE, 0 }, LOCI_SCHEME_COARSE, false },
		{ { LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_THREAD, 3 }, LOCI_SCHEME_FINE, true },
		{ { LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_REGION, INT64_MAX }, LOCI_SCHEME_COARSE,
			true },
	};
	enum { N = LOCI_ARRAY_SIZE(cases) };
	struct loci_profile *profile = create(&full_run);
	const struct loci_hist_key *keys;
	const struct loci_hist *got, *again;
	struct loci_hist hist[N];
	struct loci_err err = { "" };
	size_t n;

	for (size_t i = N; i-- > 0;) {
		random_hist(&hist[i], cases[i].scheme, cases[i].sampled);
		CHECK(loci_profile_put_hist(profile, &cases[i].key, &hist[i], &err) == 0);
	}
	CHECK(loci_profile_put_hist(profile, &cases[0].key, &hist[0], &err) < 0); /* twice */
	err.text[0] = '\0';
	profile = commit_and_open(profile);
	keys = loci_profile_hist_keys(profile, &n);
	CHECK_U64(n, N);
	for (size_t i = 0; i < N && n == N; i++) {
		CHECK(same_key(&keys[i], &cases[i].key));
		CHECK(loci_profile_hist(profile, &cases[i].key, &got, &err) == 0);
		check_hist(got, &hist[i]);
		CHECK(loci_profile_hist(profile, &cases[i].key, &again, &err) == 0);
		CHECK(again == got);
		loci_hist_fini(&hist[i]);
	}
	CHECK(loci_profile_hist(profile,
		      &(struct loci_hist_key){ .distance = LOCI_DISTANCE_TIME, .block_bytes = 1 },
		      &got, &err) == -ENOENT);
	CHECK_STR(err.text, "");
	loci_profile_close(profile);
}

/* Empty histograms keep what they are. */
static void check_empty_hists(void)
{
	struct loci_hist_key key = { .block_bytes = 64 };
	struct loci_profile *profile = create(&full_run);
	struct loci_hist exact, sampled;
	const struct loci_hist *got;

	loci_hist_init(&exact, LOCI_SCHEME_FINE);
	loci_hist_init(&sampled, LOCI_SCHEME_COARSE);
	sampled.square = calloc(1, sizeof(double));
	sampled.cold = 0.5;
	CHECK(loci_profile_put_hist(profile, &key, &exact, NULL) == 0);
	key.distance = LOCI_DISTANCE_TIME;
	CHECK(loci_profile_put_hist(profile, &key, &sampled, NULL) == 0);
	profile = commit_and_open(profile);
	CHECK(loci_profile_hist(profile, &key, &got, NULL) == 0);
	check_hist(got, &sampled);
	key.distance = LOCI_DISTANCE_STACK;
	CHECK(loci_profile_hist(profile, &key, &got, NULL) == 0);
	check_hist(got, &exact);
	loci_hist_fini(&sampled);
	loci_profile_close(profile);
}

/* What cannot be a profile is not written. */
static void check_refusals(void)
{
	struct loci_hist_key key = { .block_bytes = 128 };
	struct loci_grain grain = grains[0];
	struct loci_run run = full_run;
	struct loci_profile *profile;
	struct loci_hist hist;
	struct loci_err err = { "" };

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	CHECK(loci_profile_create(path, &profile, &err) == 0);
	CHECK(loci_profile_commit(profile, &err) == -EINVAL);
	CHECK(strstr(err.text, "nothing says what was run") != NULL);
	run.loads = UINT64_MAX;
	CHECK(loci_profile_put_run(profile, &run, NULL) == -ERANGE);
	run.loads = 0;
	run.seconds = NAN;
	CHECK(loci_profile_put_run(profile, &run, NULL) == -ERANGE);
	run.seconds = 0;
	run.unit = "bit";
	CHECK(loci_profile_put_run(profile, &run, NULL) == -EINVAL);
	grain.block_bytes = 48;
	CHECK(loci_profile_put_grain(profile, &grain, NULL) == -EINVAL);
	hist.cold = -1;
	CHECK(loci_profile_put_hist(profile, &key, &hist, NULL) == -EINVAL);
	hist.cold = INFINITY;
	CHECK(loci_profile_put_hist(profile, &key, &hist, NULL) == -EINVAL);
	loci_profile_close(profile);

	profile = create(&full_run);
	hist.cold = 1;
	err.text[0] = '\0';
	CHECK(loci_profile_put_hist(profile, &key, &hist, &err) == 0);
	CHECK(loci_profile_commit(profile, &err) == -EINVAL);
	CHECK(strstr(err.text, "block size has no totals") != NULL);
	loci_profile_close(profile);
	CHECK(access(path, F_OK) < 0);
}

int main(void)
{
	static const struct loci_run bare = { 0 };
	struct loci_run want = { .unit = "byte" };

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/a?b#c%%41 d.loci", directory);
	check_round_trip(&full_run, &full_run);
	unlink(path);
	check_round_trip(&bare, &want);
	check_hists();
	check_empty_hists();
	unlink(path);
	check_refusals();
	CHECK(rmdir(directory) == 0); /* nothing is left behind */
	return check_status();
}
