// SPDX-License-Identifier: GPL-2.0-or-later
/* Distances of samples, fed only while samples are open and in pieces of any length, against plain
 * lists that are fed everything; and that what is given up is given up rightly. */
#include "check.h"

#include "coherent_list.h"
#include "engine/windowed.h"

#define MAX_TOUCHES 6000
#define MAX_SAMPLES 2000

static uint64_t state = 88172645463325252u;

static uint64_t rnd(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

struct stream {
	struct list_touch touch[MAX_TOUCHES]; /* distances in the members' own stacks */
	uint64_t shared[MAX_TOUCHES];         /* and in that of all */
	size_t n;
};

struct samples {
	size_t touch[MAX_SAMPLES]; /* by tag */
	size_t n;
	size_t second; /* the first touch that was fed of a second member */
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

/* Feeds pieces of random lengths, of which only what is needed. */
static void feed(struct loci_windowed *w, const struct stream *s, uint64_t period, bool all,
	struct samples *samples)
{
	struct loci_err err = { "" };
	uint32_t first = UINT32_MAX;
	size_t i = 0;

	samples->second = SIZE_MAX;
	samples->n = 0;
	while (i < s->n) {
		size_t end = i + 1 + rnd(rnd(10) ? 50 : 1000);
		uint64_t block[1100], bytes[1100], tag[1100];
		uint8_t is_write[1100];
		uint32_t turn_touch[1100], turn_member[1100], sample_touch[1100];
		struct loci_windowed_touches t = { .block = block,
			.is_write = is_write,
			.bytes = bytes,
			.turn_touch = turn_touch,
			.turn_member = turn_member,
			.sample_touch = sample_touch,
			.sample_tag = tag };
		bool follows = all || loci_windowed_n_open(w) > 0;

		for (; i < end && i < s->n; i++) {
			const struct list_touch *touch = &s->touch[i];
			bool is_sample = rnd(period) == 0 && samples->n < MAX_SAMPLES;

			follows |= is_sample;
			if (!follows)
				continue;
			if (first == UINT32_MAX)
				first = touch->member;
			if (samples->second == SIZE_MAX && touch->member != first)
				samples->second = i;
			if (!t.n_turns || turn_member[t.n_turns - 1] != touch->member) {
				turn_touch[t.n_turns] = (uint32_t)t.n;
				turn_member[t.n_turns++] = touch->member;
			}
			if (is_sample) {
				sample_touch[t.n_samples] = (uint32_t)t.n;
				tag[t.n_samples++] = samples->n;
				samples->touch[samples->n++] = i;
			}
			block[t.n] = touch->block;
			bytes[t.n] = touch->bytes;
			is_write[t.n++] = touch->is_write;
		}
		if (t.n)
			CHECK(loci_windowed_feed(w, &t, &err) == 0);
	}
	CHECK(loci_windowed_finish(w, &err) == 0);
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

static void check_private(const struct stream *s, const struct samples *samples, size_t at,
	const struct loci_windowed_answer *answer, uint64_t limit)
{
	size_t next = next_use(s, at, true);
	const struct list_touch *touch = next < s->n ? &s->touch[next] : NULL;
	unsigned kind = touch ? touch->kind & LOCI_COHERENT_MASK : LOCI_COHERENT_COLD;

	if (answer->kind == LOCI_WINDOWED_AT_LEAST) {
		CHECK(answer->distance <=
			(kind == LOCI_COHERENT_REUSE ? touch->distance : LOCI_INFINITE));
		/* too old, or there was only one member so far */
		CHECK((limit && next - at > limit) ||
			(at < samples->second && next > samples->second));
	} else if (kind == LOCI_COHERENT_REUSE) {
		CHECK_U64(answer->kind, LOCI_WINDOWED_REUSE);
		CHECK_U64(answer->distance, touch->distance);
	} else if (touch) {
		/* what comes after it was taken away need not be fed */
		CHECK(answer->kind == LOCI_WINDOWED_LOST || answer->kind == LOCI_WINDOWED_LAST);
	} else {
		CHECK_U64(answer->kind, LOCI_WINDOWED_LAST);
	}
}

static struct {
	size_t samples, reuses, lost, at_least, differ;
} found;

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
	outcome = loci_windowed_outcomes(w, &n);
	CHECK_U64(n, samples.n);
	for (size_t i = 0; i < n; i++) {
		size_t at = samples.touch[outcome[i].tag];

		CHECK_U64(outcome[i].member, s->touch[at].member);
		check_shared(s, at, &outcome[i].shared, limit);
		check_private(s, &samples, at, &outcome[i].private_, limit);
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
	uint64_t bytes = 1;
	uint8_t is_write = 0;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t block = i % 1000 == 999 ? 1000000 + i / 1000 % 30 : i % 10, tag = i;
		uint32_t zero = 0;
		struct loci_windowed_touches t = { .block = &block,
			.is_write = &is_write,
			.bytes = &bytes,
			.n = 1,
			.turn_touch = &zero,
			.turn_member = &zero,
			.n_turns = 1,
			.sample_touch = &zero,
			.sample_tag = &tag,
			.n_samples = i % 7 == 0 || i % 1000 == 999 };

		CHECK(loci_windowed_feed(w, &t, &err) == 0);
	}
	CHECK(loci_windowed_finish(w, &err) == 0);
	outcome = loci_windowed_outcomes(w, &n);
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

/* A member ends with samples open; another goes on counting unseen. */
static void check_ends(void)
{
	struct loci_windowed_options options = { 0 };
	uint64_t block[] = { 1, 2, 3, 4, 5, 6 }, bytes[] = { 1, 1, 1, 1, 1, 1 };
	uint8_t is_write[6] = { 0 };
	uint32_t turn_touch[] = { 0, 1 }, turn_member[] = { 0, 1 }, sample_touch[] = { 0, 1 };
	uint64_t tag[] = { 10, 11 };
	struct loci_windowed_touches t = { .block = block,
		.is_write = is_write,
		.bytes = bytes,
		.n = 6,
		.turn_touch = turn_touch,
		.turn_member = turn_member,
		.n_turns = 2,
		.sample_touch = sample_touch,
		.sample_tag = tag,
		.n_samples = 2 };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	struct loci_err err = { "" };
	size_t n;

	CHECK(loci_windowed_new(&options, &w, &err) == 0);
	CHECK(loci_windowed_feed(w, &t, &err) == 0);
	CHECK_U64(loci_windowed_n_open(w), 2);
	CHECK(loci_windowed_interrupt(w, 1, &err) == 0);
	CHECK_U64(loci_windowed_n_open(w), 1);
	CHECK(loci_windowed_end(w, 0, &err) == 0);
	CHECK_U64(loci_windowed_n_open(w), 1); /* others may touch it */
	CHECK(loci_windowed_finish(w, &err) == 0);
	CHECK_U64(loci_windowed_n_open(w), 0);
	outcome = loci_windowed_outcomes(w, &n);
	CHECK_U64(n, 2);
	CHECK_U64(outcome[0].shared.kind, LOCI_WINDOWED_LAST);
	CHECK_U64(outcome[1].private_.kind, LOCI_WINDOWED_AT_LEAST);
	CHECK_U64(outcome[1].private_.distance, 4);
	CHECK_U64(outcome[1].shared.distance, 4);
	loci_windowed_free(w);
}

/* A sample opens when an older one is due to be given up, whose reuse comes a little later in the
 * same touches: what is said of that one is no more than its distance. */
static void check_due(void)
{
	const struct loci_windowed_options options = { .limit_touches = 5 };
	enum { AWAY = 7, AFTER = 20, N = 2 + AWAY + 1 + AFTER };
	uint64_t block[N], bytes[N];
	uint8_t is_write[N] = { 0 };
	struct loci_windowed_touches t = { .block = block,
		.is_write = is_write,
		.bytes = bytes,
		.n = N,
		.turn_touch = (uint32_t[]){ 0, 1 },
		.turn_member = (uint32_t[]){ 1, 0 },
		.n_turns = 2,
		.sample_touch = (uint32_t[]){ 1, 1 + AWAY },
		.sample_tag = (uint64_t[]){ 0, 1 },
		.n_samples = 2 };
	const struct loci_windowed_outcome *outcome;
	struct loci_windowed *w = NULL;
	size_t n;

	for (size_t i = 0; i < N; i++) {
		block[i] = 100 + i;
		bytes[i] = 1;
	}
	block[2 + AWAY] = block[1];
	CHECK(loci_windowed_new(&options, &w, NULL) == 0);
	CHECK(loci_windowed_feed(w, &t, NULL) == 0);
	CHECK(loci_windowed_finish(w, NULL) == 0);
	outcome = loci_windowed_outcomes(w, &n);
	CHECK_U64(n, 2);
	CHECK(outcome[0].private_.kind == LOCI_WINDOWED_REUSE ||
		outcome[0].private_.kind == LOCI_WINDOWED_AT_LEAST);
	CHECK(outcome[0].private_.distance <= AWAY);
	CHECK(outcome[0].shared.distance <= AWAY);
	loci_windowed_free(w);
}

int main(void)
{
	check_random();
	check_percentile();
	check_ends();
	check_due();
	return check_status();
}
