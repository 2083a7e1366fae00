// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole program on one screen: a verdict, then the figures of Byfl's table (Anger et al. 2014),
 * then what they are made of. */
#include "report/ops_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MIX_ROWS  6
#define TYPE_ROWS 8

const char *loci_ops_verdict(const struct loci_ops_sum *sum, char *buf, size_t size)
{
	char count[LOCI_UNITS_MAX], percent[LOCI_TEXT_NUMBER];
	double vectorised = loci_ops_vectorised(sum);
	size_t used;

	if (sum->flops)
		used = (size_t)snprintf(
			buf, size, "%.3g bytes are moved per flop", loci_ops_bytes_per_flop(sum));
	else
		used = (size_t)snprintf(buf, size, "No floating point");
	if (isnan(vectorised))
		snprintf(buf + used, size - used, ", and nothing computed.");
	else
		snprintf(buf + used, size - used,
			"; of %s integer and floating-point operations %s are made on vectors.",
			loci_units_count(count, (double)(sum->flops + sum->int_ops)),
			vectorised > 0 ? loci_text_percent(percent, vectorised) : "none");
	return buf;
}

static void print_head(const struct loci_ops *ops, const struct loci_text *text)
{
	const struct loci_run *run = loci_profile_run(ops->catalogue.profile);
	char line[1200], number[LOCI_UNITS_MAX];

	snprintf(line, sizeof(line),
		"%.300s  %.300s%sexact, of what loci cc --loci-ops compiled  %s instructions",
		loci_profile_path(ops->catalogue.profile), run->command ? run->command : "",
		run->command ? "  " : "",
		loci_units_count(number, (double)ops->whole.instructions));
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 0, line);
	if (!run->complete || (run->note && run->note[0])) {
		snprintf(line, sizeof(line), "note: %.1000s",
			run->note && run->note[0] ? run->note : "the run was not seen to its end");
		loci_text_paragraph(text, LOCI_STYLE_FAIR, 2, line);
	}
	fputc('\n', text->out);
	loci_text_paragraph(
		text, LOCI_STYLE_BOLD, 2, loci_ops_verdict(&ops->whole, line, sizeof(line)));
	fputc('\n', text->out);
}

static void add(struct loci_table *table, uint64_t value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct loci_table *table, uint64_t value, const char *fmt, ...)
{
	char number[LOCI_UNITS_MAX], words[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, (double)value));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", words);
}

static void add_bytes(struct loci_table *table, double bytes, const char *words)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_bytes(number, bytes));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", words);
}

static void add_bulk(struct loci_table *table, const struct loci_ops *ops)
{
	const struct loci_ops_sum *sum = &ops->whole;
	char calls[LOCI_UNITS_MAX], words[160];
	const struct {
		enum loci_ops_kind kind;
		uint64_t bytes;
		const char *what, *name;
	} rows[] = {
		{ LOCI_OPS_MEMSET, sum->memset_bytes, "stored by", "memset" },
		{ LOCI_OPS_MEMCPY, sum->memcpy_bytes, "loaded and stored by", "memcpy or memmove" },
	};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t n = sum->kind[rows[i].kind];

		if (!n)
			continue;
		snprintf(words, sizeof(words), "%s %s call%s of %s", rows[i].what,
			loci_units_count(calls, (double)n), n == 1 ? "" : "s", rows[i].name);
		if (ops->has_ranges)
			add_bytes(table, (double)rows[i].bytes, words);
		else
			add(table, n, "calls of %s", rows[i].name);
	}
}

static int add_distances(
	struct loci_table *table, const struct loci_ops *ops, const char *pm, struct loci_err *err)
{
	const struct loci_footprint_row *footprint = ops->footprint;
	char a[LOCI_UNITS_MAX], b[LOCI_UNITS_MAX], c[LOCI_UNITS_MAX], words[160];
	struct loci_ops_distance distance;
	int r = loci_ops_distance(ops, &distance, err);

	if (r < 0)
		return r;
	if (footprint) {
		snprintf(words, sizeof(words), "distinct (%s loaded, %s stored)",
			loci_units_bytes(a, footprint->loaded_bytes),
			loci_units_bytes(b, footprint->stored_bytes));
		add_bytes(table, footprint->touched_bytes, words);
	}
	if (distance.known) {
		snprintf(words, sizeof(words), "median stack distance (%s %s), MAD %s (%s %s)", pm,
			loci_units_bytes(a, distance.median_error_bytes),
			loci_units_bytes(b, distance.mad_bytes), pm,
			loci_units_bytes(c, distance.mad_error_bytes));
		add_bytes(table, distance.median_bytes, words);
	}
	return 0;
}

static int print_figures(
	const struct loci_ops *ops, const struct loci_text *text, struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "", LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_LEFT },
	};
	const struct loci_ops_sum *sum = &ops->whole;
	char a[LOCI_UNITS_MAX], b[LOCI_UNITS_MAX], c[LOCI_UNITS_MAX];
	struct loci_table table;
	int r;

	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	loci_table_yield(&table, 1, LOCI_CUT_END, 30);
	add(&table, sum->flops, "floating-point operations (flops)");
	add(&table, sum->int_ops, "integer operations");
	add(&table, loci_ops_loads(sum) + loci_ops_stores(sum),
		"memory operations (%s loads + %s stores)",
		loci_units_count(a, (double)loci_ops_loads(sum)),
		loci_units_count(b, (double)loci_ops_stores(sum)));
	add(&table,
		sum->kind[LOCI_OPS_BRANCH] + loci_ops_conditional(sum) +
			loci_ops_other_branches(sum),
		"branches (%s plain + %s conditional or indirect + %s other)",
		loci_units_count(a, (double)sum->kind[LOCI_OPS_BRANCH]),
		loci_units_count(b, (double)loci_ops_conditional(sum)),
		loci_units_count(c, (double)loci_ops_other_branches(sum)));
	add(&table, loci_ops_calls(sum), "calls (%s of them indirect), %s invocation%s",
		loci_units_count(a, (double)sum->kind[LOCI_OPS_CALL_INDIRECT]),
		loci_units_count(b, (double)sum->invocations), sum->invocations == 1 ? "" : "s");
	{
		char words[160];

		snprintf(words, sizeof(words), "moved (%s loaded + %s stored)",
			loci_units_bytes(a, (double)sum->loaded_bytes),
			loci_units_bytes(b, (double)sum->stored_bytes));
		add_bytes(&table, (double)(sum->loaded_bytes + sum->stored_bytes), words);
	}
	add_bulk(&table, ops);
	add(&table, sum->op_bits, "op bits, %s flop bits",
		loci_units_count(a, (double)sum->flop_bits));
	if (sum->vector_ops)
		add(&table, sum->vector_ops,
			"vector operations, of %.4g elements of %.4g bits on average",
			loci_ops_elements_per_vector(sum), loci_ops_bits_per_element(sum));
	r = add_distances(&table, ops, text->glyph->plus_minus, err);
	if (r == 0 && loci_table_print(&table, text, 2) < 0)
		r = loci_err_nomem(err);
	loci_table_fini(&table);
	return r;
}

struct share {
	enum loci_ops_kind kind;
	uint64_t n;
};

static int by_number(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

/* "instruction mix: 32 % load, 20 % float fma, ..." */
static void print_mix(const struct loci_ops *ops, const struct loci_text *text)
{
	struct share share[LOCI_OPS_N_KINDS];
	char line[1000] = "instruction mix: ", item[96], percent[LOCI_TEXT_NUMBER];
	size_t used = strlen(line);
	uint64_t rest = ops->whole.instructions;

	for (unsigned i = 0; i < LOCI_OPS_N_KINDS; i++)
		share[i] = (struct share){ (enum loci_ops_kind)i, ops->whole.kind[i] };
	qsort(share, LOCI_OPS_N_KINDS, sizeof(*share), by_number);
	for (unsigned i = 0; i < MIX_ROWS && share[i].n; i++) {
		char whole[128];

		rest -= share[i].n;
		snprintf(whole, sizeof(whole), "%s %s",
			loci_text_percent(
				percent, (double)share[i].n / (double)ops->whole.instructions),
			loci_ops_kind_name(share[i].kind));
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", i ? ", " : "",
			loci_text_unbroken(item, sizeof(item), whole));
	}
	if (rest)
		snprintf(line + used, sizeof(line) - used, ", %s others",
			loci_text_percent(percent, (double)rest / (double)ops->whole.instructions));
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, line);
}

static void print_memory(const struct loci_ops *ops, const struct loci_text *text)
{
	const struct loci_catalogue *c = &ops->catalogue;
	static const int64_t wanted[] = { 50, 75, 90, 95, 100 };
	char line[400] = "smallest memory that holds the accesses:", number[LOCI_UNITS_MAX];
	size_t used = strlen(line);

	if (!c->n_memory_use)
		return;
	for (size_t i = 0, k = 0; i < c->n_memory_use && k < LOCI_ARRAY_SIZE(wanted); i++) {
		if (c->memory_use[i].percent != wanted[k])
			continue;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %lld %% in %s",
			k ? "," : "", (long long)wanted[k],
			loci_units_bytes(number, (double)c->memory_use[i].bytes));
		k++;
	}
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, line);
}

int loci_ops_screen(const struct loci_ops *ops, const struct loci_text *text, struct loci_err *err)
{
	int r;

	print_head(ops, text);
	r = print_figures(ops, text, err);
	if (r < 0)
		return r;
	print_mix(ops, text);
	print_memory(ops, text);
	fputc('\n', text->out);
	r = loci_ops_table(ops, LOCI_OPS_TYPE, TYPE_ROWS, text, err);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		ops->has_contexts
			? "next: loci ops --by function, context, region, block, callee or type"
			: "counted without contexts (-m count); next: loci ops --by function, "
			  "block, callee or type");
	return 0;
}
