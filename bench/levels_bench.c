// SPDX-License-Identifier: GPL-2.0-or-later
/* What the caches named at record time cost: CPU time a touch on one thread, batch by batch as a
 * recording feeds them, median of interleaved runs of every instruction set.
 *
 *	levels_bench [-n TOUCHES] [-r RUNS] [TRACE..]
 *
 * TRACE holds data references as Valgrind's Lackey prints them (see gzip_trace.sh), cut into
 * 64-byte blocks. Exits with 1 if a bar is missed. A hit in the first level takes about 3 ns, a
 *miss some 40: half a dozen lines of the simulator's own tables, and a branch that was not
 *foreseen. */
#include "base/cleanup.h"
#include "engine/levels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BATCH    8192
#define MAX_RUNS 9

struct touches {
	uint64_t *block, *bytes;
	uint8_t *is_write;
	uint32_t *owner;
	size_t n, room;
};

static uint64_t state;

static uint64_t rnd(uint64_t below)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint64_t)(((unsigned __int128)(z ^ z >> 31) * below) >> 64);
}

static void die(const char *what)
{
	fprintf(stderr, "levels_bench: %s\n", what);
	exit(1);
}

static void *grow(void *memory, size_t bytes)
{
	memory = realloc(memory, bytes);
	if (!memory)
		die("out of memory");
	return memory;
}

static void add(struct touches *t, uint64_t block, unsigned is_write, uint64_t bytes)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 1 << 20;
		t->block = grow(t->block, t->room * sizeof(*t->block));
		t->bytes = grow(t->bytes, t->room * sizeof(*t->bytes));
		t->is_write = grow(t->is_write, t->room);
		t->owner = grow(t->owner, t->room * sizeof(*t->owner));
	}
	t->block[t->n] = block;
	t->bytes[t->n] = bytes;
	t->is_write[t->n] = (uint8_t)is_write;
	t->owner[t->n] = (uint32_t)(t->n % 1000);
	t->n++;
}

static void add_reference(struct touches *t, uint64_t address, uint64_t size, unsigned is_write)
{
	for (uint64_t block = address / 64; block <= (address + size - 1) / 64; block++) {
		uint64_t from = block == address / 64 ? address % 64 : 0;

		add(t, block, is_write, (size < 64 ? (1ull << size) - 1 : UINT64_MAX) << from);
	}
}

static void read_lackey(struct touches *t, const char *path, size_t max)
{
	loci_autofclose FILE *file = fopen(path, "r");
	char line[256], kind;
	uint64_t address, size;

	if (!file)
		die("cannot open the trace");
	while (t->n < max && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %c %" SCNx64 ",%" SCNu64, &kind, &address, &size) != 3 ||
			kind == 'I' || !size)
			continue;
		if (kind != 'S')
			add_reference(t, address, size, 0);
		if (kind != 'L')
			add_reference(t, address, size, 1);
	}
}

/* Two in five touches repeat the last block, a third go to one of the last eight, and of the rest
 * most stay within a window that drifts through the data. */
static void make_program(struct touches *t, size_t n)
{
	uint64_t recent[8] = { 0 }, front = 1 << 20;
	unsigned at = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = (unsigned)rnd(1000);
		uint64_t block = kind < 400 ? recent[at]
			: kind < 750        ? recent[rnd(8)]
			: kind < 760        ? front++
			: kind < 970        ? front - rnd(600)
			: kind < 995        ? front - rnd(10000)
					    : rnd(front);

		if (block != recent[at])
			recent[at = (at + 1) % 8] = block;
		add(t, block, rnd(3) == 0, 0xffull << 8 * rnd(8));
	}
}

static void make_uniform(struct touches *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(t, rnd(1 << 20), rnd(3) == 0, 0xffull << 8 * rnd(8));
}

static void make_sweep(struct touches *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(t, i / 8 % 300000, i % 4 == 0, 0xffull << 8 * (i % 8));
}

static const struct {
	const char *name;
	void (*make)(struct touches *touches, size_t n);
	double bar_ns;
} streams[] = {
	{ "program", make_program, 15 },
	{ "sweep", make_sweep, 15 },
	{ "uniform", make_uniform, 250 },
};

static const struct hierarchy {
	const char *name;
	unsigned n;
	struct loci_levels_geometry level[3];
	bool has_bar;
} hierarchies[] = {
	{ "32K/8, 1M/8, 32M/16", 3, { { 64, 8 }, { 2048, 8 }, { 32768, 16 } }, true },
	{ "48K/12, 2M/16, 36M/12", 3, { { 64, 12 }, { 2048, 16 }, { 49152, 12 } }, true },
	{ "32K/8, 1M/8, 8M full", 3, { { 64, 8 }, { 2048, 8 }, { 1, 131072 } }, false },
	{ "32K, 1M full", 2, { { 1, 512 }, { 1, 16384 } }, false },
};

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct measure {
	double ns[MAX_RUNS];
	uint64_t misses[3], checksum;
};

static void run(const struct touches *t, const struct hierarchy *hierarchy, enum loci_isa isa,
	struct measure *m, unsigned run)
{
	static uint64_t block[BATCH], bytes[BATCH];
	static uint8_t is_write[BATCH], missed[BATCH], dirty[BATCH];
	static uint32_t owner[BATCH];
	static struct loci_levels_eviction evicted[BATCH];
	struct loci_levels *levels;
	double spent = 0;

	memset(m->misses, 0, sizeof(m->misses));
	m->checksum = 0;
	if (loci_levels_new(hierarchy->level, hierarchy->n, isa, &levels, NULL) < 0)
		die("out of memory");
	for (size_t at = 0; at < t->n; at += BATCH) {
		size_t n = t->n - at < BATCH ? t->n - at : BATCH;
		struct loci_levels_batch batch = { block, is_write, bytes, owner, n, missed, dirty,
			evicted, 0, NULL, NULL };
		double start;

		memcpy(block, t->block + at, n * sizeof(*block));
		memcpy(bytes, t->bytes + at, n * sizeof(*bytes));
		memcpy(is_write, t->is_write + at, n);
		memcpy(owner, t->owner + at, n * sizeof(*owner));
		start = cpu_ns();
		loci_levels_feed(levels, &batch);
		spent += cpu_ns() - start;
		for (size_t i = 0; i < n; i++) {
			for (unsigned level = 0; level < 3; level++)
				m->misses[level] += missed[i] >> level & 1;
			m->checksum = m->checksum * 31 + missed[i] * 256u + dirty[i];
		}
		for (size_t i = 0; i < batch.n_evicted; i++)
			m->checksum = m->checksum * 31 + evicted[i].owner + evicted[i].used_bytes;
	}
	m->ns[run] = spent / (double)t->n;
	loci_levels_free(levels);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool bench(const char *name, const struct touches *t, const struct hierarchy *hierarchy,
	double bar_ns, unsigned runs)
{
	struct measure m[LOCI_ISA_AVX512 + 1];
	enum loci_isa best = loci_isa_resolve(LOCI_ISA_AVX512);
	bool good = true;

	for (unsigned i = 0; i < runs; i++)
		for (enum loci_isa isa = LOCI_ISA_SCALAR; isa <= best; isa++)
			run(t, hierarchy, isa, &m[isa], i);
	printf("%-8s  %-22s", name, hierarchy->name);
	for (enum loci_isa isa = best; isa >= LOCI_ISA_SCALAR; isa--) {
		qsort(m[isa].ns, runs, sizeof(double), compare);
		printf("  %s %.2f", loci_isa_name(isa), m[isa].ns[runs / 2]);
		if (m[isa].checksum != m[best].checksum)
			die("instruction sets disagree");
	}
	printf(" ns/touch");
	if (hierarchy->has_bar) {
		good = m[best].ns[runs / 2] <= bar_ns;
		printf(" (bar %.0f)  %s", bar_ns, good ? "PASS" : "FAIL");
	}
	printf("  misses");
	for (unsigned level = 0; level < hierarchy->n; level++)
		printf(" %.2f%%", 100 * (double)m[best].misses[level] / (double)t->n);
	putchar('\n');
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	struct touches touches = { 0 };
	size_t n = 20000000;
	unsigned runs = 5;
	bool good = true;
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (!strcmp(argv[at], "-n"))
			n = (size_t)strtod(argv[at + 1], NULL);
		else if (!strcmp(argv[at], "-r"))
			runs = (unsigned)atoi(argv[at + 1]);
		else
			die("usage: levels_bench [-n TOUCHES] [-r RUNS] [TRACE..]");
	}
	if (!n || !runs || runs > MAX_RUNS)
		die("touches must be at least 1, runs 1 to 9");
	for (; at < argc; at++) {
		touches.n = 0;
		read_lackey(&touches, argv[at], n);
		if (!touches.n)
			die("no references in the trace");
		for (unsigned i = 0; i < LOCI_ARRAY_SIZE(hierarchies); i++)
			good &= bench("trace", &touches, &hierarchies[i], 12, runs);
	}
	for (unsigned s = 0; s < LOCI_ARRAY_SIZE(streams); s++) {
		touches.n = 0;
		streams[s].make(&touches, n);
		for (unsigned i = 0; i < LOCI_ARRAY_SIZE(hierarchies); i++)
			good &= bench(streams[s].name, &touches, &hierarchies[i], streams[s].bar_ns,
				runs);
	}
	free(touches.block);
	free(touches.bytes);
	free(touches.is_write);
	free(touches.owner);
	return !good;
}
