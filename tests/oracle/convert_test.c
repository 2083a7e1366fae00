// SPDX-License-Identifier: GPL-2.0-or-later
/* Conversions from time distances against exact stack distances and simulated random replacement,
 * and their known errors, so that the documentation's figures stay true. */
#include "check.h"
#include "oracle/locality.h"

#include "model/accuracy.h"
#include "model/convert.h"
#include "model/curve.h"

/* The largest difference of miss ratios over power-of-two sizes, in points. */
static double worst(const struct loci_hist *truth, const struct loci_hist *other)
{
	struct loci_accuracy a;

	loci_accuracy(truth, other, 64, &a);
	return a.worst_points;
}

static double mean(const struct loci_hist *hist)
{
	double sum = 0;

	for (uint32_t i = 0; i < hist->n_bins; i++)
		sum += hist->weight[i] *
			(double)(loci_bin_low(hist->scheme, i) + loci_bin_high(hist->scheme, i) -
				1) /
			2;
	return sum / loci_hist_finite(hist);
}

static void same(const struct loci_hist *a, const struct loci_hist *b)
{
	uint32_t n = a->n_bins > b->n_bins ? a->n_bins : b->n_bins;

	for (uint32_t i = 0; i < n; i++)
		CHECK_NEAR(
			i < a->n_bins ? a->weight[i] : 0, i < b->n_bins ? b->weight[i] : 0, 1e-9);
	CHECK_NEAR(a->cold, b->cold, 0);
}

struct converted {
	struct histograms h;
	struct loci_hist statstack, shen;
};

static void convert(const struct stream *s, struct converted *c)
{
	histograms_make(s, 1, &c->h);
	CHECK(loci_convert_statstack(&c->h.time, &c->statstack) == 0);
	CHECK(loci_convert_shen(&c->h.time, c->h.distinct, &c->shen) == 0);
	CHECK_NEAR(loci_hist_total(&c->statstack), (double)s->n, 1e-6);
	CHECK_NEAR(loci_hist_total(&c->shen), (double)s->n, 1e-6);
	CHECK_NEAR(c->statstack.cold, c->h.distinct, 0);
	CHECK_NEAR(c->shen.cold, c->h.distinct, 0);
}

static void converted_fini(struct converted *c)
{
	histograms_fini(&c->h);
	loci_hist_fini(&c->statstack);
	loci_hist_fini(&c->shen);
}

/* Every reuse at one time distance: StatStack gives the very histogram. */
static void cyclic(uint32_t blocks)
{
	struct stream s;
	struct converted c;

	stream_init(&s, "cyclic");
	stream_cyclic(&s, blocks, 9);
	convert(&s, &c);
	if (blocks < LOCI_FINE_LINEAR)
		same(&c.h.stack, &c.statstack);
	else /* as exact as the bins of its input */
		CHECK_NEAR(mean(&c.statstack), blocks - 1, blocks / 128.0);
	converted_fini(&c);
	stream_fini(&s);
}

static void streaming(void)
{
	struct stream s;
	struct converted c;

	stream_init(&s, "streaming");
	for (uint32_t i = 0; i < 5000; i++)
		for (int k = 0; k < 3; k++)
			stream_touch(&s, i, 0); /* three words of each block */
	convert(&s, &c);
	same(&c.h.stack, &c.statstack);
	same(&c.h.stack, &c.shen);
	converted_fini(&c);
	stream_fini(&s);
}

/* Within a tile the distance is the tile's size; StatStack agrees but for the rare reuse by the
 * next round, Shen spreads what is sharp. */
static void tiled(void)
{
	struct stream s;
	struct converted c;

	stream_init(&s, "tiled");
	stream_tiled(&s, 40, 60, 20, 2);
	convert(&s, &c);
	CHECK(worst(&c.h.stack, &c.statstack) < 1);
	converted_fini(&c);
	stream_fini(&s);
	stream_init(&s, "tiles of a power of two");
	stream_tiled(&s, 40, 64, 20, 2);
	convert(&s, &c);
	CHECK(worst(&c.h.stack, &c.statstack) < 1);
	CHECK(worst(&c.h.stack, &c.shen) > 30); /* half of each tile is thought not to fit in 64 */
	CHECK(worst(&c.h.stack, &c.shen) < 55);
	converted_fini(&c);
	stream_fini(&s);
}

/* Reversals are what neither can see: the time distance 2d stands for the stack distance d after
 * the turn, but all reuses are taken to be alike. */
static void sawtooth(void)
{
	struct stream s;
	struct converted c;

	stream_init(&s, "sawtooth");
	stream_sawtooth(&s, 250, 40);
	convert(&s, &c);
	CHECK(worst(&c.h.stack, &c.statstack) > 15);
	CHECK(worst(&c.h.stack, &c.statstack) < 30);
	converted_fini(&c);
	stream_fini(&s);
}

static void unstructured(void)
{
	struct stream s;
	struct converted c;

	stream_init(&s, "uniform");
	stream_uniform(&s, 1000, 50000);
	convert(&s, &c);
	CHECK(worst(&c.h.stack, &c.statstack) < 2);
	CHECK(worst(&c.h.stack, &c.shen) < 2);
	CHECK_NEAR(mean(&c.shen) / mean(&c.statstack), 1, 0.005);
	converted_fini(&c);
	stream_fini(&s);
	stream_init(&s, "skewed");
	stream_skewed(&s, 3000, 50000);
	convert(&s, &c);
	CHECK(worst(&c.h.stack, &c.statstack) < 2.5);
	CHECK(worst(&c.h.stack, &c.shen) < 2.5);
	CHECK_NEAR(mean(&c.shen) / mean(&c.statstack), 1, 0.005);
	converted_fini(&c);
	stream_fini(&s);
}

/* Time distances 1..n alike: F(r) = (r-1) (1 - r/2n), and what is fractional is rounded. */
static void closed_forms(void)
{
	struct loci_hist time, stack;
	double n = 4096, want = 0;

	loci_hist_init(&time, LOCI_SCHEME_FINE);
	for (uint64_t r = 1; r <= 4096; r++) {
		CHECK(loci_hist_add(&time, r, 1) == 0);
		want += ((double)r - 1) * (1 - (double)r / (2 * n)) / n;
	}
	CHECK(loci_convert_statstack(&time, &stack) == 0);
	CHECK_NEAR(mean(&stack), want, 1);
	loci_hist_fini(&stack);
	loci_hist_fini(&time);
	for (int most = 0; most < 2; most++) {
		loci_hist_init(&time, LOCI_SCHEME_FINE);
		CHECK(loci_hist_add(&time, 1, most ? 400 : 600) == 0);
		CHECK(loci_hist_add(&time, 2, most ? 600 : 400) == 0); /* F(2) = 0.6 or 0.4 */
		CHECK(loci_convert_statstack(&time, &stack) == 0);
		CHECK_NEAR(stack.weight[0], most ? 400 : 1000, 1e-9);
		loci_hist_fini(&stack);
		loci_hist_fini(&time);
	}
}

/* Shen's distribution itself: one time distance D among N blocks. */
static void shen_spread(void)
{
	struct loci_hist time, stack;

	loci_hist_init(&time, LOCI_SCHEME_FINE);
	CHECK(loci_hist_add(&time, 101, 1000) == 0);
	CHECK(loci_convert_shen(&time, 401, &stack) == 0);
	/* 100 others expected of 400: Binomial(400, 1/4), mean 100, variance 75 */
	CHECK_NEAR(mean(&stack), 100, 1e-6);
	{
		double variance = 0;

		for (uint32_t i = 0; i < stack.n_bins; i++)
			variance += stack.weight[i] * ((double)i - 100) * ((double)i - 100) / 1000;
		CHECK_NEAR(variance, 75, 0.05);
	}
	loci_hist_fini(&stack);
	/* a time distance of 1 has nothing in between, and no block number is drawn twice */
	CHECK(loci_hist_add(&time, 1, 500) == 0);
	CHECK(loci_convert_shen(&time, 21, &stack) == 0);
	CHECK_NEAR(stack.weight[0], 500, 1e-9);
	CHECK_NEAR(stack.weight[20], 1000, 1e-9);
	loci_hist_fini(&stack);
	loci_hist_fini(&time);
}

static void random_replacement(const struct stream *s, uint32_t lines, double tolerance)
{
	struct histograms h;
	double simulated = 0;

	histograms_make(s, 1, &h);
	for (uint64_t seed = 1; seed <= 5; seed++)
		simulated += (double)simulate_random(s, lines, seed * 7919) / (double)s->n / 5;
	CHECK_NEAR(100 * loci_convert_statcache(&h.time, h.distinct, lines), 100 * simulated,
		tolerance);
	histograms_fini(&h);
}

static void statcache(void)
{
	struct stream s;
	struct loci_hist time;

	stream_init(&s, "cyclic");
	stream_cyclic(&s, 1000, 60);
	random_replacement(&s, 200, 1);
	random_replacement(&s, 500, 1);
	random_replacement(&s, 800, 1);
	random_replacement(&s, 990, 1);
	random_replacement(&s, 1000, 0); /* all of it fits */
	stream_fini(&s);
	stream_init(&s, "uniform");
	stream_uniform(&s, 1000, 60000);
	random_replacement(&s, 1, 1);
	random_replacement(&s, 50, 1);
	random_replacement(&s, 500, 1);
	random_replacement(&s, 900, 1);
	stream_fini(&s);
	stream_init(&s, "tiled");
	stream_tiled(&s, 40, 64, 20, 2);
	random_replacement(&s, 32, 1);
	random_replacement(&s, 64, 11); /* tiles that just fill the cache: its known weakness */
	random_replacement(&s, 1000, 1);
	stream_fini(&s);
	/* phases: one miss ratio for both is the other */
	stream_init(&s, "phases");
	stream_cyclic(&s, 100, 300);
	for (unsigned round = 0; round < 30; round++)
		for (uint32_t b = 0; b < 1000; b++)
			stream_touch(&s, 5000 + b, 0);
	random_replacement(&s, 500, 25);
	stream_fini(&s);
	stream_init(&s, "skewed");
	stream_skewed(&s, 3000, 60000);
	random_replacement(&s, 100, 1);
	random_replacement(&s, 1000, 1);
	stream_fini(&s);
	/* without cold misses, as in a window: the largest root, not the one at 0 */
	loci_hist_init(&time, LOCI_SCHEME_FINE);
	CHECK_NEAR(loci_convert_statcache(&time, 0, 8), 0, 0);
	CHECK(loci_hist_add(&time, 100, 1000) == 0);
	CHECK(loci_convert_statcache(&time, 0, 50) > 0.5);
	CHECK_NEAR(loci_convert_statcache(&time, 0, 200), 0, 1e-6);
	CHECK_NEAR(loci_convert_statcache(&time, 100, 100), 0, 0);
	CHECK_NEAR(loci_convert_statcache(&time, 100, 0), 1, 0);
	/* M = 1 - (1 - 1/L)^(99 M) */
	{
		double m = loci_convert_statcache(&time, 0, 50);

		CHECK_NEAR(m, 1 - pow(1 - 1.0 / 50, 99 * m), 1e-9);
	}
	loci_hist_fini(&time);
}

/* Bins stand for all their values: a coarse histogram of a smooth curve gives nearly the same. */
static void coarse(void)
{
	struct stream s;
	struct histograms h;
	struct loci_hist time, stack;

	stream_init(&s, "skewed");
	stream_skewed(&s, 3000, 50000);
	histograms_make(&s, 1, &h);
	loci_hist_init(&time, LOCI_SCHEME_COARSE);
	time.cold = h.time.cold;
	for (uint32_t i = 0; i < h.time.n_bins; i++)
		CHECK(loci_hist_add(&time, loci_bin_low(LOCI_SCHEME_FINE, i), h.time.weight[i]) ==
			0);
	CHECK(loci_convert_statstack(&time, &stack) == 0);
	CHECK(worst(&h.stack, &stack) < 3);
	CHECK_NEAR(loci_convert_statcache(&time, h.distinct, 300),
		loci_convert_statcache(&h.time, h.distinct, 300), 0.002);
	loci_hist_fini(&stack);
	loci_hist_fini(&time);
	histograms_fini(&h);
	stream_fini(&s);
}

int main(void)
{
	cyclic(1);
	cyclic(2);
	cyclic(64);
	cyclic(255);
	cyclic(1000);
	cyclic(5000);
	streaming();
	tiled();
	sawtooth();
	unstructured();
	closed_forms();
	shen_spread();
	statcache();
	coarse();
	return check_status();
}
