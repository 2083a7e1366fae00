// SPDX-License-Identifier: GPL-2.0-or-later
/* loci report: what a profile says, on one screen, or one table of who is to blame. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/option.h"
#include "cli/report_part.h"
#include "report/pairs.h"
#include "report/report_json.h"
#include "report/report_screen.h"

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
	"      --coverage P   instead the fewest sites that make P % of the reuses that miss, of "
	"75,\n"
	"                     80, 90 or 95, in a fully associative cache of --cache SIZE, or\n"
	"      --miss SHARE   of the largest that so much of the reuses miss (10%)\n"
	"      --private      of coverage: a cache for each thread, as it is where there are any\n"
	"      --shared       of coverage: one cache for all\n"
	"      --object NAME  of index: this array alone\n"
	"      --level NAME   whose misses: L2 (the first level)\n"
	"      --sort WHAT    by misses, refs, writebacks or distance (misses)\n"
	"  -n, --rows N       so many rows (20)\n"
	"      --all          all of them\n"
	"      --min SHARE    of contexts: leave out what has less of the misses (1%)\n"
	"      --json         everything as JSON (doc/report.schema.json, by.schema.json,\n"
	"                     index.schema.json, sharing.schema.json, coverage.schema.json)\n"
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
	OPT_COVERAGE,
	OPT_MISS,
	OPT_PRIVATE,
	OPT_SHARED,
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
	{ "coverage", required_argument, NULL, OPT_COVERAGE },
	{ "miss", required_argument, NULL, OPT_MISS },
	{ "private", no_argument, NULL, OPT_PRIVATE },
	{ "shared", no_argument, NULL, OPT_SHARED },
	{ "object", required_argument, NULL, OPT_OBJECT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int take_kind(struct loci_report_ask *report, const char *text)
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

static int take_sort(struct loci_report_ask *report, const char *text)
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

static int take_rows(struct loci_report_ask *report, const char *text)
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

static int take_min(struct loci_report_ask *report, const char *text)
{
	report->min_share = loci_coverage_args_percent(text);
	if (report->min_share < 0)
		return loci_usage("report",
			"--min takes a share of the misses such as 1%%, and not \"%s\"", text);
	return 0;
}

static int take_coverage(struct loci_report_ask *report, const char *text)
{
	double share = loci_coverage_args_percent(text);

	for (unsigned i = 0; i < LOCI_COVERAGES; i++)
		if (share == loci_coverage_percents[i] / 100.)
			report->coverage = loci_coverage_percents[i];
	if (!report->coverage)
		return loci_usage(
			"report", "--coverage takes 75, 80, 90 or 95, and not \"%s\"", text);
	return 0;
}

/* Reports given (NULL: the only one), after a blank line unless it is the first. */
static int report_one(const struct loci_report_ask *report, const char *given, bool is_first,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_cleanup(loci_subject_fini) struct loci_subject subject = { 0 };
	int r = loci_open_subject(given, &report->aim, &profile, &subject, err);

	if (r < 0)
		return r;
	if (report->as_json && !report->is_by && !report->coverage) {
		loci_report_json(&subject, json);
		return 0;
	}
	if (!is_first && !report->as_json)
		putchar('\n');
	if (report->is_index)
		return loci_report_index(report, &subject, text, json, err);
	if (report->coverage)
		return loci_report_coverage(report, &subject, text, json, err);
	if (report->is_sharing)
		return loci_report_sharing(report, &subject, text, json, err);
	if (report->is_by)
		return loci_report_by(report, &subject, text, json, err);
	return loci_report_screen(&subject, text, err);
}

/* One bad file of several does not cost the others their report. */
static int report_all(const struct loci_report_ask *report, char *const *given, int n)
{
	struct loci_text text;
	struct loci_json json;
	int status = LOCI_EXIT_OK;

	loci_text_begin(&text, stdout, report->no_colour);
	if (report->as_json) {
		loci_json_begin(&json, stdout);
		loci_json_object(&json);
		loci_pair_format(&json,
			report->coverage             ? "loci-coverage"
				: report->is_index   ? "loci-index"
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

/* A cache is one size where sites are to cover its misses, and a machine's elsewhere. */
static int check_coverage(struct loci_report_ask *report)
{
	int status = 0;

	if (report->only_covered && !report->coverage)
		return loci_usage("report", "%s goes with --coverage", report->only_covered);
	if (report->coverage && report->is_by)
		return loci_usage("report", "--coverage is of sites: --by does not go with it");
	if (report->is_private && report->is_shared)
		return loci_usage("report", "--private and --shared: a cache is one of both");
	if (report->cache && report->coverage)
		status = loci_coverage_args_cache(&report->covered, "report", report->cache);
	else if (report->cache)
		status = loci_aim_machine(&report->aim, "report", report->cache);
	return status ? status : loci_coverage_args_check(&report->covered, "report");
}

int loci_cmd_report(int argc, char **argv)
{
	struct loci_report_ask report = { .max_rows = ROWS, .min_share = MIN_SHARE };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:n:h", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			status = loci_aim_block(&report.aim, "report", optarg);
			break;
		case OPT_CACHE:
			report.cache = optarg;
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
		case OPT_COVERAGE:
			status = take_coverage(&report, optarg);
			break;
		case OPT_MISS:
			report.only_covered = "--miss";
			status = loci_coverage_args_miss(&report.covered, "report", optarg);
			break;
		case OPT_PRIVATE:
			report.only_covered = "--private";
			report.is_private = true;
			break;
		case OPT_SHARED:
			report.only_covered = "--shared";
			report.is_shared = true;
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
	status = check_coverage(&report);
	if (status)
		return status;
	if (report.object && !report.is_index)
		return loci_usage("report", "--object goes with --by index");
	if (report.only_by && !report.is_by)
		return loci_usage("report", "%s goes with --by", report.only_by);
	return report_all(&report, argv + optind, argc - optind);
}
