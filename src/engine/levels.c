// SPDX-License-Identifier: GPL-2.0-or-later
/* The life of the simulator of named caches; its work is in levels_kernel.h. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "engine/levels_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>

/* Slots, and one more a set for lists, have numbers of 32 bits; NONE is one of them. */
#define MAX_SLOTS (UINT32_MAX / 2)
#define HUGE_PAGE ((size_t)2 << 20)

static loci_levels_kernel *const kernels[] = {
	[LOCI_ISA_SCALAR] = loci_levels_run_scalar,
#if defined(__x86_64__)
	[LOCI_ISA_AVX2] = loci_levels_run_avx2,
	[LOCI_ISA_AVX512] = loci_levels_run_avx512,
#endif
};

/* Zeroed, aligned to cache lines, backed when touched if it is large. Arrays start at different
 * places in a page: a load that a store elsewhere seems to overlap waits for it. */
static void *allocate(struct loci_levels *levels, uint64_t n, size_t size)
{
	size_t align = n * size >= 2 * HUGE_PAGE ? HUGE_PAGE : 4096;
	size_t offset = levels->n_memory * 320 % 4096, bytes = n * size + offset;
	char *memory = calloc(1, bytes + align);

	if (!memory)
		return NULL;
	levels->memory[levels->n_memory++] = memory;
	levels->memory_bytes += bytes + align;
	memory += -(uintptr_t)memory % align;
	if (align == HUGE_PAGE)
		(void)madvise(memory, bytes & -HUGE_PAGE, MADV_HUGEPAGE);
	return memory + offset;
}

static int init_list(struct loci_levels *levels, struct loci_level *level)
{
	struct loci_levels_list *list = &level->list;
	uint64_t n_map = 64;

	while (n_map < 2 * level->n_slots)
		n_map *= 2;
	list->map_mask = n_map - 1;
	list->link = allocate(levels, level->n_slots + level->sets, sizeof(*list->link));
	list->used = allocate(levels, level->sets, sizeof(*list->used));
	list->map = allocate(levels, n_map, sizeof(*list->map));
	return list->link && list->used && list->map ? 0 : -ENOMEM;
}

static int init_level(struct loci_levels *levels, struct loci_level *level)
{
	level->stamp = allocate(levels, level->n_slots, sizeof(*level->stamp));
	level->block = allocate(levels, level->n_slots, sizeof(*level->block));
	if (!level->block || !level->stamp)
		return -ENOMEM;
	if (!level->held) {
		level->dirty = allocate(levels, level->n_slots, sizeof(*level->dirty));
		level->written = allocate(levels, level->n_slots, sizeof(*level->written));
		if (!level->dirty || !level->written)
			return -ENOMEM;
	}
	if (level->is_list)
		return init_list(levels, level);
	/* What is never found where it stands: 0 in any set but the first, and there 1. */
	for (unsigned i = 0; i < level->stride && level->sets > 1; i++)
		level->block[i] = 1;
	return 0;
}

static void shape(struct loci_level *level, const struct loci_levels_geometry *geometry, unsigned i)
{
	level->sets = geometry->sets;
	level->set_mask = geometry->sets & (geometry->sets - 1) ? 0 : geometry->sets - 1;
	level->ways = level->stride = geometry->ways;
	level->is_list = level->ways > LOCI_LEVELS_SEARCHED;
	if (!level->is_list)
		level->stride = (level->ways + LOCI_LEVELS_VECTOR - 1) & -LOCI_LEVELS_VECTOR;
	level->n_slots = level->sets * level->stride;
	level->bit = level->dominion = (uint8_t)(1u << i);
}

static bool lies_inside(const struct loci_level *inner, const struct loci_level *outer)
{
	return outer->sets % inner->sets == 0 && outer->ways >= inner->ways;
}

static int find_parent(struct loci_levels *levels, unsigned i)
{
	struct loci_level *level = &levels->level[i];

	for (unsigned p = i; p-- > 0;) {
		struct loci_level *parent = &levels->level[p];

		if (!lies_inside(parent, level))
			continue;
		level->held = allocate(levels, parent->n_slots, sizeof(*level->held));
		parent->children |= level->bit;
		return level->held ? 0 : -ENOMEM;
	}
	return 0;
}

static void levels_freep(struct loci_levels **levels)
{
	loci_levels_free(*levels);
}

static int check_geometry(
	const struct loci_levels_geometry *level, unsigned n_levels, struct loci_err *err)
{
	if (!n_levels || n_levels > LOCI_LEVELS)
		return loci_err_set(err, EINVAL, "%u cache levels; 1 to %d can be simulated",
			n_levels, LOCI_LEVELS);
	for (unsigned i = 0; i < n_levels; i++) {
		uint64_t ways = level[i].ways + (uint64_t)LOCI_LEVELS_VECTOR;

		if (!level[i].sets || !level[i].ways)
			return loci_err_set(
				err, EINVAL, "cache level %u has no sets or no ways", i + 1);
		if (level[i].sets > MAX_SLOTS / ways)
			return loci_err_set(err, EINVAL,
				"cache level %u has %llu sets of %u ways; at most %u lines can be "
				"simulated",
				i + 1, (unsigned long long)level[i].sets, level[i].ways, MAX_SLOTS);
	}
	return 0;
}

int loci_levels_new(const struct loci_levels_geometry *level, unsigned n_levels, enum loci_isa isa,
	struct loci_levels **ret, struct loci_err *err)
{
	loci_cleanup(levels_freep) struct loci_levels *levels = NULL;
	int r = check_geometry(level, n_levels, err);

	if (r < 0)
		return r;
	levels = calloc(1, sizeof(*levels));
	if (!levels)
		return loci_err_nomem(err);
	levels->n = n_levels;
	levels->now = 1;
	levels->kernel = kernels[loci_isa_resolve(isa)];
	for (unsigned i = 0; i < n_levels; i++) {
		shape(&levels->level[i], &level[i], i);
		if (find_parent(levels, i) < 0 || init_level(levels, &levels->level[i]) < 0)
			return loci_err_nomem(err);
	}
	/* Children come after their parents. */
	for (unsigned i = n_levels; i-- > 0;)
		for (unsigned child = i + 1; child < n_levels; child++)
			if (levels->level[i].children & levels->level[child].bit)
				levels->level[i].dominion |= levels->level[child].dominion;
	levels->bytes = allocate(levels, levels->level[0].n_slots, sizeof(*levels->bytes));
	levels->owner = allocate(levels, levels->level[0].n_slots, sizeof(*levels->owner));
	if (!levels->bytes || !levels->owner)
		return loci_err_nomem(err);
	*ret = levels;
	levels = NULL;
	return 0;
}

void loci_levels_free(struct loci_levels *levels)
{
	if (!levels)
		return;
	for (unsigned i = 0; i < levels->n_memory; i++)
		free(levels->memory[i]);
	free(levels);
}

void loci_levels_feed(struct loci_levels *levels, struct loci_levels_batch *batch)
{
	batch->n_evicted = 0;
	levels->kernel(levels, batch);
}

bool loci_levels_may_be_recent(const struct loci_levels_geometry *level, unsigned n_levels)
{
	for (unsigned i = 0; i < n_levels; i++)
		if (level[i].ways < LOCI_RECENT)
			return false;
	return true;
}

void loci_levels_add_recent(struct loci_levels *levels, const struct loci_recent *recent)
{
	for (unsigned i = 0; i < recent->n; i++)
		levels->bytes[levels->level[0].recent[i]] |= recent->bytes[i];
}

/* The place of the most recent block but so many. */
static unsigned place_of(const struct loci_recent *recent, unsigned rank)
{
	unsigned place = 0;

	while ((recent->ranks >> 8 * place & 0xff) != rank)
		place++;
	return place;
}

void loci_levels_leave_recent(struct loci_levels *levels, const struct loci_recent *recent)
{
	loci_levels_add_recent(levels, recent);
	levels->now = recent->now + 1;
	for (unsigned i = 0; i < levels->n; i++) {
		struct loci_level *level = &levels->level[i];

		/* the newest last, as lists want it */
		for (unsigned rank = recent->n; !level->held && rank-- > 0;) {
			unsigned place = place_of(recent, rank);
			uint32_t slot = level->recent[place];

			level->stamp[slot] = recent->time[place] << LOCI_LEVELS_TIME_SHIFT |
				(level->stamp[slot] & LOCI_LEVELS_WAY);
			if (level->is_list)
				loci_levels_list_link(level, slot);
		}
	}
}

size_t loci_levels_drain(
	struct loci_levels *levels, struct loci_levels_eviction *evicted, size_t cap)
{
	const struct loci_level *first = &levels->level[0];
	size_t n = 0;

	for (; n < cap && levels->drained < first->n_slots; levels->drained++) {
		if (!first->stamp[levels->drained])
			continue;
		evicted[n++] = (struct loci_levels_eviction){
			.owner = levels->owner[levels->drained],
			.used_bytes =
				(uint32_t)__builtin_popcountll(levels->bytes[levels->drained]),
		};
	}
	return n;
}

uint64_t loci_levels_bytes(const struct loci_levels *levels)
{
	return sizeof(*levels) + levels->memory_bytes;
}
