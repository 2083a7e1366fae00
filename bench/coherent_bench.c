// SPDX-License-Identifier: GPL-2.0-or-later
/* What coherence costs: coherent stacks of four threads against four stack engines that know
 * nothing of each other, turn by turn on the same streams; and caches that are private to threads
 * against those of one thread. CPU time a touch on one thread, median of interleaved runs.
 *
 *	coherent_bench [-n TOUCHES] [-r RUNS] [-s STREAM] [-o plain|coherent|levels|shared]
 *
 * -o does only one of them, once, on the first stream or that with the number given: for counting
 * instructions. Exits with 1 if a bar is missed. */
#include "base/cleanup.h"
#include "engine/coherent.h"
#include "engine/levels_shared.h"
#include "engine/stack.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define THREADS  4
#define TURN     256
#define MAX_RUNS 9

struct touches {
	uint64_t *block, *bytes, *use;
	uint8_t *is_write;
	uint32_t *owner, *turn_touch, *turn_member;
	size_t n, n_turns;
	/* room for answers */
	uint64_t *distance, *lost_to;
	uint8_t *kind[4];
};

static uint64_t state = 1;

static uint64_t rnd(uint64_t below)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint64_t)(((unsigned __int128)(z ^ z >> 31) * below) >> 64);
}

static void die(const char *what)
{
	fprintf(stderr, "coherent_bench: %s\n", what);
	exit(1);
}

static void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		die("out of memory");
	return memory;
}

/* A thread: two in five touches repeat the last block, a third go to one of the last eight, and of
 * the rest most stay within a window that drifts through its data. */
struct thread {
	uint64_t recent[8], front;
	unsigned at;
};

static uint64_t next_block(struct thread *thread)
{
	unsigned kind = (unsigned)rnd(1000);
	uint64_t block = kind < 400 ? thread->recent[thread->at]
		: kind < 750        ? thread->recent[rnd(8)]
		: kind < 760        ? thread->front++
		: kind < 970        ? thread->front - rnd(600)
		: kind < 995        ? thread->front - rnd(10000)
				    : thread->front - rnd(1 << 20);

	if (block != thread->recent[thread->at])
		thread->recent[thread->at = (thread->at + 1) % 8] = block;
	return block;
}

static const struct stream {
	const char *name;
	unsigned per_mille_shared; /* touches of what all have */
	unsigned per_mille_written;
	uint64_t n_shared;
	double bar; /* of the stack engine's time */
} streams[] = {
	{ "little sharing", 10, 50, 20000, 3 },
	{ "read shared", 300, 2, 20000, 6 },
	{ "ping-pong", 50, 500, 64, 6 },
	/* One thread writes all of it first, and the others go over their parts again and again. */
	{ "handed over", 1000, 333, 100000, 6 },
};

/* Eight words of a block one after the other, in the first quarter by the first thread. */
static uint64_t handed_over(size_t i, size_t n, uint64_t n_shared, uint32_t *member)
{
	size_t at = i / TURN / THREADS * TURN + i % TURN;

	if (i < n / 4)
		*member = 0;
	return i < n / 4 ? i / 8 % n_shared
			 : *member * n_shared / THREADS + at / 8 % (n_shared / THREADS);
}

static void make(struct touches *t, const struct stream *stream)
{
	struct thread thread[THREADS] = { 0 };

	for (unsigned i = 0; i < THREADS; i++)
		thread[i].front = (1 << 20) + ((uint64_t)i << 24);
	t->n_turns = 0;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t member = (uint32_t)(i / TURN % THREADS);
		bool is_shared = rnd(1000) < stream->per_mille_shared;

		t->block[i] = is_shared ? rnd(stream->n_shared) : next_block(&thread[member]);
		if (stream->per_mille_shared == 1000)
			t->block[i] = handed_over(i, t->n, stream->n_shared, &member);
		if (i % TURN == 0) {
			t->turn_touch[t->n_turns] = (uint32_t)i;
			t->turn_member[t->n_turns++] = member;
		}
		t->is_write[i] = rnd(1000) < (is_shared ? stream->per_mille_written : 333);
		t->bytes[i] = 0xffull << 8 * (i % 8);
		t->use[i] = i / 8 % 1000;
		t->owner[i] = (uint32_t)(i % 1000);
	}
}

static void run_plain(struct touches *t)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	struct loci_stack *stack[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (loci_stack_new(&options, &stack[i], NULL) < 0)
			die("out of memory");
	for (size_t i = 0; i < t->n_turns; i++) {
		size_t from = t->turn_touch[i], n = t->n - from < TURN ? t->n - from : TURN;

		if (loci_stack_feed(stack[t->turn_member[i]], t->block + from, t->is_write + from,
			    n, t->distance + from, NULL) < 0)
			die("out of memory");
	}
	for (unsigned i = 0; i < THREADS; i++)
		loci_stack_free(stack[i]);
}

static void run_coherent(struct touches *t)
{
	struct loci_coherent_options options = { .isa = LOCI_ISA_BEST };
	struct loci_coherent_touches touches = { .block = t->block,
		.is_write = t->is_write,
		.bytes = t->bytes,
		.use = t->use,
		.n = t->n,
		.turn_touch = t->turn_touch,
		.turn_member = t->turn_member,
		.n_turns = t->n_turns,
		.ret_distance = t->distance,
		.ret_kind = t->kind[0],
		.ret_lost_to = t->lost_to };
	struct loci_coherent *coherent;

	if (loci_coherent_new(&options, &coherent, NULL) < 0 ||
		loci_coherent_feed(coherent, &touches, NULL) < 0)
		die("out of memory");
	loci_coherent_free(coherent);
}

static const struct loci_levels_geometry geometry[] = { { 64, 8 }, { 2048, 8 }, { 32768, 16 } };

static void run_levels(struct touches *t)
{
	static struct loci_levels_eviction evicted[TURN];
	struct loci_levels *levels;

	if (loci_levels_new(geometry, 3, LOCI_ISA_BEST, &levels, NULL) < 0)
		die("out of memory");
	for (size_t i = 0; i < t->n_turns; i++) {
		size_t from = t->turn_touch[i];
		struct loci_levels_batch batch = { .block = t->block + from,
			.is_write = t->is_write + from,
			.bytes = t->bytes + from,
			.owner = t->owner + from,
			.n = t->n - from < TURN ? t->n - from : TURN,
			.ret_missed = t->kind[0] + from,
			.ret_dirty = t->kind[1] + from,
			.ret_evicted = evicted };

		loci_levels_feed(levels, &batch);
	}
	loci_levels_free(levels);
}

static void run_shared(struct touches *t)
{
	struct loci_levels_sharing sharing[] = { { geometry[0], 1 }, { geometry[1], 1 },
		{ geometry[2], 0 } };
	struct loci_levels_shared_batch batch = { .block = t->block,
		.is_write = t->is_write,
		.bytes = t->bytes,
		.owner = t->owner,
		.n = t->n,
		.turn_touch = t->turn_touch,
		.turn_member = t->turn_member,
		.n_turns = t->n_turns,
		.ret_missed = t->kind[0],
		.ret_dirty = t->kind[1],
		.ret_coherence = t->kind[2],
		.ret_transfer = t->kind[3] };
	struct loci_levels_shared *shared;

	if (loci_levels_shared_new(sharing, 3, LOCI_ISA_BEST, &shared, NULL) < 0 ||
		loci_levels_shared_feed(shared, &batch, NULL) < 0)
		die("out of memory");
	loci_levels_shared_free(shared);
}

static const struct engine {
	const char *name;
	void (*run)(struct touches *touches);
} engines[] = {
	{ "plain", run_plain },
	{ "coherent", run_coherent },
	{ "levels", run_levels },
	{ "shared", run_shared },
};

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool bench(struct touches *t, const struct stream *stream, unsigned runs)
{
	double ns[LOCI_ARRAY_SIZE(engines)][MAX_RUNS], median[LOCI_ARRAY_SIZE(engines)];
	bool good;

	make(t, stream);
	for (unsigned run = 0; run < runs; run++)
		for (unsigned i = 0; i < LOCI_ARRAY_SIZE(engines); i++) {
			double start = cpu_ns();

			engines[i].run(t);
			ns[i][run] = (cpu_ns() - start) / (double)t->n;
		}
	printf("%-14s", stream->name);
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(engines); i++) {
		qsort(ns[i], runs, sizeof(double), compare);
		median[i] = ns[i][runs / 2];
		printf("  %s %.1f", engines[i].name, median[i]);
	}
	good = median[1] <= stream->bar * median[0];
	printf(" ns/touch; coherent %.2f times plain (bar %.1f)  %s, shared %.2f times levels\n",
		median[1] / median[0], stream->bar, good ? "PASS" : "FAIL", median[3] / median[2]);
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	struct touches t = { .n = 4000000 };
	const char *only = NULL;
	unsigned runs = 5, which = 0;
	bool good = true;

	for (int at = 1; at < argc; at += 2) {
		if (at + 1 < argc && !strcmp(argv[at], "-n"))
			t.n = (size_t)strtod(argv[at + 1], NULL);
		else if (at + 1 < argc && !strcmp(argv[at], "-r"))
			runs = (unsigned)atoi(argv[at + 1]);
		else if (at + 1 < argc && !strcmp(argv[at], "-o"))
			only = argv[at + 1];
		else if (at + 1 < argc && !strcmp(argv[at], "-s"))
			which = (unsigned)atoi(argv[at + 1]) % LOCI_ARRAY_SIZE(streams);
		else
			die("usage: coherent_bench [-n TOUCHES] [-r RUNS] [-s STREAM] [-o ENGINE]");
	}
	if (!t.n || t.n > UINT32_MAX || !runs || runs > MAX_RUNS)
		die("touches must be at least 1, runs 1 to 9");
	t.block = allocate(t.n, sizeof(*t.block));
	t.bytes = allocate(t.n, sizeof(*t.bytes));
	t.use = allocate(t.n, sizeof(*t.use));
	t.is_write = allocate(t.n, 1);
	t.owner = allocate(t.n, sizeof(*t.owner));
	t.turn_touch = allocate(t.n / TURN + 1, sizeof(*t.turn_touch));
	t.turn_member = allocate(t.n / TURN + 1, sizeof(*t.turn_member));
	t.distance = allocate(t.n, sizeof(*t.distance));
	t.lost_to = allocate(t.n, sizeof(*t.lost_to));
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(t.kind); i++)
		t.kind[i] = allocate(t.n, 1);
	for (unsigned i = 0; only && i < LOCI_ARRAY_SIZE(engines); i++)
		if (!strcmp(only, engines[i].name)) {
			make(&t, &streams[which]);
			engines[i].run(&t);
		}
	for (unsigned i = 0; !only && i < LOCI_ARRAY_SIZE(streams); i++)
		good &= bench(&t, &streams[i], runs);
	return !good;
}
