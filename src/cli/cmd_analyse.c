// SPDX-License-Identifier: GPL-2.0-or-later
/* loci analyse: a memory trace of any origin becomes a profile. */
#include "cli/command.h"
#include "cli/option.h"
#include "cli/product.h"
#include "cli/watch_args.h"

#include "analyse/analyse.h"
#include "base/cleanup.h"
#include "base/progress.h"
#include "base/units.h"
#include "import/import.h"
#include "report/text.h"
#include "version.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: loci analyse [OPTIONS] TRACE\n"
	"\n"
	"Reads a memory trace (- is standard input; gzip and zstd are unpacked) and writes a\n"
	"profile: the distances of all its reuses, exactly, and the misses of every cache.\n"
	"\n"
	"  -o FILE               the profile (default: TRACE's name with .loci, here)\n"
	"  -b SIZE,..            block sizes, powers of two from 1 to 2M (default: 64)\n"
	"      --format NAME     the trace's format, where it is not recognised\n"
	"      --formats         list the formats and stop\n"
	"      --instructions    count instruction fetches as references too\n"
	"      --no-sets         skip per-set distances: faster, set-associative caches are\n"
	"                        then modelled instead of exact\n"
	"      --footprint       count distinct bytes too, of traces that loci record kept\n"
	"      --index           keep which parts of arrays are far apart, by index\n"
	"      --statement       of a trace that loci record kept: count an element once per\n"
	"                        execution of a source statement; elements are as large as the\n"
	"                        smallest block size\n"
	"      --share N,..      keep what groups of N threads that share a cache meet, too;\n"
	"                        threads are grouped in the order in which they start\n"
	"      --alone           keep what each thread would meet alone, too, which a model of\n"
	"                        loci cache takes; slower\n"
	"      --max-memory SIZE switch to sampling blocks before using more\n"
	"                        (default: three quarters of what is free)\n"
	"      --watch[=rw|w]    look at a sample of the references only, as one could in a "
	"program\n"
	"                        that runs at full speed: each is watched until its reuse, as\n"
	"                        long as there is a watch for it (w: only writes are reuses)\n"
	"  -c PERIOD             sample one in so many references (default: 10000)\n"
	"      --watches N       at once, 1 to 4 (default: 4)\n"
	"      --burst N         references that a sample is followed before it takes a watch\n"
	"                        (default: 256)\n"
	"      --replace HOW     who gives way when there is none: reservoir (default), rdx,\n"
	"                        oldest, coin, never\n"
	"      --weights HOW     what a reuse counts: inverse (default), unscaled, proportional,\n"
	"                        kaplan-meier, plain; also of traces of watched runs\n"
	"      --seed N          of the sample (default: 0)\n"
	"      --verify[=N]      compare the first N touches with a naive LRU stack\n"
	"                        (default: 100000)\n"
	"      --order HOW       threads, where nothing else orders them: by equal numbers of\n"
	"                        references (refs, default), by time stamps (time), or as they\n"
	"                        stand in the trace (arrival)\n"
	"      --trace FILE      keep the references in a trace file of loci's own, small\n"
	"                        and quick to read again\n"
	"  -q                    print errors only\n"
	"  -h, --help            this text\n";

struct analyse_args {
	const char *trace;
	char *output;
	const char *keep;
	enum loci_order order;
	bool quiet;
	bool blocks_given;
	struct loci_import_options import;
	struct loci_analyse_options analyse;
	struct loci_watch_args watch;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = number;
}

/* The first signal asks for an orderly end, the second ends it at once. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int list_formats(void)
{
	struct loci_text text;

	loci_text_begin(&text, stdout, false);
	printf("Formats that loci analyse reads, plain or packed by gzip or zstd:\n");
	for (const struct loci_import_format *f = loci_import_formats; f->name; f++) {
		printf("\n%s\n", f->name);
		loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 4, f->summary);
		for (const char *line = f->sample; line && *line;) {
			size_t n = strcspn(line, "\n");

			printf("        %.*s\n", (int)n, line);
			line += n + (line[n] == '\n');
		}
	}
	printf("\nThe format is recognised by content; --format NAME overrides.\n");
	return loci_finish(LOCI_EXIT_OK);
}

static bool strip_suffix(char *name, const char *suffix)
{
	char *dot = strrchr(name, '.');

	if (!dot || dot == name || (suffix && strcmp(dot, suffix) != 0))
		return false;
	*dot = 0;
	return true;
}

/* dir/app.din.gz -> app.loci */
static char *default_output(const char *trace)
{
	const char *base = strrchr(trace, '/');
	loci_autofree char *name = NULL;
	char *output;

	name = strdup(!strcmp(trace, "-") ? "trace" : base ? base + 1 : trace);
	if (!name)
		return NULL;
	if (!strip_suffix(name, ".gz"))
		strip_suffix(name, ".zst");
	strip_suffix(name, NULL);
	return asprintf(&output, "%s.loci", name) < 0 ? NULL : output;
}

enum {
	OPT_FORMAT = 256,
	OPT_FORMATS,
	OPT_INSTRUCTIONS,
	OPT_NO_SETS,
	OPT_FOOTPRINT,
	OPT_INDEX,
	OPT_STATEMENT,
	OPT_SHARE,
	OPT_ALONE,
	OPT_MEMORY,
	OPT_VERIFY,
	OPT_ORDER,
	OPT_TRACE,
	OPT_WATCH,
	OPT_WATCHES,
	OPT_BURST,
	OPT_REPLACE,
	OPT_WEIGHTS,
	OPT_SEED
};

static const struct option long_options[] = {
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "formats", no_argument, NULL, OPT_FORMATS },
	{ "instructions", no_argument, NULL, OPT_INSTRUCTIONS },
	{ "no-sets", no_argument, NULL, OPT_NO_SETS },
	{ "footprint", no_argument, NULL, OPT_FOOTPRINT },
	{ "index", no_argument, NULL, OPT_INDEX },
	{ "statement", no_argument, NULL, OPT_STATEMENT },
	{ "share", required_argument, NULL, OPT_SHARE },
	{ "alone", no_argument, NULL, OPT_ALONE },
	{ "max-memory", required_argument, NULL, OPT_MEMORY },
	{ "verify", optional_argument, NULL, OPT_VERIFY },
	{ "order", required_argument, NULL, OPT_ORDER },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "watch", optional_argument, NULL, OPT_WATCH },
	{ "watches", required_argument, NULL, OPT_WATCHES },
	{ "burst", required_argument, NULL, OPT_BURST },
	{ "replace", required_argument, NULL, OPT_REPLACE },
	{ "weights", required_argument, NULL, OPT_WEIGHTS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Returns the exit status to end with, or -1 to go on. */
static int parse_args(int argc, char **argv, struct analyse_args *args)
{
	struct loci_analyse_options *options = &args->analyse;
	struct loci_err err = { 0 };
	int option, r = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:b:c:qh", long_options, NULL)) != -1) {
		switch (option) {
		case 'o':
			free(args->output);
			args->output = strdup(optarg);
			break;
		case 'b':
			args->blocks_given = true;
			r = loci_product_blocks(optarg, options, &err);
			break;
		case OPT_FORMAT:
			args->import.format = optarg;
			break;
		case OPT_FORMATS:
			return list_formats();
		case OPT_INSTRUCTIONS:
			args->import.instructions = true;
			break;
		case OPT_NO_SETS:
			options->no_sets = true;
			break;
		case OPT_FOOTPRINT:
			options->footprint = true;
			break;
		case OPT_INDEX:
			options->index = true;
			break;
		case OPT_STATEMENT:
			options->statement = true;
			break;
		case OPT_ALONE:
			options->alone = true;
			break;
		case OPT_SHARE:
			r = loci_product_share(optarg, options, &err);
			break;
		case OPT_MEMORY:
			r = loci_product_memory(optarg, options, &err);
			break;
		case OPT_VERIFY:
			options->verify = LOCI_VERIFY_TOUCHES;
			if (optarg)
				r = loci_units_parse_u64(optarg, &options->verify, &err);
			break;
		case OPT_ORDER:
			r = loci_product_order(optarg, &args->order, &err);
			break;
		case OPT_TRACE:
			args->keep = optarg;
			break;
		case OPT_WATCH:
			r = loci_watch_parse(&args->watch, LOCI_WATCH_KIND, optarg, &err);
			break;
		case 'c':
			r = loci_watch_parse(&args->watch, LOCI_WATCH_PERIOD, optarg, &err);
			break;
		case OPT_WATCHES:
			r = loci_watch_parse(&args->watch, LOCI_WATCH_NUMBER, optarg, &err);
			break;
		case OPT_BURST:
			r = loci_watch_parse(&args->watch, LOCI_WATCH_BURST_REFS, optarg, &err);
			break;
		case OPT_REPLACE:
			r = loci_watch_parse(&args->watch, LOCI_WATCH_REPLACE, optarg, &err);
			break;
		case OPT_WEIGHTS:
			r = loci_watch_parse(&args->watch, LOCI_WATCH_WEIGHTS, optarg, &err);
			break;
		case OPT_SEED:
			r = loci_watch_parse(&args->watch, LOCI_WATCH_SEED, optarg, &err);
			break;
		case 'q':
			args->quiet = true;
			break;
		case 'h':
			fputs(help, stdout);
			return loci_finish(LOCI_EXIT_OK);
		default:
			return loci_option_refused("analyse", option, argv);
		}
		if (r < 0)
			return loci_usage("analyse", "%s", err.text);
	}
	if (loci_watch_settle(&args->watch, options, &err) < 0)
		return loci_usage("analyse", "%s", err.text);
	if (args->watch.wanted && args->keep)
		return loci_usage("analyse",
			"--trace keeps references, and --watch samples: one "
			"at a time");
	if (optind == argc)
		return loci_usage("analyse", "which trace? (- is standard input)");
	if (argc - optind > 1)
		return loci_usage("analyse", "one trace at a time, and \"%s\" is one too many",
			argv[optind + 1]);
	args->trace = argv[optind];
	return -1;
}

static void show_progress(void *data, uint64_t references, uint64_t done, uint64_t total)
{
	loci_progress_update(data, references, done, total);
}

static int analyse(struct analyse_args *args, struct loci_source *source, struct loci_err *err)
{
	struct loci_analyse_options *options = &args->analyse;
	struct loci_trace_writer *writer = NULL;
	struct loci_analyse_summary summary;
	struct loci_progress progress;
	const char *nouns = source->info.unit == LOCI_UNIT_OBJECT ? "requests" : "references";
	double start = loci_product_seconds();
	int r = 0;

	if (args->keep)
		r = loci_product_check_trace(args->keep, args->output, err);
	if (args->keep && r == 0)
		r = loci_trace_create(args->keep, &source->info, &writer, err);
	if (r < 0)
		return r;
	options->keep = writer;
	loci_progress_begin(&progress, stderr, nouns);
	if (!args->quiet) {
		options->progress = show_progress;
		options->progress_data = &progress;
	}
	r = loci_analyse(source, options, args->output, &summary, err);
	loci_progress_end(&progress);
	if (r < 0) {
		loci_trace_free(writer);
		return r;
	}
	if (writer)
		r = loci_trace_close(writer, err);
	if (r == 0 && !args->quiet)
		loci_product_say(&(struct loci_product_end){ .path = args->output,
			.nouns = nouns,
			.summary = &summary,
			.seconds = loci_product_seconds() - start });
	if (r == 0 && summary.interrupted)
		return loci_err_set(err, EINTR,
			"interrupted; %s is the profile of what was read until then", args->output);
	return r;
}

/* Of the formats of others, this one does. What threads meet is followed touch by touch, which the
 * rest need not pay for. */
static bool tells_threads(const struct loci_source *source)
{
	return !strncmp(source->info.origin, "drmemtrace", sizeof(source->info.origin));
}

/* What a profile of it can have: a trace that loci record kept is analysed as it would have been
 * then. */
static void choose_parts(struct loci_analyse_options *options, const struct loci_source *source)
{
	bool has_code = source->info.capabilities & LOCI_CAP_SITES;

	options->attribute = has_code || (tells_threads(source) && !options->watching);
	if (options->watching)
		options->n_levels = 0;
	if (!has_code) { /* whose misses they are is not known */
		options->threads_only = true;
		options->n_levels = 0;
		options->pairs = LOCI_PAIRS_NONE;
	}
}

int loci_cmd_analyse(int argc, char **argv)
{
	struct analyse_args args = { .analyse = { .version = LOCI_VERSION, .stop = &stop },
		.watch = LOCI_WATCH_DEFAULTS };
	struct loci_product_levels levels;
	struct loci_product_host host;
	struct loci_source *source = NULL;
	struct loci_err err = { 0 };
	int r, status = parse_args(argc, argv, &args);

	if (status >= 0) {
		free(args.output);
		return status;
	}
	if (!args.output)
		args.output = default_output(args.trace);
	args.analyse.command = strcmp(args.trace, "-") != 0 ? args.trace : "standard input";
	loci_product_offline();
	loci_product_host(&host, &args.analyse);
	loci_product_levels(&levels, NULL, &args.analyse, NULL);
	catch_signals();
	r = args.output ? loci_product_check(args.output, &err) : loci_err_nomem(&err);
	if (r == 0)
		r = loci_import_open(args.trace, &args.import, &source, &err);
	if (r == 0 && source->info.unit == LOCI_UNIT_OBJECT && args.blocks_given)
		r = loci_err_set(&err, EINVAL,
			"%s holds whole objects (format %s): block sizes do not apply, leave -b "
			"out",
			args.trace, source->info.origin);
	if (r == 0 && args.analyse.statement && !(source->info.capabilities & LOCI_CAP_SITES))
		r = loci_err_set(&err, EINVAL,
			"%s does not tell which code its references are of (format %s), so there "
			"are no statements: leave --statement out",
			args.trace, source->info.origin);
	if (r == 0)
		r = loci_watch_settle_trace(
			&args.watch, args.blocks_given, &args.analyse, &source, &err);
	if (r == 0) {
		choose_parts(&args.analyse, source);
		r = loci_order_new_take(
			source, &(struct loci_order_options){ .order = args.order }, &source, &err);
		if (r < 0)
			source = NULL;
	}
	if (r == 0 && args.watch.wanted) {
		r = loci_rewatch_new_take(source, &args.watch.replay, &source, &err);
		if (r < 0)
			source = NULL;
	}
	if (r == 0)
		r = analyse(&args, source, &err);
	loci_source_close(source);
	free(args.output);
	return r < 0 ? loci_fail(&err) : loci_finish(LOCI_EXIT_OK);
}
