// SPDX-License-Identifier: GPL-2.0-or-later
/* loci report: what a profile says, on one screen. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/open.h"
#include "cli/option.h"
#include "report/pairs.h"
#include "report/report_json.h"
#include "report/report_screen.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
	"usage: loci report [OPTIONS] [FILE..]\n\n"
	"Shows a profile on one screen: a verdict in words, the effective cache sizes, the\n"
	"histogram of stack distances with the machine's caches marked, the miss-ratio\n"
	"curve, the misses of each level and the cache sizes that 70 to 95 % of the\n"
	"references need. Without FILE: the only *.loci file of the current directory.\n\n"
	"  -b, --block SIZE   of the block sizes recorded, this one (64 where there is)\n"
	"      --cache SPEC   judge against another machine: host, a machine's name, or\n"
	"                     L1=32K/8,L2=1M/16,L3=32M/16\n"
	"      --json         everything as JSON (doc/report.schema.json)\n"
	"      --no-color     plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help         this text\n";

enum { OPT_CACHE = 256, OPT_JSON, OPT_NO_COLOR };

static const struct option options[] = {
	{ "block", required_argument, NULL, 'b' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct report {
	struct loci_aim aim;
	bool as_json, no_colour;
};

/* Reports given (NULL: the only one), after a blank line unless it is the first. */
static int report_one(const struct report *report, const char *given, bool is_first,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_subject subject;
	int r = loci_open_subject(given, &report->aim, &profile, &subject, err);

	if (r < 0)
		return r;
	if (report->as_json) {
		loci_report_json(&subject, json);
		return 0;
	}
	if (!is_first)
		putchar('\n');
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
		loci_pair_format(&json, "loci-report");
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
	struct report report = { 0 };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:h", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			status = loci_aim_block(&report.aim, "report", optarg);
			break;
		case OPT_CACHE:
			status = loci_aim_machine(&report.aim, "report", optarg);
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
	return report_all(&report, argv + optind, argc - optind);
}
