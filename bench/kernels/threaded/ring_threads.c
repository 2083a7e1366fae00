// SPDX-License-Identifier: GPL-2.0-or-later
/* Producers hand size items to consumers, half of the threads each, through a ring of slots: under
 * one mutex, or by atomic operations alone, a sequence number in each slot (Vyukov 2010). One
 * thread by itself does both in turn. */
#define _DEFAULT_SOURCE
#include "threaded.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SLOTS = 256, WORDS = 4 };

struct slot {
	_Atomic size_t number;
	uint64_t item[WORDS];
};

struct ring {
	_Alignas(LINE_BYTES) _Atomic size_t tail;
	_Alignas(LINE_BYTES) _Atomic size_t head;
	_Alignas(LINE_BYTES) struct slot slot[SLOTS];
	pthread_mutex_t mutex;
	pthread_cond_t not_empty, not_full;
	size_t locked_tail, locked_head;
};

struct exchange {
	struct ring *ring;
	size_t n;
	unsigned producers, consumers;
	bool is_atomic;
	uint64_t sum[THREADS_MAX]; /* of consumers */
};

static void fill(uint64_t *item, size_t i)
{
	for (size_t k = 0; k < WORDS; k++)
		item[k] = i * WORDS + k;
}

static uint64_t value(const uint64_t *item)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < WORDS; k++)
		sum += item[k] * item[k];
	return sum;
}

static bool try_put(struct ring *r, size_t i)
{
	size_t at = atomic_load_explicit(&r->tail, memory_order_relaxed);

	for (;;) {
		struct slot *slot = &r->slot[at % SLOTS];
		size_t number = atomic_load_explicit(&slot->number, memory_order_acquire);

		if (number == at) {
			if (!atomic_compare_exchange_weak_explicit(&r->tail, &at, at + 1,
				    memory_order_relaxed, memory_order_relaxed))
				continue;
			fill(slot->item, i);
			atomic_store_explicit(&slot->number, at + 1, memory_order_release);
			return true;
		}
		if (number < at)
			return false;
		at = atomic_load_explicit(&r->tail, memory_order_relaxed);
	}
}

static bool try_get(struct ring *r, uint64_t *sum)
{
	size_t at = atomic_load_explicit(&r->head, memory_order_relaxed);

	for (;;) {
		struct slot *slot = &r->slot[at % SLOTS];
		size_t number = atomic_load_explicit(&slot->number, memory_order_acquire);

		if (number == at + 1) {
			if (!atomic_compare_exchange_weak_explicit(&r->head, &at, at + 1,
				    memory_order_relaxed, memory_order_relaxed))
				continue;
			*sum += value(slot->item);
			atomic_store_explicit(&slot->number, at + SLOTS, memory_order_release);
			return true;
		}
		if (number < at + 1)
			return false;
		at = atomic_load_explicit(&r->head, memory_order_relaxed);
	}
}

static void put(struct exchange *x, size_t i)
{
	struct ring *r = x->ring;

	if (x->is_atomic) {
		while (!try_put(r, i))
			sched_yield();
		return;
	}
	pthread_mutex_lock(&r->mutex);
	while (r->locked_tail - r->locked_head == SLOTS)
		pthread_cond_wait(&r->not_full, &r->mutex);
	fill(r->slot[r->locked_tail++ % SLOTS].item, i);
	pthread_cond_signal(&r->not_empty);
	pthread_mutex_unlock(&r->mutex);
}

static void get(struct exchange *x, uint64_t *sum)
{
	struct ring *r = x->ring;

	if (x->is_atomic) {
		while (!try_get(r, sum))
			sched_yield();
		return;
	}
	pthread_mutex_lock(&r->mutex);
	while (r->locked_tail == r->locked_head)
		pthread_cond_wait(&r->not_empty, &r->mutex);
	*sum += value(r->slot[r->locked_head++ % SLOTS].item);
	pthread_cond_signal(&r->not_full);
	pthread_mutex_unlock(&r->mutex);
}

static void work(void *with, unsigned thread)
{
	struct exchange *x = with;
	uint64_t sum = 0;

	if (thread < x->producers) {
		size_t end = threaded_share(x->n, x->producers, thread + 1);

		for (size_t i = threaded_share(x->n, x->producers, thread); i < end; i++)
			put(x, i);
		return;
	}
	thread -= x->producers;
	for (size_t i = threaded_share(x->n, x->consumers, thread);
		i < threaded_share(x->n, x->consumers, thread + 1); i++)
		get(x, &sum);
	x->sum[thread] += sum;
}

static void work_alone(void *with, unsigned thread)
{
	struct exchange *x = with;

	for (size_t i = 0; i < x->n; i++) {
		put(x, i);
		get(x, &x->sum[thread]);
	}
}

static uint64_t hand_over(size_t n, unsigned rounds, unsigned threads, bool is_atomic)
{
	struct exchange x = { .ring = threaded_lines(sizeof(struct ring)),
		.n = n,
		.producers = threads / 2,
		.consumers = threads - threads / 2,
		.is_atomic = is_atomic };
	uint64_t sum = 0;

	for (size_t i = 0; i < SLOTS; i++)
		atomic_init(&x.ring->slot[i].number, i);
	pthread_mutex_init(&x.ring->mutex, NULL);
	pthread_cond_init(&x.ring->not_empty, NULL);
	pthread_cond_init(&x.ring->not_full, NULL);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		threaded_team(threads, threads == 1 ? work_alone : work, &x);
	kernel_stop();
	for (unsigned i = 0; i < THREADS_MAX; i++)
		sum += x.sum[i];
	return sum;
}

static uint64_t run_mutex(size_t size, unsigned rounds, unsigned threads)
{
	return hand_over(size, rounds, threads, false);
}

static uint64_t run_atomic(size_t size, unsigned rounds, unsigned threads)
{
	return hand_over(size, rounds, threads, true);
}

const struct threaded_kernel threaded_ring[] = {
	{ "ring", "mutex", 200000, 5, run_mutex },
	{ "ring", "atomic", 200000, 5, run_atomic },
	THREADED_END,
};
