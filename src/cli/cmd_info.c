// SPDX-License-Identifier: GPL-2.0-or-later
/* loci info: what a profile is. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/pick.h"
#include "report/info_screen.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>

static const char help[] =
	"usage: loci info [OPTIONS] [FILE]\n\n"
	"Says what a profile is: run, machine, block sizes and the histograms it holds.\n"
	"Without FILE: the only *.loci file of the current directory.\n\n"
	"      --accuracy   how well StatStack, Shen and StatCache, from the time distances,\n"
	"                   agree with the exact stack distances of the same profile\n"
	"      --json       as JSON (doc/info.schema.json)\n"
	"      --no-color   plain text on a terminal too, as with NO_COLOR=1\n"
	"  -h, --help       this text\n";

enum { OPT_ACCURACY = 256, OPT_JSON, OPT_NO_COLOR };

static const struct option options[] = {
	{ "accuracy", no_argument, NULL, OPT_ACCURACY },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

#define GRAINS_MAX 32 /* block sizes from 1 to 2 MiB are fewer */

static int get_hist(struct loci_profile *profile, enum loci_distance distance, uint64_t block_bytes,
	const struct loci_hist **ret, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = distance, .block_bytes = block_bytes };

	return loci_profile_hist(profile, &key, ret, err);
}

static int measure(struct loci_profile *profile, struct loci_info_accuracy *ret, size_t *ret_n,
	struct loci_err *err)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	*ret_n = 0;
	for (size_t i = 0; i < n && i < GRAINS_MAX; i++) {
		struct loci_info_accuracy *a = &ret[i];
		const struct loci_hist *stack, *time;
		int r;

		a->block_bytes = grain[i].block_bytes;
		r = loci_accuracy_profile(profile, a->block_bytes, a->row, &a->n_rows, err);
		if (r >= 0)
			r = get_hist(profile, LOCI_DISTANCE_STACK, a->block_bytes, &stack, err);
		if (r >= 0)
			r = get_hist(profile, LOCI_DISTANCE_TIME, a->block_bytes, &time, err);
		if (r < 0)
			return r;
		loci_accuracy_random(stack, time, grain[i].blocks, &a->random);
		(*ret_n)++;
	}
	return 0;
}

struct info_options {
	bool with_accuracy, as_json, no_colour;
};

static int show(const struct info_options *wanted, const char *given)
{
	loci_autofree char *path = NULL;
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_info_accuracy accuracy[GRAINS_MAX];
	struct loci_info info = { 0 };
	struct loci_err err = { "" };
	struct stat st = { 0 };
	struct loci_text text;
	struct loci_json json;

	if (loci_pick_profile(given, &path, &err) < 0 ||
		loci_profile_open(path, &profile, &err) < 0)
		return loci_fail(&err);
	if (stat(path, &st) == 0)
		info.file_bytes = (uint64_t)st.st_size;
	info.profile = profile;
	if (wanted->with_accuracy) {
		info.accuracy = accuracy;
		if (measure(profile, accuracy, &info.n_accuracy, &err) < 0)
			return loci_fail(&err);
	}
	if (wanted->as_json) {
		loci_json_begin(&json, stdout);
		loci_info_json(&info, &json);
		loci_json_end(&json);
		return loci_finish(LOCI_EXIT_OK);
	}
	loci_text_begin(&text, stdout, wanted->no_colour);
	if (loci_info_screen(&info, &text, &err) < 0)
		return loci_fail(&err);
	return loci_finish(LOCI_EXIT_OK);
}

int loci_cmd_info(int argc, char **argv)
{
	struct info_options wanted = { 0 };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case OPT_ACCURACY:
			wanted.with_accuracy = true;
			break;
		case OPT_JSON:
			wanted.as_json = true;
			break;
		case OPT_NO_COLOR:
			wanted.no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("info", c, argv);
		}
	}
	if (argc - optind > 1)
		return loci_usage("info", "one profile at a time; %d were given", argc - optind);
	return show(&wanted, argv[optind]);
}
