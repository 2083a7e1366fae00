// SPDX-License-Identifier: GPL-2.0-or-later
/* A pass is made for one major version of LLVM, whose interface for C++ changes with each. The
 * distributions' clang-N and flang-N are taken by their name, since to ask each time would cost as
 * much as a small compilation; any other compiler is asked. */
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
#define NAMES_MAX  2

/* How the compilers are called, and call themselves. Until version 19 flang was flang-new: the name
 * was another compiler's. */
static const struct family {
	const char *name, *command;
	const char *numbered[NAMES_MAX]; /* as Debian and its kin name them */
	const char *plain[NAMES_MAX];
	const char *banner[NAMES_MAX]; /* what stands before the version */
	unsigned first;                /* version that loads passes */
	const char *language;          /* for -x */
} families[] = {
	[LOCI_CLANG] = { "clang", "cc", { "clang-%u" }, { "clang" }, { "clang version " }, 0, "c" },
	[LOCI_FLANG] = { "flang", "flang", { "flang-%u", "flang-new-%u" }, { "flang", "flang-new" },
		{ "flang version ", "flang-new version " }, 16, "f95" },
	[LOCI_GCC] = { .name = "gcc", .command = "gcc" },
};

const char *loci_compiler_name(enum loci_compiler compiler)
{
	return families[compiler].name;
}

/* From the directory of this program: the build tree, and as installed. */
static const char *const pass_dirs[] = { "lib/loci", "../lib/loci", "../lib/x86_64-linux-gnu/loci",
	"../lib64/loci" };

/* The versions that there are passes for, the newest first. */
struct passes {
	unsigned version[PASSES_MAX];
	size_t n;
	unsigned first; /* of use */
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

/* Those that compilers of a family may load. */
static void list_passes(const char *dir, unsigned first, struct passes *passes)
{
	DIR *list = opendir(dir);
	struct dirent *entry;

	passes->n = 0;
	while (list && (entry = readdir(list))) {
		unsigned version;
		int end = 0;

		if (sscanf(entry->d_name, "loci-pass-%u.so%n", &version, &end) == 1 && end > 0 &&
			!entry->d_name[end] && version >= first)
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

/* Looks into each directory that there is, until one serves. */
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
	struct passes *passes = data;

	list_passes(dir, passes->first, passes);
	return passes->n > 0;
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
	const struct family *family = &families[toolchain->compiler];
	char self[PATH_MAX];

	passes->first = family->first;
	if (find_dir(toolchain->dir, self, has_passes, passes))
		return 0;
	return loci_err_set(err, ENOENT,
		"loci's pass for %s (loci-pass-N.so) is not in %s/../lib/loci: install loci "
		"whole, or build it where LLVM's headers are (apt install %s)",
		family->name, self,
		toolchain->compiler == LOCI_FLANG ? "flang-19 llvm-19-dev"
						  : "clang-14 llvm-14-dev");
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
		close(STDIN_FILENO);
		open("/dev/null", O_RDONLY);
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
static unsigned ask_version(struct loci_toolchain *toolchain)
{
	const char *const *banner = families[toolchain->compiler].banner;
	char *argv[] = { toolchain->program, "--version", NULL };
	char text[512];
	unsigned version = 0;

	loci_toolchain_ask(argv, text, sizeof(text));
	for (size_t i = 0; i < NAMES_MAX && banner[i]; i++) {
		const char *at = strstr(text, banner[i]);

		if (at && sscanf(at + strlen(banner[i]), "%u", &version) == 1)
			return version;
	}
	return 0;
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
	const char *name = loci_compiler_name(toolchain->compiler);
	char all[128];

	return loci_err_set(err, EPROTO,
		"loci was built with passes for %s %s; found %s %u (%s): install %s-%u "
		"(apt install %s-%u), or build loci where llvm-%u-dev is",
		name, listed(passes, "and", all), name, version, toolchain->program, name,
		passes->version[0], name, passes->version[0], version);
}

static bool find_version(struct loci_toolchain *toolchain, unsigned version)
{
	const char *const *numbered = families[toolchain->compiler].numbered;

	for (size_t i = 0; i < NAMES_MAX && numbered[i]; i++) {
		char name[32];

		snprintf(name, sizeof(name), numbered[i], version);
		if (loci_program_find(name, toolchain->program) == 0)
			return true;
	}
	return false;
}

/* 0 or -errno. */
static int find_program(struct loci_toolchain *toolchain, const char *named)
{
	unsigned version;
	int end = 0;

	if (sscanf(named, "%8u%n", &version, &end) == 1 && !named[end])
		return find_version(toolchain, version) ? 0 : -ENOENT;
	return loci_program_find(named, toolchain->program);
}

static int find_named(struct loci_toolchain *toolchain, const struct passes *passes,
	const char *named, struct loci_err *err)
{
	const struct family *family = &families[toolchain->compiler];
	bool number = !named[strspn(named, "0123456789")];
	unsigned version;
	int r = find_program(toolchain, named);

	if (r < 0)
		return loci_err_set(err, -r, "there is no compiler %s%s%s: %s",
			number ? family->name : "", number ? "-" : "", named, strerror(-r));
	/* A number stands in its name too, and is believed as where none is named. */
	version = number ? (unsigned)strtoul(named, NULL, 10) : ask_version(toolchain);
	if (!version)
		return loci_err_set(err, ENOEXEC,
			"%s is no %s, or does not run: loci %s compiles with %s",
			toolchain->program, family->name, family->command, family->name);
	if (!holds(passes, version))
		return no_pass(toolchain, passes, version, err);
	return take(toolchain, version, err);
}

/* The first without a number in its name that is one: its version, or 0. */
static unsigned find_plain(struct loci_toolchain *toolchain)
{
	const char *const *plain = families[toolchain->compiler].plain;
	unsigned version = 0;

	for (size_t i = 0; i < NAMES_MAX && plain[i] && !version; i++)
		if (loci_program_find(plain[i], toolchain->program) == 0)
			version = ask_version(toolchain);
	return version;
}

int loci_toolchain_find(struct loci_toolchain *ret, enum loci_compiler compiler, const char *named,
	struct loci_err *err)
{
	const struct family *family = &families[compiler];
	struct passes passes;
	unsigned version;
	char all[128];
	int r;

	*ret = (struct loci_toolchain){ .compiler = compiler };
	r = find_passes(ret, &passes, err);
	if (r < 0)
		return r;
	if (named)
		return find_named(ret, &passes, named, err);
	for (size_t i = 0; i < passes.n; i++)
		if (find_version(ret, passes.version[i]))
			return take(ret, passes.version[i], err);
	version = find_plain(ret);
	if (version && holds(&passes, version))
		return take(ret, version, err);
	if (version)
		return no_pass(ret, &passes, version, err);
	return loci_err_set(err, ENOENT,
		"loci %s compiles with %s %s, and there is none in PATH: apt install %s-%u",
		family->command, family->name, listed(&passes, "or", all), family->name,
		passes.version[0]);
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

/* flang takes /dev/null neither for a source nor for an output. */
int loci_toolchain_try(struct loci_toolchain *toolchain, struct loci_err *err)
{
	const struct family *family = &families[toolchain->compiler];
	char option[PATH_MAX + 32], path[PATH_MAX], text[512], *why;
	char *argv[] = { toolchain->program, option, "-x", (char *)family->language, "-S", "-",
		"-o", "-", NULL };
	int r = loci_toolchain_file(toolchain->dir, "libloci-rt.so", path, err);

	if (r < 0)
		return r;
	snprintf(option, sizeof(option), "-fpass-plugin=%s", toolchain->plugin);
	if (loci_toolchain_ask(argv, text, sizeof(text)) == 0)
		return 0;
	why = strstr(text, "error: ") ?: text;
	why[strcspn(why, "\n")] = 0;
	return loci_err_set(err, ENOEXEC,
		"%s does not take loci's pass: %s; use the distribution's %s-%u, or build loci "
		"with this one's LLVM",
		toolchain->program, why, family->name, toolchain->version);
}

bool loci_toolchain_has_lld(const struct loci_toolchain *toolchain)
{
	char real[PATH_MAX], path[PATH_MAX + sizeof("ld.lld")];

	if (toolchain->version < LLD_LOADS || !realpath(toolchain->program, real))
		return false;
	*strrchr(real, '/') = 0;
	snprintf(path, sizeof(path), "%s/ld.lld", real);
	return access(path, X_OK) == 0;
}
