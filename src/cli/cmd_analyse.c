// SPDX-License-Identifier: GPL-2.0-or-later
/* loci analyse: a memory trace of any origin becomes a profile. */
#include "cli/command.h"
#include "cli/open.h"
#include "cli/option.h"

#include "analyse/analyse.h"
#include "base/cleanup.h"
#include "base/host.h"
#include "base/progress.h"
#include "base/units.h"
#include "import/import.h"
#include "model/cache.h"
#include "model/verdict.h"
#include "report/report_verdict.h"
#include "report/text.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define VERIFY_TOUCHES  100000
#define MAX_BLOCK_BYTES (2u << 20)

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
	"      --max-memory SIZE switch to sampling blocks before using more\n"
	"                        (default: three quarters of what is free)\n"
	"      --verify[=N]      compare the first N touches with a naive LRU stack\n"
	"                        (default: 100000)\n"
	"      --trace FILE      keep the references in a trace file of loci's own, small\n"
	"                        and quick to read again\n"
	"  -q                    print errors only\n"
	"  -h, --help            this text\n";

struct analyse_args {
	const char *trace;
	char *output;
	const char *keep;
	bool quiet;
	bool blocks_given;
	struct loci_import_options import;
	struct loci_analyse_options analyse;
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

static int parse_blocks(
	const char *text, struct loci_analyse_options *options, struct loci_err *err)
{
	loci_autofree char *copy = strdup(text);
	char *save = NULL;

	options->n_block_bytes = 0;
	if (!copy)
		return loci_err_nomem(err);
	for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		uint64_t bytes;
		int r = loci_units_parse_bytes(item, &bytes, err);

		if (r < 0)
			return r;
		if (!loci_is_power_of_2(bytes) || bytes > MAX_BLOCK_BYTES)
			return loci_err_set(err, EINVAL,
				"block size %s: a block is a power of two from 1 byte to 2M", item);
		for (unsigned i = 0; i < options->n_block_bytes; i++)
			if (options->block_bytes[i] == bytes)
				return loci_err_set(
					err, EINVAL, "block size %s is given twice", item);
		if (options->n_block_bytes == LOCI_ANALYSE_GRAINS)
			return loci_err_set(
				err, EINVAL, "at most %d block sizes at once", LOCI_ANALYSE_GRAINS);
		options->block_bytes[options->n_block_bytes++] = bytes;
	}
	if (!options->n_block_bytes)
		return loci_err_set(err, EINVAL, "no block size in \"%s\"", text);
	return 0;
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

/* Replaces profiles, and nothing else. */
static int check_output(const char *path, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	if (access(path, F_OK) < 0)
		return 0;
	if (loci_profile_open(path, &profile, NULL) == 0)
		return 0;
	return loci_err_set(err, EEXIST,
		"%s exists and is no profile of this loci; name another with -o, or remove it",
		path);
}

/* Replaces traces of loci's own, and nothing else: what it keeps of another's is less. */
static int check_keep(const struct analyse_args *args, struct loci_err *err)
{
	loci_autoclose int fd = -1;
	char magic[sizeof(LOCI_TRACE_MAGIC) - 1];
	struct stat st;

	if (!strcmp(args->keep, args->output))
		return loci_err_set(err, EINVAL,
			"%s cannot be the trace (--trace) and the profile (-o) at once",
			args->keep);
	if (stat(args->keep, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(args->keep, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		!memcmp(magic, LOCI_TRACE_MAGIC, sizeof(magic)))
		return 0;
	return loci_err_set(err, EEXIST,
		"%s exists and is no trace of loci's own; name another with --trace, or remove it",
		args->keep);
}

enum {
	OPT_FORMAT = 256,
	OPT_FORMATS,
	OPT_INSTRUCTIONS,
	OPT_NO_SETS,
	OPT_MEMORY,
	OPT_VERIFY,
	OPT_TRACE
};

static const struct option long_options[] = {
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "formats", no_argument, NULL, OPT_FORMATS },
	{ "instructions", no_argument, NULL, OPT_INSTRUCTIONS },
	{ "no-sets", no_argument, NULL, OPT_NO_SETS },
	{ "max-memory", required_argument, NULL, OPT_MEMORY },
	{ "verify", optional_argument, NULL, OPT_VERIFY },
	{ "trace", required_argument, NULL, OPT_TRACE },
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
	while ((option = getopt_long(argc, argv, ":o:b:qh", long_options, NULL)) != -1) {
		switch (option) {
		case 'o':
			free(args->output);
			args->output = strdup(optarg);
			break;
		case 'b':
			args->blocks_given = true;
			r = parse_blocks(optarg, options, &err);
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
		case OPT_MEMORY:
			r = loci_units_parse_bytes(optarg, &options->max_memory, &err);
			if (r == 0 && !options->max_memory)
				r = loci_err_set(&err, EINVAL, "--max-memory 0 leaves no room");
			break;
		case OPT_VERIFY:
			options->verify = VERIFY_TOUCHES;
			if (optarg)
				r = loci_units_parse_u64(optarg, &options->verify, &err);
			break;
		case OPT_TRACE:
			args->keep = optarg;
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

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What the profile says, in a sentence or two. */
static void say_verdict(const char *path)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_aim aim = { 0 };
	struct loci_subject subject;
	struct loci_verdict verdict;
	struct loci_text text;
	char words[768] = "loci: ";

	if (loci_open_subject(path, &aim, &profile, &subject, NULL) < 0)
		return;
	loci_verdict(&subject, &verdict);
	loci_report_verdict(
		&subject, &verdict, words + strlen(words), sizeof(words) - strlen(words));
	loci_text_begin(&text, stderr, false);
	loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 0, words);
}

static void say_done(const struct analyse_args *args, const char *nouns,
	const struct loci_analyse_summary *summary, double seconds)
{
	char count[LOCI_UNITS_MAX], rate[LOCI_UNITS_MAX], took[LOCI_UNITS_MAX];

	fprintf(stderr, "loci: %s %.*s  %s/s  %s",
		loci_units_count(count, (double)summary->references),
		(int)strlen(nouns) - (summary->references == 1), nouns,
		loci_units_count(rate, (double)summary->references / (seconds > 0 ? seconds : 1)),
		loci_units_seconds(took, seconds));
	if (summary->verified)
		fprintf(stderr, "  %s touches verified",
			loci_units_count(count, (double)summary->verified));
	fprintf(stderr, "\n");
	if (summary->note[0])
		fprintf(stderr, "loci: %s\n", summary->note);
	say_verdict(args->output);
	if (!summary->interrupted)
		fprintf(stderr, "loci: next: loci report %s\n", args->output);
}

static int analyse(struct analyse_args *args, struct loci_source *source, struct loci_err *err)
{
	struct loci_analyse_options *options = &args->analyse;
	struct loci_trace_writer *writer = NULL;
	struct loci_analyse_summary summary;
	struct loci_progress progress;
	const char *nouns = source->info.unit == LOCI_UNIT_OBJECT ? "requests" : "references";
	double start = seconds_now();
	int r = 0;

	if (args->keep)
		r = check_keep(args, err);
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
		say_done(args, nouns, &summary, seconds_now() - start);
	if (r == 0 && summary.interrupted)
		return loci_err_set(err, EINTR,
			"interrupted; %s is the profile of what was read until then", args->output);
	return r;
}

int loci_cmd_analyse(int argc, char **argv)
{
	struct analyse_args args = { .analyse = { .version = LOCI_VERSION, .stop = &stop } };
	char caches[512], machine[128];
	struct loci_hierarchy host;
	struct loci_source *source = NULL;
	struct loci_err err = { 0 };
	int r, status = parse_args(argc, argv, &args);

	if (status >= 0) {
		free(args.output);
		return status;
	}
	if (!args.output)
		args.output = default_output(args.trace);
	if (!args.analyse.max_memory)
		args.analyse.max_memory = loci_host_available_bytes() / 4 * 3;
	args.analyse.command = strcmp(args.trace, "-") != 0 ? args.trace : "standard input";
	args.analyse.machine = loci_host_processor(machine, sizeof(machine));
	if (loci_hierarchy_host("/sys", &host, NULL) == 0)
		args.analyse.caches = loci_hierarchy_format(&host, caches, sizeof(caches));
	catch_signals();
	r = args.output ? check_output(args.output, &err) : loci_err_nomem(&err);
	if (r == 0)
		r = loci_import_open(args.trace, &args.import, &source, &err);
	if (r == 0 && source->info.unit == LOCI_UNIT_OBJECT && args.blocks_given)
		r = loci_err_set(&err, EINVAL,
			"%s holds whole objects (format %s): block sizes do not apply, leave -b "
			"out",
			args.trace, source->info.origin);
	if (r == 0)
		r = analyse(&args, source, &err);
	loci_source_close(source);
	free(args.output);
	return r < 0 ? loci_fail(&err) : loci_finish(LOCI_EXIT_OK);
}
