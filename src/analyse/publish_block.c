// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks that operations are counted of: how often they ran, where, and what they do. */
#include "analyse/publish_state.h"

#include "analyse/digest.h"
#include "base/cleanup.h"

#include <stdlib.h>

/* In the order of the code. */
struct ordered_block {
	uint32_t rank, number;
	uint32_t ran;
};

static int in_code_order(const void *left, const void *right)
{
	const struct ordered_block *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

struct block_putter {
	struct loci_publication *publication;
	int64_t n_operations, n_invocations;
	int64_t *id; /* by number in the ledger; 0: it did not run */
};

static int put_operations(struct block_putter *b, const struct loci_ledger_ran *ran, int64_t id,
	const struct loci_symbol_block *known, struct loci_digest *digest, struct loci_err *err)
{
	const struct loci_ledger *ledger = b->publication->ledger;
	const struct loci_site *site = &ledger->site[ran->site].site;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < known->n_ops; i++) {
		struct loci_symbol_op op;

		r = loci_symbols_op(
			ledger->symbols, site->module, site->offset, ran->number, i, &op, err);
		if (r < 0)
			return r;
		*digest = loci_digest_text(loci_digest_text(*digest, op.kind), op.type);
		*digest = loci_digest_word(*digest, (uint64_t)op.lanes << 32 | op.count);
		*digest = loci_digest_word(*digest, op.bits);
		r = loci_profile_put_operation(b->publication->profile,
			&(struct loci_operation_row){ .id = ++b->n_operations,
				.block_id = id,
				.kind = op.kind,
				.type = op.type,
				.lanes = op.lanes,
				.count = op.count,
				.bits = op.bits },
			err);
	}
	return r;
}

static int put_invocations(struct block_putter *b, const struct loci_ledger_ran *ran, int64_t id,
	const struct loci_symbol_block *known, struct loci_digest *digest, struct loci_err *err)
{
	const struct loci_ledger *ledger = b->publication->ledger;
	const struct loci_site *site = &ledger->site[ran->site].site;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < known->n_invocations; i++) {
		struct loci_symbol_invocation call;

		r = loci_symbols_invocation(
			ledger->symbols, site->module, site->offset, ran->number, i, &call, err);
		if (r < 0)
			return r;
		*digest = loci_digest_word(loci_digest_text(*digest, call.callee), call.count);
		r = loci_profile_put_invocation(b->publication->profile,
			&(struct loci_invocation_row){ .id = ++b->n_invocations,
				.block_id = id,
				.callee = call.callee,
				.count = call.count },
			err);
	}
	return r;
}

static int put_block(struct block_putter *b, uint32_t number, int64_t id, struct loci_err *err)
{
	struct loci_publication *p = b->publication;
	const struct loci_ledger_ran *ran = &p->ledger->ran[number];
	const struct loci_site *site = &p->ledger->site[ran->site].site;
	struct loci_block_row row = { .id = id,
		.executions = ran->executions,
		.range_loaded_bytes = ran->loaded_bytes,
		.range_stored_bytes = ran->stored_bytes };
	struct loci_digest digest = { 0 };
	struct loci_symbol_block known;
	int r = loci_symbols_block(
		p->ledger->symbols, site->module, site->offset, ran->number, &known, err);

	if (r < 0)
		return r;
	row.line = known.line;
	row.entry = known.entry;
	row.loop_id = loci_publish_fixed_loop_id(p, site->module, known.loop);
	r = loci_naming_entry(&p->naming, site, &row.function_id, err);
	if (r == 0 && known.line && known.file)
		r = loci_naming_source(&p->naming, known.file, &row.source_id, err);
	if (r == 0)
		r = put_operations(b, ran, id, &known, &digest, err);
	if (r == 0)
		r = put_invocations(b, ran, id, &known, &digest, err);
	row.contents = digest.a >> 1;
	b->id[number] = id;
	return r < 0 ? r : loci_profile_put_block(p->profile, &row, err);
}

static int by_block(const void *left, const void *right)
{
	const struct loci_execution_row *a = left, *b = right;

	if (a->block_id != b->block_id)
		return a->block_id < b->block_id ? -1 : 1;
	if (a->context_id != b->context_id)
		return a->context_id < b->context_id ? -1 : 1;
	return (a->region_id > b->region_id) - (a->region_id < b->region_id);
}

static int put_executions(const struct block_putter *b, struct loci_err *err)
{
	const struct loci_publication *p = b->publication;
	const struct loci_ledger *ledger = p->ledger;
	loci_autofree struct loci_execution_row *row = calloc(ledger->n_cells + 1, sizeof(*row));
	size_t n = 0;
	int r = 0;

	if (!row)
		return loci_err_nomem(err);
	for (size_t i = 0; i < ledger->n_cells; i++) {
		const struct loci_ran_cell *cell = &ledger->cell[i];

		if (cell->times)
			row[n++] = (struct loci_execution_row){ .block_id = b->id[cell->ran],
				.context_id = p->context_id[cell->context],
				.region_id = p->region_id[cell->region],
				.executions = cell->times };
	}
	qsort(row, n, sizeof(*row), by_block);
	for (size_t i = 0; r == 0 && i < n; i++) {
		row[i].id = (int64_t)i + 1;
		r = loci_profile_put_execution(p->profile, &row[i], err);
	}
	return r;
}

int loci_publish_blocks(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	size_t n = ledger->n_ran;
	loci_autofree struct ordered_block *order = calloc(n + 1, sizeof(*order));
	loci_autofree int64_t *ids = calloc(n + 1, sizeof(*ids));
	struct block_putter b = { .publication = p, .id = ids };
	int64_t id = 0;
	int r = 0;

	if (!order || !ids)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct ordered_block){ p->site_rank[ledger->ran[i].site],
			ledger->ran[i].number, i };
	qsort(order, n, sizeof(*order), in_code_order);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (ledger->ran[order[i].ran].executions)
			r = put_block(&b, order[i].ran, ++id, err);
	return r < 0 ? r : put_executions(&b, err);
}
