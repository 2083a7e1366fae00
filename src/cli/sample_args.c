// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sample_args.h"

#include "base/units.h"
#include "cli/record_args.h"
#include "model/sample_bounds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PERIOD      1000000
#define PERIOD_MOST (1ull << 36)
#define FIRST_PERIOD                                                                \
	1000 /* where an error is asked for: the program's references are not known \
	      */
/* What threads in step are apart: they are seen when a small chunk of words is full. */
#define STEP_REFS 256

static const char *const names[] = {
	[LOCI_SAMPLE_PERIOD] = "-c",
	[LOCI_SAMPLE_ERROR] = "--error",
	[LOCI_SAMPLE_SEED] = "--seed",
	[LOCI_SAMPLE_SEQUENTIAL] = "--sequential",
	[LOCI_SAMPLE_SKEW] = "--skew",
};

/* "5%", "0.05". */
static int parse_error(const char *text, double *ret, struct loci_err *err)
{
	char *end;

	*ret = strtod(text, &end);
	if (end != text && !strcmp(end, "%")) {
		*ret /= 100;
		end++;
	}
	if (end == text || *end || !(*ret >= 0.001) || *ret > 0.5)
		return loci_err_set(err, EINVAL, "--error %s: from 0.1%% to 50%%", text);
	return 0;
}

/* "100000", "1e6", "1M" would be a size. */
static int parse_period(const char *text, uint64_t *ret, struct loci_err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 1) || value > (double)PERIOD_MOST ||
		value != (double)(uint64_t)value)
		return loci_err_set(err, EINVAL,
			"-c %s: references from one sample to the next, on average, such as 100000 "
			"or 1e6",
			text);
	*ret = (uint64_t)value;
	return 0;
}

int loci_sample_parse(struct loci_sample_args *args, enum loci_sample_option option,
	const char *text, struct loci_err *err)
{
	int r;

	args->asked = true;
	args->option = names[option];
	switch (option) {
	case LOCI_SAMPLE_PERIOD:
		return parse_period(text, &args->period, err);
	case LOCI_SAMPLE_ERROR:
		return parse_error(text, &args->error, err);
	case LOCI_SAMPLE_SEED:
		args->has_seed = true;
		r = loci_units_parse_u64(text, &args->seed, err);
		if (r == 0 && args->seed > INT64_MAX)
			r = loci_err_set(err, EINVAL, "--seed %s: at most 2^63 - 1", text);
		return r;
	case LOCI_SAMPLE_SEQUENTIAL:
		args->sequential = true;
		return 0;
	case LOCI_SAMPLE_SKEW:
		r = loci_units_parse_u64(text, &args->skew, err);
		if (r == 0 && (args->skew < STEP_REFS || args->skew > UINT32_MAX))
			r = loci_err_set(err, EINVAL,
				"--skew %s: references, from %d on; less than that is --sequential",
				text, STEP_REFS);
		return r;
	}
	return 0;
}

static int refuse(const struct loci_record_args *args, struct loci_err *err)
{
	const struct loci_sample_args *sample = &args->sample;
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ sample->period && sample->error > 0,
			"--error chooses the period: leave -c out, or --error" },
		{ sample->sequential && sample->skew,
			"--sequential keeps threads in step, --skew nearly: take one" },
		{ loci_run_has_windows(&args->run),
			"-m sample chooses itself when to record: leave out --delay, --duration, "
			"--start-disabled and --toggle" },
		{ args->analyse.n_block_bytes > 1, "-m sample takes one block size" },
		{ args->caches, "-m sample simulates no caches; give --cache to loci report" },
		{ !args->analyse.no_sets, "-m sample has no per-set distances: leave --sets out" },
		{ args->analyse.index || args->analyse.statement || args->analyse.footprint ||
				args->analyse.verify,
			"-m sample has no --index, --statement, --footprint or --verify" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].is)
			return loci_err_set(err, EINVAL, "%s", all[i].text);
	return 0;
}

/* Each period is kept for half as many samples as are needed, and then doubles. So all periods
 * but the last are full, and together they say at least as much as what is needed: they are worth
 * 2.6 times the samples of one. */
static void choose_period(struct loci_sample_args *args)
{
	struct loci_sample_bounds bounds;

	args->run.period = args->period ? args->period : PERIOD;
	if (!(args->error > 0))
		return;
	args->run.period = FIRST_PERIOD;
	args->run.doubling = (uint32_t)((loci_sample_bounds(args->error, &bounds) + 1) / 2);
}

uint64_t loci_sample_seed(const struct loci_sample_args *args)
{
	uint32_t random = 1;

	if (args->has_seed)
		return args->seed;
	return getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0 ? 1 : random;
}

int loci_sample_settle(struct loci_record_args *args, struct loci_err *err)
{
	struct loci_sample_args *sample = &args->sample;
	int r;

	if (!sample->wanted)
		return sample->asked && !args->watching.wanted
			? loci_err_set(err, EINVAL, "%s is for samples: give -m sample, too",
				  sample->option)
			: 0;
	r = refuse(args, err);
	if (r < 0)
		return r;
	choose_period(sample);
	sample->run.seed = loci_sample_seed(sample);
	sample->run.skew = sample->sequential ? STEP_REFS : (uint32_t)sample->skew;
	sample->analyse.period = sample->run.period;
	sample->analyse.seed = sample->run.seed;
	args->run.sampling = &sample->run;
	args->analyse.sampling = &sample->analyse;
	args->analyse.pairs = LOCI_PAIRS_NONE;
	return 0;
}

static void closed(void *data, int64_t pid, uint32_t n)
{
	loci_runner_closed(data, (pid_t)pid, n);
}

void loci_sample_attach(struct loci_sample_args *args, struct loci_runner *runner)
{
	args->analyse.closed = closed;
	args->analyse.data = runner;
}
