// SPDX-License-Identifier: GPL-2.0-or-later
/* A pass is made for one major version of LLVM, whose interface for C++ changes with each. The
 * distributions' clang-N are taken by their name, since to ask each time would cost as much as a
 * small compilation; any other clang is asked. */
#include "collect/toolchain.h"

#include "base/cleanup.h"
#include "collect/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PASSES_MAX 16
#define LLD_LOADS  15 /* the first version of lld that loads passes */

/* From the directory of this program: the build tree, and as installed. */
static const char *const pass_dirs[] = { "lib/loci", "../lib/loci", "../lib/x86_64-linux-gnu/loci",
	"../lib64/loci" };

/* The versions that there are passes for, the newest first. */
struct passes {
	unsigned version[PASSES_MAX];
	size_t n;
};

static void add_version(struct passes *passes, unsigned version)
{
	size_t at = passes->n;

	if (passes->n == PASSES_MAX)
		return;
	for (; at > 0 && passes->version[at - 1] < version; at--)
		passes->version[at] = passes->version[at - 1];
	passes->version[at] = version;
	passes->n++;
}

static void list_passes(const char *dir, struct passes *passes)
{
	DIR *list = opendir(dir);
	struct dirent *entry;

	passes->n = 0;
	while (list && (entry = readdir(list))) {
		unsigned version;
		int end = 0;

		if (sscanf(entry->d_name, "loci-pass-%u.so%n", &version, &end) == 1 && end > 0 &&
			!entry->d_name[end])
			add_version(passes, version);
	}
	if (list)
		closedir(list);
}

static bool holds(const struct passes *passes, unsigned version)
{
	for (size_t i = 0; i < passes->n; i++)
		if (passes->version[i] == version)
			return true;
	return false;
}

/* "19 and 14", "19 or 14" */
static const char *listed(const struct passes *passes, const char *and, char text[128])
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < passes->n && used < 120; i++)
		used += (size_t)snprintf(text + used, 128 - used, "%s%s%s%u",
			i && i + 1 == passes->n ? " " : "", i && i + 1 == passes->n ? and : "",
			i ? i + 1 == passes->n ? " " : ", " : "", passes->version[i]);
	return text;
}

/* Calls for each directory that there is, until one serves. */
static bool find_dir(char dir[PATH_MAX], char self[PATH_MAX],
	bool (*serves)(const char *dir, void *data), void *data)
{
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	self[n > 0 ? n : 0] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(pass_dirs); i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", self, pass_dirs[i]) < (int)sizeof(path) &&
			realpath(path, dir) && serves(dir, data))
			return true;
	}
	return false;
}

static bool has_passes(const char *dir, void *data)
{
	list_passes(dir, data);
	return ((const struct passes *)data)->n > 0;
}

static bool has_runtime(const char *dir, void *data)
{
	char path[PATH_MAX + sizeof("/libloci-rt.so")];

	(void)data;
	snprintf(path, sizeof(path), "%s/libloci-rt.so", dir);
	return access(path, R_OK) == 0;
}

static int find_passes(
	struct loci_toolchain *toolchain, struct passes *passes, struct loci_err *err)
{
	char self[PATH_MAX];

	if (find_dir(toolchain->dir, self, has_passes, passes))
		return 0;
	return loci_err_set(err, ENOENT,
		"loci's pass for clang (loci-pass-N.so) is not in %s/../lib/loci: install loci "
		"whole, or build it where LLVM's headers are (apt install clang-14 llvm-14-dev)",
		self);
}

int loci_toolchain_dir(char dir[PATH_MAX], struct loci_err *err)
{
	char self[PATH_MAX];

	if (find_dir(dir, self, has_runtime, NULL))
		return 0;
	return loci_err_set(err, ENOENT,
		"the runtime that programs are linked to, libloci-rt.so, is not in %s/../lib/loci: "
		"install loci whole",
		self);
}

int loci_toolchain_ask(char *const argv[], char *text, size_t size)
{
	size_t used = 0;
	int fds[2], status = -1;
	ssize_t n;
	pid_t pid;

	text[0] = 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		execv(argv[0], argv);
		_Exit(LOCI_PROGRAM_NOT_FOUND);
	}
	close(fds[1]);
	while (pid > 0 && used < size - 1 && (n = read(fds[0], text + used, size - 1 - used)) != 0)
		if (n > 0)
			used += (size_t)n;
		else if (errno != EINTR)
			break;
	text[used] = 0;
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* "Debian clang version 14.0.6" -> 14; 0 where the program says something else. */
static unsigned ask_version(char *clang)
{
	static const char word[] = "clang version ";
	char *argv[] = { clang, "--version", NULL };
	char text[512];
	unsigned version = 0;
	const char *at;

	loci_toolchain_ask(argv, text, sizeof(text));
	at = strstr(text, word);
	return at && sscanf(at + strlen(word), "%u", &version) == 1 ? version : 0;
}

static int take(struct loci_toolchain *toolchain, unsigned version, struct loci_err *err)
{
	toolchain->version = version;
	if (snprintf(toolchain->plugin, sizeof(toolchain->plugin), "%s/loci-pass-%u.so",
		    toolchain->dir, version) >= (int)sizeof(toolchain->plugin) ||
		access(toolchain->plugin, R_OK) < 0)
		return loci_err_set(err, errno, "loci's pass %s cannot be read: %s",
			toolchain->plugin, strerror(errno));
	return 0;
}

static int no_pass(const struct loci_toolchain *toolchain, const struct passes *passes,
	unsigned version, struct loci_err *err)
{
	char all[128];

	return loci_err_set(err, EPROTO,
		"loci was built with passes for clang %s; found clang %u (%s): install clang-%u "
		"(apt install clang-%u), or build loci where llvm-%u-dev is",
		listed(passes, "and", all), version, toolchain->clang, passes->version[0],
		passes->version[0], version);
}

static int find_named(struct loci_toolchain *toolchain, const struct passes *passes,
	const char *named, struct loci_err *err)
{
	char name[64];
	unsigned version;
	int r;

	if (named[0] && !named[strspn(named, "0123456789")]) {
		snprintf(name, sizeof(name), "clang-%.32s", named);
		named = name;
	}
	r = loci_program_find(named, toolchain->clang);
	if (r < 0)
		return loci_err_set(err, -r, "there is no compiler %s: %s", named, strerror(-r));
	version = ask_version(toolchain->clang);
	if (!version)
		return loci_err_set(err, ENOEXEC,
			"%s is no clang, or does not run: loci cc compiles with clang",
			toolchain->clang);
	if (!holds(passes, version))
		return no_pass(toolchain, passes, version, err);
	return take(toolchain, version, err);
}

/* As Debian and its kin name them. */
static bool find_version(struct loci_toolchain *toolchain, unsigned version)
{
	char name[32];

	snprintf(name, sizeof(name), "clang-%u", version);
	return loci_program_find(name, toolchain->clang) == 0;
}

int loci_toolchain_find(struct loci_toolchain *ret, const char *named, struct loci_err *err)
{
	struct passes passes;
	unsigned version;
	char all[128];
	int r;

	*ret = (struct loci_toolchain){ 0 };
	r = find_passes(ret, &passes, err);
	if (r < 0)
		return r;
	if (named)
		return find_named(ret, &passes, named, err);
	for (size_t i = 0; i < passes.n; i++)
		if (find_version(ret, passes.version[i]))
			return take(ret, passes.version[i], err);
	version = loci_program_find("clang", ret->clang) == 0 ? ask_version(ret->clang) : 0;
	if (version && holds(&passes, version))
		return take(ret, version, err);
	if (version)
		return no_pass(ret, &passes, version, err);
	return loci_err_set(err, ENOENT,
		"loci cc compiles with clang %s, and there is none in PATH: apt install clang-%u",
		listed(&passes, "or", all), passes.version[0]);
}

int loci_toolchain_file(
	const char *dir, const char *file, char path[PATH_MAX], struct loci_err *err)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, file) >= PATH_MAX)
		return loci_err_set(err, ENAMETOOLONG, "%s/%s: too long", dir, file);
	if (access(path, R_OK) < 0)
		return loci_err_set(err, errno,
			"the runtime that programs are linked to, %s: %s; install loci whole", path,
			strerror(errno));
	return 0;
}

int loci_toolchain_try(struct loci_toolchain *toolchain, struct loci_err *err)
{
	char option[PATH_MAX + 32], path[PATH_MAX], text[512];
	char *argv[] = { toolchain->clang, option, "-x", "c", "-c", "/dev/null", "-o", "/dev/null",
		NULL };
	int r = loci_toolchain_file(toolchain->dir, "libloci-rt.so", path, err);

	if (r < 0)
		return r;
	snprintf(option, sizeof(option), "-fpass-plugin=%s", toolchain->plugin);
	if (loci_toolchain_ask(argv, text, sizeof(text)) == 0)
		return 0;
	text[strcspn(text, "\n")] = 0;
	return loci_err_set(err, ENOEXEC,
		"%s does not take loci's pass: %s; use the distribution's clang-%u, or build loci "
		"with this one's LLVM",
		toolchain->clang, text, toolchain->version);
}

bool loci_toolchain_has_lld(const struct loci_toolchain *toolchain)
{
	char real[PATH_MAX], path[PATH_MAX + sizeof("ld.lld")];

	if (toolchain->version < LLD_LOADS || !realpath(toolchain->clang, real))
		return false;
	*strrchr(real, '/') = 0;
	snprintf(path, sizeof(path), "%s/ld.lld", real);
	return access(path, X_OK) == 0;
}
