// SPDX-License-Identifier: GPL-2.0-or-later
/* loci record: runs a program and makes a profile of what it did. */
#include "cli/command.h"
#include "cli/counting.h"
#include "cli/crew.h"
#include "cli/liveline.h"
#include "cli/product.h"
#include "cli/record_args.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "collect/gate.h"
#include "collect/launch.h"
#include "collect/program.h"
#include "collect/run.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define KILL_SECONDS 1.0 /* a second Ctrl-C within this time of the first kills */

/* Between the main thread and the handler. */
static struct {
	struct loci_runner *runner;
	volatile sig_atomic_t ended; /* the program */
	volatile sig_atomic_t stop;  /* reading what is left */
	volatile sig_atomic_t early; /* toggled before the runner was known */
	int toggle;                  /* the signal that turns recording on and off; 0: none */
	double interrupted_s;
} live;

/* The terminal sends a Ctrl-C to the program too; what another process sends comes to us alone, as
 * far as one can know. When the program is gone there is only our own work to cut short, and a
 * further signal ends it at once. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (number == live.toggle && !live.runner) {
		live.early = !live.early;
	} else if (number == live.toggle) {
		loci_runner_toggle(live.runner);
	} else if (live.ended) {
		live.stop = number;
		signal(number, SIG_DFL);
	} else if (info->si_code != SI_KERNEL) {
		loci_runner_signal(live.runner, number);
	}
	if (!live.ended && number == SIGINT) {
		double now = loci_product_seconds();

		if (live.interrupted_s > 0 && now - live.interrupted_s < KILL_SECONDS)
			loci_runner_signal(live.runner, SIGKILL);
		live.interrupted_s = now;
	}
	errno = saved;
}

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* The program may send it at once. */
static void catch_toggle(int toggle)
{
	struct sigaction action = { .sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART };

	live.toggle = toggle;
	if (toggle)
		sigaction(toggle, &action, NULL);
}

/* What the program would ignore it goes on ignoring. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction old;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(passed_on); i++)
		if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(passed_on[i], &action, NULL);
	if (live.early)
		loci_runner_toggle(live.runner);
}

/* ./prog -> prog.loci */
static char *default_output(const char *program)
{
	const char *base = strrchr(program, '/');
	char *output;

	return asprintf(&output, "%s.loci", base ? base + 1 : program) < 0 ? NULL : output;
}

/* The command as a person would type it again. */
static char *join(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (; *argv; argv++) {
		bool plain = **argv && !strpbrk(*argv, " \t\n'\"\\$`*?[]<>|&;(){}#~!");

		fputs(plain ? "" : "'", out);
		for (const char *c = *argv; *c; c++)
			fputs(*c == '\'' ? "'\\''" : (char[]){ *c, 0 }, out);
		fputs(plain ? "" : "'", out);
		fputs(argv[1] ? " " : "", out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void say_how(const struct loci_record_args *args, const struct loci_launch *launch)
{
	char size[LOCI_UNITS_MAX];

	loci_units_size(size, args->analyse.n_block_bytes ? args->analyse.block_bytes[0] : 64);
	if (args->sample.wanted) {
		fprintf(stderr,
			"loci: samples, one in %" PRIu64
			" references%s, %s-byte blocks, seed %" PRIu64 ", cc collector\n",
			args->sample.run.period,
			args->sample.run.doubling ? ", less often as the run grows" : "", size,
			args->sample.run.seed);
		return;
	}
	if (args->watching.wanted) {
		loci_watch_run_say(&args->watching, size);
		return;
	}
	if (args->run.collector == LOCI_COLLECTOR_CC)
		fprintf(stderr, "loci: exact, %s-byte blocks, cc collector\n", size);
	else if (args->run.collector == LOCI_COLLECTOR_GCC)
		fprintf(stderr,
			"loci: exact distances of what gcc tells, %s-byte blocks, gcc collector\n",
			size);
	else
		fprintf(stderr,
			"loci: exact, %s-byte blocks, Valgrind %.*s collector (about 50x slower "
			"than native)\n",
			size,
			(int)strcspn(strchr(launch->version, '.') + 1, ".") +
				(int)strcspn(launch->version, ".") + 1,
			launch->version);
}

/* Why a program that ran left nothing to analyse. */
static int nothing(
	const struct loci_record_args *args, const struct loci_err *unread, struct loci_err *err)
{
	const char *complaint = loci_runner_complaint(live.runner);
	const struct loci_run_options *run = &args->run;

	if (unread->text[0])
		return loci_err_set(err, ENODATA, "nothing was recorded: %s%s", unread->text,
			strstr(unread->text, "out of memory")
				? "; record less of the program (--only, --duration) or on a "
				  "larger machine"
				: "");
	if (complaint[0])
		return loci_err_set(err, ENODATA, "nothing was recorded: %s", complaint);
	return loci_err_set(err, ENODATA, "nothing was recorded: %s",
		run->start_disabled ? "recording was never turned on (--toggle)"
			: run->only ? "no function of --only made a reference (one that is inlined "
				      "counts as the function it is in)"
			: run->delay_s > 0 ? "the program ended before --delay was over"
			: run->collector == LOCI_COLLECTOR_CC &&
				WIFSIGNALED(loci_runner_status(live.runner)) && loci_gate_runs()
			? "the program died in its first loop, or before; LOCI_RUNS=0 in the "
			  "environment records loops from their beginning"
			: run->collector == LOCI_COLLECTOR_CC
			? "the collector saw no reference (-m count counts operations all the "
			  "same, of what loci cc --loci-ops compiled)"
			: "the collector saw no reference");
}

/* What a reader must know that was left out. */
static void note_part(const struct loci_record_args *args, struct loci_analysis *analysis)
{
	const struct loci_run_options *run = &args->run;
	char text[256], recorded[LOCI_UNITS_MAX], all[LOCI_UNITS_MAX];
	unsigned unwatched = loci_runner_unwatched(live.runner);
	double recorded_s, all_s;

	if (args->choice.unwatched) {
		snprintf(text, sizeof(text),
			"%.80s itself ran unwatched, and so did all that it started that was not "
			"built by loci cc",
			run->argv[0]);
		loci_analysis_note(analysis, text);
	}
	if (unwatched) {
		snprintf(text, sizeof(text),
			"%u program%s ran unwatched: of 32 bits, with the rights of another user, "
			"or not to be read",
			unwatched, unwatched == 1 ? "" : "s");
		loci_analysis_note(analysis, text);
	}
	loci_runner_times(live.runner, &recorded_s, &all_s);
	if (loci_run_has_windows(run)) {
		snprintf(text, sizeof(text),
			"recorded %s of %s: reuses across what was left out look nearer than they "
			"are",
			loci_units_seconds(recorded, recorded_s), loci_units_seconds(all, all_s));
		loci_analysis_note(analysis, text);
	}
	if (run->only) {
		snprintf(text, sizeof(text),
			"of --only %.80s: references of other functions were left out", run->only);
		loci_analysis_note(analysis, text);
	}
	if (run->skip) {
		snprintf(text, sizeof(text),
			"of all but --skip %.80s: references of these functions were left out",
			run->skip);
		loci_analysis_note(analysis, text);
	}
}

/* Streams are read while the program runs; returns when it has ended and all has been read. */
static void follow(struct loci_record_args *args, struct loci_crew *crew)
{
	struct loci_liveline line = { 0 };
	struct loci_source *source;
	struct loci_err err;
	int r;

	crew->program = loci_runner_pid(live.runner);
	crew->order = args->order;
	crew->trace = args->trace;
	crew->terms = args->watching.wanted ? &args->watching.terms : NULL;
	crew->output = args->output;
	do {
		err.text[0] = 0;
		r = loci_runner_next(live.runner, &source, &err);
		if (r < 0)
			loci_err_set(&crew->unread, -r, "%s", err.text);
		if (source && !crew->processes && !args->quiet)
			loci_liveline_begin(&line, crew->analysis, crew->program);
		if (source)
			loci_crew_read(crew, source);
	} while (r < 0 ? r != -ENOMEM : !!source);
	live.ended = 1;
	loci_crew_wait(crew);
	loci_liveline_end(&line);
}

static int conclude(
	struct loci_record_args *args, struct loci_crew *crew, double start, struct loci_err *err)
{
	struct loci_analyse_summary summary;
	const char *complaint;
	int r;

	if (loci_analysis_is_empty(crew->analysis))
		return nothing(args, &crew->unread, err);
	note_part(args, crew->analysis);
	loci_watch_run_note(
		&args->watching, loci_runner_watching(live.runner), crew->analysis, args->verbose);
	if (crew->unread.text[0])
		loci_analysis_miss(crew->analysis, crew->unread.text);
	r = loci_analysis_write(crew->analysis, args->output, &summary, err);
	if (r < 0)
		return r;
	if (!args->quiet)
		loci_product_say(&(struct loci_product_end){ .path = args->output,
			.nouns = "references",
			.summary = &summary,
			.seconds = loci_product_seconds() - start,
			.processes = crew->processes });
	complaint = loci_runner_complaint(live.runner);
	if (complaint[0])
		fprintf(stderr, "loci: %s\n", complaint);
	/* said with the notes, but for -q */
	if (crew->unread.text[0] && args->quiet)
		fprintf(stderr, "loci: %s\n", crew->unread.text);
	if (crew->untraced.text[0])
		return loci_err_set(err, EIO, "%s", crew->untraced.text);
	return 0;
}

/* As the program ended, so that a shell or a make sees no difference. */
static int end_like(int status)
{
	if (WIFSIGNALED(status)) {
		struct rlimit none = { 0 };
		sigset_t one;

		fflush(stderr);
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(status), SIG_DFL);
		sigemptyset(&one);
		sigaddset(&one, WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static void begin_live(const struct loci_record_args *args)
{
	catch_signals();
	loci_product_offline();
	if (args->choice.words[0] && !args->quiet)
		fprintf(stderr, "loci: %s\n", args->choice.words);
}

/* What a count says, or why it says nothing. */
static int say_count(const struct loci_record_args *args, const struct loci_counting *counting,
	struct loci_err *err)
{
	const char *complaint = loci_runner_complaint(live.runner);

	if (complaint[0])
		return loci_err_set(err, ENODATA, "nothing was counted: %s", complaint);
	if (args->quiet)
		return 0;
	fprintf(stderr, "loci: %s%" PRIu64 " references, %u thread%s of %u process%s\n",
		counting->untold ? "at least " : "", counting->references,
		counting->threads + counting->untold,
		counting->threads + counting->untold == 1 ? "" : "s", counting->processes,
		counting->processes == 1 ? "" : "es");
	if (counting->untold)
		fprintf(stderr, "loci: %u of the threads ended before they told their number\n",
			counting->untold);
	return 0;
}

/* Operations are all that there is to write. */
static int write_count(struct loci_record_args *args, struct loci_analysis *analysis,
	const struct loci_counting *counting, bool asked, struct loci_err *err)
{
	struct loci_analyse_summary summary;
	int r;

	if (!loci_analysis_has_operations(analysis))
		return !asked ? 0
			      : loci_err_set(err, ENODATA,
					"there is nothing to write to %.200s: -m count makes a "
					"profile of operations, and none were counted (compile "
					"with loci cc --loci-ops)",
					args->output);
	if (counting->untold)
		loci_analysis_miss(
			analysis, "some threads ended before they told what they had counted");
	r = loci_analysis_write(analysis, args->output, &summary, err);
	if (r == 0 && !args->quiet)
		fprintf(stderr, "loci: operations: loci ops %s\n", args->output);
	return r;
}

static int count(struct loci_record_args *args, bool asked)
{
	struct loci_counting counting = { 0 };
	struct loci_analysis *analysis = NULL;
	struct loci_err err = { "" };
	int status = LOCI_EXIT_FAILED;
	int r;

	catch_toggle(args->toggle);
	args->analyse.counts = true;
	r = loci_analysis_new(&args->analyse, &analysis, &err);
	if (r == 0)
		r = loci_runner_start(&args->run, &live.runner, &status, &err);
	if (r < 0) {
		loci_analysis_free(analysis);
		loci_fail(&err);
		return status;
	}
	begin_live(args);
	r = loci_counting_read(live.runner, analysis, &counting, &err);
	live.ended = 1;
	status = loci_runner_status(live.runner);
	if (r == 0)
		r = say_count(args, &counting, &err);
	if (r == 0)
		r = write_count(args, analysis, &counting, asked, &err);
	loci_analysis_free(analysis);
	if (r < 0)
		loci_fail(&err);
	if (r < 0 && status == 0)
		status = LOCI_EXIT_FAILED << 8;
	loci_runner_free(live.runner);
	return end_like(status);
}

static int prepare(struct loci_record_args *args, struct loci_launch *launch,
	struct loci_crew *crew, struct loci_err *err)
{
	int r = loci_product_check_files(args->output, args->trace, err);

	if (r == 0 && args->run.collector == LOCI_COLLECTOR_ANY)
		r = loci_launch_find(launch, err);
	if (r == 0)
		r = loci_analysis_new(&args->analyse, &crew->analysis, err);
	args->run.launch = launch;
	return r;
}

static int record(struct loci_record_args *args)
{
	struct loci_launch launch;
	struct loci_crew crew = { 0 };
	struct loci_err err = { "" };
	double start = loci_product_seconds();
	int status = LOCI_EXIT_FAILED, r;

	catch_toggle(args->toggle);
	r = prepare(args, &launch, &crew, &err);
	if (r == 0)
		r = loci_runner_start(&args->run, &live.runner, &status, &err);
	if (r < 0) {
		loci_analysis_free(crew.analysis);
		loci_fail(&err);
		return status;
	}
	loci_sample_attach(&args->sample, live.runner);
	begin_live(args);
	if (args->verbose)
		say_how(args, &launch);
	loci_crew_init(&crew);
	follow(args, &crew);
	status = loci_runner_status(live.runner);
	r = conclude(args, &crew, start, &err);
	if (r < 0)
		loci_fail(&err);
	if (r < 0 && status == 0)
		status = LOCI_EXIT_FAILED << 8;
	loci_crew_fini(&crew);
	loci_analysis_free(crew.analysis);
	loci_runner_free(live.runner);
	return end_like(status);
}

/* Which way, before anything is done. Of a program that is none it matters little how it was built.
 */
static int choose(struct loci_record_args *args)
{
	struct loci_err err = { "" }, cause = { "" };
	int r, status;

	args->run.turns = args->order == LOCI_ORDER_REFS;
	r = loci_choose(args->collector, &args->run, &args->choice, &err);
	args->run.collector = args->choice.collector;
	if (r == 0)
		return -1;
	if (loci_program_check(args->run.argv[0], &status, &cause) == 0)
		return loci_fail(&err);
	loci_fail(&cause);
	return status;
}

int loci_cmd_record(int argc, char **argv)
{
	struct loci_record_args args = {
		.run = { .follow = true },
		.analyse = { .version = LOCI_VERSION,
			.stop = &live.stop,
			.attribute = true,
			.no_sets = true },
		.watching = LOCI_WATCH_RUN_DEFAULTS,
	};
	struct loci_product_host host;
	struct loci_err err = { "" };
	int status = loci_record_parse(argc, argv, &args);

	if (status < 0 && !args.sample.wanted && !args.watching.wanted &&
		loci_product_levels(&args.levels, args.caches, &args.analyse, &err) < 0)
		status = loci_usage("record", "%s", err.text);
	if (status < 0)
		status = choose(&args);
	if (status < 0) {
		bool asked = args.output;

		if (!args.output)
			args.output = default_output(args.run.argv[0]);
		args.command = join(args.run.argv);
		args.analyse.command = args.command;
		loci_product_host(&host, &args.analyse);
		if (!args.output || !args.command)
			loci_err_nomem(&err);
		status = err.text[0]     ? loci_fail(&err)
			: args.run.count ? count(&args, asked)
					 : record(&args);
	}
	free(args.output);
	free(args.command);
	return status;
}
