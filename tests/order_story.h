/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that arrive, and what comes out when they are put in order. */
#ifndef LOCI_TESTS_ORDER_STORY_H
#define LOCI_TESTS_ORDER_STORY_H

#include "check.h"
#include "stream/decode.h"
#include "stream/thread_order.h"
#include "thread_program.h"

/* Words that arrive. */
struct arrival {
	struct loci_source source; /* first */
	uint64_t *word;
	size_t n, cap, at;
	uint64_t seed; /* of the sizes of reads */
	size_t read_max;
	int fails; /* in the end, with this */
};

static inline ssize_t arrival_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct arrival *a = (struct arrival *)source;
	size_t want =
		1 + program_below(&a->seed, (unsigned)(a->read_max < cap ? a->read_max : cap));
	size_t n = 0;

	while (a->at < a->n) {
		uint64_t word = a->word[a->at];
		size_t k = 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);

		if (k > a->n - a->at) /* it is cut off */
			k = a->n - a->at;
		if (n && n + k > want)
			break;
		memcpy(words + n, a->word + a->at, k * sizeof(*words));
		n += k;
		a->at += k;
	}
	if (!n && a->fails)
		return loci_err_set(err, a->fails, "the source broke");
	return (ssize_t)n;
}

static inline void arrival_progress(
	const struct loci_source *source, uint64_t *done, uint64_t *total)
{
	(void)source;
	*done = *total = 0;
}

static inline void arrival_close(struct loci_source *source)
{
	(void)source;
}

static const struct loci_source_ops arrival_ops = { arrival_read, arrival_progress, arrival_close };

static inline void put(struct arrival *a, uint64_t word)
{
	if (a->n == a->cap) {
		a->cap = a->cap ? 2 * a->cap : 4096;
		a->word = realloc(a->word, a->cap * sizeof(*a->word));
		if (!a->word)
			abort();
	}
	a->word[a->n++] = word;
}

static inline void put_all(struct arrival *a, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(a, words[i]);
}

/* How the threads' words are mixed: pieces of up to so many words, of threads chosen at random, or
 * of the first for as long as there are some. */
struct mix {
	uint64_t seed;
	unsigned piece;
	enum { MIX_ANY, MIX_FIRST, MIX_LAST } which;
};

static inline unsigned choose(struct mix *mix, const unsigned *left, unsigned n)
{
	if (program_below(&mix->seed, 10) == 0 || mix->which == MIX_ANY)
		return left[program_below(&mix->seed, n)];
	return left[mix->which == MIX_FIRST ? 0 : n - 1];
}

static inline void mix_words(const struct program *p, struct mix mix, struct arrival *a)
{
	size_t at[PROGRAM_THREADS + 1] = { 0 };
	uint64_t words[1024];

	*a = (struct arrival){ .source = { .ops = &arrival_ops },
		.seed = mix.seed | 1,
		.read_max = 1 + program_below(&mix.seed, 2000) };
	put_all(a, words, program_definitions(words));
	for (;;) {
		unsigned left[PROGRAM_THREADS], n = 0, t, k;

		for (t = 1; t <= p->n_threads; t++)
			if (at[t] < p->thread[t].n)
				left[n++] = t;
		if (!n)
			break;
		t = choose(&mix, left, n);
		put(a, loci_mark_word(LOCI_MARK_SWITCH, 0, t));
		for (k = program_below(&mix.seed, mix.piece);
			k < mix.piece && at[t] < p->thread[t].n;) {
			uint64_t word = p->thread[t].word[at[t]];
			size_t w = 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);

			put_all(a, p->thread[t].word + at[t], w);
			at[t] += w;
			k += (unsigned)w;
		}
	}
	put(a, loci_mark_word(LOCI_MARK_END, 0, 0));
}

/* What came out: references and numbered markers. */
struct happening {
	uint64_t object, number; /* 0: a reference */
	uint32_t thread;
	uint64_t ordinal;
};
struct story {
	struct happening *item;
	size_t n, cap;
	struct arrival *words; /* that came out are put here too; NULL: not */
	bool ended;
	int failed;
	char note[256];
	struct loci_order_counts counts;
};

static inline void tell(struct story *s, struct happening h)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 4096;
		s->item = realloc(s->item, s->cap * sizeof(*s->item));
		if (!s->item)
			abort();
	}
	s->item[s->n++] = h;
}

static inline void tell_event(struct story *s, const struct loci_event *event)
{
	static const uint8_t place[] = {
		[LOCI_MARK_THREAD_START] = 4, [LOCI_MARK_THREAD_EXIT] = 2, [LOCI_MARK_ALLOC] = 2
	};

	if (event->kind == LOCI_MARK_SYNC)
		tell(s, (struct happening){ event->raw[0], event->raw[1], event->thread, 0 });
	else if (event->kind < sizeof(place) && place[event->kind] &&
		event->raw[place[event->kind] - 1])
		tell(s,
			(struct happening){ PROGRAM_PROCESS, event->raw[place[event->kind] - 1],
				event->thread, 0 });
	s->ended |= event->kind == LOCI_MARK_END;
}

static inline void listen(struct loci_source *source, struct story *s)
{
	struct loci_decoder *decoder;
	struct loci_err err = { "" };
	uint64_t words[1024];
	ssize_t n;

	CHECK(loci_decoder_new(&decoder, NULL) == 0);
	while ((n = source->ops->read(source, words, 1024, &err)) > 0) {
		size_t pos = 0;

		if (s->words)
			put_all(s->words, words, (size_t)n);
		while (pos < (size_t)n) {
			struct loci_ref refs[256];
			struct loci_event event;
			size_t n_refs;
			int r = loci_decoder_next(
				decoder, words, (size_t)n, &pos, refs, 256, &n_refs, &event, &err);

			for (size_t i = 0; i < n_refs; i++)
				tell(s,
					(struct happening){ .thread = refs[i].thread,
						.ordinal = refs[i].address });
			if (r < 0) {
				CHECK_FAIL("%s", err.text);
				n = 0;
				break;
			}
			if (event.kind != LOCI_MARK_PAD)
				tell_event(s, &event);
		}
	}
	s->failed = (int)n;
	loci_decoder_free(decoder);
}

static inline void hear(
	struct arrival *a, const struct loci_order_options *options, struct story *s)
{
	struct loci_source *order;

	CHECK(loci_order_new_take(&a->source, options, &order, NULL) == 0);
	listen(order, s);
	loci_order_counts(order, &s->counts);
	memcpy(s->note, order->note, sizeof(s->note));
	loci_source_close(order);
}

static inline void forget(struct story *s)
{
	free(s->item);
	*s = (struct story){ 0 };
}

/* Ordinals instead of addresses. */
static inline void number(struct story *s)
{
	bool own = true;

	for (size_t i = 0; i < s->n; i++)
		if (!s->item[i].number) {
			uint64_t address = s->item[i].ordinal & ~(1ull << 63);

			own &= address >> 40 == s->item[i].thread;
			s->item[i].ordinal = (address & ((1ull << 40) - 1)) >> 8;
		}
	CHECK(own);
}

static inline bool same(const struct story *a, const struct story *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->item[i].thread != b->item[i].thread ||
			a->item[i].object != b->item[i].object ||
			a->item[i].number != b->item[i].number ||
			a->item[i].ordinal != b->item[i].ordinal)
			return false;
	return true;
}

/* Every reference once, those of a thread in order; up to as many of each as there should be. */
static inline bool is_whole(const struct story *s, const uint64_t *refs)
{
	uint64_t next[PROGRAM_THREADS + 1] = { 0 };

	for (size_t i = 0; i < s->n; i++)
		if (!s->item[i].number &&
			s->item[i].ordinal != next[s->item[i].thread % (PROGRAM_THREADS + 1)]++)
			return false;
	return !memcmp(next, refs, sizeof(next));
}

static inline void count_refs(const struct program *p, uint64_t *refs)
{
	for (unsigned t = 0; t <= PROGRAM_THREADS; t++)
		refs[t] = p->thread[t].ordinal;
}

/* What each thread tells, references and what else, as one number. */
struct digest {
	uint64_t of[16], n[16];
};

static inline void digest(struct digest *d, uint32_t thread, uint64_t value)
{
	uint64_t *of = &d->of[thread % 16];

	*of = (*of ^ value) * 0x9e3779b97f4a7c15ull;
	*of ^= *of >> 29;
	d->n[thread % 16]++;
}

static inline void digest_event(struct digest *d, const struct loci_event *event)
{
	bool whose = event->kind == LOCI_MARK_THREAD_START || event->kind == LOCI_MARK_THREAD_EXIT;
	uint32_t thread = whose ? (uint32_t)event->payload : event->thread;

	if (whose) /* whoever tells of it, it is the thread's */
		return;
	digest(d, thread, (uint64_t)event->kind << 56 | event->payload);
	for (unsigned i = 0; i < event->n_raw; i++)
		digest(d, thread, event->raw[i]);
}

static inline int digest_all(struct loci_source *source, struct digest *d)
{
	struct loci_decoder *decoder;
	struct loci_err err = { "" };
	uint64_t words[2048];
	ssize_t n;
	int r = 0;

	CHECK(loci_decoder_new(&decoder, NULL) == 0);
	while (r == 0 && (n = source->ops->read(source, words, 2048, &err)) > 0) {
		size_t pos = 0;

		while (r == 0 && pos < (size_t)n) {
			struct loci_ref refs[64];
			struct loci_event event;
			size_t n_refs;

			r = loci_decoder_next(
				decoder, words, (size_t)n, &pos, refs, 64, &n_refs, &event, &err);
			for (size_t i = 0; i < n_refs; i++) {
				struct loci_ref_site site;

				loci_decoder_site(decoder, refs[i].definition, &site);
				digest(d, refs[i].thread, refs[i].address);
				digest(d, refs[i].thread, refs[i].size_bytes ^ site.site);
			}
			if (r == 0 && event.kind != LOCI_MARK_PAD)
				digest_event(d, &event);
		}
	}
	loci_decoder_free(decoder);
	return r < 0 ? r : (int)n;
}

#endif
