// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set engine against two oracles written here and sharing nothing with it or each other: a
 * simulator of one LRU write-back cache (misses by touch and by reference, and write-backs, for
 * every number of ways and sets), and naive move-to-front lists (positions and dirty levels, touch
 * for touch, and the lower position of the two halves of a straddling reference). */
#include "check.h"

#include "engine/sets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct touches {
	uint64_t *block;
	uint8_t *is_write;
	uint8_t *is_second; /* half of the reference that the touch before began */
	size_t n;
};

static uint64_t random_state;

static uint64_t draw(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 8) % limit;
}

/* Streams. Writes are drawn afterwards unless the stream sets them. */

static void uniform(struct touches *t)
{
	uint64_t blocks = t->n / 8 + 3;

	for (size_t i = 0; i < t->n; i++)
		t->block[i] = draw(blocks);
}

static void zipf(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = (uint64_t)pow(60000, (double)draw(1 << 20) / (1 << 20)) * 2654435761u;
}

static void cyclic(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = i % 130;
}

/* A few blocks for ever: clusters that stay small, clocks that run out. */
static void few(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = (draw(5) << 14) + draw(2);
}

/* Columns of a matrix whose rows are a power of two apart: all in one set up to 2^9 sets. */
static void strided(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = (i % 80) * 512 + i / 8000;
}

static void stencil(struct touches *t)
{
	static const int64_t offset[] = { -1024, -1, 0, 1, 1024, 1 << 20 };

	for (size_t i = 0; i < t->n; i++) {
		t->block[i] = (uint64_t)((int64_t)(i / 6 % 3000) + 2048 + offset[i % 6]) / 2;
		t->is_write[i] = i % 6 == 5;
	}
}

static void matrix_product(struct touches *t)
{
	size_t i = 0, size = 24;

	while (i + 4 <= t->n)
		for (size_t row = 0; row < size; row++)
			for (size_t column = 0; column < size; column++)
				for (size_t k = 0; k < size && i + 4 <= t->n; k++) {
					t->block[i++] = row * size / 2 + k / 2;
					t->block[i++] = 1 << 12 | (k * size + column) / 2;
					t->block[i++] = 1 << 13 | (row * size + column) / 2;
					t->block[i] = t->block[i - 1];
					t->is_write[i++] = 1;
				}
	for (; i < t->n; i++)
		t->block[i] = 7;
}

/* Alternation and repetition, reads and writes in every mixture, with strangers in between. */
static void ping_pong(struct touches *t)
{
	uint64_t a = 0, b = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (!draw(9)) {
			a = draw(40) << draw(17);
			b = a ^ (uint64_t)1 << draw(20);
		}
		t->block[i] = draw(12) ? (i & 1 ? a : b) : draw(3) ? a : draw(300);
		t->is_write[i] = draw(3) == 0;
	}
}

/* Low bits alike, differing in the topmost only; both ends of the range. */
static void high_bits(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->block[i] = draw(90) << 57 | draw(2) << 48 | draw(3);
		if (!draw(5))
			t->block[i] = draw(2) ? 0 : UINT64_MAX;
		else if (!draw(5))
			t->block[i] = UINT64_MAX - draw(70) * 65536;
	}
}

/* Just over 64 of one set, forwards and backwards: the worst of LRU, then the best. */
static void sweeps(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++) {
		uint64_t step = i % 130, set = i / 1300 % 17;

		t->block[i] = (step < 65 ? step : 129 - step) << set;
	}
}

/* Phases of different working sets, so that lists drop blocks that come back. */
static void phases(struct touches *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->block[i] = draw(20 << (i / 500 % 8)) * (1 + i / 4000 % 3);
}

/* A walk in steps of less than a block, every reference over the edge of one now and then, and a
 * few lines that are straddled again and again. */
static void straddles(struct touches *t)
{
	uint64_t address = 0;

	for (size_t i = 0; i < t->n; i++) {
		uint64_t from = draw(3) ? (address += 24) % (1 << 19) : draw(40) * 4096 + 60;

		t->block[i] = from / 64;
		t->is_write[i] = draw(5) == 0;
		if (from / 64 == (from + 15) / 64 || i + 1 == t->n)
			continue;
		t->block[i + 1] = from / 64 + 1;
		t->is_write[i + 1] = t->is_write[i];
		t->is_second[++i] = 1;
	}
}

/* Around the 64 most recent blocks, which are kept apart from all others: cycles of a few less and
 * a few more, near ones and some that share a set of any size. */
static void edge(struct touches *t)
{
	uint64_t n = 64, shift = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (i % 400 == 0) {
			n = 60 + draw(9);
			shift = draw(18);
		}
		t->block[i] = (draw(30) ? i % n : draw(n)) << shift;
	}
}

/* Two blocks that part at one address bit, met again after so many others that neither is recent.
 */
static void pairs(struct touches *t)
{
	uint64_t one = 0, other = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t step = i % 150;

		if (step == 0) {
			one = draw(1 << 20);
			other = one ^ (uint64_t)1 << draw(20);
		}
		t->block[i] = step % 75 == 0 ? one : step % 75 == 1 ? other : draw(1 << 17);
	}
}

static const struct {
	const char *name;
	void (*make)(struct touches *t);
} streams[] = {
	{ "uniform", uniform },
	{ "zipf", zipf },
	{ "cyclic", cyclic },
	{ "few", few },
	{ "strided", strided },
	{ "stencil", stencil },
	{ "matrix product", matrix_product },
	{ "ping-pong", ping_pong },
	{ "high bits", high_bits },
	{ "sweeps", sweeps },
	{ "phases", phases },
	{ "straddles", straddles },
	{ "edge", edge },
	{ "pairs", pairs },
};
#define N_STREAMS (sizeof(streams) / sizeof(streams[0]))

static struct touches make(size_t stream, size_t n)
{
	struct touches t = { malloc(n * sizeof(uint64_t)), calloc(n, 1), calloc(n, 1), n };
	bool any = false, halves = false;

	random_state = 88172645463325252u + stream;
	streams[stream].make(&t);
	for (size_t i = 0; i < n; i++)
		any |= t.is_write[i], halves |= t.is_second[i];
	for (size_t i = 0; i < n && !any; i++)
		t.is_write[i] = draw(4) == 0;
	/* Any two touches will do: the engine does not ask whether blocks are neighbours. */
	for (size_t i = 1; i < n && !halves; i++)
		t.is_second[i] = !t.is_second[i - 1] && draw(stream % 3 ? 5 : 2) == 0;
	return t;
}

static void drop(struct touches *t)
{
	free(t->block);
	free(t->is_write);
	free(t->is_second);
}

static void feed(struct loci_sets *sets, const struct touches *t, size_t from, size_t n)
{
	uint32_t *second = malloc((n + 1) * sizeof(*second));
	struct loci_sets_halves halves = { second, 0 };
	struct loci_err err = { "" };

	for (size_t i = 0; i < n; i++)
		if (t->is_second[from + i])
			second[halves.n++] = (uint32_t)i;
	if (loci_sets_feed_halves(sets, t->block + from, t->is_write + from, n, &halves, &err) < 0)
		CHECK_FAIL("feed: %s", err.text);
	free(second);
}

/* The engine, fed in pieces of odd sizes (all at once if most is 0). */
static struct loci_sets *run(
	const struct touches *t, enum loci_isa isa, unsigned max_bits, size_t most)
{
	struct loci_sets_options options = { .isa = isa, .max_bits = max_bits };
	struct loci_err err = { "" };
	struct loci_sets *sets = NULL;

	CHECK(loci_sets_new(&options, &sets, &err) == 0);
	for (size_t i = 0, piece; i < t->n; i += piece) {
		piece = most ? draw(most) + 1 : t->n;
		if (piece > t->n - i)
			piece = t->n - i;
		feed(sets, t, i, piece);
	}
	return sets;
}

/* One cache. */

struct way {
	uint64_t block;
	uint64_t stamp; /* 0: empty */
	bool dirty;
};

struct outcome {
	uint64_t misses, write_backs;
	uint64_t reference_misses; /* references that missed, with one half or both */
};

static void simulate(const struct touches *t, unsigned set_bits, unsigned ways, struct outcome *ret)
{
	struct way *cache = calloc(((size_t)1 << set_bits) * ways, sizeof(*cache));
	bool has_missed = false; /* this reference */

	*ret = (struct outcome){ 0 };
	for (size_t i = 0; i < t->n; i++) {
		struct way *set = &cache[(t->block[i] & (((uint64_t)1 << set_bits) - 1)) * ways];
		struct way *hit = NULL, *oldest = set;

		for (unsigned w = 0; w < ways; w++) {
			if (set[w].stamp && set[w].block == t->block[i])
				hit = &set[w];
			if (set[w].stamp < oldest->stamp)
				oldest = &set[w];
		}
		if (!t->is_second[i])
			has_missed = false;
		if (!hit) {
			ret->misses++;
			ret->reference_misses += !has_missed;
			has_missed = true;
			hit = oldest;
			hit->block = t->block[i];
			hit->dirty = false;
		}
		hit->stamp = i + 1;
		/* To be written back once, when its way is taken or at the end. */
		ret->write_backs += t->is_write[i] && !hit->dirty;
		hit->dirty |= t->is_write[i];
	}
	free(cache);
}

static void check_cache(const char *name, const struct touches *t, const struct loci_sets *sets,
	unsigned set_bits, unsigned ways)
{
	struct loci_sets_counts counts;
	struct outcome got, want;
	uint64_t both;

	loci_sets_counts(sets, set_bits, &counts);
	got.misses = counts.absent;
	got.write_backs = counts.dirty_absent;
	both = counts.both_absent;
	for (unsigned i = ways; i < LOCI_SETS_WAYS; i++) {
		got.misses += counts.position[i];
		got.write_backs += counts.dirty[i];
		both += counts.both[i];
	}
	got.reference_misses = got.misses - both;
	simulate(t, set_bits, ways, &want);
	check_count += 3;
	if (got.misses != want.misses)
		CHECK_FAIL("%s, 2^%u sets, %u ways: %" PRIu64 " misses, want %" PRIu64, name,
			set_bits, ways, got.misses, want.misses);
	if (got.reference_misses != want.reference_misses)
		CHECK_FAIL("%s, 2^%u sets, %u ways: %" PRIu64 " references miss, want %" PRIu64,
			name, set_bits, ways, got.reference_misses, want.reference_misses);
	if (got.write_backs != want.write_backs)
		CHECK_FAIL("%s, 2^%u sets, %u ways: %" PRIu64 " write-backs, want %" PRIu64, name,
			set_bits, ways, got.write_backs, want.write_backs);
}

/* Every cache on short streams; fewer where only faults of memory are looked for, of which what is
 * simulated here takes most. */
static void test_all_caches(void)
{
	const unsigned step = check_turns(LOCI_SETS_WAYS) == LOCI_SETS_WAYS ? 1 : 9;

	for (size_t stream = 0; stream < N_STREAMS; stream++) {
		struct touches t = make(stream, check_amount(2500));
		struct loci_sets *sets = run(&t, LOCI_ISA_BEST, LOCI_SETS_MAX_BITS, 100);

		for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++)
			for (unsigned ways = 1; ways <= LOCI_SETS_WAYS; ways += step)
				check_cache(streams[stream].name, &t, sets, bits, ways);
		loci_sets_free(sets);
		drop(&t);
	}
}

/* A spread of caches on longer ones. */
static void test_long(void)
{
	static const unsigned ways[] = { 1, 2, 3, 4, 7, 8, 9, 12, 16, 24, 33, 48, 63, 64 };

	for (size_t stream = 0; stream < N_STREAMS; stream++) {
		struct touches t = make(stream, check_amount(120000));
		struct loci_sets *sets = run(&t, LOCI_ISA_BEST, LOCI_SETS_MAX_BITS, 0);

		for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits += 1 + bits % 2)
			for (size_t i = bits % 3; i < sizeof(ways) / sizeof(ways[0]); i += 3)
				check_cache(streams[stream].name, &t, sets, bits, ways[i]);
		loci_sets_free(sets);
		drop(&t);
	}
}

/* Move-to-front lists, one per set, searched from the top. One block more than there are ways is
 * kept: what lies that deep is touched as if for the first time, as late and as dirty as can be. */

struct entry {
	uint64_t block;
	unsigned dirty; /* largest position since the last write; 64: that or more */
	struct entry *next;
};

struct lists {
	struct entry **top;
	unsigned set_bits;
	unsigned last; /* position of the touch before */
	struct loci_sets_counts counts;
};

static void lists_touch(struct lists *lists, uint64_t block, bool is_write, bool is_second)
{
	struct entry **top = &lists->top[block & (((uint64_t)1 << lists->set_bits) - 1)];
	struct entry **link = top, *entry;
	unsigned position = 0;

	for (; *link && (*link)->block != block && position < LOCI_SETS_WAYS; link = &(*link)->next)
		position++;
	entry = *link;
	if (entry && entry->block == block && position < LOCI_SETS_WAYS) {
		*link = entry->next;
	} else {
		if (entry) /* the last: it has been gone for as long as this block, or longer */
			*link = NULL;
		else
			entry = malloc(sizeof(*entry));
		entry->block = block;
		entry->dirty = position = LOCI_SETS_WAYS;
	}
	if (entry->dirty < position)
		entry->dirty = position;
	(position < LOCI_SETS_WAYS ? &lists->counts.position[position]
				   : &lists->counts.absent)[0]++;
	if (is_second) {
		unsigned both = position < lists->last ? position : lists->last;

		(both < LOCI_SETS_WAYS ? &lists->counts.both[both]
				       : &lists->counts.both_absent)[0]++;
	}
	lists->last = position;
	if (is_write) {
		(entry->dirty < LOCI_SETS_WAYS ? &lists->counts.dirty[entry->dirty]
					       : &lists->counts.dirty_absent)[0]++;
		entry->dirty = 0;
	}
	entry->next = *top;
	*top = entry;
}

static void lists_init(struct lists *lists, unsigned set_bits)
{
	memset(lists, 0, sizeof(*lists));
	lists->set_bits = set_bits;
	lists->top = calloc((size_t)1 << set_bits, sizeof(*lists->top));
}

static void lists_fini(struct lists *lists)
{
	for (size_t i = 0; i < (size_t)1 << lists->set_bits; i++)
		while (lists->top[i]) {
			struct entry *next = lists->top[i]->next;

			free(lists->top[i]);
			lists->top[i] = next;
		}
	free(lists->top);
}

static bool same_counts(const struct loci_sets *sets, unsigned bits, const struct lists *lists)
{
	struct loci_sets_counts counts;

	loci_sets_counts(sets, bits, &counts);
	check_count++;
	return !memcmp(&counts, &lists->counts, sizeof(counts));
}

static const enum loci_isa isas[] = { LOCI_ISA_SCALAR, LOCI_ISA_AVX2, LOCI_ISA_AVX512 };
#define N_ISAS (sizeof(isas) / sizeof(isas[0]))

/* Every touch by itself, at every set count, with every instruction set. */
static void test_touch_for_touch(void)
{
	for (size_t stream = 0; stream < N_STREAMS; stream++) {
		struct touches t = make(stream, check_amount(1500));
		struct lists lists[LOCI_SETS_MAX_BITS + 1];
		struct loci_sets *sets[N_ISAS];
		bool good = true;

		for (size_t k = 0; k < N_ISAS; k++) {
			struct loci_sets_options options = { isas[k], LOCI_SETS_MAX_BITS };

			CHECK(loci_sets_new(&options, &sets[k], NULL) == 0);
		}
		for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++)
			lists_init(&lists[bits], bits);
		for (size_t i = 0; i < t.n && good; i++) {
			for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++)
				lists_touch(
					&lists[bits], t.block[i], t.is_write[i], t.is_second[i]);
			for (size_t k = 0; k < N_ISAS; k++) {
				feed(sets[k], &t, i, 1);
				for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++)
					good &= same_counts(sets[k], bits, &lists[bits]);
			}
			if (!good)
				CHECK_FAIL("%s: touch %zu differs", streams[stream].name, i);
		}
		for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++)
			lists_fini(&lists[bits]);
		for (size_t k = 0; k < N_ISAS; k++)
			loci_sets_free(sets[k]);
		drop(&t);
	}
}

/* Every count on long streams, with every instruction set and pieces of any size. */
static void test_counts(void)
{
	for (size_t stream = 0; stream < N_STREAMS; stream++) {
		struct touches t = make(stream, check_amount(150000));
		struct loci_sets *sets[2 * N_ISAS];

		for (size_t k = 0; k < N_ISAS; k++) {
			sets[2 * k] = run(&t, isas[k], LOCI_SETS_MAX_BITS, 0);
			sets[2 * k + 1] = run(&t, isas[k], LOCI_SETS_MAX_BITS, 1500);
		}
		for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++) {
			struct lists lists;

			lists_init(&lists, bits);
			for (size_t i = 0; i < t.n; i++)
				lists_touch(&lists, t.block[i], t.is_write[i], t.is_second[i]);
			for (size_t k = 0; k < 2 * N_ISAS; k++)
				if (!same_counts(sets[k], bits, &lists))
					CHECK_FAIL("%s, %s, 2^%u sets: counts differ",
						streams[stream].name, loci_isa_name(isas[k / 2]),
						bits);
			lists_fini(&lists);
		}
		for (size_t k = 0; k < 2 * N_ISAS; k++)
			loci_sets_free(sets[k]);
		drop(&t);
	}
}

/* Fewer set counts give the same counts; no writes at all are no writes. */
static void test_options(void)
{
	struct touches t = make(0, 20000);
	struct loci_sets *all = run(&t, LOCI_ISA_BEST, LOCI_SETS_MAX_BITS, 0);
	struct loci_sets_options options = { LOCI_ISA_BEST, LOCI_SETS_MAX_BITS + 1 };
	struct loci_sets_counts counts, want;
	struct loci_sets *sets;
	struct loci_err err = { "" };

	CHECK(loci_sets_new(&options, &sets, &err) == -EINVAL);
	CHECK(err.text[0]);
	for (unsigned max_bits = 0; max_bits < LOCI_SETS_MAX_BITS; max_bits++) {
		sets = run(&t, LOCI_ISA_BEST, max_bits, 700);
		for (unsigned bits = 0; bits <= max_bits; bits++) {
			loci_sets_counts(sets, bits, &counts);
			loci_sets_counts(all, bits, &want);
			CHECK(!memcmp(&counts, &want, sizeof(counts)));
		}
		loci_sets_free(sets);
	}
	options.max_bits = 4;
	CHECK(loci_sets_new(&options, &sets, &err) == 0);
	loci_sets_counts(sets, 4, &counts);
	CHECK_U64(counts.position[0] + counts.absent + counts.dirty[0] + counts.dirty_absent, 0);
	CHECK(loci_sets_feed(sets, t.block, NULL, t.n, &err) == 0);
	for (unsigned bits = 0; bits <= 4; bits++) {
		loci_sets_counts(sets, bits, &counts);
		loci_sets_counts(all, bits, &want);
		CHECK(!memcmp(counts.position, want.position, sizeof(counts.position)));
		CHECK_U64(counts.absent, want.absent);
		CHECK_U64(counts.dirty[0] + counts.dirty_absent, 0);
	}
	loci_sets_free(sets);
	loci_sets_free(all);
	loci_sets_free(NULL);
	drop(&t);
}

/* Small use, small memory; every list of every set full, 96 MiB at most. */
static void test_memory(void)
{
	struct touches t = make(0, 2000000);
	struct loci_sets *sets;

	for (size_t i = 0; i < t.n; i++)
		t.block[i] = i % 100;
	sets = run(&t, LOCI_ISA_BEST, LOCI_SETS_MAX_BITS, 0);
	CHECK(loci_sets_bytes(sets) < 1 << 20);
	loci_sets_free(sets);
	for (size_t i = 0; i < t.n; i++)
		t.block[i] = i;
	sets = run(&t, LOCI_ISA_BEST, LOCI_SETS_MAX_BITS, 0);
	CHECK(loci_sets_bytes(sets) <= 96 << 20);
	CHECK(loci_sets_bytes(sets) > 16 << 20);
	loci_sets_free(sets);
	drop(&t);
}

/* More touches than are counted in few bits: three blocks in turn, two of which share a set of
 * 2^3. */
static void test_many(void)
{
	static uint64_t block[8190];
	static uint8_t is_write[8190];
	struct loci_sets_options options = { .max_bits = LOCI_SETS_MAX_BITS };
	struct loci_err err = { "" };
	struct loci_sets_counts counts;
	struct loci_sets *sets;
	uint64_t n = 0;

	for (size_t i = 0; i < 8190; i++) {
		block[i] = i % 3 * 4;
		is_write[i] = i % 2;
	}
	CHECK(loci_sets_new(&options, &sets, &err) == 0);
	while (n < 35000000) {
		CHECK(loci_sets_feed(sets, block, is_write, 8190, &err) == 0);
		n += 8190;
	}
	for (unsigned bits = 0; bits <= 4; bits++) {
		uint64_t two = bits < 3 ? n - 3 : 0, one = bits == 3 ? n / 3 * 2 - 2 : 0;

		loci_sets_counts(sets, bits, &counts);
		CHECK_U64(counts.absent, 3);
		CHECK_U64(counts.position[2], two);
		CHECK_U64(counts.position[1], one);
		CHECK_U64(counts.position[0], n - 3 - two - one);
		CHECK_U64(counts.dirty_absent, 3);
		/* Every second touch of a block writes. */
		CHECK_U64(counts.dirty[2], bits < 3 ? n / 2 - 3 : 0);
	}
	loci_sets_free(sets);
}

int main(void)
{
	test_options();
	test_touch_for_touch();
	test_counts();
	test_all_caches();
	test_long();
	test_memory();
	test_many();
	return check_status();
}
