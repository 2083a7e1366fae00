// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/analyse.h"

#include "analyse/grain.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "stream/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS         32768 /* per read: with the references of a batch they stay in L2 */
#define REFS          4096
#define SETS_BYTES    (96ull << 20) /* at most, of the per-set engine at one block size */
#define WORK_BYTES    (32ull << 20) /* buffers, decoder, SQLite */
/* A longer reference is damage, not a program's. */
#define REF_MAX_BYTES (1ull << 40)

struct analysis {
	const struct loci_analyse_options *options;
	struct loci_source *source;
	struct loci_decoder *decoder;
	struct loci_grain_engine *grain[LOCI_ANALYSE_GRAINS];
	unsigned n_grains;
	struct loci_run run;
	struct loci_thread_totals *thread;
	size_t n_threads, thread_cap, last_thread;
	char note[512];
	uint64_t words[WORDS];
	struct loci_ref refs[REFS];
};

static void analysis_free(struct analysis **pointer)
{
	struct analysis *a = *pointer;

	if (!a)
		return;
	for (unsigned i = 0; i < a->n_grains; i++)
		loci_grain_free(a->grain[i]);
	loci_decoder_free(a->decoder);
	free(a->thread);
	free(a);
}

static void add_note(struct analysis *a, const char *text)
{
	size_t used = strlen(a->note);

	snprintf(a->note + used, sizeof(a->note) - used, "%s%s", used ? "; " : "", text);
}

static int open_grains(struct analysis *a, struct loci_err *err)
{
	const struct loci_analyse_options *options = a->options;
	bool objects = a->source->info.unit == LOCI_UNIT_OBJECT;
	unsigned n = objects || !options->n_block_bytes ? 1 : options->n_block_bytes;
	struct loci_grain_options grain = {
		.objects = objects, .no_sets = options->no_sets, .verify = options->verify
	};

	if (options->max_memory) {
		uint64_t fixed = WORK_BYTES + (grain.no_sets ? 0 : n * SETS_BYTES);

		if (!grain.no_sets && fixed > options->max_memory / 2) {
			grain.no_sets = true;
			fixed = WORK_BYTES;
			add_note(a, "no per-set distances: they do not fit in --max-memory");
		}
		if (fixed >= options->max_memory)
			return loci_err_set(err, EINVAL,
				"--max-memory must be more than %" PRIu64 "M", fixed >> 20);
		grain.max_bytes = (options->max_memory - fixed) / n;
	}
	for (unsigned i = 0; i < n; i++) {
		int r;

		grain.block_bytes = objects      ? 1
			: options->n_block_bytes ? options->block_bytes[i]
						 : 64;
		r = loci_grain_new(&grain, &a->grain[i], err);
		if (r < 0)
			return r;
		a->n_grains++;
	}
	return 0;
}

static int count_thread(
	struct analysis *a, uint32_t thread, uint64_t references, struct loci_err *err)
{
	size_t i = a->last_thread;

	if (i >= a->n_threads || a->thread[i].thread != thread)
		for (i = 0; i < a->n_threads && a->thread[i].thread != thread;)
			i++;
	if (i == a->n_threads) {
		if (i == a->thread_cap) {
			size_t cap = i ? 2 * i : 16;
			void *larger = realloc(a->thread, cap * sizeof(*a->thread));

			if (!larger)
				return loci_err_nomem(err);
			a->thread = larger;
			a->thread_cap = cap;
		}
		a->thread[a->n_threads++] = (struct loci_thread_totals){ .thread = thread };
	}
	a->thread[i].references += references;
	a->last_thread = i;
	return 0;
}

/* Counts what the references are; frames are none. */
static int tally(struct analysis *a, const struct loci_ref *refs, size_t n, struct loci_err *err)
{
	uint64_t by_op[4] = { 0 }, bulk = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		const struct loci_ref *ref = &refs[i];

		if (ref->size_bytes > REF_MAX_BYTES)
			return loci_err_set(err, EBADMSG,
				"a reference of %" PRIu64 " bytes at address 0x%" PRIx64
				" after %" PRIu64 " references: the trace is damaged",
				ref->size_bytes, ref->address, a->run.references + i);
		by_op[ref->op & 3]++;
		bulk += !!(ref->flags & LOCI_REF_BULK);
		run += ref->op != LOCI_OP_FRAME;
		if (i + 1 == n || refs[i + 1].thread != ref->thread) {
			int r = run ? count_thread(a, ref->thread, run, err) : 0;

			if (r < 0)
				return r;
			run = 0;
		}
	}
	a->run.loads += by_op[LOCI_OP_LOAD];
	a->run.stores += by_op[LOCI_OP_STORE];
	a->run.fetches += by_op[LOCI_OP_FETCH];
	a->run.bulk += bulk;
	a->run.references = a->run.loads + a->run.stores + a->run.fetches;
	return 0;
}

static int decode(struct analysis *a, size_t n_words, struct loci_err *err)
{
	size_t pos = 0;

	do {
		struct loci_event event;
		size_t n_refs;
		int r;

		r = loci_decoder_next(
			a->decoder, a->words, n_words, &pos, a->refs, REFS, &n_refs, &event, err);
		if (r == 0)
			r = tally(a, a->refs, n_refs, err);
		for (unsigned i = 0; r == 0 && i < a->n_grains; i++)
			r = loci_grain_feed(a->grain[i], a->refs, n_refs, err);
		if (r < 0)
			return r;
		if (event.kind == LOCI_MARK_LOST)
			a->run.lost += event.payload;
	} while (pos < n_words);
	return 0;
}

static int read_all(struct analysis *a, bool *ret_interrupted, struct loci_err *err)
{
	const struct loci_analyse_options *options = a->options;
	struct loci_source *source = a->source;

	for (;;) {
		ssize_t n = source->ops->read(source, a->words, WORDS, err);
		uint64_t done = 0, total = 0;
		int r;

		if (n == -EINTR && options->stop && *options->stop) {
			*ret_interrupted = true;
			return 0;
		}
		if (n <= 0)
			return (int)n;
		if (options->keep) {
			r = loci_trace_write(options->keep, a->words, (size_t)n, err);
			if (r < 0)
				return r;
		}
		r = decode(a, (size_t)n, err);
		if (r < 0)
			return r;
		if (options->progress) {
			source->ops->progress(source, &done, &total);
			options->progress(options->progress_data, a->run.references, done, total);
		}
		if (options->stop && *options->stop) {
			*ret_interrupted = true;
			return 0;
		}
	}
}

static int by_thread(const void *left, const void *right)
{
	const struct loci_thread_totals *a = left, *b = right;

	return (a->thread > b->thread) - (a->thread < b->thread);
}

static const char *capabilities(uint32_t bits, char *buf, size_t size)
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
	};
	size_t used = 0;

	buf[0] = 0;
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (bits & names[i].bit && used < size)
			used += (size_t)snprintf(
				buf + used, size - used, "%s%s", used ? " " : "", names[i].name);
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

static int put_run(struct analysis *a, struct loci_profile *profile, bool sampled, bool interrupted,
	struct loci_err *err)
{
	const struct loci_stream_info *info = &a->source->info;
	char caps[64], origin[sizeof(info->origin) + 1] = "";
	struct loci_run run = a->run;

	memcpy(origin, info->origin, sizeof(info->origin));
	run.command = (char *)a->options->command;
	run.collector = (char *)collector_name(info->collector);
	run.origin = origin;
	run.mode = sampled ? "sample" : "exact";
	run.unit = info->unit == LOCI_UNIT_OBJECT ? "object" : "byte";
	run.capabilities = (char *)capabilities(info->capabilities, caps, sizeof(caps));
	run.program_version = (char *)a->options->version;
	run.machine = (char *)a->options->machine;
	run.caches = (char *)a->options->caches;
	if (a->source->note[0])
		add_note(a, a->source->note);
	run.complete = !interrupted && !run.lost && !a->source->incomplete;
	run.note = a->note[0] ? a->note : NULL;
	run.threads = a->n_threads;
	run.merged = 1;
	return loci_profile_put_run(profile, &run, err);
}

static int write_profile(
	struct analysis *a, const char *path, bool interrupted, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	bool sampled = false;
	char text[160];
	int r = loci_profile_create(path, &profile, err);

	for (unsigned i = 0; r == 0 && i < a->n_grains; i++) {
		struct loci_grain totals;

		r = loci_grain_put(a->grain[i], profile, &totals, err);
		if (r == 0 && totals.sampling_rate < 1) {
			sampled = true;
			snprintf(text, sizeof(text),
				"memory limit reached after %" PRIu64 " touches of %" PRIu64
				"-byte blocks: 1 in %.4g blocks followed since, miss ratios "
				"+-%.2g points (95 %%)",
				totals.sampled_from, totals.block_bytes, 1 / totals.sampling_rate,
				totals.error_points);
			add_note(a, text);
		}
	}
	if (r == 0 && interrupted) {
		snprintf(text, sizeof(text), "interrupted after %" PRIu64 " references",
			a->run.references);
		add_note(a, text);
	}
	qsort(a->thread, a->n_threads, sizeof(*a->thread), by_thread);
	for (size_t i = 0; r == 0 && i < a->n_threads; i++)
		r = loci_profile_put_thread(profile, &a->thread[i], err);
	if (r == 0)
		r = put_run(a, profile, sampled, interrupted, err);
	return r < 0 ? r : loci_profile_commit(profile, err);
}

int loci_analyse(struct loci_source *source, const struct loci_analyse_options *options,
	const char *path, struct loci_analyse_summary *ret, struct loci_err *err)
{
	loci_cleanup(analysis_free) struct analysis *a = calloc(1, sizeof(*a));
	time_t now = time(NULL);
	struct timespec start, end;
	char started[32];
	struct tm utc;
	int r;

	if (!a)
		return loci_err_nomem(err);
	clock_gettime(CLOCK_MONOTONIC, &start);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	a->options = options;
	a->source = source;
	a->run.started = started;
	*ret = (struct loci_analyse_summary){ 0 };
	r = open_grains(a, err);
	if (r == 0)
		r = loci_decoder_new(&a->decoder, err);
	if (r == 0)
		r = read_all(a, &ret->interrupted, err);
	if (r == 0 && !a->run.references && ret->interrupted)
		r = loci_err_set(err, EINTR, "interrupted before the first reference");
	if (r == 0 && !a->run.references)
		r = loci_err_set(err, ENODATA, "%s: no references in it (%s)%s%s",
			options->command ? options->command : "the trace", source->info.origin,
			source->note[0] ? ": " : "", source->note);
	if (r < 0)
		return r;
	clock_gettime(CLOCK_MONOTONIC, &end);
	a->run.seconds =
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	r = write_profile(a, path, ret->interrupted, err);
	ret->references = a->run.references;
	for (unsigned i = 0; i < a->n_grains; i++)
		ret->verified += loci_grain_verified(a->grain[i]);
	snprintf(ret->note, sizeof(ret->note), "%s", a->note);
	return r;
}
