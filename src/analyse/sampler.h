/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of one process, whose stream has every reference while samples are open and says which
 * references they are, by number (SAMPLE_OPEN). Each becomes one touch: of a reference to several
 * blocks one of them, chosen at random, which stands for all. What comes of it (engine/windowed.h)
 * is counted for the whole, for its thread, and for its row and context.
 *
 * A sample stands for as many references as the mean of the gap before it; in the end these weights
 * are scaled so that they add up to the references that threads counted. */
#ifndef LOCI_ANALYSE_SAMPLER_H
#define LOCI_ANALYSE_SAMPLER_H

#include "analyse/sample_sum.h"
#include "analyse/share.h"
#include "engine/windowed.h"
#include "stream/decode.h"

struct loci_attribution;
struct loci_code_ref;
struct loci_sampler;

struct loci_sampler_options {
	unsigned shift; /* of the block size */
	uint64_t seed;
	uint64_t period;    /* 0: the stream says it */
	uint64_t max_bytes; /* of its engines; 0: no limit */
	/* The first age at which chance decides whether a sample is followed (engine/windowed.h);
	 * 0: what the period makes of it. */
	uint64_t gamble_touches;
	/* So many more samples need not be followed any further; may be NULL. */
	void (*closed)(void *data, uint32_t n);
	void *data;
};

int loci_sampler_new(const struct loci_sampler_options *options, struct loci_sampler **ret,
	struct loci_err *err);
void loci_sampler_free(struct loci_sampler *sampler); /* NULL allowed */

/* A reference of the attribution's current thread. left_out: it counts nowhere. */
int loci_sampler_refer(struct loci_sampler *sampler, struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, uint64_t size_bytes, bool left_out,
	struct loci_err *err);
/* A marker of the stream; its thread is the attribution's current one. */
int loci_sampler_event(struct loci_sampler *sampler, struct loci_attribution *a,
	const struct loci_event *event, struct loci_err *err);
/* Gives up what is too old, and says what is closed. */
void loci_sampler_look(struct loci_sampler *sampler);

/* By row, in the threads' own stacks: distances, and misses of blocks that others wrote. */
struct loci_sampler_private {
	struct loci_spread rows;
	struct loci_coherence *met; /* of each row */
};

/* The stream has ended: adds what was found to the sum and to the attribution's rows and contexts.
 */
int loci_sampler_finish(struct loci_sampler *sampler, struct loci_attribution *a,
	struct loci_sample_sum *sum, struct loci_err *err);
/* After that: references that a thread, by its number in walk, counted. */
uint64_t loci_sampler_thread_refs(const struct loci_sampler *sampler, size_t thread);

#endif
