/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random programs of several threads: a scheduler runs them step by step, so that what each thread
 * tells, and what happens before what, is known; then their words arrive in any order. */
#ifndef LOCI_TESTS_THREAD_PROGRAM_H
#define LOCI_TESTS_THREAD_PROGRAM_H

#include "stream/source.h"

#include <stdlib.h>
#include <string.h>

#define PROGRAM_THREADS 8 /* ids from 1; 0 tells what holds for the process */
#define PROGRAM_LOCKS   4
#define PROGRAM_OBJECT  0x5000 /* of locks; then the barrier, an atomic, a semaphore */
#define PROGRAM_BLOCKS  8

/* One thing that a thread told: an execution of a block, a RUN, or a marker. */
struct program_item {
	enum { ITEM_RUNS, ITEM_TELLS } kind;
	size_t at, n;         /* its words */
	uint64_t first_ref;   /* ordinals within the thread */
	uint64_t refs, times; /* each time, and how often */
	uint64_t cost;        /* each time, as a turn counts */
	bool left_early;
	uint64_t object, number;
	uint64_t when;                        /* it did so, among all */
	uint64_t before[PROGRAM_THREADS + 1]; /* how many items of each thread happen before it */
};

struct program_thread {
	uint64_t *word;
	size_t n, cap;
	struct program_item *item;
	size_t n_items, item_cap;
	uint64_t ordinal;
	uint64_t before[PROGRAM_THREADS + 1];
	enum { THREAD_NONE, THREAD_RUNS, THREAD_WAITS, THREAD_DONE } state;
	int waits_for; /* a lock, or a thread to join, or the barrier */
	unsigned budget, holds;
	bool in_handler, joined;
};

struct program {
	uint64_t seed;
	struct program_thread thread[PROGRAM_THREADS + 1];
	struct {
		uint64_t object, number;
		uint64_t before[PROGRAM_THREADS + 1];
	} gate[64];
	unsigned n_gates, n_threads, n_at_barrier, party;
	int lock[PROGRAM_LOCKS]; /* who holds it */
	uint64_t now;
	/* what it consists of */
	bool syncs, runs, signals, allocates;
};

static inline uint64_t program_next(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545f4914f6cdd1dull;
}

static inline unsigned program_below(uint64_t *seed, unsigned n)
{
	return (unsigned)((program_next(seed) >> 32) * n >> 32);
}

static inline void program_word(struct program_thread *t, uint64_t word)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 256;
		t->word = realloc(t->word, t->cap * sizeof(*t->word));
		if (!t->word)
			abort();
	}
	t->word[t->n++] = word;
}

static inline struct program_item *program_item(struct program *p, unsigned thread, int kind)
{
	struct program_thread *t = &p->thread[thread];
	struct program_item *item;

	if (t->n_items == t->item_cap) {
		t->item_cap = t->item_cap ? 2 * t->item_cap : 256;
		t->item = realloc(t->item, t->item_cap * sizeof(*t->item));
		if (!t->item)
			abort();
	}
	item = &t->item[t->n_items++];
	*item = (struct program_item){
		.kind = kind, .at = t->n, .first_ref = t->ordinal, .when = p->now++
	};
	memcpy(item->before, t->before, sizeof(item->before));
	t->before[thread] = t->n_items;
	return item;
}

static inline unsigned program_gate(struct program *p, uint64_t object)
{
	unsigned i = 0;

	while (i < p->n_gates && p->gate[i].object != object)
		i++;
	if (i == p->n_gates)
		p->gate[p->n_gates++].object = object;
	if (p->n_gates > 64)
		abort();
	return i;
}

#define PROGRAM_PROCESS (1ull << 62) /* stands for the numbers of the process */

/* The next number of the object, and what happens before and after. */
static inline uint64_t program_number(struct program *p, unsigned thread, uint64_t object)
{
	struct program_thread *t = &p->thread[thread];
	unsigned gate = program_gate(p, object);

	for (unsigned u = 0; u <= PROGRAM_THREADS; u++)
		if (p->gate[gate].before[u] > t->before[u])
			t->before[u] = p->gate[gate].before[u];
	return ++p->gate[gate].number;
}

static inline void program_numbered(struct program *p, unsigned thread, uint64_t object)
{
	memcpy(p->gate[program_gate(p, object)].before, p->thread[thread].before,
		sizeof(p->gate[0].before));
}

static inline void program_tell(
	struct program *p, unsigned thread, enum loci_marker kind, uint64_t payload)
{
	struct program_item *item = program_item(p, thread, ITEM_TELLS);

	program_word(&p->thread[thread], loci_mark_word(kind, 0, payload));
	item->n = 1;
}

static inline void program_sync(
	struct program *p, unsigned thread, enum loci_sync kind, uint64_t object)
{
	struct program_thread *t = &p->thread[thread];
	uint64_t number = program_number(p, thread, object);
	struct program_item *item = program_item(p, thread, ITEM_TELLS);

	program_word(t, loci_mark_word(LOCI_MARK_SYNC, 2, kind));
	program_word(t, object);
	program_word(t, number);
	item->n = 3;
	item->object = object;
	item->number = number;
	program_numbered(p, thread, object);
}

/* A marker of n_raw words, the last but `after` of which is its number. */
static inline void program_sequenced(struct program *p, unsigned thread, enum loci_marker kind,
	uint64_t payload, unsigned n_raw, unsigned place)
{
	struct program_thread *t = &p->thread[thread];
	uint64_t number = program_number(p, thread, PROGRAM_PROCESS);
	struct program_item *item = program_item(p, thread, ITEM_TELLS);

	program_word(t, loci_mark_word(kind, n_raw, payload));
	for (unsigned i = 0; i < n_raw; i++)
		program_word(t, i == place ? number : 1);
	item->n = 1 + n_raw;
	item->object = PROGRAM_PROCESS;
	item->number = number;
	program_numbered(p, thread, PROGRAM_PROCESS);
}

/* Blocks: id b has these references; the last is an entry's, the one before has a range. */
static const unsigned program_refs[PROGRAM_BLOCKS] = { 1, 2, 3, 5, 8, 30, 3, 4 };
#define PROGRAM_RANGE 6 /* its second reference is a range */
#define PROGRAM_ENTRY 7 /* its first is a frame, its second the caller */

static inline size_t program_definitions(uint64_t *words)
{
	size_t n = 0;

	for (unsigned b = 0; b < PROGRAM_BLOCKS; b++) {
		words[n++] = loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * program_refs[b], b + 1);
		words[n++] = b == PROGRAM_ENTRY ? LOCI_BLOCK_ENTRY : 0;
		words[n++] = 0x1000 * b;
		for (unsigned i = 0; i < program_refs[b]; i++) {
			bool range = b == PROGRAM_RANGE && i == 1;
			enum loci_op op = b != PROGRAM_ENTRY || i > 1 ? i % 2
				: i                                   ? LOCI_OP_CALLER
								      : LOCI_OP_FRAME;

			words[n++] = loci_ref_word(range ? 0 : 8, op, 0);
			words[n++] = 100 * b + i;
		}
	}
	return n;
}

static inline uint64_t program_address(unsigned thread, uint64_t ordinal)
{
	return (uint64_t)thread << 40 | ordinal << 8;
}

static inline void program_address_word(struct program *p, unsigned thread, unsigned rare)
{
	struct program_thread *t = &p->thread[thread];
	uint64_t address = program_address(thread, t->ordinal++);

	if (program_below(&p->seed, rare) == 0) {
		program_word(t, loci_mark_word(LOCI_MARK_WIDE, 1, 0));
		address |= 1ull << 63;
	}
	program_word(t, address);
}

/* A block, perhaps several times without another BLOCK, perhaps left early. */
static inline void program_block(struct program *p, unsigned thread)
{
	struct program_thread *t = &p->thread[thread];
	unsigned b = program_below(&p->seed, PROGRAM_BLOCKS);
	unsigned times = 1 + program_below(&p->seed, 4) * (program_below(&p->seed, 3) == 0);

	for (unsigned i = 0; i < times; i++) {
		struct program_item *item = program_item(p, thread, ITEM_RUNS);
		unsigned n = program_refs[b];

		if (i == 0)
			program_word(t, loci_mark_word(LOCI_MARK_BLOCK, 0, b + 1));
		if (i + 1 == times && program_below(&p->seed, 5) == 0)
			n = program_below(&p->seed, n) + 1;
		item->times = 1;
		item->refs = n;
		item->left_early = n < program_refs[b];
		for (unsigned k = 0; k < n; k++) {
			uint64_t length =
				program_below(&p->seed, 3) ? 0 : program_below(&p->seed, 1000);

			program_address_word(p, thread, 50);
			item = &t->item[t->n_items - 1];
			if (b == PROGRAM_RANGE && k == 1) {
				program_word(t, length);
				item->cost += length ? (length + 63) / 64 : 1;
			} else {
				item->cost += b != PROGRAM_ENTRY || k > 1;
			}
		}
		item->n = t->n - item->at;
	}
}

static inline void program_run(struct program *p, unsigned thread)
{
	struct program_thread *t = &p->thread[thread];
	unsigned b = program_below(&p->seed, PROGRAM_RANGE), n = program_refs[b];
	unsigned times = 1 + program_below(&p->seed, program_below(&p->seed, 4) ? 30 : 1000);
	struct program_item *item = program_item(p, thread, ITEM_RUNS);

	program_word(t, loci_mark_word(LOCI_MARK_RUN, 2 + 2 * n, b + 1));
	program_word(t, times);
	program_word(t, 0);
	for (unsigned i = 0; i < n; i++) {
		program_word(t, program_address(thread, t->ordinal + i));
		program_word(t, program_address(0, n));
	}
	item->n = t->n - item->at;
	item->times = times;
	item->refs = item->cost = n;
	t->ordinal += (uint64_t)n * times;
}

/* As collectors do: a reader may take BEGIN, which follows at once, for the first. */
static inline void program_tell_start_first(struct program_thread *t)
{
	uint64_t begin[3];

	memcpy(begin, t->word, sizeof(begin));
	memmove(t->word, t->word + 3, 5 * sizeof(*t->word));
	memcpy(t->word + 5, begin, sizeof(begin));
	t->item[0].at = 5;
	t->item[1].at = 0;
}

static inline unsigned program_start(struct program *p, unsigned parent)
{
	unsigned child = ++p->n_threads;

	if (parent) {
		program_sync(p, parent, LOCI_SYNC_THREAD_CREATE, child);
		program_sync(p, child, LOCI_SYNC_THREAD_BEGIN, child);
	}
	program_sequenced(p, child, LOCI_MARK_THREAD_START, child, 4, 3);
	if (parent)
		program_tell_start_first(&p->thread[child]);
	p->thread[child].state = THREAD_RUNS;
	return child;
}

static inline void program_wait(struct program *p, unsigned thread, int for_what)
{
	program_tell(p, thread, LOCI_MARK_BLOCKED, 0);
	p->thread[thread].state = THREAD_WAITS;
	p->thread[thread].waits_for = for_what;
}

static inline void program_wake(
	struct program *p, unsigned thread, enum loci_sync kind, uint64_t object)
{
	program_tell(p, thread, LOCI_MARK_RUNNING, 0);
	program_sync(p, thread, kind, object);
	p->thread[thread].state = THREAD_RUNS;
}

enum { WAIT_BARRIER = 100, WAIT_JOIN = 200 };

static inline void program_lock(struct program *p, unsigned thread)
{
	unsigned m = program_below(&p->seed, PROGRAM_LOCKS);
	struct program_thread *t = &p->thread[thread];

	if (t->holds) { /* one at a time: no deadlock */
		m = t->holds - 1;
		program_sync(p, thread, LOCI_SYNC_RELEASE, PROGRAM_OBJECT + m);
		p->lock[m] = 0;
		t->holds = 0;
		for (unsigned u = 1; u <= p->n_threads; u++) {
			struct program_thread *other = &p->thread[u];

			if (other->state == THREAD_WAITS && other->waits_for == (int)m) {
				p->lock[m] = (int)u;
				other->holds = m + 1;
				program_wake(p, u, LOCI_SYNC_ACQUIRE, PROGRAM_OBJECT + m);
				break;
			}
		}
	} else if (!p->lock[m]) {
		p->lock[m] = (int)thread;
		t->holds = m + 1;
		program_sync(p, thread, LOCI_SYNC_ACQUIRE, PROGRAM_OBJECT + m);
	} else {
		program_wait(p, thread, (int)m);
	}
}

static inline void program_barrier(struct program *p, unsigned thread)
{
	uint64_t object = PROGRAM_OBJECT + PROGRAM_LOCKS;
	unsigned running = 0;

	/* only when all who are not done can come: nobody waits for anything else */
	for (unsigned u = 1; u <= p->n_threads; u++) {
		if (p->thread[u].state == THREAD_WAITS && p->thread[u].waits_for != WAIT_BARRIER)
			return;
		if (p->thread[u].holds)
			return;
		running += p->thread[u].state != THREAD_DONE;
	}
	if (!p->n_at_barrier)
		p->party = running;
	if (p->party != running || running < 2)
		return;
	program_sync(p, thread, LOCI_SYNC_BARRIER_ARRIVE, object);
	if (++p->n_at_barrier < p->party) {
		program_wait(p, thread, WAIT_BARRIER);
		return;
	}
	p->n_at_barrier = 0;
	program_sync(p, thread, LOCI_SYNC_BARRIER_LEAVE, object);
	for (unsigned u = 1; u <= p->n_threads; u++)
		if (p->thread[u].state == THREAD_WAITS)
			program_wake(p, u, LOCI_SYNC_BARRIER_LEAVE, object);
}

static inline void program_exit(struct program *p, unsigned thread)
{
	struct program_thread *t = &p->thread[thread];

	if (t->holds)
		program_lock(p, thread);
	if (t->in_handler)
		program_tell(p, thread, LOCI_MARK_SIGNAL_LEAVE, 0);
	if (thread > 1)
		program_sync(p, thread, LOCI_SYNC_THREAD_FINISH, thread);
	program_sequenced(p, thread, LOCI_MARK_THREAD_EXIT, thread, 2, 1);
	t->state = THREAD_DONE;
	for (unsigned u = 1; u <= p->n_threads; u++)
		if (p->thread[u].state == THREAD_WAITS &&
			p->thread[u].waits_for == WAIT_JOIN + (int)thread)
			program_wake(p, u, LOCI_SYNC_THREAD_JOIN, thread);
}

static inline void program_join(struct program *p, unsigned thread)
{
	unsigned child = 2 + program_below(&p->seed, PROGRAM_THREADS - 1);

	if (p->thread[thread].holds || p->n_at_barrier || thread != 1 || child > p->n_threads ||
		p->thread[child].joined)
		return;
	p->thread[child].joined = true;
	if (p->thread[child].state == THREAD_DONE)
		program_sync(p, thread, LOCI_SYNC_THREAD_JOIN, child);
	else
		program_wait(p, thread, WAIT_JOIN + (int)child);
}

static inline void program_signal(struct program *p, unsigned thread)
{
	struct program_thread *t = &p->thread[thread];

	/* where words pass as they are nobody knows what was interrupted */
	if (p->n_threads == 1)
		return;
	t->in_handler = !t->in_handler;
	program_tell(
		p, thread, t->in_handler ? LOCI_MARK_SIGNAL_ENTER : LOCI_MARK_SIGNAL_LEAVE, 10);
}

static inline void program_event(struct program *p, unsigned thread)
{
	unsigned what = program_below(&p->seed, 20);

	if (what < 2 && p->n_threads < PROGRAM_THREADS && !p->n_at_barrier)
		program_start(p, thread);
	else if (what < 8)
		program_lock(p, thread);
	else if (what < 12)
		program_sync(
			p, thread, program_below(&p->seed, 2), PROGRAM_OBJECT + PROGRAM_LOCKS + 1);
	else if (what < 14)
		program_barrier(p, thread);
	else if (what < 15)
		program_join(p, thread);
	else if (what < 17 && p->signals)
		program_signal(p, thread);
	else if (p->allocates)
		program_sequenced(p, thread, LOCI_MARK_ALLOC, 64, 3, 1);
}

static inline void program_step(struct program *p, unsigned thread)
{
	unsigned what = program_below(&p->seed, 10);

	if (!p->thread[thread].budget) {
		program_exit(p, thread);
		return;
	}
	p->thread[thread].budget--;
	if (what < 6)
		program_block(p, thread);
	else if (what < 8 && p->runs)
		program_run(p, thread);
	else if (p->syncs)
		program_event(p, thread);
}

/* Until all threads are done, or steps are. */
static inline void program_execute(struct program *p, uint64_t seed, unsigned steps)
{
	p->seed = seed * 0x9e3779b97f4a7c15ull + 1;
	for (unsigned t = 1; t <= PROGRAM_THREADS; t++)
		p->thread[t].budget = steps;
	program_start(p, 0);
	for (;;) {
		unsigned runs[PROGRAM_THREADS], n = 0;

		for (unsigned t = 1; t <= p->n_threads; t++)
			if (p->thread[t].state == THREAD_RUNS)
				runs[n++] = t;
		if (!n)
			break;
		program_step(p, runs[program_below(&p->seed, n)]);
	}
}

static inline void program_free(struct program *p)
{
	for (unsigned t = 0; t <= PROGRAM_THREADS; t++) {
		free(p->thread[t].word);
		free(p->thread[t].item);
	}
	*p = (struct program){ 0 };
}

#endif
