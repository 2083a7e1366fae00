// SPDX-License-Identifier: GPL-2.0-or-later
/* Executions of blocks, of all processes. */
#include "analyse/ledger_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

/* The ledger's number of a block of the process. */
static int add_block(struct loci_ledger *ledger, const struct loci_ledger_maps *maps,
	const struct loci_ran *from, uint32_t *ret)
{
	uint32_t site = maps->site[maps->process->code.function[from->function].site];
	struct loci_digest key = { site, from->number };
	struct loci_ledger_ran *ran;
	int r = loci_ledger_intern(&ledger->ran_ids, key, &ledger->ran, &ledger->n_ran,
		&ledger->ran_cap, sizeof(*ledger->ran), ret);

	if (r < 0)
		return r;
	ran = &ledger->ran[*ret];
	if (r)
		*ran = (struct loci_ledger_ran){ .site = site, .number = from->number };
	ran->executions += from->told;
	ran->loaded_bytes += from->loaded_bytes;
	ran->stored_bytes += from->stored_bytes;
	return 0;
}

static int add_cell(struct loci_ledger *ledger, const struct loci_ledger_maps *maps,
	const uint32_t *ran, const struct loci_ran_cell *from)
{
	struct loci_ran_cell cell = { .ran = ran[from->ran],
		.context = maps->context[from->context],
		.region = maps->region[from->region] };
	struct loci_digest key = { (uint64_t)cell.ran << 32 | cell.context, cell.region };
	uint32_t id;
	int r = loci_ledger_intern(&ledger->cell_ids, key, &ledger->cell, &ledger->n_cells,
		&ledger->cell_cap, sizeof(*ledger->cell), &id);

	if (r < 0)
		return r;
	if (r)
		ledger->cell[id] = cell;
	ledger->cell[id].times += from->times;
	ledger->ran[cell.ran].executions += from->times;
	return 0;
}

int loci_ledger_add_ran(struct loci_ledger *ledger, const struct loci_ledger_maps *maps)
{
	struct loci_executed *executed = &maps->process->executed;
	loci_autofree uint32_t *ran = calloc(executed->n_ran + 1, sizeof(*ran));

	if (!ran)
		return -ENOMEM;
	loci_executed_settle(executed);
	for (size_t i = 1; i < executed->n_ran; i++)
		if (add_block(ledger, maps, &executed->ran[i], &ran[i]) < 0)
			return -ENOMEM;
	for (size_t i = 1; i < executed->n_cells; i++)
		if (add_cell(ledger, maps, ran, &executed->cell[i]) < 0)
			return -ENOMEM;
	return 0;
}
