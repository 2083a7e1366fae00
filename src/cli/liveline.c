// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/liveline.h"

#include "base/cleanup.h"
#include "cli/product.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define TICK_NS 250000000

/* As all terminals since the VT100 understand it. */
#define MAKE_ROOM      "\033D\033[A" /* down, scrolling if need be, and up: a line is below */
#define SAVE_CURSOR    "\0337"
#define LINE_BELOW     "\033[B\r"
#define CLEAR_REST     "\033[K"
#define RESTORE_CURSOR "\0338"
#define CLEAR_BELOW    "\033[J" /* and the rest of the cursor's own */

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

/* Where both share the terminal, only until the program writes something. (What it wrote before
 * the first look counts for nothing: the collector writes too as it starts.) */
static bool may_draw(struct loci_liveline *line)
{
	uint64_t bytes;

	if (tcgetpgrp(STDERR_FILENO) != getpgrp())
		return false;
	if (!isatty(STDOUT_FILENO))
		return true;
	bytes = written_bytes(line->program);
	if (!line->has_begun)
		line->began_bytes = bytes;
	line->has_begun = true;
	return bytes != UINT64_MAX && bytes == line->began_bytes;
}

static void draw(struct loci_liveline *line, double seconds)
{
	char text[256];

	if (!may_draw(line))
		return;
	line->progress.visible = true;
	fprintf(line->progress.out, MAKE_ROOM SAVE_CURSOR LINE_BELOW "%s" CLEAR_REST RESTORE_CURSOR,
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
		fputs(CLEAR_BELOW, line->progress.out);
		fflush(line->progress.out);
	}
	pthread_cond_destroy(&line->end);
	pthread_mutex_destroy(&line->lock);
}
