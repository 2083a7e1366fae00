// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions, phases and what the program did wrong when it marked them. */
#include "analyse/publish_state.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void add_marked(struct loci_counts *counts, const struct loci_ledger *ledger,
	const struct loci_ledger_marked *marked, uint32_t id)
{
	loci_spread_collect(&marked->distances, id, counts->bins);
	for (unsigned i = 0; i < ledger->n_levels; i++)
		counts->level[i] = marked->levels.tally[(size_t)id * ledger->n_levels + i];
}

/* Regions, children after their parents, by name. */
struct ordered_region {
	uint32_t parent, number;
	const char *name;
};

static int in_order(const void *left, const void *right)
{
	const struct ordered_region *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int put_region(struct loci_publication *p, uint32_t number, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	const struct loci_marked_region *region = &ledger->region[number];
	struct loci_counts counts = { 0 };
	int64_t id = p->region_id[number];
	int r = loci_profile_put_region(p->profile,
		&(struct loci_region_row){ .id = id,
			.parent_id = p->region_id[region->parent],
			.name = region->name,
			.entries = region->entries,
			.refs = ledger->in_region.refs[number] },
		err);

	if (r < 0)
		return r;
	add_marked(&counts, ledger, &ledger->in_region, number);
	return loci_publish_counts(p, LOCI_OWNER_REGION, id, &counts, true, err);
}

int loci_publish_regions(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	size_t n = ledger->n_regions - 1, done = 0;
	loci_autofree struct ordered_region *order = calloc(n + 1, sizeof(*order));
	loci_autofree uint32_t *queue = calloc(n + 1, sizeof(*queue));
	int r = 0;

	if (!order || !queue)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct ordered_region){ ledger->region[i + 1].parent, (uint32_t)i + 1,
			ledger->region[i + 1].name };
	qsort(order, n, sizeof(*order), in_order);
	/* breadth first: queue[0] is the root, who has no row */
	for (size_t at = 0; r == 0 && at <= done; at++) {
		size_t low = 0, high = n;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (order[middle].parent < queue[at])
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < n && order[low].parent == queue[at]; low++) {
			queue[++done] = order[low].number;
			p->region_id[order[low].number] = (int64_t)done;
		}
		if (at)
			r = put_region(p, queue[at], err);
	}
	return r;
}

/* What no phase has came before the first, or in processes that have none. */
static void take_away(struct loci_counts *whole, const struct loci_counts *phase, unsigned n_levels)
{
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		whole->bins[i] -= phase->bins[i];
	for (unsigned i = 0; i < n_levels; i++) {
		whole->level[i].first_hits -= phase->level[i].first_hits;
		whole->level[i].misses -= phase->level[i].misses;
		whole->level[i].writebacks -= phase->level[i].writebacks;
		whole->level[i].coherence -= phase->level[i].coherence;
		whole->level[i].transfers -= phase->level[i].transfers;
	}
}

static int put_phase(struct loci_publication *p, int64_t id, const char *name, uint64_t refs,
	struct loci_counts *counts, struct loci_err *err)
{
	int r = loci_profile_put_phase(
		p->profile, &(struct loci_phase_row){ .id = id, .name = name, .refs = refs }, err);

	return r < 0 ? r : loci_publish_counts(p, LOCI_OWNER_PHASE, id, counts, true, err);
}

static int put_stretches(struct loci_publication *p, int64_t first_id, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	struct loci_stretch_row row = { .phase_id = first_id };
	int r = 0;

	for (size_t i = 0; r == 0 && i <= ledger->n_stretches; i++) {
		bool last = i == ledger->n_stretches;
		uint64_t end = last ? p->all_refs : ledger->stretch[i].first_refs;

		row.refs = end - row.first_refs;
		if (row.refs)
			r = loci_profile_put_stretch(p->profile, &row, err);
		row.first_refs = end;
		row.phase_id = last ? 0 : (int64_t)ledger->stretch[i].phase;
		if (i + 1 == ledger->n_stretches && ledger->stretches_full)
			row.phase_id = 0; /* several, from here on */
	}
	return r;
}

/* Phases keep the order in which they began. */
int loci_publish_phases(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	struct loci_counts rest = { 0 };
	uint64_t refs = p->all_refs;
	int64_t first_id;
	int r = 0;

	if (ledger->n_phases < 2)
		return 0;
	for (uint32_t i = 0; i < ledger->n_rows; i++)
		loci_counts_add_row(&rest, ledger, i);
	for (uint32_t i = 1; r == 0 && i < ledger->n_phases; i++) {
		struct loci_counts counts = { 0 };

		add_marked(&counts, ledger, &ledger->in_phase, i);
		take_away(&rest, &counts, ledger->n_levels);
		refs -= ledger->in_phase.refs[i];
		r = put_phase(
			p, (int64_t)i, ledger->phase[i], ledger->in_phase.refs[i], &counts, err);
	}
	first_id = refs ? (int64_t)ledger->n_phases : 0;
	if (r == 0 && first_id)
		r = put_phase(p, first_id, NULL, refs, &rest, err);
	return r < 0 || ledger->n_running != 1 ? r : put_stretches(p, first_id, err);
}
