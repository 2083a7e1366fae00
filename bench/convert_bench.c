// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU time of the models on histograms that fill every fine bin up to 2^40, the worst there is:
 * at most 0.2 s each. */
#include "model/predict.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void line(const char *what, double started)
{
	printf("  %-44s %7.1f ms\n", what, (now() - started) * 1e3);
}

int main(void)
{
	static const struct loci_predict_options lru;
	struct loci_hist hist, stack;
	struct loci_prediction p;
	struct loci_predict_input input = { .stores_known = true };
	static const struct loci_cache caches[] = {
		{ .name = "L1", .size_bytes = 48 << 10, .ways = 12, .line_bytes = 64 },
		{ .name = "L3", .size_bytes = 39424 << 10, .ways = 11, .line_bytes = 64 },
		{ .name = "W", .size_bytes = 3 << 26, .ways = 65536, .line_bytes = 64 },
	};
	double t;

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	hist.cold = 1e6;
	for (uint32_t i = 1; i < LOCI_FINE_LINEAR + 32 * 128; i++)
		if (loci_hist_add(&hist, loci_bin_low(LOCI_SCHEME_FINE, i), 1e6) < 0)
			return 1;
	printf("models, CPU time, %u bins\n", hist.n_bins);

	t = now();
	if (loci_convert_statstack(&hist, &stack) < 0)
		return 1;
	line("StatStack", t);
	loci_hist_fini(&stack);
	for (double n = 1e3; n <= 1e9; n *= 1e2) {
		char what[64];

		snprintf(what, sizeof(what), "Shen, %.0e distinct blocks", n);
		t = now();
		if (loci_convert_shen(&hist, n, &stack) < 0)
			return 1;
		line(what, t);
		loci_hist_fini(&stack);
	}
	t = now();
	loci_convert_statcache(&hist, 1e8, 1 << 20);
	line("StatCache, one size", t);
	input.stack = input.dirty = &hist;
	for (unsigned i = 0; i < 3; i++) {
		char what[128], label[64];

		snprintf(what, sizeof(what), "binomial model with write-backs, %s",
			loci_cache_label(&caches[i], label));
		t = now();
		if (loci_predict_cache(&input, &caches[i], &lru, &p, NULL) < 0)
			return 1;
		line(what, t);
	}
	loci_hist_fini(&hist);
	return 0;
}
