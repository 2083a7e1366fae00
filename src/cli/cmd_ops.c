// SPDX-License-Identifier: GPL-2.0-or-later
/* loci ops: what a program computes and moves. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/option.h"
#include "cli/pick.h"
#include "report/ops_screen.h"
#include "report/pairs.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ROWS 20

static const char help[] =
	"usage: loci ops [OPTIONS] [FILE]\n\n"
	"Shows what a program computes and moves, independent of the processor: flops, integer\n"
	"operations, loads and stores, branches, calls, vectors, bytes per flop. Counted is code\n"
	"that loci cc compiled to have it counted (man loci-cc). Without FILE: the only *.loci\n"
	"file of the current directory.\n\n"
	"      --by KIND      instead one table of who makes them: function, context, region,\n"
	"                     block, callee, type\n"
	"  -n, --rows N       so many rows (20)\n"
	"      --all          all of them\n"
	"      --json         everything as JSON (doc/ops.schema.json)\n"
	"      --csv          as CSV: the figures, or with --by a line for each row\n"
	"      --no-color     plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help         this text\n";

enum { OPT_BY = 256, OPT_ALL, OPT_JSON, OPT_CSV, OPT_NO_COLOR };

static const struct option options[] = {
	{ "by", required_argument, NULL, OPT_BY },
	{ "rows", required_argument, NULL, 'n' },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct ops_args {
	enum loci_ops_level by; /* LOCI_OPS_LEVELS: the whole */
	bool as_json, as_csv, no_colour;
	size_t max_rows;
};

static int take_level(struct ops_args *args, const char *text)
{
	for (unsigned i = 0; i < LOCI_OPS_LEVELS; i++)
		if (!strcmp(loci_ops_level_name((enum loci_ops_level)i), text)) {
			args->by = (enum loci_ops_level)i;
			return 0;
		}
	return loci_usage("ops",
		"--by takes one of function, context, region, block, callee, type, and not \"%s\"",
		text);
}

static int take_rows(struct ops_args *args, const char *text)
{
	struct loci_err err = { "" };
	uint64_t n;

	if (loci_units_parse_u64(text, &n, &err) < 0)
		return loci_usage("ops", "-n: %s", err.text);
	if (!n)
		return loci_usage("ops", "-n: no rows show nothing");
	args->max_rows = n < SIZE_MAX ? (size_t)n : SIZE_MAX;
	return 0;
}

/* Whether what is asked for was recorded. */
static int check(const struct ops_args *args, const struct loci_ops *ops, struct loci_err *err)
{
	const char *path = loci_profile_path(ops->catalogue.profile);

	if ((args->by == LOCI_OPS_CONTEXT || args->by == LOCI_OPS_REGION) && !ops->has_contexts)
		return loci_err_set(err, ENOENT,
			"%.300s knows no %ss of its operations: it was recorded by -m count; loci "
			"record without -m count does",
			path, loci_ops_level_name(args->by));
	if (args->by == LOCI_OPS_REGION && !ops->catalogue.n_region)
		return loci_err_set(err, ENOENT,
			"%.300s has no regions: the program marks none (see loci/mark.h)", path);
	return 0;
}

static int print(const struct ops_args *args, const struct loci_ops *ops, struct loci_err *err)
{
	struct loci_text text;
	struct loci_json json;
	int r;

	if (args->as_csv)
		return loci_ops_csv(ops, args->by, stdout, err);
	if (!args->as_json) {
		loci_text_begin(&text, stdout, args->no_colour);
		return args->by == LOCI_OPS_LEVELS
			? loci_ops_screen(ops, &text, err)
			: loci_ops_table(ops, args->by, args->max_rows, &text, err);
	}
	loci_json_begin(&json, stdout);
	loci_json_object(&json);
	loci_pair_format(&json, "loci-ops");
	loci_json_key(&json, "profile");
	r = loci_ops_json(ops, args->by, &json, err);
	loci_json_object_end(&json);
	loci_json_end(&json);
	return r;
}

struct speller {
	struct loci_demangler demangler;
	struct loci_pool pool;
};

static const char *spell(void *data, const char *symbol)
{
	struct speller *speller = data;

	return loci_demangle(&speller->demangler, &speller->pool, symbol);
}

static void speller_fini(struct speller *speller)
{
	loci_demangler_fini(&speller->demangler);
	loci_pool_fini(&speller->pool);
}

static int show(const struct ops_args *args, const char *given)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_cleanup(speller_fini) struct speller speller = { 0 };
	loci_cleanup(loci_ops_fini) struct loci_ops ops = { 0 };
	loci_autofree char *path = NULL;
	struct loci_err err = { "" };

	if (loci_pick_profile(given, &path, &err) < 0 ||
		loci_profile_open(path, &profile, &err) < 0 ||
		loci_ops_new(&ops, profile, &err) < 0 || check(args, &ops, &err) < 0)
		return loci_finish(loci_fail(&err));
	ops.spell = spell;
	ops.spell_data = &speller;
	if (print(args, &ops, &err) < 0)
		return loci_finish(loci_fail(&err));
	return loci_finish(LOCI_EXIT_OK);
}

int loci_cmd_ops(int argc, char **argv)
{
	struct ops_args args = { .by = LOCI_OPS_LEVELS, .max_rows = ROWS };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":n:h", options, NULL)) != -1) {
		switch (c) {
		case OPT_BY:
			status = take_level(&args, optarg);
			break;
		case 'n':
			status = take_rows(&args, optarg);
			break;
		case OPT_ALL:
			args.max_rows = SIZE_MAX;
			break;
		case OPT_JSON:
			args.as_json = true;
			break;
		case OPT_CSV:
			args.as_csv = true;
			break;
		case OPT_NO_COLOR:
			args.no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("ops", c, argv);
		}
		if (status)
			return status;
	}
	if (argc - optind > 1)
		return loci_usage("ops", "one profile is shown, and %d were given", argc - optind);
	if (args.as_json && args.as_csv)
		return loci_usage("ops", "--json and --csv exclude each other");
	return show(&args, argv[optind]);
}
