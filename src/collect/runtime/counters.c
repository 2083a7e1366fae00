// SPDX-License-Identifier: BSD-2-Clause
/* How often blocks execute in counting copies. A thread has all counters to itself, so that it need
 * not lock anything to count; their memory is as large for each thread as the largest program may
 * need, and there only where it is touched. A function has the same place in all of them, from when
 * it is first executed in any. What it takes to tell is remembered, for a library may be gone by
 * then. */
#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#include <errno.h>

#define MOST_BYTES  ((size_t)128 << 20) /* of a thread's counters */
#define LEAST_BYTES ((size_t)1 << 20)
#define N_STRAY     64 /* threads that nobody watches share so many */
#define FIRST_BYTES 65536

struct counted {
	uint64_t first; /* id of its first block */
	uint64_t at;    /* its first counter */
	uint32_t n_counters, n_terms;
	const struct loci_cc_term *term;
};

static struct {
	struct counted *counted;
	size_t n, bytes;
	uint64_t next;       /* counter that is not given yet */
	size_t thread_bytes; /* of each thread; 0: not known yet */
	bool is_full;        /* some functions have no place of their own */
	struct loci_cc_term *room;
	size_t n_room;
	uint64_t *stray[N_STRAY];
	uint32_t n_strays;
} table;

static uint64_t last_resort[LEAST_BYTES / sizeof(uint64_t)];

/* Functions that come when all places are taken have the upper half of the places together. */
static uint64_t limit(void)
{
	return table.thread_bytes / sizeof(uint64_t) / 2;
}

/* The first one settles how many each thread has. Lock held. */
static uint64_t *map_counters(void)
{
	size_t bytes = table.thread_bytes ? table.thread_bytes : MOST_BYTES;
	uint64_t *memory = loci_sys_map(bytes, -1);

	while (!memory && !table.thread_bytes && bytes > LEAST_BYTES) {
		bytes /= 2;
		memory = loci_sys_map(bytes, -1);
	}
	if (!memory && !table.thread_bytes) {
		bytes = LEAST_BYTES;
		memory = last_resort;
	}
	table.thread_bytes = bytes;
	return memory;
}

/* Lock held. Where there is no memory threads have to share, and may count too little. */
static uint64_t *stray_counters(void)
{
	uint32_t i = table.n_strays++ % N_STRAY;

	if (!table.stray[i])
		table.stray[i] = map_counters();
	if (!table.stray[i])
		table.stray[i] = table.stray[0] ? table.stray[0] : last_resort;
	return table.stray[i];
}

static void give_thread(struct rt_thread *thread)
{
	uint64_t *counters = thread ? thread->counters : NULL;

	rt_lock();
	if (!counters)
		counters = thread ? map_counters() : stray_counters();
	if (!counters) {
		counters = stray_counters();
		rt_process_mark(LOCI_MARK_LOST, 1, 0, NULL);
	} else if (thread) {
		thread->counters = counters;
	}
	rt_unlock();
	__loci_thread.counters = (uintptr_t)counters;
}

static void *room_for(size_t n_terms)
{
	struct loci_cc_term *room;

	if (n_terms > table.n_room) {
		size_t bytes = n_terms * sizeof(*room);

		bytes = bytes < FIRST_BYTES ? FIRST_BYTES : bytes;
		table.room = loci_sys_map(bytes, -1);
		table.n_room = table.room ? bytes / sizeof(*room) : 0;
		if (!table.room)
			return NULL;
	}
	room = table.room;
	table.room += n_terms;
	table.n_room -= n_terms;
	return room;
}

static bool remember(const struct counted *counted)
{
	if ((table.n + 1) * sizeof(*table.counted) > table.bytes) {
		size_t bytes = table.bytes ? 2 * table.bytes : FIRST_BYTES;
		struct counted *more = loci_sys_map(bytes, -1);

		if (!more)
			return false;
		for (size_t i = 0; i < table.n; i++)
			more[i] = table.counted[i];
		/* The smaller one stays: a child that is made just now may have it. */
		__atomic_store_n(&table.counted, more, __ATOMIC_RELEASE);
		table.bytes = bytes;
	}
	table.counted[table.n] = *counted;
	__atomic_store_n(&table.n, table.n + 1, __ATOMIC_RELEASE);
	return true;
}

/* For telling: lock held. */
static bool note(struct loci_cc_function *function, const struct loci_cc_definition *definition,
	struct counted *counted)
{
	struct loci_cc_term *term = room_for(counted->n_terms);
	const struct loci_cc_term *from = rt_terms_of(definition);

	if (!term || !rt_define_now(function))
		return false;
	for (uint32_t i = 0; i < counted->n_terms; i++)
		term[i] = from[i];
	counted->term = term;
	counted->first = loci_word_payload(function->base);
	return remember(counted);
}

/* Lock held. */
static void give_function(struct loci_cc_function *function, uint64_t *place)
{
	const struct loci_cc_definition *definition = rt_definition_of(function);
	struct counted counted = { .at = table.next };

	if (definition) {
		counted.n_counters = definition->n_counters;
		counted.n_terms = definition->n_terms;
	}
	if (!definition || counted.at + counted.n_counters > limit()) {
		counted.at = limit();
		if (!table.is_full && rt_mode() != RT_OFF)
			rt_process_mark(LOCI_MARK_LOST, 1, 0, NULL);
		table.is_full = true;
	} else {
		__atomic_store_n(&table.next, counted.at + counted.n_counters, __ATOMIC_RELEASE);
		if (rt_mode() != RT_OFF && !note(function, definition, &counted))
			rt_process_mark(LOCI_MARK_LOST, 1, 0, NULL);
	}
	__atomic_store_n(place, counted.at * sizeof(uint64_t), __ATOMIC_RELEASE);
}

void rt_counters(struct loci_cc_function *function, uint64_t *place)
{
	int error = errno;
	struct rt_thread *thread = rt_thread();
	uint64_t mask = rt_block();

	if (__loci_thread.counters == LOCI_CC_COUNTERS_UNKNOWN)
		give_thread(thread);
	rt_lock();
	if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == LOCI_CC_COUNTERS_UNKNOWN)
		give_function(function, place);
	rt_unlock();
	rt_unblock(mask);
	errno = error;
}

static bool is_untouched(const uint64_t *counter, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (counter[i])
			return false;
	return true;
}

/* A thread that did not end may be in the middle of something: then a sum may be less than none. */
static void tell_block(struct rt_thread *thread, uint64_t id, uint64_t executions)
{
	if ((int64_t)executions > 0)
		rt_mark(thread, LOCI_MARK_EXECUTED, id, 1, &executions);
}

static void tell_function(struct rt_thread *thread, const struct counted *counted)
{
	const uint64_t *counter = thread->counters + counted->at;
	uint64_t sum = 0;

	if (is_untouched(counter, counted->n_counters))
		return;
	for (uint32_t i = 0; i < counted->n_terms; i++) {
		const struct loci_cc_term *term = &counted->term[i];
		uint64_t value = counter[term->counter & ~LOCI_CC_TERM_MINUS];

		sum += term->counter & LOCI_CC_TERM_MINUS ? -value : value;
		if (i + 1 == counted->n_terms || term[1].block != term->block) {
			tell_block(thread, counted->first + term->block, sum);
			sum = 0;
		}
	}
}

void rt_counters_tell(struct rt_thread *thread)
{
	size_t n = __atomic_load_n(&table.n, __ATOMIC_ACQUIRE);
	const struct counted *counted = __atomic_load_n(&table.counted, __ATOMIC_ACQUIRE);

	for (size_t i = 0; thread->counters && i < n; i++)
		tell_function(thread, &counted[i]);
}

/* The process ends, and threads that wait for work with it. What they counted is told by the one
 * that ends it. */
void rt_counters_gather(struct rt_thread *thread)
{
	uint64_t n = __atomic_load_n(&table.next, __ATOMIC_ACQUIRE);

	for (struct rt_thread *other = rt_threads(); other; other = other->next) {
		if (other == thread || !other->counters ||
			!__atomic_load_n(&other->in_use, __ATOMIC_ACQUIRE))
			continue;
		if (!thread->counters)
			give_thread(thread);
		for (uint64_t i = 0; thread->counters && i < n; i++)
			thread->counters[i] +=
				__atomic_exchange_n(&other->counters[i], 0, __ATOMIC_RELAXED);
	}
}

void rt_counters_clear(struct rt_thread *thread)
{
	for (uint64_t i = 0; thread->counters && i < table.next; i++)
		if (thread->counters[i])
			thread->counters[i] = 0;
}
