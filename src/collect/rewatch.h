/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watching collector on a stream that has every reference: which samples it would have taken,
 * which watches it would have had for them and what these would have met, as the markers OPEN,
 * EVICT and FIRE that it would have written. Deterministic, which a live one cannot be: for traces,
 * and for judging how samples are drawn, watched and weighed.
 *
 * A sample is a random reference, and what is watched is one of the blocks that it touches, chosen
 * at random. Samples are a geometric number of references apart, of whichever thread. A sample is
 * followed reference by reference for some time, and if its reuse does not come it enters the
 * lottery for a watch (collect/runtime/reservoir.h), which all threads share and whose reuse any of
 * them may be. What a watch meets is told in references of the sample's thread, as by a collector
 * that counts nothing else; while it is followed touches are counted. */
#ifndef LOCI_COLLECT_REWATCH_H
#define LOCI_COLLECT_REWATCH_H

#include "collect/runtime/reservoir.h"
#include "stream/source.h"

struct loci_rewatch_options {
	uint64_t period;      /* mean references between samples, at least 1 */
	uint64_t burst_refs;  /* for which a sample is followed; 0: not at all */
	uint64_t block_bytes; /* a power of two */
	unsigned watches;     /* 1..LOCI_RESERVOIR */
	enum loci_replace replace;
	bool writes_only; /* only writes are reuses */
	uint64_t seed;
};

/* Takes the source over; the result has samples, what was said of code, memory and threads, and no
 * references. */
int loci_rewatch_new_take(struct loci_source *source, const struct loci_rewatch_options *options,
	struct loci_source **ret, struct loci_err *err);

#endif
