// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/epochs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCKS    4096
#define FIRST_EPOCHS    64
#define MULTIPLIER_BITS 64

/* A member that has a block, beside the last one that touched it. */
struct loci_epochs_other {
	uint32_t member, epoch;
	uint32_t next; /* plus one */
};

static unsigned shift_of(size_t n_blocks)
{
	return MULTIPLIER_BITS - (unsigned)__builtin_ctzll(n_blocks / LOCI_EPOCHS_GROUP);
}

int loci_epochs_init(struct loci_epochs *v)
{
	*v = (struct loci_epochs){ .now = 1, .base = 1, .origin = 1, .n_blocks = FIRST_BLOCKS };
	v->shift = shift_of(v->n_blocks);
	v->cap = FIRST_EPOCHS;
	v->table = calloc(v->n_blocks, sizeof(*v->table));
	v->n = calloc(v->cap, sizeof(*v->n));
	return v->table && v->n ? 0 : -ENOMEM;
}

void loci_epochs_fini(struct loci_epochs *v)
{
	for (size_t i = 0; i < v->n_stacks; i++) {
		free(v->stack[i].n);
		free(v->stack[i].holes);
	}
	free(v->stack);
	free(v->table);
	free(v->n);
	free(v->other);
}

static uint32_t epoch_of(uint64_t last)
{
	return (uint32_t)(last >> LOCI_EPOCHS_LAST);
}

static uint32_t member_of(uint64_t last)
{
	return (uint32_t)last >> LOCI_EPOCHS_MEMBER;
}

static void free_others(struct loci_epochs *v, struct loci_epochs_block *b)
{
	while (b->others) {
		struct loci_epochs_other *other = &v->other[b->others - 1];
		uint32_t next = other->next;

		other->next = v->free_other;
		v->free_other = b->others;
		b->others = next;
	}
}

/* Before the base nobody asks; what is looked at one by one stays. */
static bool is_wanted(const struct loci_epochs *v, const struct loci_epochs_block *b)
{
	return b->last && (epoch_of(b->last) >= v->base || b->last & LOCI_EPOCHS_KEPT);
}

/* Room for as many again as are wanted. */
static int rehash(struct loci_epochs *v)
{
	struct loci_epochs old = *v;
	size_t wanted = 0;

	for (size_t i = 0; i < old.n_blocks; i++)
		wanted += is_wanted(v, &old.table[i]);
	v->n_blocks = FIRST_BLOCKS;
	while (v->n_blocks < 4 * wanted)
		v->n_blocks *= 2;
	v->table = calloc(v->n_blocks, sizeof(*v->table));
	if (!v->table) {
		*v = old;
		return -ENOMEM;
	}
	v->shift = shift_of(v->n_blocks);
	v->n_used = wanted;
	for (size_t i = 0; i < old.n_blocks; i++) {
		if (is_wanted(v, &old.table[i]))
			*loci_epochs_find(v, old.table[i].block) = old.table[i];
		else
			free_others(v, &old.table[i]);
	}
	free(old.table);
	return 0;
}

static int grow(void *array, size_t *cap, size_t n, size_t element)
{
	void **pointer = array, *larger;
	size_t want = *cap ? 2 * *cap : 16;

	if (n <= *cap)
		return 0;
	while (want < n)
		want *= 2;
	larger = realloc(*pointer, want * element);
	if (!larger)
		return -ENOMEM;
	*pointer = larger;
	*cap = want;
	return 0;
}

static int add_stacks(struct loci_epochs *v, size_t n)
{
	if (grow(&v->stack, &v->stack_cap, n, sizeof(*v->stack)) < 0)
		return -ENOMEM;
	while (v->n_stacks < n) {
		struct loci_epochs_stack *s = &v->stack[v->n_stacks];

		*s = (struct loci_epochs_stack){ .n = calloc(v->cap, sizeof(*s->n)),
			.holes = calloc(v->cap, sizeof(*s->holes)) };
		v->n_stacks++;
		if (!s->n || !s->holes)
			return -ENOMEM;
	}
	return 0;
}

static int put_other(
	struct loci_epochs *v, struct loci_epochs_block *b, uint32_t member, uint32_t epoch)
{
	uint32_t at = v->free_other;

	if (at) {
		v->free_other = v->other[at - 1].next;
	} else {
		if (grow(&v->other, &v->other_cap, v->n_others + 1, sizeof(*v->other)) < 0)
			return -ENOMEM;
		at = (uint32_t)++v->n_others;
	}
	v->other[at - 1] = (struct loci_epochs_other){ member, epoch, b->others };
	b->others = at;
	return 0;
}

/* Takes the member out of those who touched the block before; its epoch, 0: it was none. */
static uint32_t take_other(struct loci_epochs *v, struct loci_epochs_block *b, uint32_t member)
{
	for (uint32_t *at = &b->others; *at; at = &v->other[*at - 1].next) {
		struct loci_epochs_other *other = &v->other[*at - 1];
		uint32_t found = *at;

		if (other->member != member)
			continue;
		*at = other->next;
		other->next = v->free_other;
		v->free_other = found;
		return other->epoch;
	}
	return 0;
}

/* The highest hole's epoch; 0: there is none that concerns anybody. */
static uint32_t highest_hole(const struct loci_epochs *v, struct loci_epochs_stack *s)
{
	while (s->top_hole >= v->base && !s->holes[s->top_hole - v->origin])
		s->top_hole--;
	return s->top_hole >= v->base ? s->top_hole : 0;
}

/* The block comes to the top from an epoch; 0: it is new. */
static void rise(struct loci_epochs *v, struct loci_epochs_stack *s, uint32_t from)
{
	uint32_t hole = highest_hole(v, s);

	if (hole > from) {
		s->n[hole - v->origin]--;
		s->holes[hole - v->origin]--;
		if (from)
			s->holes[from - v->origin]++;
	} else if (from) {
		s->n[from - v->origin]--;
	}
	s->n[v->now - v->origin]++;
}

/* Another wrote what the member had since this epoch. */
static void take_away(struct loci_epochs *v, uint32_t member, uint32_t epoch)
{
	struct loci_epochs_stack *s = &v->stack[member];

	if (epoch < v->base)
		return;
	s->holes[epoch - v->origin]++;
	if (s->top_hole < epoch)
		s->top_hole = epoch;
}

static void take_from_all(struct loci_epochs *v, struct loci_epochs_block *b)
{
	for (uint32_t at = b->others; at; at = v->other[at - 1].next)
		take_away(v, v->other[at - 1].member, v->other[at - 1].epoch);
	free_others(v, b);
}

/* Who touched it last was another member. */
static int follow_other(struct loci_epochs *v, struct loci_epochs_block *b, bool is_write)
{
	uint32_t member = member_of(b->last), epoch = epoch_of(b->last);

	if (is_write)
		take_away(v, member, epoch);
	else if (epoch >= v->base)
		return put_other(v, b, member, epoch);
	return 0;
}

static int insert(struct loci_epochs *v, struct loci_epochs_block **found, uint64_t block)
{
	if (2 * ++v->n_used > v->n_blocks) {
		v->n_used--;
		if (rehash(v) < 0)
			return -ENOMEM;
		*found = loci_epochs_find(v, block);
		v->n_used++;
	}
	**found = (struct loci_epochs_block){ .block = block };
	return 0;
}

int loci_epochs_touch(struct loci_epochs *v, struct loci_epochs_block **found, uint64_t block,
	uint32_t member, bool is_write)
{
	struct loci_epochs_block *b;
	uint32_t from, own;

	if (member >= v->n_stacks && add_stacks(v, (size_t)member + 1) < 0)
		return -ENOMEM;
	if (!(*found)->last && insert(v, found, block) < 0)
		return -ENOMEM;
	b = *found;
	from = epoch_of(b->last);
	if (from < v->now) {
		if (from >= v->base)
			v->n[from - v->origin]--;
		v->n[v->now - v->origin]++;
	}
	own = from;
	if (from && member_of(b->last) != member) {
		own = take_other(v, b, member);
		if (follow_other(v, b, is_write) < 0)
			return -ENOMEM;
	}
	if (own < v->base)
		own = 0;
	if (own < v->now)
		rise(v, &v->stack[member], own);
	if (is_write && b->others)
		take_from_all(v, b);
	b->last = loci_epochs_here(v, member) | (b->last & LOCI_EPOCHS_KEPT) |
		(b->others ? LOCI_EPOCHS_OTHERS : 0);
	return 0;
}

/* Those before the base are no longer wanted: the others begin at index 0. */
static void move_down(const struct loci_epochs *v, uint32_t *n)
{
	size_t away = v->base - v->origin, left = v->now + 1 - v->base;

	memmove(n, n + away, left * sizeof(*n));
	memset(n + left, 0, (v->cap - left) * sizeof(*n));
}

static int widen(uint32_t **n, size_t before, size_t after)
{
	uint32_t *larger = realloc(*n, after * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	memset(larger + before, 0, (after - before) * sizeof(*larger));
	*n = larger;
	return 0;
}

static int make_room(struct loci_epochs *v)
{
	size_t cap = v->cap;
	int r;

	if (v->base - v->origin >= cap / 2) {
		move_down(v, v->n);
		for (size_t i = 0; i < v->n_stacks; i++) {
			move_down(v, v->stack[i].n);
			move_down(v, v->stack[i].holes);
		}
		v->origin = v->base;
		return 0;
	}
	r = widen(&v->n, cap, 2 * cap);
	for (size_t i = 0; r == 0 && i < v->n_stacks; i++) {
		r = widen(&v->stack[i].n, cap, 2 * cap);
		if (r == 0)
			r = widen(&v->stack[i].holes, cap, 2 * cap);
	}
	if (r == 0)
		v->cap = 2 * cap;
	return r;
}

int loci_epochs_next(struct loci_epochs *v)
{
	if (v->now == UINT32_MAX)
		return -EOVERFLOW;
	if (v->now + 1 - v->origin == v->cap && make_room(v) < 0)
		return -ENOMEM;
	v->now++;
	return 0;
}

void loci_epochs_rebase(struct loci_epochs *v, uint32_t base)
{
	v->base = base;
}

static uint64_t sum(const struct loci_epochs *v, const uint32_t *n, uint32_t since)
{
	uint64_t all = 0;

	for (uint32_t i = since - v->origin; i <= v->now - v->origin; i++)
		all += n[i];
	return all;
}

uint64_t loci_epochs_above(const struct loci_epochs *v, uint32_t since)
{
	return sum(v, v->n, since);
}

uint64_t loci_epochs_above_own(const struct loci_epochs *v, uint32_t member, uint32_t since)
{
	return member < v->n_stacks ? sum(v, v->stack[member].n, since) : 0;
}

uint64_t loci_epochs_bytes(const struct loci_epochs *v)
{
	return v->n_blocks * sizeof(*v->table) + v->other_cap * sizeof(*v->other) +
		(1 + 2 * v->n_stacks) * v->cap * sizeof(*v->n);
}

int loci_epochs_shrink(struct loci_epochs *v)
{
	return rehash(v);
}
