// SPDX-License-Identifier: GPL-2.0-or-later
/* Sites, contexts and the whole. */
#include "analyse/publish.h"

#include "analyse/digest.h"
#include "analyse/publish_state.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A context's histogram is kept where it has at least this share of the references. */
#define CONTEXT_SHARE 1e-5

void loci_counts_add_row(struct loci_counts *counts, const struct loci_ledger *ledger, uint32_t row)
{
	loci_spread_collect(&ledger->rows, row, counts->bins);
	if (ledger->time_rows.near)
		loci_spread_collect(&ledger->time_rows, row, counts->times);
	for (unsigned i = 0; i < ledger->n_levels; i++) {
		const struct loci_level_tally *from =
			&ledger->row_levels.tally[(size_t)row * ledger->n_levels + i];

		loci_level_tally_add(&counts->level[i], from);
	}
}

void loci_counts_add_context(
	struct loci_counts *counts, const struct loci_ledger *ledger, uint32_t context)
{
	loci_spread_collect(&ledger->contexts, context, counts->bins);
	if (ledger->time_contexts.near)
		loci_spread_collect(&ledger->time_contexts, context, counts->times);
	for (unsigned i = 0; i < ledger->n_levels; i++)
		counts->level[i] =
			ledger->context_levels.tally[(size_t)context * ledger->n_levels + i];
}

/* Of samples that all have the same weight, nearly. */
int loci_publish_square(const struct loci_publication *p, struct loci_hist *hist)
{
	double weight = p->options->sample_weight;

	if (!(weight > 0))
		return 0;
	hist->square = calloc(hist->n_bins ? hist->n_bins : 1, sizeof(*hist->square));
	for (uint32_t i = 0; hist->square && i < hist->n_bins; i++)
		hist->square[i] = hist->weight[i] * weight;
	return hist->square ? 0 : -ENOMEM;
}

static int put_hist(struct loci_publication *p, const struct loci_hist_key *key,
	const uint64_t *bins, struct loci_err *err)
{
	loci_cleanup(loci_hist_fini) struct loci_hist hist = { 0 };

	if (loci_spread_hist(bins, loci_bin_coarse(LOCI_PAIRS_FAR_BLOCKS), &hist) < 0 ||
		loci_publish_square(p, &hist) < 0)
		return loci_err_nomem(err);
	return loci_profile_put_hist(p->profile, key, &hist, err);
}

static int put_hists(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	const struct loci_counts *counts, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK,
		.block_bytes = p->options->block_bytes[0],
		.owner = owner,
		.owner_id = owner_id };
	uint64_t timed = 0;
	int r = put_hist(p, &key, counts->bins, err);

	for (unsigned i = 0; i <= UINT8_MAX; i++)
		timed |= counts->times[i];
	if (r < 0 || !timed)
		return r;
	key.distance = LOCI_DISTANCE_TIME;
	return put_hist(p, &key, counts->times, err);
}

int loci_publish_side(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	unsigned side, const struct loci_counts *counts, struct loci_err *err)
{
	const struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK,
		.block_bytes = p->options->block_bytes[side + 1],
		.owner = owner,
		.owner_id = owner_id };

	return put_hist(p, &key, counts->bins, err);
}

int loci_publish_counts(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	struct loci_counts *counts, bool histogram, struct loci_err *err)
{
	uint64_t touches = 0;
	int r = 0;

	for (unsigned i = 0; i <= UINT8_MAX; i++)
		touches += counts->bins[i];
	if (histogram)
		r = put_hists(p, owner, owner_id, counts, err);
	/* all touches hit the first level or miss it */
	counts->level[0].first_hits = touches - counts->level[0].misses;
	for (unsigned i = 0; r == 0 && i < p->ledger->n_levels; i++) {
		const struct loci_level_tally *level = &counts->level[i];
		struct loci_level_count_row row = { .level_id = i + 1,
			.owner = owner,
			.owner_id = owner_id,
			.first_hits = level->first_hits,
			.misses = level->misses,
			.writebacks = level->writebacks,
			.coherence = level->coherence,
			.transfers = level->transfers };

		if (row.first_hits || row.misses || row.writebacks || row.transfers)
			r = loci_profile_put_level_count(p->profile, &row, err);
	}
	return r;
}

static const char *flag_words(unsigned flags, char *text, size_t size)
{
	static const char *const names[] = { "atomic", "kernel", "bulk", "streaming", "vector",
		"modify", "prefetch" };
	size_t used = 0;

	text[0] = 0;
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (flags >> i & 1)
			used += (size_t)snprintf(
				text + used, size - used, "%s%s", used ? " " : "", names[i]);
	return used ? text : NULL;
}

struct ordered_site {
	int64_t module_id;
	const struct loci_site *site;
	uint32_t number;
};

static int in_code_order(const void *left, const void *right)
{
	const struct ordered_site *a = left, *b = right;

	if (a->module_id != b->module_id)
		return a->module_id < b->module_id ? -1 : 1;
	if (a->site->offset != b->site->offset)
		return a->site->offset < b->site->offset ? -1 : 1;
	if (a->site->op != b->site->op)
		return a->site->op < b->site->op ? -1 : 1;
	if (a->site->size_bytes != b->site->size_bytes)
		return a->site->size_bytes < b->site->size_bytes ? -1 : 1;
	return (a->site->flags > b->site->flags) - (a->site->flags < b->site->flags);
}

/* Which of the sites with one key it is. */
static int ordinal(struct loci_keymap *seen, const char *key, uint32_t *ret)
{
	struct loci_digest digest = loci_digest_text((struct loci_digest){ 0 }, key);

	for (*ret = 0;; ++*ret) {
		struct loci_digest d = loci_digest_word(digest, *ret);

		if (loci_keymap_get(seen, d.a, d.b) == LOCI_KEYMAP_NONE)
			return loci_keymap_put(seen, d.a, d.b, 0);
	}
}

static int put_site(struct loci_publication *p, uint32_t number, int64_t id,
	struct loci_keymap *keys, struct loci_err *err)
{
	static const char *const ops[] = { "load", "store", "fetch", "frame" };
	const struct loci_ledger_site *from = &p->ledger->site[number];
	const struct loci_code_place *place;
	loci_autofree char *key = NULL;
	char flags[80];
	uint32_t nth, loop;
	int r = loci_naming_place(&p->naming, from->site.module, from->site.offset, &place, err);
	int fixed = r < 0 ? r : loci_publish_fixed_loop_of(p, &from->site, &loop, err);

	if (fixed < 0)
		return fixed;
	if (ordinal(keys, place->key, &nth) < 0 || asprintf(&key, "%s#%u", place->key, nth) < 0) {
		key = NULL;
		return loci_err_nomem(err);
	}
	p->site_id[number] = id;
	p->refs += from->refs;
	return loci_profile_put_site(p->profile,
		&(struct loci_site_row){ .id = id,
			.site_key = key,
			.function_id = place->function_id,
			.module_id = place->function_id
				? 0
				: loci_naming_module(&p->naming, from->site.module),
			.inlined_id = place->inlined_id,
			.loop_id = fixed ? p->loop_id[loop]
					 : loci_publish_loop_of(p, place->function_id,
						   from->site.module, from->site.offset),
			.source_id = place->source_id,
			.line = place->line,
			.column = place->column,
			.op = ops[from->site.op & 3],
			.flags = flag_words(from->site.flags, flags, sizeof(flags)),
			.size_bytes = from->site.size_bytes,
			.code_offset = from->site.offset,
			.refs = from->refs },
		err);
}

static struct ordered_site *order_sites(struct loci_publication *p)
{
	const struct loci_ledger *ledger = p->ledger;
	struct ordered_site *order = calloc(ledger->n_sites, sizeof(*order));

	for (uint32_t i = 1; order && i < ledger->n_sites; i++)
		order[i - 1] = (struct ordered_site){ loci_naming_module(&p->naming,
							      ledger->site[i].site.module),
			&ledger->site[i].site, i };
	if (order)
		qsort(order, ledger->n_sites - 1, sizeof(*order), in_code_order);
	return order;
}

int loci_publish_sites(struct loci_publication *p, struct loci_err *err)
{
	loci_autofree struct ordered_site *order = order_sites(p);
	struct loci_keymap keys = { 0 };
	int64_t id = 0;
	int r = order ? 0 : loci_err_nomem(err);

	for (size_t i = 0; r == 0 && i + 1 < p->ledger->n_sites; i++) {
		uint32_t number = order[i].number;

		p->site_rank[number] = (uint32_t)i + 1;
		if (p->options->sites &&
			(p->ledger->site[number].refs || p->ledger->site[number].touched))
			r = put_site(p, number, ++id, &keys, err);
	}
	loci_keymap_fini(&keys);
	return r;
}

/* Contexts, children after their parents, in the order of the code. */
struct ordered_context {
	uint32_t parent, entry, call; /* the two as ranks */
	uint32_t number;
};

static int in_tree_order(const void *left, const void *right)
{
	const struct ordered_context *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->entry != b->entry)
		return a->entry < b->entry ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static bool has_touches(const struct loci_counts *counts)
{
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		if (counts->bins[i])
			return true;
	return false;
}

static int put_context(
	struct loci_publication *p, uint32_t number, int64_t id, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	const struct loci_context *node = &ledger->context[number];
	struct loci_context_row row = { .id = id, .refs = node->refs };
	struct loci_counts counts = { 0 };
	int r = 0;

	if (number) {
		const struct loci_site *call = &ledger->site[node->call].site;
		const struct loci_code_place *place = NULL;

		row.parent_id = node->parent ? p->context_id[node->parent] : 0;
		r = loci_naming_entry(
			&p->naming, &ledger->site[node->entry].site, &row.function_id, err);
		if (r == 0 && node->call != LOCI_NO_SITE)
			r = loci_naming_call(&p->naming, call, &place, err);
		if (r == 0 && place) {
			row.source_id = place->source_id;
			row.line = place->line;
		}
	}
	p->context_id[number] = id;
	if (r == 0)
		r = loci_profile_put_context(p->profile, &row, err);
	if (r < 0)
		return r;
	loci_counts_add_context(&counts, ledger, number);
	if (!node->refs && !has_touches(&counts))
		return 0;
	/* where no reference was sampled reuses were */
	return loci_publish_counts(p, LOCI_OWNER_CONTEXT, id, &counts,
		!node->refs || (double)node->refs >= CONTEXT_SHARE * (double)p->refs, err);
}

/* Where the children of a context begin. */
static size_t children(const struct ordered_context *order, size_t n, uint32_t parent)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int put_below(struct loci_publication *p, const struct ordered_context *order, size_t n,
	uint32_t parent, int64_t *id, struct loci_err *err)
{
	int r = 0;

	for (size_t i = children(order, n, parent); r == 0 && i < n && order[i].parent == parent;
		i++) {
		r = put_context(p, order[i].number, ++*id, err);
		if (r == 0)
			r = put_below(p, order, n, order[i].number, id, err);
	}
	return r;
}

int loci_publish_contexts(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	size_t n = ledger->n_contexts - 1;
	loci_autofree struct ordered_context *order = calloc(n + 1, sizeof(*order));
	int64_t id = 0;
	int r = 0;

	if (!order)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct loci_context *node = &ledger->context[i + 1];

		order[i] = (struct ordered_context){ node->parent, p->site_rank[node->entry],
			p->site_rank[node->call], (uint32_t)i + 1 };
	}
	qsort(order, n, sizeof(*order), in_tree_order);
	if (ledger->context[LOCI_CONTEXT_ROOT].refs && n)
		r = put_context(p, LOCI_CONTEXT_ROOT, ++id, err);
	return r < 0 ? r : put_below(p, order, n, LOCI_CONTEXT_ROOT, &id, err);
}

static int put_levels(struct loci_publication *p, struct loci_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < p->ledger->n_levels; i++) {
		struct loci_level_row row = p->options->levels[i];

		row.id = i + 1;
		r = loci_profile_put_level(p->profile, &row, err);
	}
	return r;
}

static int put_whole(struct loci_publication *p, struct loci_err *err)
{
	struct loci_counts counts = { 0 };

	for (uint32_t i = 0; i < p->ledger->n_rows; i++)
		loci_counts_add_row(&counts, p->ledger, i);
	return loci_publish_counts(p, LOCI_OWNER_WHOLE, 0, &counts, false, err);
}

struct worst {
	uint64_t misses, refs;
	uint32_t site;
};

static int by_misses(const void *left, const void *right)
{
	const struct worst *a = left, *b = right;

	if (a->misses != b->misses)
		return a->misses > b->misses ? -1 : 1;
	if (a->refs != b->refs)
		return a->refs > b->refs ? -1 : 1;
	return (a->site > b->site) - (a->site < b->site);
}

/* Source lines, those of the worst sites first: there is room for so many only. */
static int put_excerpts(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	loci_autofree struct worst *worst = calloc(ledger->n_sites, sizeof(*worst));
	int r = 0;

	if (!worst)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < ledger->n_sites; i++)
		worst[i] = (struct worst){ p->site_misses[i], ledger->site[i].refs, i };
	qsort(worst, ledger->n_sites, sizeof(*worst), by_misses);
	for (size_t i = 0; r == 0 && i < ledger->n_sites; i++) {
		const struct loci_site *site = &ledger->site[worst[i].site].site;
		const struct loci_code_place *place;

		if (!p->site_id[worst[i].site])
			continue;
		r = loci_naming_place(&p->naming, site->module, site->offset, &place, err);
		if (r == 0)
			r = loci_naming_excerpt(&p->naming, place, err);
	}
	return r;
}

static void notes(const struct loci_publication *p)
{
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ p->ledger->contexts_full,
			"some calling contexts are counted with their callers': there are too "
			"many, or they are too deep" },
		{ p->ledger->rows_full, "some references have no site: there are too many" },
		{ p->ledger->pairs_full, "some pairs have no contexts: there are too many" },
		{ p->ledger->footprint.dropped,
			"no distinct bytes: they do not fit in --max-memory" },
		{ p->ledger->regions_full,
			"some regions are counted with those around them: there are too many" },
		{ p->ledger->stages_full,
			"some regions and phases are counted with others: there are too many" },
	};

	for (size_t i = 0; p->options->note && i < LOCI_ARRAY_SIZE(all); i++)
		if (all[i].is)
			p->options->note(p->options->note_data, all[i].text);
}

static int allocate(struct loci_publication *p)
{
	const struct loci_ledger *ledger = p->ledger;

	p->site_rank = calloc(ledger->n_sites, sizeof(*p->site_rank));
	p->site_id = calloc(ledger->n_sites, sizeof(*p->site_id));
	p->site_misses = calloc(ledger->n_sites, sizeof(*p->site_misses));
	p->context_id = calloc(ledger->n_contexts, sizeof(*p->context_id));
	p->object_id = calloc(ledger->n_objects + 1, sizeof(*p->object_id));
	p->loop_id = calloc(ledger->n_loops, sizeof(*p->loop_id));
	p->region_id = calloc(ledger->n_regions, sizeof(*p->region_id));
	p->field_id = calloc(ledger->n_rows, sizeof(*p->field_id));
	p->access_id = calloc(ledger->n_rows, sizeof(*p->access_id));
	p->row_order = calloc(ledger->n_rows, sizeof(*p->row_order));
	return p->site_rank && p->site_id && p->site_misses && p->context_id && p->object_id &&
			p->loop_id && p->region_id && p->field_id && p->access_id && p->row_order
		? 0
		: -ENOMEM;
}

static void publication_fini(struct loci_publication *p)
{
	loci_naming_fini(&p->naming);
	free(p->site_rank);
	free(p->site_id);
	free(p->site_misses);
	free(p->context_id);
	free(p->object_id);
	free(p->loop_id);
	free(p->region_id);
	free(p->loop);
	free(p->field_id);
	free(p->access_id);
	free(p->row_order);
}

int loci_publish(struct loci_ledger *ledger, const struct loci_publish_options *options,
	struct loci_profile *profile, struct loci_err *err)
{
	static int (*const parts[])(struct loci_publication *, struct loci_err *) = { put_levels,
		loci_publish_loops, loci_publish_sites, loci_publish_contexts, loci_publish_objects,
		loci_publish_pieces, loci_publish_pairs, loci_publish_regions, loci_publish_phases,
		loci_publish_blocks, loci_publish_footprints, loci_publish_sharing, put_whole };
	loci_cleanup(publication_fini) struct loci_publication p = { .ledger = ledger,
		.options = options,
		.profile = profile,
		.coherence_id = options->coherence_id };
	int r = loci_ledger_settle(ledger, err);

	if (r == 0)
		r = loci_naming_init(&p.naming, profile, ledger, err);
	if (r == 0 && allocate(&p) < 0)
		r = loci_err_nomem(err);
	for (size_t i = 0; i < ledger->n_rows; i++)
		p.all_refs += ledger->row[i].refs;
	for (size_t i = 0; r == 0 && i < LOCI_ARRAY_SIZE(parts); i++)
		r = parts[i](&p, err);
	if (r == 0 && !options->no_source)
		r = put_excerpts(&p, err);
	notes(&p);
	return r;
}
