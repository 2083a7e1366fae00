// SPDX-License-Identifier: GPL-2.0-or-later
/* Order between threads by time stamps. */
#include "order_story.h"

/* Threads whose pace differs, and changes. */
enum { STAMPS = 60, STAMP_REFS = 100, TIMED = 4 };

static uint64_t stamp_ns(unsigned thread, unsigned stamp)
{
	uint64_t ns = 1000;

	for (unsigned i = 0; i < stamp; i++)
		ns += STAMP_REFS * (1 + (thread * 5 + i / 10) % 9);
	return ns;
}

static void tell_time(struct program *p, unsigned thread, uint64_t ns)
{
	struct program_item *item = program_item(p, thread, ITEM_TELLS);

	program_word(&p->thread[thread], loci_mark_word(LOCI_MARK_TIME, 1, 0));
	program_word(&p->thread[thread], ns);
	item->n = 2;
}

static void put_timed(struct program *p, bool stamps)
{
	program_start(p, 0);
	for (unsigned t = 2; t <= TIMED; t++)
		program_start(p, 1);
	for (unsigned t = 1; t <= TIMED; t++)
		for (unsigned i = 0; i <= STAMPS; i++) {
			if (stamps)
				tell_time(p, t, stamp_ns(t, i));
			for (unsigned k = 0; i < STAMPS && k < STAMP_REFS; k++) {
				if (k % 50 == 0)
					program_word(&p->thread[t],
						loci_mark_word(LOCI_MARK_BLOCK, 0, 1));
				program_address_word(p, t, 1u << 30);
			}
		}
}

static double time_of(unsigned thread, uint64_t ordinal)
{
	unsigned stamp = (unsigned)(ordinal / STAMP_REFS);
	double from = (double)stamp_ns(thread, stamp), to = (double)stamp_ns(thread, stamp + 1);

	return from + (to - from) * (double)(ordinal % STAMP_REFS) / STAMP_REFS;
}

/* How far back in time what comes next is, at most. */
static double back_ns(const struct story *s)
{
	double latest = 0, back = 0;

	for (size_t i = 0; i < s->n; i++) {
		double now;

		if (s->item[i].number)
			continue;
		now = time_of(s->item[i].thread, s->item[i].ordinal);
		back = latest - now > back ? latest - now : back;
		latest = now > latest ? now : latest;
	}
	return back;
}

static void test_time(void)
{
	enum { TURN = 16, SLOWEST = 9 };
	struct loci_order_options options = { .order = LOCI_ORDER_TIME, .turn_refs = TURN };
	struct story by_refs = { 0 }, first = { 0 };
	struct program p = { .seed = 5 };
	struct arrival a;

	put_timed(&p, true);
	mix_words(&p, (struct mix){ 7, 300, MIX_ANY }, &a);
	hear(&a, &(struct loci_order_options){ .turn_refs = TURN }, &by_refs);
	number(&by_refs);
	CHECK(back_ns(&by_refs) > 100 * TURN * SLOWEST); /* else this shows nothing */
	free(a.word);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t refs[PROGRAM_THREADS + 1];
		struct story story = { 0 };

		mix_words(&p, (struct mix){ i + 1, i % 4 ? 300 : 3, i % 3 }, &a);
		hear(&a, &options, &story);
		number(&story);
		count_refs(&p, refs);
		CHECK(is_whole(&story, refs));
		CHECK(back_ns(&story) <= TURN * SLOWEST);
		CHECK(!story.note[0]);
		CHECK(!i || same(&first, &story));
		free(a.word);
		if (i == 0)
			first = story;
		else
			forget(&story);
	}
	forget(&first);
	forget(&by_refs);
	program_free(&p);
}

/* Without stamps it is as by references. */
static void test_no_time(void)
{
	struct loci_order_options options = { .order = LOCI_ORDER_TIME };
	struct story by_refs = { 0 }, story = { 0 };
	struct program p = { .seed = 5 };
	struct arrival a;

	put_timed(&p, false);
	mix_words(&p, (struct mix){ 7, 300, MIX_ANY }, &a);
	hear(&a, &options, &story);
	a.at = 0;
	hear(&a, &(struct loci_order_options){ 0 }, &by_refs);
	CHECK(same(&story, &by_refs));
	CHECK(strstr(story.note, "no time stamps"));
	CHECK(!by_refs.note[0]);
	forget(&story);
	forget(&by_refs);
	free(a.word);
	program_free(&p);
}

int main(void)
{
	test_time();
	test_no_time();
	return check_status();
}
