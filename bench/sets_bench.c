// SPDX-License-Identifier: GPL-2.0-or-later
/* Nanoseconds of CPU time per touch of the per-set engine (17 set counts, 64 ways), for each
 * instruction set, on generated streams with a quarter of writes, and on a file of raw 64-bit
 * block numbers if one is given; a second file holds a byte per touch, 1 for a write.
 *
 *   sets_bench [-n TOUCHES] [-r RUNS] [-i scalar|avx2|avx512] [BLOCKS [WRITES]] */
#include "base/cleanup.h"
#include "engine/sets.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct touches {
	uint64_t *block;
	uint8_t *is_write;
	size_t n;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void uniform(struct touches *touches, uint64_t blocks)
{
	for (size_t i = 0; i < touches->n; i++)
		touches->block[i] = draw() % blocks;
}

static void cyclic(struct touches *touches, uint64_t blocks)
{
	for (size_t i = 0; i < touches->n; i++)
		touches->block[i] = i % blocks;
}

/* Exponent .99 by the inverse of the integral, close enough for a timing; blocks spread by an odd
 * multiplier, so that popular ones are no neighbours. */
static void zipf(struct touches *touches, uint64_t blocks)
{
	double span = pow((double)blocks + 1, .01) - 1;

	for (size_t i = 0; i < touches->n; i++) {
		double u = (double)(draw() >> 11) * 0x1p-53;
		uint64_t rank = (uint64_t)pow(1 + u * span, 100) - 1;

		touches->block[i] = (rank * 2654435761u) % blocks;
	}
}

static const struct {
	const char *name;
	void (*make)(struct touches *touches, uint64_t blocks);
	uint64_t blocks;
} streams[] = {
	{ "uniform 1e4", uniform, 10000 },
	{ "uniform 1e6", uniform, 1000000 },
	{ "uniform 1e7", uniform, 10000000 },
	{ "Zipf .99 1e6", zipf, 1000000 },
	{ "cyclic 1e6", cyclic, 1000000 },
};

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define MAX_RUNS 15

static int run(const struct touches *touches, enum loci_isa isa, int runs, double *ret_ns,
	uint64_t *ret_bytes)
{
	double ns[MAX_RUNS];

	for (int i = 0; i < runs; i++) {
		struct loci_sets_options options = { .isa = isa, .max_bits = LOCI_SETS_MAX_BITS };
		struct loci_err err = { "" };
		struct loci_sets *sets;
		double start = cpu_ns();

		if (loci_sets_new(&options, &sets, &err) < 0 ||
			loci_sets_feed(sets, touches->block, touches->is_write, touches->n, &err) <
				0) {
			fprintf(stderr, "sets_bench: %s\n", err.text);
			return -1;
		}
		ns[i] = (cpu_ns() - start) / (double)touches->n;
		*ret_bytes = loci_sets_bytes(sets);
		loci_sets_free(sets);
	}
	qsort(ns, (size_t)runs, sizeof(ns[0]), by_value);
	*ret_ns = ns[runs / 2];
	return 0;
}

static int bench(const char *name, const struct touches *touches, int runs, const char *only)
{
	uint64_t bytes = 0;

	printf("%-16s", name);
	for (enum loci_isa isa = LOCI_ISA_SCALAR; isa <= LOCI_ISA_AVX512; isa++) {
		double ns;

		if (loci_isa_resolve(isa) != isa || (only && strcmp(only, loci_isa_name(isa)))) {
			printf("%10s", "-");
			continue;
		}
		if (run(touches, isa, runs, &ns, &bytes) < 0)
			return -1;
		printf("%10.1f", ns);
		fflush(stdout);
	}
	printf("%10.1f\n", (double)bytes / 0x1p20);
	return 0;
}

static int allocate(struct touches *touches)
{
	touches->block = malloc(touches->n * sizeof(uint64_t));
	touches->is_write = calloc(touches->n, 1);
	return touches->block && touches->is_write ? 0 : -ENOMEM;
}

static int load(struct touches *touches, const char *blocks, const char *writes, size_t limit)
{
	loci_autofclose FILE *file = fopen(blocks, "rb");
	loci_autofclose FILE *flags = writes ? fopen(writes, "rb") : NULL;
	struct stat status;

	if (!file || fstat(fileno(file), &status) < 0 || (writes && !flags))
		return -1;
	touches->n = (size_t)status.st_size / sizeof(uint64_t);
	if (touches->n > limit)
		touches->n = limit;
	if (!touches->n || allocate(touches) < 0 ||
		fread(touches->block, sizeof(uint64_t), touches->n, file) != touches->n)
		return -1;
	return flags && fread(touches->is_write, 1, touches->n, flags) != touches->n ? -1 : 0;
}

int main(int argc, char **argv)
{
	size_t n = 20000000;
	const char *only = NULL;
	int runs = 5, option;

	while ((option = getopt(argc, argv, "n:r:i:")) != -1) {
		if (option == 'n')
			n = strtoull(optarg, NULL, 10);
		else if (option == 'r')
			runs = atoi(optarg);
		else if (option == 'i')
			only = optarg;
		else
			return 2;
	}
	if (!n || runs < 1 || runs > MAX_RUNS)
		return 2;
	printf("%-16s%10s%10s%10s%10s\n", "ns per touch", "scalar", "avx2", "avx512", "MiB");
	if (optind < argc) {
		struct touches touches = { 0 };

		if (load(&touches, argv[optind], argv[optind + 1], n) < 0) {
			fprintf(stderr, "sets_bench: cannot read %s\n", argv[optind]);
			return 1;
		}
		return bench("file", &touches, runs, only) < 0;
	}
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(streams); i++) {
		struct touches touches = { .n = n };

		if (allocate(&touches) < 0)
			return 1;
		streams[i].make(&touches, streams[i].blocks);
		for (size_t k = 0; k < n; k++)
			touches.is_write[k] = !(draw() >> 62);
		if (bench(streams[i].name, &touches, runs, only) < 0)
			return 1;
		free(touches.block);
		free(touches.is_write);
	}
	return 0;
}
