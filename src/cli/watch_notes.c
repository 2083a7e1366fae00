// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch_notes.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BY_REGISTERS "watch by registers instead (--watch-by registers)"
#define BY_PAGES     "watch by pages instead (--watch-by pages)"

static const struct {
	const char *what, *remedy;
} stops[LOCI_STOPS] = {
	[LOCI_STOP_IO_URING] = { "the program called io_uring_setup", BY_REGISTERS },
	[LOCI_STOP_AIO] = { "the program called io_setup", BY_REGISTERS },
	[LOCI_STOP_USERFAULTFD] = { "the program called userfaultfd", BY_REGISTERS },
	[LOCI_STOP_FILTER] = { "the program filtered system calls (seccomp)", BY_REGISTERS },
	[LOCI_STOP_DISPATCH] = { "the program had system calls sent to itself (prctl)",
		BY_REGISTERS },
	[LOCI_STOP_CALL] = { "the program made a system call of another kind", BY_REGISTERS },
	[LOCI_STOP_PLACES] = { "system calls were made at too many places", BY_REGISTERS },
	[LOCI_STOP_STACK] = { "the program ran on a stack of its own making (coroutines)",
		BY_REGISTERS },
	[LOCI_STOP_SIGNAL] = { "the program, which blocked SIGSEGV, SIGTRAP or SIGSYS, let them "
			       "through in a call that waits",
		BY_REGISTERS },
	[LOCI_STOP_CLONE] = { "the program made a thread without the C library", BY_REGISTERS },
	[LOCI_STOP_THREADS] = { "the program had too many threads at once", BY_REGISTERS },
	[LOCI_STOP_DESCRIPTORS] = { "the program closed, or used up, the file descriptors of debug "
				    "registers",
		BY_PAGES },
	[LOCI_STOP_INHERITED] = { "the program started another one that is to find SIGSEGV, "
				  "SIGTRAP "
				  "or SIGSYS blocked or ignored",
		BY_REGISTERS },
	[LOCI_STOP_FILES] = { "no file descriptors were left",
		"allow more file descriptors (ulimit -n), or " BY_REGISTERS },
	[LOCI_STOP_ACTION] = { "the program set what becomes of SIGSEGV, SIGTRAP or SIGSYS without "
			       "the C library",
		BY_REGISTERS },
};

__attribute__((format(printf, 2, 3))) static void note(
	struct loci_analysis *analysis, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	loci_analysis_note(analysis, text);
}

static const char *failing(bool by_pages, int error)
{
	if (error == EMFILE || error == ENFILE)
		return "allow more file descriptors (ulimit -n)";
	if (by_pages)
		return error == ENOSYS ? "the kernel is older than 5.11, or a sandbox forbids it"
				       : BY_REGISTERS;
	switch (error) {
	case EPERM:
	case EACCES:
		return "allow it (sysctl kernel.perf_event_paranoid=2), or watch by pages "
		       "(--watch-by pages)";
	case ENOSPC:
		return "a debugger has them all; " BY_PAGES;
	case EOPNOTSUPP:
		return "the kernel is older than 5.13; " BY_PAGES;
	default:
		return BY_PAGES;
	}
}

static const char *reason(int error)
{
	return error == EMFILE ? "no file descriptors are left" : strerror(error);
}

static void note_failed(const struct loci_run_watching *run,
	const struct loci_control_watching *took, struct loci_analysis *analysis)
{
	bool is_everywhere = took->entered && took->unwatched == took->entered;
	int error = -(int)took->failed;

	note(analysis, "%s (%s): only reuses within %u references are known%s; %s",
		is_everywhere ? "nothing could be watched" : "a process could not be watched",
		reason(error), run->burst_refs, is_everywhere ? "" : " of it",
		failing(run->by == LOCI_CONTROL_PAGES, error));
}

static void note_stopped(const struct loci_control_watching *took, struct loci_analysis *analysis)
{
	unsigned why = took->stop < LOCI_STOPS ? took->stop : LOCI_STOP_NONE;
	uint64_t ns = took->stop_ns > took->began_ns ? took->stop_ns - took->began_ns : 0;
	char seconds[LOCI_UNITS_MAX], more[64] = "";

	if (took->n_stopped > 1)
		snprintf(more, sizeof(more), " (the first of %" PRIu32 " processes)",
			took->n_stopped);
	note(analysis,
		"watching of a process stopped when %s, %s into the run%s: its samples after that "
		"tell short reuses only; of those whose reuse was not short %" PRIu64 " of %" PRIu64
		" were not watched, and others stand for them, as far as any do; %s",
		stops[why].what ? stops[why].what : "the program did what loci does not know",
		loci_units_seconds(seconds, (double)ns / 1e9), more, took->unwatched, took->entered,
		stops[why].remedy ? stops[why].remedy : BY_REGISTERS);
}

static const char *why_fewer(int error)
{
	switch (error) {
	case ENOSPC:
		return "a debugger has the others";
	case EMFILE:
	case ENFILE:
		return "no file descriptors are left; allow more (ulimit -n)";
	default:
		return strerror(error);
	}
}

void loci_watch_notes(const struct loci_run_watching *run, const struct loci_control_watching *took,
	struct loci_analysis *analysis)
{
	if (took->failed)
		note_failed(run, took, analysis);
	if (took->n_stopped)
		note_stopped(took, analysis);
	if (took->fewest && took->fewer_for)
		note(analysis,
			"%" PRIu32 " of %u debug registers could be had (%s): fewer samples tell "
			"of far reuses",
			took->fewest, run->watches, why_fewer(-(int)took->fewer_for));
	if (took->missed_threads)
		note(analysis,
			"%" PRIu32 " threads were there before watching began and are not watched: "
			"reuses by them are missed; let loci start with the program, allow more "
			"file descriptors (ulimit -n), or choose --watch-by pages",
			took->missed_threads);
}
