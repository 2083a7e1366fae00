// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/info_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "profile/dimension.h"
#include "report/coherence_line.h"
#include "report/marks_line.h"
#include "report/table.h"
#include "report/unseen_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define LABEL_CELLS 12

static bool is_object(const struct loci_info *info)
{
	const char *unit = loci_profile_run(info->profile)->unit;

	return unit && !strcmp(unit, "object");
}

__attribute__((format(printf, 3, 4))) static void print_line(
	const struct loci_text *text, const char *label, const char *fmt, ...)
{
	char value[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	if (!value[0])
		return;
	loci_text_print(text, LOCI_STYLE_DIM, "  %-*s", LABEL_CELLS, label);
	loci_text_print(text, LOCI_STYLE_PLAIN, "%s\n", value);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void print_counts(const struct loci_text *text, const struct loci_run *run)
{
	char all[LOCI_UNITS_MAX], loads[LOCI_UNITS_MAX], stores[LOCI_UNITS_MAX],
		fetches[LOCI_UNITS_MAX], line[256];
	int used = snprintf(line, sizeof(line), "%s: %s loads, %s stores",
		loci_units_count(all, (double)run->references),
		loci_units_count(loads, (double)run->loads),
		loci_units_count(stores, (double)run->stores));

	if (run->fetches)
		used += snprintf(line + used, sizeof(line) - (size_t)used, ", %s fetches",
			loci_units_count(fetches, (double)run->fetches));
	if (run->lost)
		snprintf(line + used, sizeof(line) - (size_t)used, "; %s lost",
			loci_units_count(fetches, (double)run->lost));
	print_line(text, "references", "%s", line);
	print_line(text, "threads", "%" PRIu64, run->threads);
	if (run->merged > 1)
		print_line(text, "merged", "%" PRIu64 " profiles", run->merged);
}

static void print_watched(const struct loci_text *text, const struct loci_sampling_row *row)
{
	char seconds[LOCI_UNITS_MAX], last[48] = "";

	if (row->last_period != row->period)
		snprintf(last, sizeof(last), ", at last one in %" PRIu64, row->last_period);
	print_line(text, "samples",
		"%" PRIu64 ", one in %" PRIu64 " references%s, worth %.0f, %" PRIu64
		" lost, seed %" PRIu64,
		row->samples, row->period, last, row->effective, row->lost, row->seed);
	print_line(text, "watched",
		"by %s: %" PRIu64 " reused while followed, %" PRIu64 " met by a watch, %" PRIu64
		" never, %" PRIu64 " watches given up",
		row->watched_by, row->in_burst, row->by_watch, row->never, row->abandoned);
	print_line(text, "distances",
		"of those met by a watch: %" PRIu64 " counted, %" PRIu64 " estimated by time",
		row->by_watch - row->by_time, row->by_time);
	if (row->burst_ns || row->trap_ns)
		print_line(text, "took",
			"%" PRIu64 " traps, %" PRIu64 " false faults, %" PRIu64 " steps, %" PRIu64
			" system calls, %s in all",
			row->traps, row->false_faults, row->steps, row->syscalls,
			loci_units_seconds(seconds, (double)(row->burst_ns + row->trap_ns) / 1e9));
}

/* A line for each run that was sampled. */
static void print_samples(const struct loci_text *text, struct loci_profile *profile)
{
	const struct loci_sampling_row *row;
	size_t n;

	if (loci_profile_samplings(profile, &row, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (row[i].watched_by)
			print_watched(text, &row[i]);
		else
			print_line(text, "samples",
				"%" PRIu64 ", one in %" PRIu64 " references, %" PRIu64
				" given up, %" PRIu64 " lost, seed %" PRIu64,
				row[i].samples, row[i].period, row[i].pruned, row[i].lost,
				row[i].seed);
}

static void print_run(const struct loci_info *info, const struct loci_text *text)
{
	const struct loci_run *run = loci_profile_run(info->profile);
	char size[LOCI_UNITS_MAX], seconds[LOCI_UNITS_MAX], line[700];

	loci_text_print(text, LOCI_STYLE_BOLD, "%s", loci_profile_path(info->profile));
	fprintf(text->out, "  loci profile, version %d, %s\n", loci_profile_version(info->profile),
		loci_units_bytes(size, (double)info->file_bytes));
	print_line(text, "command", "%s", or_empty(run->command));
	print_line(text, "recorded", "%s, %s, by loci %s", run->started ? run->started : "some day",
		loci_units_seconds(seconds, run->seconds),
		run->program_version ? run->program_version : "(version unknown)");
	print_line(text, "collector", "%s%s%s%s", or_empty(run->collector),
		run->origin && run->origin[0] ? " (" : "", or_empty(run->origin),
		run->origin && run->origin[0] ? ")" : "");
	print_line(text, "mode", "%s%s%s%s", or_empty(run->mode), run->capabilities ? " (" : "",
		or_empty(run->capabilities), run->capabilities ? ")" : "");
	print_line(text, "machine", "%s", or_empty(run->machine));
	print_line(text, "caches", "%s", or_empty(run->caches));
	print_counts(text, run);
	print_line(text, "complete", "%s",
		!run->complete                  ? "no"
			: loci_run_is_part(run) ? "no, a part of the run was recorded as asked for"
						: "yes");
	print_line(text, "note", "%s", or_empty(run->note));
	print_line(text, "coherence", "%s", loci_coherence_line(info->profile, line, sizeof(line)));
	loci_unseen_line(info->profile, line, sizeof(line));
	print_line(text, "unseen", "%s%s", line[0] ? "calls into " : "", line);
	print_line(text, "regions", "%s", loci_regions_line(info->profile, line, sizeof(line)));
	print_samples(text, info->profile);
	print_line(text, "mistakes", "%s", loci_mistakes_line(info->profile, line, sizeof(line)));
}

/* "stack time dirty set set_dirty": the distances that the whole run has at this block size. */
static const char *list_histograms(const struct loci_profile *profile, uint64_t block_bytes,
	char *buf, size_t size, unsigned *ret_set_bits)
{
	int last = -1;
	size_t n, used = 0;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);

	buf[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (key[i].block_bytes != block_bytes || key[i].owner != LOCI_OWNER_WHOLE)
			continue;
		if (key[i].set_bits > *ret_set_bits)
			*ret_set_bits = key[i].set_bits;
		if ((int)key[i].distance == last || used >= size)
			continue;
		last = (int)key[i].distance;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "",
			loci_distance_name(key[i].distance));
	}
	return buf;
}

static int print_grains(const struct loci_info *info, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "blocks", LOCI_ALIGN_RIGHT },
		{ "touches", LOCI_ALIGN_RIGHT },
		{ "straddles", LOCI_ALIGN_RIGHT },
		{ "distinct", LOCI_ALIGN_RIGHT },
		{ "sampled", LOCI_ALIGN_RIGHT },
		{ "histograms", LOCI_ALIGN_LEFT },
	};
	char number[LOCI_UNITS_MAX], list[256], percent[LOCI_TEXT_NUMBER];
	struct loci_table table;
	unsigned set_bits = 0;
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(info->profile, &n);
	int r;

	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	for (size_t i = 0; i < n; i++) {
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			is_object(info) ? "objects"
					: loci_units_bytes(number, (double)grain[i].block_bytes));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			loci_units_count(number, (double)grain[i].touches));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			loci_units_count(number, (double)grain[i].straddles));
		loci_table_add(
			&table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, grain[i].blocks));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			grain[i].sampling_rate < 1
				? loci_text_percent(percent, grain[i].sampling_rate)
				: "no");
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			list_histograms(info->profile, grain[i].block_bytes, list, sizeof(list),
				&set_bits));
	}
	fputc('\n', text->out);
	r = loci_table_print(&table, text, 2);
	loci_table_fini(&table);
	if (set_bits)
		loci_text_print(text, LOCI_STYLE_DIM,
			"  set: one for each of 1, 2, 4, ... %u sets\n", 1u << set_bits);
	return r;
}

static void add_s(struct loci_table *table, double s)
{
	if (isnan(s))
		loci_table_add(table, LOCI_STYLE_DIM, "-");
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%.3f", s);
}

static void add_errors(struct loci_table *table, const struct loci_info *info, uint64_t block_bytes,
	double worst, uint64_t worst_blocks, double mean)
{
	char size[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%.2f", worst);
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		is_object(info) ? loci_units_count(size, (double)worst_blocks)
				: loci_units_bytes(size, (double)(worst_blocks * block_bytes)));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%.2f", mean);
}

static int print_accuracy(const struct loci_info *info, const struct loci_text *text,
	const struct loci_info_accuracy *a)
{
	static const struct loci_table_column columns[] = {
		{ "", LOCI_ALIGN_LEFT },
		{ "S", LOCI_ALIGN_RIGHT },
		{ "S beyond", LOCI_ALIGN_RIGHT },
		{ "S log2", LOCI_ALIGN_RIGHT },
		{ "S tenths", LOCI_ALIGN_RIGHT },
		{ "worst", LOCI_ALIGN_RIGHT },
		{ "at", LOCI_ALIGN_RIGHT },
		{ "mean", LOCI_ALIGN_RIGHT },
	};
	struct loci_table table;
	char size[LOCI_UNITS_MAX];
	int r;

	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct loci_accuracy *row = &a->row[i].accuracy;

		loci_table_add(
			&table, LOCI_STYLE_PLAIN, "%s", loci_conversion_name(a->row[i].conversion));
		add_s(&table, row->s_rdx);
		add_s(&table, row->s_beyond);
		add_s(&table, row->s_log2);
		add_s(&table, row->s_schuff);
		add_errors(&table, info, a->block_bytes, row->worst_points, row->worst_blocks,
			row->mean_points);
	}
	loci_table_add(&table, LOCI_STYLE_PLAIN, "StatCache*");
	for (unsigned i = 0; i < 4; i++)
		add_s(&table, NAN);
	add_errors(&table, info, a->block_bytes, a->random.worst_points, a->random.worst_blocks,
		a->random.mean_points);
	fputc('\n', text->out);
	loci_text_print(text, LOCI_STYLE_DIM, "  from time distances, blocks of %s\n",
		is_object(info) ? "one object" : loci_units_bytes(size, (double)a->block_bytes));
	r = loci_table_print(&table, text, 2);
	loci_table_fini(&table);
	return r;
}

static void print_legend(const struct loci_text *text)
{
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"S: agreement with the exact stack distances, 1 is all, over [0,4K) and doubling "
		"bins of bytes (RDX); beyond: without the first bin; log2: powers of two of "
		"blocks; "
		"tenths: ten bins per power of two. worst, mean: error of the miss ratio in points "
		"over power-of-two sizes. *random replacement, held against LRU: the policies "
		"differ "
		"too.");
}

int loci_info_screen(
	const struct loci_info *info, const struct loci_text *text, struct loci_err *err)
{
	print_run(info, text);
	if (print_grains(info, text) < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; i < info->n_accuracy; i++)
		if (print_accuracy(info, text, &info->accuracy[i]) < 0)
			return loci_err_nomem(err);
	if (info->n_accuracy)
		print_legend(text);
	return 0;
}
