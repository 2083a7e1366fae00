// SPDX-License-Identifier: GPL-2.0-or-later
/* Its references can be counted by hand: every access that matters is volatile, every function
 * stays a function, and loops keep their counters in registers. tests/cli/counted_test.sh has the
 * counts; lines are found by the names in their comments. */
#include <stdlib.h>

#define LINES 1000
#ifdef __clang__ /* makes no clones */
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline))
#endif

struct line {
	volatile long first, second;
	char rest[48];
};

struct line table[LINES] __attribute__((aligned(64))); /* 64 bytes each */

/* Over all lines, twice: at the second time every line is LINES - 1 others away. */
static KEEP long walk(struct line *v, int rounds)
{
	long sum = 0;

	for (int round = 0; round < rounds; round++) /* count:walk-round */
		for (int i = 0; i < LINES; i++)      /* count:walk-each */
			sum += v[i].first;           /* count:walk */
	return sum;
}

/* A store, and the load of it in another function: read after write, LINES - 1 away. */
static KEEP void fill(struct line *v)
{
	for (int i = 0; i < LINES; i++)
		v[i].second = i; /* count:fill */
}

static KEEP long drain(struct line *v)
{
	long sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += v[i].second; /* count:drain */
	return sum;
}

static KEEP long phase(struct line *v)
{
	fill(v);             /* count:call-fill */
	return drain(v) + 1; /* count:call-drain */
}

/* Two fields of every line, one after the other: the line is brought once, 16 bytes of it are used.
 */
static struct line wide[LINES] __attribute__((aligned(64)));

static KEEP long both(struct line *v)
{
	long sum = 0;

	for (int i = 0; i < LINES; i++) {
		sum += v[i].first;  /* count:both-first */
		sum += v[i].second; /* count:both-second */
	}
	return sum;
}

/* 4096 bytes apart: a regular stride that is no neighbour's. */
static KEEP long column(volatile char *v)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += v[i * 4096]; /* count:column */
	return sum;
}

/* On its own stack. */
static KEEP long local(int n)
{
	volatile long small[8];
	long sum = 0;

	for (int i = 0; i < 8; i++)
		small[i] = n; /* count:local-store */
	for (int i = 0; i < 8; i++)
		sum += small[i]; /* count:local-load */
	return sum;
}

int main(void)
{
	struct line *block = aligned_alloc(4096, LINES * sizeof(*block)); /* count:block */
	char *pages = malloc(100 * 4096);                                 /* count:pages */
	long sum = 0;

	sum += walk(table, 2); /* count:call-walk */
	sum += phase(block);
	sum += both(wide);
	sum += column(pages);        /* count:call-column */
	for (int i = 0; i < 10; i++) /* count:call-loop */
		sum += local(i);     /* count:call-local */
	free(pages);
	free(block);
	return sum == -1;
}
