// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command.h"
#include "cli/option.h"

#include "profile/profile.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
	"Adds profiles up: histograms, totals and what is known of code and data are summed, as "
	"if\n"
	"the programs had run one after another, each with emptied caches. What not all of them\n"
	"have (block sizes, set counts, caches) is left out, and the merged profile's note says "
	"so.\n\n"
	"usage: loci merge -o OUT FILE..\n\n"
	"  -o, --output OUT   the profile to write; it may be one of the FILEs\n"
	"  -h, --help         this text\n";

int loci_cmd_merge(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *output = NULL;
	struct loci_err err = { "" };
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			output = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("merge", option, argv);
		}
	}
	if (!output)
		return loci_usage("merge", "say what to write: -o OUT");
	if (optind == argc)
		return loci_usage("merge", "name the profiles to merge");
	if (loci_profile_merge(output, argv + optind, (size_t)(argc - optind), &err) < 0)
		return loci_fail(&err);
	return loci_finish(LOCI_EXIT_OK);
}
