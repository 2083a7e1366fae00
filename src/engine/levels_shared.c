// SPDX-License-Identifier: GPL-2.0-or-later
/* Neighbouring levels that the same threads share form a *part*; a part is simulated by as many
 * loci_levels as there are groups. During a turn only the caches of one member change by touches,
 * and those of others by its writes, so that a turn is fed whole, and its writes are looked at
 * after it.
 *
 * A directory says for each block which caches may have it, or had it when it was taken away; it is
 * asked when a touch misses a part altogether, and for writes. Most of these are to blocks that the
 * member had written before and nobody else touched since: a small table of each member knows
 * some. */
#include "engine/levels_state.h"
#include "engine/stack_line.h"

#include "engine/levels_shared.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#define PIECE    4096 /* touches, at most, that a part is fed at once */
#define KNOWN    512  /* blocks of a member that nobody else has */
#define EVERYONE 0    /* threads of a part that has one cache */

struct part {
	unsigned first, n;
	uint32_t threads;
	struct loci_levels_geometry geometry[LOCI_LEVELS];
	struct loci_levels **group;
	uint32_t n_groups;
};

/* A cache of a part that may have a block. */
struct holder {
	uint32_t next; /* 0: none */
	uint32_t group;
	uint8_t part;
	uint8_t lost; /* levels from which it was taken */
};

struct member {
	uint64_t known[KNOWN]; /* block + 1 */
	bool has_begun, has_ended;
};

struct loci_levels_shared {
	struct part part[LOCI_LEVELS];
	unsigned n_parts, n_levels;
	enum loci_isa isa;
	struct member **member;
	uint32_t n_members;
	/* Entries of the map: slot is DEEP and the first holder; stamp the member that nobody has
	 * followed since its last write, plus 1, or 0. */
	struct loci_stack_map map;
	struct holder *holder;
	uint32_t n_holders, free_holder, holder_room;
	struct loci_levels_eviction *evicted;
	size_t n_evicted, evicted_room;
	uint32_t drained; /* caches of the first part */
	bool has_touches;
	uint8_t missed[PIECE], dirty[PIECE];
};

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
		struct part *part;

		all[i] = level[i].geometry;
		if (!i || level[i].threads != level[i - 1].threads)
			shared->part[shared->n_parts++] =
				(struct part){ .first = i, .threads = level[i].threads };
		part = &shared->part[shared->n_parts - 1];
		part->geometry[part->n++] = level[i].geometry;
	}
	/* What it does not take as one it does not take in parts. */
	r = loci_levels_new(all, n_levels, shared->isa, &trial, err);
	if (r == 0)
		loci_levels_free(trial);
	return r;
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
	*ret = shared;
	shared = NULL;
	return 0;
}

void loci_levels_shared_free(struct loci_levels_shared *shared)
{
	if (!shared)
		return;
	for (unsigned i = 0; i < shared->n_parts; i++) {
		for (uint32_t k = 0; k < shared->part[i].n_groups; k++)
			loci_levels_free(shared->part[i].group[k]);
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

/* An array of n elements gets room for one at an index; what is new is 0. */
static int reach(void *array, uint32_t *n, uint64_t index, size_t element)
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

static uint32_t group_of(const struct part *part, uint32_t member)
{
	return part->threads == EVERYONE ? 0 : member / part->threads;
}

/* Its caches, too. */
static int begin(struct loci_levels_shared *shared, uint32_t number, struct loci_err *err)
{
	if (reach(&shared->member, &shared->n_members, number, sizeof(*shared->member)) < 0)
		return loci_err_nomem(err);
	if (!shared->member[number])
		shared->member[number] = calloc(1, sizeof(**shared->member));
	if (!shared->member[number])
		return loci_err_nomem(err);
	if (shared->member[number]->has_ended)
		return loci_err_set(err, EINVAL, "member %u of shared caches has ended", number);
	for (unsigned i = 0; i < shared->n_parts; i++) {
		struct part *part = &shared->part[i];
		uint32_t group = group_of(part, number);
		int r;

		if (reach(&part->group, &part->n_groups, group, sizeof(*part->group)) < 0)
			return loci_err_nomem(err);
		if (part->group[group])
			continue;
		r = loci_levels_new(part->geometry, part->n, shared->isa, &part->group[group], err);
		if (r < 0)
			return r;
	}
	shared->member[number]->has_begun = true;
	return 0;
}

static int make_room(struct loci_levels_shared *shared, struct loci_err *err)
{
	/* A touch of a chunk adds at most one holder for each part. */
	uint64_t holders = shared->map.chunk * LOCI_LEVELS + 1;

	while (!loci_stack_map_has_room(&shared->map)) {
		uint64_t n_homes = loci_stack_map_next_homes(&shared->map);

		if (n_homes > LOCI_STACK_MAX_HOMES ||
			loci_stack_map_grow(&shared->map, n_homes, NULL) < 0)
			return loci_err_nomem(err);
	}
	if (reach(&shared->holder, &shared->holder_room, shared->n_holders + holders,
		    sizeof(*shared->holder)) < 0)
		return loci_err_nomem(err);
	return 0;
}

static int add_evicted(struct loci_levels_shared *shared, struct loci_levels_eviction eviction)
{
	if (shared->n_evicted == shared->evicted_room) {
		size_t room = shared->evicted_room ? 2 * shared->evicted_room : PIECE;
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

static uint32_t *entry_of(struct loci_levels_shared *shared, uint64_t block)
{
	uint64_t hash = loci_stack_hash(block);
	uint32_t *entry =
		kernel_find(shared->map.bucket + loci_stack_home(hash, shared->map.n_homes), hash);

	if (!*entry) {
		shared->map.n_entries++;
		*loci_stack_key(entry) = hash;
		*loci_stack_stamp(entry) = 0;
		*entry = LOCI_STACK_DEEP;
	}
	return entry;
}

static struct holder *find_holder(
	struct loci_levels_shared *shared, const uint32_t *entry, unsigned part, uint32_t group)
{
	for (uint32_t i = *entry - LOCI_STACK_DEEP; i; i = shared->holder[i].next)
		if (shared->holder[i].part == part && shared->holder[i].group == group)
			return &shared->holder[i];
	return NULL;
}

static void add_holder(
	struct loci_levels_shared *shared, uint32_t *entry, unsigned part, uint32_t group)
{
	uint32_t item = shared->free_holder;

	if (item)
		shared->free_holder = shared->holder[item].next;
	else
		item = ++shared->n_holders;
	shared->holder[item] = (struct holder){
		.next = *entry - LOCI_STACK_DEEP, .group = group, .part = (uint8_t)part
	};
	*entry = LOCI_STACK_DEEP + item;
}

static size_t known_at(uint64_t block)
{
	return block % KNOWN;
}

/* Another touches the block. */
static void not_known(struct member *member, uint64_t block)
{
	if (member->known[known_at(block)] == block + 1)
		member->known[known_at(block)] = 0;
}

struct looked {
	uint64_t block;
	uint32_t member;
	bool is_write;
	uint8_t missed;
	/* found */
	uint8_t coherence, transfer;
};

/* The caches of a part that are not the member's lose the block. */
static int take_from_others(struct loci_levels_shared *shared, uint32_t *entry, struct looked *look)
{
	uint32_t item, previous = 0;

	for (item = *entry - LOCI_STACK_DEEP; item;) {
		struct holder *holder = &shared->holder[item];
		const struct part *part = &shared->part[holder->part];
		struct loci_levels *levels = part->group[holder->group];
		struct loci_levels_taken taken = { 0 };
		uint32_t next = holder->next;

		if (holder->group != group_of(part, look->member)) {
			if (levels)
				taken = loci_levels_invalidate(levels, look->block);
			holder->lost = levels ? holder->lost | taken.levels : 0;
			look->transfer |= (uint8_t)(taken.dirty << part->first);
			if (part->first == 0 && taken.levels & 1 &&
				add_evicted(shared, taken.eviction) < 0)
				return -ENOMEM;
			if (!holder->lost) {
				if (previous)
					shared->holder[previous].next = next;
				else
					*entry = LOCI_STACK_DEEP + next;
				holder->next = shared->free_holder;
				shared->free_holder = item;
				item = next;
				continue;
			}
		}
		previous = item;
		item = next;
	}
	return 0;
}

static int look_up(struct loci_levels_shared *shared, struct looked *look)
{
	uint32_t *entry = entry_of(shared, look->block);
	uint64_t *alone = loci_stack_stamp(entry);

	for (unsigned i = 0; i < shared->n_parts; i++) {
		const struct part *part = &shared->part[i];
		uint32_t group = group_of(part, look->member);
		struct holder *holder;

		if (part->threads == EVERYONE)
			continue;
		holder = find_holder(shared, entry, i, group);
		if (holder) {
			look->coherence |= (uint8_t)(holder->lost << part->first) & look->missed;
			holder->lost = 0;
		} else {
			add_holder(shared, entry, i, group);
		}
	}
	if (*alone && *alone != look->member + 1ull) {
		not_known(shared->member[*alone - 1], look->block);
		*alone = 0;
	}
	if (!look->is_write)
		return 0;
	*alone = look->member + 1ull;
	shared->member[look->member]->known[known_at(look->block)] = look->block + 1;
	return take_from_others(shared, entry, look);
}

/* Did a touch miss some part altogether, so that others may have taken its block from there? */
static bool missed_a_part(const struct loci_levels_shared *shared, uint8_t missed)
{
	for (unsigned i = 0; i < shared->n_parts; i++) {
		const struct part *part = &shared->part[i];
		unsigned levels = ((1u << part->n) - 1) << part->first;

		if (part->threads != EVERYONE && (missed & levels) == levels)
			return true;
	}
	return false;
}

static int feed_parts(struct loci_levels_shared *shared, uint32_t member,
	const struct loci_levels_shared_batch *batch, size_t from, size_t n)
{
	struct loci_levels_eviction evicted[PIECE];

	memset(batch->ret_missed + from, 0, n);
	memset(batch->ret_dirty + from, 0, n);
	for (unsigned i = 0; i < shared->n_parts; i++) {
		const struct part *part = &shared->part[i];
		struct loci_levels_batch some = { .block = batch->block + from,
			.is_write = batch->is_write + from,
			.bytes = batch->bytes + from,
			.owner = batch->owner + from,
			.n = n,
			.ret_missed = shared->missed,
			.ret_dirty = shared->dirty,
			.ret_evicted = evicted };

		loci_levels_feed(part->group[group_of(part, member)], &some);
		for (size_t k = 0; k < n; k++) {
			batch->ret_missed[from + k] |= (uint8_t)(shared->missed[k] << part->first);
			batch->ret_dirty[from + k] |= (uint8_t)(shared->dirty[k] << part->first);
		}
		for (size_t k = 0; i == 0 && k < some.n_evicted; k++)
			if (add_evicted(shared, evicted[k]) < 0)
				return -ENOMEM;
	}
	return 0;
}

static int feed_turn(struct loci_levels_shared *shared, uint32_t member,
	struct loci_levels_shared_batch *batch, size_t from, size_t to, struct loci_err *err)
{
	int r = begin(shared, member, err);

	for (size_t n; r == 0 && from < to; from += n) {
		const uint64_t *known = shared->member[member]->known;

		n = to - from < PIECE ? to - from : PIECE;
		if (feed_parts(shared, member, batch, from, n) < 0)
			return loci_err_nomem(err);
		for (size_t i = from; r == 0 && i < from + n; i++) {
			struct looked look = { .block = batch->block[i],
				.member = member,
				.is_write = batch->is_write[i],
				.missed = batch->ret_missed[i] };

			if ((i - from) % shared->map.chunk == 0)
				r = make_room(shared, err);
			if (r == 0 &&
				(missed_a_part(shared, look.missed) ||
					(look.is_write &&
						known[known_at(look.block)] != look.block + 1)) &&
				look_up(shared, &look) < 0)
				r = loci_err_nomem(err);
			batch->ret_coherence[i] = look.coherence;
			batch->ret_transfer[i] = look.transfer;
		}
	}
	return r;
}

int loci_levels_shared_feed(struct loci_levels_shared *shared,
	struct loci_levels_shared_batch *batch, struct loci_err *err)
{
	int r = 0;

	shared->n_evicted = 0;
	shared->has_touches |= batch->n > 0;
	for (size_t i = 0; r == 0 && i < batch->n_turns; i++) {
		size_t to = i + 1 < batch->n_turns ? batch->turn_touch[i + 1] : batch->n;

		r = feed_turn(shared, batch->turn_member[i], batch, batch->turn_touch[i], to, err);
	}
	batch->evicted = shared->evicted;
	batch->n_evicted = shared->n_evicted;
	return r;
}

/* Who may have the blocks of a cache that was taken over. */
static int add_holders(struct loci_levels_shared *shared, unsigned part, uint32_t group,
	const struct loci_levels_line *line, size_t n, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (i % shared->map.chunk == 0)
			r = make_room(shared, err);
		if (r == 0)
			add_holder(shared, entry_of(shared, line[i].block), part, group);
	}
	return r;
}

int loci_levels_shared_adopt(struct loci_levels_shared *shared, uint32_t member,
	const struct loci_levels *plain, struct loci_err *err)
{
	int r = begin(shared, member, err);

	if (r == 0 && (shared->has_touches || plain->n != shared->n_levels))
		r = loci_err_set(err, EINVAL, "these caches cannot be taken over");
	for (unsigned i = 0; r == 0 && i < shared->n_parts; i++) {
		const struct part *part = &shared->part[i];
		uint32_t group = group_of(part, member);
		uint8_t wanted = (uint8_t)(((1u << part->n) - 1) << part->first);
		struct loci_levels_line *line;
		size_t n;

		if (loci_levels_lines(plain, wanted, &line, &n) < 0)
			return loci_err_nomem(err);
		for (size_t k = 0; k < n; k++)
			line[k].dirty = (uint8_t)((line[k].dirty & wanted) >> part->first);
		loci_levels_restore(part->group[group], line, n);
		if (part->threads != EVERYONE)
			r = add_holders(shared, i, group, line, n, err);
		free(line);
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
		struct part *part = &shared->part[i];

		if (part->threads != 1)
			continue;
		while (i == 0 && (n = loci_levels_drain(part->group[number], evicted, 64)) > 0)
			for (size_t k = 0; k < n; k++)
				if (add_evicted(shared, evicted[k]) < 0)
					r = loci_err_nomem(err);
		loci_levels_free(part->group[number]);
		part->group[number] = NULL;
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
	const struct part *part = &shared->part[0];

	for (; shared->drained < part->n_groups; shared->drained++) {
		size_t n;

		if (!part->group[shared->drained])
			continue;
		n = loci_levels_drain(part->group[shared->drained], evicted, cap);
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
			if (shared->part[i].group[k])
				bytes += loci_levels_bytes(shared->part[i].group[k]);
	for (uint32_t i = 0; i < shared->n_members; i++)
		bytes += sizeof(void *) + (shared->member[i] ? sizeof(**shared->member) : 0);
	return bytes;
}
