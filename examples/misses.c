// SPDX-License-Identifier: GPL-2.0-or-later
/* How to use libloci: counts the misses that some caches would have.
 *
 *	misses [-c CACHES]               of a loop over 64 KiB, ten times
 *	misses [-c CACHES] ADDRESSES     of the addresses in a file, one per line
 *	misses [-c CACHES] PROFILE.loci  of what loci analyse wrote
 *
 *	cc misses.c -o misses $(pkg-config --cflags --libs loci) */
#include <loci.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 4096

static int failed(const struct loci_error *error)
{
	fprintf(stderr, "misses: %s\n", error->text);
	return 1;
}

static void print(const struct loci_answer *answer, int n)
{
	printf("%-8s %12s %12s %8s  %s\n", "level", "accesses", "misses", "ratio", "basis");
	for (int i = 0; i < n; i++)
		printf("%-8s %12.0f %12.0f %7.2f%%  %s\n", answer[i].name, answer[i].accesses,
			answer[i].misses, 100 * answer[i].misses / answer[i].accesses,
			answer[i].basis);
}

static int from_profile(const char *path, const char *caches)
{
	struct loci_answer answer[LOCI_ASK_LEVELS];
	struct loci_error error;
	struct loci_file *file;
	int n;

	if (loci_file_open(path, &file, &error) < 0)
		return failed(&error);
	n = loci_file_ask(file, caches, 0, answer, LOCI_ASK_LEVELS, &error);
	loci_file_close(file);
	if (n < 0)
		return failed(&error);
	print(answer, n);
	return 0;
}

static int feed_loop(struct loci_engine *engine, struct loci_error *error)
{
	uint64_t address[64 * 1024 / 64];
	size_t n = sizeof(address) / sizeof(address[0]);

	for (size_t i = 0; i < n; i++)
		address[i] = 0x100000 + 64 * i;
	for (int pass = 0; pass < 10; pass++)
		if (loci_engine_touch(engine, address, NULL, n, error) < 0)
			return -1;
	return 0;
}

static int feed_file(struct loci_engine *engine, const char *path, struct loci_error *error)
{
	FILE *file = fopen(path, "r");
	uint64_t address[BATCH];
	size_t n = 0;
	char line[64];
	int r = 0;

	if (!file) {
		snprintf(error->text, sizeof(error->text), "cannot open %s", path);
		return -1;
	}
	while (r >= 0 && fgets(line, sizeof(line), file)) {
		address[n++] = strtoull(line, NULL, 0);
		if (n == BATCH) {
			r = loci_engine_touch(engine, address, NULL, n, error);
			n = 0;
		}
	}
	fclose(file);
	return r < 0 ? r : loci_engine_touch(engine, address, NULL, n, error);
}

static int from_addresses(const char *path, const char *caches)
{
	struct loci_answer answer[LOCI_ASK_LEVELS];
	struct loci_engine *engine;
	struct loci_error error;
	int n;

	if (loci_engine_new(64, 0, &engine, &error) < 0)
		return failed(&error);
	n = path ? feed_file(engine, path, &error) : feed_loop(engine, &error);
	if (n >= 0)
		n = loci_engine_ask(engine, caches, 0, answer, LOCI_ASK_LEVELS, &error);
	loci_engine_free(engine);
	if (n < 0)
		return failed(&error);
	print(answer, n);
	return 0;
}

int main(int argc, char **argv)
{
	const char *caches = "L1=32K/8,L2=1M/16";
	const char *path, *dot;

	if (argc > 2 && !strcmp(argv[1], "-c")) {
		caches = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(stderr, "usage: misses [-c CACHES] [ADDRESSES | PROFILE.loci]\n");
		return 2;
	}
	path = argc == 2 ? argv[1] : NULL;
	dot = path ? strrchr(path, '.') : NULL;
	return dot && !strcmp(dot, ".loci") ? from_profile(path, caches)
					    : from_addresses(path, caches);
}
