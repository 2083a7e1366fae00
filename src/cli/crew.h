/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads that read the streams of a run, one for each process. */
#ifndef LOCI_CLI_CREW_H
#define LOCI_CLI_CREW_H

#include "analyse/analyse.h"
#include "stream/thread_order.h"
#include "stream/watch_terms.h"

#include <pthread.h>

struct loci_crew {
	struct loci_analysis *analysis;
	enum loci_order order; /* of the threads of a process */
	const char *trace;     /* --trace: a file for the first image of the program .. */
	const char *output;    /* .. which is not the profile's */
	const struct loci_watch_terms *terms; /* of watched samples; NULL: they are none */
	pid_t program;                        /* all others get a suffix */
	pthread_mutex_t lock;
	pthread_cond_t left;
	unsigned working, processes;
	/* The first of each. A stream that cannot be read is not read on; the others are. */
	struct loci_err unread, untraced;
};

void loci_crew_init(struct loci_crew *crew);
/* Reads the stream of a runner in a thread of its own, and closes it. */
void loci_crew_read(struct loci_crew *crew, struct loci_source *source);
/* Until all have been read. */
void loci_crew_wait(struct loci_crew *crew);
void loci_crew_fini(struct loci_crew *crew);

#endif
