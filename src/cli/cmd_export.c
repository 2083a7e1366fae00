// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command.h"
#include "cli/option.h"
#include "cli/pick.h"

#include "base/cleanup.h"
#include "base/replace.h"
#include "report/export.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

static const struct format {
	const char *name;
	int (*write)(struct loci_profile *profile, FILE *out, struct loci_err *err);
} formats[] = {
	{ "json", loci_export_json },
	{ "csv", loci_export_csv },
};

static const char help[] =
	"Writes everything a profile holds in a form other programs read.\n\n"
	"usage: loci export [OPTIONS] [FILE]\n\n"
	"  -f, --format json|csv   json (default): run, totals, code and data, histograms, as\n"
	"                          described by profile.schema.json;\n"
	"                          csv: the histograms as one table, a line per bin\n"
	"  -o, --output FILE       write to FILE; - is standard output, the default\n"
	"  -h, --help              this text\n\n"
	"FILE may be left out where the directory has just one *.loci file. A profile is also an\n"
	"SQLite database: sqlite3 FILE 'SELECT * FROM v_histogram'.\n";

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(formats); i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

static int export_to_file(struct loci_profile *profile, const struct format *format,
	const char *path, struct loci_err *err)
{
	loci_cleanup(loci_replace_fini) struct loci_replace replace = { .fd = -1 };
	loci_autofclose FILE *out = NULL;
	int r = loci_replace_begin(&replace, path, err), fd;

	if (r < 0)
		return r;
	fd = dup(replace.fd);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return loci_err_set(err, errno, "%s: cannot write: %s", path, strerror(errno));
	r = format->write(profile, out, err);
	if (r < 0)
		return r;
	if (fflush(out) != 0 || ferror(out))
		return loci_err_set(err, errno, "%s: cannot write: %s", path, strerror(errno));
	return loci_replace_commit(&replace, err);
}

static int export_profile(
	const char *given, const struct format *format, const char *output, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_autofree char *path = NULL;
	int r = loci_pick_profile(given, &path, err);

	if (r == 0)
		r = loci_profile_open(path, &profile, err);
	if (r < 0)
		return r;
	return output ? export_to_file(profile, format, output, err)
		      : format->write(profile, stdout, err);
}

int loci_cmd_export(int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct format *format = &formats[0];
	const char *output = NULL;
	struct loci_err err = { "" };
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":f:o:h", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			format = find_format(optarg);
			if (!format)
				return loci_usage("export",
					"there is no format \"%s\"; there are json and csv",
					optarg);
			break;
		case 'o':
			output = strcmp(optarg, "-") ? optarg : NULL;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("export", option, argv);
		}
	}
	if (argc - optind > 1)
		return loci_usage("export", "one profile at a time, not %d", argc - optind);
	if (export_profile(argv[optind], format, output, &err) < 0)
		return loci_fail(&err);
	return loci_finish(LOCI_EXIT_OK);
}
