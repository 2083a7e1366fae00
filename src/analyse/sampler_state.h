/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside a sampler: sampler.c finds samples and feeds the engine, sampler_finish.c adds up. */
#ifndef LOCI_ANALYSE_SAMPLER_STATE_H
#define LOCI_ANALYSE_SAMPLER_STATE_H

#include "analyse/sampler.h"

#define LOCI_SAMPLER_TOUCHES 4096
#define LOCI_SAMPLER_TURNS   1024

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

struct loci_sampler {
	struct loci_sampler_options options;
	struct loci_windowed *windowed;
	uint64_t random;
	struct loci_sampler_thread *thread; /* by number in walk */
	size_t thread_cap;
	bool follows; /* samples are open: touches are wanted */
	uint64_t announced, waiting, closed, lost, analysed, unseen;
	struct loci_sampler_taken *taken;
	size_t n_taken, taken_cap;
	struct loci_sampler_private private_;
	size_t n, n_turns, n_samples;
	uint32_t member; /* of the last turn */
	/* The reference before, if another one of its block and thread that follows at once tells
	 * nothing new: it was fed, and was no sample. */
	uint64_t last_block; /* UINT64_MAX: none */
	bool last_writes;
	uint64_t block[LOCI_SAMPLER_TOUCHES], bytes[LOCI_SAMPLER_TOUCHES],
		use[LOCI_SAMPLER_TOUCHES], sample_tag[LOCI_SAMPLER_TOUCHES];
	uint8_t is_write[LOCI_SAMPLER_TOUCHES];
	uint32_t turn_touch[LOCI_SAMPLER_TURNS], turn_member[LOCI_SAMPLER_TURNS],
		sample_touch[LOCI_SAMPLER_TOUCHES];
};

/* sampler.c: the thread's window is over; samples that were to come do not; those that are neither
 * to come nor open are closed. */
void loci_sampler_end_window(struct loci_sampler *sampler, struct loci_sampler_thread *thread);
void loci_sampler_forget(struct loci_sampler *sampler, struct loci_sampler_thread *thread);
void loci_sampler_tell_closed(struct loci_sampler *sampler);

#endif
