// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading one process's stream: its words through the decoder into the engines, and in the end what
 * they counted into the analysis. */
#include "analyse/analyse.h"

#include "analyse/attribute.h"
#include "analyse/count_check.h"
#include "analyse/grain.h"
#include "analyse/session.h"
#include "analyse/watch_events.h"
#include "base/cleanup.h"
#include "base/own_code.h"
#include "stream/decode.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS         32768 /* per read: with the references of a batch they stay in L2 */
#define FEW_WORDS     4096  /* where few come: who shares a machine with the program takes little */
#define REFS          4096
#define SETS_BYTES    (96ull << 20) /* at most, of the per-set engine at one block size */
#define WORK_BYTES    (32ull << 20) /* buffers, decoder, SQLite */
/* A longer reference is damage, not a program's. */
#define REF_MAX_BYTES (1ull << 40)

struct process {
	struct loci_analysis *analysis;
	const struct loci_analyse_options *options;
	struct loci_source *source;
	struct loci_decoder *decoder;
	struct loci_grain_engine *grain[LOCI_ANALYSE_GRAINS];
	unsigned n_grains;
	struct loci_attribution *attribution; /* NULL: references are not attributed */
	struct loci_sampler *sampler;         /* NULL: there are no samples */
	struct loci_watch_events watched;     /* where samples are */
	struct loci_watch_blame *blame;       /* of these; NULL: they are not attributed */
	uint64_t promised_bytes, footprint_bytes, share_bytes;
	bool is_first, keep;
	struct loci_process_totals totals;
	struct loci_unseen unseen;
	struct loci_mistakes mistakes;
	struct loci_count_check check;
	bool paused, has_paused; /* references are not to count, or were not */
	uint64_t left_out;       /* so */
	size_t thread_cap, last_thread;
	uint64_t words[WORDS];
	struct loci_ref refs[REFS];
};

static void process_free(struct process **pointer)
{
	struct process *p = *pointer;

	if (!p)
		return;
	pthread_mutex_lock(&p->analysis->lock);
	p->analysis->promised_bytes -= p->promised_bytes;
	pthread_mutex_unlock(&p->analysis->lock);
	loci_attribution_free(p->attribution);
	loci_sampler_free(p->sampler);
	loci_watch_events_fini(&p->watched);
	loci_watch_blame_free(p->blame);
	loci_sample_sum_fini(&p->totals.samples);
	for (unsigned i = 0; i < p->n_grains; i++)
		loci_grain_free(p->grain[i]);
	loci_decoder_free(p->decoder);
	loci_count_check_fini(&p->check);
	loci_unseen_fini(&p->unseen);
	loci_mistakes_fini(&p->mistakes);
	free(p->totals.program);
	free(p->totals.thread);
	loci_share_sum_free(p->totals.share);
	free(p);
}

#define LEAST_BYTES (16ull << 20) /* without which an engine is of no use */

/* The bytes that this process's engines may take. With several processes each takes half of what
 * is left, so that those which come later find some. */
static int promise(struct process *p, uint64_t fixed, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	uint64_t all = p->options->max_memory, left;

	if (fixed >= all)
		return loci_err_set(
			err, EINVAL, "--max-memory must be more than %" PRIu64 "M", fixed >> 20);
	left = all - fixed > a->promised_bytes ? all - fixed - a->promised_bytes : 0;
	p->promised_bytes = a->alone ? left : left / 2;
	if (p->promised_bytes < LEAST_BYTES * p->n_grains)
		p->promised_bytes = LEAST_BYTES * p->n_grains;
	a->promised_bytes += p->promised_bytes;
	return 0;
}

static int limits(struct process *p, struct loci_grain_options *grain, struct loci_err *err)
{
	uint64_t sets = p->n_grains * SETS_BYTES;
	int r;

	if (!p->options->max_memory)
		return 0;
	if (!grain->no_sets && WORK_BYTES + sets > p->options->max_memory / 2) {
		grain->no_sets = true;
		loci_analysis_add_note(
			p->analysis, "no per-set distances: they do not fit in --max-memory");
	}
	r = promise(p, WORK_BYTES + (grain->no_sets ? 0 : sets), err);
	if (p->options->footprint)
		p->footprint_bytes = p->promised_bytes / 4;
	grain->max_bytes = (p->promised_bytes - p->footprint_bytes) / p->n_grains;
	p->share_bytes = grain->max_bytes / 2;
	return r;
}

static uint64_t block_bytes(const struct process *p, unsigned grain)
{
	if (p->source->info.unit == LOCI_UNIT_OBJECT)
		return 1;
	return p->options->n_block_bytes ? p->options->block_bytes[grain] : 64;
}

/* The first process settles what all are measured in. */
static int join(struct process *p, struct loci_grain_options *grain, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	bool first = a->n_read++ == 0;

	p->is_first = first;
	if (first)
		a->info = p->source->info;
	else if (a->info.unit != p->source->info.unit)
		return loci_err_set(err, EINVAL,
			"streams of addresses and of whole objects have no common profile");
	p->n_grains = grain->objects || !p->options->n_block_bytes ? 1 : p->options->n_block_bytes;
	for (; first && a->n_grains < p->n_grains; a->n_grains++)
		loci_grain_sum_init(
			&a->grain[a->n_grains], block_bytes(p, a->n_grains), !grain->no_sets);
	p->keep = p->options->keep && !a->kept;
	a->kept |= p->keep;
	return limits(p, grain, err);
}

static bool attributes(const struct process *p)
{
	return p->options->attribute && p->source->info.unit == LOCI_UNIT_BYTE;
}

static int open_attribution(struct process *p, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	uint64_t bytes[LOCI_ANALYSE_GRAINS];
	struct loci_attribution_options options = { .options = p->options,
		.capabilities = p->source->info.capabilities,
		.collector = p->source->info.collector,
		.decoder = p->decoder,
		.grain = p->grain,
		.n_grains = p->n_grains,
		.block_bytes = bytes,
		.footprint_bytes = p->footprint_bytes,
		.share_bytes = p->share_bytes,
		.symbols_lock = &a->symbols_lock };
	int r = 0;

	if (!attributes(p))
		return 0;
	for (unsigned i = 0; i < p->n_grains; i++)
		bytes[i] = block_bytes(p, i);
	pthread_mutex_lock(&a->lock);
	if (!a->attributed) {
		r = loci_ledger_init(
			&a->ledger, p->options->watching ? 0 : (unsigned)p->options->n_levels, err);
		a->ledger.n_sides = p->n_grains - 1;
		a->attributed = true;
	}
	options.symbols = a->ledger.symbols;
	pthread_mutex_unlock(&a->lock);
	return r < 0 ? r : loci_attribution_new(&options, &p->attribution, err);
}

static void samples_closed(void *data, uint32_t n)
{
	const struct process *p = data;
	const struct loci_analyse_sampling *sampling = p->options->sampling;

	if (sampling->closed)
		sampling->closed(sampling->data, p->totals.pid, n);
}

static int open_sampler(struct process *p, struct loci_err *err)
{
	const struct loci_analyse_sampling *sampling = p->options->sampling;
	struct loci_sampler_options options = { .shift = (unsigned)__builtin_ctzll(
							block_bytes(p, 0)),
		.seed = sampling ? sampling->seed : 0,
		.period = sampling ? sampling->period : 0,
		.max_bytes = p->promised_bytes / 2,
		.gamble_touches = sampling ? sampling->gamble_touches : 0,
		.closed = samples_closed,
		.data = p };
	int r;

	if (!sampling || !p->attribution)
		return 0;
	r = loci_sampler_new(&options, &p->sampler, err);
	p->attribution->sampler = p->sampler;
	return r;
}

static int open_watched(struct process *p, struct loci_err *err)
{
	const struct loci_analyse_watching *watching = p->options->watching;
	int r;

	if (!watching)
		return 0;
	r = loci_watch_events_init(&p->watched, watching->weighting, watching->burst_refs, err);
	if (r < 0 || !p->attribution)
		return r;
	r = loci_watch_blame_new(watching->writes_only, &p->blame, err);
	p->attribution->watched = p->blame;
	return r;
}

static int open_grains(struct process *p, struct loci_err *err)
{
	struct loci_grain_options grain = { .objects = p->source->info.unit == LOCI_UNIT_OBJECT,
		.no_sets = p->options->no_sets,
		.little = p->options->counts || p->options->watching,
		.verify = p->options->verify };
	unsigned n;
	int r;

	pthread_mutex_lock(&p->analysis->lock);
	r = join(p, &grain, err);
	pthread_mutex_unlock(&p->analysis->lock);
	n = p->n_grains;
	p->n_grains = 0;
	while (r == 0 && p->n_grains < n) {
		grain.block_bytes = block_bytes(p, p->n_grains);
		grain.keep_uses =
			p->n_grains == 0 && attributes(p) && p->options->pairs != LOCI_PAIRS_NONE;
		grain.recent = p->n_grains == 0 && attributes(p) && grain.no_sets &&
			loci_measure_may_be_recent(
				p->options, (unsigned)__builtin_ctzll(grain.block_bytes));
		r = loci_grain_new(&grain, &p->grain[p->n_grains], err);
		p->n_grains += r == 0;
	}
	return r;
}

static int count_thread(
	struct process *p, uint32_t thread, uint64_t references, struct loci_err *err)
{
	struct loci_process_totals *totals = &p->totals;
	size_t i = p->last_thread;

	if (i >= totals->n_threads || totals->thread[i].thread != thread)
		for (i = 0; i < totals->n_threads && totals->thread[i].thread != thread;)
			i++;
	if (i == totals->n_threads) {
		if (i == p->thread_cap) {
			size_t cap = i ? 2 * i : 4;
			void *larger = realloc(totals->thread, cap * sizeof(*totals->thread));

			if (!larger)
				return loci_err_nomem(err);
			totals->thread = larger;
			p->thread_cap = cap;
		}
		totals->thread[totals->n_threads++] =
			(struct loci_thread_totals){ .thread = thread };
	}
	totals->thread[i].references += references;
	p->last_thread = i;
	return 0;
}

/* Counts what the references are; frames are none. */
static int tally(struct process *p, const struct loci_ref *refs, size_t n, struct loci_err *err)
{
	uint64_t by_op[LOCI_OP_FRAME] = { 0 }, bulk = 0, run = 0, before = p->totals.references;

	for (size_t i = 0; i < n; i++) {
		const struct loci_ref *ref = &refs[i];

		if (ref->size_bytes > REF_MAX_BYTES)
			return loci_err_set(err, EBADMSG,
				"a reference of %" PRIu64 " bytes at address 0x%" PRIx64
				" after %" PRIu64 " references: the trace is damaged",
				ref->size_bytes, ref->address, before + i);
		if (ref->op < LOCI_OP_FRAME) {
			by_op[ref->op]++;
			bulk += !!(ref->flags & LOCI_REF_BULK);
			run++;
		}
		if (i + 1 == n || refs[i + 1].thread != ref->thread) {
			int r = run ? count_thread(p, ref->thread, run, err) : 0;

			if (r < 0)
				return r;
			run = 0;
		}
	}
	p->totals.loads += by_op[LOCI_OP_LOAD];
	p->totals.stores += by_op[LOCI_OP_STORE];
	p->totals.fetches += by_op[LOCI_OP_FETCH];
	p->totals.bulk += bulk;
	p->totals.references = p->totals.loads + p->totals.stores + p->totals.fetches;
	atomic_fetch_add_explicit(
		&p->analysis->references, p->totals.references - before, memory_order_relaxed);
	return 0;
}

static void event(void *data, const struct loci_event *event)
{
	struct process *p = data;

	loci_count_check_event(&p->check, event);
	if (p->options->watching)
		loci_watch_events_event(&p->watched, event);
	if (event->kind == LOCI_MARK_LOST) {
		p->totals.lost += event->payload;
	} else if (event->kind == LOCI_MARK_UNSEEN) {
		const char *library = loci_decoder_string(p->decoder, event->payload);

		/* without memory for its name it is not mentioned */
		(void)loci_unseen_add(&p->unseen, library ? library : "?", event->raw[0]);
	} else if (event->kind == LOCI_MARK_MISTAKE) {
		const char *what = loci_decoder_string(p->decoder, event->payload);

		(void)loci_mistakes_tell(&p->mistakes, what ? what : "?", event->raw[0]);
	} else if (event->kind == LOCI_MARK_PAUSE) {
		p->paused = event->payload;
		p->has_paused = true;
	} else if (event->kind == LOCI_MARK_PROCESS) {
		p->totals.pid = (int64_t)event->payload;
		p->totals.parent_pid = (int64_t)event->raw[0];
		p->totals.start_ns = event->raw[1];
	} else if (event->kind == LOCI_MARK_MODULE_LOAD && !p->totals.program) {
		/* The first is the program itself. Without memory for its name it has none. */
		const char *path = loci_decoder_string(p->decoder, event->raw[3]);

		p->totals.program = path ? strdup(path) : NULL;
	}
}

static int decode(struct process *p, size_t n_words, struct loci_err *err)
{
	uint64_t before;
	size_t pos = 0;
	int fault;

	if (p->attribution) {
		before = p->attribution->references;
		fault = loci_attribution_words(p->attribution, p->words, n_words, event, p, err);
		atomic_fetch_add_explicit(&p->analysis->references,
			p->attribution->references - before, memory_order_relaxed);
		return fault;
	}
	do {
		struct loci_event marker;
		size_t n_refs;
		int r;

		/* what came before a fault counts */
		fault = loci_decoder_next(
			p->decoder, p->words, n_words, &pos, p->refs, REFS, &n_refs, &marker, err);
		if (p->paused) {
			for (size_t i = 0; i < n_refs; i++)
				p->left_out += p->refs[i].op < LOCI_OP_FRAME;
			n_refs = 0;
		}
		r = tally(p, p->refs, n_refs, err);
		for (unsigned i = 0; r == 0 && i < p->n_grains; i++)
			r = loci_grain_feed(p->grain[i], p->refs, n_refs, err);
		if (r < 0)
			return r;
		if (fault == 0)
			event(p, &marker);
	} while (fault == 0 && pos < n_words);
	return fault;
}

static bool stopped(const struct process *p)
{
	return p->options->stop && *p->options->stop;
}

static void show_progress(struct process *p)
{
	struct loci_analysis *a = p->analysis;
	uint64_t done = 0, total = 0;

	if (!p->options->progress || pthread_mutex_trylock(&a->lock) != 0)
		return;
	p->source->ops->progress(p->source, &done, &total);
	p->options->progress(
		p->options->progress_data, loci_analysis_references(a), done, a->alone ? total : 0);
	pthread_mutex_unlock(&a->lock);
}

/* 1: stopped. */
static int read_all(struct process *p, struct loci_err *err)
{
	struct loci_source *source = p->source;

	for (;;) {
		ssize_t n = source->ops->read(
			source, p->words, p->options->watching ? FEW_WORDS : WORDS, err);
		int r = 0;

		if (n == -EINTR && stopped(p))
			return 1;
		if (n <= 0)
			return (int)n;
		if (p->keep)
			r = loci_trace_write(p->options->keep, p->words, (size_t)n, err);
		if (r == 0)
			r = decode(p, (size_t)n, err);
		if (r < 0)
			return r;
		show_progress(p);
		if (stopped(p))
			return 1;
	}
}

static int append_totals(struct process *p, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	void *larger = realloc(a->process, (a->n_processes + 1) * sizeof(*a->process));

	if (!larger)
		return loci_err_nomem(err);
	a->process = larger;
	a->process[a->n_processes++] = p->totals;
	p->totals = (struct loci_process_totals){ 0 };
	return 0;
}

static int fold_grains(struct process *p, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < p->n_grains; i++) {
		loci_cleanup(loci_grain_sum_fini) struct loci_grain_sum sum;

		loci_grain_sum_init(&sum, block_bytes(p, i), true);
		r = loci_grain_finish(p->grain[i], &sum, err);
		if (r == 0 && i == 0 && p->attribution)
			r = loci_share_sum_new(p->attribution, &sum.stack, sum.totals.blocks,
				&p->totals.share, err);
		if (r < 0)
			return r;
		pthread_mutex_lock(&a->lock);
		r = loci_grain_sum_merge(&a->grain[i], &sum, err);
		a->verified += loci_grain_verified(p->grain[i]);
		pthread_mutex_unlock(&a->lock);
	}
	return r;
}

/* Threads counted all of them; what they were is known of samples. */
static int total_sampled(struct process *p, struct loci_err *err)
{
	const struct loci_attribution *a = p->attribution;
	struct loci_process_totals *totals = &p->totals;
	uint64_t all = totals->samples.references;
	uint64_t known = totals->loads + totals->stores + totals->fetches;
	int r = 0;

	totals->loads = known
		? all - (uint64_t)((double)all * (double)totals->stores / (double)known)
		: all;
	totals->stores = all - totals->loads;
	totals->fetches = 0;
	totals->references = all;
	atomic_fetch_add_explicit(&p->analysis->references, all, memory_order_relaxed);
	for (size_t i = 0; r == 0 && i < a->walk.n_threads; i++) {
		uint64_t refs = loci_sampler_thread_refs(p->sampler, i);

		r = refs ? count_thread(p, a->walk.thread[i].id, refs, err) : 0;
	}
	return r;
}

/* What the sites are tells what the references were. */
static int total(struct process *p, struct loci_err *err)
{
	const struct loci_attribution *a = p->attribution;
	struct loci_process_totals *totals = &p->totals;
	uint64_t *const by_op[] = { &totals->loads, &totals->stores, &totals->fetches };

	for (size_t i = 0; i < a->rows.n; i++) {
		const struct loci_row *row = &a->rows.row[i];
		const struct loci_site *site = &a->code.site[row->site];

		*by_op[site->op % LOCI_ARRAY_SIZE(by_op)] += row->refs;
		totals->bulk += site->flags & LOCI_REF_BULK ? row->refs : 0;
	}
	totals->references = a->references;
	if (p->sampler)
		return total_sampled(p, err);
	for (size_t i = 0; i < a->walk.n_threads && i < a->thread_again_cap; i++)
		totals->again += a->thread_again[i];
	for (size_t i = 0; i < a->walk.n_threads; i++)
		if (i < a->thread_cap && a->thread_refs[i]) {
			int r = count_thread(p, a->walk.thread[i].id, a->thread_refs[i], err);

			if (r < 0)
				return r;
		}
	return 0;
}

/* Threads counted all references; what they were is known of samples. */
static int total_watched(struct process *p, struct loci_err *err)
{
	struct loci_process_totals *totals = &p->totals;
	int r = 0;

	totals->references = totals->samples.references;
	totals->stores = (uint64_t)llround(totals->samples.stores);
	totals->loads = totals->references - totals->stores;
	atomic_fetch_add_explicit(
		&p->analysis->references, totals->references, memory_order_relaxed);
	for (size_t i = 0; r == 0 && i < p->watched.n_threads; i++) {
		const struct loci_watch_thread *thread = &p->watched.thread[i];

		if (thread->references)
			r = count_thread(p, thread->id, thread->references, err);
	}
	return r;
}

/* What is known of them from their code. */
static int recount_watched(struct process *p, struct loci_err *err)
{
	const struct loci_watch_counts *counts;
	int r;

	if (!p->attribution)
		return 0;
	r = loci_attribution_finish(p->attribution, err);
	if (r == 0)
		r = loci_watch_blame_end(p->blame, p->attribution, err);
	counts = loci_watch_blame_counts(p->blame);
	loci_watch_events_recount(&p->watched, counts->count, counts->n);
	return r;
}

/* Whose they are, where that was asked for. */
static int blame_watched(struct process *p, struct loci_err *err)
{
	struct loci_attribution *a = p->attribution;
	int r;

	if (!a)
		return 0;
	r = loci_watch_blame_finish(p->blame, a, &p->watched, &p->totals.samples, err);
	a->times = loci_watch_blame_times(p->blame);
	return r;
}

static int fold_watched(struct process *p, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	int r;

	loci_sample_sum_init(&p->totals.samples);
	r = recount_watched(p, err);
	if (r == 0)
		r = loci_watch_events_finish(&p->watched, &p->totals.samples, err);
	if (r == 0)
		r = blame_watched(p, err);
	if (r == 0)
		r = total_watched(p, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&a->lock);
	pthread_mutex_lock(&a->symbols_lock);
	if (p->attribution)
		r = loci_ledger_add(&a->ledger, p->attribution, err);
	a->torn |= r < 0;
	pthread_mutex_unlock(&a->symbols_lock);
	a->n_unsampled += p->totals.samples.references && !p->totals.samples.samples;
	if (r == 0 && loci_sample_sum_merge(&a->samples, &p->totals.samples) < 0)
		r = loci_err_nomem(err);
	pthread_mutex_unlock(&a->lock);
	return r;
}

static int fold_attribution(struct process *p, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	int r;

	if (p->options->watching)
		return fold_watched(p, err);
	if (!p->attribution)
		return 0;
	r = loci_attribution_finish(p->attribution, err);
	if (r == 0 && p->sampler) {
		loci_sample_sum_init(&p->totals.samples);
		r = loci_sampler_finish(p->sampler, p->attribution, &p->totals.samples, err);
	}
	p->left_out = p->attribution->left_out;
	if (r == 0)
		r = total(p, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&a->lock);
	pthread_mutex_lock(&a->symbols_lock);
	r = loci_ledger_add(&a->ledger, p->attribution, err);
	a->has_plain |= p->attribution->code.has_plain;
	if (r == 0 && p->sampler)
		r = loci_sample_sum_merge(&a->samples, &p->totals.samples) < 0 ? loci_err_nomem(err)
									       : 0;
	a->n_unsampled += p->totals.samples.references && !p->totals.samples.samples;
	a->torn |= r < 0;
	pthread_mutex_unlock(&a->symbols_lock);
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* What was counted becomes part of the whole. */
static int fold(struct process *p, bool interrupted, bool complete, struct loci_err *err)
{
	struct loci_analysis *a = p->analysis;
	char missing[160];
	int r = fold_attribution(p, err);

	missing[0] = 0;
	if (!p->options->counts && !p->sampler && !p->options->watching)
		loci_count_check_note(&p->check, p->totals.references + p->totals.again,
			p->totals.lost, missing, sizeof(missing));
	if (r == 0)
		r = fold_grains(p, err);
	pthread_mutex_lock(&a->lock);
	a->interrupted |= interrupted;
	a->incomplete |= !complete || p->source->incomplete || missing[0];
	if (p->source->note[0])
		loci_analysis_add_note(a, p->source->note);
	if (missing[0])
		loci_analysis_add_note(a, missing);
	(void)loci_unseen_merge(&a->unseen, &p->unseen);
	(void)loci_mistakes_merge(&a->mistakes, &p->mistakes);
	a->has_paused |= p->has_paused;
	a->left_out += p->left_out;
	if (r == 0)
		r = append_totals(p, err);
	pthread_mutex_unlock(&a->lock);
	return r;
}

int loci_analysis_read(
	struct loci_analysis *analysis, struct loci_source *source, struct loci_err *err)
{
	loci_cleanup(process_free) struct process *p = calloc(1, sizeof(*p));
	int r, folded;

	if (!p)
		return loci_err_nomem(err);
	p->analysis = analysis;
	p->options = analysis->options;
	p->source = source;
	r = open_grains(p, err);
	if (r == 0)
		r = loci_decoder_new(&p->decoder, err);
	if (r == 0)
		r = open_attribution(p, err);
	if (r == 0)
		r = open_sampler(p, err);
	if (r == 0)
		r = open_watched(p, err);
	if (r < 0)
		return r;
	if (p->options->watching && p->is_first)
		loci_own_code_release();
	r = read_all(p, err);
	folded = fold(p, r == 1, r == 0, err);
	return r < 0 ? r : folded;
}
