// SPDX-License-Identifier: GPL-2.0-or-later
/* loci report: what a profile says, on one screen, or one table of who is to blame. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/open.h"
#include "cli/option.h"
#include "report/by_index.h"
#include "report/by_table.h"
#include "report/pairs.h"
#include "report/report_json.h"
#include "report/report_screen.h"
#include "report/sharing_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ROWS      20
#define MIN_SHARE 0.01

static const char help[] =
	"usage: loci report [OPTIONS] [FILE..]\n\n"
	"Shows a profile on one screen: a verdict in words, the effective cache sizes, the\n"
	"histogram of stack distances with the machine's caches marked, the miss-ratio\n"
	"curve, the misses of each level, the lines, objects and reuses that make them\n"
	"(where the run was recorded with them) and the cache sizes that 70 to 95 % of the\n"
	"references need. Without FILE: the only *.loci file of the current directory.\n\n"
	"  -b, --block SIZE   of the block sizes recorded, this one (64 where there is)\n"
	"      --cache SPEC   judge against another machine: host, a machine's name, or\n"
	"                     L1=32K/8,L2=1M/16,L3=32M/16\n"
	"      --by KIND      instead one table of who makes the misses: site, line, function,\n"
	"                     loop, file, module, object, field, context, pair, thread, process,\n"
	"                     region, phase; index: which parts of arrays are far apart;\n"
	"                     sharing: what threads take from each other by writing\n"
	"      --object NAME  of index: this array alone\n"
	"      --level NAME   whose misses: L2 (the first level)\n"
	"      --sort WHAT    by misses, refs, writebacks or distance (misses)\n"
	"  -n, --rows N       so many rows (20)\n"
	"      --all          all of them\n"
	"      --min SHARE    of contexts: leave out what has less of the misses (1%)\n"
	"      --json         everything as JSON (doc/report.schema.json, by.schema.json,\n"
	"                     index.schema.json, sharing.schema.json)\n"
	"      --no-color     plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help         this text\n";

enum {
	OPT_CACHE = 256,
	OPT_JSON,
	OPT_NO_COLOR,
	OPT_BY,
	OPT_LEVEL,
	OPT_SORT,
	OPT_ALL,
	OPT_MIN,
	OPT_OBJECT,
};

static const struct option options[] = {
	{ "block", required_argument, NULL, 'b' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "by", required_argument, NULL, OPT_BY },
	{ "level", required_argument, NULL, OPT_LEVEL },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "rows", required_argument, NULL, 'n' },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "min", required_argument, NULL, OPT_MIN },
	{ "object", required_argument, NULL, OPT_OBJECT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct report {
	struct loci_aim aim;
	bool as_json, no_colour;
	bool is_by, is_index, is_sharing;
	const char *object;
	const char *only_by; /* an option given that makes sense with --by alone */
	enum loci_blame_kind kind;
	enum loci_blame_sort sort;
	const char *level;
	size_t max_rows;
	double min_share;
};

static int take_kind(struct report *report, const char *text)
{
	char names[160] = "";
	size_t used = 0;

	report->is_by = true;
	report->is_index = !strcmp(text, "index");
	report->is_sharing = !strcmp(text, "sharing");
	if (report->is_index || report->is_sharing ||
		loci_blame_from_name(text, &report->kind) == 0)
		return 0;
	for (unsigned i = 0; i < LOCI_BLAME_SPOT; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			loci_blame_name((enum loci_blame_kind)i));
	return loci_usage(
		"report", "--by takes one of %s, index, sharing, and not \"%s\"", names, text);
}

static int take_sort(struct report *report, const char *text)
{
	static const char *const names[] = {
		[LOCI_BLAME_BY_MISSES] = "misses",
		[LOCI_BLAME_BY_REFS] = "refs",
		[LOCI_BLAME_BY_WRITEBACKS] = "writebacks",
		[LOCI_BLAME_BY_DISTANCE] = "distance",
	};

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], text)) {
			report->sort = (enum loci_blame_sort)i;
			return 0;
		}
	return loci_usage("report",
		"--sort takes misses, refs, writebacks or distance, and not \"%s\"", text);
}

static int take_rows(struct report *report, const char *text)
{
	struct loci_err err = { "" };
	uint64_t n;

	if (loci_units_parse_u64(text, &n, &err) < 0)
		return loci_usage("report", "-n: %s", err.text);
	if (!n)
		return loci_usage("report", "-n: no rows show nothing");
	report->max_rows = n < SIZE_MAX ? (size_t)n : SIZE_MAX;
	return 0;
}

/* "1%", "0.5 %" */
static int take_min(struct report *report, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	while (*end == ' ')
		end++;
	if (end == text || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
		return loci_usage("report",
			"--min takes a share of the misses such as 1%%, and not \"%s\"", text);
	report->min_share = percent / 100;
	return 0;
}

/* Nothing to blame is told apart from a kind that was not recorded. */
static int nothing(
	const struct report *report, const struct loci_catalogue *c, struct loci_err *err)
{
	const char *path = loci_profile_path(c->profile), *kind = loci_blame_plural(report->kind);

	if (report->kind == LOCI_BLAME_REGION || report->kind == LOCI_BLAME_PHASE)
		return loci_err_set(err, ENOENT,
			"%.300s has no %s: the program marks none (see loci-mark(3))", path, kind);
	if (!c->n_site && report->kind != LOCI_BLAME_THREAD && report->kind != LOCI_BLAME_PROCESS)
		return loci_err_set(err, ENOENT,
			"%.300s knows no %s: it was made from a trace that does not tell them; "
			"loci record does",
			path, kind);
	return loci_err_set(err, ENOENT, "%.300s has no %s", path, kind);
}

static int unrecorded(const struct report *report, const struct loci_subject *subject,
	const struct loci_blame_levels *levels, struct loci_err *err)
{
	char size[LOCI_UNITS_MAX];

	return loci_err_set(err, ENOENT,
		"%.300s: %s have no distances of %s-byte blocks, only those of the first size that "
		"loci record -b was given; sites, lines, functions, loops, objects and fields do",
		loci_profile_path(subject->profile), loci_blame_plural(report->kind),
		loci_units_size(size, levels->block_bytes));
}

static int report_by(const struct report *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *blame = NULL;
	struct loci_by by = { .subject = subject,
		.sort = report->sort,
		.max_rows = report->max_rows,
		.min_share = report->min_share };
	struct loci_blame_levels levels;
	struct loci_catalogue c;
	int r;

	if ((r = loci_catalogue_load(&c, subject->profile, err)) < 0 ||
		(r = loci_blame_levels(subject, &c, report->level, &levels, err)) < 0)
		return r;
	if (!loci_blame_is_recorded(subject, report->kind, &levels))
		return unrecorded(report, subject, &levels, err);
	if ((r = loci_blame_new(&c, subject, &levels, report->kind, &blame, err)) < 0)
		return r;
	if (!blame->n_rows)
		return nothing(report, &c, err);
	if (report->sort != LOCI_BLAME_BY_MISSES &&
		(r = loci_blame_sort(blame, report->sort, err)) < 0)
		return r;
	by.blame = blame;
	if (report->as_json)
		return loci_by_json(&by, json, err);
	return report->kind == LOCI_BLAME_CONTEXT ? loci_by_contexts(&by, text, err)
						  : loci_by_table(&by, text, err);
}

static int report_index(const struct report *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_array_index_fini) struct loci_array_index index = { 0 };
	struct loci_catalogue c;
	const struct loci_by_index by = { subject, &c, &index, report->max_rows };
	const char *path = loci_profile_path(subject->profile);
	int r = loci_catalogue_load(&c, subject->profile, err);

	if (r == 0)
		r = loci_array_index_new(&c, report->object, &index, err);
	if (r < 0)
		return r;
	if (!c.n_piece)
		return loci_err_set(err, ENOENT,
			"%.300s does not say where in its arrays references go; record it with "
			"loci record --index",
			path);
	if (!index.n)
		return loci_err_set(err, ENOENT,
			"%.300s has no array of the name \"%.100s\"; loci report --by object "
			"lists what it has",
			path, report->object);
	if (!report->as_json)
		return loci_by_index(&by, text, err);
	loci_by_index_json(&by, json);
	return 0;
}

static int report_sharing(const struct report *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_sharing_fini) struct loci_sharing sharing = { 0 };
	const struct loci_sharing_table table = { subject, &sharing, report->max_rows };
	int r = loci_sharing_new(subject->profile, subject->grain->block_bytes, &sharing, err);

	if (r < 0)
		return r;
	if (!sharing.whole)
		return loci_err_set(err, ENOENT,
			"%.300s knows nothing of sharing: its program had no threads that share "
			"memory, or it was recorded without telling them apart",
			loci_profile_path(subject->profile));
	if (!report->as_json)
		return loci_sharing_table(&table, text, err);
	loci_sharing_table_json(&table, json);
	return 0;
}

/* Reports given (NULL: the only one), after a blank line unless it is the first. */
static int report_one(const struct report *report, const char *given, bool is_first,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_subject subject;
	int r = loci_open_subject(given, &report->aim, &profile, &subject, err);

	if (r < 0)
		return r;
	if (report->as_json && !report->is_by) {
		loci_report_json(&subject, json);
		return 0;
	}
	if (!is_first && !report->as_json)
		putchar('\n');
	if (report->is_index)
		return report_index(report, &subject, text, json, err);
	if (report->is_sharing)
		return report_sharing(report, &subject, text, json, err);
	if (report->is_by)
		return report_by(report, &subject, text, json, err);
	return loci_report_screen(&subject, text, err);
}

/* One bad file of several does not cost the others their report. */
static int report_all(const struct report *report, char *const *given, int n)
{
	struct loci_text text;
	struct loci_json json;
	int status = LOCI_EXIT_OK;

	loci_text_begin(&text, stdout, report->no_colour);
	if (report->as_json) {
		loci_json_begin(&json, stdout);
		loci_json_object(&json);
		loci_pair_format(&json,
			report->is_index             ? "loci-index"
				: report->is_sharing ? "loci-sharing"
				: report->is_by      ? "loci-by"
						     : "loci-report");
		loci_pair_array(&json, "profiles");
	}
	for (int i = 0; i < (n ? n : 1); i++) {
		struct loci_err err = { "" };

		if (report_one(report, n ? given[i] : NULL, i == 0, &text, &json, &err) < 0)
			status = loci_fail(&err);
	}
	if (report->as_json) {
		loci_json_array_end(&json);
		loci_json_object_end(&json);
		loci_json_end(&json);
	}
	return loci_finish(status);
}

int loci_cmd_report(int argc, char **argv)
{
	struct report report = { .max_rows = ROWS, .min_share = MIN_SHARE };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:n:h", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			status = loci_aim_block(&report.aim, "report", optarg);
			break;
		case OPT_CACHE:
			status = loci_aim_machine(&report.aim, "report", optarg);
			break;
		case OPT_BY:
			status = take_kind(&report, optarg);
			break;
		case OPT_LEVEL:
			report.only_by = "--level";
			report.level = optarg;
			break;
		case OPT_SORT:
			report.only_by = "--sort";
			status = take_sort(&report, optarg);
			break;
		case 'n':
			report.only_by = "-n";
			status = take_rows(&report, optarg);
			break;
		case OPT_ALL:
			report.only_by = "--all";
			report.max_rows = SIZE_MAX;
			report.min_share = 0;
			break;
		case OPT_OBJECT:
			report.object = optarg;
			break;
		case OPT_MIN:
			report.only_by = "--min";
			status = take_min(&report, optarg);
			break;
		case OPT_JSON:
			report.as_json = true;
			break;
		case OPT_NO_COLOR:
			report.no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("report", c, argv);
		}
		if (status)
			return status;
	}
	if (report.object && !report.is_index)
		return loci_usage("report", "--object goes with --by index");
	if (report.only_by && !report.is_by)
		return loci_usage("report", "%s goes with --by", report.only_by);
	return report_all(&report, argv + optind, argc - optind);
}
