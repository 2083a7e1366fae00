// SPDX-License-Identifier: GPL-2.0-or-later
/* What the per-set distances cost on top of the stack distances: both engines fed in turn, a batch
 * at a time as loci analyse does, against the stack engine alone, in the same run.
 *
 *	together_bench [-r RUNS] TRACE
 *
 * TRACE is any trace that loci analyse reads, cut into 64-byte blocks. CPU time, median of RUNS
 * (5). Fails if both take more than 2.5 times as long, or the sets more than 96 MiB. */
#include "engine/sets.h"
#include "engine/stack.h"
#include "import/import.h"
#include "stream/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH    8192
#define STACK_NS 15 /* its bar in engine_bench */
#define MAX_RUNS 9

struct touches {
	uint64_t *block;
	uint8_t *is_write;
	size_t n, room;
};

static void check(int r, const struct loci_err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "together_bench: %s\n", err->text);
	exit(1);
}

static void add(struct touches *touches, uint64_t block, int is_write)
{
	if (touches->n == touches->room) {
		touches->room = touches->room ? 2 * touches->room : 1 << 20;
		touches->block = realloc(touches->block, touches->room * sizeof(*touches->block));
		touches->is_write = realloc(touches->is_write, touches->room);
		if (!touches->block || !touches->is_write)
			exit(1);
	}
	touches->block[touches->n] = block;
	touches->is_write[touches->n++] = (uint8_t)is_write;
}

static void decode(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	struct touches *touches)
{
	static struct loci_ref refs[4096];
	struct loci_err err = { "" };
	struct loci_event event;
	size_t n;

	for (size_t pos = 0; pos < n_words;) {
		check(loci_decoder_next(
			      decoder, words, n_words, &pos, refs, 4096, &n, &event, &err),
			&err);
		for (size_t i = 0; i < n; i++) {
			const struct loci_ref *ref = &refs[i];

			if (ref->op == LOCI_OP_FRAME || !ref->size_bytes)
				continue;
			for (uint64_t block = ref->address >> 6;
				block <= (ref->address + ref->size_bytes - 1) >> 6; block++)
				add(touches, block, ref->op == LOCI_OP_STORE);
		}
	}
}

static void load(const char *path, struct touches *touches)
{
	static uint64_t words[32768];
	struct loci_import_options options = { 0 };
	struct loci_decoder *decoder = NULL;
	struct loci_source *source = NULL;
	struct loci_err err = { "" };
	ssize_t n;

	check(loci_import_open(path, &options, &source, &err), &err);
	check(loci_decoder_new(&decoder, &err), &err);
	while ((n = source->ops->read(source, words, 32768, &err)) > 0)
		decode(decoder, words, (size_t)n, touches);
	check((int)n, &err);
	loci_decoder_free(decoder);
	loci_source_close(source);
}

/* Nanoseconds a touch. */
static double run(const struct touches *touches, int with_sets, uint64_t *ret_set_bytes)
{
	struct loci_sets_options set_options = { .max_bits = LOCI_SETS_MAX_BITS };
	struct loci_stack_options stack_options = { 0 };
	struct loci_err err = { "" };
	struct loci_stack *stack;
	struct loci_sets *sets = NULL;
	struct timespec from, to;

	check(loci_stack_new(&stack_options, &stack, &err), &err);
	if (with_sets)
		check(loci_sets_new(&set_options, &sets, &err), &err);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (size_t at = 0; at < touches->n; at += BATCH) {
		size_t n = touches->n - at < BATCH ? touches->n - at : BATCH;

		check(loci_stack_feed(
			      stack, touches->block + at, touches->is_write + at, n, NULL, &err),
			&err);
		if (sets)
			check(loci_sets_feed(
				      sets, touches->block + at, touches->is_write + at, n, &err),
				&err);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	if (sets)
		*ret_set_bytes = loci_sets_bytes(sets);
	loci_stack_free(stack);
	loci_sets_free(sets);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
		(double)touches->n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	double alone[MAX_RUNS], both[MAX_RUNS];
	struct touches touches = { 0 };
	uint64_t set_bytes = 0;
	int runs = 5, good;

	if (argc > 3 && !strcmp(argv[1], "-r")) {
		runs = atoi(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc != 2 || runs < 1 || runs > MAX_RUNS) {
		fprintf(stderr, "usage: together_bench [-r RUNS] TRACE\n");
		return 2;
	}
	load(argv[1], &touches);
	if (!touches.n) {
		fprintf(stderr, "together_bench: %s: no references\n", argv[1]);
		return 1;
	}
	for (int i = 0; i < runs; i++) {
		alone[i] = run(&touches, 0, NULL);
		both[i] = run(&touches, 1, &set_bytes);
	}
	qsort(alone, (size_t)runs, sizeof(double), by_value);
	qsort(both, (size_t)runs, sizeof(double), by_value);
	good = both[runs / 2] <= 2.5 * alone[runs / 2] && set_bytes <= 96u << 20;
	printf("%zu touches: stack %.1f ns, stack and sets %.1f ns a touch\n", touches.n,
		alone[runs / 2], both[runs / 2]);
	printf("%.2f times as long (bar 2.5), %.1f MiB more (bar 96): %s\n",
		both[runs / 2] / alone[runs / 2], (double)set_bytes / (1 << 20),
		good ? "PASS" : "FAIL");
	printf("%.2f times the %d ns that the stack may take\n", both[runs / 2] / STACK_NS,
		STACK_NS);
	free(touches.block);
	free(touches.is_write);
	return !good;
}
