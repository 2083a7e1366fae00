// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record_args.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/option.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: loci record [OPTIONS] [--] PROGRAM [ARGUMENT..]\n"
	"\n"
	"Runs a program, any program, and writes a profile of all its references to memory:\n"
	"the distances of all its reuses, and the code and the data they belong to.\n"
	"\n"
	"  -o FILE               the profile (default: PROGRAM's name with .loci, here)\n"
	"  -b SIZE,..            block sizes, powers of two from 1 to 2M (default: 64)\n"
	"  -m MODE               exact: every reference (default); count: only their number, of\n"
	"                        programs built by loci cc or gcc, and a profile of operations\n"
	"                        if they were built to have them counted (man loci-cc);\n"
	"                        sample: the distances of some references, chosen at random,\n"
	"                        of programs built by loci cc or gcc\n"
	"                        watch: of some references, chosen at random, when they are\n"
	"                        reused, at nearly full speed; of programs built by loci cc\n"
	"      --light           -m watch\n"
	"  -c PERIOD             samples: one in so many references (default: 1000000; watch: as\n"
	"                        --overhead has it)\n"
	"      --error SHARE     samples: as many as keep the error below this (5%)\n"
	"      --seed N          samples: the same ones, if the program does the same\n"
	"      --sequential      samples: threads run in step while any is open\n"
	"      --skew N          samples: threads run at most N references apart then\n"
	"      --overhead SHARE  watch: sample as often as takes this share of the time\n"
	"                        (default: 120 times a second, for 3% at most; by pages 15%)\n"
	"      --watch rw|w      watch: any touch is a reuse (default), or only a write\n"
	"      --watches N       watch: so many blocks at once, 1 to 4 (default: 4)\n"
	"      --watch-by HOW    watch: by registers, the processor's (default), or pages, which\n"
	"                        are protected, for blocks of more than 8 bytes (-b)\n"
	"      --burst N         watch: references that a sample is followed before (4096)\n"
	"      --far SHARE       watch: of all references, those that samples may be followed for\n"
	"                        until reuses that are far away (default: as time allows)\n"
	"      --replace HOW     watch: which watch gives way to a new sample: reservoir\n"
	"                        (default), rdx, oldest, coin or never\n"
	"      --weights HOW     watch: what makes up for those that gave way: inverse (default),\n"
	"                        unscaled, proportional, kaplan-meier or plain\n"
	"      --collector NAME  any: through Valgrind; cc, gcc: programs built by loci cc or\n"
	"                        gcc, and those that they start (default: these if the program\n"
	"                        was built by them)\n"
	"      --cache SPEC      the caches to simulate, as loci cache takes them\n"
	"                        (default: host)\n"
	"      --sets            per-set distances too: slower, every set-associative cache is\n"
	"                        then exact, not only those of --cache\n"
	"      --index           keep which parts of arrays are far apart, by index\n"
	"      --statement       count an element once per execution of a source statement, not\n"
	"                        at each of its loads and stores; elements are as large as the\n"
	"                        smallest block size of -b (needs debug information)\n"
	"      --pairs WHICH     pairs of use and reuse: far (default), all or none\n"
	"      --share N,..      keep what groups of N threads that share a cache meet, too;\n"
	"                        threads are grouped in the order in which they start\n"
	"      --alone           keep what each thread would meet alone, too, which a model of\n"
	"                        loci cache takes; slower\n"
	"      --footprint       count distinct bytes too, of the program and of each function:\n"
	"                        slower, and takes 1.3 times the memory that the program touches\n"
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
	"      --order HOW       threads of a process, where nothing else orders them: by equal\n"
	"                        numbers of references (refs, default), by time stamps (time), or\n"
	"                        as their words arrive (arrival)\n"
	"      --trace FILE      keep the references too, for loci analyse; of further\n"
	"                        processes in FILE.PID\n"
	"      --verify[=N]      compare the first N touches with a naive LRU stack\n"
	"                        (default: 100000)\n"
	"  -q                    print errors only\n"
	"  -v                    say how it is recorded\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: the program's own.\n";

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

static void join_names(const char *const names[], unsigned n, char *to, size_t bytes)
{
	size_t used = 0;

	for (unsigned i = 0; i < n && used < bytes; i++)
		used += (size_t)snprintf(to + used, bytes - used, "%s%s",
			!i                   ? ""
				: i + 1 == n ? " or "
					     : ", ",
			names[i]);
}

/* Names that will mean something are told from those that never did. The first n_known are known
 * now. */
static int parse_name(const char *option, const char *text, const char *const names[],
	unsigned n_known, unsigned *ret, struct loci_err *err)
{
	char known[64];

	join_names(names, n_known, known, sizeof(known));
	for (unsigned i = 0; names[i]; i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*ret = i;
		if (i < n_known)
			return 0;
		return loci_err_set(
			err, EINVAL, "%s %s is not in this version; write %s", option, text, known);
	}
	return loci_err_set(
		err, EINVAL, "%s %s: there is none of that name; write %s", option, text, known);
}

enum { MODE_EXACT, MODE_COUNT, MODE_SAMPLE, MODE_WATCH, MODES };
static const char *const modes[] = { "exact", "count", "sample", "watch", NULL };
static const char *const collectors[] = { "any", "cc", "gcc", "watch", "pmu", "step", NULL };

enum {
	OPT_COLLECTOR = 256,
	OPT_CACHE,
	OPT_SETS,
	OPT_INDEX,
	OPT_STATEMENT,
	OPT_PAIRS,
	OPT_FOOTPRINT,
	OPT_SHARE,
	OPT_ALONE,
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
	OPT_ORDER,
	OPT_TRACE,
	OPT_VERIFY,
	OPT_ERROR,
	OPT_SEED,
	OPT_SEQUENTIAL,
	OPT_SKEW,
	OPT_LIGHT,
	OPT_OVERHEAD,
	OPT_WATCH,
	OPT_WATCHES,
	OPT_WATCH_BY,
	OPT_BURST,
	OPT_FAR,
	OPT_REPLACE,
	OPT_WEIGHTS
};

static const struct option long_options[] = {
	{ "collector", required_argument, NULL, OPT_COLLECTOR },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "sets", no_argument, NULL, OPT_SETS },
	{ "index", no_argument, NULL, OPT_INDEX },
	{ "statement", no_argument, NULL, OPT_STATEMENT },
	{ "pairs", required_argument, NULL, OPT_PAIRS },
	{ "footprint", no_argument, NULL, OPT_FOOTPRINT },
	{ "share", required_argument, NULL, OPT_SHARE },
	{ "alone", no_argument, NULL, OPT_ALONE },
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
	{ "order", required_argument, NULL, OPT_ORDER },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "verify", optional_argument, NULL, OPT_VERIFY },
	{ "error", required_argument, NULL, OPT_ERROR },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "sequential", no_argument, NULL, OPT_SEQUENTIAL },
	{ "skew", required_argument, NULL, OPT_SKEW },
	{ "light", no_argument, NULL, OPT_LIGHT },
	{ "overhead", required_argument, NULL, OPT_OVERHEAD },
	{ "watch", required_argument, NULL, OPT_WATCH },
	{ "watches", required_argument, NULL, OPT_WATCHES },
	{ "watch-by", required_argument, NULL, OPT_WATCH_BY },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "far", required_argument, NULL, OPT_FAR },
	{ "replace", required_argument, NULL, OPT_REPLACE },
	{ "weights", required_argument, NULL, OPT_WEIGHTS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* How and what: the options of the analysis. 1: not one of them. */
static int parse_analysis(int option, struct loci_record_args *args, struct loci_err *err)
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
	case OPT_INDEX:
		options->index = true;
		return 0;
	case OPT_STATEMENT:
		options->statement = true;
		return 0;
	case OPT_PAIRS:
		return parse_pairs(optarg, &options->pairs, err);
	case OPT_FOOTPRINT:
		options->footprint = true;
		return 0;
	case OPT_ALONE:
		options->alone = true;
		return 0;
	case OPT_SHARE:
		return loci_product_share(optarg, options, err);
	case OPT_NO_SOURCE:
		options->no_source = true;
		return 0;
	case OPT_MEMORY:
		return loci_product_memory(optarg, options, err);
	case OPT_ORDER:
		return loci_product_order(optarg, &args->order, err);
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
static int parse_run(int option, struct loci_record_args *args, struct loci_err *err)
{
	struct loci_run_options *run = &args->run;
	unsigned which;
	int r;

	switch (option) {
	case 'm':
		r = parse_name("-m", optarg, modes, MODES, &which, err);
		run->count = r == 0 && which == MODE_COUNT;
		args->sample.wanted = r == 0 && which == MODE_SAMPLE;
		args->watching.wanted |= r == 0 && which == MODE_WATCH;
		return r;
	case OPT_LIGHT:
		args->watching.wanted = true;
		return 0;
	case OPT_COLLECTOR:
		args->collector = optarg;
		return parse_name("--collector", optarg, collectors, 3, &which, err);
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
		return parse_signal(optarg, &args->toggle, err);
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

/* Those of samples. */
static int parse_sampling(int option, struct loci_record_args *args, struct loci_err *err)
{
	static const struct {
		int option;
		enum loci_sample_option is;
	} all[] = {
		{ 'c', LOCI_SAMPLE_PERIOD },
		{ OPT_ERROR, LOCI_SAMPLE_ERROR },
		{ OPT_SEED, LOCI_SAMPLE_SEED },
		{ OPT_SEQUENTIAL, LOCI_SAMPLE_SEQUENTIAL },
		{ OPT_SKEW, LOCI_SAMPLE_SKEW },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(all); i++)
		if (all[i].option == option)
			return loci_sample_parse(&args->sample, all[i].is, optarg, err);
	return 1;
}

/* Those of watched samples. */
static int parse_watching(int option, struct loci_record_args *args, struct loci_err *err)
{
	static const struct {
		int option;
		enum loci_watch_run_option is;
	} all[] = {
		{ OPT_OVERHEAD, LOCI_WATCH_RUN_OVERHEAD },
		{ OPT_WATCH, LOCI_WATCH_RUN_KIND },
		{ OPT_WATCHES, LOCI_WATCH_RUN_NUMBER },
		{ OPT_WATCH_BY, LOCI_WATCH_RUN_BY },
		{ OPT_BURST, LOCI_WATCH_RUN_BURST },
		{ OPT_FAR, LOCI_WATCH_RUN_FAR },
		{ OPT_REPLACE, LOCI_WATCH_RUN_REPLACE },
		{ OPT_WEIGHTS, LOCI_WATCH_RUN_WEIGHTS },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(all); i++)
		if (all[i].option == option)
			return loci_watch_run_parse(&args->watching, all[i].is, optarg, err);
	return 1;
}

int loci_record_parse(int argc, char **argv, struct loci_record_args *args)
{
	struct loci_err err = { "" };
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:o:b:m:c:qvh", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		}
		r = parse_analysis(option, args, &err);
		if (r == 1)
			r = parse_run(option, args, &err);
		if (r == 1)
			r = parse_sampling(option, args, &err);
		if (r == 1)
			r = parse_watching(option, args, &err);
		if (r == 1)
			return loci_option_refused("record", option, argv);
		if (r < 0)
			return loci_usage("record", "%s", err.text);
	}
	if (optind == argc)
		return loci_usage("record", "which program?");
	if (args->run.start_disabled && !args->toggle)
		return loci_usage("record",
			"--start-disabled records nothing without --toggle SIGNAL to start it");
	if (args->run.start_disabled && args->run.delay_s > 0)
		return loci_usage("record",
			"--delay starts recording by time, and --start-disabled by --toggle: take "
			"one");
	if (args->run.count && args->trace)
		return loci_usage("record", "-m count makes no trace: leave --trace out");
	if (loci_sample_settle(args, &err) < 0 || loci_watch_run_settle(args, &err) < 0)
		return loci_usage("record", "%s", err.text);
	args->run.argv = argv + optind;
	return -1;
}
