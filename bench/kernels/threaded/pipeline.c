// SPDX-License-Identifier: GPL-2.0-or-later
/* A pipeline of eight stages over size buffers, divided among the threads: from one to the next
 * they go through a queue with a mutex and two conditions, one by one or sixteen at a time. Buffers
 * leave in the order they came in. */
#include "threaded.h"

#include <pthread.h>

enum { STAGES = 8, WORDS = 128, CAPACITY = 32, BATCH = 16 };

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t not_empty, not_full;
	uint64_t *buffer[CAPACITY];
	size_t head, tail; /* taken and given so far */
};

struct pipeline {
	struct queue queue[STAGES + 1]; /* queue[i]: into thread i */
	size_t n_buffers, batch;
	unsigned threads;
	uint64_t *buffers;
	uint64_t sum;
};

static void give(struct queue *q, uint64_t **buffer, size_t n)
{
	pthread_mutex_lock(&q->mutex);
	while (q->tail + n - q->head > CAPACITY)
		pthread_cond_wait(&q->not_full, &q->mutex);
	for (size_t i = 0; i < n; i++)
		q->buffer[q->tail++ % CAPACITY] = buffer[i];
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->mutex);
}

static void take(struct queue *q, uint64_t **buffer, size_t n)
{
	pthread_mutex_lock(&q->mutex);
	while (q->tail - q->head < n)
		pthread_cond_wait(&q->not_empty, &q->mutex);
	for (size_t i = 0; i < n; i++)
		buffer[i] = q->buffer[q->head++ % CAPACITY];
	pthread_cond_signal(&q->not_full);
	pthread_mutex_unlock(&q->mutex);
}

static void pass(uint64_t *buffer, unsigned stage)
{
	uint64_t carry = stage;

	for (size_t i = 0; i < WORDS; i++) {
		carry = carry * 31 + buffer[i];
		buffer[i] = carry ^ (carry >> 7);
	}
}

static void begin(struct pipeline *p, uint64_t **buffer, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buffer[i] = p->buffers + (first + i) * WORDS;
		for (size_t k = 0; k < WORDS; k++)
			buffer[i][k] = (first + i) * WORDS + k;
	}
}

static void end(struct pipeline *p, uint64_t *const *buffer, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < WORDS; k++)
			p->sum = p->sum * 1099511628211u + buffer[i][k];
}

/* More threads than stages: the last ones pass on what they get. */
static void work(void *with, unsigned thread)
{
	struct pipeline *p = with;
	unsigned first = (unsigned)threaded_share(STAGES, p->threads, thread);
	unsigned last = (unsigned)threaded_share(STAGES, p->threads, thread + 1);
	uint64_t *buffer[BATCH];

	for (size_t done = 0; done < p->n_buffers; done += p->batch) {
		if (thread)
			take(&p->queue[thread], buffer, p->batch);
		else
			begin(p, buffer, done, p->batch);
		for (size_t i = 0; i < p->batch; i++)
			for (unsigned stage = first; stage < last; stage++)
				pass(buffer[i], stage);
		if (thread + 1 < p->threads)
			give(&p->queue[thread + 1], buffer, p->batch);
		else
			end(p, buffer, p->batch);
	}
}

static uint64_t flow(size_t size, unsigned rounds, unsigned threads, size_t batch)
{
	struct pipeline p = { .n_buffers = (size + BATCH - 1) / BATCH * BATCH,
		.batch = batch,
		.threads = threads < STAGES ? threads : STAGES };

	p.buffers = threaded_lines(p.n_buffers * WORDS * sizeof(uint64_t));
	for (unsigned i = 0; i <= STAGES; i++) {
		pthread_mutex_init(&p.queue[i].mutex, NULL);
		pthread_cond_init(&p.queue[i].not_empty, NULL);
		pthread_cond_init(&p.queue[i].not_full, NULL);
	}
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		threaded_team(p.threads, work, &p);
	kernel_stop();
	return p.sum;
}

static uint64_t run_single(size_t size, unsigned rounds, unsigned threads)
{
	return flow(size, rounds, threads, 1);
}

static uint64_t run_batch(size_t size, unsigned rounds, unsigned threads)
{
	return flow(size, rounds, threads, BATCH);
}

const struct threaded_kernel threaded_pipeline[] = {
	{ "pipeline", "single", 4096, 10, run_single },
	{ "pipeline", "batch", 4096, 10, run_batch },
	THREADED_END,
};
