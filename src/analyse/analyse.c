// SPDX-License-Identifier: GPL-2.0-or-later
/* The session: what all processes counted, and the profile of it. */
#include "analyse/analyse.h"

#include "analyse/publish.h"
#include "analyse/session.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int loci_analysis_new(const struct loci_analyse_options *options, struct loci_analysis **ret,
	struct loci_err *err)
{
	struct loci_analysis *a = calloc(1, sizeof(*a));
	time_t now = time(NULL);
	struct tm utc;

	if (!a)
		return loci_err_nomem(err);
	a->options = options;
	loci_sample_sum_init(&a->samples);
	clock_gettime(CLOCK_MONOTONIC, &a->start);
	strftime(a->started, sizeof(a->started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->symbols_lock, NULL);
	*ret = a;
	return 0;
}

void loci_analysis_free(struct loci_analysis *a)
{
	if (!a)
		return;
	for (unsigned i = 0; i < a->n_grains; i++)
		loci_grain_sum_fini(&a->grain[i]);
	for (size_t i = 0; i < a->n_processes; i++) {
		free(a->process[i].program);
		free(a->process[i].thread);
		loci_sample_sum_fini(&a->process[i].samples);
		loci_share_sum_free(a->process[i].share);
	}
	free(a->process);
	loci_sample_sum_fini(&a->samples);
	loci_unseen_fini(&a->unseen);
	loci_mistakes_fini(&a->mistakes);
	if (a->attributed)
		loci_ledger_fini(&a->ledger);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->symbols_lock);
	free(a);
}

static void analysis_freep(struct loci_analysis **analysis)
{
	loci_analysis_free(*analysis);
}

uint64_t loci_analysis_references(const struct loci_analysis *analysis)
{
	return atomic_load_explicit(&analysis->references, memory_order_relaxed);
}

bool loci_analysis_is_empty(struct loci_analysis *analysis)
{
	bool empty;

	pthread_mutex_lock(&analysis->lock);
	empty = !analysis->n_processes;
	pthread_mutex_unlock(&analysis->lock);
	return empty || !loci_analysis_references(analysis);
}

bool loci_analysis_has_operations(struct loci_analysis *analysis)
{
	bool has = false;

	pthread_mutex_lock(&analysis->lock);
	for (size_t i = 0; analysis->attributed && !analysis->torn && i < analysis->ledger.n_ran;
		i++)
		has |= analysis->ledger.ran[i].executions > 0;
	pthread_mutex_unlock(&analysis->lock);
	return has;
}

void loci_analysis_told(struct loci_analysis *analysis, uint64_t references, unsigned threads)
{
	pthread_mutex_lock(&analysis->lock);
	analysis->told_references = references;
	analysis->told_threads = threads;
	pthread_mutex_unlock(&analysis->lock);
}

void loci_analysis_watch_cost(
	struct loci_analysis *analysis, const struct loci_analyse_watch_cost *cost)
{
	pthread_mutex_lock(&analysis->lock);
	analysis->watch_cost = *cost;
	pthread_mutex_unlock(&analysis->lock);
}

/* Once: 50 processes may all have met the same. */
void loci_analysis_add_note(struct loci_analysis *a, const char *text)
{
	size_t used = strlen(a->note);

	if (!strstr(a->note, text))
		snprintf(a->note + used, sizeof(a->note) - used, "%s%s", used ? "; " : "", text);
}

void loci_analysis_note(struct loci_analysis *analysis, const char *text)
{
	pthread_mutex_lock(&analysis->lock);
	loci_analysis_add_note(analysis, text);
	pthread_mutex_unlock(&analysis->lock);
}

void loci_analysis_miss(struct loci_analysis *analysis, const char *text)
{
	pthread_mutex_lock(&analysis->lock);
	loci_analysis_add_note(analysis, text);
	analysis->incomplete = true;
	pthread_mutex_unlock(&analysis->lock);
}

static const char *capabilities(uint32_t bits, bool is_approximate, char *buf, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ LOCI_CAP_COMPLETE, "complete" },
		{ LOCI_CAP_WINDOWS, "windows" },
		{ LOCI_CAP_SAMPLES, "samples" },
		{ LOCI_CAP_STORES, "stores" },
		{ LOCI_CAP_SITES, "sites" },
		{ LOCI_CAP_PARTIAL, "partial" },
	};
	size_t used = 0;

	buf[0] = 0;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (bits & names[i].bit && used < size)
			used += (size_t)snprintf(
				buf + used, size - used, "%s%s", used ? " " : "", names[i].name);
	if (is_approximate && used < size)
		snprintf(buf + used, size - used, "%s" LOCI_RUN_APPROXIMATE, used ? " " : "");
	return buf;
}

static const char *collector_name(uint32_t collector)
{
	static const char *const names[] = {
		[LOCI_COLLECTOR_IMPORT] = "import",
		[LOCI_COLLECTOR_ANY] = "any",
		[LOCI_COLLECTOR_CC] = "cc",
		[LOCI_COLLECTOR_GCC] = "gcc",
		[LOCI_COLLECTOR_PMU] = "pmu",
		[LOCI_COLLECTOR_STEP] = "step",
	};

	return collector < LOCI_ARRAY_SIZE(names) ? names[collector] : "unknown";
}

#define APPROXIMATE                                                                                \
	"approximate: seen is what gcc tells of code that loci gcc compiled, without locals that " \
	"stay in their function, accesses merged or proved race-free, vectors (told as scalars), " \
	"other code and the kernel"
#define APPROXIMATE_IN_PART                                                                     \
	"approximate in part: of code that loci gcc compiled, seen is what gcc tells, without " \
	"locals that stay in their function, accesses merged or proved race-free, and vectors " \
	"(told as scalars); other code and the kernel are not seen"

static bool is_approximate(const struct loci_analysis *a)
{
	return a->has_plain || a->info.collector == LOCI_COLLECTOR_GCC;
}

/* What the collector cannot see, and what was not to be seen. */
static uint32_t note_unseen(struct loci_analysis *a)
{
	uint32_t has = a->info.capabilities;
	char text[96];

	if (is_approximate(a))
		loci_analysis_add_note(a,
			a->info.collector == LOCI_COLLECTOR_GCC ? APPROXIMATE
								: APPROXIMATE_IN_PART);
	else if (has & LOCI_CAP_PARTIAL && a->info.collector == LOCI_COLLECTOR_CC)
		loci_analysis_add_note(a,
			"seen is what loci cc compiled: no other code, and nothing of the kernel");
	if (loci_collector_is_inside(a->info.collector) && (a->options->only || a->options->skip))
		has &= ~(uint32_t)LOCI_CAP_COMPLETE;
	if (a->has_paused) {
		snprintf(text, sizeof(text),
			"the program disabled recording: %" PRIu64 " references are left out",
			a->left_out);
		loci_analysis_add_note(a, text);
		has = (has & ~(uint32_t)LOCI_CAP_COMPLETE) | LOCI_CAP_WINDOWS;
	}
	return has;
}

/* What --statement left out, and how large an element is. */
static void note_statement(struct loci_analysis *a)
{
	uint64_t again = 0, bytes = a->grain[0].totals.block_bytes;
	char text[200];

	for (size_t i = 0; i < a->n_processes; i++)
		again += a->process[i].again;
	for (unsigned i = 1; i < a->n_grains; i++)
		if (a->grain[i].totals.block_bytes < bytes)
			bytes = a->grain[i].totals.block_bytes;
	snprintf(text, sizeof(text),
		"every element of %" PRIu64 " byte%s counts once per execution of a statement: "
		"%" PRIu64 " further references are left out",
		bytes, bytes == 1 ? "" : "s", again);
	loci_analysis_add_note(a, text);
}

static int put_run(struct loci_analysis *a, struct loci_profile *profile, bool sampled,
	double seconds, struct loci_err *err)
{
	char caps[96], origin[sizeof(a->info.origin) + 1] = "";
	bool statement = a->options->statement && a->attributed;
	struct loci_run run = { 0 };
	uint32_t has = note_unseen(a);

	for (size_t i = 0; i < a->n_processes; i++) {
		const struct loci_process_totals *process = &a->process[i];

		run.references += process->references;
		run.loads += process->loads;
		run.stores += process->stores;
		run.fetches += process->fetches;
		run.bulk += process->bulk;
		run.lost += process->lost;
		run.threads += process->n_threads;
	}
	if (a->options->counts) {
		run.references = a->told_references;
		run.threads = a->told_threads;
		has &= ~(uint32_t)(LOCI_CAP_COMPLETE | LOCI_CAP_STORES);
	}
	if (statement)
		note_statement(a);
	memcpy(origin, a->info.origin, sizeof(a->info.origin));
	run.command = (char *)a->options->command;
	run.collector = (char *)collector_name(a->info.collector);
	run.origin = origin;
	run.mode = a->options->counts             ? "count"
		: a->options->watching            ? "watch"
		: sampled || a->options->sampling ? "sample"
						  : "exact";
	run.unit = a->info.unit == LOCI_UNIT_OBJECT ? "object" : "byte";
	run.capabilities = (char *)capabilities(has, is_approximate(a), caps, sizeof(caps));
	if (statement && strlen(caps) + sizeof(" statement") <= sizeof(caps))
		strcat(caps, " statement");
	run.program_version = (char *)a->options->version;
	run.machine = (char *)a->options->machine;
	run.caches = (char *)a->options->caches;
	run.started = a->started;
	run.seconds = seconds;
	run.complete = !a->interrupted && !a->incomplete && !run.lost;
	run.note = a->note[0] ? a->note : NULL;
	run.merged = 1;
	return loci_profile_put_run(profile, &run, err);
}

static int by_start(const void *left, const void *right)
{
	const struct loci_process_totals *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_thread(const void *left, const void *right)
{
	const struct loci_thread_totals *a = left, *b = right;

	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* What the threads of each process met, where any had several. */
static int put_share(struct loci_analysis *a, struct loci_share_put *put,
	const struct loci_process_totals *process, uint32_t base, struct loci_err *err)
{
	char text[120];

	if (!put->profile || !process->share)
		return 0;
	if (process->share->sampling_rate < 1) {
		snprintf(text, sizeof(text),
			"memory limit reached: what threads have to themselves is an estimate, "
			"from "
			"1 in %.4g blocks",
			1 / process->share->sampling_rate);
		loci_analysis_add_note(a, text);
	}
	return loci_share_sum_put(process->share, base, put, err);
}

static bool is_threaded(const struct loci_analysis *a)
{
	for (size_t i = 0; i < a->n_processes; i++)
		if (a->process[i].share && a->process[i].share->threaded)
			return true;
	return false;
}

/* Threads keep the stream's numbers; those of further processes follow. */
static int put_threads(struct loci_analysis *a, struct loci_profile *profile,
	struct loci_share_put *share, struct loci_err *err)
{
	uint32_t base = 0;
	int r = 0;

	for (size_t i = 0; i < a->n_processes; i++) {
		struct loci_process_totals *process = &a->process[i];
		uint32_t next = base;

		if (process->n_threads) /* a process may be killed before its first reference */
			qsort(process->thread, process->n_threads, sizeof(*process->thread),
				by_thread);
		for (size_t k = 0; r == 0 && k < process->n_threads; k++) {
			struct loci_thread_totals totals = process->thread[k];

			totals.thread += base;
			totals.process_id = process->pid ? (int64_t)i + 1 : 0;
			next = totals.thread + 1;
			r = loci_profile_put_thread(profile, &totals, err);
		}
		if (r == 0 && a->options->sampling)
			r = loci_sample_sum_put_threads(&process->samples,
				a->grain[0].totals.block_bytes, base, profile, err);
		else if (r == 0)
			r = put_share(a, share, process, base, err);
		base = next;
	}
	return r < 0 || !share->profile ? r : loci_share_put_whole(share, err);
}

static void publish_note(void *data, const char *text)
{
	loci_analysis_add_note(data, text);
}

static int put_processes(
	struct loci_analysis *a, struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n_processes; i++) {
		const struct loci_process_totals *process = &a->process[i];
		struct loci_process_row row = {
			.id = (int64_t)i + 1, .pid = process->pid, .command = process->program
		};

		/* a number may be used again: the latest before it is meant */
		for (size_t k = 0; k < i; k++)
			if (a->process[k].pid == process->parent_pid && process->parent_pid)
				row.parent_id = (int64_t)k + 1;
		if (process->pid)
			r = loci_profile_put_process(profile, &row, err);
	}
	return r;
}

static int put_attributed(struct loci_analysis *a, struct loci_profile *profile,
	int64_t coherence_id, struct loci_err *err)
{
	uint64_t bytes[LOCI_ANALYSE_GRAINS] = { 0 };
	const struct loci_publish_options options = { .block_bytes = bytes,
		.sites = a->info.capabilities & LOCI_CAP_SITES,
		.no_source = a->options->no_source,
		.levels = a->options->levels,
		.sample_weight = a->samples.weight > 0 ? a->samples.square / a->samples.weight : 0,
		.coherence_id = coherence_id,
		.note = publish_note,
		.note_data = a };
	int r;

	for (unsigned i = 0; i < a->n_grains; i++)
		bytes[i] = a->grain[i].totals.block_bytes;
	if (a->torn)
		loci_analysis_add_note(a, "no room to add up code and data: they are left out");
	if (!a->attributed || a->torn || a->options->threads_only)
		return 0;
	pthread_mutex_lock(&a->symbols_lock);
	r = loci_publish(&a->ledger, &options, profile, err);
	pthread_mutex_unlock(&a->symbols_lock);
	return r;
}

static bool is_of_samples(const struct loci_analysis *a)
{
	return a->options->sampling || a->options->watching;
}

static void note_unsampled(struct loci_analysis *a)
{
	char text[200];

	if (!a->n_unsampled)
		return;
	snprintf(text, sizeof(text),
		"%zu process%s ended before a sample: there are fewer references than the "
		"period (-c)%s",
		a->n_unsampled, a->n_unsampled == 1 ? "" : "es",
		a->options->watching ? ", and the others' samples do not stand for them" : "");
	loci_analysis_add_note(a, text);
}

static const char *why_given_up(const struct loci_analyse_watching *watching)
{
	const char *by = watching->by;

	if (watching->is_kept)
		return "why is told in the profile of the run itself";
	return by && !strcmp(by, "pages")
		? "other memory of their page was too hot, or it cannot be closed (stacks)"
		: "their block could not be watched";
}

static void note_watched(struct loci_analysis *a)
{
	const struct loci_sample_sum *sum = &a->samples;
	const char *by = a->options->watching->by;
	char text[280], points[LOCI_UNITS_MAX];

	if (!sum->samples) {
		snprintf(text, sizeof(text),
			"no sample was taken of %" PRIu64
			" references: choose a shorter period (-c)",
			sum->references);
		loci_analysis_add_note(a, text);
		return;
	}
	if (loci_sample_sum_is_blind(sum)) {
		snprintf(text, sizeof(text),
			"%" PRIu64 " samples of %" PRIu64 " references: %" PRIu64
			" reused while followed; none of the others was watched until its reuse, "
			"and how far away these are is unknown",
			sum->samples, sum->references, sum->in_burst);
		loci_analysis_add_note(a, text);
		return;
	}
	snprintf(text, sizeof(text),
		"%" PRIu64 " samples of %" PRIu64 " references, watched until their reuse: %" PRIu64
		" reused while followed, %" PRIu64 " met by %s, %" PRIu64
		" never; worth %.0f: miss ratios +-%s points (95 %%), beside the error of "
		"StatStack",
		sum->samples, sum->references, sum->in_burst, sum->by_watch,
		!by                            ? "a watch"
			: !strcmp(by, "pages") ? "a page's watch"
					       : "a debug register",
		sum->never, loci_sample_sum_effective(sum),
		loci_units_points(points, loci_sample_sum_error(sum)));
	loci_analysis_add_note(a, text);
	note_unsampled(a);
	if (sum->abandoned > a->watch_cost.lapsed) {
		snprintf(text, sizeof(text), "%" PRIu64 " watches were given up: %s",
			sum->abandoned - a->watch_cost.lapsed, why_given_up(a->options->watching));
		loci_analysis_add_note(a, text);
	}
}

#define UNSEEN_SHARE 0.01 /* from which it is worth a word */

static void note_samples(struct loci_analysis *a)
{
	const struct loci_sample_sum *sum = &a->samples;
	char text[200], points[LOCI_UNITS_MAX];

	snprintf(text, sizeof(text),
		"%" PRIu64 " samples of %" PRIu64
		" references, %.3g %% of which were recorded for them: miss ratios +-%s points "
		"(95 %%)",
		sum->samples, sum->references,
		sum->references ? 100 * (double)sum->analysed / (double)sum->references : 0,
		loci_units_points(points, loci_sample_sum_error(sum)));
	loci_analysis_add_note(a, text);
	if (sum->pruned) {
		snprintf(text, sizeof(text),
			"%" PRIu64
			" samples were given up before a reuse: misses of caches that are "
			"larger than what they had met are bounds from above",
			sum->pruned);
		loci_analysis_add_note(a, text);
	}
	note_unsampled(a);
	if ((double)sum->unseen > UNSEEN_SHARE * (double)sum->analysed) {
		snprintf(text, sizeof(text),
			"%.2g %% of the references while samples were open were counted, and not "
			"seen",
			100 * (double)sum->unseen / (double)(sum->unseen + sum->analysed));
		loci_analysis_add_note(a, text);
	}
}

static void describe_watches(const struct loci_analysis *a, struct loci_sampling_row *row)
{
	const struct loci_analyse_watch_cost *cost = &a->watch_cost;

	row->watched_by = a->options->watching->by ? a->options->watching->by : "replay";
	row->in_burst = a->samples.in_burst;
	row->by_watch = a->samples.by_watch;
	row->never = a->samples.never;
	row->abandoned = a->samples.abandoned;
	row->by_time = a->samples.by_time;
	row->unknown = a->samples.touches > 0 ? a->samples.unknown / a->samples.touches : 0;
	row->traps = cost->traps;
	row->false_faults = cost->false_faults;
	row->steps = cost->steps;
	row->syscalls = cost->syscalls;
	row->burst_ns = cost->burst_ns;
	row->trap_ns = cost->trap_ns;
}

static int put_samples(struct loci_analysis *a, struct loci_profile *profile, struct loci_err *err)
{
	const struct loci_analyse_watching *watching = a->options->watching;
	struct loci_sampling_row sampling = { .period = watching ? watching->period
								 : a->options->sampling->period,
		.seed = watching ? watching->seed : a->options->sampling->seed };

	if (watching)
		describe_watches(a, &sampling);
	sampling.last_period = sampling.period;
	if (a->samples.last_mean > sampling.last_period)
		sampling.last_period = a->samples.last_mean;
	if (watching)
		note_watched(a);
	else
		note_samples(a);
	a->samples.lost += a->watch_cost.lost;
	return loci_sample_sum_put(
		&a->samples, a->grain[0].totals.block_bytes, &sampling, profile, err);
}

static int write_profile(
	struct loci_analysis *a, const char *path, double seconds, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_share_put share = { .block_bytes = a->grain[0].totals.block_bytes,
		.n_levels = a->attributed && !a->torn ? a->ledger.n_levels : 0 };
	bool sampled = false;
	char text[160];
	int r = loci_profile_create(path, &profile, err);

	share.profile = r == 0 && is_threaded(a) && !is_of_samples(a) ? profile : NULL;
	loci_hist_init(&share.alone, LOCI_SCHEME_FINE);
	loci_hist_init(&share.remote, LOCI_SCHEME_FINE);
	if (r == 0 && is_of_samples(a))
		r = put_samples(a, profile, err);
	for (unsigned i = 0; r == 0 && i < a->n_grains && !is_of_samples(a); i++) {
		const struct loci_grain *totals = &a->grain[i].totals;

		r = a->options->counts ? loci_profile_put_grain(profile, totals, err)
				       : loci_grain_sum_put(&a->grain[i], profile, err);
		if (r == 0 && totals->sampling_rate < 1) {
			sampled = true;
			snprintf(text, sizeof(text),
				"memory limit reached after %" PRIu64 " touches of %" PRIu64
				"-byte blocks: 1 in %.4g blocks followed since, miss ratios "
				"+-%.2g points (95 %%)",
				totals->sampled_from, totals->block_bytes,
				1 / totals->sampling_rate, totals->error_points);
			loci_analysis_add_note(a, text);
		}
	}
	if (r == 0 && a->interrupted) {
		snprintf(text, sizeof(text), "interrupted after %" PRIu64 " references",
			loci_analysis_references(a));
		loci_analysis_add_note(a, text);
	}
	qsort(a->process, a->n_processes, sizeof(*a->process), by_start);
	if (r == 0)
		r = put_processes(a, profile, err);
	if (r == 0)
		r = put_threads(a, profile, &share, err);
	if (r == 0)
		r = loci_unseen_put(&a->unseen, profile, err);
	if (r == 0)
		r = loci_mistakes_put(&a->mistakes, profile, err);
	if (r == 0)
		r = put_attributed(a, profile, share.coherence_id, err);
	loci_hist_fini(&share.alone);
	loci_hist_fini(&share.remote);
	if (r == 0)
		r = put_run(a, profile, sampled, seconds, err);
	return r < 0 ? r : loci_profile_commit(profile, err);
}

int loci_analysis_write(struct loci_analysis *a, const char *path, struct loci_analyse_summary *ret,
	struct loci_err *err)
{
	struct timespec end;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	pthread_mutex_lock(&a->lock);
	*ret = (struct loci_analyse_summary){ .interrupted = a->interrupted };
	ret->references = loci_analysis_references(a);
	ret->verified = a->verified;
	if (is_of_samples(a) && a->samples.references) {
		ret->samples = a->samples.samples;
		ret->analysed = (double)a->samples.analysed / (double)a->samples.references;
		ret->error_points = loci_sample_sum_error(&a->samples);
	}
	if (!ret->references && a->interrupted)
		r = loci_err_set(err, EINTR, "interrupted before the first reference");
	else if ((!ret->references && !a->options->counts) || !a->n_processes)
		r = loci_err_set(err, ENODATA, "%s: no references in it (%.*s)%s%s",
			a->options->command ? a->options->command : "the trace",
			(int)sizeof(a->info.origin), a->info.origin, a->note[0] ? ": " : "",
			a->note);
	else if (a->alone && a->options->watching && !a->samples.samples)
		r = loci_err_set(err, ENODATA,
			"no sample was taken of %" PRIu64 " references: choose a shorter period "
			"(-c)",
			ret->references);
	else
		r = write_profile(a, path,
			(double)(end.tv_sec - a->start.tv_sec) +
				(double)(end.tv_nsec - a->start.tv_nsec) / 1e9,
			err);
	snprintf(ret->note, sizeof(ret->note), "%s", a->note);
	pthread_mutex_unlock(&a->lock);
	return r;
}

int loci_analyse(struct loci_source *source, const struct loci_analyse_options *options,
	const char *path, struct loci_analyse_summary *ret, struct loci_err *err)
{
	loci_cleanup(analysis_freep) struct loci_analysis *a = NULL;
	int r = loci_analysis_new(options, &a, err);

	if (r < 0)
		return r;
	a->alone = true;
	r = loci_analysis_read(a, source, err);
	return r < 0 ? r : loci_analysis_write(a, path, ret, err);
}
