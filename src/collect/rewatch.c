// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rewatch.h"

#include "collect/replay_marks.h"
#include "collect/replay_threads.h"
#include "stream/decode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4096
#define REFS  1024

/* Most words that a sample may take at once: OPEN, FIRE, each with STACK, and EVICT; and that one
 * of the stream's own markers may, with a name that belongs to it. */
#define SAMPLE_WORDS (29 + LOCI_AROUND_WORDS + 2 * LOCI_REPLAY_CALLS)

/* Where a reference lies in blocks; 0 of these: it is an empty range. */
struct span {
	uint64_t first, blocks;
};

struct sample {
	uint64_t id, block, count;
	size_t thread;  /* its number */
	uint64_t touch; /* of the block that is watched, among the thread's .. */
	uint64_t after; /* .. who had so many once the reference was done */
	uint64_t blocks;
	struct loci_ref ref;
	uint64_t site, descriptor, frame;
	struct loci_around_shares around;
	unsigned n_back;
	uint64_t back[LOCI_REPLAY_CALLS];
};

struct rewatch {
	struct loci_source source;
	struct loci_source *from;
	struct loci_rewatch_options options;
	struct loci_decoder *decoder;
	unsigned shift;
	struct loci_reservoir reservoir;
	struct sample watched[LOCI_RESERVOIR];
	struct sample *followed; /* ascending by count */
	size_t n_followed, followed_cap;
	struct loci_replay_threads threads;
	uint64_t count, next, n_samples;
	uint64_t words[WORDS];
	size_t n_words, pos;
	struct loci_ref refs[REFS];
	size_t n_refs, at_ref;
	struct loci_event event; /* after the references; PAD: none */
	uint64_t *code;          /* by definition: its function */
	size_t n_code;
	struct loci_replay_marks out; /* of one read */
	size_t n_told;                /* threads whose references were told in the end */
	bool ended;
};

/* 1 plus an exponential's whole part: memoryless, like the number of throws until a rare face. */
static uint64_t gap(struct rewatch *rewatch)
{
	double u = ((double)(loci_reservoir_random(&rewatch->reservoir) >> 11) + 0.5) * 0x1p-53;
	double period = (double)rewatch->options.period;

	return period <= 1 ? 1 : 1 + (uint64_t)floor(log(u) / log1p(-1 / period));
}

static void put_calls(struct rewatch *rewatch, const struct sample *of)
{
	if (of->n_back)
		loci_replay_put(&rewatch->out, LOCI_MARK_STACK, 0, of->n_back, of->back);
}

static void put_open(struct rewatch *rewatch, const struct sample *sample, uint32_t watch)
{
	const struct loci_replay_thread *thread = &rewatch->threads.thread[sample->thread];
	uint64_t from = sample->block << rewatch->shift;
	uint64_t raw[LOCI_OPEN_AROUND + LOCI_AROUND_WORDS] = {
		sample->ref.address > from ? sample->ref.address : from, sample->count,
		sample->site, sample->descriptor, watch, sample->frame, rewatch->options.period,
		thread->id, sample->blocks, thread->count - sample->count,
		thread->touches - sample->after
	};
	unsigned n = LOCI_OPEN_AROUND + loci_around_put(&sample->around, raw + LOCI_OPEN_AROUND);

	loci_replay_put(&rewatch->out, LOCI_MARK_SAMPLE_OPEN, sample->id, n, raw);
	put_calls(rewatch, sample);
}

/* touches: since the sample; distinct: of these, among the thread's own, and 1; 0: nobody counted
 * them. */
static void put_fire(struct rewatch *rewatch, const struct sample *sample,
	const struct sample *reuse, uint64_t touches, uint64_t distinct)
{
	const uint64_t raw[] = { reuse->ref.address, rewatch->threads.thread[sample->thread].count,
		reuse->site, reuse->descriptor, reuse->ref.thread, reuse->frame, touches, 0, 0,
		distinct };

	loci_replay_put(&rewatch->out, LOCI_MARK_SAMPLE_FIRE, sample->id, distinct ? 10 : 8, raw);
	put_calls(rewatch, reuse);
}

static void describe(
	const struct rewatch *rewatch, struct sample *sample, const struct loci_ref *ref)
{
	struct loci_ref_site site = { 0 };

	(void)loci_decoder_site(rewatch->decoder, ref->definition, &site);
	sample->ref = *ref;
	sample->site = site.site;
	sample->descriptor = loci_ref_word(site.size_bytes, ref->op, ref->flags);
	sample->frame = loci_replay_calls_list(&rewatch->threads.thread[rewatch->threads.at].calls,
		site.code_address, sample->back, &sample->n_back);
}

/* Its reuse has not come for so long: it may be watched. */
static void enter(struct rewatch *rewatch, const struct sample *sample)
{
	bool was_armed[LOCI_RESERVOIR];
	int watch;

	for (unsigned i = 0; i < rewatch->options.watches; i++)
		was_armed[i] = rewatch->reservoir.k[i] > 0;
	watch = loci_reservoir_offer(&rewatch->reservoir);
	if (watch >= 0 && was_armed[watch]) {
		const struct sample *evicted = &rewatch->watched[watch];
		const uint64_t raw[] = { rewatch->threads.thread[evicted->thread].count,
			sample->id };

		loci_replay_put(&rewatch->out, LOCI_MARK_SAMPLE_EVICT, evicted->id, 2, raw);
	}
	put_open(rewatch, sample, watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch);
	if (watch >= 0)
		rewatch->watched[watch] = *sample;
}

static struct span span_of(const struct rewatch *rewatch, const struct loci_ref *ref)
{
	uint64_t first = ref->address >> rewatch->shift;
	uint64_t last = ref->address + ref->size_bytes - 1;

	if (!ref->size_bytes)
		return (struct span){ first, 0 };
	if (last < ref->address) /* runs over the end of the address space */
		last = UINT64_MAX;
	return (struct span){ first, (last >> rewatch->shift) - first + 1 };
}

static bool is_reuse(const struct rewatch *rewatch, const struct loci_ref *ref,
	const struct span *span, uint64_t block)
{
	return block - span->first < span->blocks &&
		(!rewatch->options.writes_only || ref->op == LOCI_OP_STORE);
}

/* Touches of the sample's thread since, the reuse included if it is that thread's. */
static uint64_t touches_since(
	const struct rewatch *rewatch, const struct sample *sample, const struct span *span)
{
	uint64_t now = rewatch->threads.thread[sample->thread].touches;

	if (sample->thread == rewatch->threads.at)
		now += sample->block - span->first + 1 - span->blocks;
	return now > sample->touch ? now - sample->touch : 1;
}

/* Distinct others among them, and 1; 0: the reuse is another thread's, or they are too many. */
static uint64_t distinct_since(
	const struct rewatch *rewatch, const struct sample *sample, uint64_t touches)
{
	if (sample->thread != rewatch->threads.at)
		return 0;
	return loci_passed_distinct(rewatch->threads.thread[sample->thread].passed, sample->touch,
		sample->touch + touches - 1, sample->block);
}

/* Of samples that are followed the reuse, or the end of the time for which they are. */
static void follow(struct rewatch *rewatch, const struct loci_ref *ref, const struct span *span)
{
	struct sample reuse, gone;
	uint64_t touches;

	for (size_t i = 0; i < rewatch->n_followed;) {
		gone = rewatch->followed[i];
		if (is_reuse(rewatch, ref, span, gone.block)) {
			describe(rewatch, &reuse, ref);
			put_open(rewatch, &gone, LOCI_WATCH_BURST);
			touches = touches_since(rewatch, &gone, span);
			put_fire(rewatch, &gone, &reuse, touches,
				distinct_since(rewatch, &gone, touches));
		} else if (rewatch->threads.thread[gone.thread].count - gone.count >=
			rewatch->options.burst_refs) {
			enter(rewatch, &gone);
		} else {
			i++;
			continue;
		}
		memmove(&rewatch->followed[i], &rewatch->followed[i + 1],
			(--rewatch->n_followed - i) * sizeof(gone));
	}
}

static void watch(struct rewatch *rewatch, const struct loci_ref *ref, const struct span *span)
{
	struct sample reuse;

	for (unsigned i = 0; i < rewatch->options.watches; i++)
		if (rewatch->reservoir.k[i] &&
			is_reuse(rewatch, ref, span, rewatch->watched[i].block)) {
			describe(rewatch, &reuse, ref);
			put_fire(rewatch, &rewatch->watched[i], &reuse, 0, 0);
			loci_reservoir_release(&rewatch->reservoir, i);
		}
}

/* One of the blocks, at random. */
static uint64_t choose(struct rewatch *rewatch, uint64_t blocks)
{
	if (blocks == 1)
		return 0;
	return (uint64_t)((unsigned __int128)loci_reservoir_random(&rewatch->reservoir) * blocks >>
		64);
}

static void look_around(const struct rewatch *rewatch, struct sample *sample)
{
	struct loci_ref_site site = { 0 };

	loci_around_share_out(&rewatch->threads.thread[sample->thread].around, &sample->around);
	for (uint32_t i = 0; i < sample->around.n; i++) {
		struct loci_around_share *share = &sample->around.share[i];

		(void)loci_decoder_site(rewatch->decoder, (uint32_t)share->site, &site);
		share->site = site.site;
	}
}

static int take(struct rewatch *rewatch, const struct loci_ref *ref, const struct span *span)
{
	const struct loci_replay_thread *thread = &rewatch->threads.thread[rewatch->threads.at];
	uint64_t chosen = choose(rewatch, span->blocks);
	struct sample sample = { .id = ++rewatch->n_samples,
		.block = span->first + chosen,
		.count = thread->count,
		.thread = rewatch->threads.at,
		.touch = thread->touches - span->blocks + chosen + 1,
		.after = thread->touches,
		.blocks = span->blocks };
	void *larger;

	describe(rewatch, &sample, ref);
	look_around(rewatch, &sample);
	if (!rewatch->options.burst_refs) {
		enter(rewatch, &sample);
		return 0;
	}
	if (rewatch->n_followed == rewatch->followed_cap) {
		rewatch->followed_cap = rewatch->followed_cap ? 2 * rewatch->followed_cap : 16;
		larger = realloc(rewatch->followed, rewatch->followed_cap * sizeof(sample));
		if (!larger)
			return -ENOMEM;
		rewatch->followed = larger;
	}
	rewatch->followed[rewatch->n_followed++] = sample;
	return 0;
}

/* Whose code the definitions are that have come since. */
static int learn(struct rewatch *rewatch)
{
	size_t n = loci_decoder_definitions(rewatch->decoder);
	uint64_t *larger = realloc(rewatch->code, (n + 1) * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	rewatch->code = larger;
	for (; rewatch->n_code < n; rewatch->n_code++) {
		struct loci_ref_site site = { 0 };

		(void)loci_decoder_site(rewatch->decoder, (uint32_t)rewatch->n_code, &site);
		rewatch->code[rewatch->n_code] = site.code_address;
	}
	return 0;
}

static int follow_calls(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct loci_replay_calls *calls = &rewatch->threads.thread[rewatch->threads.at].calls;
	uint64_t code;

	if (ref->definition >= rewatch->n_code && learn(rewatch) < 0)
		return -ENOMEM;
	code = rewatch->code[ref->definition];
	if (ref->op == LOCI_OP_FRAME)
		return loci_replay_calls_enter(calls, ref->address, code);
	if (ref->op == LOCI_OP_CALLER)
		loci_replay_calls_called(calls, ref->address);
	else if (!loci_replay_calls_are_at(calls, code))
		loci_replay_calls_return(calls, code);
	return 0;
}

static int refer(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct span span = span_of(rewatch, ref);

	if (loci_replay_threads_switch(&rewatch->threads, ref->thread) < 0 ||
		follow_calls(rewatch, ref) < 0)
		return -ENOMEM;
	if (ref->op >= LOCI_OP_FRAME)
		return 0;
	rewatch->count++;
	rewatch->threads.thread[rewatch->threads.at].count++;
	rewatch->threads.thread[rewatch->threads.at].touches += span.blocks;
	loci_passed_add(
		rewatch->threads.thread[rewatch->threads.at].passed, span.first, span.blocks);
	loci_around_add(
		&rewatch->threads.thread[rewatch->threads.at].around, ref->definition, span.blocks);
	watch(rewatch, ref, &span);
	follow(rewatch, ref, &span);
	if (rewatch->count < rewatch->next || !span.blocks)
		return 0;
	rewatch->next += gap(rewatch);
	return take(rewatch, ref, &span);
}

static void put_count(struct rewatch *rewatch, const struct loci_replay_thread *thread)
{
	loci_replay_put(&rewatch->out, LOCI_MARK_SWITCH, thread->id, 0, NULL);
	loci_replay_put(&rewatch->out, LOCI_MARK_COUNT, 0, 1, &thread->count);
}

/* The thread says how many references it has, and another may have its id. */
static int leave(struct rewatch *rewatch, uint32_t id)
{
	struct loci_replay_thread *thread;

	if (loci_replay_threads_switch(&rewatch->threads, id) < 0)
		return -ENOMEM;
	thread = &rewatch->threads.thread[rewatch->threads.at];
	put_count(rewatch, thread);
	thread->ended = true;
	loci_replay_calls_fini(&thread->calls);
	return 0;
}

static int take_event(struct rewatch *rewatch, struct loci_err *err)
{
	struct loci_event event = rewatch->event;

	rewatch->event.kind = LOCI_MARK_PAD;
	if (event.kind == LOCI_MARK_THREAD_EXIT && leave(rewatch, (uint32_t)event.payload) < 0)
		return loci_err_nomem(err);
	loci_replay_pass(&rewatch->out, rewatch->decoder, &event);
	return 1;
}

/* The end: samples that are followed still have their place in the lottery. */
static bool finish(struct rewatch *rewatch)
{
	const struct loci_replay_thread *thread;

	if (rewatch->n_followed) {
		enter(rewatch, &rewatch->followed[0]);
		memmove(&rewatch->followed[0], &rewatch->followed[1],
			--rewatch->n_followed * sizeof(rewatch->followed[0]));
		return true;
	}
	if (rewatch->n_told == rewatch->threads.n)
		return false;
	thread = &rewatch->threads.thread[rewatch->n_told++];
	if (!thread->ended)
		put_count(rewatch, thread);
	return true;
}

/* What the words of the source yield next: 1, or 0 at its end. */
static int advance(struct rewatch *rewatch, struct loci_err *err)
{
	ssize_t n;
	int r;

	if (rewatch->at_ref < rewatch->n_refs)
		return refer(rewatch, &rewatch->refs[rewatch->at_ref++]) < 0 ? loci_err_nomem(err)
									     : 1;
	if (rewatch->event.kind != LOCI_MARK_PAD)
		return take_event(rewatch, err);
	if (rewatch->pos == rewatch->n_words) {
		n = rewatch->ended
			? 0
			: rewatch->from->ops->read(rewatch->from, rewatch->words, WORDS, err);
		if (n < 0)
			return (int)n;
		rewatch->n_words = (size_t)n;
		rewatch->pos = 0;
		rewatch->ended |= n == 0;
		if (n == 0)
			return finish(rewatch);
	}
	rewatch->at_ref = 0;
	r = loci_decoder_next(rewatch->decoder, rewatch->words, rewatch->n_words, &rewatch->pos,
		rewatch->refs, REFS, &rewatch->n_refs, &rewatch->event, err);
	return r < 0 ? r : 1;
}

/* What one reference yields is bounded by how many samples are followed at once, most of which it
 * cannot end: room is asked for them all. */
static ssize_t rewatch_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct rewatch *rewatch = (struct rewatch *)source;
	int r = 1;

	rewatch->out = (struct loci_replay_marks){ .words = words };
	while (r == 1 &&
		cap - rewatch->out.n >= SAMPLE_WORDS * (rewatch->n_followed + LOCI_RESERVOIR + 2) +
				LOCI_REPLAY_PASS_WORDS)
		r = advance(rewatch, err);
	if (r == 1 && !rewatch->out.n)
		return loci_err_set(err, E2BIG,
			"too many samples are followed at once: sample less often, or follow "
			"them for a shorter time");
	memcpy(source->note, rewatch->from->note, sizeof(source->note));
	source->incomplete = rewatch->from->incomplete;
	return r < 0 ? r : (ssize_t)rewatch->out.n;
}

static void rewatch_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct rewatch *rewatch = (const struct rewatch *)source;

	rewatch->from->ops->progress(rewatch->from, ret_done, ret_total);
}

static void rewatch_close(struct loci_source *source)
{
	struct rewatch *rewatch = (struct rewatch *)source;

	loci_decoder_free(rewatch->decoder);
	loci_source_close(rewatch->from);
	free(rewatch->followed);
	free(rewatch->code);
	loci_replay_threads_fini(&rewatch->threads);
	free(rewatch);
}

static const struct loci_source_ops rewatch_ops = { rewatch_read, rewatch_progress, rewatch_close };

int loci_rewatch_new_take(struct loci_source *source, const struct loci_rewatch_options *options,
	struct loci_source **ret, struct loci_err *err)
{
	struct rewatch *rewatch = calloc(1, sizeof(*rewatch));

	if (!rewatch || loci_decoder_new(&rewatch->decoder, err) < 0) {
		free(rewatch);
		loci_source_close(source);
		return loci_err_nomem(err);
	}
	rewatch->source.ops = &rewatch_ops;
	rewatch->source.info = source->info;
	rewatch->source.info.capabilities &= ~(uint32_t)(LOCI_CAP_COMPLETE | LOCI_CAP_WINDOWS);
	rewatch->source.info.capabilities |= LOCI_CAP_SAMPLES;
	rewatch->from = source;
	rewatch->options = *options;
	rewatch->shift = (unsigned)__builtin_ctzll(options->block_bytes);
	rewatch->reservoir = (struct loci_reservoir){
		.n = options->watches, .replace = options->replace, .random = options->seed
	};
	rewatch->next = gap(rewatch);
	*ret = &rewatch->source;
	return 0;
}
