// SPDX-License-Identifier: GPL-2.0-or-later
/* Importers: references a second, from the page cache to words, per format. The text is generated:
 * loads and stores over a heap, a stack and a few sizes, three instructions between them where the
 * format has any.
 *
 *	import_bench [-r RUNS] [LACKEY-TRACE]
 *
 * CPU time, median of RUNS (5). Fails if Lackey text is read at less than 25 million references a
 * second; where fetches are skipped the bar is lower, for they take their time. */
#include "import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REFS     4000000
#define WORDS    8192
#define MAX_RUNS 21
#define BAR      25e6
#define BAR_DATA 15e6

static uint64_t state = 88172645463325252ull;

static uint64_t draw(uint64_t n)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (state >> 11) % n;
}

struct access {
	uint64_t address, code;
	unsigned size;
	bool store;
};

static struct access next_access(void)
{
	static const unsigned sizes[] = { 8, 8, 8, 4, 4, 1, 2, 16 };
	uint64_t heap = 0x04a19de0 + draw(1 << 20), stack = 0x1fff000718 - draw(1 << 12);

	return (struct access){ draw(3) ? heap : stack, 0x0401ab70 + 4 * draw(1 << 16),
		sizes[draw(8)], draw(4) == 0 };
}

static void lackey(FILE *f, const struct access *a, unsigned i)
{
	for (unsigned k = 0; k < 3; k++)
		fprintf(f, "I  %08" PRIx64 ",%u\n", a->code + 4 * k, 3 + k);
	fprintf(f, " %c %08" PRIx64 ",%u\n", a->store ? 'S' : 'L', a->address, a->size);
}

static void din(FILE *f, const struct access *a, unsigned i)
{
	fprintf(f, "%d %" PRIx64 "\n", a->store, a->address);
}

static void xdin(FILE *f, const struct access *a, unsigned i)
{
	fprintf(f, "%c %" PRIx64 " %x\n", a->store ? 'w' : 'r', a->address, a->size);
}

static void drmemtrace(FILE *f, const struct access *a, unsigned i)
{
	fprintf(f, "%12u%12u: %11u %-12s%2u byte(s) @ 0x%016" PRIx64 " by PC 0x%016" PRIx64 "\n", i,
		i, 21646 + i / 5000 % 4, a->store ? "write" : "read", a->size, a->address, a->code);
}

static void oracle_general(FILE *f, const struct access *a, unsigned i)
{
	struct __attribute__((packed)) {
		uint32_t time;
		uint64_t id;
		uint32_t size;
		int64_t next;
	} record = { i, a->address * 0x9e3779b97f4a7c15ull, a->size, -1 };

	fwrite(&record, sizeof(record), 1, f);
}

static void csv(FILE *f, const struct access *a, unsigned i)
{
	fprintf(f, "%u,%" PRIu64 ",%u,%s\n", i, a->address, a->size, a->store ? "set" : "get");
}

static void hex(FILE *f, const struct access *a, unsigned i)
{
	fprintf(f, "0x%" PRIx64 "\n", a->address);
}

static void decimal(FILE *f, const struct access *a, unsigned i)
{
	fprintf(f, "%" PRIu64 "\n", a->address);
}

static const struct {
	const char *name, *format;
	void (*write)(FILE *f, const struct access *a, unsigned i);
	bool instructions;
} cases[] = {
	{ "lackey, data only", "lackey", lackey, false },
	{ "lackey, with fetches", "lackey", lackey, true },
	{ "din", "din", din, false },
	{ "xdin", "xdin", xdin, false },
	{ "drmemtrace", "drmemtrace", drmemtrace, false },
	{ "oracleGeneral", "oracleGeneral", oracle_general, false },
	{ "csv", "csv", csv, false },
	{ "plain, hexadecimal", "hex", hex, false },
	{ "plain, decimal", "decimal", decimal, false },
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Reads the whole file; the seconds it took. Counts its references where refs is given. */
static double read_all(const char *path, const char *format, bool instructions, uint64_t *refs)
{
	struct loci_import_options options = { format, instructions };
	static uint64_t words[WORDS];
	struct loci_err err = { "" };
	struct loci_source *source;
	double start = cpu_seconds();
	ssize_t n = loci_import_open(path, &options, &source, &err);

	while (n >= 0 && (n = source->ops->read(source, words, WORDS, &err)) > 0) {
		for (ssize_t i = 0; refs && i < n; i++) {
			if (!loci_word_is_marker(words[i]) ||
				loci_word_kind(words[i]) == LOCI_MARK_WIDE)
				++*refs;
			if (loci_word_is_marker(words[i]))
				i += loci_word_n_raw(words[i]);
		}
	}
	if (n < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	loci_source_close(source);
	return cpu_seconds() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double measure(
	const char *name, const char *path, const char *format, bool instructions, unsigned runs)
{
	double seconds[MAX_RUNS], rate;
	uint64_t refs = 0;

	read_all(path, format, instructions, &refs);
	for (unsigned i = 0; i < runs; i++)
		seconds[i] = read_all(path, format, instructions, NULL);
	qsort(seconds, runs, sizeof(seconds[0]), by_value);
	rate = (double)refs / seconds[runs / 2];
	printf("%-28s %8.1f M references/s  %6.1f M references\n", name, rate / 1e6,
		(double)refs / 1e6);
	return rate;
}

static void generate(const char *path, unsigned which)
{
	FILE *f = fopen(path, "w");
	bool heading = !strcmp(cases[which].format, "csv");

	if (f && heading)
		fprintf(f, "time,obj_id,size,op\n");
	for (unsigned i = 0; f && i < REFS; i++) {
		struct access a = next_access();

		cases[which].write(f, &a, i);
	}
	if (!f || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/loci-import-bench-XXXXXX";
	int fd = mkstemp(path), status = 0, option;
	unsigned runs = 5;

	while ((option = getopt(argc, argv, "r:")) != -1)
		runs = option == 'r' ? (unsigned)atoi(optarg) : 0;
	if (fd < 0 || runs < 1 || runs > MAX_RUNS) {
		fprintf(stderr, "usage: import_bench [-r RUNS] [LACKEY-TRACE]\n");
		return 2;
	}
	close(fd);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double rate;

		if (i == 0 || cases[i].write != cases[i - 1].write)
			generate(path, i);
		rate = measure(cases[i].name, path, cases[i].format, cases[i].instructions, runs);
		if (cases[i].write == lackey && rate < (cases[i].instructions ? BAR : BAR_DATA))
			status = 1;
	}
	unlink(path);
	if (optind < argc) {
		measure("the trace, data only", argv[optind], "lackey", false, runs);
		if (measure("the trace, with fetches", argv[optind], "lackey", true, runs) < BAR)
			status = 1;
	}
	if (status)
		printf("FAIL: below %.0f M references/s of Lackey text\n", BAR / 1e6);
	return status;
}
