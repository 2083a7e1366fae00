// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulator of named caches against a naive one that keeps every set of every level as a list
 * in the order of last touches, touch for touch; and its totals against the per-set engine. */
#include "check.h"
#include "rnd.h"

#include "base/cleanup.h"
#include "engine/levels.h"
#include "engine/sets.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_TOUCHES 40000

struct touches {
	uint64_t block[MAX_TOUCHES];
	uint8_t is_write[MAX_TOUCHES];
	uint64_t bytes[MAX_TOUCHES];
	uint32_t owner[MAX_TOUCHES];
	size_t n;
};

static void add(struct touches *t, uint64_t block, unsigned is_write)
{
	if (t->n == MAX_TOUCHES)
		return;
	t->block[t->n] = block;
	t->is_write[t->n] = (uint8_t)is_write;
	t->bytes[t->n] = (rnd(4) ? 0xffull : UINT64_MAX) << 8 * rnd(8);
	t->owner[t->n] = (uint32_t)rnd(1000);
	t->n++;
}

static void uniform(struct touches *t)
{
	for (unsigned i = 0; i < 20000; i++)
		add(t, rnd(3000), rnd(4) == 0);
}

static void zipf(struct touches *t)
{
	for (unsigned i = 0; i < 30000; i++)
		add(t, (uint64_t)pow(20000, (double)rnd(1u << 30) / (1u << 30)), rnd(5) == 0);
}

static void cyclic(struct touches *t)
{
	for (unsigned i = 0; i < 20000; i++)
		add(t, i % 1037, i % 7 == 0);
}

static void stencil(struct touches *t)
{
	for (unsigned sweep = 0; sweep < 6; sweep++)
		for (unsigned y = 1; y < 39; y++)
			for (unsigned x = 1; x < 39; x++) {
				uint64_t at = y * 40 + x, from = 100000 * (1 + sweep % 2);

				add(t, (from + at - 40) / 3, 0);
				add(t, (from + at - 1) / 3, 0);
				add(t, (from + at + 1) / 3, 0);
				add(t, (from + at + 40) / 3, 0);
				add(t, (300000 - from + at) / 3, 1);
			}
}

/* As programs do: the same block again, one of the last few, a new neighbour, a far one. */
static void program(struct touches *t)
{
	uint64_t recent[8] = { 0 }, next = 1000;

	for (unsigned i = 0; i < 40000; i++) {
		unsigned kind = (unsigned)rnd(100);
		uint64_t block = kind < 40 ? recent[0]
			: kind < 75        ? recent[rnd(8)]
			: kind < 85        ? next++
			: kind < 95        ? next - rnd(400)
					   : rnd(next);

		if (block != recent[0]) {
			memmove(recent + 1, recent, sizeof(recent) - sizeof(*recent));
			recent[0] = block;
		}
		add(t, block, rnd(3) == 0);
	}
}

/* Dirty in one level and clean in another: a few written blocks that leave the first level and come
 * back before they leave the next. */
static void rewritten(struct touches *t)
{
	for (unsigned i = 0; i < 30000; i++)
		add(t, rnd(3) ? rnd(600) * 16 : rnd(9) * 64, rnd(2));
}

/* Everything in few sets, just more than fits; and one hot block that must never be evicted from
 * outer levels though only the first sees it. */
static void conflicts(struct touches *t)
{
	for (unsigned i = 0; i < 30000; i++)
		add(t, i % 3 ? (i / 7 % 23 + i % 2) * 4096 : 77 * 4096, i % 5 == 0);
}

static void extremes(struct touches *t)
{
	static const uint64_t block[] = { 0, UINT64_MAX, 1, UINT64_MAX - 1, 1ull << 63,
		1ull << 32 };

	for (unsigned i = 0; i < 300; i++)
		add(t, block[rnd(6)], rnd(2) == 0);
	for (unsigned i = 0; i < 20000; i++)
		add(t, i % 5 ? rnd(1000) : block[rnd(6)], rnd(2) == 0);
}

static const struct {
	const char *name;
	void (*make)(struct touches *touches);
} streams[] = {
	{ "uniform", uniform },
	{ "zipf", zipf },
	{ "cyclic", cyclic },
	{ "stencil", stencil },
	{ "program", program },
	{ "rewritten", rewritten },
	{ "conflicts", conflicts },
	{ "extremes", extremes },
};

static const struct hierarchy {
	unsigned n;
	struct loci_levels_geometry level[LOCI_LEVELS];
} hierarchies[] = {
	{ 1, { { 64, 8 } } },
	{ 1, { { 1, 1 } } },
	{ 3, { { 64, 8 }, { 512, 8 }, { 1024, 16 } } },
	{ 3, { { 4, 2 }, { 8, 2 }, { 8, 4 } } },
	{ 2, { { 16, 4 }, { 16, 4 } } },
	{ 3, { { 8, 12 }, { 16, 20 }, { 64, 20 } } },
	{ 3, { { 3, 5 }, { 6, 5 }, { 42, 9 } } },     /* no powers of two */
	{ 3, { { 16, 4 }, { 32, 16 }, { 64, 11 } } }, /* the third does not hold the second */
	{ 4, { { 16, 4 }, { 24, 8 }, { 48, 8 }, { 32, 8 } } }, /* two trees */
	{ 3, { { 64, 8 }, { 64, 4 }, { 32, 64 } } },           /* shrinking */
	{ 2, { { 64, 8 }, { 1, 512 } } },                      /* fully associative outside */
	{ 3, { { 1, 64 }, { 1, 300 }, { 1, 1000 } } },         /* fully associative all */
	{ 3, { { 1, 70 }, { 1, 70 }, { 2, 100 } } },
	{ 3, { { 2, 65 }, { 4, 130 }, { 1, 200 } } },
	{ 2, { { 1, 8192 }, { 7, 4000 } } }, /* all fits */
	{ 8,
		{ { 1, 1 }, { 1, 2 }, { 2, 2 }, { 4, 2 }, { 4, 4 }, { 8, 8 }, { 64, 8 },
			{ 64, 64 } } },
	{ 8,
		{ { 8, 8 }, { 1, 3 }, { 16, 8 }, { 3, 2 }, { 16, 4 }, { 6, 6 }, { 32, 16 },
			{ 5, 100 } } },
};

struct line {
	uint64_t block, bytes;
	uint32_t owner;
	int is_dirty;
};

struct set {
	struct line *line; /* last touched first */
	unsigned n;
};

struct naive {
	unsigned n;
	const struct loci_levels_geometry *geometry;
	struct set *set[LOCI_LEVELS];
};

struct expected {
	uint8_t missed[MAX_TOUCHES], dirty[MAX_TOUCHES];
	struct loci_levels_eviction evicted[MAX_TOUCHES]; /* then what remains, in any order */
	size_t n_evicted, n_all;
};

static void naive_init(struct naive *naive, const struct hierarchy *hierarchy)
{
	naive->n = hierarchy->n;
	naive->geometry = hierarchy->level;
	for (unsigned i = 0; i < naive->n; i++) {
		naive->set[i] = calloc(naive->geometry[i].sets, sizeof(struct set));
		for (uint64_t s = 0; naive->set[i] && s < naive->geometry[i].sets; s++) {
			naive->set[i][s].line =
				calloc(naive->geometry[i].ways + 1, sizeof(struct line));
			if (!naive->set[i][s].line)
				abort();
		}
		if (!naive->set[i])
			abort();
	}
}

static void naive_fini(struct naive *naive)
{
	for (unsigned i = 0; i < naive->n; i++) {
		for (uint64_t s = 0; s < naive->geometry[i].sets; s++)
			free(naive->set[i][s].line);
		free(naive->set[i]);
	}
}

static void note_eviction(struct expected *want, const struct line *line)
{
	unsigned used = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		used += line->bytes >> bit & 1;
	want->evicted[want->n_all++] = (struct loci_levels_eviction){ line->owner, used };
}

static void naive_touch(struct naive *naive, unsigned level, const struct touches *t, size_t i,
	struct expected *want)
{
	unsigned ways = naive->geometry[level].ways, at = 0;
	struct set *set = &naive->set[level][t->block[i] % naive->geometry[level].sets];
	struct line line = { .block = t->block[i], .owner = t->owner[i] };

	while (at < set->n && set->line[at].block != t->block[i])
		at++;
	if (at < set->n)
		line = set->line[at];
	else {
		want->missed[i] |= (uint8_t)(1 << level);
		set->n++;
	}
	memmove(set->line + 1, set->line, at * sizeof(line));
	line.bytes |= t->bytes[i];
	if (t->is_write[i] && !line.is_dirty) {
		want->dirty[i] |= (uint8_t)(1 << level);
		line.is_dirty = 1;
	}
	set->line[0] = line;
	if (set->n > ways) {
		set->n--;
		if (!level)
			note_eviction(want, &set->line[ways]);
	}
}

static void expect(
	const struct touches *t, const struct hierarchy *hierarchy, struct expected *want)
{
	struct naive naive;

	memset(want, 0, sizeof(*want));
	naive_init(&naive, hierarchy);
	for (size_t i = 0; i < t->n; i++)
		for (unsigned level = 0; level < naive.n; level++)
			naive_touch(&naive, level, t, i, want);
	want->n_evicted = want->n_all;
	for (uint64_t s = 0; s < naive.geometry[0].sets; s++)
		for (unsigned i = 0; i < naive.set[0][s].n; i++)
			note_eviction(want, &naive.set[0][s].line[i]);
	naive_fini(&naive);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct loci_levels_eviction));
}

static int same_in_any_order(
	struct loci_levels_eviction *a, struct loci_levels_eviction *b, size_t n)
{
	qsort(a, n, sizeof(*a), compare);
	qsort(b, n, sizeof(*b), compare);
	return !memcmp(a, b, n * sizeof(*a));
}

static void check_one(const struct touches *t, const struct hierarchy *hierarchy,
	struct expected *want, enum loci_isa isa, const char *what)
{
	static const size_t pieces[] = { 0, 1, 31, 513, 7, 4096, 2 };
	static uint8_t missed[MAX_TOUCHES], dirty[MAX_TOUCHES];
	static struct loci_levels_eviction evicted[MAX_TOUCHES];
	struct loci_levels *levels;
	size_t n_evicted = 0, n;

	CHECK(loci_levels_new(hierarchy->level, hierarchy->n, isa, &levels, NULL) == 0);
	memset(missed, 0xa5, sizeof(missed));
	memset(dirty, 0xa5, sizeof(dirty));
	for (size_t at = 0, turn = 0, piece; at < t->n; at += piece, turn++) {
		piece = pieces[turn % LOCI_ARRAY_SIZE(pieces)];
		if (piece > t->n - at)
			piece = t->n - at;
		struct loci_levels_batch batch = { t->block + at, t->is_write + at, t->bytes + at,
			t->owner + at, piece, missed + at, dirty + at, evicted + n_evicted, 99,
			NULL, NULL };

		loci_levels_feed(levels, &batch);
		n_evicted += batch.n_evicted;
	}
	for (size_t i = 0; i < t->n; i++) {
		check_count++;
		if (missed[i] == want->missed[i] && dirty[i] == want->dirty[i])
			continue;
		CHECK_FAIL("%s: touch %zu: missed %02x, want %02x; dirty %02x, want %02x", what, i,
			missed[i], want->missed[i], dirty[i], want->dirty[i]);
		break;
	}
	CHECK_U64(n_evicted, want->n_evicted);
	if (memcmp(evicted, want->evicted, want->n_evicted * sizeof(*evicted)))
		CHECK_FAIL("%s: evictions differ", what);
	for (; (n = loci_levels_drain(levels, evicted + n_evicted, 3)); n_evicted += n)
		if (n > 3 || n_evicted + n > t->n)
			CHECK_FAIL("%s: drained too many", what);
	CHECK_U64(n_evicted, want->n_all);
	n = want->n_evicted;
	CHECK(same_in_any_order(evicted + n, want->evicted + n, want->n_all - n));
	CHECK(loci_levels_bytes(levels) > 0);
	loci_levels_free(levels);
}

/* A power of two of sets, up to 64 ways: the per-set engine counts the same. */
static void check_with_sets(
	const struct touches *t, const struct hierarchy *hierarchy, const struct expected *want)
{
	struct loci_sets_options options = { .isa = LOCI_ISA_BEST, .max_bits = 12 };
	struct loci_sets_counts counts;
	struct loci_sets *sets;

	CHECK(loci_sets_new(&options, &sets, NULL) == 0);
	CHECK(loci_sets_feed(sets, t->block, t->is_write, t->n, NULL) == 0);
	for (unsigned level = 0; level < hierarchy->n; level++) {
		const struct loci_levels_geometry *geometry = &hierarchy->level[level];
		uint64_t missed = 0, dirty = 0;

		if (geometry->sets & (geometry->sets - 1) || geometry->ways > LOCI_SETS_WAYS)
			continue;
		for (size_t i = 0; i < t->n; i++) {
			missed += want->missed[i] >> level & 1;
			dirty += want->dirty[i] >> level & 1;
		}
		loci_sets_counts(sets, (unsigned)__builtin_ctzll(geometry->sets), &counts);
		for (unsigned i = geometry->ways; i < LOCI_SETS_WAYS; i++) {
			counts.absent += counts.position[i];
			counts.dirty_absent += counts.dirty[i];
		}
		CHECK_U64(missed, counts.absent);
		CHECK_U64(dirty, counts.dirty_absent);
	}
	loci_sets_free(sets);
}

static void check_streams(void)
{
	static const enum loci_isa isas[] = { LOCI_ISA_SCALAR, LOCI_ISA_AVX2, LOCI_ISA_AVX512 };
	static struct touches touches;
	static struct expected want;
	char what[128];

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(streams); i++) {
		touches.n = 0;
		streams[i].make(&touches);
		touches.n = check_turns(touches.n);
		for (unsigned j = 0; j < LOCI_ARRAY_SIZE(hierarchies); j++) {
			expect(&touches, &hierarchies[j], &want);
			check_with_sets(&touches, &hierarchies[j], &want);
			for (unsigned k = 0; k < LOCI_ARRAY_SIZE(isas); k++) {
				snprintf(what, sizeof(what), "%s, hierarchy %u, %s",
					streams[i].name, j, loci_isa_name(isas[k]));
				check_one(&touches, &hierarchies[j], &want, isas[k], what);
			}
		}
	}
}

static void check_refused(void)
{
	static const struct hierarchy wrong[] = {
		{ 0, { { 1, 1 } } },
		{ 9, { { 1, 1 } } },
		{ 1, { { 0, 1 } } },
		{ 2, { { 1, 1 }, { 1, 0 } } },
		{ 1, { { 1ull << 60, 16 } } },
		{ 1, { { 1, UINT32_MAX } } },
	};

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(wrong); i++) {
		struct loci_levels *levels = NULL;
		struct loci_err err = { "" };

		CHECK(loci_levels_new(wrong[i].level, wrong[i].n, LOCI_ISA_BEST, &levels, &err) ==
			-EINVAL);
		CHECK(err.text[0] && !levels);
	}
}

int main(void)
{
	check_refused();
	check_streams();
	return check_status();
}
