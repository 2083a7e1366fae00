// SPDX-License-Identifier: GPL-2.0-or-later
/* loci html: one self-contained page of what profiles say, or a picture of it. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/replace.h"
#include "cli/browser.h"
#include "cli/option.h"
#include "cli/page.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

static const char help[] =
	"usage: loci html [OPTIONS] [FILE..]\n\n"
	"Writes a page that shows a profile: verdict, distances, caches to try, source, contexts,\n"
	"pairs, data. One file that needs nothing else, to open from disk or to send to others.\n"
	"Further profiles are compared with the first. Without FILE: the only *.loci file of the\n"
	"current directory.\n\n"
	"  -o, --output FILE  write to FILE (the profile's name, ending in .html); - is standard\n"
	"                     output\n"
	"      --png          a picture of its first view instead, by Chromium\n"
	"  -b, --block SIZE   of the block sizes recorded, this one\n"
	"      --cache SPEC   judge against another machine: host, a machine's name, or\n"
	"                     L1=32K/8,L2=1M/16,L3=32M/16\n"
	"  -h, --help         this text\n";

enum { OPT_PNG = 256, OPT_CACHE };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "png", no_argument, NULL, OPT_PNG },
	{ "block", required_argument, NULL, 'b' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct html {
	struct loci_aim aim;
	const char *output; /* NULL: by the profile's name */
	bool as_png;
};

/* The profile's name with another ending. */
static char *output_name(const char *profile, const char *ending)
{
	size_t length = strlen(profile);
	char *name;

	if (length > 5 && !strcmp(profile + length - 5, ".loci"))
		length -= 5;
	if (asprintf(&name, "%.*s%s", (int)length, profile, ending) < 0)
		return NULL;
	return name;
}

static int write_file(const char *path, const char *page, size_t length, struct loci_err *err)
{
	loci_cleanup(loci_replace_fini) struct loci_replace replace = { .fd = -1 };
	int r = loci_replace_begin(&replace, path, err);

	for (size_t done = 0; r == 0 && done < length;) {
		ssize_t n = write(replace.fd, page + done, length - done);

		if (n < 0 && errno != EINTR)
			r = loci_err_set(err, errno, "%s: cannot write: %s", path, strerror(errno));
		else if (n > 0)
			done += (size_t)n;
	}
	return r < 0 ? r : loci_replace_commit(&replace, err);
}

static void remove_file(char (*path)[64])
{
	if ((*path)[0])
		unlink(*path);
}

static int draw(const char *path, const char *page, size_t length, struct loci_err *err)
{
	loci_cleanup(remove_file) char name[64] = "/tmp/loci-page-XXXXXX.html";
	int fd = mkstemps(name, 5), r;

	if (fd < 0) {
		name[0] = '\0';
		return loci_err_set(err, errno, "/tmp: %s", strerror(errno));
	}
	close(fd);
	r = write_file(name, page, length, err);
	return r < 0 ? r : loci_browser_picture(name, path, err);
}

static int make(const struct html *html, char *const *path, size_t n, struct loci_err *err)
{
	loci_autofree char *page = NULL, *first = NULL, *name = NULL;
	size_t length = 0;
	int r = loci_page_make(path, n, &html->aim, &page, &length, &first, err);

	if (r < 0)
		return r;
	if (html->output && !strcmp(html->output, "-") && !html->as_png) {
		fwrite(page, 1, length, stdout);
		return 0;
	}
	name = html->output ? strdup(html->output)
			    : output_name(first, html->as_png ? ".png" : ".html");
	if (!name)
		return loci_err_nomem(err);
	r = html->as_png ? draw(name, page, length, err) : write_file(name, page, length, err);
	if (r == 0 && !html->output)
		printf("%s\n", name);
	return r;
}

int loci_cmd_html(int argc, char **argv)
{
	struct html html = { 0 };
	struct loci_err err = { "" };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:b:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			html.output = optarg;
			break;
		case OPT_PNG:
			html.as_png = true;
			break;
		case 'b':
			status = loci_aim_block(&html.aim, "html", optarg);
			break;
		case OPT_CACHE:
			status = loci_aim_machine(&html.aim, "html", optarg);
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("html", c, argv);
		}
		if (status)
			return status;
	}
	if (html.as_png && html.output && !strcmp(html.output, "-"))
		return loci_usage("html", "--png writes a file; give it a name with -o");
	if (make(&html, argv + optind, (size_t)(argc - optind), &err) < 0)
		return loci_finish(loci_fail(&err));
	return loci_finish(LOCI_EXIT_OK);
}
