// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations by callee and by type, and the median of distances. */
#include "model/op_counts.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *left, const void *right)
{
	const struct loci_ops_callee *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int by_calls(const void *left, const void *right)
{
	const struct loci_ops_callee *a = left, *b = right;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The function of that name in the symbol table whose blocks are counted. */
static const struct loci_function_row *counted(const struct loci_ops *ops, const char *name)
{
	const struct loci_catalogue *c = &ops->catalogue;

	for (size_t i = 0; i < c->n_block; i++) {
		const struct loci_function_row *function =
			loci_catalogue_find_function(c, c->block[i].function_id);

		if (c->block[i].entry && function &&
			!strcmp(function->mangled ? function->mangled : function->name, name))
			return function;
	}
	return NULL;
}

int loci_ops_callees(const struct loci_ops *ops, struct loci_ops_callee **ret, size_t *ret_n,
	struct loci_err *err)
{
	const struct loci_catalogue *c = &ops->catalogue;
	struct loci_ops_callee *callee = calloc(c->n_invocation + 1, sizeof(*callee));
	size_t n = 0;

	*ret = callee;
	*ret_n = 0;
	if (!callee)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_invocation; i++) {
		const struct loci_invocation_row *from = &c->invocation[i];
		const struct loci_block_row *block = loci_catalogue_find_block(c, from->block_id);

		callee[i] = (struct loci_ops_callee){ .name = from->callee,
			.calls = from->count * block->executions };
	}
	qsort(callee, c->n_invocation, sizeof(*callee), by_name);
	for (size_t i = 0; i < c->n_invocation; i++) {
		if (n && !strcmp(callee[n - 1].name, callee[i].name))
			callee[n - 1].calls += callee[i].calls;
		else
			callee[n++] = callee[i];
	}
	for (size_t i = 0; i < n; i++) {
		const struct loci_function_row *function = counted(ops, callee[i].name);

		callee[i].function = function;
		if (function && function->mangled)
			callee[i].source = function->name;
		else if (!function && ops->spell)
			callee[i].source = ops->spell(ops->spell_data, callee[i].name);
	}
	qsort(callee, n, sizeof(*callee), by_calls);
	*ret_n = n;
	return 0;
}

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static int by_key(const void *left, const void *right)
{
	const struct loci_ops_type *a = left, *b = right;
	int order = strcmp(a->what, b->what);

	if (!order)
		order = compare_texts(a->type, b->type);
	return order ? order : (a->lanes > b->lanes) - (a->lanes < b->lanes);
}

static int by_count(const void *left, const void *right)
{
	const struct loci_ops_type *a = left, *b = right;

	if (a->instructions != b->instructions)
		return a->instructions > b->instructions ? -1 : 1;
	return by_key(left, right);
}

static const char *what_of(const struct loci_operation_row *row)
{
	enum loci_ops_class class;
	enum loci_ops_kind kind = loci_ops_kind_of(row->kind, &class);

	switch (class) {
	case LOCI_OPS_CLASS_MEMORY:
		return loci_ops_kind_name(kind);
	case LOCI_OPS_CLASS_INT:
		return "int";
	case LOCI_OPS_CLASS_FLOAT:
		return "float";
	default:
		return NULL;
	}
}

int loci_ops_types(
	const struct loci_ops *ops, struct loci_ops_type **ret, size_t *ret_n, struct loci_err *err)
{
	const struct loci_catalogue *c = &ops->catalogue;
	struct loci_ops_type *type = calloc(c->n_operation + 1, sizeof(*type));
	size_t n = 0, kept = 0;

	*ret = type;
	*ret_n = 0;
	if (!type)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_operation; i++) {
		const struct loci_operation_row *from = &c->operation[i];
		uint64_t times = loci_catalogue_find_block(c, from->block_id)->executions;
		const char *what = what_of(from);
		bool moves = what && (what[0] == 'l' || what[0] == 's');

		if (what)
			type[n++] = (struct loci_ops_type){ .what = what,
				.type = from->type,
				.lanes = from->lanes,
				.instructions = from->count * times,
				.elements = from->count * from->lanes * times,
				.bytes = moves ? from->count * ((from->bits + 7) / 8) * times : 0 };
	}
	qsort(type, n, sizeof(*type), by_key);
	for (size_t i = 0; i < n; i++) {
		struct loci_ops_type *last = kept ? &type[kept - 1] : NULL;

		if (last && by_key(last, &type[i]) == 0) {
			last->instructions += type[i].instructions;
			last->elements += type[i].elements;
			last->bytes += type[i].bytes;
		} else {
			type[kept++] = type[i];
		}
	}
	qsort(type, kept, sizeof(*type), by_count);
	*ret_n = kept;
	return 0;
}

/* A bin's middle and half its width, in blocks. */
struct spot {
	double at, half, weight;
};

static int by_place(const void *left, const void *right)
{
	const struct spot *a = left, *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

/* The first at which half of the weight is reached. */
static const struct spot *middle(struct spot *spot, size_t n, double total)
{
	double sum = 0;

	qsort(spot, n, sizeof(*spot), by_place);
	for (size_t i = 0; i < n; i++) {
		sum += spot[i].weight;
		if (2 * sum >= total)
			return &spot[i];
	}
	return NULL;
}

int loci_ops_distance(
	const struct loci_ops *ops, struct loci_ops_distance *ret, struct loci_err *err)
{
	size_t n_grains, n = 0;
	const struct loci_grain *grain = loci_profile_grains(ops->catalogue.profile, &n_grains);
	const struct loci_hist *hist;
	loci_autofree struct spot *spot = NULL;
	const struct spot *found;
	double total, block_bytes, half;
	int r;

	*ret = (struct loci_ops_distance){ 0 };
	for (size_t i = 1; i < n_grains && grain->block_bytes != 64; i++)
		grain++;
	r = loci_profile_hist(ops->catalogue.profile,
		&(struct loci_hist_key){
			.distance = LOCI_DISTANCE_STACK, .block_bytes = grain->block_bytes },
		&hist, err);
	if (r == -ENOENT)
		return 0;
	spot = r < 0 ? NULL : calloc(hist->n_bins + 1, sizeof(*spot));
	if (!spot)
		return r < 0 ? r : loci_err_nomem(err);
	total = loci_hist_finite(hist);
	for (uint32_t i = 0; i < hist->n_bins; i++) {
		double low = (double)loci_bin_low(hist->scheme, i);
		double high = (double)loci_bin_high(hist->scheme, i) - 1;

		if (hist->weight[i] > 0)
			spot[n++] = (struct spot){ (low + high) / 2, (high - low) / 2,
				hist->weight[i] };
	}
	found = middle(spot, n, total);
	if (!found)
		return 0;
	block_bytes = (double)grain->block_bytes;
	ret->known = true;
	ret->median_bytes = found->at * block_bytes;
	ret->median_error_bytes = found->half * block_bytes;
	half = found->half;
	for (size_t i = 0; i < n; i++) {
		spot[i].at = fabs(spot[i].at * block_bytes - ret->median_bytes) / block_bytes;
		spot[i].half += half;
	}
	found = middle(spot, n, total);
	ret->mad_bytes = found ? found->at * block_bytes : 0;
	ret->mad_error_bytes = found ? found->half * block_bytes : 0;
	return 0;
}
