// SPDX-License-Identifier: GPL-2.0-or-later
/* The index of live blocks against a plain list: random allocations, releases and clearings, tight
 * and sparse, aligned and not, nested and overlapping, of every size; after each event lookups
 * around the edges, and what was remembered by serial must be what is found. */
#include "analyse/object_heap.h"
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

enum { MAX_LIVE = 4096, REMEMBERED = 64 };

struct live {
	uint64_t low, last;
	uint32_t object;
};

struct remembered {
	uint64_t address;
	uint32_t object, seen;
	const struct loci_heap_block *block;
};

struct model {
	struct live live[MAX_LIVE];
	size_t n;
	uint32_t ended[1 << 20];
	struct remembered remembered[REMEMBERED];
	size_t next;
};

static uint64_t random_state;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void count_end(void *data, uint32_t object)
{
	struct model *model = data;

	model->ended[object]++;
}

static bool encloses(const struct live *a, uint64_t low, uint64_t last)
{
	return a->low <= low && a->last >= last;
}

static bool apart(const struct live *a, uint64_t low, uint64_t last)
{
	return a->last < low || a->low > last;
}

static void drop(struct model *model, size_t i)
{
	model->live[i] = model->live[--model->n];
}

/* Ends what overlaps the range; around: also what encloses all of it and more. */
static void drop_range(struct model *model, uint64_t low, uint64_t last, bool enclosing)
{
	/* Whoever ends takes along what is inside. */
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < model->n; i++) {
			struct live a = model->live[i];
			bool equal = a.low == low && a.last == last;

			if (apart(&a, low, last) ||
				(!enclosing && encloses(&a, low, last) && !equal))
				continue;
			drop(model, i);
			drop_range(model, a.low, a.last, false);
			more = true;
			break;
		}
	}
}

static void model_add(struct model *model, uint64_t low, uint64_t last, uint32_t object)
{
	drop_range(model, low, last, false);
	for (size_t i = 0; i < model->n; i++) {
		struct live a = model->live[i];

		if (last - low < 4096 && a.last - a.low < 4096 && a.low >> 3 == low >> 3 &&
			!encloses(&a, low, last)) {
			drop(model, i);
			drop_range(model, a.low, a.last, false);
			i = (size_t)-1;
		}
	}
	model->live[model->n++] = (struct live){ low, last, object };
}

static const struct live *innermost(const struct model *model, uint64_t address)
{
	const struct live *best = NULL;

	for (size_t i = 0; i < model->n; i++) {
		const struct live *a = &model->live[i];

		if (address >= a->low && address <= a->last &&
			(!best || a->last - a->low < best->last - best->low))
			best = a;
	}
	return best;
}

static void model_remove(struct model *model, uint64_t low)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < model->n; i++)
		if (model->live[i].low == low &&
			(best == SIZE_MAX || model->live[i].last < model->live[best].last))
			best = i;
	if (best != SIZE_MAX) {
		struct live a = model->live[best];

		drop(model, best);
		drop_range(model, a.low, a.last, false);
	}
}

static void check_address(struct model *model, const struct loci_heap *heap, uint64_t address)
{
	const struct live *want = innermost(model, address);
	const struct loci_heap_block *got = loci_heap_find(heap, address);
	struct remembered *memory = &model->remembered[model->next++ % REMEMBERED];

	CHECK((got != NULL) == (want != NULL));
	if (!got || !want)
		return;
	CHECK_U64(got->object, want->object);
	CHECK_U64(got->low, want->low);
	CHECK_U64(got->low + (got->bytes - 1), want->last);
	if (!got->parted)
		*memory = (struct remembered){ address, got->object, got->serial, got };
}

/* As a caller keeps answers: one whose serial is what it was must still be true. */
static size_t check_remembered(const struct model *model)
{
	size_t held = 0;

	for (size_t i = 0; i < REMEMBERED; i++) {
		const struct remembered *memory = &model->remembered[i];
		const struct live *want;

		if (!memory->block || memory->block->serial != memory->seen)
			continue;
		held++;
		want = innermost(model, memory->address);
		CHECK(want && want->object == memory->object);
	}
	return held;
}

struct shape {
	const char *name;
	uint64_t base, span;
	unsigned align;
	unsigned min_bits, max_bits; /* sizes up to 2^bits */
	unsigned inside;             /* of 16 allocations are made within a live block */
};

static const struct shape shapes[] = {
	{ "small", 0x555555000000, 1 << 16, 16, 4, 9, 0 },
	{ "odd and tight", 0x7ff8, 512, 1, 0, 6, 6 },
	{ "pages", 0x7f0000000000, 1 << 20, 16, 4, 14, 3 },
	{ "all sizes", 0x10000000000, (uint64_t)1 << 34, 4096, 4, 33, 3 },
	{ "all sizes nested", 0, 1 << 20, 8, 3, 20, 12 },
	{ "the last bytes", -(uint64_t)4096, 4096, 4, 2, 14, 4 },
};

static uint64_t draw_size(const struct shape *shape)
{
	unsigned bits = shape->min_bits + draw() % (shape->max_bits - shape->min_bits + 1);

	return draw() % ((uint64_t)1 << bits);
}

static void draw_range(
	const struct model *model, const struct shape *shape, uint64_t *low, uint64_t *bytes)
{
	*low = shape->base + draw() % shape->span / shape->align * shape->align;
	*bytes = draw_size(shape);
	if (model->n && draw() % 16 < shape->inside) {
		const struct live *a = &model->live[draw() % model->n];

		*low = a->low + (a->last > a->low ? draw() % (a->last - a->low) : 0);
		*low = *low / shape->align * shape->align;
		if (*low < a->low)
			*low = a->low;
		*bytes = draw() % (a->last - *low + 2);
	}
}

static uint64_t last_of(uint64_t low, uint64_t bytes)
{
	bytes += !bytes;
	return low > UINT64_MAX - (bytes - 1) ? UINT64_MAX : low + (bytes - 1);
}

static bool any_overlaps(const struct model *model, uint64_t low, uint64_t last)
{
	for (size_t i = 0; i < model->n; i++)
		if (!apart(&model->live[i], low, last))
			return true;
	return false;
}

static void step(struct model *model, struct loci_heap *heap, const struct shape *shape,
	uint32_t object, size_t target)
{
	struct loci_heap_block *block = NULL;
	struct loci_err err = { "" };
	uint64_t low, bytes, last;
	unsigned what = draw() % 64;

	draw_range(model, shape, &low, &bytes);
	last = last_of(low, bytes);
	if (what == 0) {
		CHECK(loci_heap_overlaps(heap, low, last - low + 1) ==
			any_overlaps(model, low, last));
		loci_heap_clear(heap, low, last - low + 1);
		drop_range(model, low, last, true);
	} else if (model->n < target && what < 44) {
		CHECK(loci_heap_add(heap, low, bytes, object, &block, &err) == 0);
		model_add(model, low, last, object);
		CHECK_U64(block->object, object);
	} else {
		/* Half the releases are of nothing, or of what does not begin there. */
		if (model->n && draw() % 4)
			low = model->live[draw() % model->n].low + !(draw() % 8);
		CHECK((loci_heap_at(heap, low) != NULL) == loci_heap_remove(heap, low));
		model_remove(model, low);
	}
	CHECK_U64(loci_heap_count(heap), model->n);
	check_address(model, heap, low);
	check_address(model, heap, low - 1);
	check_address(model, heap, last);
	check_address(model, heap, last + 1);
	check_address(model, heap, shape->base + draw() % shape->span);
	if (model->n)
		check_address(model, heap, model->live[draw() % model->n].last);
}

static void run(const struct shape *shape, uint64_t seed, uint32_t steps, size_t target)
{
	struct model *model = calloc(1, sizeof(*model));
	struct loci_heap *heap = NULL;
	struct loci_err err = { "" };
	size_t held = 0, live = 0;
	int failures = check_failures;

	random_state = seed * 2654435761u + 88172645463325252u;
	CHECK(model && loci_heap_new(count_end, model, &heap, &err) == 0);
	if (!model || !heap)
		return;
	for (uint32_t i = 0; i < steps && check_failures == failures; i++) {
		step(model, heap, shape, i, target);
		held += check_remembered(model);
		live += model->n;
	}
	CHECK(held > steps); /* else nothing was tested */
	CHECK(live > steps);
	for (size_t i = 0; i < model->n; i++)
		CHECK_U64(model->ended[model->live[i].object], 0);
	loci_heap_clear(heap, 0, UINT64_MAX);
	loci_heap_clear(heap, UINT64_MAX, 1);
	CHECK_U64(loci_heap_count(heap), 0);
	for (uint32_t i = 0; i < steps; i++)
		CHECK(model->ended[i] <= 1);
	if (check_failures != failures)
		fprintf(stderr, "  shape \"%s\", seed %" PRIu64 ", up to %zu blocks\n", shape->name,
			seed, target);
	loci_heap_free(heap);
	free(model);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (uint64_t seed = 1; seed <= 6; seed++) {
			run(&shapes[i], seed, 6000, 20);
			run(&shapes[i], seed, 6000, 300);
		}
	return check_status();
}
