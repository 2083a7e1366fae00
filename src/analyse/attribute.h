/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first stage, of one process: decodes its words, knows at every reference whose it is (site,
 * object, calling context), and hands the touches on to be measured. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_H
#define LOCI_ANALYSE_ATTRIBUTE_H

#include "analyse/analyse.h"
#include "analyse/code.h"
#include "analyse/distinct.h"
#include "analyse/executed.h"
#include "analyse/footprint.h"
#include "analyse/grain.h"
#include "analyse/measure.h"
#include "analyse/object.h"
#include "analyse/relay.h"
#include "analyse/row.h"
#include "analyse/sampler.h"
#include "analyse/side.h"
#include "analyse/stage.h"
#include "analyse/walk.h"
#include "analyse/watch_blame.h"

/* When the last allocations were made, by their epoch. */
struct loci_birth {
	uint32_t epoch, clock;
};
#define LOCI_BIRTHS (1u << 14)

/* Counted in the current context, stage and thread, and not added there yet. */
struct loci_attribution_here {
	uint64_t refs, near[LOCI_RECENT];
	uint64_t again; /* left out: of an element that the statement had */
	uint32_t context, stage;
	size_t thread;
};

/* Threads from their first touch to their end (share.h). */
struct loci_members {
	uint32_t *thread; /* of each: its id */
	size_t n, cap;
	uint32_t *of; /* by number in the walk, plus one; 0: it has touched nothing yet, or again */
	size_t of_cap;
	size_t toucher; /* whose the last touches are, by that number; SIZE_MAX: nobody's */
};

/* What the quick loop needs of a block that the stream defines, by its id. */
struct loci_quick_head {
	uint64_t changes; /* of definitions, when this was learnt; 0: never */
	uint64_t n_refs;  /* of an execution that has nothing else; UINT64_MAX: it has */
	const struct loci_code_ref *ref;
	struct loci_code_block *block;
};

struct loci_attribution {
	const struct loci_analyse_options *options;
	struct loci_decoder *decoder; /* borrowed, as are the grains */
	struct loci_grain_engine *const *grain;
	unsigned n_grains;
	struct loci_symbols *symbols; /* of all processes, under the lock */
	pthread_mutex_t *symbols_lock;
	bool flow; /* the stream tells code addresses */
	/* The words given so far end within an execution, at a load that is a return if no more of
	 * it comes: its address; 0: they do not. */
	uint64_t cut;
	struct loci_code code;
	struct loci_walk walk;
	struct loci_executed executed;
	struct loci_footprint *footprint; /* NULL: not wanted */
	struct loci_rows rows;
	struct loci_stages stages;
	uint32_t region; /* the current thread's innermost, in stages; LOCI_NO_REGION: none */
	struct loci_objects *objects;
	struct loci_measure measure;
	struct loci_relay *relay;
	struct loci_batch *batch; /* being filled */
	/* Of the block sizes after the first. */
	struct loci_side *side[LOCI_ANALYSE_GRAINS - 1];
	uint64_t last_block; /* touched; of the batch, unless this has none */
	unsigned shift;      /* of the first block size */
	uint64_t use;        /* of a touch now: context and loop entries */
	bool joins;          /* touches of the block touched before are no elements of their own */
	bool recents;        /* nor are those of the most recent blocks */
	bool walks;          /* what RUNs stand for is touches and nothing else, if they let it */
	bool threaded;       /* threads take turns: a batch says whose touches are whose */
	struct loci_members members;
	struct loci_quick_head *head;
	size_t n_heads;
	struct loci_recent recent;
	struct loci_attribution_here here;
	uint64_t references; /* but those of here */
	uint64_t straddles;
	uint64_t share_bytes;
	uint64_t *thread_refs; /* by number in walk */
	uint64_t *thread_again;
	size_t thread_cap, thread_again_cap;
	struct loci_pieces *pieces;     /* NULL: not asked for */
	struct loci_distinct *distinct; /* NULL: every reference counts */
	struct loci_sampler *sampler;   /* borrowed: references are its business; NULL: none */
	/* Of several threads, by its samples; NULL: none, as with what is there without them. */
	const struct loci_sampler_private *private_;
	struct loci_watch_blame *watched; /* borrowed, of samples that are watched; NULL: none */
	const struct loci_watch_times *times; /* what they said; NULL: nothing */
	bool paused;                          /* references are followed, and do not count */
	uint64_t left_out;                    /* so */
	struct loci_birth birth[LOCI_BIRTHS];
};

struct loci_attribution_options {
	const struct loci_analyse_options *options;
	uint32_t capabilities; /* of the stream, as is the next */
	uint32_t collector;
	struct loci_decoder *decoder;
	struct loci_grain_engine *const *grain; /* the first with keep_uses, unless no pairs */
	unsigned n_grains;
	const uint64_t *block_bytes; /* of each */
	uint64_t share_bytes;     /* memory that stacks of threads may take, which is taken from the
				     first grain's when there are threads; 0: no limit */
	uint64_t footprint_bytes; /* memory that distinct bytes may take; 0: no limit */
	struct loci_symbols *symbols; /* of all processes, under the lock */
	pthread_mutex_t *symbols_lock;
};

int loci_attribution_new(const struct loci_attribution_options *options,
	struct loci_attribution **ret, struct loci_err *err);
void loci_attribution_free(struct loci_attribution *attribution); /* NULL allowed */

/* What counts before a fault counts. event is called for what concerns the process, not its memory
 * or code. */
int loci_attribution_words(struct loci_attribution *attribution, const uint64_t *words,
	size_t n_words, void (*event)(void *data, const struct loci_event *event), void *data,
	struct loci_err *err);
/* After the last words. */
int loci_attribution_finish(struct loci_attribution *attribution, struct loci_err *err);

#endif
