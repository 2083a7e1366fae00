// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cleanup.h"
#include "collect/run_control.h"
#include "collect/run_state.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static bool has_pid(const pid_t *pids, unsigned n, pid_t pid)
{
	while (n > 0)
		if (pids[--n] == pid)
			return true;
	return false;
}

/* Processes that left this word instead of a ring; once each, whatever they became by exec. */
static unsigned count_word(const struct loci_runner *runner, const char *word)
{
	DIR *dir = opendir(loci_rundir_path(runner->dir));
	loci_autofree pid_t *pids = NULL;
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned image;
		int end = 0;
		pid_t pid, *larger;

		if (sscanf(entry->d_name, "%d.%u%n", &pid, &image, &end) != 2 ||
			strcmp(entry->d_name + end, word) != 0 || has_pid(pids, n, pid) ||
			(!runner->follow && pid != runner->pid))
			continue;
		larger = realloc(pids, (n + 1) * sizeof(*pids));
		if (!larger)
			break;
		pids = larger;
		pids[n++] = pid;
	}
	if (dir)
		closedir(dir);
	return n;
}

int loci_runner_say_unheard(struct loci_runner *runner, struct loci_err *err)
{
	unsigned n = runner->asked ? 0 : count_word(runner, LOCI_RUN_UNHEARD);

	runner->asked = true;
	if (!n)
		return 0;
	return loci_err_set(err, ENOSPC,
		"%u process%s not recorded: no room for the ring in %.*s; make room there, or name "
		"another directory in TMPDIR",
		n, n == 1 ? " was" : "es were",
		(int)(strrchr(loci_rundir_path(runner->dir), '/') - loci_rundir_path(runner->dir)),
		loci_rundir_path(runner->dir));
}

unsigned loci_runner_unwatched(const struct loci_runner *runner)
{
	return count_word(runner, LOCI_RUN_UNWATCHED);
}

/* The first line of Valgrind's log that holds the text, without what stands before it. */
static bool find_line(FILE *log, const char *text, char *line, size_t size)
{
	rewind(log);
	while (fgets(line, (int)size, log)) {
		line[strcspn(line, "\n")] = 0;
		if (strstr(line, text)) {
			memmove(line, strstr(line, text), strlen(strstr(line, text)) + 1);
			return true;
		}
	}
	return false;
}

/* Valgrind 3.19 gives up, before the program begins, on what some compilers write (clang 14's DWARF
 * 5 of several files). It names the file in quotes two lines further. */
static bool find_unreadable(FILE *log, char *line, size_t size)
{
	char *name;

	if (!find_line(log, "debuginfo reader: ", line, size))
		return false;
	while (fgets(line, (int)size, log))
		if ((name = strstr(line, "Valgrind:   \""))) {
			name += strlen("Valgrind:   \"");
			name[strcspn(name, "\"\n")] = 0;
			memmove(line, name, strlen(name) + 1);
			return true;
		}
	snprintf(line, size, "a file");
	return true;
}

static void complain_any(struct loci_runner *runner)
{
	int status = runner->watch.status;
	bool is_own = WIFSIGNALED(status) && WTERMSIG(status) == SIGILL;
	loci_autofclose FILE *log = fdopen(dup(runner->log), "r");
	char line[256];

	if (log && (is_own || runner->streams > 1) &&
		find_line(log, "unhandled instruction", line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint),
			"Valgrind %s does not know an instruction of %s (%s), most likely of "
			"AVX-512: build it without (-march=x86-64-v3, or -mno-avx512f)",
			runner->version,
			is_own ? "this program" : "a program that this one started", line);
	else if (log && find_unreadable(log, line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint),
			"Valgrind %s cannot read the debug information of %s and gave up: build it "
			"with -gdwarf-4, or with CC='loci cc'",
			runner->version, line);
	else if (!runner->streams && log && find_line(log, "loci: ", line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint), "the collector says: %s",
			line + strlen("loci: "));
	else if (!runner->streams && log && find_line(log, "valgrind: ", line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint), "Valgrind says: %s",
			line + strlen("valgrind: "));
	else if (!runner->streams)
		snprintf(runner->complaint, sizeof(runner->complaint),
			"the collector sent nothing: loci doctor looks for the reason");
}

/* What the dynamic linker ends with when it cannot load a library; it has said which. */
#define NO_LIBRARY 127

static void complain_cc(struct loci_runner *runner)
{
	const struct loci_instrumented *program = &runner->program;
	const char *by = program->by_gcc ? "gcc" : "cc";
	int status = runner->watch.status;

	if (runner->streams)
		return;
	if (!program->found)
		snprintf(runner->complaint, sizeof(runner->complaint),
			"%s was built without loci cc or loci gcc, and so was all that it started: "
			"build it again with CC='loci cc', or leave --collector out to use "
			"Valgrind",
			runner->program_name);
	else if (program->needs_runtime && WIFEXITED(status) && WEXITSTATUS(status) == NO_LIBRARY)
		snprintf(runner->complaint, sizeof(runner->complaint),
			"%s was built by loci %s and needs " LOCI_RUNTIME_NAME
			", which the dynamic linker most likely did not find: install loci where "
			"it was, put its directory into LD_LIBRARY_PATH, or link again",
			runner->program_name, by);
	else
		snprintf(runner->complaint, sizeof(runner->complaint),
			"%s was built by loci %s, but nothing arrived: did it end before its first "
			"function, or was it linked without loci %s? (loci doctor tries a program)",
			runner->program_name, by, by);
}

const char *loci_runner_complaint(struct loci_runner *runner)
{
	runner->complaint[0] = 0;
	if (loci_collector_is_inside(runner->collector))
		complain_cc(runner);
	else
		complain_any(runner);
	return runner->complaint;
}
