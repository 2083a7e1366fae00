// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine at its memory limit against itself without one: totals exact, memory within the
 * limit, short distances exact, and miss ratios within the error it reports. */
#include "check.h"

#include "base/cleanup.h"
#include "engine/stack_state.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOUCHES 300000
#define SEEDS   50

struct touches {
	uint64_t block[TOUCHES];
	uint8_t is_write[TOUCHES];
};

static uint64_t state;

static uint64_t rnd(uint64_t below)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % below;
}

static void uniform(struct touches *t)
{
	for (unsigned i = 0; i < TOUCHES; i++)
		t->block[i] = rnd(60000);
}

static void zipf(struct touches *t)
{
	for (unsigned i = 0; i < TOUCHES; i++)
		t->block[i] = (uint64_t)pow(200000, (double)rnd(1u << 30) / (1u << 30));
}

static void cyclic(struct touches *t)
{
	for (unsigned i = 0; i < TOUCHES; i++)
		t->block[i] = i % 50000;
}

/* A loop over exactly as many blocks as a power of two: whether it fits a cache of that size is
 * beyond any sample, and the engine must say so. */
static void edge(struct touches *t)
{
	for (unsigned i = 0; i < TOUCHES; i++)
		t->block[i] = i % 65536;
}

/* Mostly short reuses, some from a window that moves, some from a large table: as a compressor's.
 */
static void mixed(struct touches *t)
{
	for (unsigned i = 0; i < TOUCHES; i++) {
		unsigned kind = (unsigned)rnd(10);

		t->block[i] = kind < 6 ? rnd(20)
			: kind < 8     ? 1000 + i / 8 + rnd(2000)
			: kind < 9     ? 1000000 + rnd(40000)
				       : 2000000 + i;
	}
}

static const struct {
	const char *name;
	void (*make)(struct touches *touches);
	double max_points; /* of any error */
} streams[] = {
	{ "uniform", uniform, 4 },
	{ "zipf", zipf, 12 },
	{ "cyclic", cyclic, 4 },
	{ "mixed", mixed, 4 },
	{ "edge", edge, 100 },
};

static const struct loci_stack_tuning tuning = { 256, 4000, 256, 4096, 0 };

static void make(unsigned stream, unsigned seed, struct touches *t)
{
	uint64_t name;

	state = seed * 1000003ull + stream;
	streams[stream].make(t);
	name = rnd(1ull << 60);
	for (unsigned i = 0; i < TOUCHES; i++) {
		t->block[i] += name; /* which blocks are sampled depends on the seed */
		t->is_write[i] = rnd(3) == 0;
	}
}

static struct loci_stack *run(const struct touches *t, uint64_t max_bytes, enum loci_isa isa,
	uint64_t *distance, struct loci_stack_result *ret)
{
	struct loci_stack_options options = { .isa = isa, .max_bytes = max_bytes };
	struct loci_err err = { "" };
	struct loci_stack *stack;

	if (loci_stack_new_tuned(&options, &tuning, &stack, &err) < 0 ||
		loci_stack_feed(stack, t->block, t->is_write, TOUCHES, distance, &err) < 0 ||
		loci_stack_result(stack, ret, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		exit(1);
	}
	return stack;
}

/* The largest difference of miss ratios over powers of two, in points. */
static double difference(const struct loci_hist *a, const struct loci_hist *b, double total)
{
	double worst = 0;

	for (unsigned log2 = 0; log2 < 40; log2++)
		worst = fmax(worst,
			100 / total *
				fabs(loci_hist_at_least(a, 1ull << log2, NULL) + a->cold -
					loci_hist_at_least(b, 1ull << log2, NULL) - b->cold));
	return worst;
}

static void check_short(const struct loci_hist *got, const struct loci_hist *want)
{
	for (unsigned bin = 0; bin < LOCI_STACK_TOP; bin++)
		CHECK_NEAR(bin < got->n_bins ? got->weight[bin] : 0,
			bin < want->n_bins ? want->weight[bin] : 0, 0);
}

/* Blocks not followed are known in the top only, and there without what they brought from below. */
static void check_front(const struct loci_stack *stack)
{
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++) {
		uint32_t *entry = stack->place[i];
		uint64_t dirty = *loci_stack_stamp(entry) & LOCI_STACK_BIN_COLD;
		bool sampled = loci_stack_sampled(*loci_stack_key(entry), stack->sample->shift);

		CHECK_U64(*entry, i + 1);
		CHECK(sampled == !loci_stack_in_front(stack->sample, entry));
		CHECK(sampled || dirty < LOCI_STACK_TOP || dirty == LOCI_STACK_BIN_UNKNOWN);
	}
}

/* How often, in SEEDS trials, the error is more than the one reported (and a twentieth), and more
 * than twice that. */
static void check_errors(unsigned stream)
{
	static struct touches t;
	unsigned seeds = (unsigned)check_turns(SEEDS), over = 0, far_over = 0;
	double worst = 0, reported = 0, worst_dirty = 0, worst_time = 0, worst_blocks = 0;

	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct loci_stack_result exact, sampled;
		const uint64_t max_bytes = 1400000;
		struct loci_stack *a, *b;
		double error;

		make(stream, seed, &t);
		a = run(&t, 0, LOCI_ISA_BEST, NULL, &exact);
		b = run(&t, max_bytes, LOCI_ISA_BEST, NULL, &sampled);
		CHECK(sampled.sampling_rate < 1 && sampled.sampled_from > 0);
		CHECK(sampled.bytes <= max_bytes);
		check_front(b);
		CHECK_U64(sampled.touches, exact.touches);
		CHECK_U64(sampled.writes, exact.writes);
		CHECK(sampled.stack.square && sampled.time.square && sampled.dirty.square);
		CHECK_NEAR(loci_hist_total(&sampled.stack), TOUCHES, 1e-3);
		CHECK_NEAR(loci_hist_total(&sampled.time), TOUCHES, 1e-3);
		CHECK_NEAR(loci_hist_total(&sampled.dirty), (double)exact.writes, 1e-3);
		check_short(&sampled.stack, &exact.stack);
		check_short(&sampled.dirty, &exact.dirty);
		error = difference(&sampled.stack, &exact.stack, TOUCHES);
		over += error > 1.05 * sampled.error_points;
		far_over += error > 2 * sampled.error_points;
		worst = fmax(worst, error);
		reported = fmax(reported, sampled.error_points);
		worst_time = fmax(worst_time, difference(&sampled.time, &exact.time, TOUCHES));
		worst_dirty = fmax(worst_dirty,
			difference(&sampled.dirty, &exact.dirty, (double)exact.writes));
		worst_blocks = fmax(worst_blocks, fabs(sampled.blocks / exact.blocks - 1));
		loci_stack_result_fini(&exact);
		loci_stack_result_fini(&sampled);
		loci_stack_free(a);
		loci_stack_free(b);
	}
	printf("%-8s error %.2f points at worst, reported up to %.2f; more than reported %u times "
	       "in "
	       "%u, more than twice %u; time %.2f, dirty %.2f points, blocks %.1f %%\n",
		streams[stream].name, worst, reported, over, seeds, far_over, worst_time,
		worst_dirty, 100 * worst_blocks);
	CHECK(over <= (seeds + 9) / 10);
	CHECK(far_over <= 1);
	CHECK(reported < streams[stream].max_points);
	CHECK(worst_time < streams[stream].max_points);
	CHECK(worst_dirty < streams[stream].max_points);
	CHECK(worst_blocks < 0.1);
}

/* Every distance given is exact below the top's size and marked or scaled above it; and the
 * instruction sets agree here too. */
static void check_distances(unsigned stream)
{
	static const enum loci_isa isas[] = { LOCI_ISA_SCALAR, LOCI_ISA_AVX2, LOCI_ISA_AVX512 };
	static uint64_t want[TOUCHES], distance[3][TOUCHES];
	static struct touches t;
	struct loci_stack_result result[4];
	struct loci_stack *stack;
	uint64_t unsampled = 0;

	make(stream, 7, &t);
	loci_stack_free(run(&t, 0, LOCI_ISA_BEST, want, &result[3]));
	for (unsigned i = 0; i < 3; i++) {
		stack = run(&t, 1200000, isas[i], distance[i], &result[i]);
		CHECK(!memcmp(distance[i], distance[0], sizeof(distance[0])));
		CHECK(result[i].stack.n_bins == result[0].stack.n_bins &&
			!memcmp(result[i].stack.weight, result[0].stack.weight,
				result[0].stack.n_bins * sizeof(double)));
		CHECK_NEAR(result[i].error_points, result[0].error_points, 0);
		loci_stack_free(stack);
	}
	for (size_t i = 0; i < TOUCHES; i++) {
		uint64_t got = distance[0][i];
		int good = i + 1 < result[0].sampled_from || want[i] < LOCI_STACK_TOP
			? got == want[i]
			: want[i] == LOCI_INFINITE ? got == want[i] || got == LOCI_UNSAMPLED
						   : got >= LOCI_STACK_TOP && got != LOCI_INFINITE;

		unsampled += got == LOCI_UNSAMPLED;
		check_count++;
		if (!good) {
			CHECK_FAIL("%s: touch %zu: %" PRIu64 ", exactly %" PRIu64,
				streams[stream].name, i, got, want[i]);
			break;
		}
	}
	CHECK(unsampled > 0);
	for (unsigned i = 0; i < 4; i++)
		loci_stack_result_fini(&result[i]);
}

/* Just after the rate has changed: what was in the top is still there. */
static void check_switch(void)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST, .max_bytes = 1400000 };
	static struct touches t;
	struct loci_stack *stack;
	unsigned shift = 0;

	make(0, 3, &t);
	CHECK(loci_stack_new_tuned(&options, &tuning, &stack, NULL) == 0);
	for (size_t i = 0; i + 16 <= TOUCHES; i += 16) {
		CHECK(loci_stack_feed(stack, t.block + i, t.is_write + i, 16, NULL, NULL) == 0);
		if (stack->sample && stack->sample->shift != shift) {
			shift = stack->sample->shift;
			check_front(stack);
		}
	}
	CHECK(shift >= 2);
	loci_stack_free(stack);
}

/* Memory that the system counts, in a process of its own, with far more blocks than fit. */
static void check_memory(uint64_t max_bytes)
{
	int status = 1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		struct loci_stack_options options = { .isa = LOCI_ISA_BEST,
			.max_bytes = max_bytes };
		static uint64_t block[4096];
		struct rusage before, after;
		struct loci_stack *stack;

		memset(block, 1, sizeof(block));
		getrusage(RUSAGE_SELF, &before);
		if (loci_stack_new(&options, &stack, NULL) < 0)
			_exit(2);
		for (uint64_t i = 0; i < 20 * max_bytes / 64; i += 4096) {
			for (unsigned j = 0; j < 4096; j++)
				block[j] = rnd(4) ? i + j : rnd(i + 1);
			if (loci_stack_feed(stack, block, NULL, 4096, NULL, NULL) < 0)
				_exit(3);
		}
		getrusage(RUSAGE_SELF, &after);
		printf("limit %.1f MiB: grew by %.1f\n", (double)max_bytes / 1048576,
			(double)(after.ru_maxrss - before.ru_maxrss) / 1024);
		fflush(stdout);
		_exit((uint64_t)(after.ru_maxrss - before.ru_maxrss) * 1024 >
			max_bytes + (512 << 10));
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_U64((uint64_t)status, 0);
}

static void check_too_little(void)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST, .max_bytes = 1000 };
	struct loci_err err = { "" };
	struct loci_stack *stack;

	CHECK(loci_stack_new(&options, &stack, &err) < 0);
	CHECK(strstr(err.text, "at least") != NULL);
}

int main(void)
{
	check_too_little();
	check_switch();
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(streams); i++) {
		check_distances(i);
		check_errors(i);
	}
	if (!CHECK_SANITISED) { /* a sanitiser's own memory would count */
		check_memory(4 << 20);
		check_memory(80 << 20);
	}
	return check_status();
}
