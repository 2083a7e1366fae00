// SPDX-License-Identifier: GPL-2.0-or-later
/* Which writes there were since a block was taken from someone: the coherent stacks' memory of
 * them, in full, and in short where two members are concerned. */
#include "engine/coherent_state.h"

static void free_log(struct loci_coherent_pool *pool, uint32_t log)
{
	while (log) {
		uint32_t next = pool->item[log].log.next;

		loci_coherent_free_item(pool, log);
		log = next;
	}
}

void loci_coherent_judge(const struct loci_coherent_pool *pool, uint32_t log,
	const struct loci_coherent_sharer *own, struct loci_coherent_touch *touch)
{
	for (; log && pool->item[log].log.taken >= own->taken; log = pool->item[log].log.next)
		if (pool->item[log].log.bytes & touch->bytes) {
			touch->kind = LOCI_COHERENT_TRUE;
			touch->lost_to = pool->item[log].log.use;
			return;
		}
	touch->kind = LOCI_COHERENT_FALSE;
	touch->lost_to = own->use;
}

void loci_coherent_log_write(struct loci_coherent_pool *pool, struct loci_coherent_record *record,
	const struct loci_coherent_touch *touch)
{
	uint32_t *link = &record->log;
	struct loci_coherent_log *newest;

	while (*link) {
		struct loci_coherent_log *log = &pool->item[*link].log;
		uint32_t item = *link;

		log->bytes &= ~touch->bytes;
		if (log->bytes) {
			link = &log->next;
			continue;
		}
		*link = log->next;
		loci_coherent_free_item(pool, item);
	}
	newest = &pool->item[record->log].log;
	if (record->log && newest->use == touch->use && newest->taken == record->taken) {
		newest->bytes |= touch->bytes;
	} else {
		uint32_t item = loci_coherent_take_item(pool);

		pool->item[item].log = (struct loci_coherent_log){ .next = record->log,
			.bytes = touch->bytes,
			.use = touch->use,
			.taken = record->taken };
		record->log = item;
	}
}

void loci_coherent_log_prune(
	struct loci_coherent_pool *pool, struct loci_coherent_record *record, uint64_t oldest)
{
	uint32_t *link = &record->log;

	while (*link && pool->item[*link].log.taken >= oldest)
		link = &pool->item[*link].log.next;
	free_log(pool, *link);
	*link = 0;
}

/* The loser of a pair may have ended: nobody asks any more. */
static bool end_pair(struct loci_coherent *coherent, uint32_t *entry,
	const struct loci_coherent_pair *pair, struct loci_coherent_touch *touch)
{
	if (coherent->member[pair->loser])
		return false;
	*entry = loci_coherent_forget(coherent, *entry - LOCI_COHERENT_RECORD);
	touch->is_free = *entry != LOCI_COHERENT_READ;
	return true;
}

bool loci_coherent_pair_touch(
	struct loci_coherent *coherent, uint32_t *entry, struct loci_coherent_touch *touch)
{
	struct loci_coherent_pair *pair = loci_coherent_pair_of(coherent, *entry);

	/* rare: one of the two only read it so far */
	if (touch->is_write && pair->state != (LOCI_COHERENT_PAIR | LOCI_COHERENT_WRITTEN))
		return false;
	touch->kind = LOCI_COHERENT_REUSE;
	touch->at = (uint32_t)*loci_stack_stamp(entry);
	touch->is_free = false;
	if (end_pair(coherent, entry, pair, touch) || !touch->takes)
		return true;
	if (touch->use == pair->use) {
		pair->bytes |= touch->bytes;
		return true;
	}
	if (pair->bytes & ~touch->bytes)
		return false;
	pair->bytes = touch->bytes;
	pair->use = touch->use;
	return true;
}

void loci_coherent_pair_expand(struct loci_coherent *coherent, uint32_t *entry)
{
	struct loci_coherent_pool *pool = &coherent->pool;
	uint64_t stamp = *loci_stack_stamp(entry);
	uint32_t item = *entry - LOCI_COHERENT_RECORD;
	struct loci_coherent_pair pair = pool->item[item].pair;
	uint32_t has = loci_coherent_take_item(pool), lost = loci_coherent_take_item(pool);
	uint32_t log = loci_coherent_take_item(pool);

	pool->item[log].log =
		(struct loci_coherent_log){ .bytes = pair.bytes, .use = pair.use, .taken = 1 };
	pool->item[lost].sharer = (struct loci_coherent_sharer){
		.member = pair.loser, .at = LOCI_COHERENT_LOST, .use = pair.lost_to, .taken = 1
	};
	pool->item[has].sharer = (struct loci_coherent_sharer){
		.next = lost, .member = (uint32_t)(stamp >> 32), .at = (uint32_t)stamp
	};
	pool->item[item].record = (struct loci_coherent_record){ .sharers = has,
		.log = log,
		.last = (uint32_t)(stamp >> 32),
		.state = pair.state & ~LOCI_COHERENT_PAIR,
		.taken = 1,
		.alone = 1 };
}

void loci_coherent_pair_up(struct loci_coherent *coherent, uint32_t *entry, uint32_t member)
{
	struct loci_coherent_pool *pool = &coherent->pool;
	uint32_t item = *entry - LOCI_COHERENT_RECORD, first, second;
	struct loci_coherent_record record = pool->item[item].record;
	struct loci_coherent_sharer own, other;
	struct loci_coherent_log log = { .next = 0 };

	first = record.sharers;
	second = pool->item[first].sharer.next;
	if (!second || pool->item[second].sharer.next ||
		(record.log && pool->item[record.log].log.next))
		return;
	own = pool->item[first].sharer;
	other = pool->item[second].sharer;
	if (own.member != member) {
		own = pool->item[second].sharer;
		other = pool->item[first].sharer;
	}
	if (record.log)
		log = pool->item[record.log].log;
	loci_coherent_log_prune(pool, &record, UINT64_MAX);
	loci_coherent_free_item(pool, first);
	loci_coherent_free_item(pool, second);
	pool->item[item].pair = (struct loci_coherent_pair){ .loser = other.member,
		.state = record.state | LOCI_COHERENT_PAIR,
		.lost_to = other.use,
		.bytes = log.bytes,
		.use = log.use };
	*loci_stack_stamp(entry) = loci_coherent_stamp(member, own.at);
}
