// SPDX-License-Identifier: GPL-2.0-or-later
/* loci cache: how the run would fare on any cache hierarchy. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/option.h"
#include "cli/pick.h"
#include "cli/sweep_range.h"
#include "cli/thread_list.h"
#include "model/sweep.h"
#include "report/anger_table.h"
#include "report/cache_table.h"
#include "report/pairs.h"
#include "report/thread_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: loci cache [OPTIONS] [FILE]\n\n"
	"Predicts the hits, misses, traffic and write-backs of a cache hierarchy from a profile,\n"
	"without running the program again. Without FILE: the only *.loci file of the current\n"
	"directory.\n\n"
	"      --cache SPEC     host, a machine's name, or levels from the innermost outwards:\n"
	"                       NAME=SIZE[/WAYS][@LINE][:private|shared|shareN], such as\n"
	"                       L1=32K/8,DTLB=64e/4@4K,L2=1M/16,L3=32M/16:shared; no WAYS: fully\n"
	"                       associative. Default: the machine the profile was made on\n"
	"      --threads LIST   of a run with threads, count these alone, such as 1,3-5; the "
	"others\n"
	"                       run beside them as they did\n"
	"      --by-thread      each thread, and the share of a shared cache that it has\n"
	"      --sweep WHAT     NAME=A..B: that level at sizes doubling from A to B;\n"
	"                       line=A..B: all levels at the line sizes recorded\n"
	"      --model M        the model of Anger et al. instead: stack, assoc or coherence, of "
	"runs\n"
	"                       recorded for it\n"
	"      --policy P       lru (default) or random replacement\n"
	"      --from D         stack distances (default) or time distances\n"
	"      --conversion C   from time to stack distances: statstack (default) or shen\n"
	"      --machines       list the machines that have names\n"
	"      --json           the numbers in full (doc/cache.schema.json)\n"
	"      --no-color       plain text on a terminal too\n"
	"  -h, --help           this text\n\n"
	"A number with ~ is an estimate; a line below the table says on what it rests.\n";

enum {
	OPT_CACHE = 256,
	OPT_THREADS,
	OPT_BY_THREAD,
	OPT_SWEEP,
	OPT_MODEL,
	OPT_POLICY,
	OPT_FROM,
	OPT_CONVERSION,
	OPT_MACHINES,
	OPT_JSON,
	OPT_NO_COLOR,
};

static const struct option options[] = {
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "by-thread", no_argument, NULL, OPT_BY_THREAD },
	{ "sweep", required_argument, NULL, OPT_SWEEP },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "conversion", required_argument, NULL, OPT_CONVERSION },
	{ "machines", no_argument, NULL, OPT_MACHINES },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-color", no_argument, NULL, OPT_NO_COLOR },
	{ "no-colour", no_argument, NULL, OPT_NO_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct command {
	const char *cache, *sweep; /* as given, or NULL */
	const char *policy, *from, *conversion;
	const char *threads, *model; /* as given, or NULL */
	enum loci_anger_model anger;
	int64_t *thread;
	bool by_thread, lists_machines, as_json, no_colour;
	struct loci_predict_options predict;

	struct loci_profile *profile;
	bool is_object;
	struct loci_hierarchy hierarchy;
};

static int choice(const char *option, const char *given, const char *const names[2])
{
	for (int i = 0; i < 2; i++)
		if (!given || !strcmp(given, names[i]))
			return i;
	loci_usage("cache", "--%s %s: write %s or %s", option, given, names[0], names[1]);
	return -1;
}

/* The three options that say how, together. */
static int set_method(struct command *c)
{
	int policy = choice("policy", c->policy, (const char *const[]){ "lru", "random" });
	int from = choice("from", c->from, (const char *const[]){ "stack", "time" });
	int shen =
		choice("conversion", c->conversion, (const char *const[]){ "statstack", "shen" });

	if (policy < 0 || from < 0 || shen < 0)
		return LOCI_EXIT_USAGE;
	if (c->from && !from && (c->conversion || policy))
		return loci_usage("cache",
			"%s needs time distances, so --from stack contradicts it",
			policy ? "--policy random" : "--conversion");
	if (policy && c->conversion)
		return loci_usage(
			"cache", "--conversion is for LRU; random replacement has its own model");
	c->predict.policy = policy ? LOCI_POLICY_RANDOM : LOCI_POLICY_LRU;
	if (!policy && (from || c->conversion))
		c->predict.from_time = shen ? LOCI_CONVERT_SHEN : LOCI_CONVERT_STATSTACK;
	return LOCI_EXIT_OK;
}

static int parse_options(int argc, char **argv, struct command *c)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (option) {
		case OPT_CACHE:
			c->cache = optarg;
			break;
		case OPT_THREADS:
			c->threads = optarg;
			break;
		case OPT_BY_THREAD:
			c->by_thread = true;
			break;
		case OPT_SWEEP:
			c->sweep = optarg;
			break;
		case OPT_MODEL:
			c->model = optarg;
			break;
		case OPT_POLICY:
			c->policy = optarg;
			break;
		case OPT_FROM:
			c->from = optarg;
			break;
		case OPT_CONVERSION:
			c->conversion = optarg;
			break;
		case OPT_MACHINES:
			c->lists_machines = true;
			break;
		case OPT_JSON:
			c->as_json = true;
			break;
		case OPT_NO_COLOR:
			c->no_colour = true;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			return loci_option_refused("cache", option, argv);
		}
	}
	if (argc - optind > 1)
		return loci_usage(
			"cache", "one profile at a time; \"%s\" is a second", argv[optind + 1]);
	if (c->by_thread && c->sweep)
		return loci_usage("cache",
			"--by-thread shows one hierarchy: --sweep does not go "
			"with it");
	if (c->model && loci_anger_from_name(c->model, &c->anger) < 0)
		return loci_usage("cache", "--model %s: write stack, assoc or coherence", c->model);
	if (c->model &&
		(c->by_thread || c->threads || c->sweep || c->policy || c->from || c->conversion))
		return loci_usage("cache", "--model goes with --cache and --json alone");
	return set_method(c);
}

/* The hierarchy given, or the one the profile was made on. A bad specification is a mistake in
 * usage; a machine that does not say what it has is not. */
static int set_hierarchy(struct command *c, struct loci_err *err)
{
	const struct loci_run *run = loci_profile_run(c->profile);
	const char *text = c->cache ? c->cache : run->caches;
	int r;

	c->is_object = run->unit && !strcmp(run->unit, "object");
	if (!c->cache && (c->is_object || !text || !text[0]))
		return loci_err_set(err, ENODATA,
			"%s: %s; name some with --cache, such as --cache %s",
			loci_profile_path(c->profile),
			c->is_object ? "counts objects, which the machine's caches do not"
				     : "does not say what caches its machine had",
			c->is_object ? "L1=1000,L2=100K" : "host or --cache L1=32K/8,L2=1M/16");
	r = c->is_object ? loci_hierarchy_parse_objects(text, &c->hierarchy, err)
			 : loci_hierarchy_parse(text, &c->hierarchy, err);
	return r;
}

/* The line sizes that were asked for and not recorded, and the option that records all. */
static void print_missing(
	const struct command *c, const struct loci_sweep *sweep, const struct loci_text *text)
{
	char missing[256] = "", all[256] = "", words[640], size[LOCI_UNITS_MAX];
	size_t missing_length = 0, all_length = 0;
	unsigned next = 0;

	if (!sweep->n_missing)
		return;
	for (uint64_t line = 1; line <= LOCI_LINE_MAX; line *= 2) {
		bool is_missing = next < sweep->n_missing && sweep->missing[next] == line;

		if (!is_missing && !loci_profile_grain(c->profile, line))
			continue;
		loci_units_size(size, line);
		all_length += (size_t)snprintf(all + all_length, sizeof(all) - all_length, "%s%s",
			all_length ? "," : "", size);
		next += is_missing;
		if (is_missing)
			missing_length += (size_t)snprintf(missing + missing_length,
				sizeof(missing) - missing_length, "%s%s",
				missing_length ? ", " : "", size);
	}
	snprintf(words, sizeof(words), "lines not recorded: %s; record them with -b %s", missing,
		all);
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, words);
}

static void begin_json(const struct command *c, struct loci_json *json)
{
	char spec[LOCI_HIERARCHY_MAX];

	loci_json_begin(json, stdout);
	loci_json_object(json);
	loci_pair_format(json, "loci-cache");
	loci_pair_string(json, "profile", loci_profile_path(c->profile));
	loci_pair_string(
		json, "policy", c->predict.policy == LOCI_POLICY_RANDOM ? "random" : "lru");
	loci_pair_string(
		json, "hierarchy", loci_hierarchy_format(&c->hierarchy, spec, sizeof(spec)));
}

static void end_json(struct loci_json *json)
{
	loci_json_object_end(json);
	loci_json_end(json);
}

static struct loci_cache_table table_of(
	const struct command *c, const struct loci_prediction *row, size_t n)
{
	return (struct loci_cache_table){ .profile = c->profile,
		.policy = c->predict.policy,
		.row = row,
		.n = n,
		.is_object = c->is_object };
}

/* Below the levels, or beside them in the document. */
static int show_threads(const struct command *c, const struct loci_text *text,
	struct loci_json *json, struct loci_err *err)
{
	loci_autofree struct loci_topology_thread *row = NULL;
	struct loci_thread_table table = { .hierarchy = &c->hierarchy };
	int r;

	if (!c->by_thread)
		return 0;
	r = loci_topology_threads(c->profile, &c->hierarchy, &c->predict, &row, &table.n, err);
	if (r < 0)
		return r;
	table.row = row;
	if (!json)
		return loci_thread_table_text(&table, text) < 0 ? loci_err_nomem(err) : 0;
	loci_json_key(json, "threads");
	loci_thread_table_json(&table, json);
	return 0;
}

static int show_levels(const struct command *c, struct loci_err *err)
{
	struct loci_prediction level[LOCI_LEVELS_MAX] = { 0 };
	struct loci_cache_table table = table_of(c, level, c->hierarchy.n_levels);
	double cycles;
	struct loci_text text;
	struct loci_json json;
	int r = loci_predict(c->profile, &c->hierarchy, &c->predict, level, err);

	if (r < 0)
		return r;
	cycles = loci_predict_cycles(&c->hierarchy, level);
	if (!c->as_json) {
		loci_text_begin(&text, stdout, c->no_colour);
		if (loci_cache_table_text(&table, &text) < 0)
			return loci_err_nomem(err);
		loci_cache_table_cycles(&c->hierarchy, cycles, &text);
		return show_threads(c, &text, NULL, err);
	}
	begin_json(c, &json);
	loci_json_key(&json, "levels");
	loci_cache_table_json(&table, &json);
	r = show_threads(c, NULL, &json, err);
	loci_json_key(&json, "cycles_per_reference");
	if (cycles > 0)
		loci_json_number(&json, cycles);
	else
		loci_json_string(&json, NULL);
	end_json(&json);
	return r;
}

static int show_model(const struct command *c, struct loci_err *err)
{
	struct loci_anger_result result;
	struct loci_text text;
	struct loci_json json;
	int r = loci_anger_profile(c->profile, &c->hierarchy, c->anger, &result, err);

	if (r < 0)
		return r;
	if (!c->as_json) {
		loci_text_begin(&text, stdout, c->no_colour);
		return loci_anger_table_text(&result, c->profile, &text) < 0 ? loci_err_nomem(err)
									     : 0;
	}
	begin_json(c, &json);
	loci_anger_table_json(&result, &json);
	end_json(&json);
	return 0;
}

static int print_sweep(
	const struct command *c, const struct loci_sweep *sweep, struct loci_err *err)
{
	struct loci_cache_table table = table_of(c, sweep->row, sweep->n);
	struct loci_text text;
	struct loci_json json;

	if (!c->as_json) {
		loci_text_begin(&text, stdout, c->no_colour);
		if (sweep->n && loci_cache_table_text(&table, &text) < 0)
			return loci_err_nomem(err);
		if (sweep->lost_ways)
			loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 2,
				"sizes that are no whole number of sets of the ways given are "
				"fully associative");
		print_missing(c, sweep, &text);
		return 0;
	}
	begin_json(c, &json);
	loci_json_key(&json, "sweep");
	loci_cache_table_json(&table, &json);
	loci_pair_array(&json, "missing_line_bytes");
	for (unsigned i = 0; i < sweep->n_missing; i++)
		loci_json_u64(&json, sweep->missing[i]);
	loci_json_array_end(&json);
	end_json(&json);
	return 0;
}

static int show_sweep(
	const struct command *c, const struct loci_sweep_range *range, struct loci_err *err)
{
	loci_cleanup(loci_sweep_fini) struct loci_sweep sweep = { 0 };
	int r;

	if (range->is_line)
		r = loci_sweep_line(c->profile, &c->hierarchy, range->from, range->to, &c->predict,
			&sweep, err);
	else
		r = loci_sweep_size(c->profile, &c->hierarchy, range->level, range->from, range->to,
			&c->predict, &sweep, err);
	return r < 0 ? r : print_sweep(c, &sweep, err);
}

static int run(struct command *c, const char *given)
{
	loci_autofree char *path = NULL;
	struct loci_err err = { "" };
	struct loci_sweep_range range;
	int r = loci_pick_profile(given, &path, &err);

	if (r >= 0)
		r = loci_profile_open(path, &c->profile, &err);
	if (r < 0)
		return loci_fail(&err);
	r = set_hierarchy(c, &err);
	if (r < 0)
		return c->cache && r != -ENODATA ? loci_usage("cache", "--cache: %s", err.text)
						 : loci_fail(&err);
	if (c->threads) {
		r = loci_thread_list(
			c->profile, c->threads, &c->thread, &c->predict.n_threads, &err);
		if (r < 0)
			return r == -EINVAL ? loci_usage("cache", "--threads: %s", err.text)
					    : loci_fail(&err);
		c->predict.threads = c->thread;
	}
	if (c->sweep) {
		r = loci_sweep_range(c->sweep, &c->hierarchy, c->is_object, &range);
		if (r)
			return r;
	}
	r = c->model       ? show_model(c, &err)
		: c->sweep ? show_sweep(c, &range, &err)
			   : show_levels(c, &err);
	return r < 0 ? loci_fail(&err) : LOCI_EXIT_OK;
}

int loci_cmd_cache(int argc, char **argv)
{
	struct command c = { 0 };
	int status = parse_options(argc, argv, &c);

	if (status)
		return status < 0 ? loci_finish(LOCI_EXIT_OK) : status;
	if (c.lists_machines) {
		struct loci_text text;

		loci_text_begin(&text, stdout, c.no_colour);
		status = loci_cache_table_machines(&text) < 0 ? LOCI_EXIT_FAILED : LOCI_EXIT_OK;
		return loci_finish(status);
	}
	status = run(&c, argv[optind]);
	free(c.thread);
	loci_profile_close(c.profile);
	return loci_finish(status);
}
