/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an analysis knows of all processes read so far, and what its parts share. */
#ifndef LOCI_ANALYSE_SESSION_H
#define LOCI_ANALYSE_SESSION_H

#include "analyse/analyse.h"
#include "analyse/grain_sum.h"
#include "analyse/ledger.h"
#include "analyse/mistake.h"
#include "analyse/sample_sum.h"
#include "analyse/share_sum.h"
#include "analyse/unseen.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* A process that has been read, and what it counted apart from the engines. */
struct loci_process_totals {
	int64_t pid, parent_pid; /* 0: unknown */
	uint64_t start_ns;       /* monotonic */
	char *program;           /* the file that ran; NULL: unknown */
	uint64_t references, loads, stores, fetches, bulk, lost;
	uint64_t again; /* left out: of an element that the statement had */
	struct loci_thread_totals *thread;
	size_t n_threads;
	struct loci_sample_sum samples; /* of threads */
	struct loci_share_sum *share;   /* what threads met of each other; NULL: not attributed */
};

struct loci_analysis {
	const struct loci_analyse_options *options;
	struct timespec start;
	char started[32];
	bool alone; /* one process and no more: it may use all memory */
	_Atomic uint64_t references;
	pthread_mutex_t symbols_lock; /* of ledger.symbols; taken after the next if both are */
	pthread_mutex_t lock;         /* of all that follows */
	bool kept;                    /* some process's stream goes to options->keep */
	bool interrupted, incomplete;
	size_t n_read;                /* processes, begun or read */
	struct loci_stream_info info; /* of the first */
	bool has_plain;               /* code of gcc's */
	uint64_t promised_bytes;      /* of options->max_memory, to engines of running processes */
	struct loci_grain_sum grain[LOCI_ANALYSE_GRAINS];
	unsigned n_grains;
	struct loci_process_totals *process;
	size_t n_processes;
	uint64_t verified;
	struct loci_sample_sum samples; /* but those of threads */
	size_t n_unsampled;             /* processes with references and no sample */
	struct loci_analyse_watch_cost watch_cost;
	uint64_t told_references; /* of streams that only count, as is the next */
	unsigned told_threads;
	bool attributed; /* ledger is in use: some process was attributed */
	bool torn;       /* ledger has a part of some process only: it is of no use */
	struct loci_ledger ledger;
	struct loci_unseen unseen;
	struct loci_mistakes mistakes;
	bool has_paused; /* some program disabled recording; it left out so many references */
	uint64_t left_out;
	char note[512];
};

/* For those who hold the lock. */
void loci_analysis_add_note(struct loci_analysis *analysis, const char *text);

#endif
