// SPDX-License-Identifier: GPL-2.0-or-later
/* Valgrind finds its tools in VALGRIND_LIB; ours lies in a directory with links to what else it
 * needs. Debian's `valgrind` is a script that changes the environment before it runs valgrind.bin:
 * the program is to see its own, so valgrind.bin is what we run.
 *
 * A tool holds a copy of Valgrind's core, which must be of the version of what is installed. */
#include "collect/launch.h"

#include "base/cleanup.h"
#include "collect/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define TOOL         "loci"
#define TOOL_FILE    TOOL "-amd64-linux"
#define ARGUMENT_MAX 32

/* Where the tool may be, from the directory of this program: the build tree, and as installed. */
static const char *const tool_dirs[] = { "libexec/loci", "../libexec/loci", "../lib/loci" };

static bool has_tool(const char *dir)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/" TOOL_FILE, dir) < (int)sizeof(path) &&
		access(path, X_OK) == 0;
}

static int find_tools(struct loci_launch *launch, struct loci_err *err)
{
	const char *given = getenv("LOCI_LIBEXEC");
	char self[PATH_MAX] = "";
	ssize_t n;

	if (given && *given) {
		if (has_tool(given) && realpath(given, launch->tools))
			return 0;
		return loci_err_set(err, ENOENT,
			"LOCI_LIBEXEC names %s, where there is no " TOOL_FILE
			" that can be executed",
			given);
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(tool_dirs); i++) {
		char dir[PATH_MAX];

		if (snprintf(dir, sizeof(dir), "%s/%s", self, tool_dirs[i]) < (int)sizeof(dir) &&
			has_tool(dir) && realpath(dir, launch->tools))
			return 0;
	}
	return loci_err_set(err, ENOENT,
		"loci's Valgrind tool (%s) is not in %s/../libexec/loci: install loci whole, or "
		"build it where Valgrind's headers are (apt install valgrind)",
		TOOL_FILE, self);
}

static int find_launcher(struct loci_launch *launch, struct loci_err *err)
{
	char behind[PATH_MAX + 8];

	if (loci_program_find("valgrind", launch->launcher) < 0) {
		launch->launcher[0] = 0;
		return loci_err_set(err, ENOENT,
			"Valgrind is not installed, or not in PATH: apt install valgrind (it has "
			"that name everywhere)");
	}
	snprintf(behind, sizeof(behind), "%s.bin", launch->launcher);
	if (strlen(behind) < PATH_MAX && access(behind, X_OK) == 0)
		strcpy(launch->launcher, behind);
	return 0;
}

static void run_version(const struct loci_launch *launch, const char *program, int fd)
{
	/* The launcher asks a tool of its own; a tool wants to know its launcher. */
	if (launch->tools[0]) {
		setenv("VALGRIND_LAUNCHER", launch->launcher, 1);
		setenv("VALGRIND_LIB", launch->tools, 1);
	} else {
		unsetenv("VALGRIND_LIB");
	}
	unsetenv("VALGRIND_OPTS");
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execl(program, program, "--version", (char *)NULL);
	_Exit(LOCI_PROGRAM_NOT_FOUND);
}

/* "valgrind-3.19.0" -> "3.19.0", or "" where the program says something else. */
static void ask_version(
	const struct loci_launch *launch, const char *program, char *version, size_t size)
{
	static const char prefix[] = "valgrind-";
	char text[128] = "";
	size_t used = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	version[0] = 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0)
		run_version(launch, program, fds[1]);
	close(fds[1]);
	while (pid > 0 && used < sizeof(text) - 1 &&
		(n = read(fds[0], text + used, sizeof(text) - 1 - used)) != 0)
		if (n > 0)
			used += (size_t)n;
		else if (errno != EINTR)
			break;
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	text[strcspn(text, "\n ")] = 0;
	if (!strncmp(text, prefix, strlen(prefix)) && strlen(text) - strlen(prefix) < size)
		strcpy(version, text + strlen(prefix));
}

int loci_launch_find(struct loci_launch *ret, struct loci_err *err)
{
	char tool[PATH_MAX + sizeof(TOOL_FILE)], built_for[sizeof(ret->version)];
	int r;

	*ret = (struct loci_launch){ 0 };
	r = find_launcher(ret, err);
	if (r < 0)
		return r;
	ask_version(ret, ret->launcher, ret->version, sizeof(ret->version));
	if (!ret->version[0])
		return loci_err_set(err, ENOEXEC,
			"%s does not say its version: is it Valgrind, and for this machine?",
			ret->launcher);
	r = find_tools(ret, err);
	if (r < 0)
		return r;
	snprintf(tool, sizeof(tool), "%s/" TOOL_FILE, ret->tools);
	ask_version(ret, tool, built_for, sizeof(built_for));
	if (!built_for[0])
		return loci_err_set(err, ENOEXEC, "%s does not run: build loci again", tool);
	if (strcmp(built_for, ret->version) != 0)
		return loci_err_set(err, EPROTO,
			"Valgrind %s is installed (%s), and loci was built for %s: build loci "
			"again, or install that version",
			ret->version, ret->launcher, built_for);
	return 0;
}

struct arguments {
	char *at[ARGUMENT_MAX];
	size_t n;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void add(
	struct arguments *arguments, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	if (vasprintf(&arguments->at[arguments->n], fmt, list) < 0) {
		arguments->at[arguments->n] = NULL;
		arguments->failed = true;
	} else {
		arguments->n++;
	}
	va_end(list);
}

static const char *yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

/* What Valgrind's core is told. It must take nothing from VALGRIND_OPTS and ~/.valgrindrc, and say
 * what it has to say where the program's output is not. */
static void add_core(
	struct arguments *arguments, const struct loci_run_options *options, int log_fd)
{
	add(arguments, "--tool=" TOOL);
	add(arguments, "--command-line-only=yes");
	add(arguments, "-q");
	add(arguments, "--sigill-diagnostics=yes");
	add(arguments, "--vgdb=no");
	add(arguments, "--log-fd=%d", log_fd);
	add(arguments, "--trace-children=%s", yes_no(options->follow));
}

static void add_tool(
	struct arguments *arguments, const struct loci_run_options *options, const char *run_dir)
{
	add(arguments, "--run-dir=%s", run_dir);
	add(arguments, "--kernel=%s", yes_no(!options->no_kernel));
	add(arguments, "--windows=%s", yes_no(loci_run_has_windows(options)));
	if (options->only)
		add(arguments, "--only=%s", options->only);
	if (options->skip)
		add(arguments, "--skip=%s", options->skip);
}

char **loci_launch_command(const struct loci_launch *launch, const struct loci_run_options *options,
	const char *run_dir, int log_fd)
{
	struct arguments own = { 0 };
	size_t n_program = 0;
	char **command;

	add(&own, "%s", launch->launcher);
	add_core(&own, options, log_fd);
	add_tool(&own, options, run_dir);
	add(&own, "--");
	while (options->argv[n_program])
		n_program++;
	command = calloc(own.n + n_program + 1, sizeof(*command));
	if (!command || own.failed) {
		for (size_t i = 0; i < own.n; i++)
			free(own.at[i]);
		free(command);
		return NULL;
	}
	memcpy(command, own.at, own.n * sizeof(*command));
	for (size_t i = 0; i < n_program; i++) {
		command[own.n + i] = strdup(options->argv[i]);
		if (!command[own.n + i]) {
			loci_launch_free(command);
			return NULL;
		}
	}
	return command;
}

void loci_launch_free(char **command)
{
	if (!command)
		return;
	for (size_t i = 0; command[i]; i++)
		free(command[i]);
	free(command);
}
