/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random streams that obey the format's rules, and use all of it. */
#ifndef LOCI_TESTS_STREAM_RANDOM_H
#define LOCI_TESTS_STREAM_RANDOM_H

#include "stream/stream.h"

#include <stdbool.h>
#include <stdlib.h>

#define RANDOM_BLOCKS  40
#define RANDOM_THREADS 5
#define RANDOM_DEPTH   6

/* What the generator knows of a thread: a block, or none (-1), and words given. */
struct random_cursor {
	int block;
	unsigned given;
};

struct random_stream {
	uint64_t seed;
	uint64_t *words;
	size_t n, cap;
	struct {
		bool defined;
		bool plain; /* neither ranges nor a frame */
		unsigned n_words, n_refs;
		uint64_t id;
	} block[RANDOM_BLOCKS];
	struct {
		struct random_cursor stack[RANDOM_DEPTH];
		unsigned depth;
	} thread[RANDOM_THREADS];
	unsigned at;
	uint64_t address; /* wanders */
};

static inline uint64_t random_next(struct random_stream *s)
{
	/* xorshift64* (Vigna 2016) */
	s->seed ^= s->seed >> 12;
	s->seed ^= s->seed << 25;
	s->seed ^= s->seed >> 27;
	return s->seed * 0x2545f4914f6cdd1dull;
}

static inline unsigned random_below(struct random_stream *s, unsigned n)
{
	return (unsigned)((random_next(s) >> 32) * n >> 32);
}

static inline void random_put(struct random_stream *s, uint64_t word)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1024;
		s->words = realloc(s->words, s->cap * sizeof(*s->words));
		if (!s->words)
			abort();
	}
	s->words[s->n++] = word;
}

static inline void random_init(struct random_stream *s, uint64_t seed)
{
	*s = (struct random_stream){ .seed = seed * 0x9e3779b97f4a7c15ull + 1, .address = 1 << 20 };
	for (unsigned t = 0; t < RANDOM_THREADS; t++)
		s->thread[t].stack[0].block = -1;
	for (unsigned b = 0; b < RANDOM_BLOCKS; b++) {
		s->block[b].id = b % 5 == 4 ? 0x7f0000000000ull + 0x1234567ull * b
			: b % 5 == 3        ? 300000 + b
					    : b;
	}
}

static inline struct random_cursor *random_cursor(struct random_stream *s)
{
	return &s->thread[s->at].stack[s->thread[s->at].depth];
}

/* A definition changed: the block is current nowhere. */
static inline void random_end_block(struct random_stream *s, int block)
{
	for (unsigned t = 0; t < RANDOM_THREADS; t++)
		for (unsigned d = 0; d <= s->thread[t].depth; d++)
			if (s->thread[t].stack[d].block == block)
				s->thread[t].stack[d].block = -1;
}

static inline unsigned random_descriptors(struct random_stream *s, unsigned n_refs, bool entry)
{
	unsigned n_words = 0;

	for (unsigned i = 0; i < n_refs; i++) {
		bool frame = entry && i == 0;
		bool range = !frame && random_below(s, 6) == 0;
		enum loci_op op = frame ? LOCI_OP_FRAME : (enum loci_op)random_below(s, 3);

		random_put(s,
			loci_ref_word(
				range ? 0 : 1u << random_below(s, 7), op, random_below(s, 128)));
		random_put(s, random_next(s) >> random_below(s, 64));
		n_words += range ? 2 : 1;
	}
	return n_words;
}

static inline void random_define(struct random_stream *s)
{
	unsigned b = random_below(s, RANDOM_BLOCKS), n_refs = random_below(s, 5);
	bool entry = n_refs && random_below(s, 4) == 0;
	uint64_t id = s->block[b].id;

	if (random_below(s, 12) == 0)
		n_refs = 126;
	random_put(s, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * n_refs, id));
	random_put(s, (uint64_t)random_below(s, 9) << 32 | (entry ? LOCI_BLOCK_ENTRY : 0));
	random_put(s, random_next(s));
	s->block[b].n_words = random_descriptors(s, n_refs, entry);
	s->block[b].n_refs = n_refs;
	s->block[b].defined = true;
	while (random_below(s, 4) == 0) {
		n_refs = random_below(s, 4);
		random_put(s, loci_mark_word(LOCI_MARK_DEFINE_MORE, 2 * n_refs, id));
		s->block[b].n_words += random_descriptors(s, n_refs, false);
		s->block[b].n_refs += n_refs;
	}
	s->block[b].plain = !entry && s->block[b].n_words == s->block[b].n_refs;
	random_end_block(s, (int)b);
}

static inline void random_event(struct random_stream *s)
{
	static const uint8_t kinds[][2] = { { LOCI_MARK_THREAD_START, 4 }, { LOCI_MARK_ALLOC, 3 },
		{ LOCI_MARK_SYNC, 2 }, { LOCI_MARK_TIME, 1 }, { LOCI_MARK_LOST, 0 },
		{ LOCI_MARK_COUNT, 1 }, { 0x7f, 0 }, { LOCI_MARK_PAD, 0 }, { LOCI_MARK_STRING, 0 },
		{ LOCI_MARK_STACK, 0 }, { LOCI_MARK_SAMPLE_OPEN, 6 }, { LOCI_MARK_SAMPLE_LOT, 3 } };
	unsigned k = random_below(s, sizeof(kinds) / sizeof(kinds[0]));
	unsigned n_raw = kinds[k][1] + random_below(s, random_below(s, 9) ? 4 : 240);
	bool thread = kinds[k][0] == LOCI_MARK_THREAD_START;

	random_put(s, loci_mark_word(kinds[k][0], n_raw, random_below(s, thread ? 9 : UINT32_MAX)));
	for (unsigned i = 0; i < n_raw; i++)
		random_put(s, random_next(s) >> (thread && i == 0 ? 40 : random_below(s, 64)));
}

static inline void random_addresses(struct random_stream *s)
{
	struct random_cursor *cursor = random_cursor(s);
	unsigned n = random_below(s, 40);

	if (cursor->block < 0 || s->block[cursor->block].n_words == 0)
		return;
	for (unsigned i = 0; i < n; i++) {
		s->address += random_below(s, 5) ? 8 : random_next(s) >> (1 + random_below(s, 63));
		if (s->address >> 63) {
			random_put(s, loci_mark_word(LOCI_MARK_WIDE, 1, 0));
			random_put(s, s->address);
			s->address >>= random_below(s, 60);
		} else {
			random_put(s, s->address);
		}
		cursor->given = (cursor->given + 1) % s->block[cursor->block].n_words;
	}
}

static inline void random_block(struct random_stream *s)
{
	unsigned b = random_below(s, RANDOM_BLOCKS);

	if (!s->block[b].defined)
		return;
	random_put(s, loci_mark_word(LOCI_MARK_BLOCK, 0, s->block[b].id));
	*random_cursor(s) = (struct random_cursor){ .block = (int)b };
}

#define RANDOM_RUN_TIMES 20
#define RANDOM_RUN_REFS  126

static inline void random_run(struct random_stream *s)
{
	unsigned b = random_below(s, RANDOM_BLOCKS), n = s->block[b].n_refs;

	if (!s->block[b].defined || !s->block[b].plain || n > RANDOM_RUN_REFS)
		return;
	random_put(s, loci_mark_word(LOCI_MARK_RUN, 2 + 2 * n, s->block[b].id));
	random_put(s, 1 + random_below(s, RANDOM_RUN_TIMES));
	random_put(s, 0);
	for (unsigned i = 0; i < n; i++) {
		random_put(s, random_next(s) >> random_below(s, 64));
		random_put(s,
			(random_below(s, 2) ? 0 : ~0ull) ^ random_next(s) >> random_below(s, 64));
	}
	*random_cursor(s) = (struct random_cursor){ .block = (int)b };
}

static inline void random_signal(struct random_stream *s)
{
	bool enter = random_below(s, 2) && s->thread[s->at].depth + 1 < RANDOM_DEPTH;

	if (!enter && s->thread[s->at].depth == 0)
		return;
	random_put(s,
		loci_mark_word(enter ? LOCI_MARK_SIGNAL_ENTER : LOCI_MARK_SIGNAL_LEAVE, 0,
			random_below(s, 32)));
	if (enter) {
		s->thread[s->at].depth++;
		random_cursor(s)->block = -1;
	} else {
		s->thread[s->at].depth--;
	}
}

static inline void random_step(struct random_stream *s)
{
	unsigned what = random_below(s, 100), b;

	if (what < 45) {
		random_block(s);
		random_addresses(s);
	} else if (what < 55) {
		random_run(s);
		if (random_below(s, 4) == 0)
			random_addresses(s);
	} else if (what < 75) {
		random_addresses(s);
	} else if (what < 82) {
		random_define(s);
	} else if (what < 90) {
		random_event(s);
	} else if (what < 94) {
		s->at = random_below(s, RANDOM_THREADS);
		random_put(s, loci_mark_word(LOCI_MARK_SWITCH, 0, s->at));
	} else if (what < 98) {
		random_signal(s);
	} else {
		b = random_below(s, RANDOM_BLOCKS);
		random_put(s, loci_mark_word(LOCI_MARK_UNDEFINE, 0, s->block[b].id));
		s->block[b].defined = false;
		random_end_block(s, (int)b);
	}
}

/* At least n_words; the caller frees s->words. */
static inline void random_generate(struct random_stream *s, uint64_t seed, size_t n_words)
{
	random_init(s, seed);
	while (s->n < n_words)
		random_step(s);
}

#endif
