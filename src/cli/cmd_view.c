// SPDX-License-Identifier: GPL-2.0-or-later
/* loci view: the page of loci html, served to the browser of this machine's user. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/browser.h"
#include "cli/option.h"
#include "cli/page.h"
#include "cli/serve.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>

static const char help[] =
	"usage: loci view [OPTIONS] [FILE..]\n\n"
	"Shows profiles in the browser: the page of loci html, served on this machine alone, at\n"
	"an address that others cannot guess, until Ctrl-C. Without FILE: the only *.loci file of\n"
	"the current directory.\n\n"
	"      --no-open      print the address, open no browser\n"
	"  -b, --block SIZE   of the block sizes recorded, this one\n"
	"      --cache SPEC   judge against another machine: host, a machine's name, or\n"
	"                     L1=32K/8,L2=1M/16,L3=32M/16\n"
	"  -h, --help         this text\n";

enum { OPT_NO_OPEN = 256, OPT_CACHE };

static const struct option options[] = {
	{ "no-open", no_argument, NULL, OPT_NO_OPEN },
	{ "block", required_argument, NULL, 'b' },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct view {
	struct loci_aim aim;
	bool no_open;
};

/* Readable when the user has had enough. */
static int stop_signals(struct loci_err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_IGN); /* nobody waits for the browser */
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? loci_err_set(err, errno, "signalfd: %s", strerror(errno)) : fd;
}

static int show(const struct view *view, char *const *path, size_t n, struct loci_err *err)
{
	loci_cleanup(loci_server_close) struct loci_server server = { .fd = -1 };
	loci_autofree char *page = NULL;
	loci_autoclose int stop_fd = -1;
	struct loci_err why = { "" };
	size_t length = 0;
	char url[96];
	int r = loci_page_make(path, n, &view->aim, &page, &length, NULL, err);

	if (r == 0)
		r = loci_server_open(&server, page, length, err);
	if (r < 0)
		return r;
	stop_fd = stop_signals(err);
	if (stop_fd < 0)
		return stop_fd;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s/", server.port, server.token);
	printf("%s\n", url);
	fflush(stdout);
	if (!view->no_open && loci_browser_open(url, &why) < 0)
		fprintf(stderr, "loci: %s\n", why.text);
	return loci_server_run(&server, stop_fd, err);
}

int loci_cmd_view(int argc, char **argv)
{
	struct view view = { 0 };
	struct loci_err err = { "" };
	int c, status = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:h", options, NULL)) != -1) {
		switch (c) {
		case OPT_NO_OPEN:
			view.no_open = true;
			break;
		case 'b':
			status = loci_aim_block(&view.aim, "view", optarg);
			break;
		case OPT_CACHE:
			status = loci_aim_machine(&view.aim, "view", optarg);
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("view", c, argv);
		}
		if (status)
			return status;
	}
	if (show(&view, argv + optind, (size_t)(argc - optind), &err) < 0)
		return loci_finish(loci_fail(&err));
	return loci_finish(LOCI_EXIT_OK);
}
