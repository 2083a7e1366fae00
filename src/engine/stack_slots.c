// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine's slots, off the hot path: their memory, full lines, renumbering. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "engine/stack_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>

/* Up to so many bytes slots leave their memory to those that come after the next: pages that must
 * be cleared first cost as much as a small renumbering. */
#define SPARE_BYTES (16u << 20)
#define AHEAD       8 /* buckets for which memory is asked before they are renumbered */

struct layout {
	uint64_t n_lines, near, far[LOCI_STACK_LEVELS], use, bytes; /* offsets, in bytes */
	unsigned n_far;
};

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static struct layout layout_for(uint64_t n_slots, bool keep_uses, uint64_t page_bytes)
{
	struct layout layout = { .n_lines = n_slots / LOCI_STACK_LINE_BITS + 1 };
	uint64_t n, at = layout.n_lines * sizeof(struct loci_stack_line);

	layout.near = at;
	at += round_up(layout.n_lines, LOCI_STACK_NEAR) * sizeof(uint16_t);
	for (n = layout.n_lines; n > LOCI_STACK_NEAR || layout.n_far; n /= LOCI_STACK_FAR) {
		if (!layout.n_far)
			n = round_up(n, LOCI_STACK_NEAR) / LOCI_STACK_NEAR;
		n = round_up(n, LOCI_STACK_FAR);
		layout.far[layout.n_far++] = at;
		at += n * sizeof(uint32_t);
		if (n == LOCI_STACK_FAR)
			break;
	}
	layout.use = at;
	if (keep_uses)
		at += layout.n_lines * LOCI_STACK_LINE_BITS * sizeof(uint64_t);
	layout.bytes = round_up(at, page_bytes);
	return layout;
}

uint64_t loci_stack_slots_bytes(uint64_t n_slots, bool keep_uses, uint64_t page_bytes)
{
	return layout_for(n_slots, keep_uses, page_bytes).bytes;
}

uint32_t loci_stack_slots_number(uint64_t rank)
{
	return (uint32_t)rank / LOCI_STACK_LINE_BITS * 64 + (uint32_t)rank + 64;
}

void loci_stack_slots_close_line(struct loci_stack_slots *slots)
{
	uint32_t line = slots->open, group = line / LOCI_STACK_NEAR;

	for (uint32_t i = line / LOCI_STACK_NEAR * LOCI_STACK_NEAR; i < line; i++)
		slots->near[i] += (uint16_t)slots->open_live;
	for (unsigned level = 0; level < slots->n_far; level++, group /= LOCI_STACK_FAR)
		for (uint32_t i = group / LOCI_STACK_FAR * LOCI_STACK_FAR; i < group; i++)
			slots->far[level][i] += slots->open_live;
	slots->open++;
	slots->open_live = 0;
	slots->next = slots->open * 512 + 64;
}

static void fill_line(struct loci_stack_line *line, unsigned n)
{
	for (unsigned word = 1; word < 8 && n; word++) {
		unsigned here = n < 64 ? n : 64;

		n -= here;
		line->word[word] = UINT64_MAX >> (64 - here);
		line->word[0] |= (uint64_t)n << (9 * (word - 1));
	}
}

/* Aligned for huge pages. */
static void *map_pages(uint64_t bytes, uint64_t page_bytes)
{
	char *memory = mmap(NULL, bytes + page_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before;

	if (memory == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)memory % page_bytes;
	if (before)
		munmap(memory, before);
	munmap(memory + before + bytes, page_bytes - before);
	madvise(memory + before, bytes, MADV_HUGEPAGE);
	return memory + before;
}

/* In memory whose part before the uses is clear. */
static void make(struct loci_stack_slots *slots, const struct layout *layout, char *memory,
	uint64_t n_live, bool keep_uses)
{
	*slots = (struct loci_stack_slots){
		.line = (struct loci_stack_line *)memory,
		.near = (uint16_t *)(memory + layout->near),
		.n_far = layout->n_far,
		.n_lines = (uint32_t)layout->n_lines,
		.next = loci_stack_slots_number(0),
		.finger = { .line = LOCI_STACK_NO_LINE },
		.use = keep_uses ? (uint64_t *)(memory + layout->use) : NULL,
		.bytes = layout->bytes,
	};
	for (unsigned i = 0; i < layout->n_far; i++)
		slots->far[i] = (uint32_t *)(memory + layout->far[i]);
	for (; n_live >= LOCI_STACK_LINE_BITS; n_live -= LOCI_STACK_LINE_BITS) {
		fill_line(&slots->line[slots->open], LOCI_STACK_LINE_BITS);
		slots->open_live = LOCI_STACK_LINE_BITS;
		loci_stack_slots_close_line(slots);
	}
	fill_line(&slots->line[slots->open], (unsigned)n_live);
	slots->open_live = (uint32_t)n_live;
	slots->next += (uint32_t)n_live;
}

int loci_stack_slots_init(struct loci_stack_slots *slots, uint64_t n_slots, uint64_t n_live,
	bool keep_uses, uint64_t page_bytes)
{
	struct layout layout = layout_for(n_slots, keep_uses, page_bytes);
	char *memory = map_pages(layout.bytes, page_bytes);

	if (!memory)
		return -ENOMEM;
	make(slots, &layout, memory, n_live, keep_uses);
	return 0;
}

void loci_stack_slots_fini(struct loci_stack_slots *slots)
{
	if (slots->spare)
		munmap(slots->spare, slots->bytes);
	if (slots->line)
		munmap(slots->line, slots->bytes);
}

bool loci_stack_slots_have_room(const struct loci_stack_slots *slots, uint64_t chunk)
{
	/* the line after the last one filled is opened too */
	return (uint64_t)(slots->n_lines - slots->open - 1) * LOCI_STACK_LINE_BITS >
		chunk + LOCI_STACK_LINE_BITS;
}

/* Without an instruction for it, which this code is not compiled for, the compiler calls a
 * function. */
static inline uint64_t count_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	return ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

/* The set bits after a slot in its line. */
static inline uint64_t after_in_line(const struct loci_stack_slots *slots, uint32_t slot)
{
	const uint64_t *word = slots->line[slot / 512].word;
	unsigned w = slot / 64 % 8;

	return count_bits(word[w] >> 1 >> (slot % 64)) + (word[0] >> (9 * (w - 1)) & 511);
}

uint64_t loci_stack_slots_after(const struct loci_stack_slots *slots, uint32_t slot)
{
	uint32_t line = slot / 512, group = line / LOCI_STACK_NEAR;
	uint64_t after = after_in_line(slots, slot);

	if (line == slots->open)
		return after;
	after += slots->open_live + slots->near[line];
	for (unsigned level = 0; level < slots->n_far; level++, group /= LOCI_STACK_FAR)
		after += slots->far[level][group];
	return after;
}

void loci_stack_slots_clear(struct loci_stack_slots *slots, uint32_t slot)
{
	uint32_t line = slot / 512, group = line / LOCI_STACK_NEAR;
	uint64_t *word = slots->line[line].word;
	unsigned w = slot / 64 % 8;

	word[w] &= ~(1ull << (slot % 64));
	for (unsigned i = 1; i < w; i++)
		word[0] -= 1ull << (9 * (i - 1));
	if (line == slots->open) {
		slots->open_live--;
		return;
	}
	for (uint32_t i = line / LOCI_STACK_NEAR * LOCI_STACK_NEAR; i < line; i++)
		slots->near[i]--;
	for (unsigned level = 0; level < slots->n_far; level++, group /= LOCI_STACK_FAR)
		for (uint32_t i = group / LOCI_STACK_FAR * LOCI_STACK_FAR; i < group; i++)
			slots->far[level][i]--;
}

/* Those that are to take the place of slots, in the memory spared if that is enough. */
static int init_next(struct loci_stack_slots *slots, uint64_t n_slots, uint64_t n_live,
	uint64_t page_bytes, struct loci_stack_slots *ret)
{
	struct layout layout = layout_for(n_slots, slots->use != NULL, page_bytes);
	char *memory = slots->spare;

	slots->spare = NULL;
	if (memory && layout.bytes != slots->bytes) {
		munmap(memory, slots->bytes);
		memory = NULL;
	}
	if (!memory)
		return loci_stack_slots_init(ret, n_slots, n_live, slots->use != NULL, page_bytes);
	memset(memory, 0, layout.use);
	make(ret, &layout, memory, n_live, slots->use != NULL);
	return 0;
}

/* They take it. */
static void replace(struct loci_stack_slots *slots, struct loci_stack_slots *next)
{
	if (slots->bytes == next->bytes && slots->bytes <= SPARE_BYTES)
		next->spare = slots->line;
	else
		loci_stack_slots_fini(slots);
	next->finger.rest = slots->finger.rest;
	*slots = *next;
}

/* Of each line in use, the bits that are set in it and those before it. */
static uint32_t *count_up(const struct loci_stack_slots *slots)
{
	uint32_t *ret = malloc((slots->open + 1ull) * sizeof(*ret)), n = 0;

	for (uint32_t i = 0; ret && i <= slots->open; i++) {
		const uint64_t *word = slots->line[i].word;

		ret[i] = n += (uint32_t)((word[0] & 511) + count_bits(word[1]));
	}
	return ret;
}

/* The slot of an entry; of one that has none the first, so that none needs a branch: which of a
 * bucket's entries are taken cannot be foreseen. */
static inline uint32_t slot_of(uint32_t entry)
{
	uint32_t least = LOCI_STACK_DEEP + 64;

	return (entry > least ? entry : least) - LOCI_STACK_DEEP;
}

/* up_to: by line, as count_up has it. */
static inline __attribute__((always_inline)) uint32_t renumber(const struct loci_stack_slots *slots,
	const uint32_t *up_to, uint32_t entry, const struct loci_stack_slots *fresh)
{
	uint32_t slot = slot_of(entry);
	uint32_t rank = up_to[slot / 512] - 1 - (uint32_t)after_in_line(slots, slot);
	uint32_t moved = LOCI_STACK_DEEP + loci_stack_slots_number(rank);

	if (slots->use && entry >= LOCI_STACK_DEEP)
		fresh->use[rank] = slots->use[loci_stack_use_index(slot)];
	return entry >= LOCI_STACK_DEEP ? moved : entry;
}

/* What stands of a slot is far from that of the next block in the map. */
static inline __attribute__((always_inline)) void expect(
	const struct loci_stack_slots *slots, const struct loci_stack_bucket *bucket)
{
	for (unsigned i = 0; i < LOCI_STACK_WAYS; i++) {
		uint32_t slot = slot_of(bucket->slot[i]);

		__builtin_prefetch(&slots->line[slot / 512]);
		if (slots->use)
			__builtin_prefetch(&slots->use[loci_stack_use_index(slot)]);
	}
}

int loci_stack_slots_renumber(struct loci_stack_slots *slots, struct loci_stack_map *map,
	uint64_t n_live, uint64_t n_slots)
{
	uint64_t n = map->n_homes + map->n_spare;
	loci_autofree uint32_t *up_to = count_up(slots);
	struct loci_stack_slots fresh;
	int r = up_to ? init_next(slots, n_slots, n_live, map->page_bytes, &fresh) : -ENOMEM;

	if (r < 0)
		return r;
	for (uint64_t b = 0; b < n; b++) {
		uint32_t *slot = map->bucket[b].slot;

		if (b + AHEAD < n)
			expect(slots, &map->bucket[b + AHEAD]);
		if (!slot[0]) /* a page that was never written stays so */
			continue;
		for (unsigned i = 0; i < LOCI_STACK_WAYS; i++)
			slot[i] = renumber(slots, up_to, slot[i], &fresh);
	}
	replace(slots, &fresh);
	return 0;
}
