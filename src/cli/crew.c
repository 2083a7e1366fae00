// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/crew.h"

#include "cli/product.h"
#include "collect/run.h"
#include "stream/tee.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
	struct loci_crew *crew;
	struct loci_source *source;
	pid_t pid;
	unsigned image;
};

void loci_crew_init(struct loci_crew *crew)
{
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->left, NULL);
}

void loci_crew_fini(struct loci_crew *crew)
{
	pthread_cond_destroy(&crew->left);
	pthread_mutex_destroy(&crew->lock);
}

static void keep_failure(struct job *job, const struct loci_err *err, struct loci_err *first)
{
	struct loci_crew *crew = job->crew;

	if (!err->text[0])
		return;
	pthread_mutex_lock(&crew->lock);
	if (job->pid == crew->program)
		loci_err_set(first, EIO, "%s", err->text);
	else
		loci_err_set(first, EIO, "process %d: %s", job->pid, err->text);
	pthread_mutex_unlock(&crew->lock);
}

/* FILE, FILE.PID, and FILE.PID.N of what a process became by exec. */
static void trace_name(const struct job *job, char *path, size_t size)
{
	const char *base = job->crew->trace;

	if (job->image)
		snprintf(path, size, "%s.%d.%u", base, job->pid, job->image);
	else if (job->pid != job->crew->program)
		snprintf(path, size, "%s.%d", base, job->pid);
	else
		snprintf(path, size, "%s", base);
}

static int keep_trace(struct job *job, struct loci_err *failure, struct loci_err *err)
{
	char path[PATH_MAX];

	if (!job->crew->trace)
		return 0;
	trace_name(job, path, sizeof(path));
	if (loci_product_check_trace(path, job->crew->output, failure) < 0)
		return 0;
	return loci_tee_new(job->source, path, job->crew->terms, failure, &job->source, err);
}

static void work(struct job *job)
{
	struct loci_err failure = { "" }, err = { "" };
	int r = keep_trace(job, &failure, &err);

	if (r == 0)
		r = loci_order_new_take(job->source,
			&(struct loci_order_options){ .order = job->crew->order }, &job->source,
			&err);
	if (r == 0) {
		loci_analysis_read(job->crew->analysis, job->source, &err);
		loci_source_close(job->source);
	}
	keep_failure(job, &err, &job->crew->unread);
	keep_failure(job, &failure, &job->crew->untraced);
}

static void *run(void *data)
{
	struct job *job = data;
	struct loci_crew *crew = job->crew;

	work(job);
	free(job);
	pthread_mutex_lock(&crew->lock);
	if (--crew->working == 0)
		pthread_cond_signal(&crew->left);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* Signals are for the main thread. */
static int start_thread(struct job *job)
{
	pthread_attr_t detached;
	sigset_t all, old;
	pthread_t thread;
	int r;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(&thread, &detached, run, job);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&detached);
	return r;
}

void loci_crew_read(struct loci_crew *crew, struct loci_source *source)
{
	struct job *job = calloc(1, sizeof(*job));
	struct loci_err err = { "" };
	int r = ENOMEM;

	pthread_mutex_lock(&crew->lock);
	crew->working++;
	crew->processes += !loci_runner_source_image(source);
	pthread_mutex_unlock(&crew->lock);
	if (job) {
		*job = (struct job){ crew, source, loci_runner_source_pid(source),
			loci_runner_source_image(source) };
		r = start_thread(job);
		if (r == 0)
			return;
		loci_err_set(&err, r, "not recorded, no thread to read it: %s", strerror(r));
		keep_failure(job, &err, &crew->unread);
		free(job);
	}
	loci_source_close(source);
	pthread_mutex_lock(&crew->lock);
	crew->working--;
	pthread_mutex_unlock(&crew->lock);
}

void loci_crew_wait(struct loci_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (crew->working)
		pthread_cond_wait(&crew->left, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}
