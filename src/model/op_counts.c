// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/op_counts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIND(name, word, class) { word, LOCI_OPS_CLASS_##class },
static const struct {
	const char *word;
	enum loci_ops_class class;
} kinds[] = { LOCI_OPS_KINDS(KIND) };
#undef KIND

const char *loci_ops_kind_name(enum loci_ops_kind kind)
{
	return kinds[kind].word;
}

enum loci_ops_kind loci_ops_kind_of(const char *word, enum loci_ops_class *ret_class)
{
	unsigned i = 0;

	while (i < LOCI_OPS_OTHER && strcmp(kinds[i].word, word))
		i++;
	*ret_class = kinds[i].class;
	return (enum loci_ops_kind)i;
}

/* Bits of one element; 0: not known. */
static uint64_t type_bits(const char *type)
{
	if (!type)
		return 0;
	if (!strcmp(type, "pointer"))
		return 64;
	return type[0] == 'i' || type[0] == 'f' ? strtoul(type + 1, NULL, 10) : 0;
}

void loci_ops_add(struct loci_ops_sum *to, const struct loci_ops_sum *what, uint64_t times)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *one = (const uint64_t *)what;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += one[i] * times;
}

static void add_elements(
	struct loci_ops_sum *sum, const struct loci_operation_row *row, enum loci_ops_class class)
{
	uint64_t elements = row->count * row->lanes, bits = type_bits(row->type);
	bool is_vector = row->lanes > 1;
	uint64_t *ops = class == LOCI_OPS_CLASS_FLOAT ? &sum->flops : &sum->int_ops;
	uint64_t *vector =
		class == LOCI_OPS_CLASS_FLOAT ? &sum->vector_flops : &sum->vector_int_ops;
	uint64_t made = elements * (strcmp(row->kind, "float fma") ? 1 : 2);

	*ops += made;
	if (!is_vector)
		return;
	*vector += made;
	sum->vector_ops += row->count;
	sum->vector_elements += elements;
	if (bits) {
		sum->sized_elements += elements;
		sum->element_bits += elements * bits;
	}
}

static void add_operation(struct loci_ops_sum *sum, const struct loci_operation_row *row)
{
	enum loci_ops_class class;
	enum loci_ops_kind kind = loci_ops_kind_of(row->kind, &class);
	uint64_t bytes = row->count * ((row->bits + 7) / 8);

	sum->instructions += row->count;
	sum->kind[kind] += row->count;
	if (kind == LOCI_OPS_LOAD)
		sum->loaded_bytes += bytes;
	if (kind == LOCI_OPS_STORE)
		sum->stored_bytes += bytes;
	if (class == LOCI_OPS_CLASS_INT || class == LOCI_OPS_CLASS_FLOAT)
		add_elements(sum, row, class);
	if (class == LOCI_OPS_CLASS_INT || class == LOCI_OPS_CLASS_FLOAT ||
		class == LOCI_OPS_CLASS_SHAPE)
		sum->op_bits += row->count * row->bits;
	if (class == LOCI_OPS_CLASS_FLOAT)
		sum->flop_bits += row->count * row->bits;
}

/* Of the ranges of a block: what was read and written is a copy; what else was written, set. (What
 * else was read is of strlen and its like.) */
static void add_ranges(struct loci_ops_sum *sum, const struct loci_block_row *block,
	const struct loci_ops_sum *one)
{
	uint64_t loaded = block->range_loaded_bytes, stored = block->range_stored_bytes;
	uint64_t copied = !one->kind[LOCI_OPS_MEMCPY] ? 0
		: !one->kind[LOCI_OPS_MEMSET]         ? stored
		: loaded < stored                     ? loaded
						      : stored;

	sum->memcpy_bytes += copied;
	if (one->kind[LOCI_OPS_MEMSET])
		sum->memset_bytes += stored - copied;
}

void loci_ops_add_block(const struct loci_ops *ops, struct loci_ops_sum *to, size_t i)
{
	const struct loci_block_row *block = &ops->catalogue.block[i];

	loci_ops_add(to, &ops->one[i], block->executions);
	add_ranges(to, block, &ops->one[i]);
}

static int find_footprint(struct loci_ops *ops)
{
	for (size_t i = 0; i < ops->catalogue.n_footprint; i++)
		if (ops->catalogue.footprint[i].owner == LOCI_OWNER_WHOLE)
			ops->footprint = &ops->catalogue.footprint[i];
	return 0;
}

int loci_ops_new(struct loci_ops *ret, struct loci_profile *profile, struct loci_err *err)
{
	struct loci_catalogue *c = &ret->catalogue;
	const struct loci_run *run = loci_profile_run(profile);
	int r;

	*ret = (struct loci_ops){ 0 };
	r = loci_catalogue_load(c, profile, err);
	if (r < 0)
		return r;
	if (!c->n_block)
		return loci_err_set(err, ENOENT,
			"%.300s has no operations: compile the program with loci cc --loci-ops, "
			"and record it again",
			loci_profile_path(profile));
	ret->one = calloc(c->n_block, sizeof(*ret->one));
	if (!ret->one)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_block; i++) {
		ret->one[i].executions = 1;
		ret->one[i].invocations = c->block[i].entry;
	}
	for (size_t i = 0; i < c->n_operation; i++) {
		const struct loci_block_row *block =
			loci_catalogue_find_block(c, c->operation[i].block_id);

		add_operation(&ret->one[block - c->block], &c->operation[i]);
	}
	for (size_t i = 0; i < c->n_block; i++)
		loci_ops_add_block(ret, &ret->whole, i);
	ret->has_contexts = c->n_execution > 0;
	ret->has_ranges = !run->mode || strcmp(run->mode, "count") != 0;
	return find_footprint(ret);
}

void loci_ops_fini(struct loci_ops *ops)
{
	free(ops->one);
	*ops = (struct loci_ops){ 0 };
}

uint64_t loci_ops_loads(const struct loci_ops_sum *sum)
{
	return sum->kind[LOCI_OPS_LOAD];
}

uint64_t loci_ops_stores(const struct loci_ops_sum *sum)
{
	return sum->kind[LOCI_OPS_STORE];
}

uint64_t loci_ops_calls(const struct loci_ops_sum *sum)
{
	return sum->kind[LOCI_OPS_CALL] + sum->kind[LOCI_OPS_CALL_INDIRECT];
}

uint64_t loci_ops_conditional(const struct loci_ops_sum *sum)
{
	return sum->kind[LOCI_OPS_BRANCH_COND] + sum->kind[LOCI_OPS_BRANCH_INDIRECT];
}

uint64_t loci_ops_other_branches(const struct loci_ops_sum *sum)
{
	return sum->kind[LOCI_OPS_SWITCH] + sum->kind[LOCI_OPS_RETURN];
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : NAN;
}

double loci_ops_bytes_per_flop(const struct loci_ops_sum *sum)
{
	return ratio(sum->loaded_bytes + sum->stored_bytes, sum->flops);
}

double loci_ops_flops_per_byte(const struct loci_ops_sum *sum)
{
	return ratio(sum->flops, sum->loaded_bytes + sum->stored_bytes);
}

double loci_ops_vectorised(const struct loci_ops_sum *sum)
{
	return ratio(sum->vector_flops + sum->vector_int_ops, sum->flops + sum->int_ops);
}

double loci_ops_elements_per_vector(const struct loci_ops_sum *sum)
{
	return ratio(sum->vector_elements, sum->vector_ops);
}

double loci_ops_bits_per_element(const struct loci_ops_sum *sum)
{
	return ratio(sum->element_bits, sum->sized_elements);
}
