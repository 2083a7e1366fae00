// SPDX-License-Identifier: GPL-2.0-or-later
/* Caches that threads have to themselves or share, kept coherent, against a plain simulator of
 * every single cache that looks into all of them at each write: touch for touch, over random
 * interleavings. Also taken over from caches of one thread at some touch. */
#include "check.h"
#include "rnd.h"

#include "base/cleanup.h"
#include "engine/levels_shared.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_TOUCHES 3000
#define MEMBERS     9
#define LEVELS      3
#define OWNERS      20

struct stream {
	size_t n;
	uint64_t block[MAX_TOUCHES], bytes[MAX_TOUCHES];
	uint8_t is_write[MAX_TOUCHES];
	uint32_t owner[MAX_TOUCHES], member[MAX_TOUCHES];
	size_t end_at[MEMBERS]; /* touch before which it ends; > n: not */
};

struct answer {
	uint8_t missed[MAX_TOUCHES], dirty[MAX_TOUCHES], coherence[MAX_TOUCHES],
		transfer[MAX_TOUCHES];
	uint64_t used[OWNERS], evicted;
};

/* Several, several times each. */
static const struct loci_levels_sharing shapes[][LEVELS] = {
	{ { { 2, 4 }, 1 }, { { 8, 4 }, 1 }, { { 16, 8 }, 0 } },
	{ { { 4, 2 }, 1 }, { { 4, 8 }, 2 }, { { 1, 200 }, 0 } },
	{ { { 1, 3 }, 1 }, { { 1, 70 }, 1 }, { { 3, 5 }, 1 } },
	{ { { 8, 1 }, 1 }, { { 1, 80 }, 3 }, { { 64, 1 }, 3 } },
	{ { { 2, 8 }, 0 }, { { 2, 4 }, 1 }, { { 4, 8 }, 2 } },
	{ { { 1, 66 }, 1 }, { { 1, 90 }, 1 }, { { 2, 90 }, 1 } },
	{ { { 4, 4 }, 0 }, { { 16, 4 }, 0 }, { { 64, 16 }, 0 } },
	{ { { 2, 4 }, 1 }, { { 4, 4 }, 2 }, { { 3, 9 }, 2 } },
	{ { { 2, 2 }, 1 }, { { 8, 4 }, 0 }, { { 2, 9 }, 0 } },
	{ { { 2, 2 }, 1 }, { { 4, 3 }, 2 }, { { 8, 70 }, 2 } },
};

static void make(struct stream *s, size_t n, uint32_t n_members, uint64_t n_blocks, size_t alone)
{
	uint64_t own = rnd(2) ? n_blocks : 0, writes = 2 + rnd(20);

	s->n = 0;
	while (s->n < n) {
		uint32_t member = s->n < alone ? 0 : (uint32_t)rnd(n_members);
		uint64_t base = rnd(3) ? own * (member + 1) : 0;

		for (uint64_t left = 1 + rnd(12); left > 0 && s->n < n; left--) {
			size_t i = s->n++;

			if (s->n == alone)
				left = 1;
			s->member[i] = member;
			s->block[i] = base + (rnd(2) ? rnd(n_blocks) : rnd(n_blocks / 8 + 1));
			s->is_write[i] = rnd(writes) == 0;
			s->bytes[i] = 0xffull << rnd(57);
			s->owner[i] = (uint32_t)rnd(OWNERS);
		}
	}
	for (unsigned i = 0; i < MEMBERS; i++)
		s->end_at[i] = SIZE_MAX;
}

/* Some members end, and their later touches are another's. */
static void end_some(struct stream *s)
{
	for (unsigned k = 0; k < 2; k++) {
		uint32_t member = 1 + (uint32_t)rnd(MEMBERS - 1);

		s->end_at[member] = rnd(s->n);
		for (size_t i = s->end_at[member]; i < s->n; i++)
			if (s->member[i] == member)
				s->member[i] = 0;
	}
}

/* A line: block, its last touch, whether it is there, and if not whether another's write took it.
 */
struct line {
	uint64_t block, time, bytes;
	uint32_t owner;
	bool is_there, is_dirty;
};

struct cache {
	struct line line[1024];
	bool lost[8000]; /* by block */
	bool has_ended;
};

struct plain {
	const struct loci_levels_sharing *level;
	struct cache *cache[LEVELS][MEMBERS];
};

static struct cache *cache_of(struct plain *plain, unsigned level, uint32_t member)
{
	uint32_t threads = plain->level[level].threads;

	return plain->cache[level][threads ? member / threads : 0];
}

static struct line *find(struct plain *plain, unsigned level, struct cache *cache, uint64_t block)
{
	const struct loci_levels_geometry *geometry = &plain->level[level].geometry;
	struct line *set = &cache->line[block % geometry->sets * geometry->ways];

	for (uint32_t way = 0; way < geometry->ways; way++)
		if (set[way].is_there && set[way].block == block)
			return &set[way];
	return NULL;
}

/* A way that is empty, or else the oldest. */
static struct line *victim(struct plain *plain, unsigned level, struct cache *cache, uint64_t block)
{
	const struct loci_levels_geometry *geometry = &plain->level[level].geometry;
	struct line *set = &cache->line[block % geometry->sets * geometry->ways], *best = set;

	for (uint32_t way = 0; way < geometry->ways; way++) {
		if (!set[way].is_there)
			return &set[way];
		if (set[way].time < best->time)
			best = &set[way];
	}
	return best;
}

static void leave(struct answer *answer, const struct line *line)
{
	answer->used[line->owner] += (unsigned)__builtin_popcountll(line->bytes);
	answer->evicted++;
}

static void touch_level(struct plain *plain, unsigned level, const struct stream *s, size_t i,
	struct answer *answer)
{
	struct cache *own = cache_of(plain, level, s->member[i]);
	struct line *line = find(plain, level, own, s->block[i]);
	uint8_t bit = (uint8_t)(1u << level);

	if (!line) {
		answer->missed[i] |= bit;
		answer->coherence[i] |= own->lost[s->block[i]] ? bit : 0;
		line = victim(plain, level, own, s->block[i]);
		if (level == 0 && line->is_there)
			leave(answer, line);
		*line = (struct line){
			.block = s->block[i], .owner = s->owner[i], .is_there = true
		};
	}
	own->lost[s->block[i]] = false;
	line->time = i + 1;
	line->bytes |= s->bytes[i];
	if (!s->is_write[i])
		return;
	answer->dirty[i] |= line->is_dirty ? 0 : bit;
	line->is_dirty = true;
	for (unsigned k = 0; k < MEMBERS; k++) {
		struct cache *other = plain->cache[level][k];

		if (!other || other == own || other->has_ended)
			continue;
		line = find(plain, level, other, s->block[i]);
		if (!line)
			continue;
		answer->transfer[i] |= line->is_dirty ? bit : 0;
		if (level == 0)
			leave(answer, line);
		line->is_there = false;
		other->lost[s->block[i]] = true;
	}
}

static void flush(const struct plain *plain, struct cache *cache, struct answer *answer)
{
	const struct loci_levels_geometry *geometry = &plain->level[0].geometry;

	for (size_t i = 0; !cache->has_ended && i < geometry->sets * geometry->ways; i++)
		if (cache->line[i].is_there)
			leave(answer, &cache->line[i]);
	cache->has_ended = true;
}

static void simulate(
	const struct loci_levels_sharing *shape, const struct stream *s, struct answer *answer)
{
	struct plain plain = { .level = shape };

	*answer = (struct answer){ .evicted = 0 };
	for (unsigned level = 0; level < LEVELS; level++)
		for (unsigned k = 0; k < MEMBERS; k++)
			plain.cache[level][k] = calloc(1, sizeof(struct cache));
	for (size_t i = 0; i < s->n; i++) {
		for (unsigned k = 0; k < MEMBERS; k++)
			for (unsigned level = 0; level < LEVELS; level++) {
				if (s->end_at[k] != i || shape[level].threads != 1)
					continue;
				if (level == 0)
					flush(&plain, plain.cache[level][k], answer);
				plain.cache[level][k]->has_ended = true;
			}
		for (unsigned level = 0; level < LEVELS; level++)
			touch_level(&plain, level, s, i, answer);
	}
	for (unsigned level = 0; level < LEVELS; level++)
		for (unsigned k = 0; k < MEMBERS; k++) {
			if (level == 0)
				flush(&plain, plain.cache[level][k], answer);
			free(plain.cache[level][k]);
		}
}

static void note(struct answer *answer, const struct loci_levels_eviction *evicted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		answer->used[evicted[i].owner] += evicted[i].used_bytes;
	answer->evicted += n;
}

static void feed(struct loci_levels_shared *shared, const struct stream *s, size_t from, size_t to,
	struct answer *answer)
{
	static uint32_t turn_touch[MAX_TOUCHES], turn_member[MAX_TOUCHES];
	struct loci_levels_shared_batch batch = { .block = s->block + from,
		.is_write = s->is_write + from,
		.bytes = s->bytes + from,
		.owner = s->owner + from,
		.n = to - from,
		.turn_touch = turn_touch,
		.turn_member = turn_member,
		.ret_missed = answer->missed + from,
		.ret_dirty = answer->dirty + from,
		.ret_coherence = answer->coherence + from,
		.ret_transfer = answer->transfer + from };
	struct loci_err err = { "" };

	for (size_t i = from; i < to; i++) {
		if (i > from && s->member[i] == s->member[i - 1])
			continue;
		turn_touch[batch.n_turns] = (uint32_t)(i - from);
		turn_member[batch.n_turns++] = s->member[i];
	}
	if (loci_levels_shared_feed(shared, &batch, &err) < 0)
		CHECK_FAIL("%s", err.text);
	note(answer, batch.evicted, batch.n_evicted);
}

static void end(struct loci_levels_shared *shared, uint32_t member, struct answer *answer)
{
	const struct loci_levels_eviction *evicted;
	size_t n;

	CHECK(loci_levels_shared_end(shared, member, &evicted, &n, NULL) == 0);
	note(answer, evicted, n);
}

/* The first touches, all of member 0, by caches of one thread. */
static void feed_alone(struct loci_levels_shared *shared, const struct loci_levels_sharing *shape,
	const struct stream *s, size_t alone, struct answer *answer)
{
	struct loci_levels_geometry geometry[LEVELS];
	struct loci_levels_eviction evicted[MAX_TOUCHES];
	struct loci_levels_batch batch = { .block = s->block,
		.is_write = s->is_write,
		.bytes = s->bytes,
		.owner = s->owner,
		.n = alone,
		.ret_missed = answer->missed,
		.ret_dirty = answer->dirty,
		.ret_evicted = evicted };
	struct loci_levels *plain;

	for (unsigned i = 0; i < LEVELS; i++)
		geometry[i] = shape[i].geometry;
	CHECK(loci_levels_new(geometry, LEVELS, LOCI_ISA_BEST, &plain, NULL) == 0);
	loci_levels_feed(plain, &batch);
	note(answer, evicted, batch.n_evicted);
	CHECK(loci_levels_shared_adopt(shared, 0, plain, NULL) == 0);
	CHECK(loci_levels_shared_adopt(shared, 0, plain, NULL) == -EINVAL);
	loci_levels_free(plain);
}

static void run(const struct loci_levels_sharing *shape, const struct stream *s, size_t alone,
	struct answer *answer)
{
	static unsigned at;
	enum loci_isa isa = LOCI_ISA_SCALAR + at++ % 3;
	struct loci_levels_shared *shared;
	struct loci_levels_eviction evicted[7];
	struct loci_err err = { "" };
	size_t n;

	*answer = (struct answer){ .evicted = 0 };
	CHECK(loci_levels_shared_new(shape, LEVELS, isa, &shared, &err) == 0);
	if (alone)
		feed_alone(shared, shape, s, alone, answer);
	for (size_t from = alone, to; from < s->n; from = to) {
		to = from + 1 + rnd(500);
		for (uint32_t k = 0; k < MEMBERS; k++) {
			if (s->end_at[k] == from)
				end(shared, k, answer);
			else if (s->end_at[k] > from && s->end_at[k] < to)
				to = s->end_at[k];
		}
		to = to < s->n ? to : s->n;
		feed(shared, s, from, to, answer);
	}
	while ((n = loci_levels_shared_drain(shared, evicted, 7)) > 0)
		note(answer, evicted, n);
	CHECK(loci_levels_shared_bytes(shared) > 0);
	loci_levels_shared_free(shared);
}

static bool check_answer(
	const struct stream *s, const struct answer *got, const struct answer *want)
{
	for (size_t i = 0; i < s->n; i++)
		if (got->missed[i] != want->missed[i] || got->dirty[i] != want->dirty[i] ||
			got->coherence[i] != want->coherence[i] ||
			got->transfer[i] != want->transfer[i]) {
			CHECK_FAIL("touch %zu by %u of %" PRIu64
				   ": missed %x dirty %x coherence %x transfer %x, not "
				   "%x %x %x %x",
				i, s->member[i], s->block[i], got->missed[i], got->dirty[i],
				got->coherence[i], got->transfer[i], want->missed[i],
				want->dirty[i], want->coherence[i], want->transfer[i]);
			return false;
		}
	CHECK_U64(got->evicted, want->evicted);
	CHECK(!memcmp(got->used, want->used, sizeof(got->used)));
	return true;
}

static void check_streams(void)
{
	static struct stream s;
	static struct answer got, want;

	for (unsigned round = 0; round < 420; round++) {
		size_t shape = round % LOCI_ARRAY_SIZE(shapes);
		size_t n = round % 10 ? 1 + rnd(400) : 1 + rnd(MAX_TOUCHES);
		size_t alone = round % 3 == 1 ? rnd(n + 1) : 0;

		make(&s, n, 1 + (uint32_t)rnd(MEMBERS), 4 + rnd(round % 2 ? 60 : 600), alone);
		if (round % 4 == 3 && !alone)
			end_some(&s);
		simulate(shapes[shape], &s, &want);
		run(shapes[shape], &s, alone, &got);
		if (!check_answer(&s, &got, &want)) {
			CHECK_FAIL("round %u, shape %zu, alone %zu of %zu", round, shape, alone, n);
			return;
		}
	}
}

static void check_refused(void)
{
	struct loci_levels_sharing none = { { 0, 8 }, 1 };
	struct loci_levels_shared *shared;
	struct loci_err err = { "" };

	CHECK(loci_levels_shared_new(&none, 1, LOCI_ISA_BEST, &shared, &err) == -EINVAL);
	CHECK(loci_levels_shared_new(shapes[0], 0, LOCI_ISA_BEST, &shared, &err) == -EINVAL);
}

int main(void)
{
	check_streams();
	check_refused();
	return check_status();
}
