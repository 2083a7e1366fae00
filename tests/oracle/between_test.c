// SPDX-License-Identifier: GPL-2.0-or-later
/* Stack distances by the samples between uses and reuses, of streams whose stack distances are
 * closed forms, and where one distribution of time distances for the whole run is wrong. */
#include "analyse/between.h"
#include "check.h"
#include "hist/hist.h"
#include "hist/statstack.h"
#include "rnd.h"

#define GAP   40
#define SHARE 16

struct touch {
	uint64_t block, context;
	uint64_t stack; /* distance to the next one, if this is looked at; 0: it is not */
};

struct stream {
	struct touch *touch;
	size_t n, cap;
};

static void touch(struct stream *stream, uint64_t block, uint64_t context, uint64_t stack)
{
	if (stream->n == stream->cap) {
		stream->cap = stream->cap ? 2 * stream->cap : 1024;
		stream->touch = realloc(stream->touch, stream->cap * sizeof(*stream->touch));
	}
	stream->touch[stream->n++] = (struct touch){ block, context, stack };
}

/* A sweep over n blocks: n - 1 others in between. */
static void sweep(struct stream *stream, uint64_t n, unsigned turns)
{
	for (unsigned turn = 0; turn < turns; turn++)
		for (uint64_t i = 0; i < n; i++)
			touch(stream, i, 1, turn + 1 < turns ? n - 1 : 0);
}

/* n / 2 blocks by turns with one that is always the same: n touches again, and n / 2 others. */
static void by_turns(struct stream *stream, uint64_t n, unsigned turns, uint64_t context)
{
	for (unsigned turn = 0; turn < turns; turn++)
		for (uint64_t i = 0; i < n / 2; i++) {
			touch(stream, 1000000 + i, context, turn + 1 < turns ? n / 2 : 0);
			touch(stream, 2000000, 3, 0);
		}
}

/* Up and down: as many others as there are touches up to the turn. */
static void walk(struct stream *stream, uint64_t n, unsigned turns)
{
	for (unsigned turn = 0; turn < turns; turn++)
		for (uint64_t i = 0; i + 1 < n; i++)
			touch(stream, turn % 2 ? n - 1 - i : i, 1, n - 1 - i);
}

/* Of each touch, touches until the next of its block. */
static uint64_t *nexts(const struct stream *stream)
{
	uint64_t *next = calloc(stream->n, sizeof(*next)), *last = calloc(3000000, sizeof(*last));

	for (size_t i = stream->n; i-- > 0;) {
		uint64_t *of = &last[stream->touch[i].block];

		next[i] = *of ? *of - (i + 1) : LOCI_INFINITE;
		*of = i + 1;
	}
	free(last);
	return next;
}

/* The contexts of the references before one. */
static size_t shares_of(const struct stream *stream, size_t at, struct loci_weigh_share *share)
{
	size_t n = 0;

	for (size_t i = at; i < stream->n && i + SHARE > at; i--)
		share[n++] =
			(struct loci_weigh_share){ stream->touch[i].context, GAP / (double)SHARE };
	return n;
}

struct error {
	double found, statstack; /* the mean, of what it should be */
	size_t n;
};

/* Of the touches that are looked at, reuses farther than that. */
static struct error judge(const struct stream *stream, uint64_t farther, bool is_told)
{
	uint64_t *next = nexts(stream);
	struct loci_weigh_outcome *outcome = calloc(stream->n, sizeof(*outcome));
	size_t *at = calloc(stream->n, sizeof(*at));
	struct loci_weigh_result result = { .outcome = outcome };
	struct loci_statstack statstack;
	struct error error = { 0 };
	struct loci_between *between;
	struct loci_hist time;

	loci_hist_init(&time, LOCI_SCHEME_FINE);
	CHECK(loci_between_new(&between, NULL) == 0);
	for (size_t i = 0; i < stream->n; i++) {
		struct loci_weigh_share share[SHARE];
		struct loci_weigh_sample sample = { .count = i + 1,
			.context = stream->touch[i].context,
			.thread = 1,
			.base = GAP,
			.share = share,
			.n_shares = is_told ? shares_of(stream, i, share) : 0 };
		struct loci_weigh_sample other = { .count = i + 1, .context = 9, .base = GAP };

		if (rnd(GAP))
			continue;
		CHECK(loci_between_add(between, &sample) == 0);
		at[result.n] = i;
		outcome[result.n] = (struct loci_weigh_outcome){ .context = sample.context,
			.use = 2 * result.n,
			.distance = next[i],
			.weight = GAP,
			.thread = 1,
			.from = i + 1,
			.to = i + 1 + next[i] };
		if (next[i] == LOCI_INFINITE)
			time.cold += GAP;
		else
			CHECK(loci_hist_add(&time, next[i], GAP) == 0);
		result.n++;
		/* of another thread, which is nobody's business */
		CHECK(loci_between_add(between, &other) == 0);
	}
	CHECK(loci_statstack_init(&statstack, &time) == 0);
	CHECK(loci_between_find(between, &result) == 0);
	for (size_t i = 0; i < result.n; i++) {
		double stack = (double)stream->touch[at[i]].stack;

		if (outcome[i].distance == LOCI_INFINITE) {
			CHECK(!outcome[i].distinct);
			continue;
		}
		CHECK(outcome[i].distinct && outcome[i].distinct <= outcome[i].distance);
		if (!(stack > 0) || outcome[i].distance < farther)
			continue;
		error.found += fabs((double)outcome[i].distinct - 1 - stack) / stack;
		error.statstack +=
			fabs((double)loci_statstack_distance(&statstack, outcome[i].distance) -
				stack) /
			stack;
		error.n++;
	}
	error.found /= (double)error.n;
	error.statstack /= (double)error.n;
	loci_between_free(between);
	loci_statstack_fini(&statstack);
	loci_hist_fini(&time);
	free(outcome);
	free(next);
	free(at);
	return error;
}

static void expect(
	const char *name, struct stream *stream, uint64_t farther, double most, double statstack)
{
	for (int is_told = 0; is_told < 2; is_told++) {
		struct error error = judge(stream, farther, is_told);

		printf("%-34s %5zu reuses: off by %.3f, StatStack by %.3f\n", name, error.n,
			error.found, error.statstack);
		CHECK(error.n > 100);
		CHECK(error.found < most);
		CHECK(error.statstack > statstack);
	}
	free(stream->touch);
}

/* The same time distance in both phases: StatStack makes 3/4 of it, and n and n / 2 are right. */
static void two_phases(void)
{
	struct stream stream = { 0 };

	for (unsigned i = 0; i < 6; i++) {
		sweep(&stream, 4000, 8);
		by_turns(&stream, 4000, 8, 2);
	}
	expect("two phases", &stream, 4000, 0.01, 0.3);
}

/* One site that does another thing later, which only the samples in between can tell. */
static void one_site(void)
{
	struct stream stream = { 0 };

	for (unsigned i = 0; i < 6; i++) {
		sweep(&stream, 1000, 40);
		by_turns(&stream, 6000, 8, 1);
	}
	expect("one site, two phases", &stream, 6000, 0.03, 0.25);
}

/* Half of the touches in between are touched again before the reuse: those before the turn. */
static void sawtooth(void)
{
	struct stream stream = { 0 };

	walk(&stream, 3000, 120);
	expect("sawtooth", &stream, 1500, 0.1, 0.3);
}

static void nothing(void)
{
	struct loci_weigh_outcome never = { .distance = LOCI_INFINITE, .weight = 1 };
	struct loci_weigh_outcome alone = { .distance = 8, .weight = 1, .from = 1, .to = 9 };
	struct loci_weigh_result result = { .outcome = &never };
	struct loci_between *between;

	CHECK(loci_between_new(&between, NULL) == 0);
	CHECK(loci_between_find(between, &result) == 0);
	loci_between_free(between);
	result.n = 1;
	CHECK(loci_between_new(&between, NULL) == 0);
	CHECK(loci_between_find(between, &result) == 0);
	CHECK(!never.distinct);
	loci_between_free(between);
	/* no sample in between: what StatStack expects */
	result.outcome = &alone;
	CHECK(loci_between_new(&between, NULL) == 0);
	CHECK(loci_between_find(between, &result) == 0);
	CHECK(alone.distinct == 8);
	loci_between_free(between);
	loci_between_free(NULL);
}

int main(void)
{
	two_phases();
	one_site();
	sawtooth();
	nothing();
	return check_status();
}
