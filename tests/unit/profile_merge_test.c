// SPDX-License-Identifier: GPL-2.0-or-later
/* A merged profile is the sum of its parts: every bin, every total. */
#include "check.h"

#include "base/cleanup.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define N 3

static char directory[] = "/tmp/loci-merge-XXXXXX";
static char path[N][64], out[64];
static uint64_t random_state = 12345;

static uint64_t next_random(uint64_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % below;
}

static const struct loci_run runs[N] = {
	{ .command = "./a",
		.collector = "import",
		.origin = "din",
		.mode = "exact",
		.unit = "byte",
		.capabilities = "complete stores sites",
		.machine = "M",
		.caches = "L1=32K/8",
		.started = "2026-01-03T00:00:00Z",
		.seconds = 1.5,
		.complete = true,
		.references = 10,
		.loads = 6,
		.stores = 4,
		.threads = 2,
		.merged = 1 },
	{ .command = "./b",
		.collector = "import",
		.origin = "lackey",
		.mode = "sample",
		.unit = "byte",
		.capabilities = "stores complete",
		.machine = "M",
		.caches = "L1=32K/8",
		.started = "2026-01-02T00:00:00Z",
		.seconds = 2,
		.complete = true,
		.note = "one note",
		.references = 20,
		.loads = 20,
		.fetches = 1,
		.threads = 1,
		.merged = 1 },
	{ .command = "./a",
		.collector = "any",
		.origin = "din",
		.mode = "exact",
		.unit = "byte",
		.capabilities = "complete restores stores",
		.machine = "M",
		.seconds = 4,
		.complete = false,
		.note = "another",
		.references = 30,
		.bulk = 3,
		.lost = 5,
		.threads = 3,
		.merged = 4 },
};

static void random_hist(struct loci_hist *hist, enum loci_scheme scheme, bool sampled)
{
	loci_hist_init(hist, scheme);
	if (sampled)
		hist->square = calloc(1, sizeof(double));
	for (int i = 0; i < 200; i++)
		CHECK(loci_hist_add(hist, next_random(1ull << next_random(31)),
			      sampled ? 0.5 : (double)next_random(1000)) == 0);
	hist->cold = (double)next_random(100);
	hist->coherence = (double)next_random(100);
}

/* Input i: blocks of 64 bytes everywhere, of 4096 in all but the last; per-set histograms for
 * 2^0..2^2 sets, 2^2 not in the first; the second one's time histogram is sampled. */
static void write_input(unsigned i)
{
	struct loci_err err = { "" };
	struct loci_profile *profile = NULL;

	CHECK(loci_profile_create(path[i], &profile, &err) == 0);
	CHECK(loci_profile_put_run(profile, &runs[i], &err) == 0);
	for (uint64_t block = 64; block <= (i == N - 1 ? 64 : 4096); block *= 64) {
		struct loci_grain grain = { .block_bytes = block,
			.touches = 100 * (i + 1),
			.writes = 10 + i,
			.straddles = i,
			.blocks = 7 + i,
			.sampling_rate = i == 1 ? 0.25 : 1,
			.error_points = i == 1 ? 3 : 0,
			.sampled_from = i == 1 ? 50 : 0 };

		CHECK(loci_profile_put_grain(profile, &grain, &err) == 0);
		for (int d = 0; d < 5; d++)
			for (unsigned bits = 0; bits < (d < 3 ? 1 : i == 0 ? 2 : 3); bits++) {
				struct loci_hist_key key = { (enum loci_distance)d, block, bits,
					LOCI_OWNER_WHOLE, 0 };
				struct loci_hist hist;

				random_hist(&hist, d < 3 ? LOCI_SCHEME_FINE : LOCI_SCHEME_LINEAR,
					i == 1 && d == LOCI_DISTANCE_TIME);
				CHECK(loci_profile_put_hist(profile, &key, &hist, &err) == 0);
				loci_hist_fini(&hist);
			}
	}
	for (uint32_t t = 0; t < runs[i].threads; t++) {
		struct loci_thread_totals totals = { .thread = 10 * t + 5,
			.references = 100 * i + t };
		struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_THREAD,
			10 * t + 5 };
		struct loci_hist hist;

		random_hist(&hist, LOCI_SCHEME_COARSE, false);
		CHECK(loci_profile_put_thread(profile, &totals, &err) == 0);
		CHECK(loci_profile_put_hist(profile, &key, &hist, &err) == 0);
		loci_hist_fini(&hist);
	}
	CHECK(loci_profile_commit(profile, &err) == 0);
	CHECK_STR(err.text, "");
	loci_profile_close(profile);
}

static struct loci_profile *open_profile(const char *name)
{
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	if (loci_profile_open(name, &profile, &err) < 0)
		CHECK_FAIL("%s", err.text);
	return profile;
}

static double weight(const struct loci_hist *hist, uint32_t bin)
{
	return bin < hist->n_bins ? hist->weight[bin] : 0;
}

static double square(const struct loci_hist *hist, uint32_t bin)
{
	return !hist->square ? weight(hist, bin) : bin < hist->n_bins ? hist->square[bin] : 0;
}

/* The merged histogram is, bin for bin, the inputs' sum. */
static void check_sum(struct loci_profile *sum, struct loci_profile *const *input, size_t n,
	const struct loci_hist_key *key)
{
	const struct loci_hist *got, *part[N];
	double cold = 0, coherence = 0;

	CHECK(loci_profile_hist(sum, key, &got, NULL) == 0);
	for (size_t i = 0; i < n; i++) {
		CHECK(loci_profile_hist(input[i], key, &part[i], NULL) == 0);
		cold += part[i]->cold;
		coherence += part[i]->coherence;
	}
	CHECK_NEAR(got->cold, cold, 0);
	CHECK_NEAR(got->coherence, coherence, 0);
	for (uint32_t bin = 0; bin < LOCI_FINE_BINS; bin++) {
		double w = 0, s = 0;

		for (size_t i = 0; i < n; i++) {
			w += weight(part[i], bin);
			s += square(part[i], bin);
		}
		CHECK_NEAR(weight(got, bin), w, 0);
		CHECK_NEAR(square(got, bin), s, 0);
	}
}

static void check_run(const struct loci_run *run)
{
	CHECK_STR(run->command, "./a; ./b");
	CHECK_STR(run->collector, "mixed");
	CHECK_STR(run->origin, "mixed");
	CHECK_STR(run->mode, "sample");
	CHECK_STR(run->unit, "byte");
	CHECK_STR(run->capabilities, "complete stores");
	CHECK_STR(run->machine, "M");
	CHECK(!run->caches && run->program_version);
	CHECK_STR(run->started, "2026-01-02T00:00:00Z");
	CHECK_NEAR(run->seconds, 7.5, 0);
	CHECK(!run->complete);
	CHECK(run->note && strstr(run->note, "one note; another; left out"));
	CHECK(run->note &&
		strstr(run->note,
			"4096-byte blocks, set distances of 64-byte blocks at 4 "
			"sets, set_dirty distances of 64-byte blocks at 4 sets"));
	CHECK_U64(run->references, 60);
	CHECK_U64(run->loads, 26);
	CHECK_U64(run->stores, 4);
	CHECK_U64(run->fetches, 1);
	CHECK_U64(run->bulk, 3);
	CHECK_U64(run->lost, 5);
	CHECK_U64(run->threads, 6);
	CHECK_U64(run->merged, 6);
}

static void check_threads(struct loci_profile *sum, struct loci_profile *const *input)
{
	const struct loci_hist *got, *want;
	size_t n, next = 0;
	const struct loci_thread_totals *thread = loci_profile_threads(sum, &n);

	CHECK_U64(n, 6);
	for (unsigned i = 0; i < N; i++)
		for (uint32_t t = 0; t < runs[i].threads; t++, next++) {
			struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_THREAD,
				10 * t + 5 };

			CHECK_U64(thread[next].thread, next);
			CHECK_U64(thread[next].references, 100 * i + t);
			CHECK(loci_profile_hist(input[i], &key, &want, NULL) == 0);
			key.owner_id = (int64_t)next;
			CHECK(loci_profile_hist(sum, &key, &got, NULL) == 0);
			CHECK_U64(got->n_bins, want->n_bins);
			for (uint32_t bin = 0; bin < want->n_bins; bin++)
				CHECK_NEAR(weight(got, bin), want->weight[bin], 0);
		}
}

static void check_merge(void)
{
	char *inputs[N] = { path[0], path[1], path[2] };
	struct loci_profile *sum, *input[N];
	const struct loci_grain *grain;
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_profile_merge(out, inputs, N, &err) == 0);
	CHECK_STR(err.text, "");
	sum = open_profile(out);
	for (unsigned i = 0; i < N; i++)
		input[i] = open_profile(path[i]);
	check_run(loci_profile_run(sum));
	grain = loci_profile_grains(sum, &n);
	CHECK_U64(n, 1);
	CHECK_U64(grain->block_bytes, 64);
	CHECK_U64(grain->touches, 600);
	CHECK_U64(grain->writes, 33);
	CHECK_U64(grain->straddles, 3);
	CHECK_NEAR(grain->blocks, 24, 0);
	CHECK_NEAR(grain->sampling_rate, 0.25, 0);
	CHECK_NEAR(grain->error_points, 1, 1e-12); /* 3 points of 200 in 600 touches */
	CHECK_U64(grain->sampled_from, 150);
	for (int d = 0; d < 5; d++)
		for (unsigned bits = 0; bits < (d < 3 ? 1 : 2); bits++)
			check_sum(sum, input, N,
				&(struct loci_hist_key){
					(enum loci_distance)d, 64, bits, LOCI_OWNER_WHOLE, 0 });
	loci_profile_hist_keys(sum, &n);
	CHECK_U64(n, 3 + 2 * 2 + 6);
	check_threads(sum, input);
	loci_profile_close(sum);
	for (unsigned i = 0; i < N; i++)
		loci_profile_close(input[i]);
}

/* One profile merged alone is itself; over one of the inputs is fine. */
static void check_alone(void)
{
	char *inputs[] = { path[0] };
	struct loci_profile *sum, *input = open_profile(path[0]);
	const struct loci_hist_key *key;
	struct loci_err err = { "" };
	size_t n, n_input;

	CHECK(loci_profile_merge(path[0], inputs, 1, &err) == 0);
	sum = open_profile(path[0]);
	loci_profile_hist_keys(input, &n_input);
	key = loci_profile_hist_keys(sum, &n);
	CHECK_U64(n, n_input);
	for (size_t i = 0; i < n; i++)
		if (key[i].owner == LOCI_OWNER_WHOLE)
			check_sum(sum, &input, 1, &key[i]);
	CHECK(!loci_profile_run(sum)->note);
	CHECK_U64(loci_profile_run(sum)->merged, 1);
	loci_profile_close(sum);
	loci_profile_close(input);
}

static void write_small(const char *name, const char *unit, uint64_t block_bytes, uint64_t refs)
{
	struct loci_run run = { .unit = (char *)unit, .references = refs, .merged = 1 };
	struct loci_grain grain = { .block_bytes = block_bytes };
	struct loci_profile *profile;

	CHECK(loci_profile_create(name, &profile, NULL) == 0);
	CHECK(loci_profile_put_run(profile, &run, NULL) == 0);
	CHECK(loci_profile_put_grain(profile, &grain, NULL) == 0);
	CHECK(loci_profile_commit(profile, NULL) == 0);
	loci_profile_close(profile);
}

static void expect_failure(size_t n, const char *want)
{
	char *inputs[] = { path[0], path[1] };
	struct loci_err err = { "" };

	unlink(out);
	CHECK(loci_profile_merge(out, inputs, n, &err) < 0);
	if (!strstr(err.text, want))
		CHECK_FAIL("says \"%s\", want \"%s\"", err.text, want);
	CHECK(access(out, F_OK) < 0);
}

static void check_refusals(void)
{
	expect_failure(0, "no profiles");
	write_small(path[0], "byte", 1, 1);
	write_small(path[1], "object", 1, 1);
	expect_failure(2, "its unit is object, that of the profiles before it byte");
	write_small(path[1], "byte", 2, 1);
	expect_failure(2, "share no block size");
	write_small(path[0], "byte", 2, INT64_MAX);
	expect_failure(2, "run.refs is out of range");
	unlink(path[1]);
	expect_failure(2, "No such file");
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(out, sizeof(out), "%s/out.loci", directory);
	for (unsigned i = 0; i < N; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%u.loci", directory, i);
		write_input(i);
	}
	check_merge();
	check_alone();
	check_refusals();
	for (unsigned i = 0; i < N; i++)
		unlink(path[i]);
	CHECK(rmdir(directory) == 0);
	return check_status();
}
