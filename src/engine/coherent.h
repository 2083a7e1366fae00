/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that invalidate each other (Schuff et al. 2010): each member (a thread, or a group of
 * threads that share a cache) has its own LRU stack, and a write by one takes the block out of all
 * others'. It leaves a hole there that keeps its depth: a hole counts as a block. The next touch of
 * that block by a member that lost it is a coherence miss. With one member this is the plain stack
 * distance.
 *
 * Slots are live, holes or empty; a distance is the live and hole slots above. A reuse from slot s:
 * if there is a hole above s, the highest of them is cleared and s becomes a hole; otherwise s is
 * cleared. A new block clears the highest hole, if any. A block that was taken away is new.
 *
 * A coherence miss is of true sharing if the touch overlaps bytes that others wrote since the block
 * was taken away, and of false sharing otherwise.
 *
 * Space grows with the blocks of all members together, and is given back when a member ends. */
#ifndef LOCI_ENGINE_COHERENT_H
#define LOCI_ENGINE_COHERENT_H

#include "base/err.h"
#include "engine/isa.h"
#include "hist/hist.h"

#include <stdbool.h>
#include <stddef.h>

struct loci_coherent;

/* Whose access takes a block away. */
enum loci_coherent_taking {
	LOCI_COHERENT_BY_WRITES, /* Schuff et al. */
	/* Any other member's: what is said of writes below holds for all touches then. */
	LOCI_COHERENT_BY_ANY,
	/* Nobody's: plain stacks that only tell who touched a block last, of which Anger et al.
	 * (2014) make their model. */
	LOCI_COHERENT_BY_NONE,
};

struct loci_coherent_options {
	enum loci_isa isa; /* LOCI_ISA_BEST unless a test wants another */
	/* Of memory that grows with the blocks, at least about 1 MiB; members take some 90 KiB
	 * each besides. 0: no limit. Beyond it blocks are sampled by hash as the stack engine does,
	 * the same ones for all members; but short distances are scaled, too. */
	uint64_t max_bytes;
	enum loci_coherent_taking taken_by;
};

int loci_coherent_new(const struct loci_coherent_options *options, struct loci_coherent **ret,
	struct loci_err *err);
void loci_coherent_free(struct loci_coherent *coherent); /* NULL allowed */

enum loci_coherent_kind {
	LOCI_COHERENT_REUSE = 0,
	LOCI_COHERENT_COLD = 1,  /* the member never touched it before */
	LOCI_COHERENT_TRUE = 2,  /* lost to another's write of these bytes */
	LOCI_COHERENT_FALSE = 3, /* lost to another's write of other bytes of the block */
	LOCI_COHERENT_MASK = 3,
	LOCI_COHERENT_REMOTE = 4, /* or'ed: its last toucher was another member */
};

/* Touches in their order; all of one member between two turns. Members are numbered from 0 on; one
 * begins with its first touch. */
struct loci_coherent_touches {
	const uint64_t *block;
	const uint8_t *is_write; /* 0 or 1 each */
	const uint64_t *bytes;   /* touched, a bit each (of blocks of 64; of others per 1/64th) */
	const uint64_t *use;     /* any word of each touch; may be NULL */
	size_t n;
	const uint32_t *turn_touch, *turn_member; /* from this touch on, this member; the first is
						     of touch 0 */
	size_t n_turns;
	uint64_t *ret_distance; /* LOCI_INFINITE unless REUSE; LOCI_UNSAMPLED: not followed */
	uint8_t *ret_kind;      /* 0 where not followed */
	uint64_t *ret_lost_to;  /* of TRUE and FALSE: the use of the write that took it away, which
				   for TRUE is the last one of these bytes; may be NULL */
};
int loci_coherent_feed(struct loci_coherent *coherent, const struct loci_coherent_touches *touches,
	struct loci_err *err);

/* A member takes a plain stack over that was fed without others: its blocks from the least to the
 * most recently touched one (loci_stack_held), of which it followed this rate. Counts nothing but
 * the blocks. Only before any touch. */
int loci_coherent_adopt(struct loci_coherent *coherent, uint32_t member, const uint64_t *block,
	size_t n, double sampling_rate, struct loci_err *err);

/* The member touches nothing more: what it holds is given back. What it counted stays. */
void loci_coherent_end(struct loci_coherent *coherent, uint32_t member);

struct loci_coherent_result {
	uint64_t touches, writes;
	struct loci_hist stack; /* with cold and coherence; while sampling, weights */
	/* Of BY_NONE: those of the distances whose block another member touched last. */
	struct loci_hist remote_stack;
	uint64_t true_sharing, false_sharing;
	uint64_t remote;      /* touches whose block another member touched last */
	uint64_t invalidated; /* times its blocks were taken away */
};
/* Of a member, ended or not; a snapshot. Finish with loci_coherent_result_fini. */
int loci_coherent_result(const struct loci_coherent *coherent, uint32_t member,
	struct loci_coherent_result *ret, struct loci_err *err);
void loci_coherent_result_fini(struct loci_coherent_result *result);

/* Blocks by who touched them, over the whole run. */
struct loci_coherent_blocks {
	uint64_t alone;     /* one member only */
	uint64_t read_only; /* several, none of whom wrote after another had touched it */
	uint64_t written;   /* several */
};
void loci_coherent_blocks(const struct loci_coherent *coherent, struct loci_coherent_blocks *ret);
uint64_t loci_coherent_bytes(const struct loci_coherent *coherent);       /* memory used */
double loci_coherent_sampling_rate(const struct loci_coherent *coherent); /* 1 while exact */

#endif
