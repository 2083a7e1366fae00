/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis at one block size: references split into touches, the engines they are fed to, and
 * the naive stack that checks the engine on a prefix. */
#ifndef LOCI_ANALYSE_GRAIN_H
#define LOCI_ANALYSE_GRAIN_H

#include "analyse/grain_sum.h"
#include "base/err.h"
#include "stream/decode.h"

#include <stdbool.h>

struct loci_grain_engine;

struct loci_grain_options {
	uint64_t block_bytes; /* a power of two; 1 where references are whole objects */
	bool objects;         /* addresses are ids: a reference is one touch whatever its size */
	bool no_sets;
	uint64_t max_bytes; /* of the stack engine; 0: no limit */
	uint64_t verify;    /* touches to compare with the naive stack */
	bool little;        /* as the stack engine's */
	bool keep_uses;
	bool recent; /* who feeds it keeps the most recent blocks; with no_sets, without verify */
};

int loci_grain_new(const struct loci_grain_options *options, struct loci_grain_engine **ret,
	struct loci_err *err);
void loci_grain_free(struct loci_grain_engine *grain); /* NULL allowed */

/* Frames are passed over. */
int loci_grain_feed(struct loci_grain_engine *grain, const struct loci_ref *refs, size_t n,
	struct loci_err *err);

/* Touches that somebody else has split, and counted the straddling references of. use and
 * ret_last_use as loci_stack_feed_uses has them, or NULL, with keep_uses only. No more than
 * LOCI_GRAIN_TOUCHES at once. */
#define LOCI_GRAIN_TOUCHES 8192
int loci_grain_touches(struct loci_grain_engine *grain, const uint64_t *block,
	const uint8_t *is_write, const uint64_t *use, size_t n, uint64_t *ret_distance,
	uint64_t *ret_last_use, struct loci_err *err);
/* Runs of touches that somebody else has found, as loci_stack_feed_runs has them. */
struct loci_stack_runs;
int loci_grain_runs(struct loci_grain_engine *grain, const struct loci_stack_runs *runs, size_t n,
	uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err);
/* Of a grain made with recent: as loci_stack_feed_recent and loci_stack_add_recent have it. */
struct loci_stack_recent;
struct loci_recent;
bool loci_grain_keeps_recent(const struct loci_grain_engine *grain);
int loci_grain_recent(struct loci_grain_engine *grain, const struct loci_stack_recent *recent,
	size_t n, uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err);
void loci_grain_add_recent(struct loci_grain_engine *grain, const struct loci_recent *recent,
	const uint64_t *stack_count);
/* Instead of the latter: from here on all touches come to it. */
void loci_grain_leave_recent(struct loci_grain_engine *grain, const struct loci_recent *recent,
	const uint64_t *stack_count);
/* Its blocks from the least to the most recently touched one, malloc'ed; the distances so far,
 * uninitialised before; and the rate at which blocks are sampled. Not of a grain that keeps recent
 * blocks apart. */
int loci_grain_held(const struct loci_grain_engine *grain, uint64_t **ret_block, size_t *ret_n,
	struct loci_hist *ret_hist, double *ret_rate, struct loci_err *err);
/* It may take no more than this from here on. */
void loci_grain_limit(struct loci_grain_engine *grain, uint64_t max_bytes);
void loci_grain_straddled(struct loci_grain_engine *grain, uint64_t references);
/* Of the touches that come with the next call: the second halves of references over two blocks, as
 * loci_sets_feed_halves has them. Borrowed until then. References over more are not among them. */
void loci_grain_halves(struct loci_grain_engine *grain, const uint32_t *second, size_t n);

uint64_t loci_grain_verified(const struct loci_grain_engine *grain);

/* The end of the stream: totals and histograms are added to sum. */
int loci_grain_finish(
	struct loci_grain_engine *grain, struct loci_grain_sum *sum, struct loci_err *err);

#endif
