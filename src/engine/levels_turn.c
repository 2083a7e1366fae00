// SPDX-License-Identifier: GPL-2.0-or-later
/* Touches of one member through its caches, and what its writes do to others'. */
#include "engine/levels_shared_state.h"

#include <errno.h>

/* Touches of one block one after the other become one: of these only the first can miss, and only
 * the first write matters. */
static void collapse(struct loci_shared_runs *runs, const struct loci_levels_shared_batch *batch,
	size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; n++) {
		uint64_t block = batch->block[i], bytes = 0;
		size_t write = to;

		runs->first[n] = (uint32_t)i;
		for (; i < to && batch->block[i] == block; i++) {
			bytes |= batch->bytes[i];
			if (batch->is_write[i] && write == to)
				write = i;
		}
		runs->block[n] = block;
		runs->bytes[n] = bytes;
		runs->is_write[n] = write < to;
		runs->write[n] = (uint32_t)write;
		runs->owner[n] = batch->owner[runs->first[n]];
	}
	runs->n = n;
}

/* Which runs a cache hears of: all, or where the newest block of each set is known, those that
 * change anything. */
static void choose(struct loci_shared_runs *runs, struct loci_shared_cache *cache)
{
	const struct loci_shared_newest *newest = &cache->newest;
	size_t n = 0;

	for (size_t k = 0; k < runs->n; k++) {
		uint64_t block = runs->block[k], set;
		uint8_t is = runs->is_write[k] ? LOCI_SHARED_NEWEST_WRITTEN : LOCI_SHARED_NEWEST;

		set = newest->mask + 1 == newest->sets ? block & newest->mask
						       : block % newest->sets;
		if (newest->block[set] == block && newest->is[set] >= is)
			continue;
		newest->block[set] = block;
		newest->is[set] = is;
		runs->chosen[n] = (uint32_t)k;
		runs->chosen_block[n] = block;
		runs->chosen_is_write[n++] = runs->is_write[k];
	}
	runs->n_chosen = n;
}

/* A part that is not the first, where the newest blocks are known. */
static void feed_newest(struct loci_levels_shared *shared, const struct loci_shared_part *part,
	struct loci_shared_cache *cache, const struct loci_levels_shared_batch *batch)
{
	struct loci_shared_runs *runs = &shared->runs;
	struct loci_levels_batch some = { .block = runs->chosen_block,
		.is_write = runs->chosen_is_write,
		.bytes = runs->bytes, /* nobody asks for them there, nor for owners */
		.owner = runs->owner,
		.ret_missed = runs->part_missed,
		.ret_dirty = runs->part_dirty,
		.ret_evicted = runs->evicted };

	choose(runs, cache);
	some.n = runs->n_chosen;
	loci_levels_feed(cache->levels, &some);
	for (size_t i = 0; i < runs->n_chosen; i++) {
		size_t k = runs->chosen[i];

		runs->missed[k] |= (uint8_t)(runs->part_missed[i] << part->first);
		if (runs->part_dirty[i])
			batch->ret_dirty[runs->write[k]] |=
				(uint8_t)(runs->part_dirty[i] << part->first);
	}
}

static int feed_all(struct loci_levels_shared *shared, const struct loci_shared_part *part,
	struct loci_shared_cache *cache, const struct loci_levels_shared_batch *batch)
{
	struct loci_shared_runs *runs = &shared->runs;
	struct loci_levels_batch some = { .block = runs->block,
		.is_write = runs->is_write,
		.bytes = runs->bytes,
		.owner = runs->owner,
		.n = runs->n,
		.ret_missed = runs->part_missed,
		.ret_dirty = runs->part_dirty,
		.ret_evicted = runs->evicted };

	loci_levels_feed(cache->levels, &some);
	for (size_t k = 0; k < runs->n; k++) {
		runs->missed[k] |= (uint8_t)(runs->part_missed[k] << part->first);
		if (runs->part_dirty[k])
			batch->ret_dirty[runs->write[k]] |=
				(uint8_t)(runs->part_dirty[k] << part->first);
	}
	for (size_t k = 0; part->first == 0 && k < some.n_evicted; k++)
		if (loci_shared_add_evicted(shared, runs->evicted[k]) < 0)
			return -ENOMEM;
	return 0;
}

/* The member's caches hear of the runs. What they say goes to the touches it is about. */
static int feed_parts(struct loci_levels_shared *shared, uint32_t member,
	const struct loci_levels_shared_batch *batch)
{
	struct loci_shared_runs *runs = &shared->runs;

	memset(runs->missed, 0, runs->n);
	for (unsigned i = 0; i < shared->n_parts; i++) {
		const struct loci_shared_part *part = &shared->part[i];
		struct loci_shared_cache *cache = &part->group[loci_shared_group(part, member)];

		if (cache->newest.block)
			feed_newest(shared, part, cache, batch);
		else if (feed_all(shared, part, cache, batch) < 0)
			return -ENOMEM;
	}
	for (size_t k = 0; k < runs->n; k++)
		batch->ret_missed[runs->first[k]] = runs->missed[k];
	return 0;
}

/* Does the directory have to hear of a run? */
static bool concerns_others(
	const struct loci_levels_shared *shared, const struct loci_shared_member *member, size_t k)
{
	const struct loci_shared_runs *runs = &shared->runs;
	uint64_t block = runs->block[k];

	return shared->misses_a_part[runs->missed[k]] ||
		(runs->is_write[k] && member->known[loci_shared_known_at(block)] != block);
}

#define AHEAD 32 /* runs whose entries are asked for; divides a chunk of the map */

static int look_at_run(struct loci_levels_shared *shared, uint32_t number, size_t k,
	const struct loci_levels_shared_batch *batch)
{
	const struct loci_shared_runs *runs = &shared->runs;
	struct loci_shared_look look = { .block = runs->block[k],
		.member = number,
		.is_write = runs->is_write[k],
		.missed = runs->missed[k] };

	if (loci_shared_look(shared, &look) < 0)
		return -ENOMEM;
	batch->ret_coherence[runs->first[k]] = look.coherence;
	if (look.is_write)
		batch->ret_transfer[runs->write[k]] = look.transfer;
	return 0;
}

/* Who is known at the beginning of some runs is so to their end: nobody else touches anything. */
static int look_at_runs(struct loci_levels_shared *shared, uint32_t number,
	const struct loci_levels_shared_batch *batch, struct loci_err *err)
{
	const struct loci_shared_member *member = shared->member[number];
	const struct loci_shared_runs *runs = &shared->runs;

	for (size_t from = 0; from < runs->n; from += AHEAD) {
		size_t to = runs->n - from < AHEAD ? runs->n : from + AHEAD, concerned[AHEAD];
		size_t n = 0;

		for (size_t k = from; k < to; k++)
			if (concerns_others(shared, member, k)) {
				loci_shared_expect(shared, runs->block[k]);
				concerned[n++] = k;
			}
		if (from % shared->map.chunk == 0) {
			int r = loci_shared_make_room(shared, err);

			if (r < 0)
				return r;
		}
		for (size_t i = 0; i < n; i++)
			if (concerns_others(shared, member, concerned[i]) &&
				look_at_run(shared, number, concerned[i], batch) < 0)
				return loci_err_nomem(err);
	}
	return 0;
}

int loci_shared_feed_turn(struct loci_levels_shared *shared, uint32_t member,
	struct loci_levels_shared_batch *batch, size_t from, size_t to, struct loci_err *err)
{
	int r = 0;

	for (size_t n; r == 0 && from < to; from += n) {
		n = to - from < LOCI_SHARED_PIECE ? to - from : LOCI_SHARED_PIECE;
		collapse(&shared->runs, batch, from, from + n);
		if (feed_parts(shared, member, batch) < 0)
			return loci_err_nomem(err);
		if (shared->is_coherent)
			r = look_at_runs(shared, member, batch, err);
	}
	return r;
}
