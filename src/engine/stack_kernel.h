/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's inner loop, a template: stack_scalar.c, stack_avx2.c and stack_avx512.c define
 * KERNEL_NAME and include it, each compiled for its instruction set. Only the primitives of
 * stack_vector.h differ between them.
 *
 * Touches pass through three stages, some touches apart: hash and prefetch the bucket; find the
 * entry and prefetch the bits of its slot; count. Only the last changes anything, so an entry found
 * early is where it was, an empty one found may still be, and otherwise the search is repeated.
 *
 * What bounds the speed (bench/engine_bench.c, 2e7 touches, a Zen 4 virtual machine, AVX-512):
 *	program traces  10 ns a touch, about 90 instructions; a fifth of gzip's touches leave the
 *	                top, and whether they do is hard to predict. From touch to touch hangs only
 *	                the update of the ranks, some 7 cycles
 *	uniform 1e4     18 ns: instructions again, everything being in the second-level cache
 *	1e6 blocks      31-35 ns: the map no longer fits in any cache; a third of the time goes
 *	                into prefetches that wait for one of the core's miss buffers to get free
 *	uniform 1e7     60 ns: the same from memory, and a fifth for the system's clearing of pages
 *	                and for growth
 * Tried without gain: homes that keep neighbouring blocks together (overflow costs more than it
 * saves), prefetching to the second level only, other distances between the stages. */
#include "engine/stack_vector.h"

/* How many touches ahead of counting the first and the second stage run. */
#define AHEAD_HASH 32
#define AHEAD_FIND 12
#define INLINE     static inline __attribute__((always_inline))
#define RING       64 /* a power of two, at least AHEAD_HASH + 1 */

/* The engine's state while the loop runs, so that it can live in registers. */
struct kernel {
	struct kernel_ranks ranks;
	uint32_t **place;
	struct loci_stack_bucket *bucket;
	uint64_t n_homes;
	struct loci_stack_counts *counts;
	struct loci_stack_slots *slots;
	struct loci_stack_line *line;
	uint16_t *near;
	uint32_t open, next, open_live;
	unsigned n_far;
	uint64_t n_entries;
	struct loci_stack_sample *sample;
	uint64_t *use, *deep_use; /* of places and of slots */
	uint64_t hash[RING];
	union {
		struct loci_stack_bucket *home; /* after the first stage */
		uint32_t *slot;                 /* after the second */
	} found[RING];
};

static const uint64_t kernel_words_before[8] = { 0, 0, 0x1, 0x201, 0x40201, 0x8040201, 0x1008040201,
	0x201008040201 };

/* The slot of the entry of a hash, or of the empty one where it belongs, from a bucket on. Entries
 * fill in order, and empty ones have the key 0; a block may have the hash 0 too, but is then the
 * first such. */
INLINE uint32_t *kernel_find(struct loci_stack_bucket *b, uint64_t hash)
{
	for (;; b++) {
		unsigned match = kernel_match(b, hash);

		if (__builtin_expect(match != 0, 1))
			return &b->slot[__builtin_ctz(match)];
		if (!b->slot[2])
			return loci_stack_first_empty(b);
	}
}

/* The set bits after a slot, which is cleared. */
INLINE uint64_t kernel_take_slot(struct kernel *k, uint32_t slot)
{
	uint32_t line = slot >> 9, group = line / LOCI_STACK_NEAR;
	unsigned word = slot >> 6 & 7;
	uint64_t *l = k->line[line].word, counts = l[0], bits = l[word];
	uint64_t after =
		kernel_popcount(bits >> 1 >> (slot & 63)) + (counts >> (9 * (word - 1)) & 511);

	l[0] = counts - kernel_words_before[word];
	l[word] = bits & ~(1ull << (slot & 63));
	if (line == k->open) {
		k->open_live--;
		return after;
	}
	after += k->open_live + k->near[line];
	kernel_decrement_near(k->near, line);
	for (unsigned i = 0; i < k->n_far; i++) {
		uint32_t *far = k->slots->far[i];

		after += far[group];
		kernel_decrement_far(far, group);
		group /= LOCI_STACK_FAR;
	}
	return after;
}

static __attribute__((noinline)) void kernel_close_line(
	struct loci_stack_slots *slots, uint32_t open_live)
{
	slots->open_live = open_live;
	loci_stack_slots_close_line(slots);
}

/* The next slot, for the block that leaves the top. */
INLINE uint32_t kernel_new_slot(struct kernel *k)
{
	uint32_t slot = k->next++;
	uint64_t *l = k->line[k->open].word;

	l[0] += kernel_words_before[slot >> 6 & 7];
	l[slot >> 6 & 7] |= 1ull << (slot & 63);
	k->open_live++;
	if (__builtin_expect(!(k->next & 511), 0)) {
		kernel_close_line(k->slots, k->open_live);
		k->open = k->slots->open;
		k->next = k->slots->next;
		k->open_live = 0;
	}
	return slot;
}

/* What callers give, and so what a body of the loop is compiled for. */
struct kernel_mode {
	bool sampling, uses;
};

/* The block of an entry enters the top in the place of the deepest there, which gets a slot. */
INLINE unsigned kernel_enter(struct kernel *k, uint32_t *entry, struct kernel_mode mode)
{
	unsigned place = kernel_push(&k->ranks);
	uint32_t *leaving = k->place[place];

	if (mode.sampling && loci_stack_in_front(k->sample, leaving))
		*leaving = LOCI_STACK_DEAD;
	else if (__builtin_expect(leaving != NULL, 1)) {
		uint32_t slot = kernel_new_slot(k);

		*leaving = slot + LOCI_STACK_DEEP;
		if (mode.uses)
			k->deep_use[loci_stack_use_index(slot)] = k->use[place];
	}
	k->place[place] = entry;
	*entry = place + 1;
	return place;
}

/* use: the word to leave, and then the one found. */
INLINE uint64_t kernel_count(struct kernel *k, uint32_t *entry, uint64_t hash, unsigned is_write,
	uint64_t now, uint64_t *use, struct kernel_mode mode)
{
	uint64_t last_use = 0;
	unsigned place;
	struct loci_stack_counts *counts = k->counts;
	uint64_t *time = counts->time, distance, stamp;
	uint32_t slot, bin, bin_time, dirty;

	if (__builtin_expect(*loci_stack_key(entry) != hash && *entry, 0))
		entry = kernel_find(loci_stack_bucket_of(entry), hash);
	slot = *entry;
	stamp = *loci_stack_stamp(entry);
	bin_time = loci_stack_bin(now - (stamp >> LOCI_STACK_BIN_BITS));
	dirty = stamp & LOCI_STACK_BIN_COLD;
	if (slot - 1 < LOCI_STACK_TOP) {
		place = slot - 1;
		distance = kernel_raise(&k->ranks, place);
		bin = (uint32_t)distance;
		if (mode.uses)
			last_use = k->use[place];
	} else if (mode.sampling && loci_stack_in_front(k->sample, entry)) {
		place = kernel_enter(k, entry, mode);
		*loci_stack_key(entry) = hash;
		distance = LOCI_UNSAMPLED;
		dirty = bin = bin_time = LOCI_STACK_BIN_UNKNOWN;
	} else if (__builtin_expect(slot != 0, 1)) {
		distance = kernel_take_slot(k, slot - LOCI_STACK_DEEP);
		if (mode.uses)
			last_use = k->deep_use[loci_stack_use_index(slot - LOCI_STACK_DEEP)];
		if (mode.sampling)
			distance <<= k->sample->shift;
		distance += LOCI_STACK_TOP; /* all places are taken, or nothing would be deep */
		bin = loci_stack_bin(distance);
		place = kernel_enter(k, entry, mode);
	} else {
		k->n_entries++;
		place = kernel_enter(k, entry, mode);
		*loci_stack_key(entry) = hash;
		distance = LOCI_INFINITE;
		dirty = bin = bin_time = LOCI_STACK_BIN_COLD;
	}
	if (mode.sampling && bin >= LOCI_STACK_TOP) {
		time = k->sample->time;
		if (bin != LOCI_STACK_BIN_UNKNOWN)
			loci_stack_sample_count(k->sample, hash, distance);
	}
	counts->stack[bin]++;
	time[bin_time]++;
	dirty = dirty > bin ? dirty : bin;
	counts->dirty[dirty] += is_write;
	dirty &= is_write - 1;
	*loci_stack_stamp(entry) = now << LOCI_STACK_BIN_BITS | dirty;
	if (mode.uses) {
		k->use[place] = *use;
		*use = last_use;
	}
	return distance;
}

INLINE void kernel_first_stage(struct kernel *k, size_t i, uint64_t block, struct kernel_mode mode)
{
	uint64_t hash = loci_stack_hash(block);
	struct loci_stack_bucket *home = k->bucket + loci_stack_home(hash, k->n_homes);

	if (mode.sampling && !loci_stack_sampled(hash, k->sample->shift))
		home = k->sample->front + loci_stack_home(hash, LOCI_STACK_FRONT_HOMES);
	k->hash[i % RING] = hash;
	k->found[i % RING].home = home;
	__builtin_prefetch(home, 1);
}

/* An entry that is not in its home may be far away: its bucket is only asked for. */
INLINE void kernel_second_stage(struct kernel *k, size_t i, struct kernel_mode mode)
{
	struct loci_stack_bucket *home = k->found[i % RING].home;
	unsigned match = kernel_match(home, k->hash[i % RING]);
	uint32_t *entry = &home->slot[__builtin_ctz(match | 4)], slot;

	if (__builtin_expect(!match, 0)) {
		entry = loci_stack_first_empty(home);
		if (*entry) {
			__builtin_prefetch(home + 1, 1);
			__builtin_prefetch(home + 2, 1);
		}
	}
	k->found[i % RING].slot = entry;
	slot = *entry;
	slot = slot >= LOCI_STACK_DEEP && slot != LOCI_STACK_DEAD ? slot - LOCI_STACK_DEEP : 64;
	if (mode.uses)
		__builtin_prefetch(&k->deep_use[loci_stack_use_index(slot)]);
	__builtin_prefetch(&k->line[slot >> 9], 1);
	__builtin_prefetch(&k->near[slot >> 9], 1);
}

INLINE void kernel_run(
	struct loci_stack *stack, const struct loci_stack_touches *t, struct kernel_mode mode)
{
	struct loci_stack_slots *slots = &stack->slots;
	uint64_t now = stack->now;
	size_t n = t->n;
	struct kernel k = {
		.place = stack->place,
		.bucket = stack->map.bucket,
		.n_homes = stack->map.n_homes,
		.counts = stack->counts,
		.slots = slots,
		.line = slots->line,
		.near = slots->near,
		.open = slots->open,
		.next = slots->next,
		.open_live = slots->open_live,
		.n_far = slots->n_far,
		.n_entries = stack->map.n_entries,
		.sample = stack->sample,
		.use = stack->use,
		.deep_use = slots->use,
	};

	kernel_load_ranks(&k.ranks, stack->rank);
	for (size_t i = 0; i < n && i < AHEAD_HASH; i++)
		kernel_first_stage(&k, i, t->block[i], mode);
	for (size_t i = 0; i < n && i < AHEAD_FIND; i++)
		kernel_second_stage(&k, i, mode);
	for (size_t i = 0; i < n; i++) {
		uint64_t distance, use = mode.uses ? t->use[i] : 0;

		if (i + AHEAD_HASH < n)
			kernel_first_stage(&k, i + AHEAD_HASH, t->block[i + AHEAD_HASH], mode);
		if (i + AHEAD_FIND < n)
			kernel_second_stage(&k, i + AHEAD_FIND, mode);
		distance = kernel_count(&k, k.found[i % RING].slot, k.hash[i % RING],
			t->is_write ? t->is_write[i] : 0, now + i, &use, mode);
		if (t->ret_distance)
			t->ret_distance[i] = distance;
		if (mode.uses)
			t->ret_last_use[i] = use;
	}
	kernel_store_ranks(&k.ranks, stack->rank);
	slots->open = k.open;
	slots->next = k.next;
	slots->open_live = k.open_live;
	stack->map.n_entries = k.n_entries;
	stack->now = now + n;
}

/* One body for each combination of what callers give, so that the loop does not ask. */
void KERNEL_NAME(struct loci_stack *stack, const struct loci_stack_touches *t)
{
	struct loci_stack_touches touches = { t->block, t->is_write, NULL, t->n, NULL, NULL };

	if (stack->sample && t->use)
		kernel_run(stack, t, (struct kernel_mode){ .sampling = true, .uses = true });
	else if (stack->sample)
		kernel_run(stack, t, (struct kernel_mode){ .sampling = true });
	else if (t->use)
		kernel_run(stack, t, (struct kernel_mode){ .uses = true });
	else if (t->ret_distance)
		kernel_run(stack, t, (struct kernel_mode){ 0 });
	else if (t->is_write)
		kernel_run(stack, &touches, (struct kernel_mode){ 0 });
	else {
		touches.is_write = NULL;
		kernel_run(stack, &touches, (struct kernel_mode){ 0 });
	}
}
