// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations by who makes them: sums over blocks, or over their executions in a context or region.
 */
#include "model/op_counts.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *loci_ops_level_name(enum loci_ops_level level)
{
	static const char *const names[] = {
		[LOCI_OPS_FUNCTION] = "function",
		[LOCI_OPS_CONTEXT] = "context",
		[LOCI_OPS_REGION] = "region",
		[LOCI_OPS_BLOCK] = "block",
		[LOCI_OPS_CALLEE] = "callee",
		[LOCI_OPS_TYPE] = "type",
	};

	return names[level];
}

static int by_instructions(const void *left, const void *right)
{
	const struct loci_ops_row *a = left, *b = right;

	if (a->sum.instructions != b->sum.instructions)
		return a->sum.instructions > b->sum.instructions ? -1 : 1;
	/* rows of one table, in its order; that of none last */
	if (!a->owner || !b->owner)
		return !a->owner - !b->owner;
	return (a->owner > b->owner) - (a->owner < b->owner);
}

/* The most instructions first; those that did nothing are none. */
static size_t sort(struct loci_ops_row *row, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (row[i].sum.executions)
			row[kept++] = row[i];
	if (kept)
		qsort(row, kept, sizeof(*row), by_instructions);
	return kept;
}

/* Row 0 is what belongs to none; those of the table follow. */
static size_t number_of(const void *rows, size_t row_bytes, const void *row)
{
	return row ? 1 + (size_t)((const char *)row - (const char *)rows) / row_bytes : 0;
}

static void by_function(const struct loci_ops *ops, struct loci_ops_row *row)
{
	const struct loci_catalogue *c = &ops->catalogue;

	for (size_t i = 0; i < c->n_block; i++) {
		const struct loci_function_row *function =
			loci_catalogue_find_function(c, c->block[i].function_id);

		loci_ops_add_block(
			ops, &row[number_of(c->function, sizeof(*function), function)].sum, i);
	}
}

static void by_block(const struct loci_ops *ops, struct loci_ops_row *row)
{
	for (size_t i = 0; i < ops->catalogue.n_block; i++)
		loci_ops_add_block(ops, &row[i + 1].sum, i);
}

static void by_execution(
	const struct loci_ops *ops, enum loci_ops_level level, struct loci_ops_row *row)
{
	const struct loci_catalogue *c = &ops->catalogue;

	for (size_t i = 0; i < c->n_execution; i++) {
		const struct loci_execution_row *from = &c->execution[i];
		const struct loci_block_row *block = loci_catalogue_find_block(c, from->block_id);
		size_t at = level == LOCI_OPS_CONTEXT
			? number_of(c->context, sizeof(*c->context),
				  loci_catalogue_find_context(c, from->context_id))
			: number_of(c->region, sizeof(*c->region),
				  loci_catalogue_find_region(c, from->region_id));

		loci_ops_add(&row[at].sum, &ops->one[block - c->block], from->executions);
	}
}

/* A region has what the regions in it have; their own is beside. */
static const void *above_region(const struct loci_catalogue *c, const void *row)
{
	return loci_catalogue_find_region(c, ((const struct loci_region_row *)row)->parent_id);
}

static const void *above_context(const struct loci_catalogue *c, const void *row)
{
	return loci_catalogue_find_context(c, ((const struct loci_context_row *)row)->parent_id);
}

/* What is below a row belongs to it too. */
static void include(const struct loci_catalogue *c, struct loci_ops_row *row, size_t n,
	const void *rows, size_t row_bytes,
	const void *(*above)(const struct loci_catalogue *, const void *))
{
	for (size_t i = 0; i <= n; i++) {
		row[i].own = row[i].sum;
		row[i].sum = (struct loci_ops_sum){ 0 };
	}
	row[0].sum = row[0].own;
	for (size_t i = 1; i <= n; i++) {
		const void *at = (const char *)rows + (i - 1) * row_bytes;

		for (unsigned depth = 0; at; at = above(c, at), depth++) {
			size_t number = number_of(rows, row_bytes, at);

			loci_ops_add(&row[number].sum, &row[i].own, 1);
			row[i].depth = depth;
		}
	}
}

struct child {
	size_t parent, number;
	uint64_t instructions;
};

static int in_tree(const void *left, const void *right)
{
	const struct child *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->instructions != b->instructions)
		return a->instructions > b->instructions ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Parents before what is below them, the most instructions first. Depth is bound by the contexts of
 * a profile, which are not their own ancestors; the stack is an array. */
static int order_tree(struct loci_ops_row *row, size_t n, const struct loci_catalogue *c,
	const void *rows, size_t row_bytes,
	const void *(*above)(const struct loci_catalogue *, const void *), size_t *ret_n,
	struct loci_err *err)
{
	loci_autofree struct child *child = calloc(n + 1, sizeof(*child));
	loci_autofree size_t *first = calloc(n + 2, sizeof(*first));
	loci_autofree size_t *stack = calloc(n + 2, sizeof(*stack));
	loci_autofree struct loci_ops_row *ordered = calloc(n + 1, sizeof(*ordered));
	size_t depth = 0, kept = 0;

	if (!child || !first || !stack || !ordered)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const void *parent = above(c, (const char *)rows + i * row_bytes);

		child[i] = (struct child){ number_of(rows, row_bytes, parent), i + 1,
			row[i + 1].sum.instructions };
	}
	qsort(child, n, sizeof(*child), in_tree);
	for (size_t i = n; i-- > 0;)
		first[child[i].parent] = i + 1;
	if (row[0].sum.executions)
		ordered[kept++] = row[0];
	stack[depth++] = first[0];
	while (depth) {
		size_t at = stack[depth - 1];

		if (!at) {
			depth--;
			continue;
		}
		at--;
		stack[depth - 1] =
			at + 1 < n && child[at + 1].parent == child[at].parent ? at + 2 : 0;
		if (!row[child[at].number].sum.executions)
			continue;
		ordered[kept++] = row[child[at].number];
		stack[depth++] = first[child[at].number];
	}
	memcpy(row, ordered, kept * sizeof(*row));
	*ret_n = kept;
	return 0;
}

int loci_ops_rows(const struct loci_ops *ops, enum loci_ops_level level, struct loci_ops_row **ret,
	size_t *ret_n, struct loci_err *err)
{
	const struct loci_catalogue *c = &ops->catalogue;
	const struct {
		const void *rows;
		size_t n, bytes;
		const void *(*above)(const struct loci_catalogue *, const void *);
	} table[] = {
		[LOCI_OPS_FUNCTION] = { c->function, c->n_function, sizeof(*c->function), NULL },
		[LOCI_OPS_CONTEXT] = { c->context, c->n_context, sizeof(*c->context),
			above_context },
		[LOCI_OPS_REGION] = { c->region, c->n_region, sizeof(*c->region), above_region },
		[LOCI_OPS_BLOCK] = { c->block, c->n_block, sizeof(*c->block), NULL },
	};
	size_t n = table[level].n;
	struct loci_ops_row *row = calloc(n + 1, sizeof(*row));
	int r = 0;

	*ret = row;
	if (!row)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		row[i + 1].owner = (const char *)table[level].rows + i * table[level].bytes;
	if (level == LOCI_OPS_FUNCTION)
		by_function(ops, row);
	else if (level == LOCI_OPS_BLOCK)
		by_block(ops, row);
	else
		by_execution(ops, level, row);
	if (table[level].above) {
		include(c, row, n, table[level].rows, table[level].bytes, table[level].above);
		r = order_tree(row, n, c, table[level].rows, table[level].bytes, table[level].above,
			ret_n, err);
	} else {
		*ret_n = sort(row, n + 1);
	}
	if (r < 0) {
		free(row);
		*ret = NULL;
	}
	return r;
}

const struct loci_footprint_row *loci_ops_footprint(
	const struct loci_ops *ops, const struct loci_function_row *function)
{
	const struct loci_catalogue *c = &ops->catalogue;

	for (size_t i = 0; function && i < c->n_footprint; i++)
		if (c->footprint[i].owner == LOCI_OWNER_FUNCTION &&
			c->footprint[i].owner_id == function->id)
			return &c->footprint[i];
	return NULL;
}
