// SPDX-License-Identifier: GPL-2.0-or-later
/* Annealing of a placement (Kirkpatrick et al. 1983) by random swaps, as PARSEC's canneal: size
 * elements, each wired to five others, are to stand where wires are short. A thread holds the two
 * elements that it swaps: by mutexes that many of them share, or by a flag in each. Where the
 * others stand it reads as it finds it.
 *
 * Which swaps are made depends on the threads; that every place is taken once, and that wires have
 * become shorter, does not: that is what the checksum says. */
#include "threaded.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WIRES = 5, LOCKS = 64, SWAPS = 4 };

struct element {
	_Atomic uint32_t place;
	atomic_flag is_held;
	uint32_t to[WIRES];
};

struct placement {
	size_t n, side;
	struct element *element;
	struct lock {
		pthread_mutex_t mutex;
		char own_line[LINE_BYTES - sizeof(pthread_mutex_t) % LINE_BYTES];
	} * lock;
	unsigned threads, round;
	int by_flag;
};

static void hold(const struct placement *p, size_t i)
{
	if (!p->by_flag)
		pthread_mutex_lock(&p->lock[i % LOCKS].mutex);
	else
		while (atomic_flag_test_and_set_explicit(
			&p->element[i].is_held, memory_order_acquire))
			;
}

static void release(const struct placement *p, size_t i)
{
	if (!p->by_flag)
		pthread_mutex_unlock(&p->lock[i % LOCKS].mutex);
	else
		atomic_flag_clear_explicit(&p->element[i].is_held, memory_order_release);
}

/* Both, the lower lock first. */
static void hold_both(const struct placement *p, size_t a, size_t b, int begin)
{
	size_t key_a = p->by_flag ? a : a % LOCKS, key_b = p->by_flag ? b : b % LOCKS;
	size_t first = key_a < key_b ? a : b, second = key_a < key_b ? b : a;

	if (begin) {
		hold(p, first);
		if (key_a != key_b)
			hold(p, second);
	} else {
		if (key_a != key_b)
			release(p, second);
		release(p, first);
	}
}

static uint32_t place_of(const struct placement *p, size_t i)
{
	return atomic_load_explicit(&p->element[i].place, memory_order_relaxed);
}

static size_t apart(size_t a, size_t b)
{
	return a < b ? b - a : a - b;
}

/* Of the element's wires if it stood there. */
static size_t length(const struct placement *p, size_t i, uint32_t place)
{
	size_t sum = 0;

	for (int k = 0; k < WIRES; k++) {
		uint32_t other = place_of(p, p->element[i].to[k]);

		sum += apart(place % p->side, other % p->side) +
			apart(place / p->side, other / p->side);
	}
	return sum;
}

static void swap_if_better(const struct placement *p, size_t a, size_t b)
{
	uint32_t at_a = place_of(p, a), at_b = place_of(p, b);

	if (length(p, a, at_b) + length(p, b, at_a) >= length(p, a, at_a) + length(p, b, at_b))
		return;
	atomic_store_explicit(&p->element[a].place, at_b, memory_order_relaxed);
	atomic_store_explicit(&p->element[b].place, at_a, memory_order_relaxed);
}

static void work(void *with, unsigned thread)
{
	const struct placement *p = with;
	uint64_t state = 1000 * p->round + thread;
	size_t swaps = p->n * SWAPS / p->threads;

	for (size_t i = 0; i < swaps; i++) {
		size_t a = kernel_random(&state) % p->n, b = kernel_random(&state) % p->n;

		if (a == b)
			continue;
		hold_both(p, a, b, 1);
		swap_if_better(p, a, b);
		hold_both(p, a, b, 0);
	}
}

static size_t length_of_all(const struct placement *p)
{
	size_t sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += length(p, i, place_of(p, i));
	return sum;
}

static void place(struct placement *p)
{
	uint32_t *number = kernel_memory(p->n, sizeof(*number));
	uint64_t state = 7;

	kernel_shuffle(number, p->n);
	for (size_t i = 0; i < p->n; i++) {
		atomic_init(&p->element[i].place, number[i]);
		atomic_flag_clear(&p->element[i].is_held);
		for (int k = 0; k < WIRES; k++)
			p->element[i].to[k] = (uint32_t)((i + kernel_random(&state) % 64) % p->n);
	}
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&p->lock[i].mutex, NULL);
	free(number);
}

static uint64_t anneal(size_t size, unsigned rounds, unsigned threads, int by_flag)
{
	struct placement p = { .n = size, .side = 1, .threads = threads, .by_flag = by_flag };
	double *taken = kernel_memory(size, sizeof(*taken));
	size_t before;

	while (p.side * p.side < size)
		p.side++;
	p.element = threaded_lines(size * sizeof(*p.element));
	p.lock = threaded_lines(LOCKS * sizeof(*p.lock));
	place(&p);
	before = length_of_all(&p);
	kernel_start();
	for (p.round = 0; p.round < rounds; p.round++)
		threaded_team(threads, work, &p);
	kernel_stop();
	if (length_of_all(&p) >= before)
		threaded_wrong("annealing: the wires have not become shorter");
	for (size_t i = 0; i < size; i++)
		taken[place_of(&p, i)]++;
	return kernel_checksum(taken, size);
}

static uint64_t run_mutex(size_t size, unsigned rounds, unsigned threads)
{
	return anneal(size, rounds, threads, 0);
}

static uint64_t run_flag(size_t size, unsigned rounds, unsigned threads)
{
	return anneal(size, rounds, threads, 1);
}

const struct threaded_kernel threaded_annealing[] = {
	{ "annealing", "mutex", 16384, 12, run_mutex },
	{ "annealing", "flag", 16384, 12, run_flag },
	THREADED_END,
};
