// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/liveline.h"

#include "base/cleanup.h"
#include "cli/product.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define TICK_NS 250000000

/* Bytes the process has written, to whatever; UINT64_MAX where the kernel does not say. */
static uint64_t written_bytes(pid_t pid)
{
	char path[64], text[64];
	loci_autofclose FILE *file = NULL;
	unsigned long long bytes;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	file = fopen(path, "re");
	while (file && fgets(text, sizeof(text), file))
		if (sscanf(text, "wchar: %llu", &bytes) == 1)
			return bytes;
	return UINT64_MAX;
}

static bool may_draw(const struct loci_liveline *line)
{
	uint64_t bytes;

	if (tcgetpgrp(STDERR_FILENO) != getpgrp())
		return false;
	if (!line->shared)
		return true;
	bytes = written_bytes(line->program);
	return bytes != UINT64_MAX && bytes == line->began_bytes;
}

static void draw(struct loci_liveline *line, double seconds)
{
	char text[256];

	if (!may_draw(line))
		return;
	line->progress.visible = true;
	fprintf(line->progress.out, "\n%s\033[K\033[A\r",
		loci_progress_line(&line->progress, seconds,
			loci_analysis_references(line->analysis), 0, 0, text, sizeof(text)));
	fflush(line->progress.out);
}

static void *run(void *data)
{
	struct loci_liveline *line = data;
	double start = loci_product_seconds();
	struct timespec until;

	pthread_mutex_lock(&line->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	while (!line->ending) {
		until.tv_nsec += TICK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&line->end, &line->lock, &until) && !line->ending)
			draw(line, loci_product_seconds() - start);
	}
	pthread_mutex_unlock(&line->lock);
	return NULL;
}

void loci_liveline_begin(
	struct loci_liveline *line, const struct loci_analysis *analysis, pid_t program)
{
	sigset_t all, old;

	*line = (struct loci_liveline){ .analysis = analysis, .program = program };
	loci_progress_begin(&line->progress, stderr, "references");
	if (!line->progress.out)
		return;
	line->shared = isatty(STDOUT_FILENO);
	line->began_bytes = written_bytes(program);
	pthread_mutex_init(&line->lock, NULL);
	pthread_cond_init(&line->end, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	line->running = pthread_create(&line->thread, NULL, run, line) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Clears from the cursor on: the line is below it, or under it. */
void loci_liveline_end(struct loci_liveline *line)
{
	if (!line->running)
		return;
	pthread_mutex_lock(&line->lock);
	line->ending = true;
	pthread_cond_signal(&line->end);
	pthread_mutex_unlock(&line->lock);
	pthread_join(line->thread, NULL);
	line->running = false;
	if (line->progress.visible) {
		fputs("\033[J", line->progress.out);
		fflush(line->progress.out);
	}
	pthread_cond_destroy(&line->end);
	pthread_mutex_destroy(&line->lock);
}
