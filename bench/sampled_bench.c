// SPDX-License-Identifier: GPL-2.0-or-later
/* What a trace of samples takes to be analysed:	sampled_bench TRACE [PERIOD [PROFILE]]
 *
 * TRACE is what `loci record -m sample -c PERIOD --trace TRACE` kept. Prints the processor's
 * nanoseconds for each reference in it; for instructions, run it under Callgrind. */
#include "analyse/analyse.h"
#include "stream/thread_order.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const struct loci_err *err)
{
	fprintf(stderr, "sampled_bench: %s\n", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	struct loci_analyse_sampling sampling = {
		.period = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000, .seed = 1
	};
	struct loci_analyse_options options = { .attribute = true,
		.no_sets = true,
		.no_source = true,
		.pairs = LOCI_PAIRS_NONE,
		.sampling = &sampling };
	struct loci_analyse_summary summary = { 0 };
	struct loci_source *source = NULL;
	struct loci_err err = { "" };
	double begun, refs;
	int r, fd;

	if (argc < 2 || (fd = open(argv[1], O_RDONLY)) < 0)
		return loci_err_set(&err, 0, "a trace is needed"), fail(&err);
	if (loci_trace_open_fd(fd, argv[1], &source, &err) < 0)
		return fail(&err);
	if (loci_order_new_take(source, &(struct loci_order_options){ 0 }, &source, &err) < 0)
		return fail(&err);
	begun = now();
	r = loci_analyse(source, &options, argc > 3 ? argv[3] : "/dev/null", &summary, &err);
	loci_source_close(source);
	if (r < 0)
		return fail(&err);
	refs = summary.analysed * (double)summary.references;
	printf("%.0f references of %llu, %llu samples: %.1f ns each\n", refs,
		(unsigned long long)summary.references, (unsigned long long)summary.samples,
		(now() - begun) * 1e9 / refs);
	return 0;
}
