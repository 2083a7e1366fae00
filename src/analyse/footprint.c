// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/footprint.h"

#include "analyse/grow.h"

#define PAGE_SHIFT 12
#define PAGE_WORDS 512
#define FIRST_BITS 10

struct loci_footprint_page {
	uint64_t number;
	uint8_t loaded[PAGE_WORDS], stored[PAGE_WORDS]; /* a bit for each byte of a word */
	uint64_t uses[PAGE_WORDS];
};

struct loci_footprint *loci_footprint_new(uint64_t max_bytes)
{
	struct loci_footprint *footprint = calloc(1, sizeof(*footprint));

	if (footprint)
		footprint->max_bytes = max_bytes;
	return footprint;
}

static void clear(struct loci_footprint *footprint)
{
	for (size_t i = 0; footprint->page && i < (size_t)1 << footprint->bits; i++)
		free(footprint->page[i]);
	free(footprint->page);
	for (size_t i = 0; i < footprint->sketch_cap; i++)
		free(footprint->sketch[i].slot);
	free(footprint->sketch);
	*footprint = (struct loci_footprint){ .max_bytes = footprint->max_bytes };
}

void loci_footprint_free(struct loci_footprint *footprint)
{
	if (!footprint)
		return;
	clear(footprint);
	free(footprint);
}

/* Room for so many bytes more; without it all that is known goes. */
static bool take(struct loci_footprint *footprint, uint64_t bytes)
{
	if (footprint->dropped)
		return false;
	if (footprint->max_bytes && footprint->bytes + bytes > footprint->max_bytes) {
		clear(footprint);
		footprint->dropped = true;
		return false;
	}
	footprint->bytes += bytes;
	return true;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/* Pages. */

static struct loci_footprint_page **home(struct loci_footprint *footprint, uint64_t number)
{
	size_t mask = ((size_t)1 << footprint->bits) - 1, i = mix(number) & mask;

	while (footprint->page[i] && footprint->page[i]->number != number)
		i = (i + 1) & mask;
	return &footprint->page[i];
}

/* Twice as many slots. 0 or -ENOMEM; it may be dropped then. */
static int grow_pages(struct loci_footprint *footprint)
{
	struct loci_footprint_page **old = footprint->page;
	size_t n = old ? (size_t)1 << footprint->bits : 0;
	unsigned bits = old ? footprint->bits + 1 : FIRST_BITS;

	if (!take(footprint, (sizeof(*old) << bits) - n * sizeof(*old)))
		return 0;
	footprint->page = calloc((size_t)1 << bits, sizeof(*old));
	if (!footprint->page) {
		footprint->page = old;
		return -ENOMEM;
	}
	footprint->bits = bits;
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*home(footprint, old[i]->number) = old[i];
	free(old);
	return 0;
}

/* *ret NULL: there was no room. */
static int find_page(
	struct loci_footprint *footprint, uint64_t number, struct loci_footprint_page **ret)
{
	struct loci_footprint_page **slot;

	*ret = NULL;
	if ((!footprint->page || footprint->n_pages >= (size_t)1 << (footprint->bits - 1)) &&
		grow_pages(footprint) < 0)
		return -ENOMEM;
	if (footprint->dropped)
		return 0;
	slot = home(footprint, number);
	if (!*slot) {
		if (!take(footprint, sizeof(**slot)))
			return 0;
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return -ENOMEM;
		(*slot)->number = number;
		footprint->n_pages++;
	}
	*ret = *slot;
	footprint->recent[number % LOCI_FOOTPRINT_RECENT] = *slot;
	return 0;
}

/* Samples. */

static bool is_kept(const struct loci_sketch *sketch, uint64_t hash)
{
	return !sketch->level || !(hash >> (64 - sketch->level));
}

static struct loci_sketched *place(struct loci_sketch *sketch, uint64_t word)
{
	size_t mask = ((size_t)1 << sketch->bits) - 1;

	for (size_t i = mix(word + 1) & mask;; i = (i + 1) & mask)
		if (!sketch->slot[i].word || sketch->slot[i].word == word + 1)
			return &sketch->slot[i];
}

/* Into a table of that size, without those that are not kept any more. */
static int rebuild(struct loci_footprint *footprint, struct loci_sketch *sketch, unsigned bits)
{
	struct loci_sketched *old = sketch->slot;
	size_t n = old ? (size_t)1 << sketch->bits : 0;

	if (bits > sketch->bits && !take(footprint, (sizeof(*old) << bits) - n * sizeof(*old)))
		return 0;
	sketch->slot = calloc((size_t)1 << bits, sizeof(*old));
	if (!sketch->slot) {
		sketch->slot = old;
		return -ENOMEM;
	}
	sketch->bits = bits;
	sketch->n = 0;
	for (size_t i = 0; i < n; i++)
		if (old[i].word && is_kept(sketch, mix(old[i].word - 1))) {
			*place(sketch, old[i].word - 1) = old[i];
			sketch->n++;
		}
	free(old);
	return 0;
}

/* One more has no room as it is. */
static int make_room(struct loci_footprint *footprint, struct loci_sketch *sketch)
{
	if (!sketch->slot)
		return rebuild(footprint, sketch, 6);
	if (sketch->n < LOCI_SKETCH_WORDS)
		return rebuild(footprint, sketch, sketch->bits + 1);
	sketch->level++;
	return rebuild(footprint, sketch, sketch->bits);
}

static int sample(struct loci_footprint *footprint, uint32_t function, uint64_t word, uint8_t bytes,
	bool is_write)
{
	struct loci_sketch *sketch = &footprint->sketch[function];
	uint64_t hash = mix(word);
	struct loci_sketched *slot;

	if (!is_kept(sketch, hash))
		return 0;
	if (!sketch->slot || sketch->n >= (size_t)1 << (sketch->bits - 1) ||
		sketch->n == LOCI_SKETCH_WORDS) {
		int r;

		if (sketch->slot && place(sketch, word)->word)
			r = 0;
		else
			r = make_room(footprint, sketch);
		if (r < 0 || footprint->dropped)
			return r;
		if (!is_kept(sketch, hash))
			return 0;
	}
	slot = place(sketch, word);
	if (!slot->word) {
		slot->word = word + 1;
		sketch->n++;
	}
	*(is_write ? &slot->stored : &slot->loaded) |= bytes;
	return 0;
}

/* Both. */

static int touch_word(struct loci_footprint *footprint, uint64_t word, uint8_t bytes, bool is_write,
	uint32_t function)
{
	uint64_t number = word >> (PAGE_SHIFT - 3);
	struct loci_footprint_page *page = footprint->recent[number % LOCI_FOOTPRINT_RECENT];

	if (!page || page->number != number) {
		int r = find_page(footprint, number, &page);

		if (r < 0 || !page)
			return r;
	}
	(is_write ? page->stored : page->loaded)[word % PAGE_WORDS] |= bytes;
	page->uses[word % PAGE_WORDS]++;
	return sample(footprint, function, word, bytes, is_write);
}

int loci_footprint_touch(struct loci_footprint *footprint, uint64_t address, uint64_t size_bytes,
	bool is_write, uint32_t function)
{
	uint64_t last = address + size_bytes - 1;
	size_t cap = footprint->sketch_cap;

	if (footprint->dropped || !size_bytes)
		return 0;
	if (last < address)
		last = UINT64_MAX;
	if (loci_grow(&footprint->sketch, &footprint->sketch_cap, (size_t)function + 1,
		    sizeof(*footprint->sketch)) < 0)
		return -ENOMEM;
	if (footprint->sketch_cap != cap &&
		!take(footprint, (footprint->sketch_cap - cap) * sizeof(*footprint->sketch)))
		return 0;
	for (;;) {
		uint64_t word = address >> 3, end = address | 7;
		unsigned from = address & 7, to = end < last ? 7 : last & 7;
		int r = touch_word(
			footprint, word, (uint8_t)((2u << to) - (1u << from)), is_write, function);

		if (r < 0 || footprint->dropped || end >= last)
			return r;
		address = end + 1;
	}
}

/* Sums. */

static int add_use(struct loci_footprint_sum *sum, uint64_t uses, uint64_t words)
{
	uint32_t i = loci_keymap_get(&sum->use_ids, uses, 0);

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)sum->n_uses;
		if (loci_grow(&sum->use, &sum->use_cap, i + 1, sizeof(*sum->use)) < 0 ||
			loci_keymap_put(&sum->use_ids, uses, 0, i) < 0)
			return -ENOMEM;
		sum->use[sum->n_uses++] = (struct loci_footprint_use){ .uses = uses };
	}
	sum->use[i].words += words;
	return 0;
}

static int add_page(struct loci_footprint_sum *sum, const struct loci_footprint_page *page)
{
	for (size_t i = 0; i < PAGE_WORDS; i++) {
		if (!page->uses[i])
			continue;
		sum->loaded_bytes += (unsigned)__builtin_popcount(page->loaded[i]);
		sum->stored_bytes += (unsigned)__builtin_popcount(page->stored[i]);
		sum->touched_bytes +=
			(unsigned)__builtin_popcount(page->loaded[i] | page->stored[i]);
		if (add_use(sum, page->uses[i], 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_sketch(
	struct loci_footprint_sum *sum, const struct loci_sketch *sketch, uint32_t function)
{
	uint32_t i = loci_keymap_get(&sum->function_ids, function, 0);
	double weight = (double)(1ull << sketch->level), squares = 0;
	struct loci_footprint_bytes *to;

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)sum->n_functions;
		if (loci_grow(&sum->function, &sum->function_cap, i + 1, sizeof(*sum->function)) <
				0 ||
			loci_keymap_put(&sum->function_ids, function, 0, i) < 0)
			return -ENOMEM;
		sum->function[sum->n_functions++] =
			(struct loci_footprint_bytes){ .function = function };
	}
	to = &sum->function[i];
	for (size_t k = 0; k < (size_t)1 << sketch->bits; k++) {
		const struct loci_sketched *slot = &sketch->slot[k];
		unsigned touched = (unsigned)__builtin_popcount(slot->loaded | slot->stored);

		if (!slot->word)
			continue;
		to->loaded += weight * (unsigned)__builtin_popcount(slot->loaded);
		to->stored += weight * (unsigned)__builtin_popcount(slot->stored);
		to->touched += weight * touched;
		squares += (double)touched * touched;
	}
	to->variance += squares * weight * (weight - 1);
	return 0;
}

int loci_footprint_add(
	struct loci_footprint_sum *sum, const struct loci_footprint *footprint, const uint32_t *map)
{
	sum->recorded = true;
	sum->dropped |= footprint->dropped;
	for (size_t i = 0; footprint->page && i < (size_t)1 << footprint->bits; i++)
		if (footprint->page[i] && add_page(sum, footprint->page[i]) < 0)
			return -ENOMEM;
	for (size_t i = 1; i < footprint->sketch_cap; i++)
		if (footprint->sketch[i].slot && add_sketch(sum, &footprint->sketch[i], map[i]) < 0)
			return -ENOMEM;
	return 0;
}

void loci_footprint_sum_fini(struct loci_footprint_sum *sum)
{
	free(sum->use);
	free(sum->function);
	loci_keymap_fini(&sum->use_ids);
	loci_keymap_fini(&sum->function_ids);
	*sum = (struct loci_footprint_sum){ 0 };
}

static int most_used_first(const void *left, const void *right)
{
	const struct loci_footprint_use *a = left, *b = right;

	return (a->uses < b->uses) - (a->uses > b->uses);
}

uint64_t loci_footprint_words(struct loci_footprint_sum *sum, unsigned percent)
{
	uint64_t total = 0, words = 0;
	unsigned __int128 wanted;

	if (sum->n_uses)
		qsort(sum->use, sum->n_uses, sizeof(*sum->use), most_used_first);
	for (size_t i = 0; i < sum->n_uses; i++)
		total += sum->use[i].uses * sum->use[i].words;
	wanted = ((unsigned __int128)total * percent + 99) / 100;
	for (size_t i = 0; i < sum->n_uses && wanted; i++) {
		unsigned __int128 all = (unsigned __int128)sum->use[i].uses * sum->use[i].words;

		if (all >= wanted) {
			words += (uint64_t)((wanted + sum->use[i].uses - 1) / sum->use[i].uses);
			break;
		}
		words += sum->use[i].words;
		wanted -= all;
	}
	return words;
}
