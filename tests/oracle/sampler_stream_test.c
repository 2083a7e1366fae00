// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of several threads with samples in them, against plain lists: every sample is the
 * reference that was chosen, and has the distance that it has in the whole stream. And what a
 * sample in fifty says of the whole; and what those say that chance leaves. */
#include "attribution.h"

#include "oracle/coherent_list.h"
#include "collect/runtime/gap.h"
#include "profile/dimension.h"

#define THREADS  4
#define MAX_REFS 60000
#define AHEAD    40 /* references that a sample is announced before */

static uint64_t state = 88172645463325252u;

static uint64_t below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

struct stream {
	struct words words;
	struct list_touch touch[MAX_REFS];
	uint64_t shared[MAX_REFS];
	bool is_sample[MAX_REFS];
	size_t n, n_samples;
	uint32_t n_threads;
};

struct thread {
	uint64_t count, next, random, at;
};

/* What kernels do: a sweep, a sweep in two ways, random, a stencil, a list that is shared. */
enum pattern { SWEEP, SAWTOOTH, RANDOM, STENCIL, SHARED, PATTERNS };

static uint64_t block_of(enum pattern pattern, uint32_t member, struct thread *t)
{
	uint64_t own = 600, base = member * own, i = t->at++;

	switch (pattern) {
	case SWEEP:
		return base + i / 8 % 400;
	case SAWTOOTH:
		return base + (i / 4 % 1000 < 500 ? i / 4 % 500 : 499 - i / 4 % 500);
	case RANDOM:
		return base + below(below(2) ? 30 : own);
	case STENCIL:
		return base + (i / 3 / 8 + i % 3 * 50) % 500;
	default:
		return below(5) ? base + i / 8 % 100 : 4000 + below(60);
	}
}

static void announce(struct stream *s, struct thread *t, uint64_t period)
{
	while (t->next <= t->count + AHEAD) {
		mark(&s->words, LOCI_MARK_SAMPLE_OPEN, s->n_samples++, 7, 0ull, t->next, 0ull, 0ull,
			0ull, 0ull, period);
		t->next += loci_gap_draw(&t->random, period);
	}
}

static void make(struct stream *s, enum pattern pattern, uint32_t n_threads, uint64_t period)
{
	struct list_stacks *own = list_new(n_threads, false), *all = list_new(1, false);
	struct thread thread[THREADS] = { { 0 } };
	uint32_t m = 0;

	s->words.n = s->n_samples = 0;
	s->n_threads = n_threads;
	DEFINE(&s->words, 1, 0, LOAD(0x1000));
	DEFINE(&s->words, 2, 0, STORE(0x2000));
	for (uint32_t i = 0; i < n_threads; i++) {
		thread[i].random = i + period;
		thread[i].next = 10 + loci_gap_draw(&thread[i].random, period);
		mark(&s->words, LOCI_MARK_SWITCH, i + 1, 0);
		mark(&s->words, LOCI_MARK_WINDOW_BEGIN, 0, 1, 0ull);
	}
	s->n = MAX_REFS;
	for (size_t i = 0; i < s->n; i++) {
		struct list_touch *touch = &s->touch[i], together;

		if (i < n_threads || below(20) == 0) {
			m = i < n_threads ? (uint32_t)i : (uint32_t)below(n_threads);
			mark(&s->words, LOCI_MARK_SWITCH, m + 1, 0);
			announce(s, &thread[m], period);
		}
		*touch = together = (struct list_touch){ .member = m,
			.block = block_of(pattern, m, &thread[m]) % LIST_BLOCKS,
			.bytes = 255,
			.is_write = below(pattern == SHARED ? 9 : 4) == 0 };
		together.member = 0;
		list_touch(own, touch);
		list_touch(all, &together);
		s->shared[i] = together.distance;
		s->is_sample[i] = false;
		thread[m].count++;
		put(&s->words, loci_mark_word(LOCI_MARK_BLOCK, 0, touch->is_write ? 2 : 1));
		put(&s->words, touch->block * 64 + below(8) * 8);
		announce(s, &thread[m], period);
	}
	for (uint32_t i = 0; i < n_threads; i++) {
		struct thread again = { .random = i + period };
		uint64_t number = 10 + loci_gap_draw(&again.random, period), count = 0;

		for (size_t k = 0; k < s->n; k++)
			if (s->touch[k].member == i && ++count == number) {
				s->is_sample[k] = true;
				number += loci_gap_draw(&again.random, period);
			}
		mark(&s->words, LOCI_MARK_SWITCH, i + 1, 0);
		mark(&s->words, LOCI_MARK_COUNT, 0, 1, thread[i].count);
	}
	list_free(own);
	list_free(all);
}

/* What lists say of samples: by fine bin, and in no bin. */
struct expected {
	struct loci_hist shared, private_;
	size_t n, stores;
};

static size_t next_use(const struct stream *s, size_t at, bool own)
{
	size_t i = at + 1;

	while (i < s->n &&
		(s->touch[i].block != s->touch[at].block ||
			(own && s->touch[i].member != s->touch[at].member)))
		i++;
	return i;
}

static void add(struct loci_hist *hist, bool is_finite, uint64_t distance)
{
	if (!is_finite)
		hist->cold++;
	else if (loci_hist_add(hist, distance, 1) < 0)
		abort();
}

static void expect(const struct stream *s, struct expected *e)
{
	*e = (struct expected){ .n = 0 };
	loci_hist_init(&e->shared, LOCI_SCHEME_FINE);
	loci_hist_init(&e->private_, LOCI_SCHEME_FINE);
	for (size_t i = 0; i < s->n; i++) {
		size_t any, own;

		if (!s->is_sample[i])
			continue;
		any = next_use(s, i, false);
		own = next_use(s, i, true);
		add(&e->shared, any < s->n, any < s->n ? s->shared[any] : 0);
		add(&e->private_,
			own < s->n &&
				(s->touch[own].kind & LOCI_COHERENT_MASK) == LOCI_COHERENT_REUSE,
			own < s->n ? s->touch[own].distance : 0);
		e->n++;
		e->stores += s->touch[i].is_write;
	}
}

static const struct loci_hist *hist_of(struct loci_profile *profile, enum loci_distance distance)
{
	struct loci_hist_key key = { .distance = distance, .block_bytes = 64 };
	const struct loci_hist *hist = NULL;

	loci_profile_hist(profile, &key, &hist, NULL);
	return hist;
}

/* Bin by bin, but for samples that were given up. one: the weight of a sample. */
static void compare(const struct loci_hist *got, const struct loci_hist *want,
	const struct loci_hist *given_up, double one)
{
	double missing = 0, up = given_up ? loci_hist_finite(given_up) / one : 0;

	CHECK(got && got->square);
	if (!got)
		return;
	for (uint32_t i = 0; i < got->n_bins || i < want->n_bins; i++) {
		double g = i < got->n_bins ? got->weight[i] / one : 0;
		double w = i < want->n_bins ? want->weight[i] : 0;

		CHECK(g < w + 1e-6);
		missing += w - g;
		if (i < got->n_bins && got->square)
			CHECK_NEAR(got->square[i], got->weight[i] * one, 1e-6 * one * one);
	}
	CHECK(missing < up + 1e-6);
	CHECK_NEAR((got->cold + got->coherence) / one, want->cold + missing, 1e-6);
}

/* Agreement of finite distances, over coarse bins. */
static double all_agreements, n_agreements;

static void check_agreement(const struct loci_hist *got, const struct stream *s, double n)
{
	double part[2][LOCI_COARSE_BINS] = { { 0 } }, sum[2] = { 0 }, differ = 0, bins = 0;

	for (uint32_t i = 0; i < got->n_bins; i++) {
		part[0][loci_bin_coarse(loci_bin_low(LOCI_SCHEME_FINE, i))] += got->weight[i];
		sum[0] += got->weight[i];
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->shared[i] != LOCI_INFINITE) {
			part[1][loci_bin_coarse(s->shared[i])]++;
			sum[1]++;
		}
	for (uint32_t i = 0; i < LOCI_COARSE_BINS; i++) {
		differ += fabs(part[0][i] / sum[0] - part[1][i] / sum[1]);
		bins += part[1][i] > 0;
	}
	/* Schuff et al. 2010, appendix A: 1.96 sqrt(bins / n) in sum, but for one time in twenty */
	CHECK(differ < 1.96 * sqrt(bins / n));
	all_agreements += 1 - differ / 2;
	n_agreements++;
}

static uint32_t closed;

static void count_closed(void *data, int64_t pid, uint32_t n)
{
	(void)data;
	(void)pid;
	closed += n;
}

static void check_profile(struct loci_profile *profile, const struct stream *s, uint64_t period)
{
	const struct loci_sampling_row *sampling;
	const struct loci_site_row *site;
	struct expected e;
	double one;
	size_t n;

	expect(s, &e);
	one = (double)s->n / (double)e.n;
	CHECK(loci_profile_samplings(profile, &sampling, &n, NULL) == 0 && n == 1);
	if (n == 1) {
		CHECK_U64(sampling->samples, e.n);
		CHECK_U64(sampling->refs, s->n);
		CHECK_U64(sampling->analysed_refs, s->n);
		CHECK_U64(sampling->period, period);
		CHECK_U64(sampling->seed, 3);
		CHECK_NEAR(sampling->effective, (double)e.n, 1e-6 * (double)e.n);
		CHECK(sampling->pruned <= 2 + e.n / 50);
	}
	CHECK_U64(closed, s->n_samples);
	compare(hist_of(profile, LOCI_DISTANCE_STACK), &e.shared,
		hist_of(profile, LOCI_DISTANCE_AT_LEAST), one);
	if (s->n_threads > 1)
		compare(hist_of(profile, LOCI_DISTANCE_PRIVATE), &e.private_,
			hist_of(profile, LOCI_DISTANCE_PRIVATE_AT_LEAST), one);
	else
		CHECK(!hist_of(profile, LOCI_DISTANCE_PRIVATE));
	CHECK_U64(loci_profile_run(profile)->references, s->n);
	CHECK_STR(loci_profile_run(profile)->mode, "sample");
	CHECK(loci_profile_grain(profile, 64)->error_points > 0);
	CHECK(loci_profile_sites(profile, &site, &n, NULL) == 0 && n == 2);
	if (n == 2)
		CHECK_NEAR((double)site[1].refs, (double)e.stores * one, 1 + (double)e.stores);
	if (period == 50)
		check_agreement(hist_of(profile, LOCI_DISTANCE_STACK), s, (double)e.n);
	loci_hist_fini(&e.shared);
	loci_hist_fini(&e.private_);
}

static void check_stream(enum pattern pattern, uint32_t n_threads, uint64_t period)
{
	static struct stream s;
	struct loci_analyse_sampling sampling = { .period = period,
		.seed = 3,
		.gamble_touches = MAX_REFS, /* all are followed */
		.closed = count_closed };
	struct loci_analyse_options options = {
		.attribute = true, .no_sets = true, .pairs = LOCI_PAIRS_NONE, .sampling = &sampling
	};
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	closed = 0;
	make(&s, pattern, n_threads, period);
	profile = attributed(&s.words, &options);
	CHECK(profile != NULL);
	if (profile)
		check_profile(profile, &s, period);
}

/* Coarse bins, and beyond them what is in none. */
struct shares {
	double part[LOCI_COARSE_BINS + 1];
};

static void add_shares(const struct loci_hist *hist, double weight, struct shares *ret)
{
	double all = loci_hist_total(hist);

	for (uint32_t i = 0; i < hist->n_bins; i++)
		ret->part[loci_bin_coarse(loci_bin_low(LOCI_SCHEME_FINE, i))] +=
			weight * hist->weight[i] / all;
	ret->part[LOCI_COARSE_BINS] += weight * (hist->cold + hist->coherence) / all;
}

static double differ_by(const struct shares *a, const struct shares *b)
{
	double sum = 0;

	for (size_t i = 0; i <= LOCI_COARSE_BINS; i++)
		sum += fabs(a->part[i] - b->part[i]) / 2;
	return sum;
}

/* Where chance drops samples that are older than 200 touches, what is left says of all what they
 * said, in the mean of some seeds, and each time it adds up. */
static void check_chance(enum pattern pattern, uint32_t n_threads)
{
	static struct stream s;
	const uint64_t seeds = 12, period = 7;
	struct shares shared = { { 0 } }, private_ = { { 0 } }, want = { { 0 } },
		      want_private = { { 0 } };
	struct expected e;

	make(&s, pattern, n_threads, period);
	expect(&s, &e);
	add_shares(&e.shared, 1, &want);
	add_shares(&e.private_, 1, &want_private);
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct loci_analyse_sampling sampling = {
			.period = period, .seed = seed, .gamble_touches = 200
		};
		struct loci_analyse_options options = { .attribute = true,
			.no_sets = true,
			.pairs = LOCI_PAIRS_NONE,
			.sampling = &sampling };
		loci_cleanup(loci_profile_closep) struct loci_profile *profile =
			attributed(&s.words, &options);
		const struct loci_sampling_row *row;
		const struct loci_hist *hist;
		size_t n = 0;

		CHECK(profile && loci_profile_samplings(profile, &row, &n, NULL) == 0 && n == 1);
		if (n != 1)
			continue;
		CHECK_U64(row->samples, e.n);
		CHECK(row->effective < 0.97 * (double)e.n); /* they are worth less */
		hist = hist_of(profile, LOCI_DISTANCE_STACK);
		CHECK_NEAR(loci_hist_total(hist), (double)s.n, 1e-6 * (double)s.n);
		add_shares(hist, 1 / (double)seeds, &shared);
		hist = hist_of(profile, LOCI_DISTANCE_PRIVATE);
		if (hist)
			CHECK_NEAR(loci_hist_total(hist), (double)s.n, 1e-6 * (double)s.n);
		if (hist)
			add_shares(hist, 1 / (double)seeds, &private_);
	}
	CHECK(differ_by(&shared, &want) < 0.02);
	if (n_threads > 1)
		CHECK(differ_by(&private_, &want_private) < 0.02);
	loci_hist_fini(&e.shared);
	loci_hist_fini(&e.private_);
}

int main(void)
{
	static const uint64_t periods[] = { 50, 7, 300 };

	for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
		for (uint32_t threads = 1; threads <= THREADS; threads += 3)
			for (size_t i = 0;
				i < (threads == 1 || getenv("LONG") ? check_turns(3) : 1); i++)
				check_stream((enum pattern)pattern, threads, periods[i]);
	CHECK(all_agreements / n_agreements > 0.95);
	for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
		check_chance((enum pattern)pattern, pattern % 2 ? 1 : THREADS);
	return check_status();
}
