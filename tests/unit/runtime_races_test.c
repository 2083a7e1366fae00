// SPDX-License-Identifier: GPL-2.0-or-later
/* The runtime of `loci cc` while threads have it do everything at once, in every mode (raced.c),
 * with this program as the recorder. Where the thread sanitizer watches (ctest -L tsan) that
 * program has the runtime's own files compiled for it, so that it looks into what is else linked to
 * other people's programs; in other builds it is tried that nothing stops or fails. What the words
 * say is the subject of runtime_test and sync_test. */
#define _GNU_SOURCE
#include "runtime/rings_of_run.h"

#define PERIOD 3000
#define LEAVES 20 /* so many turns, of about a millisecond, after the program began */

static struct one_run run;
static const char *program = RACED; /* or another that is named */
static unsigned n_turns;            /* of the recorder */
static size_t n_left;               /* rings that it reads no more */

static struct loci_control_samples *slot(void)
{
	return &run.control->slot[(uint32_t)run.pid % LOCI_CONTROL_SLOTS];
}

static void trace(struct loci_control *control)
{
	(void)control;
}

static void turns(struct loci_control *control)
{
	control->turn_shift = 9;
}

static void windows(struct loci_control *control)
{
	control->windows = 1;
}

static void count(struct loci_control *control)
{
	control->mode = LOCI_CONTROL_COUNT;
}

static void sample(struct loci_control *control)
{
	control->mode = LOCI_CONTROL_SAMPLE;
	control->windows = 1;
	control->period = PERIOD;
	control->seed = 7;
	control->doubling = 100;
	control->skew = 5000;
}

static void watch(struct loci_control *control)
{
	control->mode = LOCI_CONTROL_WATCH;
	control->windows = 1;
	control->period = PERIOD;
	control->seed = 7;
	control->watching = (struct loci_control_watching){
		.by = LOCI_CONTROL_REGISTERS, .watches = 4, .block_shift = 3, .burst_refs = 300
	};
}

static void watch_pages(struct loci_control *control)
{
	watch(control);
	control->watching.by = LOCI_CONTROL_PAGES;
	control->watching.block_shift = 6;
}

static void nothing(void)
{
}

static void open_and_shut(void)
{
	__atomic_store_n(&run.control->recording, n_turns % 2, __ATOMIC_SEQ_CST);
}

static void close_samples(void)
{
	uint32_t opened = __atomic_load_n(&slot()->opened, __ATOMIC_SEQ_CST);

	__atomic_store_n(&slot()->closed, opened, __ATOMIC_SEQ_CST);
}

/* The recorder goes away: it reads no ring any more, those that are yet to come neither. */
static void leave(void)
{
	for (; n_turns >= LEAVES && n_left < run.n_rings; n_left++) {
		struct one_ring *ring = &run.ring[n_left];

		loci_ring_stop(ring->source);
		CHECK(pthread_join(ring->thread, NULL) == 0);
		loci_source_close(ring->source);
		free(ring->words);
	}
}

static size_t n_words(bool of_threads)
{
	size_t n = 0;

	for (size_t i = 0; i < run.n_rings; i++)
		if ((run.ring[i].number != 0) == of_threads)
			n += run.ring[i].n;
	return n;
}

static void try(const char *scenario, void (*mode)(struct loci_control *), void (*meanwhile)(void))
{
	run_prepare(&run);
	mode(run.control);
	n_left = 0;
	run_start(&run, program, scenario);
	for (n_turns = 0; waitpid(run.pid, &run.status, WNOHANG) == 0; n_turns++) {
		run_look(&run);
		meanwhile();
		usleep(1000);
	}
	while (run_look(&run))
		;
	if (n_left) {
		leave();
		run.n_rings = 0;
	}
	for (size_t i = 0; i < run.n_rings; i++)
		CHECK(pthread_join(run.ring[i].thread, NULL) == 0);
	CHECK(WIFEXITED(run.status));
	CHECK_U64(WEXITSTATUS(run.status), 0);
	CHECK(run.control->running == 1);
}

/* The least that it must have told: that it was watched. */
static void check(const char *scenario, void (*mode)(struct loci_control *),
	void (*meanwhile)(void), size_t of_threads, size_t of_process)
{
	try(scenario, mode, meanwhile);
	CHECK(n_words(true) >= of_threads);
	CHECK(n_words(false) >= of_process);
	if (check_failures)
		fprintf(stderr, "%s: %zu words, %zu of the process\n", scenario, n_words(true),
			n_words(false));
	run_free(&run);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		program = argv[1];
	/* what a program leaves behind is its own affair */
	setenv("TSAN_OPTIONS", "halt_on_error=1 exitcode=66 report_thread_leaks=0", 1);
	check("threads", trace, nothing, 100000, 50);
	check("forks", trace, nothing, 100000, 50);
	check("threads", turns, nothing, 100000, 50);
	check("forks", turns, nothing, 100000, 50);
	check("teams", turns, nothing, 100000, 50);
	check("teams", trace, nothing, 100000, 50);
	check("exits", trace, nothing, 10000, 50);
	check("threads", windows, open_and_shut, 1000, 50);
	check("threads", count, nothing, 100, 10);
	check("forks", sample, close_samples, 1000, 50);
	check("threads", watch, nothing, 100, 50);
	check("forks", watch_pages, nothing, 100, 50);
	check("exits", watch_pages, nothing, 100, 50);
	check("threads", trace, leave, 0, 0);
	return check_status();
}
