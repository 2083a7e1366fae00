/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inner loop of the coherent stacks, a template: coherent_scalar.c, coherent_avx2.c and
 * coherent_avx512.c define KERNEL_NAME and include it, each compiled for its instruction set.
 *
 * Most touches are of a block that is among the member's places and that nobody else has touched
 * since: a few vector instructions on the ranks. All others look into the directory.
 *
 * Of four threads that share little (coherent_bench -o, callgrind, AVX2) a touch takes 180
 * instructions, where four stack engines take 140. What is slow is a block that several read from
 * far away: its record and those of its readers are a line of memory each. Asking for them ahead
 * was tried without gain. */
#include "engine/coherent_state.h"
#include "engine/stack_line.h"
#include "engine/stack_runs.h"

#define AHEAD 16 /* touches whose home is asked for */

/* Which places have a smaller rank, a bit each. */
INLINE uint64_t kernel_above(const uint8_t *rank, unsigned than)
{
	uint64_t above = 0;

#if defined(__AVX2__)
	for (unsigned i = 0; i < LOCI_STACK_TOP; i += 32)
		above |= (uint64_t)(uint32_t)_mm256_movemask_epi8(
				 _mm256_cmpgt_epi8(_mm256_set1_epi8((char)than),
					 _mm256_load_si256((const __m256i *)(rank + i))))
			<< i;
#else
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		above |= (uint64_t)(rank[i] < than) << i;
#endif
	return above;
}

/* The place of the highest of some holes. */
INLINE unsigned kernel_top_hole(const struct loci_coherent_member *member, uint64_t holes)
{
	unsigned best = (unsigned)__builtin_ctzll(holes);

	for (uint64_t left = holes & (holes - 1); left; left &= left - 1) {
		unsigned place = (unsigned)__builtin_ctzll(left);

		if (member->rank[place] < member->rank[best])
			best = place;
	}
	return best;
}

/* All above a rank sink by one. */
INLINE void kernel_sink_above(struct loci_coherent_member *member, unsigned rank)
{
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		member->rank[i] = (uint8_t)(member->rank[i] + (member->rank[i] < rank));
}

/* A block in a place becomes the most recent, and fills the highest hole above it, if any. Returns
 * the rank it had. */
static __attribute__((noinline)) unsigned kernel_raise_over_holes(
	struct loci_coherent_member *member, struct kernel_ranks *ranks, unsigned place)
{
	unsigned hole, had, hole_rank;
	uint64_t above;

	kernel_store_ranks(ranks, member->rank);
	had = member->rank[place];
	above = member->holes & kernel_above(member->rank, had);
	if (!above)
		return kernel_raise(ranks, place);
	hole = kernel_top_hole(member, above);
	hole_rank = member->rank[hole];
	kernel_sink_above(member, hole_rank);
	member->rank[place] = 0;
	member->rank[hole] = (uint8_t)had;
	kernel_load_ranks(ranks, member->rank);
	return had;
}

INLINE unsigned kernel_raise_place(
	struct loci_coherent_member *member, struct kernel_ranks *ranks, unsigned place)
{
	if (__builtin_expect(member->holes != 0, 0))
		return kernel_raise_over_holes(member, ranks, place);
	return kernel_raise(ranks, place);
}

/* The highest hole among the places is filled by the block that enters: nothing leaves. */
INLINE unsigned kernel_fill_place(struct loci_coherent_member *member, struct kernel_ranks *ranks)
{
	unsigned place;

	kernel_store_ranks(ranks, member->rank);
	place = kernel_top_hole(member, member->holes);
	kernel_sink_above(member, member->rank[place]);
	member->rank[place] = 0;
	member->holes &= ~(1ull << place);
	kernel_load_ranks(ranks, member->rank);
	return place;
}

/* The block of a slot goes to the top: how many are above it. Whether the place that it gets there
 * was a hole. */
INLINE uint64_t kernel_leave_slot(
	struct loci_coherent_member *member, uint32_t slot, bool fills_place)
{
	uint32_t highest = member->deep.highest;
	uint64_t above;

	if (!fills_place && highest < slot) {
		member->n_deep--;
		return LOCI_STACK_TOP + kernel_take_slot(&member->slots, slot);
	}
	above = LOCI_STACK_TOP + loci_stack_slots_after(&member->slots, slot);
	if (!fills_place) {
		kernel_take_slot(&member->slots, highest);
		loci_coherent_fill_highest(&member->deep);
		member->n_deep--;
	}
	loci_coherent_add_hole(&member->deep, slot);
	return above;
}

/* The deepest place is free for another block. */
INLINE unsigned kernel_push_out(struct loci_coherent *coherent, struct loci_coherent_member *member,
	struct kernel_ranks *ranks)
{
	unsigned place = kernel_push(ranks, LOCI_STACK_TOP);
	uint32_t *leaving = member->entry[place];

	if (__builtin_expect(leaving != NULL, 1)) {
		loci_coherent_put(
			coherent, leaving, member->number, kernel_new_slot(&member->slots, false));
		member->n_deep++;
	}
	return place;
}

/* A block that is in no place enters: returns its place. */
INLINE unsigned kernel_enter(struct loci_coherent *coherent, struct loci_coherent_member *member,
	struct kernel_ranks *ranks, uint32_t at, uint64_t *ret_distance)
{
	bool fills_place = member->holes != 0;

	*ret_distance = LOCI_INFINITE;
	if (at != LOCI_COHERENT_NOWHERE) {
		*ret_distance = kernel_leave_slot(member, at, fills_place);
	} else if (!fills_place && member->deep.highest) {
		kernel_take_slot(&member->slots, member->deep.highest);
		loci_coherent_fill_highest(&member->deep);
		member->n_deep--;
	}
	return fills_place ? kernel_fill_place(member, ranks)
			   : kernel_push_out(coherent, member, ranks);
}

/* A touch that the bits of places do not answer. Returns its distance. */
static __attribute__((noinline)) uint64_t kernel_look(struct loci_coherent *coherent,
	struct loci_coherent_member *member, struct kernel_ranks *ranks,
	struct loci_coherent_touch *touch)
{
	struct loci_stack_bucket *home =
		coherent->map.bucket + loci_stack_home(touch->hash, coherent->map.n_homes);
	uint32_t *entry = kernel_find(home, touch->hash);
	uint64_t distance, bit;
	unsigned place;

	loci_coherent_look(coherent, member, entry, touch);
	if (touch->at < LOCI_STACK_TOP) {
		place = touch->at;
		distance = kernel_raise_place(member, ranks, place);
	} else {
		place = kernel_enter(coherent, member, ranks, touch->at, &distance);
		member->key[place] = touch->hash;
		member->entry[place] = entry;
		loci_coherent_put(coherent, entry, member->number, place);
	}
	member->hint[touch->hash >> LOCI_STACK_HINT_SHIFT] = (uint8_t)place;
	bit = 1ull << place;
	member->mine |= bit;
	member->free = touch->is_free ? member->free | bit : member->free & ~bit;
	return distance;
}

INLINE void kernel_count(struct loci_coherent_tally *tally, uint64_t distance,
	const struct loci_coherent_touch *touch)
{
	unsigned kind = touch->kind & LOCI_COHERENT_MASK;

	tally->event[LOCI_COHERENT_N_REMOTE] += touch->kind / LOCI_COHERENT_REMOTE;
	if (kind == LOCI_COHERENT_REUSE)
		tally->stack.count[loci_stack_bin(distance)]++;
	else
		tally->event[LOCI_COHERENT_N_COLD + kind - LOCI_COHERENT_COLD]++;
	if (__builtin_expect(tally->remote.count && touch->kind == LOCI_COHERENT_REMOTE, 0))
		tally->remote.count[loci_stack_bin(distance)]++;
}

INLINE void kernel_loop(struct loci_coherent *coherent, struct loci_coherent_member *member,
	const struct loci_coherent_piece *piece, bool sampling)
{
	struct loci_coherent_tally *tally = member->tally;
	bool any = coherent->taken_by == LOCI_COHERENT_BY_ANY;
	bool none = coherent->taken_by == LOCI_COHERENT_BY_NONE;
	uint64_t *count = tally->stack.count;
	struct kernel_ranks ranks;

	kernel_load_ranks(&ranks, member->rank);
	for (size_t i = 0; i < piece->n; i++) {
		uint64_t hash = coherent->hash[i], ahead = coherent->hash[i + AHEAD], distance;
		unsigned place = member->hint[hash >> LOCI_STACK_HINT_SHIFT];
		bool minds = piece->is_write[i] | any; /* whether others have it */

		__builtin_prefetch(
			coherent->map.bucket + loci_stack_home(ahead, coherent->map.n_homes));
		if (sampling && !loci_stack_sampled(hash, coherent->shift)) {
			piece->ret_distance[i] = LOCI_UNSAMPLED;
			piece->ret_kind[i] = 0;
			continue;
		}
		if (__builtin_expect(member->key[place] == hash &&
				    (minds ? member->free : member->mine) >> place & 1,
			    1)) {
			distance = kernel_raise_place(member, &ranks, place);
			if (sampling)
				distance <<= coherent->shift;
			count[loci_stack_bin(distance)]++;
			piece->ret_distance[i] = distance;
			piece->ret_kind[i] = LOCI_COHERENT_REUSE;
		} else {
			struct loci_coherent_touch touch = { .hash = hash,
				.bytes = piece->bytes[i],
				.use = piece->use ? piece->use[i] : 0,
				.is_write = piece->is_write[i],
				.takes = minds && !none };
			struct kernel_ranks copy = ranks; /* else they would be in memory */

			distance = kernel_look(coherent, member, &copy, &touch);
			ranks = copy;
			if (sampling && distance != LOCI_INFINITE)
				distance <<= coherent->shift;
			kernel_count(tally, distance, &touch);
			piece->ret_distance[i] = distance;
			piece->ret_kind[i] = touch.kind;
			if (piece->ret_lost_to)
				piece->ret_lost_to[i] = touch.lost_to;
		}
	}
	kernel_store_ranks(&ranks, member->rank);
}

void KERNEL_NAME(struct loci_coherent *coherent, struct loci_coherent_member *member,
	const struct loci_coherent_piece *piece)
{
	size_t i = 0;

	for (; i + 16 <= piece->n; i += 16)
		kernel_hash(piece->block + i, 16, coherent->hash + i);
	for (; i < piece->n; i++)
		coherent->hash[i] = loci_stack_hash(piece->block[i]);
	for (size_t k = 0; k < AHEAD; k++)
		coherent->hash[i + k] = coherent->hash[i - 1];
	if (coherent->shift)
		kernel_loop(coherent, member, piece, true);
	else
		kernel_loop(coherent, member, piece, false);
}
