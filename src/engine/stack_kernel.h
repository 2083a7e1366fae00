/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's inner loop, a template: stack_scalar.c, stack_avx2.c and stack_avx512.c define
 * KERNEL_NAME and include it, each compiled for its instruction set. Only the primitives of
 * stack_vector.h differ between them.
 *
 * Touches first become runs of touches of one block, unless the caller has found those, and these
 * hashes, by vectors where there are any (stack_runs.h). Runs pass through stages, some runs apart:
 * ask for the home; where the map is large, ask for the bucket of a block that is not in its home;
 * find the entry and ask for the bits of its slot (stack_find.h); count. Only the last changes
 * anything, so an entry found early is where it was, an empty one found may still be, and otherwise
 * the search is repeated. A block that a hint finds in the top needs no entry.
 *
 * What bounds the speed (AVX-512, a Zen 4 virtual machine) seems to be instructions: runs of gzip
 * take some 80 each where the block is in the top, as more than nine in ten are. From run to run
 * hangs only the update of the ranks, some 7 cycles, as long as they stay in a register. Where 1e6
 * blocks are touched at random the map no longer fits in any cache, and the prefetches wait for one
 * of the core's miss buffers to get free; words of uses are one line more to read for each deep
 * reuse. There, a block that is not in its home cost some 40 ns more than others as long as buckets
 * were searched one after the other: branches went wrong, and nothing it needs was asked for.
 *
 * Tried without gain: homes that keep neighbouring blocks together (overflow costs more than it
 * saves), prefetching to the second level only, other distances between the stages, a whole batch
 * of runs at a time through each stage (prefetches come in bursts), counting the bins of a chunk
 * after it instead of run by run. */
#include "engine/stack_find.h"

/* The block of an entry enters the top in the place of the deepest there, which gets a slot. */
INLINE unsigned kernel_enter(struct loci_stack *stack, struct kernel_ranks *ranks, uint32_t *entry,
	uint64_t hash, struct kernel_mode mode)
{
	unsigned place = kernel_push(ranks, mode.recent ? LOCI_STACK_RANKED : LOCI_STACK_TOP);
	uint32_t *leaving = stack->place[place];

	if (mode.sampling && loci_stack_in_front(stack->sample, leaving))
		*leaving = LOCI_STACK_DEAD;
	else if (__builtin_expect(leaving != NULL, 1)) {
		uint32_t slot = kernel_new_slot(&stack->slots, mode.finger);

		*leaving = slot + LOCI_STACK_DEEP;
		*loci_stack_stamp(leaving) = stack->stamp[place];
		if (mode.uses)
			stack->slots.use[loci_stack_use_index(slot)] = stack->use[place];
	}
	stack->place[place] = entry;
	if (!mode.no_hints) {
		stack->key[place] = hash;
		stack->hint[hash >> LOCI_STACK_HINT_SHIFT] = (uint8_t)place;
	}
	*entry = place + 1;
	return place;
}

INLINE uint64_t kernel_take(struct loci_stack_slots *slots, uint32_t slot, struct kernel_mode mode)
{
	return mode.finger ? kernel_take_by_finger(slots, slot) : kernel_take_slot(slots, slot);
}

/* A block from below the top. */
struct kernel_deep {
	uint32_t *entry;
	uint64_t hash, stamp;
	uint64_t distance; /* found */
	uint32_t bin;
	unsigned place;
	uint64_t last_use;
};

/* It is not below the top any more. */
INLINE void kernel_take_deep(
	struct loci_stack *stack, struct kernel_deep *deep, struct kernel_mode mode)
{
	uint32_t *entry = deep->entry, slot = *entry;

	if (mode.sampling && loci_stack_in_front(stack->sample, entry)) {
		*loci_stack_key(entry) = deep->hash;
		deep->distance = LOCI_UNSAMPLED;
		deep->bin = LOCI_STACK_BIN_UNKNOWN;
	} else if (__builtin_expect(slot != 0, 1)) {
		uint64_t distance = kernel_take(&stack->slots, slot - LOCI_STACK_DEEP, mode);

		if (mode.uses)
			deep->last_use =
				stack->slots.use[loci_stack_use_index(slot - LOCI_STACK_DEEP)];
		if (mode.sampling)
			distance <<= stack->sample->shift;
		/* all places are taken, or nothing would be deep */
		deep->distance = distance + LOCI_STACK_TOP;
		deep->bin = loci_stack_bin(deep->distance);
	} else {
		kernel_add(stack, entry, deep->hash, mode);
		deep->distance = LOCI_INFINITE;
		deep->bin = LOCI_STACK_BIN_COLD;
	}
}

INLINE void kernel_touch_deep(struct loci_stack *stack, struct kernel_ranks *ranks,
	struct kernel_deep *deep, struct kernel_mode mode)
{
	kernel_take_deep(stack, deep, mode);
	deep->place = kernel_enter(stack, ranks, deep->entry, deep->hash, mode);
}

struct kernel_run {
	size_t first, last;  /* elements of the caller's arrays */
	uint64_t begin, end; /* times of the first and the last touch */
	uint32_t is_write;
};

/* now: of the chunk's first touch; of runs that the caller gave, of this one's. */
INLINE struct kernel_run kernel_run(const struct loci_stack_chunk *runs, size_t i,
	const struct loci_stack_touches *t, uint64_t now, struct kernel_mode mode)
{
	uint32_t first = runs->start[i], last = runs->start[i + 1] - 1;

	if (mode.runs)
		return (struct kernel_run){ i, i, now, now + t->more[i], t->is_write[i] };
	return (struct kernel_run){ first, last, now + first, now + last, runs->is_write[i] };
}

/* What is known of a touch when its block has been found and is the most recent. */
struct kernel_touch {
	uint64_t distance, stamp, last_use;
	uint32_t bin;
	unsigned place;
};

INLINE struct kernel_touch kernel_touch_top(struct loci_stack *stack, struct kernel_ranks *ranks,
	unsigned place, struct kernel_mode mode)
{
	struct kernel_touch touch = { .place = place, .stamp = stack->stamp[place] };

	touch.distance = touch.bin = kernel_raise(ranks, place);
	if (mode.uses)
		touch.last_use = stack->use[place];
	return touch;
}

INLINE struct kernel_touch kernel_touch_found(struct loci_stack *stack, struct kernel_ranks *ranks,
	uintptr_t found, uint64_t hash, struct kernel_mode mode)
{
	struct kernel_deep deep = { .entry = kernel_entry(stack, found, hash, mode), .hash = hash };
	uint32_t slot = *deep.entry;

	if (slot - 1 < LOCI_STACK_TOP) {
		if (!mode.no_hints)
			stack->hint[hash >> LOCI_STACK_HINT_SHIFT] = (uint8_t)(slot - 1);
		return kernel_touch_top(stack, ranks, slot - 1, mode);
	}
	deep.stamp = *loci_stack_stamp(deep.entry);
	kernel_touch_deep(stack, ranks, &deep, mode);
	return (struct kernel_touch){ deep.distance, deep.stamp, deep.last_use, deep.bin,
		deep.place };
}

/* A function by itself, so that the loop keeps its registers. */
static __attribute__((noinline)) struct kernel_touch kernel_touch_apart(struct loci_stack *stack,
	struct kernel_ranks *ranks, uintptr_t found, uint64_t hash, struct kernel_mode mode)
{
	return kernel_touch_found(stack, ranks, found, hash, mode);
}

/* Counts a touch that was found, and leaves what is dirty now. */
INLINE uint32_t kernel_count(struct loci_stack *stack, const struct kernel_touch *touch,
	uint64_t hash, uint64_t now, uint32_t is_write, struct kernel_mode mode)
{
	struct loci_stack_counts *counts = stack->counts;
	uint64_t *time = counts->time;
	uint32_t bin_time = loci_stack_bin(now - (touch->stamp >> LOCI_STACK_BIN_BITS));
	uint32_t dirty = touch->stamp & LOCI_STACK_BIN_COLD;

	if (__builtin_expect(touch->bin >= LOCI_STACK_BIN_UNKNOWN, 0))
		dirty = bin_time = touch->bin;
	if (mode.sampling && touch->bin >= LOCI_STACK_TOP) {
		time = stack->sample->time;
		if (touch->bin != LOCI_STACK_BIN_UNKNOWN)
			loci_stack_sample_count(stack->sample, hash, touch->distance);
	}
	counts->stack[touch->bin]++;
	time[bin_time]++;
	dirty = dirty > touch->bin ? dirty : touch->bin;
	counts->dirty[dirty] += is_write;
	return dirty & (is_write - 1);
}

/* A run, as one touch: the rest of it is counted already (stack_runs.h). */
INLINE void kernel_third_stage(struct loci_stack *stack, const struct kernel_ring *ring,
	struct kernel_ranks *ranks, size_t i, const struct loci_stack_touches *t,
	struct kernel_run run, struct kernel_mode mode)
{
	uint64_t hash = stack->runs.hash[i];
	unsigned hint = stack->hint[hash >> LOCI_STACK_HINT_SHIFT];
	struct kernel_touch touch;
	uint32_t dirty;

	if (mode.no_hints)
		touch = kernel_touch_found(stack, ranks, ring->found[i % RING], hash, mode);
	else if (__builtin_expect(stack->key[hint] == hash, 1))
		touch = kernel_touch_top(stack, ranks, hint, mode);
	else {
		struct kernel_ranks copy = *ranks; /* else they would always be in memory */

		touch = kernel_touch_apart(stack, &copy, ring->found[i % RING], hash, mode);
		*ranks = copy;
	}
	dirty = kernel_count(stack, &touch, hash, run.begin, run.is_write, mode);
	stack->stamp[touch.place] = run.end << LOCI_STACK_BIN_BITS | dirty;
	if (t->ret_distance)
		t->ret_distance[run.first] = touch.distance;
	if (mode.uses) {
		stack->use[touch.place] = t->use[run.last];
		t->ret_last_use[run.first] = touch.last_use;
	}
}

#include "engine/stack_recent.h"

/* Between chunks the stamps of the top stand in the map, where others look for them. */
INLINE void kernel_load_stamps(struct loci_stack *stack)
{
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		if (stack->place[i])
			stack->stamp[i] = *loci_stack_stamp(stack->place[i]);
}

INLINE void kernel_store_stamps(struct loci_stack *stack)
{
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		if (stack->place[i])
			*loci_stack_stamp(stack->place[i]) = stack->stamp[i];
}

/* What a chunk that needs no hints has left out, for the next that does. */
INLINE void kernel_store_hints(struct loci_stack *stack)
{
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++) {
		if (!stack->place[i])
			continue;
		stack->key[i] = *loci_stack_key(stack->place[i]);
		stack->hint[stack->key[i] >> LOCI_STACK_HINT_SHIFT] = (uint8_t)i;
	}
}

/* After its first touch a run holds nothing but distances of 0 and times of 1, and its writes have
 * the dirty level 0. */
INLINE void kernel_count_rest(struct loci_stack *stack, uint64_t touches, uint64_t writes)
{
	stack->counts->stack[0] += touches;
	stack->counts->time[1] += touches;
	stack->counts->dirty[0] += writes;
	if (stack->sample)
		stack->sample->writes += writes;
}

INLINE void kernel_loop(
	struct loci_stack *stack, const struct loci_stack_touches *t, struct kernel_mode mode)
{
	struct kernel_ranks ranks;
	struct kernel_ring ring;
	uint64_t now = stack->now, writes = 0;
	size_t n = t->n;

	if (mode.recent)
		n = kernel_hash_recent(&stack->runs, t);
	else if (mode.runs)
		writes = kernel_hash_runs(&stack->runs, t);
	else
		n = kernel_collapse(&stack->runs, t, stack->counts);
	if (t->ret_distance && !mode.runs && !mode.recent)
		memset(t->ret_distance, 0, t->n * sizeof(*t->ret_distance));
	if (mode.uses && !mode.runs && !mode.recent)
		memcpy(t->ret_last_use + 1, t->use, (t->n - 1) * sizeof(*t->use));
	kernel_load_ranks(&ranks, stack->rank);
	kernel_load_stamps(stack);
	for (size_t i = 0; i < AHEAD_HOME; i += BATCH)
		kernel_first_stage(stack, &ring, i, mode);
	for (size_t i = 0; i < AHEAD_HOME; i++)
		__builtin_prefetch((void *)ring.found[i], 1);
	for (size_t i = 0; i < AHEAD_AWAY; i += BATCH)
		kernel_away_stage(stack, &ring, i);
	for (size_t i = 0; i < AHEAD_FIND; i++)
		kernel_second_stage(stack, &ring, i, mode);
	if (mode.recent)
		kernel_recent_stages(stack, &ring, &ranks, t, mode);
	for (size_t from = 0; !mode.recent && from < n; from += BATCH) {
		size_t to = n - from < BATCH ? n : from + BATCH;

		kernel_first_stage(stack, &ring, from + AHEAD_HOME, mode);
		kernel_away_stage(stack, &ring, from + AHEAD_AWAY);
		for (size_t i = from; i < to; i++) {
			struct kernel_run run;

			__builtin_prefetch((void *)ring.found[(i + AHEAD_HOME) % RING], 1);
			kernel_second_stage(stack, &ring, i + AHEAD_FIND, mode);
			run = kernel_run(&stack->runs, i, t, now, mode);
			kernel_third_stage(stack, &ring, &ranks, i, t, run, mode);
			if (mode.runs)
				now = run.end + 1;
		}
	}
	if (mode.finger)
		kernel_rest_finger(&stack->slots);
	else if (stack->slots.finger.rest)
		stack->slots.finger.rest--;
	kernel_store_ranks(&ranks, stack->rank);
	kernel_store_stamps(stack);
	if (mode.no_hints && !mode.recent)
		kernel_store_hints(stack);
	if (mode.runs)
		kernel_count_rest(stack, now - stack->now - n, writes);
	stack->now = mode.recent ? t->recent.time[t->n - 1] + 1 : mode.runs ? now : now + t->n;
}

/* One body for each combination of what callers give, so that the loop does not ask. */
static void kernel_runs(struct loci_stack *stack, const struct loci_stack_touches *t)
{
	if (stack->sample && t->use)
		kernel_loop(stack, t,
			(struct kernel_mode){ .sampling = true, .uses = true, .runs = true });
	else if (stack->sample)
		kernel_loop(stack, t, (struct kernel_mode){ .sampling = true, .runs = true });
	else if (t->use)
		kernel_loop(stack, t, (struct kernel_mode){ .uses = true, .runs = true });
	else
		kernel_loop(stack, t, (struct kernel_mode){ .runs = true });
}

static void kernel_recents(struct loci_stack *stack, const struct loci_stack_touches *t)
{
	bool finger = !stack->slots.finger.rest;

	if (stack->sample && t->use)
		kernel_loop(stack, t,
			(struct kernel_mode){ .sampling = true, .uses = true, .recent = true });
	else if (stack->sample)
		kernel_loop(stack, t, (struct kernel_mode){ .sampling = true, .recent = true });
	else if (t->use && finger)
		kernel_loop(stack, t,
			(struct kernel_mode){
				.uses = true, .recent = true, .no_hints = true, .finger = true });
	else if (t->use)
		kernel_loop(stack, t,
			(struct kernel_mode){ .uses = true, .recent = true, .no_hints = true });
	else if (finger)
		kernel_loop(stack, t,
			(struct kernel_mode){ .recent = true, .no_hints = true, .finger = true });
	else
		kernel_loop(stack, t, (struct kernel_mode){ .recent = true, .no_hints = true });
}

/* Where is_write may be NULL. */
static void kernel_counts(struct loci_stack *stack, const struct loci_stack_touches *t)
{
	struct loci_stack_touches touches = {
		.block = t->block, .is_write = t->is_write, .n = t->n
	};
	struct loci_stack_touches reads = { .block = t->block, .n = t->n };

	if (t->is_write && !stack->slots.finger.rest)
		kernel_loop(
			stack, &touches, (struct kernel_mode){ .no_hints = true, .finger = true });
	else if (t->is_write)
		kernel_loop(stack, &touches, (struct kernel_mode){ .no_hints = true });
	else if (!stack->slots.finger.rest)
		kernel_loop(
			stack, &reads, (struct kernel_mode){ .no_hints = true, .finger = true });
	else
		kernel_loop(stack, &reads, (struct kernel_mode){ .no_hints = true });
}

void KERNEL_NAME(struct loci_stack *stack, const struct loci_stack_touches *t)
{
	if (t->recent.place)
		kernel_recents(stack, t);
	else if (t->more)
		kernel_runs(stack, t);
	else if (stack->sample && t->use)
		kernel_loop(stack, t, (struct kernel_mode){ .sampling = true, .uses = true });
	else if (stack->sample)
		kernel_loop(stack, t, (struct kernel_mode){ .sampling = true });
	else if (t->use)
		kernel_loop(stack, t, (struct kernel_mode){ .uses = true });
	else if (t->ret_distance)
		kernel_loop(stack, t, (struct kernel_mode){ 0 });
	else
		kernel_counts(stack, t);
}
