// SPDX-License-Identifier: GPL-2.0-or-later
/* Who has a block, who has lost it, and to which write: the coherent stacks' directory. */
#include "engine/coherent_state.h"

uint32_t loci_coherent_forget(struct loci_coherent *coherent, uint32_t record)
{
	struct loci_coherent_pool *pool = &coherent->pool;
	uint32_t state = pool->item[record].record.state;
	uint32_t sharer = 0;

	if (!(state & LOCI_COHERENT_PAIR)) {
		sharer = pool->item[record].record.sharers;
		loci_coherent_log_prune(pool, &pool->item[record].record, UINT64_MAX);
	}
	while (sharer) {
		uint32_t next = pool->item[sharer].sharer.next;

		loci_coherent_free_item(pool, sharer);
		sharer = next;
	}
	loci_coherent_free_item(pool, record);
	return state & ~LOCI_COHERENT_PAIR;
}

uint32_t loci_coherent_at(
	const struct loci_coherent *coherent, uint64_t stamp, uint32_t slot, uint32_t member)
{
	const union loci_coherent_item *item = coherent->pool.item;

	if (slot < LOCI_COHERENT_RECORD || loci_coherent_pair_of(coherent, slot)) {
		if (stamp >> 32 == member)
			return (uint32_t)stamp;
		return slot >= LOCI_COHERENT_RECORD &&
				loci_coherent_pair_of(coherent, slot)->loser == member
			? LOCI_COHERENT_LOST
			: LOCI_COHERENT_NOWHERE;
	}
	for (uint32_t i = loci_coherent_record_of(coherent, slot)->sharers; i;
		i = item[i].sharer.next)
		if (item[i].sharer.member == member)
			return item[i].sharer.at;
	return LOCI_COHERENT_NOWHERE;
}

void loci_coherent_put(
	struct loci_coherent *coherent, uint32_t *entry, uint32_t member, uint32_t at)
{
	union loci_coherent_item *item = coherent->pool.item;
	uint32_t i;

	if (*entry < LOCI_COHERENT_RECORD || loci_coherent_pair_of(coherent, *entry)) {
		*loci_stack_stamp(entry) = loci_coherent_stamp(member, at);
		return;
	}
	i = loci_coherent_record_of(coherent, *entry)->sharers;
	while (item[i].sharer.member != member)
		i = item[i].sharer.next;
	item[i].sharer.at = at;
}

static void change_state(struct loci_coherent *coherent, uint32_t *state, uint32_t to)
{
	coherent->blocks[*state - LOCI_COHERENT_ALONE]--;
	coherent->blocks[to - LOCI_COHERENT_ALONE]++;
	*state = to;
}

static uint32_t add_sharer(struct loci_coherent_pool *pool, struct loci_coherent_record *record,
	uint32_t member, uint32_t at)
{
	uint32_t item = loci_coherent_take_item(pool);

	pool->item[item].sharer = (struct loci_coherent_sharer){
		.next = record->sharers, .member = member, .at = at
	};
	record->sharers = item;
	return item;
}

/* The one that has a block is joined by another. */
static void become_record(struct loci_coherent *coherent, uint32_t *entry, bool is_write)
{
	struct loci_coherent_pool *pool = &coherent->pool;
	uint64_t stamp = *loci_stack_stamp(entry);
	uint32_t item = loci_coherent_take_item(pool), state = *entry;
	struct loci_coherent_record *record = &pool->item[item].record;

	*record = (struct loci_coherent_record){ .last = (uint32_t)(stamp >> 32) };
	change_state(coherent, &state,
		is_write || state == LOCI_COHERENT_WRITTEN ? LOCI_COHERENT_WRITTEN
							   : LOCI_COHERENT_READ);
	record->state = state;
	add_sharer(pool, record, record->last, (uint32_t)stamp);
	*entry = LOCI_COHERENT_RECORD + item;
}

/* Another touches a member's block. Where no hint leads to it any more its bits do not matter: the
 * next touch asks the directory. */
static void not_mine(struct loci_coherent_member *member, uint64_t hash)
{
	unsigned place = member->hint[hash >> LOCI_STACK_HINT_SHIFT];

	if (member->key[place] != hash)
		return;
	member->mine &= ~(1ull << place);
	member->free &= ~(1ull << place);
}

static void take_away(struct loci_coherent_member *member, uint32_t at)
{
	member->tally->event[LOCI_COHERENT_N_TAKEN]++;
	if (at >= LOCI_STACK_TOP) {
		loci_coherent_add_hole(&member->deep, at);
		return;
	}
	member->holes |= 1ull << at;
	member->mine &= ~(1ull << at);
	member->free &= ~(1ull << at);
	member->entry[at] = NULL;
}

/* The other members, of which those that have ended are forgotten. */
struct others {
	uint32_t own;    /* sharer */
	uint32_t n_have; /* it */
	uint64_t oldest; /* taken of those that lost it; UINT64_MAX: nobody did */
};

static struct others look_at_sharers(
	struct loci_coherent *coherent, struct loci_coherent_record *record, uint32_t member)
{
	struct others others = { .oldest = UINT64_MAX };
	union loci_coherent_item *item = coherent->pool.item;
	uint32_t *link = &record->sharers;

	while (*link) {
		struct loci_coherent_sharer *sharer = &item[*link].sharer;
		uint32_t i = *link;

		if (sharer->member == member) {
			others.own = i;
		} else if (!coherent->member[sharer->member]) {
			*link = sharer->next;
			loci_coherent_free_item(&coherent->pool, i);
			continue;
		} else if (sharer->at != LOCI_COHERENT_LOST) {
			others.n_have++;
		} else if (sharer->taken < others.oldest) {
			others.oldest = sharer->taken;
		}
		link = &sharer->next;
	}
	return others;
}

static void take_from_others(struct loci_coherent *coherent, struct loci_coherent_record *record,
	uint32_t member, uint64_t use)
{
	union loci_coherent_item *item = coherent->pool.item;

	record->taken++;
	for (uint32_t i = record->sharers; i; i = item[i].sharer.next) {
		struct loci_coherent_sharer *sharer = &item[i].sharer;

		if (sharer->member == member || sharer->at == LOCI_COHERENT_LOST)
			continue;
		take_away(coherent->member[sharer->member], sharer->at);
		sharer->at = LOCI_COHERENT_LOST;
		sharer->use = use;
		sharer->taken = record->taken;
	}
}

static void touched_by(struct loci_coherent *coherent, struct loci_coherent_record *record,
	uint32_t member, struct loci_coherent_touch *touch)
{
	if (record->last == member)
		return;
	touch->kind |= LOCI_COHERENT_REMOTE;
	if (coherent->member[record->last])
		not_mine(coherent->member[record->last], touch->hash);
	record->last = member;
	record->alone = 0;
}

/* Where a block of which there is a record is in a member's stack. */
static uint32_t place_of(const struct loci_coherent *coherent,
	const struct loci_coherent_member *member, uint32_t slot, uint64_t hash)
{
	unsigned place = member->hint[hash >> LOCI_STACK_HINT_SHIFT];

	return member->key[place] == hash && member->entry[place]
		? place
		: loci_coherent_at(coherent, 0, slot, member->number);
}

/* Where several read a block, all that changes is who touched it last: then nobody looks through
 * them all. */
static bool look_at_reader(struct loci_coherent *coherent,
	const struct loci_coherent_member *member, uint32_t slot, struct loci_coherent_touch *touch)
{
	if (touch->is_write || touch->takes)
		return false;
	touch->at = place_of(coherent, member, slot, touch->hash);
	if (touch->at >= LOCI_COHERENT_LOST)
		return false;
	touch->kind = LOCI_COHERENT_REUSE;
	touch->is_free = false;
	touched_by(coherent, loci_coherent_record_of(coherent, slot), member->number, touch);
	return true;
}

/* Where one that has taken a block from all others writes it again, there is only the write to be
 * remembered. Who of them has ended is looked at by the next other one. */
static bool look_at_writer(struct loci_coherent *coherent,
	const struct loci_coherent_member *member, uint32_t *entry,
	struct loci_coherent_touch *touch)
{
	struct loci_coherent_record *record = loci_coherent_record_of(coherent, *entry);

	if (!touch->is_write || !touch->takes || !record->alone || record->last != member->number ||
		record->state != LOCI_COHERENT_WRITTEN)
		return false;
	touch->at = place_of(coherent, member, *entry, touch->hash);
	touch->kind = LOCI_COHERENT_REUSE;
	touch->is_free = false;
	loci_coherent_log_write(&coherent->pool, record, touch);
	if (!coherent->pool.item[record->log].log.next)
		loci_coherent_pair_up(coherent, entry, member->number);
	return true;
}

static void look_at_record(struct loci_coherent *coherent, uint32_t member, uint32_t *entry,
	struct loci_coherent_touch *touch)
{
	struct loci_coherent_pool *pool = &coherent->pool;
	uint32_t item = *entry - LOCI_COHERENT_RECORD, state;
	struct loci_coherent_record *record = &pool->item[item].record;
	struct others others = look_at_sharers(coherent, record, member);

	touch->at = LOCI_COHERENT_NOWHERE;
	touch->kind = LOCI_COHERENT_COLD;
	if (others.own && pool->item[others.own].sharer.at == LOCI_COHERENT_LOST) {
		loci_coherent_judge(pool, record->log, &pool->item[others.own].sharer, touch);
	} else if (others.own) {
		touch->kind = LOCI_COHERENT_REUSE;
		touch->at = pool->item[others.own].sharer.at;
	}
	touched_by(coherent, record, member, touch);
	if (touch->is_write && record->state == LOCI_COHERENT_READ)
		change_state(coherent, &record->state, LOCI_COHERENT_WRITTEN);
	if (touch->takes && others.n_have) {
		take_from_others(coherent, record, member, touch->use);
		if (others.oldest == UINT64_MAX)
			others.oldest = record->taken;
		others.n_have = 0;
	}
	loci_coherent_log_prune(pool, record, others.oldest);
	if (others.oldest != UINT64_MAX || others.n_have) {
		if (touch->takes) {
			loci_coherent_log_write(pool, record, touch);
			record->alone = 1;
		}
		if (!others.own)
			add_sharer(pool, record, member, LOCI_COHERENT_NOWHERE);
		touch->is_free = false;
		if (!others.n_have)
			loci_coherent_pair_up(coherent, entry, member);
		return;
	}
	state = loci_coherent_forget(coherent, item);
	*entry = state;
	*loci_stack_stamp(entry) = loci_coherent_stamp(member, touch->at);
	touch->is_free = state != LOCI_COHERENT_READ;
}

void loci_coherent_look(struct loci_coherent *coherent, struct loci_coherent_member *member,
	uint32_t *entry, struct loci_coherent_touch *touch)
{
	uint64_t *stamp = loci_stack_stamp(entry);

	if (!*entry) {
		coherent->map.n_entries++;
		coherent->blocks[0]++;
		*loci_stack_key(entry) = touch->hash;
		*entry = LOCI_COHERENT_ALONE;
		*stamp = loci_coherent_stamp(member->number, LOCI_COHERENT_NOWHERE);
		touch->at = LOCI_COHERENT_NOWHERE;
		touch->kind = LOCI_COHERENT_COLD;
		touch->is_free = true;
		return;
	}
	if (*entry < LOCI_COHERENT_RECORD && *stamp >> 32 == member->number) {
		if (touch->is_write && *entry == LOCI_COHERENT_READ)
			change_state(coherent, entry, LOCI_COHERENT_WRITTEN);
		touch->at = (uint32_t)*stamp;
		touch->kind = LOCI_COHERENT_REUSE;
		touch->is_free = *entry != LOCI_COHERENT_READ;
		return;
	}
	if (*entry < LOCI_COHERENT_RECORD)
		become_record(coherent, entry, touch->is_write);
	else if (loci_coherent_pair_of(coherent, *entry)) {
		if (*stamp >> 32 == member->number &&
			loci_coherent_pair_touch(coherent, entry, touch))
			return;
		loci_coherent_pair_expand(coherent, entry);
	}
	if (!look_at_reader(coherent, member, *entry, touch) &&
		!look_at_writer(coherent, member, entry, touch))
		look_at_record(coherent, member->number, entry, touch);
}
