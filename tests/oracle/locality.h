/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the models: streams of known locality, their histograms by plain lists, and plain
 * simulators of one cache. Slow and short on purpose; nothing is shared with the engines. */
#ifndef LOCI_TESTS_LOCALITY_H
#define LOCI_TESTS_LOCALITY_H

#include "hist/hist.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct stream {
	const char *name;
	uint32_t *block;
	uint8_t *is_write;
	size_t n, room;
	uint32_t blocks; /* all block numbers are below */
};

static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dull >> 11;
}

static inline void stream_init(struct stream *stream, const char *name)
{
	*stream = (struct stream){ .name = name };
}

static inline void stream_fini(struct stream *stream)
{
	free(stream->block);
	free(stream->is_write);
}

static inline void stream_touch(struct stream *stream, uint32_t block, int is_write)
{
	if (stream->n == stream->room) {
		stream->room = stream->room ? 2 * stream->room : 1024;
		stream->block = realloc(stream->block, stream->room * sizeof(*stream->block));
		stream->is_write = realloc(stream->is_write, stream->room);
		if (!stream->block || !stream->is_write)
			abort();
	}
	stream->block[stream->n] = block;
	stream->is_write[stream->n++] = (uint8_t)is_write;
	if (block >= stream->blocks)
		stream->blocks = block + 1;
}

static inline void stream_cyclic(struct stream *stream, uint32_t blocks, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		for (uint32_t b = 0; b < blocks; b++)
			stream_touch(stream, b, b % 3 == i % 3);
}

/* Back and forth: the reuse after a turn is near, the one before it far. */
static inline void stream_sawtooth(struct stream *stream, uint32_t blocks, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		for (uint32_t b = 0; b < blocks; b++)
			stream_touch(stream, i & 1 ? blocks - 1 - b : b, b & 1);
}

static inline void stream_uniform(struct stream *stream, uint32_t blocks, size_t touches)
{
	uint64_t state = 88172645463325252ull;

	for (size_t i = 0; i < touches; i++) {
		uint32_t block = (uint32_t)(next_random(&state) % blocks);

		stream_touch(stream, block, next_random(&state) % 4 == 0);
	}
}

/* Popular blocks scattered over the numbers: density about 1/rank. */
static inline void stream_skewed(struct stream *stream, uint32_t blocks, size_t touches)
{
	uint64_t state = 1234567;

	for (size_t i = 0; i < touches; i++) {
		uint64_t rank = next_random(&state) % blocks;

		rank = next_random(&state) % (rank + 1);
		rank = next_random(&state) % (rank + 1);
		stream_touch(stream, (uint32_t)(rank * 2654435761u % blocks), rank % 5 == 0);
	}
}

/* Tiles visited one after another, each several times before the next, and all of it again. */
static inline void stream_tiled(
	struct stream *stream, uint32_t tiles, uint32_t tile, unsigned visits, unsigned rounds)
{
	for (unsigned r = 0; r < rounds; r++)
		for (uint32_t t = 0; t < tiles; t++)
			for (unsigned v = 0; v < visits; v++)
				for (uint32_t b = 0; b < tile; b++)
					stream_touch(stream, t * tile + b, v == 0);
}

/* Columns of a row-major matrix whose rows are a power of two of blocks: few sets take it all. */
static inline void stream_columns(
	struct stream *stream, uint32_t rows, uint32_t pitch, unsigned rounds)
{
	for (unsigned r = 0; r < rounds; r++)
		for (uint32_t column = 0; column < 4; column++)
			for (uint32_t row = 0; row < rows; row++)
				stream_touch(stream, row * pitch + column, row % 2);
}

/* Distances of every touch, from one list per set; one set gives plain stack distances. */
struct histograms {
	struct loci_hist stack, time, dirty;
	uint32_t distinct;
};

static inline void histograms_fini(struct histograms *h)
{
	loci_hist_fini(&h->stack);
	loci_hist_fini(&h->time);
	loci_hist_fini(&h->dirty);
}

static inline void count_distance(struct loci_hist *hist, uint64_t value)
{
	if (value == LOCI_INFINITE)
		hist->cold++;
	else if (hist->scheme == LOCI_SCHEME_LINEAR && value >= LOCI_LINEAR_BINS)
		hist->cold++; /* per set: not found */
	else if (loci_hist_add(hist, value, 1) < 0)
		abort();
}

/* Moves block to the front of its set's list; returns where it was, or LOCI_INFINITE. */
static inline uint64_t list_touch(uint32_t *list, uint32_t *length, uint32_t block)
{
	uint32_t at = 0;

	while (at < *length && list[at] != block)
		at++;
	memmove(list + 1, list, at * sizeof(*list));
	list[0] = block;
	if (at < *length)
		return at;
	(*length)++;
	return LOCI_INFINITE;
}

static inline void histograms_make(
	const struct stream *stream, uint32_t sets, struct histograms *ret)
{
	enum loci_scheme scheme = sets == 1 ? LOCI_SCHEME_FINE : LOCI_SCHEME_LINEAR;
	uint32_t per_set = stream->blocks / sets + 1;
	uint32_t *list = calloc((size_t)sets * per_set, sizeof(*list));
	uint32_t *length = calloc(sets, sizeof(*length));
	uint64_t *last = calloc(stream->blocks, sizeof(*last));   /* touch + 1 */
	uint64_t *level = calloc(stream->blocks, sizeof(*level)); /* largest since last write */

	if (!list || !length || !last || !level)
		abort();
	loci_hist_init(&ret->stack, scheme);
	loci_hist_init(&ret->time, LOCI_SCHEME_FINE);
	loci_hist_init(&ret->dirty, scheme);
	ret->distinct = 0;
	for (size_t i = 0; i < stream->n; i++) {
		uint32_t b = stream->block[i], set = b % sets;
		uint64_t d = list_touch(list + (size_t)set * per_set, &length[set], b);

		count_distance(&ret->stack, d);
		count_distance(&ret->time, last[b] ? i + 1 - last[b] : LOCI_INFINITE);
		ret->distinct += !last[b];
		last[b] = i + 1;
		if (d > level[b])
			level[b] = d;
		if (stream->is_write[i]) {
			count_distance(&ret->dirty, level[b]);
			level[b] = 0;
		}
	}
	free(list);
	free(length);
	free(last);
	free(level);
}

struct simulated {
	uint64_t misses, writebacks; /* the final flush included */
};

/* One LRU cache: an array of lines per set, the least recently used found by its time. */
static inline void simulate_lru(
	const struct stream *stream, uint32_t sets, uint32_t ways, struct simulated *ret)
{
	struct line {
		uint64_t used; /* 0: empty */
		uint32_t block;
		uint8_t dirty;
	} *lines = calloc((size_t)sets * ways, sizeof(*lines));

	if (!lines)
		abort();
	*ret = (struct simulated){ 0 };
	for (size_t i = 0; i < stream->n; i++) {
		struct line *set = lines + (size_t)(stream->block[i] % sets) * ways, *victim = set;
		uint32_t w;

		for (w = 0; w < ways && !(set[w].used && set[w].block == stream->block[i]); w++)
			if (set[w].used < victim->used)
				victim = &set[w];
		if (w < ways) {
			victim = &set[w];
		} else {
			ret->misses++;
			ret->writebacks += victim->dirty;
			*victim = (struct line){ .block = stream->block[i] };
		}
		victim->used = i + 1;
		victim->dirty |= stream->is_write[i];
	}
	for (size_t i = 0; i < (size_t)sets * ways; i++)
		ret->writebacks += lines[i].dirty;
	free(lines);
}

/* Fully associative, a random line evicted. Returns misses. */
static inline uint64_t simulate_random(const struct stream *stream, uint32_t lines, uint64_t seed)
{
	uint32_t *held = calloc(lines, sizeof(*held)), used = 0;
	uint32_t *where = calloc(stream->blocks, sizeof(*where)); /* line + 1 */
	uint64_t misses = 0;

	if (!held || !where)
		abort();
	for (size_t i = 0; i < stream->n; i++) {
		uint32_t b = stream->block[i], line;

		if (where[b])
			continue;
		misses++;
		line = used < lines ? used++ : (uint32_t)(next_random(&seed) % lines);
		if (where[held[line]] == line + 1)
			where[held[line]] = 0;
		held[line] = b;
		where[b] = line + 1;
	}
	free(held);
	free(where);
	return misses;
}

#endif
