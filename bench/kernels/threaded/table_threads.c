// SPDX-License-Identifier: GPL-2.0-or-later
/* A table of size keys that threads look up, and one time in sixteen write: under one lock for
 * readers and writers, or one for each of 64 parts of the table. A row's two values always agree;
 * who reads checks it. What is written adds up, in whatever order. */
#define _GNU_SOURCE
#include "threaded.h"

#include <pthread.h>

enum { PARTS = 64, CHAIN = 4, WRITES = 16 };

struct row {
	uint64_t key, count, twin; /* count * 3 == twin */
	struct row *next;
};

struct part {
	pthread_rwlock_t lock;
	char own_line[LINE_BYTES - sizeof(pthread_rwlock_t) % LINE_BYTES];
};

struct table {
	size_t n, n_chains;
	struct row *row, **chain;
	struct part *part;
	size_t n_parts, n_ops;
	unsigned threads, round;
};

static uint64_t hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return key ^ (key >> 32);
}

static struct row *find(const struct table *t, uint64_t key)
{
	struct row *row = t->chain[hash(key) % t->n_chains];

	while (row && row->key != key)
		row = row->next;
	return row;
}

static void look_up(const struct table *t, uint64_t key)
{
	pthread_rwlock_t *lock = &t->part[hash(key) % t->n_chains % t->n_parts].lock;
	const struct row *row;

	pthread_rwlock_rdlock(lock);
	row = find(t, key);
	if (!row || row->count * 3 != row->twin)
		threaded_wrong("table: a row is wrong");
	pthread_rwlock_unlock(lock);
}

static void add(const struct table *t, uint64_t key, uint64_t by)
{
	pthread_rwlock_t *lock = &t->part[hash(key) % t->n_chains % t->n_parts].lock;
	struct row *row;

	pthread_rwlock_wrlock(lock);
	row = find(t, key);
	row->count += by;
	row->twin += 3 * by;
	pthread_rwlock_unlock(lock);
}

/* Operation i is the same whoever does it. */
static void work(void *with, unsigned thread)
{
	const struct table *t = with;
	size_t end = threaded_share(t->n_ops, t->threads, thread + 1);

	for (size_t i = threaded_share(t->n_ops, t->threads, thread); i < end; i++) {
		uint64_t state = hash(i + t->round * t->n_ops);
		uint64_t key = kernel_random(&state) % t->n;

		if (i % WRITES == 0)
			add(t, key, i);
		else
			look_up(t, key);
	}
}

static uint64_t serve(size_t n, unsigned rounds, unsigned threads, size_t n_parts)
{
	struct table t = { .n = n,
		.n_chains = (n / CHAIN + PARTS) / PARTS * PARTS,
		.n_parts = n_parts,
		.n_ops = 3 * n,
		.threads = threads };
	double *count = kernel_memory(n, sizeof(*count));

	t.row = threaded_lines(n * sizeof(*t.row));
	t.chain = threaded_lines(t.n_chains * sizeof(struct row *));
	t.part = threaded_lines(n_parts * sizeof(*t.part));
	for (size_t i = 0; i < n_parts; i++)
		pthread_rwlock_init(&t.part[i].lock, NULL);
	for (size_t i = 0; i < n; i++) {
		struct row **chain = &t.chain[hash(i) % t.n_chains];

		t.row[i] = (struct row){ .key = i, .next = *chain };
		*chain = &t.row[i];
	}
	kernel_start();
	for (t.round = 0; t.round < rounds; t.round++)
		threaded_team(threads, work, &t);
	kernel_stop();
	for (size_t i = 0; i < n; i++) {
		if (t.row[i].count * 3 != t.row[i].twin)
			threaded_wrong("table: a row is wrong");
		count[i] = (double)t.row[i].count;
	}
	return kernel_checksum(count, n);
}

static uint64_t run_whole(size_t size, unsigned rounds, unsigned threads)
{
	return serve(size, rounds, threads, 1);
}

static uint64_t run_parts(size_t size, unsigned rounds, unsigned threads)
{
	return serve(size, rounds, threads, PARTS);
}

const struct threaded_kernel threaded_table[] = {
	{ "table", "whole", 16384, 20, run_whole },
	{ "table", "parts", 16384, 20, run_parts },
	THREADED_END,
};
