// SPDX-License-Identifier: GPL-2.0-or-later
/* Where order between threads comes to its limits: little memory, numbers that never come, threads
 * that are killed, sources that fail, streams of old, and words without sense. */
#include "order_story.h"
#include "stream_random.h"

#include <errno.h>

static void make(struct program *p, uint64_t seed, unsigned steps)
{
	*p = (struct program){ .syncs = true, .runs = true, .signals = true, .allocates = true };
	program_execute(p, seed, steps);
}

/* What may be held is bounded, whatever it costs. */
static void test_bound(void)
{
	uint64_t refs[PROGRAM_THREADS + 1], went_on = 0, given_up = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct loci_order_options options = { .held_words = 300 };
		struct story story = { 0 };
		struct arrival a;
		struct program p;

		make(&p, seed, 200);
		count_refs(&p, refs);
		mix_words(&p, (struct mix){ seed, 3000, seed % 3 }, &a);
		a.read_max = 100;
		hear(&a, &options, &story);
		number(&story);
		CHECK(is_whole(&story, refs));
		CHECK(story.ended && !story.failed);
		CHECK(story.counts.most_held <= 300 + 2 * (100 + LOCI_RAW_MAX));
		went_on += story.counts.went_on;
		given_up += story.counts.given_up;
		forget(&story);
		free(a.word);
		program_free(&p);
	}
	CHECK(went_on > 0 && given_up > 0);
}

/* Threads are killed: the ends of their words never come, nor do their numbers. */
static void test_killed(void)
{
	uint64_t given_up = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t refs[PROGRAM_THREADS + 1];
		struct story story = { 0 };
		struct arrival a;
		struct program p;
		struct program_thread *killed;
		size_t last;

		make(&p, seed, 60);
		killed = &p.thread[1 + seed % p.n_threads];
		last = killed->n_items * (seed % 7) / 7;
		if (last < 2)
			last = 2;
		killed->n = killed->item[last].at;
		killed->ordinal = killed->item[last].first_ref;
		count_refs(&p, refs);
		mix_words(&p, (struct mix){ seed, 500, seed % 3 }, &a);
		hear(&a, &(struct loci_order_options){ 0 }, &story);
		number(&story);
		CHECK(is_whole(&story, refs));
		CHECK(story.ended && !story.failed);
		given_up += story.counts.given_up;
		forget(&story);
		free(a.word);
		program_free(&p);
	}
	CHECK(given_up > 0);
}

/* What is in order stays so. */
static void test_again(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct story first = { 0 }, second = { 0 };
		struct arrival a,
			ordered = {
				.source = { .ops = &arrival_ops }, .seed = seed, .read_max = 900
			};
		struct program p;

		make(&p, seed, 80);
		mix_words(&p, (struct mix){ seed, 500, MIX_ANY }, &a);
		first.words = &ordered;
		hear(&a, &(struct loci_order_options){ 0 }, &first);
		hear(&ordered, &(struct loci_order_options){ 0 }, &second);
		CHECK(same(&first, &second));
		forget(&first);
		forget(&second);
		free(a.word);
		free(ordered.word);
		program_free(&p);
	}
}

/* The words as they were executed, one thread at a time. one_sequence: numbers of SYNC are those of
 * the process, too. */
static void put_executed(const struct program *p, bool one_sequence, struct arrival *a)
{
	size_t at[PROGRAM_THREADS + 1] = { 0 };
	uint64_t words[1024], sequence = 0;
	unsigned last = 0;

	*a = (struct arrival){ .source = { .ops = &arrival_ops }, .seed = 7, .read_max = 300 };
	put_all(a, words, program_definitions(words));
	for (;;) {
		const struct program_item *next = NULL;
		unsigned thread = 0;
		size_t first;

		for (unsigned t = 1; t <= p->n_threads; t++)
			if (at[t] < p->thread[t].n_items &&
				(!next || p->thread[t].item[at[t]].when < next->when)) {
				next = &p->thread[t].item[at[t]];
				thread = t;
			}
		if (!next)
			break;
		at[thread]++;
		if (thread != last)
			put(a, loci_mark_word(LOCI_MARK_SWITCH, 0, thread));
		last = thread;
		first = a->n;
		put_all(a, p->thread[thread].word + next->at, next->n);
		if (one_sequence && next->number)
			for (size_t i = first + 1; i < a->n; i++)
				if (a->word[i] == next->number && (i > first + 1 || next->n > 3))
					a->word[i] = ++sequence + 5;
	}
}

/* Collectors that run one thread at a time once numbered SYNC with the numbers of the process. */
static void test_old_numbers(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct story now = { 0 }, old = { 0 };
		struct arrival a, b;
		struct program p;
		size_t refs = 0;

		make(&p, seed, 80);
		put_executed(&p, false, &a);
		put_executed(&p, true, &b);
		a.source.info.capabilities = b.source.info.capabilities = LOCI_CAP_ORDER;
		hear(&a, &(struct loci_order_options){ 0 }, &now);
		hear(&b, &(struct loci_order_options){ 0 }, &old);
		CHECK_U64(old.counts.given_up, 0);
		CHECK_U64(old.n, now.n);
		while (refs < now.n && refs < old.n &&
			now.item[refs].thread == old.item[refs].thread &&
			now.item[refs].ordinal == old.item[refs].ordinal)
			refs++;
		CHECK_U64(refs, now.n);
		forget(&now);
		forget(&old);
		free(a.word);
		free(b.word);
		program_free(&p);
	}
}

/* With nothing to wait for threads are never more than a turn, and a block, apart. */
static void test_advance(void)
{
	enum { THREADS = 4, TURN = 50, LONGEST = 30 };
	struct loci_order_options options = { .turn_refs = TURN };
	uint64_t progress[PROGRAM_THREADS + 1] = { 0 }, furthest = 0;
	struct program p = { .runs = true, .seed = 99 };
	struct story story = { 0 };
	struct arrival a;
	bool all = true;

	program_start(&p, 0);
	for (unsigned t = 0; t < THREADS; t++)
		program_start(&p, 1);
	for (unsigned i = 0; i < 400; i++)
		for (unsigned t = 2; t <= THREADS + 1; t++)
			program_run(&p, t);
	for (unsigned t = 1; t <= THREADS + 1; t++)
		program_exit(&p, t);
	mix_words(&p, (struct mix){ 5, 2000, MIX_ANY }, &a);
	hear(&a, &options, &story);
	for (size_t i = 0; i < story.n && all; i++) {
		uint64_t least = UINT64_MAX;

		if (story.item[i].number)
			continue;
		progress[story.item[i].thread]++;
		for (unsigned t = 2; t <= THREADS + 1; t++) {
			least = progress[t] < least ? progress[t] : least;
			all &= progress[t] < p.thread[t].ordinal;
		}
		if (progress[story.item[i].thread] - least > furthest)
			furthest = progress[story.item[i].thread] - least;
	}
	if (furthest < TURN || furthest > TURN + LONGEST)
		CHECK_FAIL("threads are %" PRIu64 " references apart", furthest);
	forget(&story);
	free(a.word);
	program_free(&p);
}

/* A source that fails gives all it had before. */
static void test_failure(void)
{
	uint64_t refs[PROGRAM_THREADS + 1];
	struct story story = { 0 };
	struct arrival a;
	struct program p;

	make(&p, 8, 100);
	count_refs(&p, refs);
	mix_words(&p, (struct mix){ 8, 500, MIX_ANY }, &a);
	a.fails = EIO;
	hear(&a, &(struct loci_order_options){ 0 }, &story);
	number(&story);
	CHECK(is_whole(&story, refs));
	CHECK(story.ended);
	CHECK_U64((uint64_t)-story.failed, EIO);
	forget(&story);
	free(a.word);
	program_free(&p);
}

/* Streams that use all of the format, with numbers that make no sense and definitions that change:
 * each thread tells what it told before. */
static void test_random(void)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct loci_order_options options = { .held_words = seed % 2 ? 0 : 700,
			.order = seed % 5 ? LOCI_ORDER_REFS : LOCI_ORDER_TIME };
		struct random_stream s;
		struct arrival a = {
			.source = { .ops = &arrival_ops }, .seed = 3, .read_max = 900
		};
		struct digest before = { 0 }, after = { 0 };
		struct loci_source *order;

		random_generate(&s, seed, 20000);
		a.word = s.words;
		a.n = s.n;
		a.source.info.capabilities = seed % 3 ? 0 : LOCI_CAP_ORDER;
		CHECK(digest_all(&a.source, &before) == 0);
		a.at = 0;
		CHECK(loci_order_new_take(&a.source, &options, &order, NULL) == 0);
		CHECK(digest_all(order, &after) == 0);
		if (memcmp(&before, &after, sizeof(before)) != 0)
			CHECK_FAIL("stream %" PRIu64 " is another", seed);
		loci_source_close(order);
		free(s.words);
	}
}

/* Words of no sense end, one way or another. */
static void test_garbage(void)
{
	uint64_t seed = 17;

	for (unsigned round = 0; round < 300; round++) {
		struct loci_order_options options = { .held_words = round % 2 ? 500 : 0,
			.order = round % 3 ? LOCI_ORDER_REFS : LOCI_ORDER_TIME };
		struct arrival a = {
			.source = { .ops = &arrival_ops }, .seed = 3, .read_max = 900
		};
		struct digest d = { 0 };
		struct loci_source *order;
		uint64_t words[1024];

		put_all(&a, words, program_definitions(words));
		for (unsigned i = 0; i < 3000; i++) {
			uint64_t word = program_next(&seed) >> program_below(&seed, 64);
			unsigned what = program_below(&seed, 8);

			if (what < 3)
				word = loci_mark_word(
					program_below(&seed, 0x40), 0, program_below(&seed, 8));
			else if (what < 5)
				word = loci_mark_word(program_below(&seed, 0x40),
					program_below(&seed, 6), program_below(&seed, 8));
			put(&a, word);
		}
		for (unsigned i = 0; i < LOCI_RAW_MAX; i++) /* of the last marker */
			put(&a, 0);
		a.n -= program_below(&seed, 2) * (LOCI_RAW_MAX - 1);
		CHECK(loci_order_new_take(&a.source, &options, &order, NULL) == 0);
		digest_all(order, &d);
		loci_source_close(order);
		free(a.word);
	}
}

int main(void)
{
	test_bound();
	test_killed();
	test_again();
	test_old_numbers();
	test_advance();
	test_failure();
	test_random();
	test_garbage();
	return check_status();
}
