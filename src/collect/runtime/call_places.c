// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/call_places.h"
#include "collect/runtime/level.h"
#include "stream/ring_x86_64.h"

#include <errno.h>

#define FIRST_PLACES 4096 /* a power of two, as all are */
#define GONE         1    /* no address that code returns to */

/* What has been defined, for children and for the next table. */
struct told {
	uintptr_t back, code;
	const struct rt_shape *shape;
	uint64_t id;
};

static struct rt_places none = { 0, { { 0, 0 } } };
struct rt_places *rt_places = &none;

static struct {
	struct told *told;
	size_t n, cap;
	size_t n_functions;
	size_t n_taken; /* places, with those that are gone */
} table;

static void tell(const struct told *told)
{
	const struct rt_shape *shape = told->shape;
	uint64_t module = rt_module_of(told->code);
	uint64_t *raw = rt_process_begin(LOCI_MARK_DEFINE, told->id, 2 + 2 * shape->n_refs);

	*raw++ = module << 32 | shape->flags | LOCI_BLOCK_PLAIN;
	*raw++ = told->code;
	for (unsigned i = 0; i < shape->n_refs; i++) {
		*raw++ = shape->ref[i];
		*raw++ = told->back - 1; /* in the call */
	}
	rt_process_commit();
}

static void put(struct rt_places *places, uintptr_t back, uint64_t id)
{
	for (uintptr_t i = back >> 2;; i++) {
		struct rt_place *place = &places->place[i & places->mask];

		if (place->back > GONE)
			continue;
		table.n_taken += !place->back;
		place->marker = loci_mark_word(LOCI_MARK_BLOCK, 0, id);
		__atomic_store_n(&place->back, back, __ATOMIC_RELEASE);
		return;
	}
}

/* At most a quarter is taken, so that most are found at once. */
static bool make_places(void)
{
	size_t n = rt_places == &none ? FIRST_PLACES : rt_places->mask + 1;
	struct rt_places *more;

	if (4 * (table.n_taken + 1) < rt_places->mask)
		return true;
	if (8 * (table.n + 1) > n)
		n *= 2;
	more = loci_sys_map(sizeof(*more) + n * sizeof(*more->place), -1);
	if (!more)
		return false;
	more->mask = n - 1;
	table.n_taken = 0;
	for (size_t i = 0; i < table.n; i++)
		put(more, table.told[i].back, table.told[i].id);
	__atomic_store_n(&rt_places, more, __ATOMIC_RELEASE);
	return true;
}

static bool remember(const struct told *told)
{
	if (table.n == table.cap) {
		size_t cap = table.cap ? 2 * table.cap : FIRST_PLACES / 4;
		struct told *more = loci_sys_map(cap * sizeof(*more), -1);

		if (!more)
			return false;
		for (size_t i = 0; i < table.n; i++)
			more[i] = table.told[i];
		/* The smaller one stays: a child that is made just now may have it. */
		__atomic_store_n(&table.told, more, __ATOMIC_RELEASE);
		table.cap = cap;
	}
	table.told[table.n] = *told;
	__atomic_store_n(&table.n, table.n + 1, __ATOMIC_RELEASE);
	if (told->shape->flags & LOCI_BLOCK_ENTRY)
		__atomic_store_n(&table.n_functions, table.n_functions + 1, __ATOMIC_RELEASE);
	return true;
}

size_t rt_places_functions(void)
{
	return __atomic_load_n(&table.n_functions, __ATOMIC_ACQUIRE);
}

bool rt_places_have_function(uintptr_t code)
{
	size_t n = __atomic_load_n(&table.n, __ATOMIC_ACQUIRE);
	const struct told *told = __atomic_load_n(&table.told, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < n; i++)
		if (told[i].code == code && told[i].shape->flags & LOCI_BLOCK_ENTRY)
			return true;
	return false;
}

static void define(uintptr_t back, const struct rt_shape *shape)
{
	struct told told = { .back = back, .shape = shape, .id = rt_take_block_ids(1) };

	told.code = rt_function_start(back - 1);
	/* Its blocks then are functions of their own, without frames. */
	if (!told.code)
		told.code = back - 1;
	if (!make_places() || !remember(&told)) {
		rt_process_mark(LOCI_MARK_LOST, 1, 0, NULL);
		rt_go_off();
		return;
	}
	if (rt_mode() == RT_TRACE)
		tell(&told);
	put(rt_places, back, told.id);
}

uint64_t rt_place_define(uintptr_t back, const struct rt_shape *shape)
{
	uint64_t mask;

	if (rt_mode() == RT_OFF)
		return 0;
	mask = rt_block();
	rt_lock();
	if (!rt_place_find(back) && rt_mode() != RT_OFF)
		define(back, shape);
	rt_unlock();
	rt_unblock(mask);
	return rt_place_find(back);
}

void rt_places_tell_again(void)
{
	for (size_t i = 0; i < table.n; i++)
		tell(&table.told[i]);
}

/* No code of the module runs any more. */
void rt_places_forget(uintptr_t start, size_t bytes)
{
	size_t n = 0;

	for (uintptr_t i = 0; i <= rt_places->mask; i++)
		if (rt_places->place[i].back - start < bytes)
			rt_places->place[i].back = GONE;
	for (size_t i = 0; i < table.n; i++)
		if (table.told[i].back - start >= bytes)
			table.told[n++] = table.told[i];
	table.n = n;
}

/* Comes from code that has no room, no marker yet, or an address that is none: a pointer gone wrong
 * has its high bit set, and is not to be taken for a marker. */
void rt_plain_refer(uintptr_t back, const struct rt_shape *shape, const uint64_t *words, unsigned n)
{
	struct loci_cc_thread *thread = &__loci_thread;
	int error = errno;
	uint64_t marker = rt_place_find(back), *at;

	if (thread->state->cursor > thread->state->limit)
		rt_room();
	if (thread->budget < 0 && !marker)
		marker = rt_place_define(back, shape);
	if (thread->budget < 0 && thread->state->cursor <= thread->state->limit && marker) {
		at = thread->state->cursor;
		*at++ = marker;
		for (unsigned i = 0; i < n; i++) {
			if (loci_word_is_marker(words[i]))
				*at++ = loci_mark_word(LOCI_MARK_WIDE, 1, 0);
			*at++ = words[i];
		}
		thread->state->cursor = at;
	}
	thread->budget -= shape->n_counted;
	errno = error;
}
