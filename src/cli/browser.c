// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/browser.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define SECONDS "60" /* a browser that takes longer hangs */
#define WIDTH   1280
#define HEIGHT  1180

static bool is_there(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];

	for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
		int length = (int)strcspn(path, ":");

		if (snprintf(file, sizeof(file), "%.*s/%s", length, path, program) <
				(int)sizeof(file) &&
			access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* Standard input and output are not its own; signals are as they are for any program. */
static int start(char *const argv[], pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	r = posix_spawnp(ret, argv[0], &files, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -r;
}

int loci_browser_open(const char *url, struct loci_err *err)
{
	char *const argv[] = { (char *)"xdg-open", (char *)url, NULL };
	pid_t pid;

	if (start(argv, &pid) < 0)
		return loci_err_set(err, ENOENT, "xdg-open is not there; open the address above");
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

static void remove_tree(char (*path)[64])
{
	if ((*path)[0])
		nftw(*path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* "file:///a%20b.html": bytes that a URL cannot hold are spelled. */
static char *file_url(const char *path)
{
	loci_autofree char *whole = realpath(path, NULL);
	char *url = whole ? malloc(3 * strlen(whole) + 8) : NULL, *to = url;

	if (!url)
		return NULL;
	to += sprintf(to, "file://");
	for (const unsigned char *s = (const unsigned char *)whole; *s; s++)
		if (isalnum(*s) || strchr("/-._~", *s))
			*to++ = (char)*s;
		else
			to += sprintf(to, "%%%02X", *s);
	*to = '\0';
	return url;
}

static int run(char *const argv[], struct loci_err *err)
{
	pid_t pid;
	int status, r = start(argv, &pid);

	if (r < 0)
		return loci_err_set(err, -r, "%s: %s", argv[0], strerror(-r));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return loci_err_set(err, errno, "%s: %s", argv[0], strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return loci_err_set(err, EIO, "Chromium failed to draw the page (status %d)",
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

int loci_browser_picture(const char *page, const char *png, struct loci_err *err)
{
	static const char *const names[] = { "chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable" };
	loci_cleanup(remove_tree) char home[64] = "/tmp/loci-browser-XXXXXX";
	loci_autofree char *url = file_url(page);
	char screenshot[4096 + 16], size[48], user[96];
	const char *program = NULL;
	struct stat st;
	int r;

	for (size_t i = 0; !program && i < LOCI_ARRAY_SIZE(names); i++)
		if (is_there(names[i]))
			program = names[i];
	if (!program || !url || !mkdtemp(home)) {
		home[0] = '\0';
		return program
			? loci_err_set(err, errno, "%s: %s", page, strerror(errno))
			: loci_err_set(err, ENOENT,
				  "--png takes Chromium, which is not there (Debian: apt-get "
				  "install chromium); without --png loci html writes the page");
	}
	snprintf(screenshot, sizeof(screenshot), "--screenshot=%s", png);
	snprintf(size, sizeof(size), "--window-size=%d,%d", WIDTH, HEIGHT);
	snprintf(user, sizeof(user), "--user-data-dir=%s", home);
	/* Chromium refuses root its sandbox; the page is ours, and its policy forbids what it does
	 * not need. */
	r = run((char *const[]){ (char *)"timeout", (char *)SECONDS, (char *)program,
			(char *)"--headless", (char *)"--disable-gpu", (char *)"--hide-scrollbars",
			(char *)"--no-first-run", (char *)"--disable-dev-shm-usage",
			(char *)"--virtual-time-budget=10000", screenshot, size, user, url,
			geteuid() ? NULL : (char *)"--no-sandbox", NULL },
		err);
	if (r == 0 && (stat(png, &st) < 0 || !st.st_size))
		r = loci_err_set(err, EIO, "%s: Chromium drew no picture", png);
	return r;
}
