// SPDX-License-Identifier: GPL-2.0-or-later
/* loci diff: what moved between two runs, and whether it stays within bounds. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/coverage_args.h"
#include "cli/open.h"
#include "cli/option.h"
#include "report/accuracy_table.h"
#include "report/coverage_table.h"
#include "report/diff_screen.h"
#include "report/ops_screen.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#define CRITERIA_MAX 32
#define ROWS_MAX     16
#define MOVES_MAX    5

static const char help[] =
	"usage: loci diff [OPTIONS] BEFORE AFTER\n\n"
	"Compares two profiles: misses and traffic of each level, the distances of short and\n"
	"long reuses, every bin of the histogram, and the lines and objects whose misses moved\n"
	"most. The machine is the one AFTER was recorded on.\n\n"
	"      --accuracy        instead: how well AFTER's distances stand for BEFORE's, which "
	"are\n"
	"                        taken for the truth; stack distances, and private ones of runs\n"
	"                        with threads\n"
	"      --rank            instead: how well AFTER finds BEFORE's worst sites, those that "
	"make\n"
	"                        most of the reuses that miss a cache of --cache SIZE, or\n"
	"      --miss SHARE      of the largest that so much of BEFORE's reuses miss (10%)\n"
	"  -b, --block SIZE      of the block sizes that both have, this one\n"
	"      --cache SPEC      judge against another machine: host, a machine's name, or\n"
	"                        L1=32K/8,L2=1M/16,L3=32M/16\n"
	"      --fail-if BOUND   exit with 1 if the bound is crossed; may be given often\n"
	"      --json            everything as JSON (doc/diff.schema.json, and\n"
	"                        doc/accuracy.schema.json, doc/rank.schema.json)\n"
	"      --no-color        plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help            this text\n\n"
	"BOUND is METRIC OP NUMBER, with one of > >= < <= between:\n"
	"  'llc-misses>+5%'      more than 5 % above what it was\n"
	"  'references>+1000'    more than 1000 above what it was\n"
	"  'l1-misses>5%'        more than 5 % of all touches, whatever it was\n"
	"  'p90>=64K'            90 % of the references need 64 KiB or more\n"
	"METRIC: references, touches, blocks, cold, p50, p70, p80, p90, p95, or\n"
	"LEVEL-misses, LEVEL-writebacks, LEVEL-moved with a level's name, or llc for the last.\n";

enum { OPT_CACHE = 256, OPT_JSON, OPT_NO_COLOR, OPT_FAIL_IF, OPT_ACCURACY, OPT_RANK, OPT_MISS };

static const struct option options[] = {
	{ "accuracy", no_argument, NULL, OPT_ACCURACY },
	{ "rank", no_argument, NULL, OPT_RANK },
	{ "miss", required_argument, NULL, OPT_MISS },
	{ "block", required_argument, NULL, 'b' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "fail-if", required_argument, NULL, OPT_FAIL_IF },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct diff {
	struct loci_aim aim;
	bool accuracy, rank, as_json, no_colour;
	const char *cache; /* as given */
	struct loci_coverage_args covered;
	struct loci_criterion criterion[CRITERIA_MAX];
	struct loci_criterion_result result[CRITERIA_MAX];
	size_t n_criteria;
};

static int add_criterion(struct diff *diff, const char *text)
{
	struct loci_err err = { "" };

	if (diff->n_criteria == CRITERIA_MAX)
		return loci_usage("diff", "--fail-if was given more than %d times", CRITERIA_MAX);
	if (loci_criterion_parse(text, &diff->criterion[diff->n_criteria], &err) < 0)
		return loci_usage("diff", "--fail-if %s", err.text);
	diff->n_criteria++;
	return 0;
}

/* 1: both were compiled to have them counted; 0: not so; or an error. */
static int load_ops(const struct loci_compare *compare, struct loci_ops *before,
	struct loci_ops *after, struct loci_err *err)
{
	struct loci_err none = { "" };
	int r = loci_ops_new(before, compare->subject[0]->profile, &none);

	if (r == 0)
		r = loci_ops_new(after, compare->subject[1]->profile, &none);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? loci_err_set(err, -r, "%s", none.text) : 1;
}

static int print(struct diff *diff, const struct loci_compare *compare, struct loci_err *err)
{
	loci_cleanup(loci_moved_fini) struct loci_moved moved = { 0 };
	loci_cleanup(loci_sharing_moved_fini) struct loci_sharing_moved sharing = { 0 };
	loci_cleanup(loci_ops_fini) struct loci_ops before = { 0 }, after = { 0 };
	struct loci_text text;
	struct loci_json json;
	int r = loci_moved_new(compare->subject[0], compare->subject[1], MOVES_MAX, &moved, err);
	int has_ops = r < 0 ? r : load_ops(compare, &before, &after, err);

	if (has_ops >= 0) {
		r = loci_sharing_moved_new(compare->subject[0]->profile,
			compare->subject[1]->profile, compare->block_bytes, MOVES_MAX, &sharing,
			err);
		if (r < 0)
			return r;
	}
	if (has_ops < 0)
		return has_ops;
	if (!diff->as_json) {
		loci_text_begin(&text, stdout, diff->no_colour);
		r = loci_diff_screen(compare, &text, err);
		if (r == 0)
			r = loci_diff_moved(&moved, &text, err);
		if (r == 0)
			r = loci_diff_sharing(&sharing, &text, err);
		return r < 0 || !has_ops ? r : loci_ops_moved(&before, &after, &text, err);
	}
	loci_json_begin(&json, stdout);
	loci_diff_json(compare, &moved, &sharing, has_ops ? &before : NULL, has_ops ? &after : NULL,
		diff->criterion, diff->result, diff->n_criteria, &json);
	loci_json_end(&json);
	return 0;
}

/* Says why, for every criterion that fired. Returns the exit status. */
static int judge(const struct diff *diff)
{
	int status = LOCI_EXIT_OK;
	char reason[256];

	fflush(stdout);
	for (size_t i = 0; i < diff->n_criteria; i++) {
		if (!diff->result[i].fired)
			continue;
		status = LOCI_EXIT_FAILED;
		fprintf(stderr, "loci: --fail-if '%s': %s\n", diff->criterion[i].text,
			loci_diff_reason(
				&diff->criterion[i], &diff->result[i], reason, sizeof(reason)));
	}
	return status;
}

static int show_accuracy(const struct diff *diff, struct loci_profile *truth,
	struct loci_profile *other, uint64_t block_bytes)
{
	struct loci_accuracy_pair row[LOCI_ACCURACY_PAIRS];
	struct loci_accuracy_table table = {
		.truth = truth, .other = other, .block_bytes = block_bytes, .row = row
	};
	struct loci_err err = { "" };
	struct loci_text text;
	struct loci_json json;

	if (loci_accuracy_between(truth, other, block_bytes, row, &table.n, &err) < 0)
		return loci_fail(&err);
	if (diff->as_json) {
		loci_json_begin(&json, stdout);
		loci_accuracy_table_json(&table, &json);
		loci_json_end(&json);
		return loci_finish(LOCI_EXIT_OK);
	}
	loci_text_begin(&text, stdout, diff->no_colour);
	if (loci_accuracy_table_text(&table, &text) < 0) {
		loci_err_nomem(&err);
		return loci_fail(&err);
	}
	return loci_finish(LOCI_EXIT_OK);
}

static int show_rank(const struct diff *diff, struct loci_profile *truth,
	struct loci_profile *other, uint64_t block_bytes)
{
	struct loci_coverage_options wanted =
		loci_coverage_args_options(&diff->covered, block_bytes);
	struct loci_rank_row row[LOCI_RANK_ROWS];
	struct loci_rank_table table = {
		.truth = truth, .other = other, .block_bytes = block_bytes, .row = row
	};
	struct loci_err err = { "" };
	struct loci_text text;
	struct loci_json json;

	if (loci_rank(truth, other, &wanted, row, &table.n, &err) < 0)
		return loci_fail(&err);
	if (diff->as_json) {
		loci_json_begin(&json, stdout);
		loci_rank_table_json(&table, &json);
		loci_json_end(&json);
		return loci_finish(LOCI_EXIT_OK);
	}
	loci_text_begin(&text, stdout, diff->no_colour);
	if (loci_rank_table_text(&table, &text) < 0) {
		loci_err_nomem(&err);
		return loci_fail(&err);
	}
	return loci_finish(LOCI_EXIT_OK);
}

/* The options that go together; and a cache is one size with --rank, and a machine's without. */
static int check_options(struct diff *diff)
{
	int status = 0;

	if (diff->accuracy && diff->rank)
		return loci_usage("diff", "--accuracy and --rank: one at a time");
	if (diff->accuracy && (diff->cache || diff->n_criteria))
		return loci_usage("diff",
			"--accuracy compares distances, whatever the caches: --cache and "
			"--fail-if do not go with it");
	if (diff->rank && diff->n_criteria)
		return loci_usage("diff", "--rank compares sites: --fail-if does not go with it");
	if (diff->covered.miss > 0 && !diff->rank)
		return loci_usage("diff", "--miss goes with --rank");
	if (diff->cache && diff->rank)
		status = loci_coverage_args_cache(&diff->covered, "diff", diff->cache);
	else if (diff->cache)
		status = loci_aim_machine(&diff->aim, "diff", diff->cache);
	return status ? status : loci_coverage_args_check(&diff->covered, "diff");
}

static int compare_files(struct diff *diff, const char *before, const char *after)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *a = NULL;
	loci_cleanup(loci_profile_closep) struct loci_profile *b = NULL;
	const char *machine = diff->aim.machine;
	loci_cleanup(loci_subjects_fini) struct loci_subject subject[2] = { 0 };
	struct loci_compare compare;
	struct loci_err err = { "" };
	uint64_t block_bytes;

	if (loci_profile_open(before, &a, &err) < 0 || loci_profile_open(after, &b, &err) < 0 ||
		loci_compare_block(a, b, diff->aim.block_bytes, &block_bytes, &err) < 0)
		return loci_fail(&err);
	if (diff->accuracy)
		return show_accuracy(diff, a, b, block_bytes);
	if (diff->rank)
		return show_rank(diff, a, b, block_bytes);
	if (loci_subject_init(&subject[1], b, block_bytes, machine, &err) < 0)
		return loci_fail(&err);
	/* both against one machine, or their misses would not compare */
	if (!machine && subject[1].hierarchy.n_levels)
		machine = subject[1].run->caches;
	if (loci_subject_init(&subject[0], a, block_bytes, machine, &err) < 0)
		return loci_fail(&err);
	loci_compare(&subject[0], &subject[1], ROWS_MAX, &compare);
	for (size_t i = 0; i < diff->n_criteria; i++)
		if (loci_criterion_check(&diff->criterion[i], &compare, &diff->result[i], &err) < 0)
			return loci_usage("diff", "--fail-if %s", err.text);
	if (print(diff, &compare, &err) < 0)
		return loci_fail(&err);
	return loci_finish(judge(diff));
}

int loci_cmd_diff(int argc, char **argv)
{
	struct diff diff = { 0 };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:h", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			status = loci_aim_block(&diff.aim, "diff", optarg);
			break;
		case OPT_CACHE:
			diff.cache = optarg;
			break;
		case OPT_FAIL_IF:
			status = add_criterion(&diff, optarg);
			break;
		case OPT_ACCURACY:
			diff.accuracy = true;
			break;
		case OPT_RANK:
			diff.rank = true;
			break;
		case OPT_MISS:
			status = loci_coverage_args_miss(&diff.covered, "diff", optarg);
			break;
		case OPT_JSON:
			diff.as_json = true;
			break;
		case OPT_NO_COLOR:
			diff.no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("diff", c, argv);
		}
		if (status)
			return status;
	}
	if (argc - optind != 2)
		return loci_usage(
			"diff", "two profiles are compared, and %d were given", argc - optind);
	status = check_options(&diff);
	if (status)
		return status;
	return compare_files(&diff, argv[optind], argv[optind + 1]);
}
