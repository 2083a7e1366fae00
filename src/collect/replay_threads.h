/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a stream have done so far. */
#ifndef LOCI_COLLECT_REPLAY_THREADS_H
#define LOCI_COLLECT_REPLAY_THREADS_H

#include "collect/replay_calls.h"
#include "collect/runtime/around.h"
#include "collect/runtime/passed.h"

#include <stdbool.h>

struct loci_replay_thread {
	uint32_t id;
	bool ended; /* another may have its id */
	uint64_t count, touches;
	struct loci_replay_calls calls;
	struct loci_around around; /* definitions stand for sites */
	struct loci_passed *passed;
};

struct loci_replay_threads {
	struct loci_replay_thread *thread;
	size_t n, cap, at; /* at: the current one */
};

void loci_replay_threads_fini(struct loci_replay_threads *threads);
/* What follows is of this thread, new if need be. 0 or -ENOMEM. */
int loci_replay_threads_switch(struct loci_replay_threads *threads, uint32_t id);

#endif
