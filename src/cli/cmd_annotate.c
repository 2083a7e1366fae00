// SPDX-License-Identifier: GPL-2.0-or-later
/* loci annotate: source lines with their misses and distances. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/open.h"
#include "cli/option.h"
#include "report/annotate_screen.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define MIN_SHARE 0.01

static const char help[] =
	"usage: loci annotate [OPTIONS] [PROFILE] [FUNCTION | FILE:LINE]\n\n"
	"Shows source with what each line costs: references, misses, the distance of the\n"
	"reuses that miss, and the object. Functions with at least 1 % of the misses, the\n"
	"worst first, or the one named, or the lines around FILE:LINE. Without PROFILE: the\n"
	"only *.loci file of the current directory.\n\n"
	"      --cache SPEC   judge against another machine: host, a machine's name, or\n"
	"                     L1=32K/8,L2=1M/16,L3=32M/16\n"
	"      --level NAME   whose misses: L2 (the first level)\n"
	"      --json         everything as JSON (doc/annotate.schema.json)\n"
	"      --no-color     plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help         this text\n";

enum { OPT_CACHE = 256, OPT_JSON, OPT_NO_COLOR, OPT_LEVEL };

static const struct option options[] = {
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "level", required_argument, NULL, OPT_LEVEL },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct annotate {
	struct loci_aim aim;
	bool as_json, no_colour;
	const char *level;
	const char *file, *wanted;
};

static int print(
	const struct annotate *annotate, const struct loci_subject *subject, struct loci_err *err)
{
	loci_cleanup(loci_listings_fini) struct loci_listings listings = { 0 };
	struct loci_blame_levels levels;
	struct loci_catalogue c;
	struct loci_text text;
	struct loci_json json;
	int r = loci_catalogue_load(&c, subject->profile, err);

	if (r < 0)
		return r;
	if (!c.n_site)
		return loci_err_set(err, ENOENT,
			"%.300s knows no lines: it was made from a trace that does not tell them; "
			"loci record does",
			loci_profile_path(subject->profile));
	if ((r = loci_blame_levels(subject, &c, annotate->level, &levels, err)) < 0 ||
		(r = loci_listings_new(
			 &c, subject, &levels, annotate->wanted, MIN_SHARE, &listings, err)) < 0)
		return r;
	if (!annotate->as_json) {
		loci_text_begin(&text, stdout, annotate->no_colour);
		return loci_annotate_screen(subject, &listings, &text, err);
	}
	loci_json_begin(&json, stdout);
	loci_annotate_json(subject, &listings, &json);
	loci_json_end(&json);
	return 0;
}

static int annotate_file(const struct annotate *annotate)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_cleanup(loci_subject_fini) struct loci_subject subject = { 0 };
	struct loci_err err = { "" };

	if (loci_open_subject(annotate->file, &annotate->aim, &profile, &subject, &err) < 0 ||
		print(annotate, &subject, &err) < 0)
		return loci_fail(&err);
	return loci_finish(LOCI_EXIT_OK);
}

/* One argument is a profile if it is a file or is called like one. */
static bool is_profile(const char *name)
{
	size_t length = strlen(name);

	return access(name, F_OK) == 0 || (length > 5 && !strcmp(name + length - 5, ".loci"));
}

int loci_cmd_annotate(int argc, char **argv)
{
	struct annotate annotate = { 0 };
	int c, n, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_CACHE:
			status = loci_aim_machine(&annotate.aim, "annotate", optarg);
			break;
		case OPT_LEVEL:
			annotate.level = optarg;
			break;
		case OPT_JSON:
			annotate.as_json = true;
			break;
		case OPT_NO_COLOR:
			annotate.no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("annotate", c, argv);
		}
		if (status)
			return status;
	}
	n = argc - optind;
	if (n > 2)
		return loci_usage("annotate",
			"a profile and a function or place are enough, and %d were given", n);
	if (n == 2 || (n == 1 && is_profile(argv[optind])))
		annotate.file = argv[optind++];
	annotate.wanted = argv[optind];
	return annotate_file(&annotate);
}
