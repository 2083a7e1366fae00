// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine, with every instruction set this machine has, against the textbook method, in
 * one run: CPU time on one thread, from a batch in memory, median of interleaved runs.
 *
 *	engine_bench [-n TOUCHES] [-r RUNS] [-s NAME] [--memory] [--long] [TRACE..]
 *
 * TRACE holds data references as Valgrind's Lackey prints them (see gzip_trace.sh), which are cut
 * into 64-byte blocks, or raw 64-bit block numbers. Exits with 1 if a bar is missed. */
#include "textbook.c" /* a benchmark is one source file */

#include "engine/stack.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 9

struct touches {
	uint64_t *block;
	uint8_t *is_write;
	size_t n, room;
};

static uint64_t state;

static uint64_t rnd(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rnd() * n) >> 64);
}

static void die(const char *what)
{
	fprintf(stderr, "engine_bench: %s\n", what);
	exit(1);
}

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		die("out of memory");
	return memory;
}

static void make_uniform(struct touches *t, uint64_t n_blocks)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = below(n_blocks);
}

static void make_cyclic(struct touches *t, uint64_t n_blocks)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = i % n_blocks;
}

/* Zipf of exponent 0.99 by inversion, ranks scattered over the blocks. */
static void make_zipf(struct touches *t, uint64_t n_blocks)
{
	double *sum = allocate(n_blocks * sizeof(*sum)), total = 0;
	uint64_t *name = allocate(n_blocks * sizeof(*name));

	for (uint64_t i = 0; i < n_blocks; i++) {
		uint64_t at = below(i + 1);

		sum[i] = total += pow((double)(i + 1), -0.99);
		name[i] = name[at];
		name[at] = i;
	}
	for (size_t i = 0; i < t->n; i++) {
		double goal = (double)(rnd() >> 11) * 0x1p-53 * total;
		uint64_t low = 0, high = n_blocks - 1;

		while (low < high) {
			uint64_t middle = (low + high) / 2;

			if (sum[middle] < goal)
				low = middle + 1;
			else
				high = middle;
		}
		t->block[i] = name[low];
	}
	free(name);
	free(sum);
}

struct bars {
	double ns;           /* a touch */
	double textbook_mps; /* what the textbook method must reach itself */
};

static const struct stream {
	const char *name;
	void (*make)(struct touches *touches, uint64_t n_blocks);
	uint64_t n_blocks;
	struct bars bars;
	unsigned textbook_share; /* the textbook method gets one in so many touches */
} streams[] = {
	{ "uniform 1e4", make_uniform, 10000, { 30, 0 }, 1 },
	{ "Zipf 0.99 1e6", make_zipf, 1000000, { 35, 0 }, 2 },
	{ "cyclic 1e6", make_cyclic, 1000000, { 35, 0 }, 1 },
	{ "uniform 1e6", make_uniform, 1000000, { 40, 0.3 }, 2 },
	{ "uniform 1e7", make_uniform, 10000000, { 100, 0 }, 1 },
};
static const struct bars gzip_bars = { 15, 3 };

static void add(struct touches *t, uint64_t block, unsigned is_write)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 1 << 20;
		t->block = realloc(t->block, t->room * sizeof(*t->block));
		t->is_write = realloc(t->is_write, t->room);
		if (!t->block || !t->is_write)
			die("out of memory");
	}
	t->block[t->n] = block;
	t->is_write[t->n++] = (uint8_t)is_write;
}

static void add_reference(struct touches *t, uint64_t address, uint64_t size, unsigned is_write)
{
	for (uint64_t block = address / 64; block <= (address + size - 1) / 64; block++)
		add(t, block, is_write);
}

static void read_lackey(struct touches *t, FILE *file, size_t max)
{
	char line[256], kind;
	uint64_t address, size;

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

static void read_trace(struct touches *t, const char *path, size_t max)
{
	FILE *file = fopen(path, "r");
	uint64_t block;
	char start[64];
	size_t n;

	if (!file)
		die("cannot open the trace");
	n = fread(start, 1, sizeof(start), file);
	rewind(file);
	if (!memchr(start, 0, n))
		read_lackey(t, file, max);
	else
		while (t->n < max && fread(&block, sizeof(block), 1, file) == 1)
			add(t, block, 0);
	fclose(file);
	if (!t->n)
		die("no references in the trace");
	if (t->n > max)
		t->n = max;
}

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct measure {
	double ns[MAX_RUNS]; /* a touch */
	double bytes_per_block;
	uint64_t checksum; /* of the histogram: all methods must agree */
};

static uint64_t checksum(const struct loci_hist *hist)
{
	uint64_t sum = (uint64_t)hist->cold;

	for (uint32_t i = 0; i < hist->n_bins; i++)
		sum = sum * 31 + (uint64_t)hist->weight[i];
	return sum;
}

static void run_engine(
	const struct touches *t, size_t n, enum loci_isa isa, struct measure *m, unsigned run)
{
	struct loci_stack_options options = { .isa = isa };
	struct loci_stack_result result;
	struct loci_stack *stack;
	double start = cpu_ns();

	if (loci_stack_new(&options, &stack, NULL) < 0 ||
		loci_stack_feed(stack, t->block, t->is_write, n, NULL, NULL) < 0 ||
		loci_stack_result(stack, &result, NULL) < 0)
		die("the engine failed");
	m->ns[run] = (cpu_ns() - start) / (double)n;
	m->bytes_per_block = (double)result.bytes / result.blocks;
	m->checksum = checksum(&result.stack);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
}

static void run_textbook(
	const struct touches *t, size_t n, enum textbook_tree tree, struct measure *m, unsigned run)
{
	struct textbook *textbook = allocate(sizeof(*textbook));
	struct loci_hist hist;
	double start = cpu_ns();

	if (textbook_init(textbook, tree) < 0 || textbook_feed(textbook, t->block, n) < 0)
		die("the textbook method failed");
	m->ns[run] = (cpu_ns() - start) / (double)n;
	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	hist.cold = (double)textbook->cold;
	if (loci_hist_from_counts(&hist, textbook->count, LOCI_FINE_BINS) < 0)
		die("out of memory");
	m->checksum = checksum(&hist);
	loci_hist_fini(&hist);
	textbook_fini(textbook);
	free(textbook);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(struct measure *m, unsigned runs)
{
	qsort(m->ns, runs, sizeof(double), compare);
	return m->ns[runs / 2];
}

static bool verdict(bool good)
{
	printf("  %s", good ? "PASS" : "FAIL");
	return good;
}

static double print_textbook(struct measure *m, const char *tree, size_t n, unsigned runs)
{
	double ns = median(m, runs);

	printf("%-14s  %s, first %.3g touches: %.0f ns/touch, %.2f M/s", "", tree, (double)n, ns,
		1e3 / ns);
	return ns;
}

static bool bench(const char *name, const struct touches *t, const struct bars *bars,
	unsigned textbook_share, unsigned runs)
{
	struct measure engine[LOCI_ISA_AVX512 + 1], textbook, splay, same;
	enum loci_isa best = loci_isa_resolve(LOCI_ISA_AVX512);
	size_t n_textbook = t->n / textbook_share;
	double ns[LOCI_ISA_AVX512 + 1], ns_textbook, ns_splay, ns_same, best_ns = INFINITY;
	bool good = true;

	for (unsigned run = 0; run < runs; run++) {
		for (enum loci_isa isa = LOCI_ISA_SCALAR; isa <= best; isa++)
			run_engine(t, t->n, isa, &engine[isa], run);
		run_textbook(t, n_textbook, TEXTBOOK_BALANCED, &textbook, run);
		run_engine(t, n_textbook, best, &same, run);
	}
	run_textbook(t, n_textbook, TEXTBOOK_SPLAY, &splay, 0);
	for (enum loci_isa isa = LOCI_ISA_SCALAR; isa <= best; isa++) {
		ns[isa] = median(&engine[isa], runs);
		best_ns = ns[isa] < best_ns ? ns[isa] : best_ns;
		if (engine[isa].checksum != engine[LOCI_ISA_SCALAR].checksum)
			die("instruction sets disagree");
	}
	if (textbook.checksum != same.checksum || splay.checksum != same.checksum)
		die("the engine and the textbook method disagree");
	printf("%-14s", name);
	for (enum loci_isa isa = best; isa >= LOCI_ISA_SCALAR; isa--)
		printf("  %s %.1f", loci_isa_name(isa), ns[isa]);
	printf(" ns/touch (bar %.0f)", bars->ns);
	good &= verdict(ns[best] <= bars->ns);
	printf("  scalar/best %.2f (bar 2.5)", ns[LOCI_ISA_SCALAR] / best_ns);
	good &= verdict(ns[LOCI_ISA_SCALAR] <= 2.5 * best_ns);
	printf("  %.1f bytes/block\n", engine[best].bytes_per_block);
	ns_same = median(&same, runs);
	ns_textbook = print_textbook(&textbook, "textbook", n_textbook, runs);
	if (bars->textbook_mps > 0) {
		printf(" (bar %.1f)", bars->textbook_mps);
		good &= verdict(1e3 / ns_textbook >= bars->textbook_mps);
	}
	printf("  engine on the same: %.1f, %.1f times as fast (bar 10)", ns_same,
		ns_textbook / ns_same);
	good &= verdict(ns_textbook >= 10 * ns_same);
	putchar('\n');
	ns_splay = print_textbook(&splay, "splay tree, once", n_textbook, 1);
	printf("  engine %.1f times as fast\n", ns_splay / ns_same);
	fflush(stdout);
	return good;
}

/* Peak memory of an engine fed n touches over n_blocks blocks, in a child of its own. */
static bool bench_memory(double n_touches, uint64_t n_blocks)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child < 0)
		die("cannot fork");
	if (!child) {
		enum { PIECE = 4096 };
		struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
		static uint64_t block[PIECE];
		struct rusage before, after;
		struct loci_stack *stack;
		double bytes, start = cpu_ns();
		uint64_t first = 0;

		getrusage(RUSAGE_SELF, &before);
		if (loci_stack_new(&options, &stack, NULL) < 0)
			die("the engine failed");
		for (double done = 0; done < n_touches; done += PIECE) {
			for (unsigned i = 0; i < PIECE; i++)
				block[i] = first < n_blocks ? first++ : below(n_blocks);
			if (loci_stack_feed(stack, block, NULL, PIECE, NULL, NULL) < 0)
				die("the engine failed");
		}
		getrusage(RUSAGE_SELF, &after);
		bytes = (double)(after.ru_maxrss - before.ru_maxrss) * 1024;
		printf("memory         %.3g touches over %.3g blocks: %.1f MiB, %.1f bytes a block "
		       "beyond 16 MiB (bar 48), %.0f s",
			n_touches, (double)n_blocks, bytes / 1048576,
			fmax(0, bytes - 0x1p24) / (double)n_blocks, (cpu_ns() - start) / 1e9);
		status = !verdict(bytes <= 48. * (double)n_blocks + 0x1p24);
		putchar('\n');
		fflush(stdout);
		_exit(status);
	}
	if (waitpid(child, &status, 0) != child)
		die("the child is lost");
	return status == 0;
}

static const char usage[] =
	"usage: engine_bench [-n TOUCHES] [-r RUNS] [-s NAME] [--memory] [--long] [TRACE..]\n"
	"  -s NAME   only the stream of this name\n"
	"  --memory  only measure memory; --long: also over 1e9 touches\n";

int main(int argc, char **argv)
{
	struct touches touches = { 0 };
	size_t n = 20000000;
	unsigned runs = 5;
	bool good = true, memory_only = false, long_too = false;
	const char *only = NULL;
	int at = 1;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--memory"))
			memory_only = true;
		else if (!strcmp(argv[at], "--long"))
			long_too = true;
		else if (!strcmp(argv[at], "-n") && at + 1 < argc)
			n = (size_t)strtod(argv[++at], NULL);
		else if (!strcmp(argv[at], "-r") && at + 1 < argc)
			runs = (unsigned)atoi(argv[++at]);
		else if (!strcmp(argv[at], "-s") && at + 1 < argc)
			only = argv[++at];
		else {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (!n || !runs || runs > MAX_RUNS)
		die("touches must be at least 1, runs 1 to 9");
	good &= only || bench_memory(2e7, 10000000);
	if (long_too)
		good &= bench_memory(1e9, 100000);
	if (memory_only)
		return !good;
	for (; at < argc; at++) {
		touches.n = 0;
		read_trace(&touches, argv[at], n);
		good &= bench("trace", &touches, &gzip_bars, 1, runs);
	}
	touches.n = 0;
	for (size_t i = 0; i < n; i++)
		add(&touches, 0, rnd() % 4 == 0);
	for (const struct stream *s = streams; s < streams + sizeof(streams) / sizeof(*s); s++) {
		if (only && strcmp(only, s->name))
			continue;
		s->make(&touches, s->n_blocks);
		good &= bench(s->name, &touches, &s->bars, s->textbook_share, runs);
	}
	free(touches.block);
	free(touches.is_write);
	return !good;
}
