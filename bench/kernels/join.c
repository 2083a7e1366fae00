// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash join: 2^size tuples are built into a table of chains, eight times as many are looked up.
 * Slow: one table. Tuned: both sides are divided by hash first, so that a part's table is small. */
#include "kernels.h"

enum { PART_BITS = 6, PARTS = 1 << PART_BITS, PROBES = 8 };

struct tuple {
	uint32_t key, value;
};

struct side {
	struct tuple *tuple;
	size_t n;
};

struct table {
	uint32_t *head, *next; /* + 1; 0: none */
	unsigned bits;
};

static uint32_t hash(uint32_t key)
{
	return key * 2654435761u;
}

static void build(const struct table *t, const struct side *s)
{
	for (size_t i = 0; i < (size_t)1 << t->bits; i++)
		t->head[i] = 0;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t *head = &t->head[hash(s->tuple[i].key) << PART_BITS >> (32 - t->bits)];

		t->next[i] = *head;
		*head = (uint32_t)i + 1;
	}
}

static uint64_t probe(const struct table *t, const struct side *s, const struct side *by)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < by->n; i++) {
		uint32_t key = by->tuple[i].key;
		uint32_t at = t->head[hash(key) << PART_BITS >> (32 - t->bits)];

		for (; at; at = t->next[at - 1])
			if (s->tuple[at - 1].key == key)
				sum += (uint64_t)s->tuple[at - 1].value * by->tuple[i].value;
	}
	return sum;
}

/* part[p]: where it begins in `to`, part[PARTS]: the end. */
static void divide(const struct side *from, struct tuple *to, size_t *part)
{
	size_t at[PARTS] = { 0 }, sum = 0;

	for (size_t i = 0; i < from->n; i++)
		at[hash(from->tuple[i].key) >> (32 - PART_BITS)]++;
	for (int p = 0; p < PARTS; p++) {
		part[p] = sum;
		sum += at[p];
		at[p] = part[p];
	}
	part[PARTS] = sum;
	for (size_t i = 0; i < from->n; i++)
		to[at[hash(from->tuple[i].key) >> (32 - PART_BITS)]++] = from->tuple[i];
}

static uint64_t whole(struct table *t, const struct side *s, const struct side *by)
{
	build(t, s);
	return probe(t, s, by);
}

static uint64_t divided(struct table *t, const struct side *s, const struct side *by)
{
	static struct tuple *to, *by_to;
	size_t part[PARTS + 1], by_part[PARTS + 1];
	uint64_t sum = 0;

	if (!to) {
		to = kernel_memory(s->n, sizeof(*to));
		by_to = kernel_memory(by->n, sizeof(*by_to));
	}
	divide(s, to, part);
	divide(by, by_to, by_part);
	t->bits -= PART_BITS;
	for (int p = 0; p < PARTS; p++) {
		struct side one = { to + part[p], part[p + 1] - part[p] };
		struct side by_one = { by_to + by_part[p], by_part[p + 1] - by_part[p] };

		build(t, &one);
		sum += probe(t, &one, &by_one);
	}
	t->bits += PART_BITS;
	return sum;
}

typedef uint64_t join_fn(struct table *, const struct side *, const struct side *);

static uint64_t join(size_t size, unsigned rounds, join_fn *how)
{
	unsigned bits = (unsigned)size < PART_BITS + 1 ? PART_BITS + 1 : (unsigned)size;
	size_t n = (size_t)1 << bits;
	struct side s = { kernel_memory(n, sizeof(struct tuple)), n };
	struct side by = { kernel_memory(n * PROBES, sizeof(struct tuple)), n * PROBES };
	struct table t = { kernel_memory(n, sizeof(uint32_t)), kernel_memory(n, sizeof(uint32_t)),
		bits };
	uint64_t state = 3, sum = 0;

	for (size_t i = 0; i < n; i++)
		s.tuple[i] = (struct tuple){ (uint32_t)i * 3, (uint32_t)i % 101 };
	for (size_t i = 0; i < by.n; i++)
		by.tuple[i] = (struct tuple){ kernel_random(&state) % (uint32_t)(n * 3),
			(uint32_t)i % 31 };
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		sum += how(&t, &s, &by);
	kernel_stop();
	return sum;
}

static uint64_t run_whole(size_t size, unsigned rounds)
{
	return join(size, rounds, whole);
}

static uint64_t run_divided(size_t size, unsigned rounds)
{
	return join(size, rounds, divided);
}

const struct kernel kernels_join[] = {
	{ "join", "whole", 18, 2, run_whole },
	{ "join", "divided", 18, 2, run_divided },
	KERNEL_END,
};
