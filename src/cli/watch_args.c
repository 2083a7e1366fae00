// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch_args.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/choice.h"

#include <errno.h>
#include <string.h>

static const char *const replace_names[] = {
	[LOCI_REPLACE_RESERVOIR] = "reservoir",
	[LOCI_REPLACE_RDX] = "rdx",
	[LOCI_REPLACE_OLDEST] = "oldest",
	[LOCI_REPLACE_COIN] = "coin",
	[LOCI_REPLACE_NEVER] = "never",
};

static const char *const weighting_names[] = {
	[LOCI_WEIGH_INVERSE] = "inverse",
	[LOCI_WEIGH_UNSCALED] = "unscaled",
	[LOCI_WEIGH_PROPORTIONAL] = "proportional",
	[LOCI_WEIGH_KAPLAN_MEIER] = "kaplan-meier",
	[LOCI_WEIGH_PLAIN] = "plain",
};

/* Which of the names it is. */
static int choose(const char *option, const char *text, const char *const *names, size_t n,
	unsigned *ret, struct loci_err *err)
{
	char all[128] = "";

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(text, names[i])) {
			*ret = (unsigned)i;
			return 0;
		}
		strcat(all, i ? ", " : "");
		strcat(all, names[i]);
	}
	return loci_err_set(err, EINVAL, "--%s %s: is one of %s", option, text, all);
}

static int number(const char *option, const char *text, uint64_t least, uint64_t most,
	uint64_t *ret, struct loci_err *err)
{
	int r = loci_units_parse_u64(text, ret, err);

	if (r == 0 && (*ret < least || *ret > most))
		return loci_err_set(err, EINVAL, "%s %s: is from %llu to %llu", option, text,
			(unsigned long long)least, (unsigned long long)most);
	return r;
}

int loci_watch_parse(struct loci_watch_args *args, enum loci_watch_option option, const char *text,
	struct loci_err *err)
{
	static const char *const names[] = { "--watch", "-c", "--watches", "--replace", "--weights",
		"--burst", "--seed" };
	unsigned choice = 0;
	uint64_t n = 0;
	int r = 0;

	args->weighs |= option == LOCI_WATCH_WEIGHTS;
	if (option != LOCI_WATCH_KIND && option != LOCI_WATCH_WEIGHTS)
		args->option = names[option];
	switch (option) {
	case LOCI_WATCH_KIND:
		args->wanted = true;
		args->replay.writes_only = text && !strcmp(text, "w");
		if (text && strcmp(text, "w") != 0 && strcmp(text, "rw") != 0)
			return loci_err_set(err, EINVAL,
				"--watch=%s: is rw (any touch is a reuse) or w (writes are)", text);
		return 0;
	case LOCI_WATCH_PERIOD:
		return number("-c", text, 1, UINT64_C(1) << 48, &args->replay.period, err);
	case LOCI_WATCH_NUMBER:
		r = number("--watches", text, 1, LOCI_RESERVOIR, &n, err);
		args->replay.watches = (unsigned)n;
		return r;
	case LOCI_WATCH_REPLACE:
		r = choose("replace", text, replace_names,
			sizeof(replace_names) / sizeof(*replace_names), &choice, err);
		args->replay.replace = (enum loci_replace)choice;
		return r;
	case LOCI_WATCH_WEIGHTS:
		r = choose("weights", text, weighting_names,
			sizeof(weighting_names) / sizeof(*weighting_names), &choice, err);
		args->analyse.weighting = (enum loci_weighting)choice;
		return r;
	case LOCI_WATCH_BURST_REFS:
		return number("--burst", text, 0, 1 << 20, &args->replay.burst_refs, err);
	case LOCI_WATCH_SEED:
		return loci_units_parse_u64(text, &args->replay.seed, err);
	}
	return 0;
}

static bool needs_all(const struct loci_analyse_options *options)
{
	return options->index || options->footprint || options->statement || options->verify;
}

int loci_watch_settle(
	struct loci_watch_args *args, struct loci_analyse_options *options, struct loci_err *err)
{
	if (!args->wanted)
		return args->option
			? loci_err_set(err, EINVAL, "%s goes with --watch", args->option)
			: 0;
	if (needs_all(options))
		return loci_err_set(err, EINVAL,
			"--watch knows of samples only: --index, --footprint, --statement and "
			"--verify need all references");
	if (options->n_block_bytes > 1)
		return loci_err_set(err, EINVAL, "--watch has one block size (-b)");
	if (args->replay.burst_refs > 64 * args->replay.period)
		return loci_err_set(err, EINVAL,
			"--burst: more than 64 samples would be followed at once; -c or --burst "
			"must be other");
	args->replay.block_bytes = options->n_block_bytes ? options->block_bytes[0] : 64;
	args->analyse.period = args->replay.period;
	args->analyse.seed = args->replay.seed;
	args->analyse.writes_only = args->replay.writes_only;
	args->analyse.burst_refs = args->replay.burst_refs;
	options->watching = &args->analyse;
	options->no_sets = true;
	return 0;
}

void loci_watch_describe(
	const struct loci_watch_terms *terms, struct loci_analyse_watching *analyse)
{
	analyse->period = terms->period;
	analyse->seed = terms->seed;
	analyse->writes_only = terms->writes_only;
	analyse->burst_refs = terms->burst_refs;
	analyse->by = terms->by_pages ? "pages" : "registers";
}

static int refuse_trace(const struct loci_watch_args *args, bool blocks_given,
	const struct loci_analyse_options *options, struct loci_err *err)
{
	const struct {
		bool is;
		const char *text;
	} all[] = {
		{ args->wanted, "its samples were watched by loci record: leave --watch out" },
		{ blocks_given, "its blocks were chosen by loci record: leave -b out" },
		{ needs_all(options),
			"--index, --footprint, --statement and --verify need all "
			"references" },
		{ options->n_share || options->alone, "samples have no --share and no --alone" },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(all); i++)
		if (all[i].is)
			return loci_err_set(
				err, EINVAL, "the trace holds samples: %s", all[i].text);
	return 0;
}

int loci_watch_settle_trace(struct loci_watch_args *args, bool blocks_given,
	struct loci_analyse_options *options, struct loci_source **source, struct loci_err *err)
{
	struct loci_source *from = *source;
	struct loci_watch_terms terms;
	int r;

	if (!loci_watch_terms_belong(&(*source)->info))
		return args->weighs && !args->wanted
			? loci_err_set(err, EINVAL,
				  "--weights goes with --watch, or with a trace of loci record -m "
				  "watch")
			: 0;
	r = refuse_trace(args, blocks_given, options, err);
	if (r < 0)
		return r;
	*source = NULL;
	r = loci_watch_terms_read_take(from, &terms, source, err);
	if (r < 0 || !terms.block_bytes)
		return r; /* without a word in it, it is as other empty ones */
	loci_watch_describe(&terms, &args->analyse);
	if (!args->weighs && terms.weighting < LOCI_ARRAY_SIZE(weighting_names))
		args->analyse.weighting = (enum loci_weighting)terms.weighting;
	args->analyse.is_kept = true;
	options->block_bytes[0] = terms.block_bytes;
	options->n_block_bytes = 1;
	options->watching = &args->analyse;
	options->no_sets = true;
	return 0;
}
