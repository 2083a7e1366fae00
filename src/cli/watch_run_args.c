// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch_run_args.h"

#include "base/cleanup.h"
#include "cli/record_args.h"
#include "cli/watch_notes.h"
#include "collect/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beside the few percent that counting takes: some thousand samples in ten seconds tell enough, if
 * they do not cost too much. One that pages watch costs some ten times what one costs that a
 * register does. */
#define PER_SECOND     120
#define OVERHEAD       0.03
#define PAGES_OVERHEAD 0.15
#define OVERHEAD_UNITS 10000 /* of the control file */
#define FIRST_PERIOD   10000 /* where the overhead chooses: it is soon found */
#define AT_ONCE        4     /* samples that are followed, on average */
#define PAGE_BYTES     4096

static bool parse_share(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	if (end != text && !strcmp(end, "%")) {
		*ret /= 100;
		end++;
	}
	return end != text && !*end && *ret >= 0 && *ret <= 1;
}

static int parse_overhead(const char *text, double *ret, struct loci_err *err)
{
	if (!parse_share(text, ret) || *ret < 0.001)
		return loci_err_set(err, EINVAL, "--overhead %s: from 0.1%% to 100%%", text);
	return 0;
}

static int parse_far(const char *text, struct loci_watch_run_args *args, struct loci_err *err)
{
	args->has_far = true;
	if (!parse_share(text, &args->far))
		return loci_err_set(err, EINVAL, "--far %s: from 0%% to 100%%", text);
	return 0;
}

static int parse_by(const char *text, struct loci_watch_run_args *args, struct loci_err *err)
{
	args->has_by = true;
	args->by = !strcmp(text, "pages") ? LOCI_CONTROL_PAGES : LOCI_CONTROL_REGISTERS;
	if (args->by == LOCI_CONTROL_REGISTERS && strcmp(text, "registers") != 0)
		return loci_err_set(err, EINVAL, "--watch-by %s: is registers or pages", text);
	return 0;
}

int loci_watch_run_parse(struct loci_watch_run_args *args, enum loci_watch_run_option option,
	const char *text, struct loci_err *err)
{
	static const struct {
		const char *name;
		enum loci_watch_option is;
	} all[] = {
		[LOCI_WATCH_RUN_KIND] = { "--watch", LOCI_WATCH_KIND },
		[LOCI_WATCH_RUN_NUMBER] = { "--watches", LOCI_WATCH_NUMBER },
		[LOCI_WATCH_RUN_REPLACE] = { "--replace", LOCI_WATCH_REPLACE },
		[LOCI_WATCH_RUN_WEIGHTS] = { "--weights", LOCI_WATCH_WEIGHTS },
		[LOCI_WATCH_RUN_BURST] = { "--burst", LOCI_WATCH_BURST_REFS },
		[LOCI_WATCH_RUN_FAR] = { "--far", 0 },
		[LOCI_WATCH_RUN_OVERHEAD] = { "--overhead", 0 },
		[LOCI_WATCH_RUN_BY] = { "--watch-by", 0 },
	};

	args->option = all[option].name;
	if (option == LOCI_WATCH_RUN_OVERHEAD)
		return parse_overhead(text, &args->overhead, err);
	if (option == LOCI_WATCH_RUN_FAR)
		return parse_far(text, args, err);
	if (option == LOCI_WATCH_RUN_BY)
		return parse_by(text, args, err);
	return loci_watch_parse(&args->watch, all[option].is, text, err);
}

static int refuse(const struct loci_record_args *args, struct loci_err *err)
{
	const struct loci_watch_run_args *watch = &args->watching;
	const struct loci_sample_args *sample = &args->sample;
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ sample->wanted, "--light is -m watch, and not -m sample" },
		{ args->run.count, "--light is -m watch, and not -m count" },
		{ sample->period && watch->overhead > 0,
			"--overhead chooses the period: leave -c out, or --overhead" },
		{ sample->error > 0 || sample->sequential || sample->skew,
			"--error, --sequential and --skew are for -m sample" },
		{ loci_run_has_windows(&args->run),
			"-m watch chooses itself when to look: leave out --delay, --duration, "
			"--start-disabled and --toggle" },
		{ args->run.only || args->run.skip,
			"-m watch watches all code: leave --only and --skip out" },
		{ args->analyse.n_block_bytes > 1, "-m watch takes one block size" },
		{ args->caches, "-m watch simulates no caches; give --cache to loci report" },
		{ !args->analyse.no_sets, "-m watch has no per-set distances: leave --sets out" },
		{ args->analyse.index || args->analyse.statement || args->analyse.footprint ||
				args->analyse.verify,
			"-m watch has no --index, --statement, --footprint or --verify" },
		{ args->analyse.n_share || args->analyse.alone,
			"-m watch has no --share and no --alone" },
		{ sample->period && watch->watch.replay.burst_refs > AT_ONCE * sample->period,
			"--burst: too many samples would be followed at once; -c or --burst must "
			"be other" },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(all); i++)
		if (all[i].is)
			return loci_err_set(err, EINVAL, "%s", all[i].text);
	return 0;
}

/* By registers where they can be had and the block is not too large for them. */
static int choose_by(struct loci_record_args *args, struct loci_err *err)
{
	struct loci_watch_run_args *watch = &args->watching;
	uint64_t bytes = args->analyse.n_block_bytes ? args->analyse.block_bytes[0] : 0;

	if (!watch->has_by && bytes > 8)
		watch->by = LOCI_CONTROL_PAGES;
	else if (!watch->has_by && loci_probe_registers(NULL) < 0) {
		watch->by = LOCI_CONTROL_PAGES;
		watch->lacks_registers = true;
	}
	if (watch->by == LOCI_CONTROL_REGISTERS && bytes > 8)
		return loci_err_set(err, EINVAL,
			"-b: a debug register watches 8 bytes at most; larger blocks are watched "
			"--watch-by pages");
	if (bytes > PAGE_BYTES)
		return loci_err_set(err, EINVAL, "-b: -m watch takes blocks of at most 4096 bytes");
	if (!bytes)
		bytes = watch->by == LOCI_CONTROL_REGISTERS ? 8 : 64;
	args->analyse.block_bytes[0] = bytes;
	args->analyse.n_block_bytes = 1;
	watch->run.block_shift = (uint32_t)__builtin_ctzll(bytes);
	return 0;
}

static void fill(struct loci_record_args *args)
{
	struct loci_watch_run_args *watch = &args->watching;
	const struct loci_rewatch_options *asked = &watch->watch.replay;
	double usual = watch->by == LOCI_CONTROL_PAGES ? PAGES_OVERHEAD : OVERHEAD;
	double overhead = watch->overhead > 0 ? watch->overhead : usual;

	watch->run.period = args->sample.period ? args->sample.period : FIRST_PERIOD;
	watch->run.seed = loci_sample_seed(&args->sample);
	watch->run.by = watch->by;
	watch->run.watches = asked->watches;
	watch->run.replace = asked->replace;
	watch->run.writes_only = asked->writes_only;
	watch->run.burst_refs = (uint32_t)asked->burst_refs;
	watch->run.overhead = args->sample.period ? 0 : (uint32_t)(overhead * OVERHEAD_UNITS + 0.5);
	watch->run.per_second = watch->overhead > 0 ? 0 : PER_SECOND;
	watch->run.far =
		watch->has_far ? (uint32_t)(watch->far * OVERHEAD_UNITS + 0.5) : LOCI_CONTROL_FAR;
	watch->terms = (struct loci_watch_terms){ .block_bytes = args->analyse.block_bytes[0],
		.period = watch->run.period,
		.seed = watch->run.seed,
		.writes_only = watch->run.writes_only,
		.by_pages = watch->by == LOCI_CONTROL_PAGES,
		.burst_refs = watch->run.burst_refs,
		.weighting = watch->watch.analyse.weighting };
	loci_watch_describe(&watch->terms, &watch->watch.analyse);
	args->run.watching = &watch->run;
	args->analyse.watching = &watch->watch.analyse;
}

int loci_watch_run_settle(struct loci_record_args *args, struct loci_err *err)
{
	struct loci_watch_run_args *watch = &args->watching;
	int r;

	if (!watch->wanted)
		return watch->option
			? loci_err_set(err, EINVAL, "%s is for watched samples: give -m watch, too",
				  watch->option)
			: 0;
	r = refuse(args, err);
	if (r == 0)
		r = choose_by(args, err);
	if (r == 0)
		fill(args);
	return r;
}

void loci_watch_run_say(const struct loci_watch_run_args *args, const char *size)
{
	const struct loci_run_watching *run = &args->run;

	fprintf(stderr, "loci: watched samples, ");
	if (run->per_second && run->overhead)
		fprintf(stderr, "%" PRIu32 " a second, ", run->per_second);
	if (run->overhead)
		fprintf(stderr, "for %s%.3g %% of the time", run->per_second ? "at most " : "",
			run->overhead * 100.0 / OVERHEAD_UNITS);
	else
		fprintf(stderr, "one in %" PRIu64 " references", run->period);
	fprintf(stderr, ", %s-byte blocks, %u by %s, seed %" PRIu64 ", cc collector\n", size,
		run->watches, run->by == LOCI_CONTROL_PAGES ? "pages" : "debug registers",
		run->seed);
}

void loci_watch_run_note(const struct loci_watch_run_args *args,
	const struct loci_control_watching *took, struct loci_analysis *analysis, bool verbose)
{
	char text[256];

	if (!took)
		return;
	loci_analysis_watch_cost(analysis,
		&(struct loci_analyse_watch_cost){ .traps = took->traps,
			.false_faults = took->false_faults,
			.steps = took->steps,
			.syscalls = took->syscalls,
			.burst_ns = took->burst_ns,
			.trap_ns = took->trap_ns + took->page_ns,
			.lost = took->lost,
			.lapsed = took->lapsed });
	if (args->lacks_registers)
		loci_analysis_note(analysis,
			"watched by pages: no debug register can be had here (see loci doctor)");
	loci_watch_notes(&args->run, took, analysis);
	if (took->lost) {
		snprintf(text, sizeof(text),
			"%" PRIu64 " sample%s lost beside these: code ran over %s, or nothing "
			"tells which reference it was",
			took->lost, took->lost == 1 ? " was" : "s were",
			took->lost == 1 ? "it" : "them");
		loci_analysis_note(analysis, text);
	}
	if (!verbose)
		return;
	fprintf(stderr,
		"loci: %" PRIu64 " traps, %.3g ms following samples, %.3g ms in traps, "
		"last one in %" PRIu64 " references\n",
		took->traps, (double)took->burst_ns / 1e6, (double)took->trap_ns / 1e6,
		took->last_period);
	if (args->run.by == LOCI_CONTROL_PAGES)
		fprintf(stderr,
			"loci: %" PRIu64 " false faults, %" PRIu64 " steps, %" PRIu64
			" system calls led, %.3g ms for these\n",
			took->false_faults, took->steps, took->syscalls,
			(double)took->page_ns / 1e6);
}
