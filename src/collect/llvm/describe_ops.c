// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of operations in a definition. Equal operations of a block are one row that counts
 * them, and so are calls of one callee. */
#include "collect/llvm/describe.h"

#include "collect/llvm/executions.h"
#include "collect/llvm/ops.h"

#include <llvm-c/DebugInfo.h>

#include <stdlib.h>
#include <string.h>

struct invoked {
	LLVMValueRef callee;
	uint32_t count;
};

/* Of one block. */
struct gathered {
	struct loci_cc_op *op;
	size_t n_ops;
	struct invoked *invoked;
	size_t n_invoked;
};

static bool is_alike(const struct loci_cc_op *a, const struct loci_cc_op *b)
{
	return a->kind == b->kind && a->type == b->type && a->lanes == b->lanes &&
		a->bits == b->bits;
}

static void add_op(struct gathered *to, const struct loci_cc_op *op)
{
	for (size_t i = 0; i < to->n_ops; i++)
		if (is_alike(&to->op[i], op)) {
			to->op[i].count += op->count;
			return;
		}
	to->op = loci_grown(to->op, to->n_ops, sizeof(*to->op));
	to->op[to->n_ops++] = *op;
}

static void add_callee(struct gathered *to, LLVMValueRef callee)
{
	for (size_t i = 0; i < to->n_invoked; i++)
		if (to->invoked[i].callee == callee) {
			to->invoked[i].count++;
			return;
		}
	to->invoked = loci_grown(to->invoked, to->n_invoked, sizeof(*to->invoked));
	to->invoked[to->n_invoked++] = (struct invoked){ callee, 1 };
}

static int compare_ops(const void *a, const void *b)
{
	const struct loci_cc_op *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->lanes != y->lanes)
		return x->lanes < y->lanes ? -1 : 1;
	return x->bits < y->bits ? -1 : x->bits > y->bits;
}

static void gather(struct gathered *to, LLVMTargetDataRef layout, LLVMValueRef instruction)
{
	struct loci_cc_op op[LOCI_OPS_MAX];
	unsigned n = loci_ops_of(layout, instruction, op);
	LLVMValueRef callee = loci_ops_callee(instruction);
	for (unsigned i = 0; i < n; i++)
		add_op(to, &op[i]);
	if (callee)
		add_callee(to, callee);
}

static void place_block(struct loci_scopes *scopes, const struct loci_plan *plan,
	const struct loci_plan_piece *piece, struct loci_cc_block_ops *row)
{
	struct loci_place place = { 0 };
	for (uint32_t i = 0; i < piece->n_actions; i++) {
		LLVMValueRef at = plan->action[piece->first_action + i];
		if (loci_scopes_place(scopes, LLVMInstructionGetDebugLoc(at), &place) && place.line)
			break;
	}
	row->line = place.line;
	row->column = (uint16_t)place.column;
	row->scope = place.scope;
}

static void add_rows(struct loci_ops_tables *to, const struct loci_plan *plan, uint32_t block,
	const struct gathered *gathered)
{
	loci_blob_add(&to->ops, gathered->op, gathered->n_ops * sizeof(*gathered->op));
	to->n_ops += (uint32_t)gathered->n_ops;
	for (size_t i = 0; i < gathered->n_invoked; i++) {
		struct loci_cc_invocation row = { .block = block,
			.count = gathered->invoked[i].count };
		size_t at = to->invocations.n;
		loci_blob_add(&to->invocations, &row, sizeof(row));
		loci_blob_refer(&to->invocations, at + offsetof(struct loci_cc_invocation, callee),
			loci_symbol_text(plan->module, gathered->invoked[i].callee));
		to->n_invocations++;
	}
}

void loci_ops_tables_fill(struct loci_ops_tables *to, struct loci_scopes *scopes,
	const struct loci_plan *plan, const struct loci_executions *executions)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(plan->module);
	struct gathered gathered = { 0 };
	for (uint32_t i = 0; i < plan->n_pieces; i++) { /* each a block */
		const struct loci_plan_piece *piece = &plan->piece[i];
		struct loci_cc_block_ops row = { .first_op = to->n_ops };
		gathered.n_ops = gathered.n_invoked = 0;
		for (uint32_t k = 0; k < piece->n_actions; k++)
			gather(&gathered, layout, plan->action[piece->first_action + k]);
		if (gathered.n_ops)
			qsort(gathered.op, gathered.n_ops, sizeof(*gathered.op), compare_ops);
		row.n_ops = (uint32_t)gathered.n_ops;
		place_block(scopes, plan, piece, &row);
		loci_blob_add(&to->blocks, &row, sizeof(row));
		add_rows(to, plan, piece->block, &gathered);
	}
	loci_blob_add(
		&to->terms, executions->term, executions->n_terms * sizeof(*executions->term));
	to->n_terms = (uint32_t)executions->n_terms;
	to->n_counters = executions->n_counters;
	free(gathered.op);
	free(gathered.invoked);
}

void loci_ops_tables_fini(struct loci_ops_tables *tables)
{
	loci_blob_fini(&tables->blocks);
	loci_blob_fini(&tables->ops);
	loci_blob_fini(&tables->invocations);
	loci_blob_fini(&tables->terms);
}
