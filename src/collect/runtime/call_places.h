/* SPDX-License-Identifier: BSD-2-Clause */
/* Places in code of another compiler that call the runtime at every access: gcc with
 * -fsanitize=thread. Nothing but the address it returns to tells a place; a block of the stream is
 * one such call, and is defined when it first comes while words are wanted. */
#ifndef LOCI_COLLECT_RUNTIME_CALL_PLACES_H
#define LOCI_COLLECT_RUNTIME_CALL_PLACES_H

#include "collect/runtime/runtime.h"
#include "stream/stream.h"

#define RT_SHAPE_REFS 3

/* What a call means, in the stream's words. */
struct rt_shape {
	uint32_t flags;  /* enum loci_block_flag, without PLAIN */
	uint32_t n_refs; /* .. of which so many are counted */
	uint32_t n_counted;
	uint64_t ref[RT_SHAPE_REFS]; /* descriptors */
};

struct rt_place {
	uintptr_t back; /* the address that the call returns to; 0: free */
	uint64_t marker;
};

/* By the address: calls are five bytes long at the least, so that neighbours have places of their
 * own. Grows into another table; a reader may still be in the one before, which stays. */
struct rt_places {
	uintptr_t mask; /* of places; one more are there */
	struct rt_place place[];
};
extern struct rt_places *rt_places __attribute__((visibility("hidden")));

/* The marker of a block; 0: not known. */
static inline uint64_t rt_place_find(uintptr_t back)
{
	const struct rt_places *places = __atomic_load_n(&rt_places, __ATOMIC_ACQUIRE);

	for (uintptr_t i = back >> 2;; i++) {
		const struct rt_place *place = &places->place[i & places->mask];
		uintptr_t found = __atomic_load_n(&place->back, __ATOMIC_ACQUIRE);

		if (__builtin_expect(found == back, 1))
			return place->marker;
		if (!found)
			return 0;
	}
}

/* Defines it if need be. 0: it cannot be, and this process is off. */
uint64_t rt_place_define(uintptr_t back, const struct rt_shape *shape);

/* Functions whose entries are defined: how many there have been, and whether this is one. */
size_t rt_places_functions(void);
bool rt_places_have_function(uintptr_t code);

/* These are called with the lock held. */
void rt_places_tell_again(void);
void rt_places_forget(uintptr_t start, size_t bytes);

/* The first instruction of the function around an address, as its unwinding information has it; 0:
 * it has none. */
uintptr_t rt_function_start(uintptr_t address);

/* Words of one call. The slow ones: they come to the runtime first. */
void rt_plain_refer(
	uintptr_t back, const struct rt_shape *shape, const uint64_t *words, unsigned n);

#endif
