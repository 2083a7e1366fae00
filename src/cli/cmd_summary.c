// SPDX-License-Identifier: GPL-2.0-or-later
/* loci summary: many profiles, a row each. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/open.h"
#include "cli/option.h"
#include "report/pairs.h"
#include "report/summary_table.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
	"usage: loci summary [OPTIONS] FILE..\n\n"
	"One row per profile, in the order given: references, memory touched, the cache sizes\n"
	"that 70, 80, 90 and 95 % of the references need, and the miss ratios of the first and\n"
	"the last level of the machine.\n\n"
	"  -b, --block SIZE   of the block sizes recorded, this one (64 where there is)\n"
	"      --cache SPEC   judge all against one machine: host, a machine's name, or\n"
	"                     L1=32K/8,L2=1M/16,L3=32M/16; else each against its own\n"
	"      --json         as JSON (doc/summary.schema.json)\n"
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

struct summary {
	struct loci_aim aim;
	bool as_json, no_colour;
	struct loci_table table;
	struct loci_json json;
};

static int add_file(struct summary *summary, const char *path, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_cleanup(loci_subject_fini) struct loci_subject subject = { 0 };
	int r = loci_open_subject(path, &summary->aim, &profile, &subject, err);

	if (r < 0)
		return r;
	if (summary->as_json)
		loci_summary_json(&subject, &summary->json);
	else
		loci_summary_add(&summary->table, &subject);
	return 0;
}

/* A bad file costs its own row only. */
static int summarise(struct summary *summary, char *const *path, int n)
{
	int status = LOCI_EXIT_OK;
	struct loci_text text;
	struct loci_err err = { "" };

	loci_text_begin(&text, stdout, summary->no_colour);
	if (summary->as_json) {
		loci_json_begin(&summary->json, stdout);
		loci_json_object(&summary->json);
		loci_pair_format(&summary->json, "loci-summary");
		loci_pair_array(&summary->json, "profiles");
	} else {
		loci_summary_begin(&summary->table);
	}
	for (int i = 0; i < n; i++) {
		struct loci_err why = { "" };

		if (add_file(summary, path[i], &why) < 0)
			status = loci_fail(&why);
	}
	if (summary->as_json) {
		loci_json_array_end(&summary->json);
		loci_json_object_end(&summary->json);
		loci_json_end(&summary->json);
	} else if (loci_summary_end(&summary->table, &text, &err) < 0) {
		status = loci_fail(&err);
	}
	return loci_finish(status);
}

int loci_cmd_summary(int argc, char **argv)
{
	struct summary summary = { 0 };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:h", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			status = loci_aim_block(&summary.aim, "summary", optarg);
			break;
		case OPT_CACHE:
			status = loci_aim_machine(&summary.aim, "summary", optarg);
			break;
		case OPT_JSON:
			summary.as_json = true;
			break;
		case OPT_NO_COLOR:
			summary.no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("summary", c, argv);
		}
		if (status)
			return status;
	}
	if (optind == argc)
		return loci_usage("summary", "which profiles? (loci summary *.loci)");
	return summarise(&summary, argv + optind, argc - optind);
}
