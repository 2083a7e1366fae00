// SPDX-License-Identifier: GPL-2.0-or-later
/* loci record: runs a program and makes a profile of what it did. */
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/counting.h"
#include "cli/crew.h"
#include "cli/liveline.h"
#include "cli/option.h"
#include "cli/product.h"

#include "base/cleanup.h"
#include "base/replace.h"
#include "base/units.h"
#include "collect/launch.h"
#include "collect/run.h"
#include "version.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define KILL_SECONDS 1.0 /* a second Ctrl-C within this time of the first kills */

static const char help[] =
	"usage: loci record [OPTIONS] [--] PROGRAM [ARGUMENT..]\n"
	"\n"
	"Runs a program, any program, and writes a profile of all its references to memory:\n"
	"the distances of all its reuses, and the code and the data they belong to.\n"
	"\n"
	"  -o FILE               the profile (default: PROGRAM's name with .loci, here)\n"
	"  -b SIZE,..            block sizes, powers of two from 1 to 2M (default: 64)\n"
	"  -m MODE               exact: every reference (default); count: only their number,\n"
	"                        and no profile, of programs built by loci cc\n"
	"      --collector NAME  any: through Valgrind; cc: programs built by loci cc, and those\n"
	"                        that they start (default: cc if the program was built by it)\n"
	"      --cache SPEC      the caches to simulate, as loci cache takes them\n"
	"                        (default: host)\n"
	"      --sets            per-set distances too: slower, every set-associative cache is\n"
	"                        then exact, not only those of --cache\n"
	"      --pairs WHICH     pairs of use and reuse: far (default), all or none\n"
	"      --only FUNCTION,..    record the code of these functions only (* and ? match)\n"
	"      --skip FUNCTION,..    record all code but theirs\n"
	"      --delay SECONDS   begin later\n"
	"      --duration SECONDS    record that long; the program goes on\n"
	"      --start-disabled  record nothing until toggled\n"
	"      --toggle SIGNAL   this signal, sent to loci, turns recording on and off (USR2,\n"
	"                        ..); loci is the program's parent\n"
	"      --no-follow       the program alone, not those it starts\n"
	"      --no-kernel       leave out what system calls read and write for the program\n"
	"      --no-source       leave source lines out of the profile\n"
	"      --max-memory SIZE switch to sampling blocks before using more\n"
	"                        (default: three quarters of what is free)\n"
	"      --trace FILE      keep the references too, for loci analyse; of further\n"
	"                        processes in FILE.PID\n"
	"      --verify[=N]      compare the first N touches with a naive LRU stack\n"
	"                        (default: 100000)\n"
	"  -q                    print errors only\n"
	"  -v                    say how it is recorded\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: the program's own.\n";

struct record_args {
	struct loci_run_options run;
	struct loci_analyse_options analyse;
	struct loci_product_levels levels;
	const char *caches;    /* --cache */
	const char *collector; /* --collector */
	struct loci_choice choice;
	char *output, *command;
	const char *trace;
	bool quiet, verbose;
};

/* Between the main thread and the handler. */
static struct {
	struct loci_runner *runner;
	volatile sig_atomic_t ended; /* the program */
	volatile sig_atomic_t stop;  /* reading what is left */
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
	if (number == live.toggle) {
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

/* What the program would ignore it goes on ignoring. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction old;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(passed_on); i++)
		if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(passed_on[i], &action, NULL);
	if (live.toggle)
		sigaction(live.toggle, &action, NULL);
}

static int parse_seconds(const char *option, const char *text, double *ret, struct loci_err *err)
{
	char *end;

	*ret = strtod(text, &end);
	if (end == text || *end || !isfinite(*ret) || *ret < 0)
		return loci_err_set(err, EINVAL, "%s %s: seconds, such as 2 or 0.5", option, text);
	return 0;
}

static int parse_signal(const char *text, int *ret, struct loci_err *err)
{
	const char *name = !strncasecmp(text, "SIG", 3) ? text + 3 : text;

	for (int i = 1; i < NSIG; i++) {
		char number[8];

		snprintf(number, sizeof(number), "%d", i);
		if (!sigabbrev_np(i) ||
			(strcasecmp(sigabbrev_np(i), name) != 0 && strcmp(number, text) != 0))
			continue;
		if (i == SIGKILL || i == SIGSTOP || i == SIGINT || i == SIGTERM || i == SIGCHLD)
			return loci_err_set(err, EINVAL,
				"--toggle %s: that one has another use; take USR1 or USR2", text);
		*ret = i;
		return 0;
	}
	return loci_err_set(
		err, EINVAL, "--toggle %s: there is no such signal; write USR2, for one", text);
}

static int parse_pairs(const char *text, enum loci_analyse_pairs *ret, struct loci_err *err)
{
	static const char *const names[] = {
		[LOCI_PAIRS_FAR] = "far",
		[LOCI_PAIRS_ALL] = "all",
		[LOCI_PAIRS_NONE] = "none",
	};

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i])) {
			*ret = (enum loci_analyse_pairs)i;
			return 0;
		}
	return loci_err_set(err, EINVAL, "--pairs %s: write far, all or none", text);
}

/* Names that will mean something are told from those that never did. The first n_known are known
 * now. */
static int parse_name(const char *option, const char *text, const char *const names[],
	unsigned n_known, unsigned *ret, struct loci_err *err)
{
	for (unsigned i = 0; names[i]; i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*ret = i;
		if (i < n_known)
			return 0;
		return loci_err_set(err, EINVAL, "%s %s is not in this version; %s and %s are",
			option, text, names[0], names[1]);
	}
	return loci_err_set(err, EINVAL, "%s %s: there is none of that name; write %s or %s",
		option, text, names[0], names[1]);
}

static const char *const modes[] = { "exact", "count", "sample", "watch", NULL };
static const char *const collectors[] = { "any", "cc", "gcc", "watch", "pmu", "step", NULL };

enum {
	OPT_COLLECTOR = 256,
	OPT_CACHE,
	OPT_SETS,
	OPT_PAIRS,
	OPT_ONLY,
	OPT_SKIP,
	OPT_DELAY,
	OPT_DURATION,
	OPT_START_DISABLED,
	OPT_TOGGLE,
	OPT_NO_FOLLOW,
	OPT_NO_KERNEL,
	OPT_NO_SOURCE,
	OPT_MEMORY,
	OPT_TRACE,
	OPT_VERIFY
};

static const struct option long_options[] = {
	{ "collector", required_argument, NULL, OPT_COLLECTOR },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "sets", no_argument, NULL, OPT_SETS },
	{ "pairs", required_argument, NULL, OPT_PAIRS },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "skip", required_argument, NULL, OPT_SKIP },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "start-disabled", no_argument, NULL, OPT_START_DISABLED },
	{ "toggle", required_argument, NULL, OPT_TOGGLE },
	{ "no-follow", no_argument, NULL, OPT_NO_FOLLOW },
	{ "no-kernel", no_argument, NULL, OPT_NO_KERNEL },
	{ "no-source", no_argument, NULL, OPT_NO_SOURCE },
	{ "max-memory", required_argument, NULL, OPT_MEMORY },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "verify", optional_argument, NULL, OPT_VERIFY },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* How and what: the options of the analysis. 1: not one of them. */
static int parse_analysis(int option, struct record_args *args, struct loci_err *err)
{
	struct loci_analyse_options *options = &args->analyse;

	switch (option) {
	case 'o':
		free(args->output);
		args->output = strdup(optarg);
		return args->output ? 0 : loci_err_nomem(err);
	case 'b':
		return loci_product_blocks(optarg, options, err);
	case OPT_CACHE:
		args->caches = optarg;
		return 0;
	case OPT_SETS:
		options->no_sets = false;
		return 0;
	case OPT_PAIRS:
		return parse_pairs(optarg, &options->pairs, err);
	case OPT_NO_SOURCE:
		options->no_source = true;
		return 0;
	case OPT_MEMORY:
		return loci_product_memory(optarg, options, err);
	case OPT_TRACE:
		args->trace = optarg;
		return 0;
	case OPT_VERIFY:
		options->verify = LOCI_VERIFY_TOUCHES;
		return optarg ? loci_units_parse_u64(optarg, &options->verify, err) : 0;
	case 'q':
		args->quiet = true;
		return 0;
	case 'v':
		args->verbose = true;
		return 0;
	default:
		return 1;
	}
}

/* When and where: those of the run. */
static int parse_run(int option, struct record_args *args, struct loci_err *err)
{
	struct loci_run_options *run = &args->run;
	unsigned which;
	int r;

	switch (option) {
	case 'm':
		r = parse_name("-m", optarg, modes, 2, &which, err);
		run->count = r == 0 && which == 1;
		return r;
	case OPT_COLLECTOR:
		args->collector = optarg;
		return parse_name("--collector", optarg, collectors, 2, &which, err);
	case OPT_ONLY:
		run->only = args->analyse.only = optarg;
		return 0;
	case OPT_SKIP:
		run->skip = args->analyse.skip = optarg;
		return 0;
	case OPT_DELAY:
		return parse_seconds("--delay", optarg, &run->delay_s, err);
	case OPT_DURATION:
		r = parse_seconds("--duration", optarg, &run->duration_s, err);
		if (r == 0 && !(run->duration_s > 0))
			r = loci_err_set(err, EINVAL, "--duration %s records nothing", optarg);
		return r;
	case OPT_START_DISABLED:
		run->start_disabled = true;
		return 0;
	case OPT_TOGGLE:
		run->toggles = true;
		return parse_signal(optarg, &live.toggle, err);
	case OPT_NO_FOLLOW:
		run->follow = false;
		return 0;
	case OPT_NO_KERNEL:
		run->no_kernel = args->analyse.no_kernel = true;
		return 0;
	default:
		return 1;
	}
}

/* Returns the exit status to end with, or -1 to go on. */
static int parse_args(int argc, char **argv, struct record_args *args)
{
	struct loci_err err = { "" };
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:o:b:m:qvh", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		}
		r = parse_analysis(option, args, &err);
		if (r == 1)
			r = parse_run(option, args, &err);
		if (r == 1)
			return loci_option_refused("record", option, argv);
		if (r < 0)
			return loci_usage("record", "%s", err.text);
	}
	if (optind == argc)
		return loci_usage("record", "which program?");
	if (args->run.start_disabled && !live.toggle)
		return loci_usage("record",
			"--start-disabled records nothing without --toggle SIGNAL to start it");
	if (args->run.start_disabled && args->run.delay_s > 0)
		return loci_usage("record",
			"--delay starts recording by time, and --start-disabled by --toggle: take "
			"one");
	if (args->run.count && (args->output || args->trace))
		return loci_usage("record", "-m count makes no profile and no trace: leave %s out",
			args->output ? "-o" : "--trace");
	args->run.argv = argv + optind;
	return -1;
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

/* A run may take hours: what would keep its profile from being written is found out before. */
static int check_files(const struct record_args *args, struct loci_err *err)
{
	loci_cleanup(loci_replace_fini) struct loci_replace profile = { .fd = -1 };
	loci_cleanup(loci_replace_fini) struct loci_replace trace = { .fd = -1 };
	int r = loci_product_check(args->output, err);

	if (r == 0)
		r = loci_replace_begin(&profile, args->output, err);
	if (r == 0 && args->trace)
		r = loci_product_check_trace(args->trace, args->output, err);
	if (r == 0 && args->trace)
		r = loci_replace_begin(&trace, args->trace, err);
	return r;
}

static void say_how(const struct record_args *args, const struct loci_launch *launch)
{
	char size[LOCI_UNITS_MAX];

	loci_units_size(size, args->analyse.n_block_bytes ? args->analyse.block_bytes[0] : 64);
	if (args->run.collector == LOCI_COLLECTOR_CC)
		fprintf(stderr, "loci: exact, %s-byte blocks, cc collector\n", size);
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
	const struct record_args *args, const struct loci_err *unread, struct loci_err *err)
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
					   : "the collector saw no reference");
}

/* What a reader must know that was left out. */
static void note_part(const struct record_args *args, struct loci_analysis *analysis)
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
static void follow(struct record_args *args, struct loci_crew *crew)
{
	struct loci_liveline line = { 0 };
	struct loci_source *source;
	struct loci_err err;
	int r;

	crew->program = loci_runner_pid(live.runner);
	crew->trace = args->trace;
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
	struct record_args *args, struct loci_crew *crew, double start, struct loci_err *err)
{
	struct loci_analyse_summary summary;
	const char *complaint;
	int r;

	if (loci_analysis_is_empty(crew->analysis))
		return nothing(args, &crew->unread, err);
	note_part(args, crew->analysis);
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

static void begin_live(const struct record_args *args)
{
	catch_signals();
	loci_product_offline();
	if (args->choice.words[0] && !args->quiet)
		fprintf(stderr, "loci: %s\n", args->choice.words);
}

/* What a count says, or why it says nothing. */
static int say_count(
	const struct record_args *args, const struct loci_counting *counting, struct loci_err *err)
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

static int count(struct record_args *args)
{
	struct loci_counting counting = { 0 };
	struct loci_err err = { "" };
	int status = LOCI_EXIT_FAILED;
	int r = loci_runner_start(&args->run, &live.runner, &status, &err);

	if (r < 0) {
		loci_fail(&err);
		return status;
	}
	begin_live(args);
	r = loci_counting_read(live.runner, &counting, &err);
	live.ended = 1;
	status = loci_runner_status(live.runner);
	if (r == 0)
		r = say_count(args, &counting, &err);
	if (r < 0)
		loci_fail(&err);
	if (r < 0 && status == 0)
		status = LOCI_EXIT_FAILED << 8;
	loci_runner_free(live.runner);
	return end_like(status);
}

static int prepare(struct record_args *args, struct loci_launch *launch, struct loci_crew *crew,
	struct loci_err *err)
{
	int r = check_files(args, err);

	if (r == 0 && args->run.collector == LOCI_COLLECTOR_ANY)
		r = loci_launch_find(launch, err);
	if (r == 0)
		r = loci_analysis_new(&args->analyse, &crew->analysis, err);
	args->run.launch = launch;
	return r;
}

static int record(struct record_args *args)
{
	struct loci_launch launch;
	struct loci_crew crew = { 0 };
	struct loci_err err = { "" };
	double start = loci_product_seconds();
	int status = LOCI_EXIT_FAILED, r;

	r = prepare(args, &launch, &crew, &err);
	if (r == 0)
		r = loci_runner_start(&args->run, &live.runner, &status, &err);
	if (r < 0) {
		loci_analysis_free(crew.analysis);
		loci_fail(&err);
		return status;
	}
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

/* Which way, before anything is done. */
static int choose(struct record_args *args)
{
	struct loci_err err = { "" };
	int r = loci_choose(args->collector, &args->run, &args->choice, &err);

	args->run.collector = args->choice.collector;
	if (r < 0)
		return loci_fail(&err);
	return -1;
}

int loci_cmd_record(int argc, char **argv)
{
	struct record_args args = {
		.run = { .follow = true },
		.analyse = { .version = LOCI_VERSION,
			.stop = &live.stop,
			.attribute = true,
			.no_sets = true },
	};
	struct loci_product_host host;
	struct loci_err err = { "" };
	int status = parse_args(argc, argv, &args);

	if (status < 0 && loci_product_levels(&args.levels, args.caches, &args.analyse, &err) < 0)
		status = loci_usage("record", "%s", err.text);
	if (status < 0)
		status = choose(&args);
	if (status < 0 && args.run.count) {
		status = count(&args);
	} else if (status < 0) {
		if (!args.output)
			args.output = default_output(args.run.argv[0]);
		args.command = join(args.run.argv);
		args.analyse.command = args.command;
		loci_product_host(&host, &args.analyse);
		if (!args.output || !args.command)
			loci_err_nomem(&err);
		status = err.text[0] ? loci_fail(&err) : record(&args);
	}
	free(args.output);
	free(args.command);
	return status;
}
