// SPDX-License-Identifier: GPL-2.0-or-later
/* Order between threads, case by case. */
#include "order_story.h"

/* One thread passes word for word; the process's own words make no second. */
static void test_one_thread(void)
{
	struct arrival in = { .source = { .ops = &arrival_ops }, .seed = 3, .read_max = 200 },
		       out = in;
	uint64_t words[1024];
	struct story story = { .words = &out };
	struct program p = { .runs = true, .seed = 4 };

	put_all(&in, words, program_definitions(words));
	program_start(&p, 0);
	for (unsigned i = 0; i < 300; i++) {
		size_t at = p.thread[1].n;

		program_block(&p, 1);
		program_run(&p, 1);
		put(&in, loci_mark_word(LOCI_MARK_SWITCH, 0, 1));
		put_all(&in, p.thread[1].word + at, p.thread[1].n - at);
		put(&in, loci_mark_word(LOCI_MARK_SWITCH, 0, 0));
		put(&in, loci_mark_word(LOCI_MARK_LOST, 0, 1));
	}
	hear(&in, &(struct loci_order_options){ 0 }, &story);
	CHECK_U64(out.n, in.n);
	CHECK(out.n == in.n && !memcmp(out.word, in.word, in.n * sizeof(*in.word)));
	CHECK_U64(story.counts.most_held, 0);
	forget(&story);
	free(in.word);
	free(out.word);
	program_free(&p);
}

/* A thread's id is used again, and a handler interrupts a block between two turns. */
static void test_by_hand(void)
{
	struct arrival a = { .source = { .ops = &arrival_ops }, .seed = 3, .read_max = 60 };
	uint64_t words[1024], next[4] = { 0 };
	struct story story = { 0 };

	put_all(&a, words, program_definitions(words));
	for (unsigned life = 0; life < 3; life++)
		for (unsigned t = 1; t <= 3; t++) {
			put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, t));
			put_all(&a,
				(uint64_t[]){
					loci_mark_word(LOCI_MARK_THREAD_START, 4, t), 0, 0, 0, 0 },
				5);
			for (unsigned i = 0; i < 20; i++) {
				put(&a, loci_mark_word(LOCI_MARK_BLOCK, 0, 6));
				for (unsigned k = 0; k < 17; k++)
					put(&a, program_address(t, next[t]++));
				put(&a, loci_mark_word(LOCI_MARK_SIGNAL_ENTER, 0, 10));
				put(&a, loci_mark_word(LOCI_MARK_BLOCK, 0, 4));
				for (unsigned k = 0; k < 10; k++)
					put(&a, program_address(t, next[t]++));
				put(&a, loci_mark_word(LOCI_MARK_SIGNAL_LEAVE, 0, 10));
				for (unsigned k = 0; k < 13; k++)
					put(&a, program_address(t, next[t]++));
			}
			put_all(&a,
				(uint64_t[]){ loci_mark_word(LOCI_MARK_THREAD_EXIT, 2, t), 0, 0 },
				3);
		}
	hear(&a, &(struct loci_order_options){ .turn_refs = 10 }, &story);
	number(&story);
	CHECK(is_whole(&story, (uint64_t[PROGRAM_THREADS + 1]){ 0, next[1], next[2], next[3] }));
	CHECK_U64(story.counts.went_on, 0);
	forget(&story);
	free(a.word);
}

static void put_refs(struct arrival *a, unsigned thread, unsigned n, uint64_t *next)
{
	put(a, loci_mark_word(LOCI_MARK_SWITCH, 0, thread));
	for (unsigned i = 0; i < n; i++) {
		put(a, loci_mark_word(LOCI_MARK_BLOCK, 0, 1));
		put(a, program_address(thread, next[thread]++));
	}
}

static void put_mark(struct arrival *a, enum loci_marker kind, uint64_t payload, unsigned n_raw)
{
	put(a, loci_mark_word(kind, n_raw, payload));
	for (unsigned i = 0; i < n_raw; i++)
		put(a, 0);
}

/* How many words are held when so many have come. */
static size_t held_at(struct loci_source *order, struct arrival *a, size_t at, size_t *out)
{
	uint64_t words[1024];
	ssize_t n;

	while (a->at < at && (n = order->ops->read(order, words, 1024, NULL)) > 0)
		*out += (size_t)n;
	return a->at > *out ? a->at - *out : 0;
}

/* One thread is blocked for long, comes back, is blocked again, and ends; another goes on. */
static void test_blocked(void)
{
	enum { HELD = 8000, WORDS = 1200 /* of reads, and SWITCHes */ };
	struct loci_order_options options = { .held_words = HELD };
	struct arrival a = { .source = { .ops = &arrival_ops }, .seed = 3, .read_max = 500 };
	uint64_t words[1024], next[3] = { 0 };
	struct loci_order_counts counts;
	struct loci_source *order;
	size_t blocked, back, ended, out = 0;

	put_all(&a, words, program_definitions(words));
	put_refs(&a, 1, 10, next);
	put_mark(&a, LOCI_MARK_BLOCKED, 0, 0);
	put_mark(&a, LOCI_MARK_THREAD_START, 2, 4);
	put_refs(&a, 2, 20000, next);
	blocked = a.n;
	put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, 1));
	put_mark(&a, LOCI_MARK_RUNNING, 0, 0);
	for (unsigned i = 0; i < 100; i++) {
		put_refs(&a, 1, 200, next);
		put_refs(&a, 2, 200, next);
	}
	back = a.n;
	put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, 1));
	put_mark(&a, LOCI_MARK_BLOCKED, 0, 0);
	put_refs(&a, 2, 20000, next);
	put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, 1));
	put_all(&a, (uint64_t[]){ loci_mark_word(LOCI_MARK_SYNC, 2, LOCI_SYNC_ACQUIRE), 7, 2 }, 3);
	put_refs(&a, 2, 20, next);
	put_all(&a, (uint64_t[]){ loci_mark_word(LOCI_MARK_SYNC, 2, LOCI_SYNC_RELEASE), 7, 1 }, 3);
	put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, 1));
	put_mark(&a, LOCI_MARK_THREAD_EXIT, 1, 2);
	put_refs(&a, 2, 20000, next);
	ended = a.n;
	put_refs(&a, 2, 100, next);

	CHECK(loci_order_new_take(&a.source, &options, &order, NULL) == 0);
	/* it may come back, so that much is held, and no more */
	CHECK(held_at(order, &a, blocked, &out) >= HELD / 2 - WORDS);
	/* as far as the other was ahead */
	CHECK(held_at(order, &a, back, &out) <= HELD / 2 + WORDS);
	CHECK(held_at(order, &a, ended, &out) < WORDS);
	loci_order_counts(order, &counts);
	CHECK(counts.most_held <= HELD / 2 + WORDS);
	CHECK_U64(counts.went_on, 0);
	loci_source_close(order);
	free(a.word);
}

/* A RUN of a thread that is alone is not cut. */
static void test_alone(void)
{
	struct arrival a = { .source = { .ops = &arrival_ops }, .seed = 3, .read_max = 500 },
		       out = a;
	uint64_t words[1024], next[3] = { 0 };
	struct story story = { .words = &out };

	put_all(&a, words, program_definitions(words));
	put_refs(&a, 1, 10, next);
	put_refs(&a, 2, 10, next);
	put_mark(&a, LOCI_MARK_THREAD_EXIT, 2, 2);
	put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, 1));
	put_all(&a, (uint64_t[]){ loci_mark_word(LOCI_MARK_RUN, 4, 1), 1000, 0, 64, 8 }, 5);
	hear(&a, &(struct loci_order_options){ 0 }, &story);
	CHECK_U64(story.n, 1020);
	CHECK(out.n < a.n + 20); /* one piece is of a turn that they share */
	forget(&story);
	free(a.word);
	free(out.word);
}

/* Words that are held mean what they did when more is added to a definition. */
static void test_more_definition(void)
{
	struct arrival a = { .source = { .ops = &arrival_ops }, .seed = 3, .read_max = 50 };
	uint64_t words[1024], next[4] = { 0 };
	struct digest before = { 0 }, after = { 0 };
	struct loci_source *order;

	put_all(&a, words, program_definitions(words));
	put_refs(&a, 1, 10, next);
	put_refs(&a, 2, 100, next); /* which is held, since the other has nothing */
	put(&a, loci_mark_word(LOCI_MARK_BLOCK, 0, 1));
	put(&a, 4096);
	put(&a, 8192);
	put_all(&a, words, 5); /* DEFINE of the first block, as it was */
	put_all(&a,
		(uint64_t[]){ loci_mark_word(LOCI_MARK_DEFINE_MORE, 2, 1),
			loci_ref_word(4, LOCI_OP_STORE, 0), 999 },
		3);
	put_refs(&a, 1, 10, next);
	CHECK(digest_all(&a.source, &before) == 0);
	a.at = 0;
	CHECK(loci_order_new_take(&a.source, &(struct loci_order_options){ 0 }, &order, NULL) == 0);
	CHECK(digest_all(order, &after) == 0);
	CHECK(!memcmp(&before, &after, sizeof(before)));
	loci_source_close(order);
	free(a.word);
}

/* Where words stand as they executed, a module is loaded before any thread's words that follow. */
static void test_module(void)
{
	struct arrival a = { .source = { .ops = &arrival_ops }, .seed = 3, .read_max = 5000 },
		       out = a;
	uint64_t words[1024], next[4] = { 0 };
	struct story story = { .words = &out };
	size_t loaded = 0, used = 0;

	a.source.info.capabilities = LOCI_CAP_ORDER;
	put_all(&a, words, program_definitions(words));
	put_refs(&a, 1, 10, next);
	put_refs(&a, 2, 10, next);
	put_refs(&a, 1, 500, next);
	put_all(&a, (uint64_t[]){ loci_mark_word(LOCI_MARK_MODULE_LOAD, 6, 1), 0, 0, 0, 0, 9, 0 },
		7);
	put_refs(&a, 1, 10, next);
	put_refs(&a, 2, 10, next); /* the first of these are of its code */
	hear(&a, &(struct loci_order_options){ 0 }, &story);
	for (size_t i = 0; i < out.n; i++) {
		if (out.word[i] == loci_mark_word(LOCI_MARK_MODULE_LOAD, 6, 1))
			loaded = i;
		if (out.word[i] == program_address(2, 10))
			used = i;
	}
	CHECK(loaded && loaded < used);
	CHECK_U64(story.counts.given_up, 0);
	forget(&story);
	free(a.word);
	free(out.word);
}

static void put_sync(
	struct arrival *a, unsigned thread, enum loci_sync kind, uint64_t object, uint64_t number)
{
	put(a, loci_mark_word(LOCI_MARK_SWITCH, 0, thread));
	put_all(a, (uint64_t[]){ loci_mark_word(LOCI_MARK_SYNC, 2, kind), object, number }, 3);
}

/* Three threads wait for each other, the first works alone for a while and has the others begin
 * again, and all allocate before they go on. Who comes first at each of these is chance. */
static void put_team(struct arrival *a, const unsigned *rank, unsigned serial, uint64_t *next)
{
	enum { BARRIER = 70, TEAM = 80, LOCK = 90 };
	static const unsigned work[] = { 0, 210, 230, 95 };

	for (unsigned t = 1; t <= 3; t++) {
		put_refs(a, t, work[t], next);
		put_sync(a, t, LOCI_SYNC_BARRIER_ARRIVE, BARRIER, rank[t]);
	}
	/* who leads leaves at once, the others when they are needed; some had to be woken */
	put_sync(a, 1, LOCI_SYNC_BARRIER_LEAVE, BARRIER, 4);
	put_refs(a, 1, serial, next);
	put_sync(a, 1, LOCI_SYNC_RELEASE, TEAM, 1);
	put_sync(a, 1, LOCI_SYNC_RELEASE, LOCK, 1);
	if (rank[1] == 1)
		put_sync(a, 2, LOCI_SYNC_ACQUIRE, LOCK, 2);
	for (unsigned t = 2; t <= 3; t++)
		put_sync(a, t, LOCI_SYNC_BARRIER_LEAVE, BARRIER, 5 + (rank[t] > rank[5 - t]));
	for (unsigned t = 1; t <= 3; t++) {
		put_sync(a, t, LOCI_SYNC_ACQUIRE, TEAM, 1 + rank[t]);
		put_refs(a, t, 6, next);
		put_all(a,
			(uint64_t[]){
				loci_mark_word(LOCI_MARK_ALLOC, 3, 64), 4096 * t, rank[t], 0 },
			4);
		put_refs(a, t, 900, next);
	}
	put(a, loci_mark_word(LOCI_MARK_END, 0, 0));
}

/* From when on the first thread has given so many. */
static size_t story_from(const struct story *s, uint64_t ordinal)
{
	size_t i = 0;

	while (i < s->n &&
		(s->item[i].number || s->item[i].thread != 1 || s->item[i].ordinal != ordinal))
		i++;
	return i;
}

/* Chance is forgotten in a few rounds: it has nobody stay behind. */
static void test_chance(void)
{
	static const unsigned ranks[][4] = { { 0, 1, 2, 3 }, { 0, 1, 3, 2 }, { 0, 2, 1, 3 },
		{ 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 0, 3, 2, 1 } };

	for (unsigned serial = 0; serial < 140; serial++) {
		struct story first = { 0 };
		size_t from = 0;

		for (unsigned i = 0; i < 6; i++) {
			struct arrival a = {
				.source = { .ops = &arrival_ops }, .seed = 3, .read_max = 900
			};
			uint64_t words[1024], next[4] = { 0 };
			struct story story = { 0 };
			size_t at;

			put_all(&a, words, program_definitions(words));
			for (unsigned t = 1; t <= 3; t++) {
				put(&a, loci_mark_word(LOCI_MARK_SWITCH, 0, t));
				put_mark(&a, LOCI_MARK_THREAD_START, t, 4);
			}
			put_team(&a, ranks[i], serial, next);
			hear(&a, &(struct loci_order_options){ 0 }, &story);
			number(&story);
			CHECK_U64(story.counts.given_up, 0);
			at = story_from(&story, 210 + serial + 300);
			CHECK(at < story.n);
			if (!i) {
				first = story;
				from = at;
			} else {
				struct story rest = { .item = story.item + at, .n = story.n - at },
					     as = { .item = first.item + from,
						     .n = first.n - from };

				if (!same(&rest, &as))
					CHECK_FAIL("%u alone, chance %u", serial, i);
				forget(&story);
			}
			free(a.word);
		}
		forget(&first);
	}
}

int main(void)
{
	test_one_thread();
	test_by_hand();
	test_blocked();
	test_alone();
	test_more_definition();
	test_module();
	test_chance();
	return check_status();
}
