// SPDX-License-Identifier: GPL-2.0-or-later
/* Nanoseconds of CPU time of following the heap: lookups among live blocks, and allocations with
 * their releases, for programs of several sizes. Blocks are 16 to 512 bytes, as malloc places them.
 *
 *   lookup      every lookup in another block
 *   kept        32 sites that each stay in a block and ask when it is freed: one block in 300
 *               references is, and another allocated
 *   churn       a release and an allocation
 *   elsewhere   lookups of memory that is no heap's
 *
 *   object_bench [-n LOOKUPS] [-r RUNS] */
#include "analyse/object.h"
#include "base/cleanup.h"

#include <string.h>
#include <time.h>

enum { MAX_RUNS = 15, SITES = 32, FREE_EVERY = 300 };
#define HEAP 0x555555600000ull

struct program {
	struct loci_objects *objects;
	struct loci_decoder *decoder;
	struct loci_symbols *symbols;
	struct loci_shadow_frame frame[4];
	struct loci_shadow shadow;
	uint64_t *low;
	uint32_t *bytes;
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

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int give(struct program *program, enum loci_marker kind, uint64_t payload,
	const uint64_t *raw, unsigned n_raw)
{
	struct loci_event event = { .kind = kind, .payload = payload, .raw = raw, .n_raw = n_raw };
	struct loci_err err = { "" };

	return loci_objects_event(
		program->objects, &event, program->decoder, &program->shadow, 0, &err);
}

static int allocate(struct program *program, size_t i)
{
	const uint64_t raw[] = { program->low[i], 0, 0x1000 + i % 64 };

	return give(program, LOCI_MARK_ALLOC, program->bytes[i], raw, 3);
}

static int release(struct program *program, size_t i)
{
	const uint64_t raw[] = { program->low[i], 0 };

	return give(program, LOCI_MARK_FREE, 0, raw, 2);
}

static int start(struct program *program, size_t n)
{
	const uint64_t heap[] = { HEAP, n * 600, 0, 0, 0 },
		       file[] = { 0x7f0000000000, 1 << 30, 0, 0, 0 };
	struct loci_err err = { "" };
	uint64_t at = HEAP;
	int r = 0;

	*program = (struct program){ .n = n };
	program->shadow = (struct loci_shadow){ .frame = program->frame, .n = 4, .cap = 4 };
	for (uint64_t i = 0; i < 4; i++)
		program->frame[i] = (struct loci_shadow_frame){ .address = 0x7fffffffe000 - 256 * i,
			.entry = 0x400000 + i };
	program->low = malloc(n * sizeof(*program->low));
	program->bytes = malloc(n * sizeof(*program->bytes));
	if (!program->low || !program->bytes || loci_symbols_new(&program->symbols, &err) < 0 ||
		loci_decoder_new(&program->decoder, &err) < 0 ||
		loci_objects_new(program->symbols, &program->objects, &err) < 0)
		return -1;
	give(program, LOCI_MARK_MAP, 3, heap, 5);
	give(program, LOCI_MARK_MAP, 3, file, 5);
	for (size_t i = 0; i < n && r == 0; i++) {
		program->bytes[i] = (uint32_t)(16 + draw() % (draw() % 4 ? 64 : 497));
		program->low[i] = at + 16;
		at += (program->bytes[i] + 8 + 15) / 16 * 16;
		r = allocate(program, i);
	}
	return r;
}

static void stop(struct program *program)
{
	loci_objects_free(program->objects);
	loci_decoder_free(program->decoder);
	loci_symbols_free(program->symbols);
	free(program->low);
	free(program->bytes);
}

static uint64_t sink;

static void find(struct program *program, uint64_t address, struct loci_object_hit *hit)
{
	struct loci_err err;

	loci_objects_find(program->objects, address, 0x400000, &program->shadow, hit, &err);
	sink += hit->object;
}

static void lookup(struct program *program, size_t lookups)
{
	struct loci_object_hit hit;

	for (size_t k = 0; k < lookups; k++) {
		size_t i = draw() % program->n;

		find(program, program->low[i] + 8, &hit);
	}
}

/* What random numbers and the program's own table cost. */
static void nothing(struct program *program, size_t lookups)
{
	for (size_t k = 0; k < lookups; k++)
		sink += program->low[draw() % program->n] + 8;
}

static void kept(struct program *program, size_t lookups)
{
	static struct loci_object_hit hit[SITES];
	size_t at[SITES];

	for (size_t s = 0; s < SITES; s++) {
		at[s] = draw() % program->n;
		find(program, program->low[at[s]], &hit[s]);
	}
	for (size_t k = 0; k < lookups; k++) {
		size_t s = k % SITES;
		uint64_t address = program->low[at[s]] + k % 16;

		if (k % FREE_EVERY == 0) {
			release(program, at[s]);
			allocate(program, at[s]);
			at[draw() % SITES] = draw() % program->n;
		}
		if (address - hit[s].low >= hit[s].bytes || *hit[s].serial != hit[s].seen)
			find(program, address, &hit[s]);
		else
			sink += hit[s].object;
	}
}

static void churn(struct program *program, size_t lookups)
{
	for (size_t k = 0; k < lookups; k++) {
		size_t i = draw() % program->n;

		release(program, i);
		allocate(program, i);
	}
}

static void elsewhere(struct program *program, size_t lookups)
{
	struct loci_object_hit hit;

	for (size_t k = 0; k < lookups; k++)
		find(program, 0x7f0000000000 + draw() % (1 << 30), &hit);
}

static const struct {
	const char *name;
	void (*run)(struct program *program, size_t lookups);
} parts[] = {
	{ "nothing", nothing },
	{ "lookup", lookup },
	{ "kept", kept },
	{ "churn", churn },
	{ "elsewhere", elsewhere },
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const size_t blocks[] = { 100, 10000, 1000000 };
	size_t n = 2000000;
	int runs = 5, option;

	while ((option = getopt(argc, argv, "n:r:")) != -1) {
		if (option == 'n')
			n = strtoull(optarg, NULL, 10);
		else if (option == 'r')
			runs = atoi(optarg);
		else
			return 2;
	}
	if (!n || runs < 1 || runs > MAX_RUNS)
		return 2;
	printf("%-16s", "ns each, blocks");
	for (size_t k = 0; k < LOCI_ARRAY_SIZE(parts); k++)
		printf("%12s", parts[k].name);
	printf("\n");
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(blocks); i++) {
		struct program program;

		if (start(&program, blocks[i]) < 0)
			return 1;
		printf("%-16zu", blocks[i]);
		for (size_t k = 0; k < LOCI_ARRAY_SIZE(parts); k++) {
			double ns[MAX_RUNS];

			for (int run = 0; run < runs; run++) {
				double begin = cpu_ns();

				parts[k].run(&program, n);
				ns[run] = (cpu_ns() - begin) / (double)n;
			}
			qsort(ns, (size_t)runs, sizeof(ns[0]), by_value);
			printf("%12.1f", ns[runs / 2]);
			fflush(stdout);
		}
		printf("\n");
		stop(&program);
	}
	return sink == 1; /* so that it is not optimised away */
}
