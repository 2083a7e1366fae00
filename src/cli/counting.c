// SPDX-License-Identifier: GPL-2.0-or-later
/* A stream of a process that only counts is short: its threads, and a COUNT where each ends. */
#include "cli/counting.h"

#include "base/cleanup.h"
#include "stream/decode.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define REFS 256

struct thread {
	uint32_t id;
	bool told;
	uint64_t references;
};

struct process {
	struct process *next;
	struct loci_source *source;
	struct loci_analysis *analysis;
	pthread_t reader;
	unsigned image;
	struct thread *thread;
	size_t n_threads;
	int failed;
	struct loci_err err;
};

static struct thread *find_thread(struct process *process, uint32_t id)
{
	void *larger;

	for (size_t i = 0; i < process->n_threads; i++)
		if (process->thread[i].id == id)
			return &process->thread[i];
	larger = realloc(process->thread, (process->n_threads + 1) * sizeof(*process->thread));
	if (!larger)
		return NULL;
	process->thread = larger;
	process->thread[process->n_threads] = (struct thread){ .id = id };
	return &process->thread[process->n_threads++];
}

/* The last COUNT of a thread holds: there may be one before a call that did not end it. */
static int hear(struct process *process, const struct loci_event *event)
{
	struct thread *thread;

	if (event->kind != LOCI_MARK_THREAD_START && event->kind != LOCI_MARK_COUNT)
		return 0;
	thread = find_thread(process, event->thread);
	if (!thread)
		return loci_err_nomem(&process->err);
	if (event->kind == LOCI_MARK_COUNT) {
		thread->told = true;
		thread->references = event->raw[0];
	}
	return 0;
}

static void free_decoder(struct loci_decoder **decoder)
{
	loci_decoder_free(*decoder);
}

/* The process's stream, heard while it is read. */
struct heard {
	struct loci_source source;
	struct process *process;
	struct loci_decoder *decoder;
};

static ssize_t read_heard(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct heard *heard = (struct heard *)source;
	struct loci_source *inner = heard->process->source;
	ssize_t n = inner->ops->read(inner, words, cap, err);
	struct loci_ref refs[REFS];
	size_t pos = 0, n_refs;

	while (n > 0 && pos < (size_t)n) {
		struct loci_event event;
		int r = loci_decoder_next(
			heard->decoder, words, (size_t)n, &pos, refs, REFS, &n_refs, &event, err);

		if (r == 0)
			r = hear(heard->process, &event);
		if (r < 0)
			return r;
	}
	if (n == 0) {
		memcpy(source->note, inner->note, sizeof(source->note));
		source->incomplete = inner->incomplete;
	}
	return n;
}

static void progress_heard(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct heard *heard = (const struct heard *)source;

	heard->process->source->ops->progress(heard->process->source, ret_done, ret_total);
}

static void close_heard(struct loci_source *source)
{
	(void)source; /* the process's own is closed where it was opened */
}

static int read_all(struct process *process)
{
	static const struct loci_source_ops ops = { read_heard, progress_heard, close_heard };
	loci_cleanup(free_decoder) struct loci_decoder *decoder = NULL;
	struct heard heard = { .source = { .ops = &ops, .info = process->source->info },
		.process = process };
	int r = loci_decoder_new(&decoder, &process->err);

	if (r < 0)
		return r;
	loci_decoder_keep_runs(decoder);
	heard.decoder = decoder;
	return loci_analysis_read(process->analysis, &heard.source, &process->err);
}

static void *run(void *data)
{
	struct process *process = data;

	process->failed = read_all(process);
	loci_source_close(process->source);
	return NULL;
}

/* Signals are for the main thread. */
static int start(struct process *process)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(&process->reader, NULL, run, process);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

static int begin(struct process **first, struct loci_source *source, struct loci_analysis *analysis,
	struct loci_err *err)
{
	struct process *process = calloc(1, sizeof(*process));
	int r;

	if (!process) {
		loci_source_close(source);
		return loci_err_nomem(err);
	}
	process->source = source;
	process->analysis = analysis;
	process->image = loci_runner_source_image(source);
	r = start(process);
	if (r) {
		loci_source_close(source);
		free(process);
		return loci_err_set(err, r, "no thread to read a process: %s", strerror(r));
	}
	process->next = *first;
	*first = process;
	return 0;
}

static int add_up(struct process *first, struct loci_counting *ret, struct loci_err *err)
{
	int failed = 0;

	while (first) {
		struct process *process = first;

		first = process->next;
		pthread_join(process->reader, NULL);
		ret->processes += !process->image;
		for (size_t i = 0; i < process->n_threads; i++) {
			ret->threads += process->thread[i].told;
			ret->untold += !process->thread[i].told;
			ret->references += process->thread[i].references;
		}
		if (process->failed < 0)
			failed = loci_err_set(err, -process->failed, "%s", process->err.text);
		free(process->thread);
		free(process);
	}
	return failed;
}

int loci_counting_read(struct loci_runner *runner, struct loci_analysis *analysis,
	struct loci_counting *ret, struct loci_err *err)
{
	struct process *first = NULL;
	struct loci_source *source;
	int r, failed = 0;

	*ret = (struct loci_counting){ 0 };
	do {
		r = loci_runner_next(runner, &source, err);
		if (source)
			r = begin(&first, source, analysis, err);
		if (r < 0)
			failed = r;
	} while (r < 0 ? r != -ENOMEM : !!source);
	r = add_up(first, ret, err);
	loci_analysis_told(analysis, ret->references, ret->threads + ret->untold);
	return failed < 0 ? failed : r;
}
