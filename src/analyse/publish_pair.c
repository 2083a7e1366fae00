// SPDX-License-Identifier: GPL-2.0-or-later
/* Reuse pairs. A program has very many that happened once or twice: where there are more than a
 * profile should hold, the rare ones are put together without contexts and loops, and of these the
 * most frequent are kept. */
#include "analyse/publish_state.h"

#include "analyse/digest.h"
#include "analyse/grow.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_PAIRS 20000

/* A pair with what it is sorted by: ids, which do not depend on the order of discovery. */
struct ordered_pair {
	const struct loci_ledger_pair *pair;
	int64_t key[6];
	uint64_t refs;
	uint32_t number;
};

static int by_key(const void *left, const void *right)
{
	const struct ordered_pair *a = left, *b = right;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(a->key); i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_refs(const void *left, const void *right)
{
	const struct ordered_pair *a = left, *b = right;

	if (a->refs != b->refs)
		return a->refs > b->refs ? -1 : 1;
	return by_key(left, right);
}

static void order(const struct loci_publication *p, uint32_t number, struct ordered_pair *ret)
{
	const struct loci_ledger_pair *pair = &p->ledger->pair[number];

	*ret = (struct ordered_pair){ .pair = pair,
		.key = { p->site_id[pair->use_site], p->site_id[pair->reuse_site],
			p->object_id[pair->object],
			(int64_t)pair->kind << 32 | p->loop_id[pair->loop] << 1 | pair->recycled,
			p->context_id[pair->use_context], p->context_id[pair->reuse_context] },
		.refs = pair->refs,
		.number = number };
}

/* Adds pair number `from` to the one that is like it but for contexts and loop. */
static int simplify(struct loci_ledger *ledger, uint32_t from, struct loci_keymap *simple)
{
	struct loci_ledger_pair *pair = &ledger->pair[from];
	struct loci_digest key = { 0 };
	uint64_t bins[UINT8_MAX + 1] = { 0 };
	unsigned n_levels = ledger->n_levels;
	uint32_t to;

	pair->use_context = pair->reuse_context = LOCI_CONTEXT_ROOT;
	pair->loop = LOCI_NO_LOOP;
	key = loci_digest_word(key, (uint64_t)pair->use_site << 32 | pair->reuse_site);
	key = loci_digest_word(
		key, (uint64_t)pair->object << 32 | pair->kind << 1 | pair->recycled);
	to = loci_keymap_get(simple, key.a, key.b);
	if (to == LOCI_KEYMAP_NONE)
		return loci_keymap_put(simple, key.a, key.b, from);
	loci_spread_far_collect(&pair->distance, bins);
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		if (bins[i] && loci_spread_far_add(&ledger->pair[to].distance, i, bins[i]) < 0)
			return -ENOMEM;
	for (unsigned i = 0; i < n_levels; i++) {
		ledger->pair_level[to * n_levels + i].first_hits +=
			ledger->pair_level[from * n_levels + i].first_hits;
		ledger->pair_level[to * n_levels + i].misses +=
			ledger->pair_level[from * n_levels + i].misses;
	}
	ledger->pair[to].refs += pair->refs;
	pair->refs = 0;
	return 0;
}

/* The frequent ones stay what they are. */
static int simplify_rare(struct loci_publication *p, struct ordered_pair *pairs, size_t n)
{
	struct loci_keymap simple = { 0 };
	int r = 0;

	qsort(pairs, n, sizeof(*pairs), by_refs);
	for (size_t i = MAX_PAIRS / 2; r == 0 && i < n; i++)
		r = simplify(p->ledger, pairs[i].number, &simple);
	loci_keymap_fini(&simple);
	for (size_t i = 0; i < n; i++)
		order(p, pairs[i].number, &pairs[i]);
	qsort(pairs, n, sizeof(*pairs), by_refs);
	return r;
}

static int put_pair(struct loci_publication *p, const struct ordered_pair *from, int64_t id,
	struct loci_err *err)
{
	static const char *const kinds[] = { "RAR", "WAR", "RAW", "WAW" };
	const struct loci_ledger *ledger = p->ledger;
	const struct loci_ledger_pair *pair = from->pair;
	const struct loci_contexts tree = { .node = ledger->context, .n = ledger->n_contexts };
	struct loci_counts counts = { 0 };
	struct loci_pair_row row = { .id = id,
		.use_site_id = p->site_id[pair->use_site],
		.reuse_site_id = p->site_id[pair->reuse_site],
		.object_id = p->object_id[pair->object],
		.kind = kinds[pair->kind & 3],
		.use_context_id = p->context_id[pair->use_context],
		.reuse_context_id = p->context_id[pair->reuse_context],
		.common_context_id = p->context_id[loci_contexts_common(
			&tree, pair->use_context, pair->reuse_context)],
		.loop_id = p->loop_id[pair->loop],
		.recycled = pair->recycled,
		.refs = pair->refs };
	int r = loci_profile_put_pair(p->profile, &row, err);

	if (r < 0)
		return r;
	loci_spread_far_collect(&pair->distance, counts.bins);
	for (unsigned i = 0; i < ledger->n_levels; i++) {
		const struct loci_pair_level *level =
			&ledger->pair_level[(size_t)from->number * ledger->n_levels + i];

		counts.level[i].first_hits = level->first_hits;
		counts.level[i].misses = level->misses;
	}
	return loci_publish_counts(p, LOCI_OWNER_PAIR, id, &counts, true, err);
}

static void say_left_out(
	const struct loci_publication *p, const struct ordered_pair *pairs, size_t n)
{
	uint64_t refs = 0;
	size_t left_out = 0;
	char text[160];

	for (size_t i = 0; i < n; i++) {
		refs += pairs[i].refs;
		left_out += pairs[i].refs > 0;
	}
	if (!left_out || !p->options->note)
		return;
	snprintf(text, sizeof(text), "%zu rare pairs, of %" PRIu64 " reuses, are left out",
		left_out, refs);
	p->options->note(p->options->note_data, text);
}

int loci_publish_pairs(struct loci_publication *p, struct loci_err *err)
{
	size_t n = p->ledger->n_pairs;
	loci_autofree struct ordered_pair *pairs = calloc(n + 1, sizeof(*pairs));
	int64_t id = 0;
	int r = 0;

	if (!pairs)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		order(p, i, &pairs[i]);
	if (n > MAX_PAIRS) {
		if (simplify_rare(p, pairs, n) < 0)
			return loci_err_nomem(err);
		say_left_out(p, pairs + MAX_PAIRS, n - MAX_PAIRS);
		n = MAX_PAIRS;
	}
	qsort(pairs, n, sizeof(*pairs), by_key);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (pairs[i].refs)
			r = put_pair(p, &pairs[i], ++id, err);
	return r;
}
