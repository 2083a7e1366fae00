// SPDX-License-Identifier: GPL-2.0-or-later
/* Distances of samples, fed only while samples are open, against plain
 * lists that are fed everything; and that what is given up is given up rightly. */
#include "check.h"
#include "rnd.h"

#include "coherent_list.h"
#include "engine/epochs.h"
#include "engine/windowed.h"

#include <errno.h>

#define MAX_TOUCHES 6000
#define MAX_SAMPLES 2000

static struct {
	size_t samples, reuses, lost, at_least, differ, passed;
} found;

struct stream {
	struct list_touch touch[MAX_TOUCHES]; /* distances in the members' own stacks */
	uint64_t shared[MAX_TOUCHES];         /* and in that of all */
	size_t n;
};

struct samples {
	size_t touch[MAX_SAMPLES]; /* by tag */
	size_t n;
};

/* What a member does next: its own blocks, those of all, in loops or at random. */
static struct list_touch next_touch(uint32_t member, uint32_t n_members, uint64_t n_blocks)
{
	static uint64_t at[LIST_MEMBERS];
	bool shares = rnd(4) == 0;
	uint64_t own = n_blocks / n_members + 1, block;

	at[member]++;
	block = rnd(3) ? at[member] % own : rnd(own);
	return (struct list_touch){ .member = member,
		.block = (shares ? rnd(n_blocks) : member * own + block) % LIST_BLOCKS,
		.bytes = 1ull << rnd(64),
		.is_write = rnd(shares ? 12 : 3) == 0 };
}

static void make(struct stream *s, uint32_t n_members, uint64_t n_blocks)
{
	struct list_stacks *own = list_new(n_members, false), *all = list_new(1, false);
	uint32_t member = 0;

	s->n = 500 + rnd(MAX_TOUCHES - 500);
	for (size_t i = 0; i < s->n; i++) {
		struct list_touch together;

		if (rnd(8) == 0)
			member = (uint32_t)rnd(n_members);
		s->touch[i] = together = next_touch(member, n_members, n_blocks);
		together.member = 0;
		list_touch(own, &s->touch[i]);
		list_touch(all, &together);
		s->shared[i] = together.distance;
	}
	list_free(own);
	list_free(all);
}

static void feed_touch(struct loci_windowed *w, const struct list_touch *touch)
{
	struct loci_epochs *epochs = loci_windowed_epochs(w);

	/* what is known to change nothing is only counted */
	if (rnd(2) &&
		loci_epochs_find(epochs, touch->block)->last ==
			loci_epochs_here(epochs, touch->member)) {
		epochs->touches++;
		found.passed++;
		return;
	}
	CHECK(loci_windowed_touch(w,
		      &(struct loci_windowed_touch){ .block = touch->block,
			      .bytes = touch->bytes,
			      .member = touch->member,
			      .is_write = touch->is_write }) == 0);
}

/* What was taken, by sample. */
static struct {
	struct loci_windowed_outcome outcome[60000];
	size_t n;
} told;

static int keep(void *data, const struct loci_windowed_outcome *outcome)
{
	(void)data;
	told.outcome[told.n++] = *outcome;
	return 0;
}

static int by_tag(const void *a, const void *b)
{
	const struct loci_windowed_outcome *first = a, *second = b;

	return (first->tag > second->tag) - (first->tag < second->tag);
}

static const struct loci_windowed_outcome *outcomes(struct loci_windowed *w, size_t *ret_n)
{
	loci_windowed_finish(w);
	CHECK(loci_windowed_take(w, keep, NULL) == 0 && loci_windowed_n_untaken(w) == 0);
	qsort(told.outcome, told.n, sizeof(*told.outcome), by_tag);
	*ret_n = told.n;
	told.n = 0;
	return told.outcome;
}

/* Feeds only what is needed, or all. */
static void feed(struct loci_windowed *w, const struct stream *s, uint64_t period, bool all,
	struct samples *samples)
{
	uint64_t often = 1 + rnd(rnd(10) ? 50 : 1000);

	samples->n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct list_touch *touch = &s->touch[i];
		bool is_sample = rnd(period) == 0 && samples->n < MAX_SAMPLES;

		if (rnd(often) == 0)
			loci_windowed_prune(w);
		if (i % often == 0)
			CHECK(loci_windowed_take(w, keep, NULL) == 0);
		if (is_sample) {
			CHECK(loci_windowed_touch(w,
				      &(struct loci_windowed_touch){ .block = touch->block,
					      .bytes = touch->bytes,
					      .member = touch->member,
					      .is_write = touch->is_write }) == 0);
			CHECK(loci_windowed_open(w, samples->n) == 0);
			samples->touch[samples->n++] = i;
		} else if (all || loci_windowed_n_open(w)) {
			feed_touch(w, touch);
		}
	}
	loci_windowed_finish(w);
	CHECK_U64(loci_windowed_n_open(w), 0);
}

/* The next touch of a sample's block, by its own member or by any; n: there is none. */
static size_t next_use(const struct stream *s, size_t at, bool own)
{
	size_t i = at + 1;

	while (i < s->n &&
		(s->touch[i].block != s->touch[at].block ||
			(own && s->touch[i].member != s->touch[at].member)))
		i++;
	return i;
}

static uint64_t others_within(const struct stream *s, size_t from, size_t n)
{
	static bool seen[LIST_BLOCKS];
	uint64_t distinct = 0;

	memset(seen, 0, sizeof(seen));
	seen[s->touch[from].block] = true;
	for (size_t i = from + 1; i < s->n && i <= from + n; i++) {
		distinct += !seen[s->touch[i].block];
		seen[s->touch[i].block] = true;
	}
	return distinct;
}

static void check_shared(const struct stream *s, size_t at,
	const struct loci_windowed_answer *answer, uint64_t limit)
{
	size_t next = next_use(s, at, false);
	uint64_t truth = next < s->n ? s->shared[next] : LOCI_INFINITE;

	if (answer->kind == LOCI_WINDOWED_AT_LEAST) {
		CHECK(answer->distance <= truth);
		CHECK(answer->distance >= others_within(s, at, limit));
		CHECK(limit && next - at > limit);
	} else if (next < s->n) {
		CHECK_U64(answer->kind, LOCI_WINDOWED_REUSE);
		CHECK_U64(answer->distance, truth);
	} else {
		CHECK_U64(answer->kind, LOCI_WINDOWED_LAST);
	}
}

static void check_private(const struct stream *s, size_t at,
	const struct loci_windowed_answer *answer, uint64_t limit)
{
	size_t next = next_use(s, at, true);
	const struct list_touch *touch = next < s->n ? &s->touch[next] : NULL;
	unsigned kind = touch ? touch->kind & LOCI_COHERENT_MASK : LOCI_COHERENT_COLD;

	if (answer->kind == LOCI_WINDOWED_AT_LEAST) {
		CHECK(answer->distance <=
			(kind == LOCI_COHERENT_REUSE ? touch->distance : LOCI_INFINITE));
		CHECK(limit && next - at > limit);
	} else if (kind == LOCI_COHERENT_REUSE) {
		CHECK_U64(answer->kind, LOCI_WINDOWED_REUSE);
		CHECK_U64(answer->distance, touch->distance);
	} else if (touch) {
		/* what comes after it was taken away need not be fed */
		CHECK(answer->kind == LOCI_WINDOWED_LOST ||
			(!limit && answer->kind == LOCI_WINDOWED_LAST));
		if (limit)
			CHECK_U64(answer->is_false, kind == LOCI_COHERENT_FALSE);
	} else {
		CHECK_U64(answer->kind, LOCI_WINDOWED_LAST);
	}
}

static void check_stream(const struct stream *s, uint64_t period, uint64_t limit)
{
	struct loci_windowed_options options = { .limit_touches = limit };
	const struct loci_windowed_outcome *outcome;
	static struct samples samples;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	feed(w, s, period, limit > 0, &samples);
	outcome = outcomes(w, &n);
	CHECK_U64(n, samples.n);
	for (size_t i = 0; i < n; i++) {
		size_t at = samples.touch[outcome[i].tag];

		CHECK_U64(outcome[i].member, s->touch[at].member);
		check_shared(s, at, &outcome[i].shared, limit);
		check_private(s, at, &outcome[i].private_, limit);
		found.samples++;
		found.reuses += outcome[i].private_.kind == LOCI_WINDOWED_REUSE;
		found.lost += outcome[i].private_.kind == LOCI_WINDOWED_LOST;
		found.at_least += outcome[i].private_.kind == LOCI_WINDOWED_AT_LEAST;
		found.differ += outcome[i].private_.kind == LOCI_WINDOWED_REUSE &&
			outcome[i].private_.distance != outcome[i].shared.distance;
	}
	loci_windowed_free(w);
}

static void check_random(void)
{
	static struct stream s;

	for (size_t round = 0; round < check_amount(240); round++) {
		uint32_t n_members = 1 + (uint32_t)rnd(rnd(3) ? 5 : 20);

		make(&s, n_members, 8 + rnd(rnd(2) ? 60 : 1500));
		check_stream(&s, 1 + rnd(rnd(2) ? 20 : 400), rnd(3) ? 0 : 50 + rnd(600));
	}
	/* the tests above looked at everything that there is */
	CHECK(found.samples > check_amount(12000));
	CHECK(found.reuses > found.samples / 2);
	CHECK(found.lost > check_amount(100));
	CHECK(found.at_least > check_amount(100));
	CHECK(found.differ > check_amount(1200));
	CHECK(found.passed > check_amount(12000));
}

static void touch_one(struct loci_windowed *w, uint32_t member, uint64_t block, bool is_write)
{
	CHECK(loci_windowed_touch(w,
		      &(struct loci_windowed_touch){ .block = block,
			      .bytes = 1,
			      .member = member,
			      .is_write = is_write }) == 0);
}

/* Of a loop over blocks with a far one now and then: what is beyond the 99th percentile goes when
 * others open, and the percentile does not sink. */
static void check_percentile(void)
{
	struct loci_windowed_options options = { .prune_from = 100 };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n, far = 0, near = 0;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	for (uint64_t i = 0; i < 60000; i++) {
		touch_one(w, 0, i % 1000 == 999 ? 1000000 + i / 1000 % 30 : i % 10, false);
		if (i % 7 == 0 || i % 1000 == 999)
			CHECK(loci_windowed_open(w, i) == 0);
	}
	loci_windowed_finish(w);
	outcome = outcomes(w, &n);
	for (size_t i = 0; i < n; i++) {
		bool is_far = outcome[i].tag % 1000 == 999;

		if (outcome[i].shared.kind != LOCI_WINDOWED_AT_LEAST)
			continue;
		CHECK(outcome[i].shared.distance > 9);
		*(is_far ? &far : &near) += 1;
	}
	CHECK(far >= 50 && far <= 60);
	CHECK(near < 20 && far + near <= 1 + n / 100);
	loci_windowed_free(w);
}

/* Weights of the samples of one stream, over many seeds. */
struct chance {
	double sum[MAX_SAMPLES], variance[MAX_SAMPLES];
	size_t dropped, heavy;
};

static void gamble_once(const struct stream *s, uint64_t period, uint64_t seed,
	const struct loci_windowed_outcome *whole, struct chance *chance)
{
	struct loci_windowed_options options = { .gamble_touches = 100, .seed = seed };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n = 0;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	for (size_t i = 0; i < s->n; i++) {
		feed_touch(w, &s->touch[i]);
		if (i % 64 == 63)
			loci_windowed_prune(w);
		if (i % period == 0) {
			touch_one(w, s->touch[i].member, s->touch[i].block, s->touch[i].is_write);
			CHECK(loci_windowed_open(w, i / period) == 0);
		}
	}
	outcome = outcomes(w, &n);
	for (size_t i = 0; i < n; i++) {
		const struct loci_windowed_answer *answer = &outcome[i].shared;
		bool dropped = answer->kind == LOCI_WINDOWED_DROPPED;

		chance->sum[i] += dropped ? 0 : ldexp(1, (int)answer->stayed);
		chance->dropped += dropped;
		chance->heavy += answer->stayed > 1;
		if (dropped)
			continue;
		CHECK_U64(answer->kind, whole[i].shared.kind);
		CHECK_U64(answer->distance, whole[i].shared.distance);
		if (chance->variance[i] < ldexp(1, (int)answer->stayed) - 1)
			chance->variance[i] = ldexp(1, (int)answer->stayed) - 1;
	}
	loci_windowed_free(w);
}

/* Chance drops samples, and others stand for them: those that stay say what they would have said
 * anyway, and in the mean each sample stands for itself, near or far. */
static void check_chance(void)
{
	static struct stream s;
	static struct chance chance;
	static struct loci_windowed_outcome whole[MAX_SAMPLES];
	struct loci_windowed_options never = { 0 };
	const uint64_t period = 5, seeds = check_amount(200);
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	double z = 0, chi = 0;
	size_t n = 0, n_chance = 0;

	make(&s, 3, 300);
	CHECK(loci_windowed_new(&never, &w, &err) == 0);
	for (size_t i = 0; i < s.n; i++) {
		feed_touch(w, &s.touch[i]);
		if (i % period == 0) {
			touch_one(w, s.touch[i].member, s.touch[i].block, s.touch[i].is_write);
			CHECK(loci_windowed_open(w, i / period) == 0);
		}
	}
	memcpy(whole, outcomes(w, &n), (1 + (s.n - 1) / period) * sizeof(*whole));
	loci_windowed_free(w);
	for (uint64_t seed = 1; seed <= seeds; seed++)
		gamble_once(&s, period, seed, whole, &chance);
	CHECK(chance.dropped > n * seeds / 20 && chance.heavy > n * seeds / 50);
	for (size_t i = 0; i < n; i++) {
		double off = chance.sum[i] - (double)seeds;

		if (!(chance.variance[i] > 0)) { /* it is too young for chance, or always dropped */
			CHECK(off <= 0);
			CHECK(off >= 0 || chance.sum[i] <= 0);
			continue;
		}
		off /= sqrt((double)seeds * chance.variance[i]);
		z += off;
		chi += off * off;
		n_chance++;
	}
	/* Of n_chance numbers that are nearly normal; a weight that is left out is 7 off each. */
	CHECK(n_chance > n / 8);
	CHECK(fabs(z) < 4 * sqrt((double)n_chance));
	CHECK(fabs(chi - (double)n_chance) < 5 * sqrt(2 * (double)n_chance));
}

/* A member ends with samples open; another goes on counting unseen. */
static void check_ends(void)
{
	struct loci_windowed_options options = { 0 };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	touch_one(w, 0, 1, false);
	CHECK(loci_windowed_open(w, 10) == 0);
	touch_one(w, 1, 2, false);
	CHECK(loci_windowed_open(w, 11) == 0);
	for (uint64_t block = 3; block <= 6; block++)
		touch_one(w, 1, block, false);
	CHECK_U64(loci_windowed_n_open(w), 2);
	loci_windowed_interrupt(w, 1);
	CHECK_U64(loci_windowed_n_open(w), 1);
	loci_windowed_end(w, 0);
	CHECK_U64(loci_windowed_n_open(w), 1); /* others may touch it */
	loci_windowed_finish(w);
	CHECK_U64(loci_windowed_n_open(w), 0);
	outcome = outcomes(w, &n);
	CHECK_U64(n, 2);
	CHECK_U64(outcome[0].shared.kind, LOCI_WINDOWED_LAST);
	CHECK_U64(outcome[1].private_.kind, LOCI_WINDOWED_AT_LEAST);
	CHECK_U64(outcome[1].private_.distance, 4);
	CHECK_U64(outcome[1].shared.distance, 4);
	loci_windowed_free(w);
}

/* Another member takes the number of one that has ended: to its samples what that one touched is
 * new. */
static void check_again(void)
{
	struct loci_windowed_options options = { 0 };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	touch_one(w, 1, 9, false);
	CHECK(loci_windowed_open(w, 0) == 0);
	touch_one(w, 0, 1, false);
	touch_one(w, 0, 2, false);
	loci_windowed_end(w, 0);
	touch_one(w, 0, 3, false);
	CHECK(loci_windowed_open(w, 1) == 0);
	touch_one(w, 1, 2, true); /* no hole in the new one's */
	touch_one(w, 0, 1, false);
	touch_one(w, 0, 4, false);
	touch_one(w, 0, 3, false);
	touch_one(w, 1, 9, false);
	outcome = outcomes(w, &n);
	CHECK_U64(n, 2);
	CHECK_U64(outcome[0].private_.distance, 1);
	CHECK_U64(outcome[0].shared.distance, 4);
	CHECK_U64(outcome[1].private_.distance, 2);
	CHECK_U64(outcome[1].shared.distance, 3);
	loci_windowed_free(w);
}

/* Memory for what is not wanted any more is given back; a sample that was lost is not forgotten.
 * Blocks in equal steps find as many places as neighbours. */
static void check_memory(uint64_t step)
{
	struct loci_windowed_options options = { .max_bytes = 1 << 20 };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	touch_one(w, 0, 7, false);
	CHECK(loci_windowed_open(w, 0) == 0);
	for (uint64_t block = 1000; block < 101000; block++)
		touch_one(w, block % 2, block * step, false);
	loci_windowed_prune(w);
	CHECK(loci_epochs_bytes(loci_windowed_epochs(w)) > 1 << 20);
	touch_one(w, 1, 7, true);
	CHECK_U64(loci_windowed_n_open(w), 0);
	loci_windowed_prune(w);
	CHECK(loci_epochs_bytes(loci_windowed_epochs(w)) < 1 << 20);
	touch_one(w, 0, 7, false);
	outcome = outcomes(w, &n);
	CHECK_U64(n, 1);
	CHECK_U64(outcome[0].shared.distance, 100000);
	CHECK_U64(outcome[0].private_.kind, LOCI_WINDOWED_LOST);
	loci_windowed_free(w);
}

/* Rather no sample than one that is taken for an old one. */
static void check_last(void)
{
	struct loci_windowed_options options = { 0 };
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	touch_one(w, 0, 1, false);
	loci_windowed_epochs(w)->now = UINT32_MAX;
	CHECK(loci_windowed_open(w, 0) == -EOVERFLOW && loci_windowed_n_untaken(w) == 0);
	loci_windowed_free(w);
}

int main(void)
{
	check_random();
	check_percentile();
	check_chance();
	check_ends();
	check_again();
	for (uint64_t step = 1; step <= 1 << 20; step *= 16)
		check_memory(step);
	check_last();
	return check_status();
}
