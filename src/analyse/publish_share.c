// SPDX-License-Identifier: GPL-2.0-or-later
/* What threads met of each other, by site and object, and which writes made which misses. Where the
 * engine followed some blocks only, the estimates are made to add up to the touches. */
#include "analyse/publish_state.h"

#include "analyse/share_sum.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

void loci_private_add_row(
	struct loci_private_counts *counts, const struct loci_ledger *ledger, uint32_t row)
{
	uint64_t stack[UINT8_MAX + 1] = { 0 };

	loci_spread_collect(&ledger->private_rows, row, counts->bins);
	loci_spread_collect(&ledger->rows, row, stack);
	for (unsigned i = 0; i <= UINT8_MAX; i++)
		counts->touches += stack[i];
	if (row >= ledger->row_met_cap)
		return;
	counts->met.true_sharing += ledger->row_met[row].true_sharing;
	counts->met.false_sharing += ledger->row_met[row].false_sharing;
	counts->met.remote += ledger->row_met[row].remote;
}

/* Touches for each one that was counted; 1 where all were. */
static double weight_of(const struct loci_private_counts *counts)
{
	uint64_t counted = counts->met.true_sharing + counts->met.false_sharing;

	for (unsigned i = 0; i <= UINT8_MAX; i++)
		counted += i == LOCI_SPREAD_UNSAMPLED ? 0 : counts->bins[i];
	return counted ? (double)counts->touches / (double)counted : 1;
}

static uint64_t weigh(uint64_t count, double weight)
{
	return (uint64_t)((double)count * weight + 0.5);
}

int loci_publish_private(struct loci_publication *p, enum loci_owner owner, int64_t owner_id,
	struct loci_private_counts *counts, struct loci_err *err)
{
	loci_cleanup(loci_hist_fini) struct loci_hist hist = { 0 };
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_PRIVATE,
		.block_bytes = p->options->block_bytes[0],
		.owner = owner,
		.owner_id = owner_id };
	double weight = weight_of(counts);
	struct loci_coherence met = { weigh(counts->met.true_sharing, weight),
		weigh(counts->met.false_sharing, weight), weigh(counts->met.remote, weight) };
	int r;

	counts->bins[LOCI_SPREAD_UNSAMPLED] = 0;
	if (loci_spread_hist(counts->bins, 0, &hist) < 0)
		return loci_err_nomem(err);
	hist.cold *= weight;
	for (uint32_t i = 0; i < hist.n_bins; i++)
		hist.weight[i] *= weight;
	hist.coherence = (double)(met.true_sharing + met.false_sharing);
	if (loci_publish_square(p, &hist) < 0)
		return loci_err_nomem(err);
	r = loci_profile_put_hist(p->profile, &key, &hist, err);
	if (r < 0 || !(met.true_sharing || met.false_sharing || met.remote))
		return r;
	return loci_share_put_met(p->profile, ++p->coherence_id, owner, owner_id, key.block_bytes,
		counts->touches, &met, err);
}

/* Misses with what they are sorted and added up by. */
struct ordered_misses {
	int64_t key[7];
	uint64_t misses, threads;
};

static int by_key(const void *left, const void *right)
{
	const struct ordered_misses *a = left, *b = right;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(a->key); i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

static struct ordered_misses order(const struct loci_publication *p, size_t i)
{
	const struct loci_ledger *ledger = p->ledger;
	const struct loci_share_miss *from = &ledger->sharing[i];
	const struct loci_row *write = &ledger->row[from->write_row];
	const struct loci_row *miss = &ledger->row[from->miss_row];
	struct loci_private_counts counts = { 0 };

	loci_private_add_row(&counts, ledger, from->miss_row);
	return (struct ordered_misses){ .key = { p->site_id[write->site], p->site_id[miss->site],
						from->miss_row ? p->object_id[miss->object] : 0,
						from->write_row ? p->object_id[write->object] : 0,
						p->field_id[from->miss_row],
						p->field_id[from->write_row], from->is_false },
		.misses = weigh(from->misses, weight_of(&counts)),
		.threads = from->n_pairs };
}

int loci_publish_sharing(struct loci_publication *p, struct loci_err *err)
{
	size_t n = p->ledger->n_sharing;
	loci_autofree struct ordered_misses *rows = calloc(n + 1, sizeof(*rows));
	int64_t id = 0;
	int r = rows ? 0 : loci_err_nomem(err);

	for (size_t i = 0; r == 0 && i < n; i++)
		rows[i] = order(p, i);
	if (r == 0)
		qsort(rows, n, sizeof(*rows), by_key);
	for (size_t i = 0; r == 0 && i < n;) {
		const struct ordered_misses *first = &rows[i];
		struct loci_sharing_row row = { .id = ++id,
			.write_site_id = first->key[0],
			.miss_site_id = first->key[1],
			.object_id = first->key[2],
			.write_object_id = first->key[3],
			.field_id = first->key[4],
			.write_field_id = first->key[5],
			.kind = first->key[6] ? "false" : "true" };

		for (; i < n && !by_key(&rows[i], first); i++) {
			row.misses += rows[i].misses;
			if (rows[i].threads > row.threads)
				row.threads = rows[i].threads;
		}
		r = loci_profile_put_sharing(p->profile, &row, err);
	}
	return r;
}
