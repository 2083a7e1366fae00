// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine against the naive list, touch for touch, with every instruction set; against
 * closed forms; and the instruction sets against each other on streams the list is too slow for. */
#include "check.h"
#include "rnd.h"

#include "base/cleanup.h"
#include "engine/naive.h"
#include "engine/stack_state.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_TOUCHES 60000

struct touches {
	uint64_t block[MAX_TOUCHES];
	uint8_t is_write[MAX_TOUCHES];
	size_t n;
};

static void add(struct touches *t, uint64_t block, unsigned is_write)
{
	if (t->n == MAX_TOUCHES)
		return;
	t->block[t->n] = block;
	t->is_write[t->n++] = (uint8_t)is_write;
}

static void uniform(struct touches *t)
{
	for (unsigned i = 0; i < 40000; i++)
		add(t, rnd(5000), rnd(4) == 0);
}

/* Few blocks: all in the top, and around its edge. */
static void narrow(struct touches *t)
{
	for (unsigned i = 0; i < 20000; i++)
		add(t, rnd(1 + i / 100), rnd(3) == 0);
}

static void zipf(struct touches *t)
{
	for (unsigned i = 0; i < 50000; i++)
		add(t, (uint64_t)pow(30000, (double)rnd(1u << 30) / (1u << 30)), rnd(5) == 0);
}

static void cyclic(struct touches *t)
{
	for (unsigned i = 0; i < 30000; i++)
		add(t, i % 3001, i % 7 == 0);
}

static void sawtooth(struct touches *t)
{
	for (unsigned i = 0; i < 30000; i++)
		add(t, i / 2000 % 2 ? 2000 - i % 2000 : i % 2000, i % 3 == 0);
}

static void stencil(struct touches *t)
{
	for (unsigned sweep = 0; sweep < 5; sweep++)
		for (unsigned y = 1; y < 39; y++)
			for (unsigned x = 1; x < 39; x++) {
				uint64_t at = y * 40 + x, to = 100000 * (1 + sweep % 2);

				add(t, to + at - 40, 0);
				add(t, to + at - 1, 0);
				add(t, to + at + 1, 0);
				add(t, to + at + 40, 0);
				add(t, 300000 - to + at, 1);
			}
}

static void product(struct touches *t)
{
	enum { N = 24, TILE = 6 };

	for (unsigned ii = 0; ii < N; ii += TILE)
		for (unsigned kk = 0; kk < N; kk += TILE)
			for (unsigned i = ii; i < ii + TILE; i++)
				for (unsigned k = kk; k < kk + TILE; k++)
					for (unsigned j = 0; j < N; j++) {
						add(t, i * N + k, 0);
						add(t, 1000000 + k * N + j, 0);
						add(t, 2000000 + i * N + j, 1);
					}
}

static void strides(struct touches *t)
{
	for (unsigned bit = 0; bit < 64; bit += 3)
		for (unsigned sweep = 0; sweep < 2; sweep++)
			for (uint64_t i = 0; i < 700; i++)
				add(t, i << bit, i % 5 == 0);
}

static void high_bits(struct touches *t)
{
	for (unsigned i = 0; i < 30000; i++)
		add(t, rnd(4096) << 52 | 0xabcdef, rnd(2) == 0);
}

static void extremes(struct touches *t)
{
	static const uint64_t block[] = { 0, UINT64_MAX, 1, UINT64_MAX - 1, 1ull << 63,
		1ull << 32 };

	for (unsigned i = 0; i < 600; i++)
		add(t, block[rnd(6)], rnd(2) == 0);
	for (unsigned i = 0; i < 20000; i++)
		add(t, i % 5 ? rnd(3000) : block[rnd(6)], rnd(2) == 0);
}

static void same(struct touches *t)
{
	for (unsigned i = 0; i < 3000; i++)
		add(t, 77, i % 11 == 10);
}

static void alternating(struct touches *t)
{
	for (unsigned i = 0; i < 3000; i++)
		add(t, i % 2 ? UINT64_MAX : 0, i % 3 == 0);
}

/* The first block's first reuse, at once and after others. */
static void first_again(struct touches *t)
{
	add(t, 5, 0);
	add(t, 5, 0);
	for (unsigned i = 0; i < 2000; i++)
		add(t, 1000 + i, 0);
	add(t, 5, 1);
}

/* The block whose hash is 0, as the key of empty entries is, comes after growth and stays. */
static void late_zero(struct touches *t)
{
	for (unsigned i = 1; i < 4000; i++)
		add(t, i, 0);
	for (unsigned i = 0; i < 30000; i++)
		add(t, i % 50 ? 4000 + rnd(i) : 0, i % 4 == 0);
}

/* The same block, new at once after another of its bucket: the empty entry that the kernel found
 * for it, whose key equals its hash, is that one's by now. */
static void zero_beside(struct touches *t)
{
	uint64_t beside = 1;

	while (loci_stack_home(loci_stack_hash(beside), 8192))
		beside++;
	add(t, 12345, 0); /* is fed alone */
	for (unsigned i = 0; i < 40; i++) {
		add(t, beside, i % 3 == 0);
		add(t, 0, 0);
	}
}

static void growing(struct touches *t)
{
	for (unsigned i = 0; i < MAX_TOUCHES; i++)
		add(t, i % 3 ? i / 3 : rnd(i / 3 + 1), i % 4 == 0);
}

/* Sweeps in the order of the one before, so that slots are taken one after the other: broken off by
 * new blocks, near and far ones, and leaps. */
static void sequences(struct touches *t)
{
	uint64_t at = 0, fresh = 3000;

	while (t->n < 50000) {
		for (uint64_t n = rnd(4) ? rnd(700) : rnd(4); n > 0; n--)
			add(t, at++ % 3000, rnd(3) == 0);
		switch (rnd(5)) {
		case 0:
			add(t, fresh++, 0);
			break;
		case 1:
			add(t, (at + 2999 - rnd(100)) % 3000, 1);
			break;
		case 2:
			add(t, rnd(fresh), 0);
			break;
		case 3:
			at += rnd(3);
			break;
		case 4:
			at = rnd(3000);
			break;
		}
	}
}

/* Several in turn, each over blocks of its own. */
static void braid(struct touches *t)
{
	for (unsigned i = 0; i < 40000; i++)
		add(t, (i % 3) * 1000000 + i / 3 % (700 + 300 * (i % 3)), i % 5 == 0);
}

static const struct {
	const char *name;
	void (*make)(struct touches *touches);
} streams[] = {
	{ "uniform", uniform },
	{ "narrow", narrow },
	{ "zipf", zipf },
	{ "cyclic", cyclic },
	{ "sawtooth", sawtooth },
	{ "stencil", stencil },
	{ "product", product },
	{ "strides", strides },
	{ "high bits", high_bits },
	{ "extremes", extremes },
	{ "same", same },
	{ "alternating", alternating },
	{ "first again", first_again },
	{ "late zero", late_zero },
	{ "zero beside", zero_beside },
	{ "growing", growing },
	{ "sequences", sequences },
	{ "braid", braid },
};

static const enum loci_isa isas[] = { LOCI_ISA_SCALAR, LOCI_ISA_AVX2, LOCI_ISA_AVX512 };
/* The first as small as the engine allows: growth and renumbering every few hundred touches. */
static const struct loci_stack_tuning tunings[] = { { 40, 1000, 64, 4096, 0 },
	{ 8192, 1 << 17, 4096, 2 << 20, 16384 } };

struct expected {
	struct loci_naive_touch touch[MAX_TOUCHES];
	struct loci_hist stack, time, dirty;
	uint64_t blocks, writes;
};

static void count(struct loci_hist *hist, uint64_t value)
{
	if (value == LOCI_INFINITE)
		hist->cold++;
	else if (loci_hist_add(hist, value, 1) < 0)
		abort();
}

static void expect(const struct touches *t, size_t n, struct expected *ret)
{
	struct loci_naive *naive;

	memset(ret, 0, sizeof(*ret));
	loci_hist_init(&ret->stack, LOCI_SCHEME_FINE);
	loci_hist_init(&ret->time, LOCI_SCHEME_FINE);
	loci_hist_init(&ret->dirty, LOCI_SCHEME_FINE);
	if (loci_naive_new(&naive, NULL) < 0)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct loci_naive_touch *touch = &ret->touch[i];

		if (loci_naive_touch(naive, t->block[i], t->is_write[i], touch, NULL) < 0)
			abort();
		count(&ret->stack, touch->stack);
		count(&ret->time, touch->time);
		ret->blocks += touch->stack == LOCI_INFINITE;
		if (t->is_write[i]) {
			count(&ret->dirty, touch->dirty);
			ret->writes++;
		}
	}
	loci_naive_free(naive);
}

static void expected_fini(struct expected *expected)
{
	loci_hist_fini(&expected->stack);
	loci_hist_fini(&expected->time);
	loci_hist_fini(&expected->dirty);
}

static int same_hist(const struct loci_hist *a, const struct loci_hist *b)
{
	return a->n_bins == b->n_bins && a->cold == b->cold && a->coherence == b->coherence &&
		!a->square == !b->square &&
		(!a->n_bins || !memcmp(a->weight, b->weight, a->n_bins * sizeof(double)));
}

static void check_result(
	const struct loci_stack *stack, const struct expected *want, size_t n, const char *what)
{
	struct loci_stack_result result;

	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_U64(result.touches, n);
	CHECK_U64(result.writes, want->writes);
	CHECK_NEAR(result.blocks, (double)want->blocks, 0);
	CHECK_NEAR(result.sampling_rate, 1, 0);
	CHECK_U64(result.sampled_from, 0);
	CHECK_NEAR(result.error_points, 0, 0);
	if (!same_hist(&result.stack, &want->stack))
		CHECK_FAIL("%s: stack histograms differ", what);
	if (!same_hist(&result.time, &want->time))
		CHECK_FAIL("%s: time histograms differ", what);
	if (!same_hist(&result.dirty, &want->dirty))
		CHECK_FAIL("%s: dirty histograms differ", what);
	loci_stack_result_fini(&result);
}

/* MIXED: distances of every other piece. The kernel keeps hints for these only. */
enum mode { HISTOGRAMS, MIXED, DISTANCES, USES, MODES };

static uint64_t word_of(size_t touch)
{
	return ~(touch * 0x9e3779b97f4a7c15u);
}

/* Feeds in pieces of 0, 1, odd and large sizes, in turn. */
static void feed(struct loci_stack *stack, const struct touches *t, size_t from, size_t to,
	enum mode mode, uint64_t *distance, uint64_t *last_use)
{
	static uint64_t use[4096];
	static const size_t pieces[] = { 0, 1, 31, 32, 33, 513, 7, 0, 4096, 511 };

	for (unsigned turn = 0; from < to; turn++) {
		size_t piece = pieces[turn % LOCI_ARRAY_SIZE(pieces)];

		if (piece > to - from)
			piece = to - from;
		bool distances = mode == MIXED ? turn % 2 : mode == DISTANCES;
		struct loci_err err = { "" };

		for (size_t i = 0; i < piece; i++)
			use[i] = word_of(from + i);
		if ((mode == USES ? loci_stack_feed_uses(stack, t->block + from, t->is_write + from,
					    use, piece, distance + from, last_use + from, &err)
				  : loci_stack_feed(stack, t->block + from, t->is_write + from,
					    piece, distances ? distance + from : NULL, &err)) < 0)
			CHECK_FAIL("%s", err.text);
		from += piece;
	}
}

/* What the search in the map relies on: entries fill buckets in order, empty ones have the key 0,
 * and from the home of an entry to where it is all buckets are full. Homes know the first of those
 * that are elsewhere. Places know their entries. */
static void check_map(const struct loci_stack *stack)
{
	const struct loci_stack_map *map = &stack->map;
	uint64_t n = 0, full_since = 0;

	for (uint64_t b = 0; b < map->n_homes + map->n_spare; b++) {
		const struct loci_stack_bucket *bucket = &map->bucket[b];

		for (unsigned i = 0; i < LOCI_STACK_WAYS; i++) {
			uint64_t home = loci_stack_home(bucket->key[i], map->n_homes);
			unsigned away = loci_stack_away(&map->bucket[home], bucket->key[i]);
			uint32_t slot = bucket->slot[i];

			if (!slot) {
				CHECK_U64(bucket->key[i], 0);
				continue;
			}
			n++;
			CHECK(!i || bucket->slot[i - 1]);
			CHECK(home >= full_since);
			CHECK(home <= b);
			CHECK(b == home || (away ? away <= b - home : b - home > 15));
			CHECK(slot > LOCI_STACK_TOP || stack->place[slot - 1] == &bucket->slot[i]);
		}
		if (!bucket->slot[LOCI_STACK_WAYS - 1])
			full_since = b + 1;
	}
	CHECK_U64(n, map->n_entries);
}

static void check_touches(const struct touches *t, const struct expected *want,
	const uint64_t *distance, const uint64_t *last_use, const char *what)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct loci_naive_touch *touch = &want->touch[i];

		check_count++;
		if (distance[i] != touch->stack) {
			CHECK_FAIL("%s: touch %zu: distance %" PRIu64 ", want %" PRIu64, what, i,
				distance[i], touch->stack);
			return;
		}
		if (last_use && touch->stack != LOCI_INFINITE &&
			last_use[i] != word_of(i - touch->time)) {
			CHECK_FAIL("%s: touch %zu: not the word of %" PRIu64 " touches ago", what,
				i, touch->time);
			return;
		}
	}
}

static void check_stream(const struct touches *t, const struct expected *want,
	const struct expected *want_half, enum loci_isa isa, const struct loci_stack_tuning *tuning,
	const char *name)
{
	static uint64_t distance[MAX_TOUCHES], last_use[MAX_TOUCHES];
	char what[128];

	snprintf(what, sizeof(what), "%s, %s, %u homes", name, loci_isa_name(isa),
		(unsigned)tuning->min_homes);
	for (enum mode mode = HISTOGRAMS; mode < MODES; mode++) {
		const struct loci_stack_options options = { .isa = isa, .keep_uses = mode == USES };
		struct loci_stack *stack;

		CHECK(loci_stack_new_tuned(&options, tuning, &stack, NULL) == 0);
		feed(stack, t, 0, t->n / 2, mode, distance, last_use);
		check_result(stack, want_half, t->n / 2, what);
		feed(stack, t, t->n / 2, t->n, mode, distance, last_use);
		check_result(stack, want, t->n, what);
		check_map(stack);
		loci_stack_free(stack);
		if (mode > MIXED)
			check_touches(t, want, distance, mode == USES ? last_use : NULL, what);
	}
}

static void check_streams(void)
{
	static struct touches touches;
	static struct expected want, want_half;

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(streams); i++) {
		touches.n = 0;
		streams[i].make(&touches);
		touches.n = check_turns(touches.n); /* the list takes long */
		expect(&touches, touches.n, &want);
		expect(&touches, touches.n / 2, &want_half);
		for (unsigned j = 0; j < LOCI_ARRAY_SIZE(isas); j++)
			for (unsigned k = 0; k < LOCI_ARRAY_SIZE(tunings); k++)
				check_stream(&touches, &want, &want_half, isas[j], &tunings[k],
					streams[i].name);
		expected_fini(&want);
		expected_fini(&want_half);
	}
}

/* No writes given: all reads; a write later on is still the block's first. */
static void check_reads(void)
{
	const uint64_t block[] = { 1, 2, 1, 2, 1 };
	const uint8_t is_write[] = { 1, 0, 1, 1, 0 };
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	struct loci_stack_result result;
	struct loci_stack *stack;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed(stack, block, NULL, 5, NULL, NULL) == 0);
	CHECK(loci_stack_feed(stack, block, is_write, 5, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_U64(result.touches, 10);
	CHECK_U64(result.writes, 3);
	CHECK_NEAR(result.dirty.cold, 2, 0);
	CHECK_U64(result.dirty.n_bins, 2);
	CHECK_NEAR(result.dirty.weight[1], 1, 0);
	CHECK_NEAR(result.stack.cold, 2, 0);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
}

static void check_empty(void)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	struct loci_stack_result result;
	struct loci_stack *stack;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed(stack, NULL, NULL, 0, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_U64(result.touches, 0);
	CHECK_NEAR(loci_hist_total(&result.stack), 0, 0);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
}

static void check_bins(void)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (int near = -3; near <= 3; near++)
			CHECK_U64(loci_stack_bin((1ull << bit) + (uint64_t)near),
				loci_bin_fine((1ull << bit) + (uint64_t)near));
	for (unsigned i = 0; i < 100000; i++)
		CHECK_U64(loci_stack_bin(i), loci_bin_fine(i));
}

/* A sweep over m blocks, again and again: every reuse is at stack distance m - 1 and time m. */
static void check_sweep(void)
{
	enum { M = 300007, ROUNDS = 5 };
	uint64_t *block = malloc(M * sizeof(*block));
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	struct loci_stack_result result;
	struct loci_stack *stack;

	if (!block)
		abort();
	for (unsigned i = 0; i < M; i++)
		block[i] = i * 3ull;
	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	for (unsigned i = 0; i < ROUNDS; i++)
		CHECK(loci_stack_feed(stack, block, NULL, M, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_NEAR(result.stack.cold, M, 0);
	CHECK_NEAR(loci_hist_finite(&result.stack), (ROUNDS - 1.) * M, 0);
	CHECK_NEAR(result.stack.weight[loci_bin_fine(M - 1)], (ROUNDS - 1.) * M, 0);
	CHECK_NEAR(result.time.weight[loci_bin_fine(M)], (ROUNDS - 1.) * M, 0);
	CHECK_NEAR(result.blocks, M, 0);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
	free(block);
}

/* A matrix product of n x n elements, tiled in i and k by b; an element is a block. In the inner
 * loop over j, element A(i,k) is at distance 2 (but for j = 0: B and C of the last j are between),
 * and in every sweep B(k,j) and C(i,j) come back at the distances that the loops give them. */
static void check_product(void)
{
	enum { N = 48, TILE = 8, SWEEPS = N / TILE * N / TILE * TILE * TILE };
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	struct loci_stack_result result;
	struct loci_stack *stack;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	for (unsigned ii = 0; ii < N; ii += TILE)
		for (unsigned kk = 0; kk < N; kk += TILE)
			for (unsigned i = ii; i < ii + TILE; i++)
				for (unsigned k = kk; k < kk + TILE; k++)
					for (unsigned j = 0; j < N; j++) {
						uint64_t touch[] = { i * N + k,
							(1ull << 40) + k * N + j,
							(2ull << 40) + i * N + j };
						uint8_t is_write[] = { 0, 0, 1 };

						loci_stack_feed(
							stack, touch, is_write, 3, NULL, NULL);
					}
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_NEAR(result.stack.cold, 3. * N * N, 0);
	/* A(i,k), j > 0: B(k,j-1) and C(i,j-1) */
	CHECK_NEAR(result.stack.weight[2], (double)SWEEPS * (N - 1), 0);
	/* C(i,j), next k: the rest of C's row, of B the rest of row k and the start of row k + 1,
	 * A(i,k) unless j is the last, and A(i,k+1) */
	CHECK_NEAR(result.stack.weight[(N - 1) + N + 2], N * (N / TILE) * (TILE - 1.) * (N - 1), 0);
	/* B(k,j), next i of the tile: TILE rows of B but this element, of C the rest of the row
	 * i from j on and the row i+1 up to j-1 (the whole two rows unless k is the tile's first
	 * and last), A's row of the tile: between N*TILE and N*TILE + 2N + 2*TILE */
	CHECK_NEAR(loci_hist_at_least(&result.stack, N * TILE, NULL) -
			loci_hist_at_least(&result.stack, N * TILE + 2 * N + 2 * TILE, NULL),
		(double)N * (N / TILE) * TILE * N * (TILE - 1) / TILE, 0);
	CHECK_NEAR(result.dirty.cold, N * N, 0);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
}

/* Too long for the list: the instruction sets must agree in every bin and every distance. */
static void check_agreement(void)
{
	enum { PIECES = 30, PIECE = 100000 };
	uint64_t *block = malloc(PIECE * sizeof(*block)), *distance[3], start = random_state;
	uint8_t *is_write = malloc(PIECE);
	struct loci_stack_result result[3];
	struct loci_stack *stack[3];

	if (!block || !is_write)
		abort();
	for (unsigned i = 0; i < 3; i++) {
		struct loci_stack_options options = { .isa = isas[i] };

		distance[i] = malloc(PIECE * sizeof(*block));
		CHECK(loci_stack_new(&options, &stack[i], NULL) == 0);
	}
	random_state = start;
	for (unsigned done = 0; done < check_turns(PIECES) * PIECE; done += PIECE) {
		for (unsigned i = 0; i < PIECE; i++) {
			unsigned kind = (unsigned)rnd(4);

			block[i] = kind == 0 ? rnd(1200000)
				: kind == 1  ? (1ull << 50) + done + i
				: kind == 2  ? rnd(40)
					     : (1ull << 30) + (done + i) % 200000;
			is_write[i] = rnd(3) == 0;
		}
		for (unsigned i = 0; i < 3; i++)
			CHECK(loci_stack_feed(
				      stack[i], block, is_write, PIECE, distance[i], NULL) == 0);
		CHECK(!memcmp(distance[0], distance[1], PIECE * sizeof(*block)));
		CHECK(!memcmp(distance[0], distance[2], PIECE * sizeof(*block)));
	}
	for (unsigned i = 0; i < 3; i++) {
		CHECK(loci_stack_result(stack[i], &result[i], NULL) == 0);
		CHECK(same_hist(&result[0].stack, &result[i].stack));
		CHECK(same_hist(&result[0].time, &result[i].time));
		CHECK(same_hist(&result[0].dirty, &result[i].dirty));
		CHECK_NEAR(result[i].blocks, result[0].blocks, 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		loci_stack_result_fini(&result[i]);
		loci_stack_free(stack[i]);
		free(distance[i]);
	}
	free(block);
	free(is_write);
}

/* An engine that had to sample: what it follows finds its word, at every distance. */
static void check_sampled_uses(void)
{
	enum { TOUCHES = 600000, BLOCKS = 80000, PIECE = 5000 };
	uint64_t *last = calloc(BLOCKS, sizeof(*last)), block[PIECE], use[PIECE], found[PIECE],
		 distance[PIECE], followed[2] = { 0 };

	if (!last)
		abort();
	for (unsigned isa = 0; isa < LOCI_ARRAY_SIZE(isas); isa++) {
		struct loci_stack_options options = {
			.isa = isas[isa], .max_bytes = 4 << 20, .keep_uses = true
		};
		struct loci_stack_result result;
		struct loci_stack *stack;
		size_t wrong = 0;

		CHECK(loci_stack_new(&options, &stack, NULL) == 0);
		for (size_t done = 0; done < TOUCHES; done += PIECE) {
			for (size_t i = 0; i < PIECE; i++) {
				block[i] = rnd(2) ? rnd(100) : rnd(BLOCKS);
				use[i] = word_of(done + i);
			}
			CHECK(loci_stack_feed_uses(
				      stack, block, NULL, use, PIECE, distance, found, NULL) == 0);
			for (size_t i = 0; i < PIECE; i++) {
				if (distance[i] < LOCI_UNSAMPLED) {
					wrong += found[i] != last[block[i]];
					followed[distance[i] >= LOCI_STACK_TOP]++;
				}
				last[block[i]] = use[i];
			}
		}
		CHECK_U64(wrong, 0);
		CHECK(loci_stack_result(stack, &result, NULL) == 0);
		CHECK(result.sampling_rate < 1 && result.bytes <= options.max_bytes);
		loci_stack_result_fini(&result);
		loci_stack_free(stack);
	}
	CHECK(followed[0] > TOUCHES / 4 && followed[1] > TOUCHES / 50);
	free(last);
}

static void check_uses_refused(void)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	uint64_t word = 1, last, distance;
	struct loci_err err = { "" };
	struct loci_stack *stack;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed_uses(stack, &word, NULL, &word, 1, &distance, &last, &err) ==
		-EINVAL);
	CHECK(err.text[0]);
	loci_stack_free(stack);
}

int main(void)
{
	check_bins();
	check_empty();
	check_reads();
	check_streams();
	check_sweep();
	check_product();
	check_agreement();
	check_sampled_uses();
	check_uses_refused();
	return check_status();
}
