/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thirty streams that watched samples are judged by: loops, uniform and skewed ones, stencils,
 * products of matrices, what goes back and forth, phases. */
#ifndef LOCI_TESTS_WATCHED_STREAMS_H
#define LOCI_TESTS_WATCHED_STREAMS_H

#include "stream/source.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REFS    200000
#define STREAMS 30
#define SITES   8

static uint64_t state;

static uint64_t rnd(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* The block of reference i, and the site that it is of; sites differ in size, where bytes is not 0.
 */
struct made {
	uint64_t block[REFS];
	uint8_t site[REFS];
	uint32_t bytes[SITES];
	unsigned n_threads; /* that take turns, if there are several */
};
static struct made made;

static void loop(size_t from, size_t to, uint64_t n, uint64_t base, unsigned site)
{
	for (size_t i = from; i < to; i++) {
		made.block[i] = base + (i - from) % n;
		made.site[i] = (uint8_t)site;
	}
}

static void uniform(size_t from, size_t to, uint64_t n, uint64_t base, unsigned site)
{
	for (size_t i = from; i < to; i++) {
		made.block[i] = base + rnd(n);
		made.site[i] = (uint8_t)site;
	}
}

/* Some blocks far more often than others. */
static void skewed(uint64_t n, unsigned power)
{
	for (size_t i = 0; i < REFS; i++) {
		double u = (double)(1 + rnd(1 << 30)) / (1 << 30);

		made.block[i] = (uint64_t)((double)(n - 1) * pow(u, power));
		made.site[i] = (uint8_t)(made.block[i] % 3);
	}
}

/* Each point with its neighbours above and below, over rows of n, again and again. */
static void stencil(uint64_t n, uint64_t rows)
{
	for (size_t i = 0; i < REFS; i++) {
		uint64_t point = i / 3 % (n * rows);

		made.block[i] = point + n * (i % 3);
		made.site[i] = (uint8_t)(i % 3);
	}
}

static void product(uint64_t n, uint64_t tile)
{
	size_t at = 0;

	for (uint64_t jj = 0; at < REFS; jj = (jj + tile) % n)
		for (uint64_t i = 0; i < n; i++)
			for (uint64_t j = jj; j < jj + tile && j < n; j++)
				for (uint64_t k = 0; k < n && at + 2 <= REFS; k++) {
					made.block[at] = i * n + k;
					made.site[at++] = 0;
					made.block[at] = n * n + k * n + j;
					made.site[at++] = 1;
				}
}

/* There and back again: what StatStack is worst at. */
static void sawtooth(uint64_t n)
{
	for (size_t i = 0; i < REFS; i++) {
		uint64_t at = i % (2 * n);

		made.block[i] = at < n ? at : 2 * n - 1 - at;
		made.site[i] = at >= n;
	}
}

/* One in four goes far, the others stay near. */
static void mixed(uint64_t near, uint64_t far)
{
	for (size_t i = 0; i < REFS; i++) {
		bool goes = i % 4 == 0;

		made.block[i] = goes ? near + i / 4 % far : i % near;
		made.site[i] = goes;
	}
}

/* RDX's listing 2, and again with other data. */
static void listing_2(uint64_t n)
{
	for (size_t i = 0; i < REFS; i++) {
		uint64_t round = i / (4 * n), at = i % (4 * n), base = round * 2 * n;

		made.block[i] = at < 2 * n ? base + at % n : base + n + (at - 2 * n) / 2;
		made.site[i] = (uint8_t)(at < 2 * n ? at / n : 2 + at % 2);
	}
}

/* Makes stream 0..STREAMS-1; its name. */
static const char *make(unsigned stream)
{
	static const uint64_t sizes[] = { 10, 300, 3000, 9000, 30000 };
	unsigned n = stream % 5;
	static char name[32];

	state = 88172645463325252u + stream;
	switch (stream / 5) {
	case 0:
		loop(0, REFS, sizes[n], 0, 0);
		snprintf(name, sizeof(name), "loop %" PRIu64, sizes[n]);
		break;
	case 1:
		uniform(0, REFS, sizes[n], 0, 0);
		snprintf(name, sizeof(name), "uniform %" PRIu64, sizes[n]);
		break;
	case 2:
		skewed(sizes[n], 3);
		snprintf(name, sizeof(name), "skewed %" PRIu64, sizes[n]);
		break;
	case 3:
		stencil(20 + 60 * n, 20 + 20 * n);
		snprintf(name, sizeof(name), "stencil %u x %u", 20 + 60 * n, 20 + 20 * n);
		break;
	case 4:
		if (n < 3)
			product(40 + 10 * n, n == 0 ? 40 : 8);
		else if (n == 3)
			sawtooth(2000);
		else
			listing_2(5000);
		snprintf(name, sizeof(name), n == 3 ? "sawtooth" : "listing 2");
		if (n < 3)
			snprintf(name, sizeof(name), "product %u", 40 + 10 * n);
		break;
	default:
		if (n < 2) {
			mixed(20, 2000u << 2 * n);
		} else if (n == 2) { /* phases */
			loop(0, REFS / 2, 5000, 0, 0);
			uniform(REFS / 2, REFS, 100, 50000, 1);
		} else if (n == 3) {
			for (unsigned i = 0; i < 10; i++)
				loop(i * REFS / 10, (i + 1) * REFS / 10, i % 2 ? 50 : 7000,
					i * 9000, i % 2);
		} else {
			loop(0, REFS, REFS, 0, 0); /* never again */
			uniform(REFS / 2, REFS, 500, 1 << 20, 1);
		}
		snprintf(name, sizeof(name), "%s %u", n < 2 ? "near and far" : "phases", n);
	}
	return name;
}

/* The stream as a source: a block for each site, of one load. */
struct memory {
	struct loci_source source;
	size_t at;
};

static ssize_t memory_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct memory *memory = (struct memory *)source;
	size_t n = 0;

	(void)err;
	for (uint64_t id = 0; memory->at == 0 && id < SITES; id++) {
		const uint64_t define[] = { loci_mark_word(LOCI_MARK_DEFINE, 4, id), 0, 0,
			loci_ref_word(made.bytes[id] ? made.bytes[id] : 8,
				id % 2 ? LOCI_OP_STORE : LOCI_OP_LOAD, 0),
			0x1000 + id };

		memcpy(words + n, define, sizeof(define));
		n += 5;
	}
	for (; memory->at < REFS && n + 3 <= cap; memory->at++) {
		if (made.n_threads)
			words[n++] = loci_mark_word(
				LOCI_MARK_SWITCH, 0, memory->at % made.n_threads + 1);
		words[n++] = loci_mark_word(LOCI_MARK_BLOCK, 0, made.site[memory->at]);
		words[n++] = made.block[memory->at] * 8;
	}
	return (ssize_t)n;
}

static void memory_progress(const struct loci_source *source, uint64_t *done, uint64_t *total)
{
	(void)source;
	*done = *total = 0;
}

static void memory_close(struct loci_source *source)
{
	(void)source;
}

static const struct loci_source_ops memory_ops = { memory_read, memory_progress, memory_close };

#endif
