// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/probe.h"

#include "base/cleanup.h"
#include "collect/instrumented.h"
#include "stream/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#define PROGRAM "/bin/true"
#define WORDS   4096
#define REFS    256

static void free_decoder(struct loci_decoder **decoder)
{
	loci_decoder_free(*decoder);
}

static int count(struct loci_source *source, uint64_t *ret_references, struct loci_err *err)
{
	loci_cleanup(free_decoder) struct loci_decoder *decoder = NULL;
	struct loci_ref refs[REFS];
	struct loci_event event;
	uint64_t words[WORDS];
	int r = loci_decoder_new(&decoder, err);
	ssize_t n;

	while (r == 0 && (n = source->ops->read(source, words, WORDS, err)) != 0) {
		size_t pos = 0, n_refs;

		r = n < 0 ? (int)n : 0;
		while (r == 0 && pos < (size_t)n) {
			r = loci_decoder_next(
				decoder, words, (size_t)n, &pos, refs, REFS, &n_refs, &event, err);
			for (size_t i = 0; i < n_refs; i++)
				*ret_references += refs[i].op < LOCI_OP_FRAME;
		}
	}
	return r;
}

/* One process, so it may be read by this very thread. */
static int read_run(struct loci_runner *runner, uint64_t *ret_references, struct loci_err *err)
{
	struct loci_source *source;
	int r;

	while ((r = loci_runner_next(runner, &source, err)) == 0 && source) {
		r = count(source, ret_references, err);
		loci_source_close(source);
		if (r < 0)
			return r;
	}
	return r;
}

static int judge(
	struct loci_runner *runner, const char *program, uint64_t references, struct loci_err *err)
{
	int status = loci_runner_status(runner);
	const char *complaint = loci_runner_complaint(runner);

	if (complaint[0])
		return loci_err_set(err, EIO, "%s", complaint);
	if (WIFSIGNALED(status))
		return loci_err_set(err, EIO, "%s was ended by signal %d (SIG%s) under it", program,
			WTERMSIG(status), sigabbrev_np(WTERMSIG(status)) ?: "?");
	if (status)
		return loci_err_set(
			err, EIO, "%s ended with status %d under it", program, WEXITSTATUS(status));
	return references ? 0 : loci_err_set(err, EIO, "no reference of %s arrived", program);
}

static int try_run(const struct loci_run_options *options, const char *program,
	uint64_t *ret_references, struct loci_err *err)
{
	struct loci_runner *runner = NULL;
	int status, r = loci_runner_start(options, &runner, &status, err);

	*ret_references = 0;
	if (r == 0)
		r = read_run(runner, ret_references, err);
	if (r == 0)
		r = judge(runner, program, *ret_references, err);
	loci_runner_free(runner);
	return r;
}

int loci_probe_any(struct loci_launch *ret_launch, uint64_t *ret_references, struct loci_err *err)
{
	char *argv[] = { PROGRAM, NULL };
	struct loci_run_options options = { .argv = argv, .launch = ret_launch };
	int r = loci_launch_find(ret_launch, err);

	*ret_references = 0;
	return r < 0 ? r : try_run(&options, PROGRAM, ret_references, err);
}

static const char text[] = "static volatile int a[100];\n"
			   "int main(void)\n"
			   "{\n"
			   "	for (int i = 0; i < 100; i++)\n"
			   "		a[i] = i;\n"
			   "	return a[0];\n"
			   "}\n";

struct recipe {
	char *compiler;
	const char *added; /* what makes it loci's */
	const char *dir;   /* of the runtime */
	enum loci_collector collector;
};

static int compile(
	const struct recipe *recipe, const char *source, const char *program, struct loci_err *err)
{
	char runtime[PATH_MAX];
	char *argv[] = { recipe->compiler, (char *)recipe->added, "-O1", (char *)source, "-o",
		(char *)program, runtime, NULL };
	posix_spawn_file_actions_t quiet;
	int status = 0, r = loci_toolchain_file(recipe->dir, LOCI_RUNTIME_NAME, runtime, err);
	pid_t pid;

	if (r < 0)
		return r;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawn(&pid, argv[0], &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	while (r == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return r || status || access(program, X_OK) < 0
		? loci_err_set(err, EIO,
			  "%s does not compile a small program with loci's %s: try loci %s on "
			  "one, it shows why",
			  recipe->compiler,
			  recipe->collector == LOCI_COLLECTOR_GCC ? "specs" : "pass",
			  recipe->collector == LOCI_COLLECTOR_GCC ? "gcc" : "cc")
		: 0;
}

/* Both files are the caller's to remove. */
static int compile_and_run(const struct recipe *recipe, const char *source, char *program,
	uint64_t *ret_references, struct loci_err *err)
{
	char *argv[] = { program, NULL };
	struct loci_run_options options = { .argv = argv, .collector = recipe->collector };
	loci_autofclose FILE *file = fopen(source, "w");
	int r;

	if (!file || fputs(text, file) < 0 || fflush(file) != 0)
		return loci_err_set(err, errno, "%s: cannot write: %s", source, strerror(errno));
	r = compile(recipe, source, program, err);
	return r < 0 ? r : try_run(&options, "a small program", ret_references, err);
}

static int try_recipe(const struct recipe *recipe, uint64_t *ret_references, struct loci_err *err)
{
	const char *base = getenv("TMPDIR");
	char dir[PATH_MAX], source[PATH_MAX + 16], program[PATH_MAX + 16];
	int r;

	snprintf(dir, sizeof(dir), "%s/loci-probe-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(dir))
		return loci_err_set(err, errno, "%s: cannot create: %s", dir, strerror(errno));
	snprintf(source, sizeof(source), "%s/probe.c", dir);
	snprintf(program, sizeof(program), "%s/probe", dir);
	r = compile_and_run(recipe, source, program, ret_references, err);
	unlink(source);
	unlink(program);
	rmdir(dir);
	return r;
}

int loci_probe_cc(
	struct loci_toolchain *ret_toolchain, uint64_t *ret_references, struct loci_err *err)
{
	char pass[PATH_MAX + 32];
	int r = loci_toolchain_find(ret_toolchain, LOCI_CLANG, NULL, err);

	*ret_references = 0;
	if (r == 0)
		r = loci_toolchain_try(ret_toolchain, err);
	if (r < 0)
		return r;
	snprintf(pass, sizeof(pass), "-fpass-plugin=%s", ret_toolchain->plugin);
	return try_recipe(&(struct recipe){ ret_toolchain->program, pass, ret_toolchain->dir,
				  LOCI_COLLECTOR_CC },
		ret_references, err);
}

int loci_probe_gcc(
	struct loci_gcc_toolchain *ret_gcc, uint64_t *ret_references, struct loci_err *err)
{
	char specs[PATH_MAX + 32];
	int r = loci_gcc_toolchain_find(ret_gcc, "gcc", NULL, true, err);

	*ret_references = 0;
	if (r < 0)
		return r;
	snprintf(specs, sizeof(specs), "-specs=%s", ret_gcc->specs);
	return try_recipe(
		&(struct recipe){ ret_gcc->compiler, specs, ret_gcc->dir, LOCI_COLLECTOR_GCC },
		ret_references, err);
}
