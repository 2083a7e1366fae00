// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads of a process met of each other, by row. A process with one thread has its stack
 * to itself: its private distances are the others. They are kept as soon as any has several. */
#include "analyse/ledger_state.h"

#include "analyse/grow.h"

void loci_ledger_fini_share(struct loci_ledger *ledger)
{
	loci_spread_fini(&ledger->private_rows);
	free(ledger->row_met);
	free(ledger->sharing);
	loci_keymap_fini(&ledger->sharing_ids);
}

int loci_ledger_begin_share(struct loci_ledger *ledger, const struct loci_attribution *process)
{
	if (ledger->threaded || (!process->measure.share && !process->private_))
		return 0;
	ledger->threaded = true;
	if (loci_spread_reserve(&ledger->private_rows, ledger->n_rows) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < ledger->n_rows; i++)
		if (loci_ledger_add_spread(&ledger->private_rows, i, &ledger->rows, i, NULL) < 0)
			return -ENOMEM;
	return 0;
}

static int add_row(struct loci_ledger *ledger, const struct loci_ledger_maps *maps, uint32_t i)
{
	const struct loci_attribution *process = maps->process;
	const struct loci_share *share = process->measure.share;
	const struct loci_sampler_private *sampled = process->private_;
	/* of samples nothing else was measured */
	const struct loci_spread *rows = sampled ? &sampled->rows
		: share                          ? &share->rows
						 : &process->measure.rows;
	struct loci_coherence *met = &ledger->row_met[maps->row[i]];

	if (share && i < share->row_cap) {
		met->true_sharing += share->row[i].true_sharing;
		met->false_sharing += share->row[i].false_sharing;
		met->remote += share->row[i].remote;
	}
	if (sampled) {
		met->true_sharing += sampled->met[i].true_sharing;
		met->false_sharing += sampled->met[i].false_sharing;
	}
	return loci_ledger_add_spread(
		&ledger->private_rows, maps->row[i], rows, i, process->rows.row[i].near);
}

static int add_misses(struct loci_ledger *ledger, const struct loci_ledger_maps *maps,
	const struct loci_share_miss *from)
{
	uint32_t write = maps->row[from->write_row], miss = maps->row[from->miss_row], id;
	struct loci_digest key = { (uint64_t)write << 32 | miss, from->is_false };
	struct loci_share_miss *to;
	int r = loci_ledger_intern(&ledger->sharing_ids, key, &ledger->sharing, &ledger->n_sharing,
		&ledger->sharing_cap, sizeof(*ledger->sharing), &id);

	if (r < 0)
		return r;
	to = &ledger->sharing[id];
	to->write_row = write;
	to->miss_row = miss;
	to->is_false = from->is_false;
	to->misses += from->misses;
	to->n_pairs += from->n_pairs; /* threads of other processes are others */
	return 0;
}

int loci_ledger_add_share(struct loci_ledger *ledger, const struct loci_ledger_maps *maps)
{
	const struct loci_share *share = maps->process->measure.share;

	if (!ledger->threaded)
		return 0;
	if (loci_spread_reserve(&ledger->private_rows, ledger->n_rows) < 0 ||
		loci_grow(&ledger->row_met, &ledger->row_met_cap, ledger->n_rows,
			sizeof(*ledger->row_met)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < maps->process->rows.n; i++)
		if (add_row(ledger, maps, i) < 0)
			return -ENOMEM;
	for (size_t i = 0; share && i < share->n_misses; i++)
		if (add_misses(ledger, maps, &share->miss[i]) < 0)
			return -ENOMEM;
	return 0;
}
