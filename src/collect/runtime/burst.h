/* SPDX-License-Identifier: BSD-2-Clause */
/* A burst: the words of a thread around a sample, which stay in the process and are read by the
 * thread itself when there are some hundred of them. References are counted one by one, so that the
 * sample is any of them, and those behind it are compared with what it touched.
 *
 * How wrong it can be: code whose callee began the burst goes on counting until its next loop goes
 * round or it calls, and handlers only count. Such references are known by their number alone,
 * after the words they stand among, and are taken to stand behind them: a sample that is one of
 * them is lost, and any other reference is one as often as it should be. A reuse says how many
 * there were. */
#ifndef LOCI_COLLECT_RUNTIME_BURST_H
#define LOCI_COLLECT_RUNTIME_BURST_H

#include "collect/runtime/around.h"
#include "collect/runtime/brief.h"
#include "collect/runtime/call_stack.h"
#include "collect/runtime/far_blocks.h"
#include "collect/runtime/passed.h"

#include <stdbool.h>

#define RT_BURST_WORDS    512 /* at most, between two looks; .. */
#define RT_BURST_WAITING  128 /* .. before a sample */
#define RT_BURST_FOLLOWED 16  /* samples at once */

/* A reference. */
struct rt_burst_ref {
	uint64_t address, bytes, site, descriptor;
	bool has_parts; /* that are sampled by themselves (watch_bulk.h) */
};

struct rt_burst_sample {
	uint64_t address; /* in the block */
	uint64_t block;
	uint64_t count, mean;
	uint64_t site, descriptor, frame;
	uint64_t touches;  /* of blocks since .. */
	uint64_t in_parts; /* .. of which so many were by references that have parts */
	uint64_t passed;   /* the first has this number */
	uint32_t n_blocks; /* that it touches */
	bool is_part;      /* of it (watch_bulk.h) */
	bool has_reuse;
	struct rt_burst_ref reuse;
	uint64_t reuse_count, reuse_frame;
	uint64_t reuse_distinct; /* its stack distance, and 1; 0: not known */
	uint64_t far_refs;       /* it is followed for; 0: as usual (watch_far.h) */
	struct loci_around_shares around;
	unsigned n_back, n_reuse_back;
	uint64_t back[RT_CALLS], reuse_back[RT_CALLS];
};

struct rt_burst {
	struct loci_cc_state state;
	bool is_on;
	uint32_t generation; /* of code (rt_burst_generation) */
	uint64_t *read;      /* up to here */
	uint64_t count;      /* of the last reference that was read */
	/* The block that is being read: */
	struct rt_known of; /* the function; its definition is NULL: none */
	uintptr_t loaded;   /* its module, if that is known to be there, .. */
	size_t loaded_bytes;
	const struct loci_cc_site *sites; /* of the function */
	uint32_t first_site;              /* its own: .. */
	unsigned n_sites, n_left;         /* .. so many, the last of which are to come */
	bool is_wide, has_address;
	uint64_t address; /* of a range */
	uint64_t frame;   /* of an entry */
	bool is_senseless;
	struct loci_around around;   /* references since it began */
	struct loci_passed passed;   /* touches while samples are followed */
	struct loci_far_blocks *far; /* of the one that is followed for long; NULL: none was yet */
	bool has_far;                /* one is, .. */
	uint64_t far_refs;           /* .. or was in this burst, for so many references */
	unsigned n_followed;
	struct rt_burst_sample followed[RT_BURST_FOLLOWED];
	struct rt_call_stack calls;
	uint64_t words[RT_BURST_WORDS + LOCI_CC_ROOM_WORDS];
};

struct rt_thread;

/* Reads what was appended: takes samples that are due, and notes reuses. Lock held. False: it made
 * no sense, and what was followed is lost. */
bool rt_burst_read(struct rt_thread *thread);
/* A sample that was followed for long is followed no more, or as usual. */
void rt_burst_far_over(struct rt_burst *burst, struct rt_burst_sample *sample);
/* A reference that stands in no words, read after them. */
void rt_burst_refer(struct rt_thread *thread, const struct rt_burst_ref *ref);

#endif
