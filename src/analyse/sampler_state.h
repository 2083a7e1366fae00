/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside a sampler: sampler.c finds samples and feeds the engine, sampler_fold.c adds them up as
 * they are known, sampler_finish.c says what they stand for. */
#ifndef LOCI_ANALYSE_SAMPLER_STATE_H
#define LOCI_ANALYSE_SAMPLER_STATE_H

#include "analyse/attribute_touch.h"
#include "analyse/keymap.h"
#include "analyse/sampler.h"
#include "engine/epochs.h"
#include "engine/windowed.h"

/* A reference that is to come. */
struct loci_sampler_announced {
	uint64_t number, mean;
};

struct loci_sampler_thread {
	uint64_t count; /* references so far, where a window is open */
	uint64_t next;  /* the number of the next sample; UINT64_MAX: none announced */
	uint64_t begun; /* where the window did; missing references move it on */
	uint64_t refs;  /* in all, as far as it has said */
	bool in_window;
	struct loci_sampler_announced *announced; /* ascending */
	size_t n_announced, cap;
};

/* What is remembered of a sample until its distance is known. */
struct loci_sampler_taken {
	uint64_t mean;
	uint64_t blocks; /* of its reference */
	uint32_t row, context;
	bool is_write, straddles;
};

/* Samples of one site and context whose answer is the same. */
struct loci_sampler_part {
	struct loci_windowed_answer answer; /* its distance the least of its bin */
	uint32_t row, context;
	uint32_t by_row, by_context; /* whose the distance is */
	uint32_t member;
	bool is_private;
	double refs, touches; /* that they stand for, as the gaps before them have it .. */
	double square;        /* .. and the sum of each one's touches squared */
	uint64_t n;
};

struct loci_sampler_parts {
	struct loci_sampler_part *part;
	size_t n, cap;
	struct loci_keymap ids;
	/* Of all samples. */
	uint64_t samples, pruned, last_mean;
	double refs, touches, writes, straddles;
};

struct loci_sampler {
	struct loci_sampler_options options;
	struct loci_windowed *windowed;
	uint64_t random;
	struct loci_sampler_thread *thread; /* by number in walk */
	size_t thread_cap;
	bool follows; /* samples are open: touches are wanted */
	uint64_t announced, waiting, closed, lost, analysed, unseen;
	struct loci_sampler_taken *taken; /* by tag */
	size_t n_taken, taken_cap;
	uint64_t free_taken; /* a place that is free, plus one: the next is its mean */
	size_t fold_at;      /* samples held */
	struct loci_sampler_parts parts;
	struct loci_sampler_private private_;
	struct loci_epochs *epochs; /* of windowed */
	uint64_t look;              /* touches, when samples may have become too old */
	/* The touch before, if another one of its block by its thread tells nothing new. */
	uint64_t last_block; /* UINT64_MAX: none */
	uint32_t member;     /* of the last touch */
	bool last_writes;
};

/* A block in the memory that the site knows. */
static inline uint64_t loci_sampler_block(const struct loci_row_site *site, uint64_t block)
{
	return block + ((uint64_t)site->generation << LOCI_GENERATION_BITS);
}

/* sampler.c: a touch within one block, of what its site knows. */
int loci_sampler_touch(struct loci_sampler *sampler, struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, uint64_t size_bytes,
	struct loci_err *err);
/* sampler_fold.c: the last touch is a sample. 0, -ENOMEM or -EOVERFLOW: there have been 2^32. */
int loci_sampler_take(struct loci_sampler *sampler, const struct loci_sampler_taken *taken);
/* Adds up what is known. 0 or -ENOMEM. */
int loci_sampler_fold(struct loci_sampler *sampler);
void loci_sampler_parts_fini(struct loci_sampler_parts *parts);
/* sampler.c: the thread's window is over; samples that were to come do not; those that are neither
 * to come nor open are closed. */
void loci_sampler_end_window(struct loci_sampler *sampler, struct loci_sampler_thread *thread);
void loci_sampler_forget(struct loci_sampler *sampler, struct loci_sampler_thread *thread);
void loci_sampler_tell_closed(struct loci_sampler *sampler);

#endif
