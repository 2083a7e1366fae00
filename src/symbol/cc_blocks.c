// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of code compiled by `loci cc` with their operations: what loci_symbols_block() and its
 * like say of a function's definition. */
#include "symbol/module.h"

#include "symbol/cc_ops.h"

#include <string.h>

/* The definition that an address is part of, if it has operations and such a block. */
static int find(struct loci_symbols *symbols, uint32_t number, uint64_t address, uint32_t block,
	struct loci_symbol_module **ret, const struct loci_cc_known **ret_known,
	struct loci_err *err)
{
	int r = loci_symbols_found(symbols, number, ret, err);

	*ret_known = r < 0 ? NULL : loci_cc_find(&(*ret)->cc, address);
	if (*ret_known && (!loci_cc_has_ops(*ret_known) || block >= (*ret_known)->header.n_blocks))
		*ret_known = NULL;
	return r;
}

/* The pool's copy of a text, which may be none. */
static int keep(
	struct loci_symbols *symbols, const char *text, const char **ret, struct loci_err *err)
{
	*ret = loci_pool_string(&symbols->pool, text);
	return text && !*ret ? loci_err_nomem(err) : 0;
}

int loci_symbols_block(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	uint32_t block, struct loci_symbol_block *ret, struct loci_err *err)
{
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	struct loci_cc_block_ops ops;
	struct loci_cc_block shape;
	uint32_t first;
	int r = find(symbols, number, address, block, &module, &known, err);

	memset(ret, 0, sizeof(*ret));
	if (r < 0 || !known)
		return r;
	ops = loci_cc_block_ops(known, block);
	shape = loci_cc_block(known, block);
	ret->line = ops.line;
	ret->entry = block == 0;
	if (shape.loop != LOCI_CC_NONE)
		ret->loop = known->loops + shape.loop * sizeof(struct loci_cc_loop);
	ret->n_ops = ops.n_ops;
	ret->n_invocations = loci_cc_invocations(known, block, &first);
	r = keep(symbols, loci_cc_scope_text(&module->cc, known, ops.scope, LOCI_CC_SCOPE_FILE),
		&ret->file, err);
	return r < 0 ? r : 1;
}

int loci_symbols_op(struct loci_symbols *symbols, uint32_t number, uint64_t address, uint32_t block,
	uint32_t i, struct loci_symbol_op *ret, struct loci_err *err)
{
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	struct loci_cc_op op;
	int r = find(symbols, number, address, block, &module, &known, err);

	*ret = (struct loci_symbol_op){ .kind = "other" };
	if (r < 0 || !known)
		return r;
	op = loci_cc_op(known, loci_cc_block_ops(known, block).first_op + i);
	*ret = (struct loci_symbol_op){ .kind = loci_cc_op_kind_text(op.kind),
		.type = loci_cc_type_text(op.type),
		.lanes = op.lanes,
		.count = op.count,
		.bits = op.bits };
	if (!ret->kind) /* of a later version */
		ret->kind = loci_cc_op_kind_text(LOCI_CC_OP_OTHER);
	return 0;
}

int loci_symbols_invocation(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	uint32_t block, uint32_t i, struct loci_symbol_invocation *ret, struct loci_err *err)
{
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	const char *callee;
	uint32_t first;
	int r = find(symbols, number, address, block, &module, &known, err);

	*ret = (struct loci_symbol_invocation){ .callee = "?" };
	if (r < 0 || !known)
		return r;
	loci_cc_invocations(known, block, &first);
	ret->count = loci_cc_invocation(known, first + i).count;
	callee = loci_cc_invocation_callee(&module->cc, known, first + i);
	return callee ? keep(symbols, callee, &ret->callee, err) : 0;
}
