// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/untold.h"

#include <string.h>

#define SLOT_BITS 9
#define BUSY      ((uintptr_t)1)
#define GOLDEN    0x9e3779b97f4a7c15u
#define GONE_MOST 4096 /* of a program that is killed no more than these are not told of */

struct allocation {
	size_t bytes;
	uint64_t site;
};

/* By address: the last that was allocated there. */
static struct slot {
	uintptr_t address; /* 0: none; BUSY: whoever made it so has the rest to itself */
	struct allocation its;
} slots[1 << SLOT_BITS];

static struct slot *slot_of(uintptr_t memory)
{
	return &slots[(uint64_t)memory * GOLDEN >> (64 - SLOT_BITS)];
}

static uintptr_t address_of(const struct slot *slot)
{
	return __atomic_load_n(&slot->address, __ATOMIC_ACQUIRE);
}

static bool take(struct slot *slot, uintptr_t address)
{
	return __atomic_compare_exchange_n(
		&slot->address, &address, BUSY, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void put(struct slot *slot, uintptr_t address)
{
	__atomic_store_n(&slot->address, address, __ATOMIC_RELEASE);
}

/* In the thread's ring; NULL: in the process's, lock held. */
static void mark(struct rt_thread *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw,
	const uint64_t *raw)
{
	if (thread)
		rt_mark(thread, kind, payload, n_raw, raw);
	else
		rt_process_mark(kind, payload, n_raw, raw);
}

static void tell(struct rt_thread *thread, uintptr_t address, const struct allocation *its,
	uint64_t sequence)
{
	uint64_t raw[3] = { address, sequence, its->site };

	mark(thread, LOCI_MARK_ALLOC, its->bytes, 3, raw);
}

/* A number was taken for something that another thread has done. */
static void tell_nothing(struct rt_thread *thread, uint64_t sequence)
{
	uint64_t raw[2] = { 0, sequence };

	mark(thread, LOCI_MARK_FREE, 0, 2, raw);
}

void rt_untold_keep(struct rt_thread *thread, uintptr_t memory, size_t bytes, uint64_t site)
{
	struct slot *slot = slot_of(memory);
	uintptr_t old = address_of(slot);
	uint64_t sequence = old && old != BUSY ? rt_next_sequence() : 0;
	struct allocation its = { bytes, site }, before;

	if (old == BUSY || !take(slot, old)) {
		if (sequence)
			tell_nothing(thread, sequence);
		tell(thread, memory, &its, rt_next_sequence());
		return;
	}
	before = slot->its;
	slot->its.site = site;
	__atomic_store_n(&slot->its.bytes, bytes, __ATOMIC_RELAXED); /* others look */
	put(slot, memory);
	if (sequence)
		tell(thread, old, &before, sequence);
}

/* Numbers that another thread may read where the process ends. */
static uint64_t get(const uint64_t *of)
{
	return __atomic_load_n(of, __ATOMIC_RELAXED);
}

static void set(uint64_t *of, uint64_t value)
{
	__atomic_store_n(of, value, __ATOMIC_RELAXED);
}

static void tell_gone(struct rt_thread *thread, struct rt_gone *gone)
{
	uint64_t raw[4] = { 0, rt_next_sequence(), get(&gone->site), get(&gone->n) };

	set(&gone->n, 0);
	mark(thread, LOCI_MARK_ALLOC, get(&gone->bytes), 4, raw);
}

static void count_gone(struct rt_thread *thread, const struct allocation *its)
{
	struct rt_gone *gone = &thread->gone[its->site * GOLDEN >> (64 - RT_GONE_BITS)];

	if (get(&gone->n) && get(&gone->site) != its->site)
		tell_gone(thread, gone);
	if (!get(&gone->n) || get(&gone->bytes) < its->bytes)
		set(&gone->bytes, its->bytes);
	set(&gone->site, its->site);
	set(&gone->n, get(&gone->n) + 1);
	if (get(&gone->n) == GONE_MOST)
		tell_gone(thread, gone);
}

bool rt_untold_drop(struct rt_thread *thread, uintptr_t memory)
{
	struct slot *slot = slot_of(memory);
	struct allocation its;

	if (address_of(slot) != memory || !take(slot, memory))
		return false;
	its = slot->its;
	put(slot, 0);
	count_gone(thread, &its);
	return true;
}

static void say(struct rt_thread *thread, struct slot *slot, uintptr_t memory)
{
	uint64_t sequence = rt_next_sequence();
	struct allocation its;

	if (!take(slot, memory)) {
		tell_nothing(thread, sequence);
		return;
	}
	its = slot->its;
	put(slot, 0);
	tell(thread, memory, &its, sequence);
}

void rt_untold_say(struct rt_thread *thread, uintptr_t memory)
{
	struct slot *slot = slot_of(memory);

	if (address_of(slot) == memory)
		say(thread, slot, memory);
}

static void say_around(uintptr_t address, bool all)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		struct slot *slot = &slots[i];
		uintptr_t low = address_of(slot);
		size_t bytes = __atomic_load_n(&slot->its.bytes, __ATOMIC_RELAXED);

		if (low && low != BUSY && (all || address - low < bytes + !bytes))
			say(NULL, slot, low);
	}
}

void rt_untold_met(uintptr_t address)
{
	say_around(address, false);
}

void rt_untold_say_all(void)
{
	say_around(0, true);
}

void rt_untold_say_gone(struct rt_thread *thread)
{
	for (unsigned i = 0; i < 1 << RT_GONE_BITS; i++)
		if (get(&thread->gone[i].n))
			tell_gone(NULL, &thread->gone[i]);
}

void rt_untold_forget(void)
{
	memset(slots, 0, sizeof(slots));
	for (struct rt_thread *thread = rt_threads(); thread; thread = thread->next)
		memset(thread->gone, 0, sizeof(thread->gone));
}
