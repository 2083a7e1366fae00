// SPDX-License-Identifier: GPL-2.0-or-later
/* The life of caches that threads share or have to themselves; levels_shared_state.h says how they
 * work. */
#include "engine/levels_shared_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

static void shared_freep(struct loci_levels_shared **shared)
{
	loci_levels_shared_free(*shared);
}

static int make_parts(struct loci_levels_shared *shared, const struct loci_levels_sharing *level,
	unsigned n_levels, struct loci_err *err)
{
	struct loci_levels_geometry all[LOCI_LEVELS];
	struct loci_levels *trial;
	int r;

	for (unsigned i = 0; i < n_levels && i < LOCI_LEVELS; i++) {
		struct loci_shared_part *part;

		all[i] = level[i].geometry;
		if (!i || level[i].threads != level[i - 1].threads)
			shared->part[shared->n_parts++] = (struct loci_shared_part){ .first = i,
				.threads = level[i].threads };
		part = &shared->part[shared->n_parts - 1];
		part->geometry[part->n++] = level[i].geometry;
	}
	/* What it does not take as one it does not take in parts. */
	r = loci_levels_new(all, n_levels, shared->isa, &trial, err);
	if (r == 0)
		loci_levels_free(trial);
	return r;
}

/* Does a touch that missed these levels miss some part altogether, so that others may have taken
 * its block from there? */
static bool misses_a_part(const struct loci_levels_shared *shared, unsigned missed)
{
	for (unsigned i = 0; i < shared->n_parts; i++) {
		const struct loci_shared_part *part = &shared->part[i];
		unsigned levels = ((1u << part->n) - 1) << part->first;

		if (part->threads != LOCI_SHARED_BY_ALL && (missed & levels) == levels)
			return true;
	}
	return false;
}

int loci_levels_shared_new(const struct loci_levels_sharing *level, unsigned n_levels,
	enum loci_isa isa, struct loci_levels_shared **ret, struct loci_err *err)
{
	static const struct loci_stack_tuning tuning = {
		.min_homes = 4096, .chunk = 1024, .page_bytes = 4096
	};
	loci_cleanup(shared_freep) struct loci_levels_shared *shared = calloc(1, sizeof(*shared));
	int r;

	if (!shared)
		return loci_err_nomem(err);
	shared->isa = isa;
	shared->n_levels = n_levels;
	r = make_parts(shared, level, n_levels, err);
	if (r < 0)
		return r;
	if (loci_stack_map_init(&shared->map, &tuning) < 0)
		return loci_err_nomem(err);
	for (unsigned missed = 0; missed < 256; missed++)
		shared->misses_a_part[missed] = misses_a_part(shared, missed);
	/* All levels are missed: is there a part that others may have taken something from? */
	shared->is_coherent = shared->misses_a_part[255];
	*ret = shared;
	shared = NULL;
	return 0;
}

static void free_cache(struct loci_shared_cache *cache)
{
	loci_levels_free(cache->levels);
	free(cache->newest.block);
	free(cache->newest.is);
	*cache = (struct loci_shared_cache){ .levels = NULL };
}

static uint64_t cache_bytes(const struct loci_shared_cache *cache)
{
	if (!cache->levels)
		return sizeof(*cache);
	return sizeof(*cache) + loci_levels_bytes(cache->levels) +
		cache->newest.sets * (sizeof(*cache->newest.block) + sizeof(*cache->newest.is));
}

void loci_levels_shared_free(struct loci_levels_shared *shared)
{
	if (!shared)
		return;
	for (unsigned i = 0; i < shared->n_parts; i++) {
		for (uint32_t k = 0; k < shared->part[i].n_groups; k++)
			free_cache(&shared->part[i].group[k]);
		free(shared->part[i].group);
	}
	for (uint32_t i = 0; i < shared->n_members; i++)
		free(shared->member[i]);
	free(shared->member);
	free(shared->holder);
	free(shared->evicted);
	loci_stack_map_fini(&shared->map);
	free(shared);
}

int loci_shared_reach(void *array, uint32_t *n, uint64_t index, size_t element)
{
	void **pointer = array;
	uint64_t room = *n ? *n : 8;
	char *larger;

	if (index < *n)
		return 0;
	while (room <= index)
		room *= 2;
	larger = room <= UINT32_MAX ? realloc(*pointer, room * element) : NULL;
	if (!larger)
		return -ENOMEM;
	memset(larger + *n * element, 0, (room - *n) * element);
	*pointer = larger;
	*n = (uint32_t)room;
	return 0;
}

int loci_shared_add_evicted(struct loci_levels_shared *shared, struct loci_levels_eviction eviction)
{
	if (shared->n_evicted == shared->evicted_room) {
		size_t room = shared->evicted_room ? 2 * shared->evicted_room : LOCI_SHARED_PIECE;
		struct loci_levels_eviction *larger =
			realloc(shared->evicted, room * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		shared->evicted = larger;
		shared->evicted_room = room;
	}
	shared->evicted[shared->n_evicted++] = eviction;
	return 0;
}

static struct loci_shared_member *new_member(void)
{
	struct loci_shared_member *member = calloc(1, sizeof(*member));

	for (size_t i = 0; member && i < LOCI_SHARED_KNOWN; i++)
		member->known[i] = i + 1;
	return member;
}

/* The newest block of a set of its first level is the newest of its set in all, if these divide the
 * blocks further. Who wants to know bytes wants to hear of every touch. */
static bool may_know_newest(const struct loci_shared_part *part)
{
	for (unsigned i = 0; i < part->n; i++)
		if (part->geometry[i].sets % part->geometry[0].sets)
			return false;
	return part->first > 0;
}

static int new_cache(const struct loci_levels_shared *shared, const struct loci_shared_part *part,
	struct loci_shared_cache *cache, struct loci_err *err)
{
	uint64_t sets = part->geometry[0].sets;
	struct loci_shared_newest *newest = &cache->newest;
	int r = loci_levels_new(part->geometry, part->n, shared->isa, &cache->levels, err);

	if (r < 0 || !may_know_newest(part))
		return r;
	newest->sets = sets;
	newest->mask = sets & (sets - 1) ? 0 : sets - 1;
	newest->block = calloc(sets, sizeof(*newest->block));
	newest->is = calloc(sets, sizeof(*newest->is));
	return newest->block && newest->is ? 0 : loci_err_nomem(err);
}

/* Its caches, too. */
static int begin(struct loci_levels_shared *shared, uint32_t number, struct loci_err *err)
{
	if (loci_shared_reach(
		    &shared->member, &shared->n_members, number, sizeof(*shared->member)) < 0)
		return loci_err_nomem(err);
	if (!shared->member[number])
		shared->member[number] = new_member();
	if (!shared->member[number])
		return loci_err_nomem(err);
	if (shared->member[number]->has_ended)
		return loci_err_set(err, EINVAL, "member %u of shared caches has ended", number);
	for (unsigned i = 0; i < shared->n_parts; i++) {
		struct loci_shared_part *part = &shared->part[i];
		uint32_t group = loci_shared_group(part, number);
		int r;

		if (loci_shared_reach(&part->group, &part->n_groups, group, sizeof(*part->group)) <
			0)
			return loci_err_nomem(err);
		if (part->group[group].levels)
			continue;
		r = new_cache(shared, part, &part->group[group], err);
		if (r < 0)
			return r;
	}
	return 0;
}

int loci_levels_shared_feed(struct loci_levels_shared *shared,
	struct loci_levels_shared_batch *batch, struct loci_err *err)
{
	int r = 0;

	shared->n_evicted = 0;
	shared->has_touches |= batch->n > 0;
	memset(batch->ret_missed, 0, batch->n);
	memset(batch->ret_dirty, 0, batch->n);
	memset(batch->ret_coherence, 0, batch->n);
	memset(batch->ret_transfer, 0, batch->n);
	for (size_t i = 0; r == 0 && i < batch->n_turns; i++) {
		size_t to = i + 1 < batch->n_turns ? batch->turn_touch[i + 1] : batch->n;

		r = begin(shared, batch->turn_member[i], err);
		if (r == 0)
			r = loci_shared_feed_turn(shared, batch->turn_member[i], batch,
				batch->turn_touch[i], to, err);
	}
	batch->evicted = shared->evicted;
	batch->n_evicted = shared->n_evicted;
	return r;
}

/* The lines of a part's levels. Returns how many there are. */
static size_t lines_of(const struct loci_shared_part *part, const struct loci_levels_line *all,
	size_t n_all, struct loci_levels_line *line)
{
	unsigned wanted = ((1u << part->n) - 1) << part->first;
	size_t n = 0;

	for (size_t i = 0; i < n_all; i++) {
		if (!(all[i].levels & wanted))
			continue;
		line[n] = all[i];
		line[n++].dirty = (uint8_t)((all[i].dirty & wanted) >> part->first);
	}
	return n;
}

int loci_levels_shared_adopt(struct loci_levels_shared *shared, uint32_t member,
	const struct loci_levels *plain, struct loci_err *err)
{
	loci_autofree struct loci_levels_line *all = NULL, *line = NULL;
	size_t n_all, n;
	int r = begin(shared, member, err);

	if (r == 0 && (shared->has_touches || plain->n != shared->n_levels))
		r = loci_err_set(err, EINVAL, "these caches cannot be taken over");
	if (r < 0)
		return r;
	if (loci_levels_lines(plain, &all, &n_all) < 0)
		return loci_err_nomem(err);
	line = malloc((n_all + 1) * sizeof(*line));
	if (!line)
		return loci_err_nomem(err);
	for (unsigned i = 0; r == 0 && i < shared->n_parts; i++) {
		const struct loci_shared_part *part = &shared->part[i];
		uint32_t group = loci_shared_group(part, member);

		n = lines_of(part, all, n_all, line);
		loci_levels_restore(part->group[group].levels, line, n);
		if (part->threads != LOCI_SHARED_BY_ALL)
			r = loci_shared_add_holders(shared, i, group, line, n, err);
	}
	shared->has_touches = true;
	return r;
}

int loci_levels_shared_end(struct loci_levels_shared *shared, uint32_t number,
	const struct loci_levels_eviction **ret_evicted, size_t *ret_n, struct loci_err *err)
{
	struct loci_levels_eviction evicted[64];
	size_t n;
	int r = 0;

	shared->n_evicted = 0;
	for (unsigned i = 0; number < shared->n_members && shared->member[number] &&
		!shared->member[number]->has_ended && i < shared->n_parts;
		i++) {
		struct loci_shared_part *part = &shared->part[i];

		if (part->threads != 1)
			continue;
		while (i == 0 &&
			(n = loci_levels_drain(part->group[number].levels, evicted, 64)) > 0)
			for (size_t k = 0; k < n; k++)
				if (loci_shared_add_evicted(shared, evicted[k]) < 0)
					r = loci_err_nomem(err);
		free_cache(&part->group[number]);
	}
	if (number < shared->n_members && shared->member[number])
		shared->member[number]->has_ended = true;
	*ret_evicted = shared->evicted;
	*ret_n = shared->n_evicted;
	return r;
}

size_t loci_levels_shared_drain(
	struct loci_levels_shared *shared, struct loci_levels_eviction *evicted, size_t cap)
{
	const struct loci_shared_part *part = &shared->part[0];

	for (; shared->drained < part->n_groups; shared->drained++) {
		size_t n;

		if (!part->group[shared->drained].levels)
			continue;
		n = loci_levels_drain(part->group[shared->drained].levels, evicted, cap);
		if (n)
			return n;
	}
	return 0;
}

uint64_t loci_levels_shared_bytes(const struct loci_levels_shared *shared)
{
	uint64_t bytes = sizeof(*shared) + shared->map.bytes +
		shared->holder_room * sizeof(*shared->holder) +
		shared->evicted_room * sizeof(*shared->evicted);

	for (unsigned i = 0; i < shared->n_parts; i++)
		for (uint32_t k = 0; k < shared->part[i].n_groups; k++)
			bytes += cache_bytes(&shared->part[i].group[k]);
	for (uint32_t i = 0; i < shared->n_members; i++)
		bytes += sizeof(void *) + (shared->member[i] ? sizeof(**shared->member) : 0);
	return bytes;
}
