// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations for programs: JSON and CSV say the same in full. */
#include "report/ops_screen.h"

#include "base/cleanup.h"
#include "report/owner_name.h"
#include "report/pairs.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t loci_ops_figures(const struct loci_ops_sum *sum, bool has_ranges,
	struct loci_ops_figure figure[LOCI_OPS_FIGURES])
{
	const struct loci_ops_figure all[] = {
		{ "executions", (double)sum->executions },
		{ "invocations", (double)sum->invocations },
		{ "instructions", (double)sum->instructions },
		{ "flops", (double)sum->flops },
		{ "int_ops", (double)sum->int_ops },
		{ "loads", (double)loci_ops_loads(sum) },
		{ "stores", (double)loci_ops_stores(sum) },
		{ "loaded_bytes", (double)sum->loaded_bytes },
		{ "stored_bytes", (double)sum->stored_bytes },
		{ "op_bits", (double)sum->op_bits },
		{ "flop_bits", (double)sum->flop_bits },
		{ "unconditional_branches", (double)sum->kind[LOCI_OPS_BRANCH] },
		{ "conditional_branches", (double)sum->kind[LOCI_OPS_BRANCH_COND] },
		{ "indirect_branches", (double)sum->kind[LOCI_OPS_BRANCH_INDIRECT] },
		{ "other_branches", (double)loci_ops_other_branches(sum) },
		{ "calls", (double)sum->kind[LOCI_OPS_CALL] },
		{ "indirect_calls", (double)sum->kind[LOCI_OPS_CALL_INDIRECT] },
		{ "memset_calls", (double)sum->kind[LOCI_OPS_MEMSET] },
		{ "memset_bytes", has_ranges ? (double)sum->memset_bytes : NAN },
		{ "memcpy_calls", (double)sum->kind[LOCI_OPS_MEMCPY] },
		{ "memcpy_bytes", has_ranges ? (double)sum->memcpy_bytes : NAN },
		{ "vector_ops", (double)sum->vector_ops },
		{ "vector_flops", (double)sum->vector_flops },
		{ "vector_int_ops", (double)sum->vector_int_ops },
		{ "elements_per_vector", loci_ops_elements_per_vector(sum) },
		{ "bits_per_element", loci_ops_bits_per_element(sum) },
		{ "share_vectorised", loci_ops_vectorised(sum) },
		{ "bytes_per_flop", loci_ops_bytes_per_flop(sum) },
		{ "flops_per_byte", loci_ops_flops_per_byte(sum) },
	};

	static_assert(LOCI_ARRAY_SIZE(all) <= LOCI_OPS_FIGURES, "they have room");
	memcpy(figure, all, sizeof(all));
	return LOCI_ARRAY_SIZE(all);
}

void loci_ops_sum_json(const struct loci_ops_sum *sum, bool has_ranges, struct loci_json *json)
{
	struct loci_ops_figure figure[LOCI_OPS_FIGURES];
	size_t n = loci_ops_figures(sum, has_ranges, figure);

	for (size_t i = 0; i < n; i++)
		loci_pair_number(json, figure[i].name, figure[i].value);
	loci_pair_object(json, "mix");
	for (unsigned i = 0; i < LOCI_OPS_N_KINDS; i++)
		if (sum->kind[i])
			loci_pair_u64(
				json, loci_ops_kind_name((enum loci_ops_kind)i), sum->kind[i]);
	loci_json_object_end(json);
}

static void put_types(const struct loci_ops_type *type, size_t n, struct loci_json *json)
{
	loci_pair_array(json, "types");
	for (size_t i = 0; i < n; i++) {
		bool moves = type[i].what[0] == 'l' || type[i].what[0] == 's';

		loci_json_object(json);
		loci_pair_string(json, "what", type[i].what);
		loci_pair_string(json, "type", type[i].type);
		loci_pair_u64(json, "lanes", type[i].lanes);
		loci_pair_u64(json, "instructions", type[i].instructions);
		loci_pair_u64(json, "elements", type[i].elements);
		loci_pair_number(json, "bytes", moves ? (double)type[i].bytes : NAN);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_callees(const struct loci_ops_callee *callee, size_t n, struct loci_json *json)
{
	loci_pair_array(json, "callees");
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_string(json, "name", callee[i].name);
		loci_pair_string(json, "source_name", callee[i].source);
		loci_pair_u64(json, "calls", callee[i].calls);
		loci_pair_bool(json, "counted", callee[i].function != NULL);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_footprint(const struct loci_footprint_row *footprint, struct loci_json *json)
{
	loci_json_key(json, "distinct");
	if (!footprint) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_pair_number(json, "loaded_bytes", footprint->loaded_bytes);
	loci_pair_number(json, "stored_bytes", footprint->stored_bytes);
	loci_pair_number(json, "touched_bytes", footprint->touched_bytes);
	loci_pair_number(json, "error", footprint->error);
	loci_json_object_end(json);
}

static int put_whole(const struct loci_ops *ops, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &ops->catalogue;
	loci_autofree struct loci_ops_callee *callee = NULL;
	loci_autofree struct loci_ops_type *type = NULL;
	struct loci_ops_distance distance;
	size_t n_callees, n_types;
	int r = loci_ops_callees(ops, &callee, &n_callees, err);

	if (r == 0)
		r = loci_ops_types(ops, &type, &n_types, err);
	if (r == 0)
		r = loci_ops_distance(ops, &distance, err);
	if (r < 0)
		return r;
	put_types(type, n_types, json);
	put_callees(callee, n_callees, json);
	put_footprint(ops->footprint, json);
	loci_pair_array(json, "memory_use");
	for (size_t i = 0; i < c->n_memory_use; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "percent", (uint64_t)c->memory_use[i].percent);
		loci_pair_u64(json, "bytes", c->memory_use[i].bytes);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_json_key(json, "stack_distance");
	if (!distance.known) {
		loci_json_string(json, NULL);
		return 0;
	}
	loci_json_object(json);
	loci_pair_number(json, "median_bytes", distance.median_bytes);
	loci_pair_number(json, "median_error_bytes", distance.median_error_bytes);
	loci_pair_number(json, "mad_bytes", distance.mad_bytes);
	loci_pair_number(json, "mad_error_bytes", distance.mad_error_bytes);
	loci_json_object_end(json);
	return 0;
}

static void put_row(const struct loci_ops *ops, enum loci_ops_level by,
	const struct loci_ops_row *row, struct loci_json *json)
{
	bool is_tree = by == LOCI_OPS_CONTEXT || by == LOCI_OPS_REGION;
	char name[LOCI_NAME_MAX];

	loci_json_object(json);
	loci_pair_string(json, "name", loci_ops_row_name(ops, by, row, name, sizeof(name)));
	if (row->owner)
		loci_pair_u64(json, "id", (uint64_t) * (const int64_t *)row->owner);
	if (is_tree) {
		loci_pair_u64(json, "depth", row->depth);
		loci_pair_u64(json, "own_instructions", row->own.instructions);
		loci_pair_u64(json, "own_flops", row->own.flops);
	}
	loci_ops_sum_json(&row->sum, ops->has_ranges && !is_tree, json);
	if (by == LOCI_OPS_FUNCTION)
		put_footprint(loci_ops_footprint(ops, row->owner), json);
	loci_json_object_end(json);
}

static int put_rows(const struct loci_ops *ops, enum loci_ops_level by, struct loci_json *json,
	struct loci_err *err)
{
	loci_autofree struct loci_ops_row *row = NULL;
	size_t n = 0;
	int r = loci_ops_rows(ops, by, &row, &n, err);

	if (r < 0)
		return r;
	loci_pair_array(json, "rows");
	for (size_t i = 0; i < n; i++)
		put_row(ops, by, &row[i], json);
	loci_json_array_end(json);
	return 0;
}

int loci_ops_json(const struct loci_ops *ops, enum loci_ops_level by, struct loci_json *json,
	struct loci_err *err)
{
	const struct loci_run *run = loci_profile_run(ops->catalogue.profile);
	int r;

	loci_json_object(json);
	loci_pair_string(json, "path", loci_profile_path(ops->catalogue.profile));
	loci_pair_string(json, "command", run->command);
	loci_pair_string(json, "mode", run->mode);
	loci_pair_bool(json, "complete", run->complete);
	loci_pair_object(json, "whole");
	loci_ops_sum_json(&ops->whole, ops->has_ranges, json);
	loci_json_object_end(json);
	r = put_whole(ops, json, err);
	loci_pair_string(json, "by", by == LOCI_OPS_LEVELS ? NULL : loci_ops_level_name(by));
	if (r == 0 && by < LOCI_OPS_CALLEE)
		r = put_rows(ops, by, json, err);
	loci_json_object_end(json);
	return r;
}

static void csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; text && *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void csv_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, value == floor(value) && fabs(value) < 0x1p63 ? "%.0f" : "%.17g",
			value);
}

static int csv_rows(
	const struct loci_ops *ops, enum loci_ops_level by, FILE *out, struct loci_err *err)
{
	bool is_tree = by == LOCI_OPS_CONTEXT || by == LOCI_OPS_REGION;
	struct loci_ops_figure figure[LOCI_OPS_FIGURES];
	loci_autofree struct loci_ops_row *row = NULL;
	char name[LOCI_NAME_MAX];
	size_t n = 0, n_figures = loci_ops_figures(&ops->whole, true, figure);
	int r = loci_ops_rows(ops, by, &row, &n, err);

	if (r < 0)
		return r;
	fputs("name", out);
	for (size_t k = 0; k < n_figures; k++)
		fprintf(out, ",%s", figure[k].name);
	fputc('\n', out);
	for (size_t i = 0; i < n; i++) {
		csv_text(out, loci_ops_row_name(ops, by, &row[i], name, sizeof(name)));
		loci_ops_figures(&row[i].sum, ops->has_ranges && !is_tree, figure);
		for (size_t k = 0; k < n_figures; k++) {
			fputc(',', out);
			csv_number(out, figure[k].value);
		}
		fputc('\n', out);
	}
	return 0;
}

static int csv_callees(const struct loci_ops *ops, FILE *out, struct loci_err *err)
{
	loci_autofree struct loci_ops_callee *callee = NULL;
	size_t n = 0;
	int r = loci_ops_callees(ops, &callee, &n, err);

	fputs("callee,calls,counted,source_name\n", out);
	for (size_t i = 0; r == 0 && i < n; i++) {
		csv_text(out, callee[i].name);
		fprintf(out, ",%" PRIu64 ",%d,", callee[i].calls, callee[i].function != NULL);
		csv_text(out, callee[i].source);
		fputc('\n', out);
	}
	return r;
}

static int csv_types(const struct loci_ops *ops, FILE *out, struct loci_err *err)
{
	loci_autofree struct loci_ops_type *type = NULL;
	size_t n = 0;
	int r = loci_ops_types(ops, &type, &n, err);

	fputs("what,type,lanes,instructions,elements,bytes\n", out);
	for (size_t i = 0; r == 0 && i < n; i++)
		fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			type[i].what, type[i].type ? type[i].type : "", type[i].lanes,
			type[i].instructions, type[i].elements, type[i].bytes);
	return r;
}

int loci_ops_csv(
	const struct loci_ops *ops, enum loci_ops_level by, FILE *out, struct loci_err *err)
{
	struct loci_ops_figure figure[LOCI_OPS_FIGURES];
	size_t n;

	if (by == LOCI_OPS_CALLEE)
		return csv_callees(ops, out, err);
	if (by == LOCI_OPS_TYPE)
		return csv_types(ops, out, err);
	if (by < LOCI_OPS_CALLEE)
		return csv_rows(ops, by, out, err);
	n = loci_ops_figures(&ops->whole, ops->has_ranges, figure);
	fputs("figure,value\n", out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s,", figure[i].name);
		csv_number(out, figure[i].value);
		fputc('\n', out);
	}
	return 0;
}
