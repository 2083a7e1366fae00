// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rewatch.h"

#include "collect/replay_calls.h"
#include "stream/decode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4096
#define REFS  1024

/* Most words that a sample may take at once: OPEN, FIRE, each with STACK, and EVICT; and that one
 * of the stream's own markers may, with a name that belongs to it. */
#define SAMPLE_WORDS (26 + 2 * LOCI_REPLAY_CALLS)
#define NAME_WORDS   1024
#define MARK_WORDS   (2 + LOCI_RAW_MAX + NAME_WORDS)

/* What a thread has done so far. */
struct thread {
	uint32_t id;
	bool ended; /* another may have its id */
	uint64_t count, touches;
	struct loci_replay_calls calls;
};

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
	struct thread *thread;
	size_t n_threads, thread_cap, at; /* at: whose the current reference is */
	uint64_t count, next, n_samples;
	uint64_t words[WORDS];
	size_t n_words, pos;
	struct loci_ref refs[REFS];
	size_t n_refs, at_ref;
	struct loci_event event; /* after the references; PAD: none */
	uint64_t *out;           /* of one read */
	size_t n_out, n_told;    /* n_told: threads whose references were told in the end */
	bool ended;
};

/* 1 plus an exponential's whole part: memoryless, like the number of throws until a rare face. */
static uint64_t gap(struct rewatch *rewatch)
{
	double u = ((double)(loci_reservoir_random(&rewatch->reservoir) >> 11) + 0.5) * 0x1p-53;
	double period = (double)rewatch->options.period;

	return period <= 1 ? 1 : 1 + (uint64_t)floor(log(u) / log1p(-1 / period));
}

static void put(struct rewatch *rewatch, enum loci_marker kind, uint64_t id, unsigned n,
	const uint64_t *raw)
{
	rewatch->out[rewatch->n_out++] = loci_mark_word(kind, n, id);
	for (unsigned i = 0; i < n; i++)
		rewatch->out[rewatch->n_out + i] = raw[i];
	rewatch->n_out += n;
}

static void put_calls(struct rewatch *rewatch, const struct sample *of)
{
	if (of->n_back)
		put(rewatch, LOCI_MARK_STACK, 0, of->n_back, of->back);
}

static void put_open(struct rewatch *rewatch, const struct sample *sample, uint32_t watch)
{
	const struct thread *thread = &rewatch->thread[sample->thread];
	uint64_t from = sample->block << rewatch->shift;
	const uint64_t raw[] = { sample->ref.address > from ? sample->ref.address : from,
		sample->count, sample->site, sample->descriptor, watch, sample->frame,
		rewatch->options.period, thread->id, sample->blocks, thread->count - sample->count,
		thread->touches - sample->after };

	put(rewatch, LOCI_MARK_SAMPLE_OPEN, sample->id, 11, raw);
	put_calls(rewatch, sample);
}

/* touches: since the sample; 0: nobody counted them. */
static void put_fire(struct rewatch *rewatch, const struct sample *sample,
	const struct sample *reuse, uint64_t touches)
{
	const uint64_t raw[] = { reuse->ref.address, rewatch->thread[sample->thread].count,
		reuse->site, reuse->descriptor, reuse->ref.thread, reuse->frame, touches, 0 };

	put(rewatch, LOCI_MARK_SAMPLE_FIRE, sample->id, 8, raw);
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
	sample->frame = loci_replay_calls_list(&rewatch->thread[rewatch->at].calls,
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
		const uint64_t raw[] = { rewatch->thread[evicted->thread].count, sample->id };

		put(rewatch, LOCI_MARK_SAMPLE_EVICT, evicted->id, 2, raw);
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
	uint64_t now = rewatch->thread[sample->thread].touches;

	if (sample->thread == rewatch->at)
		now += sample->block - span->first + 1 - span->blocks;
	return now > sample->touch ? now - sample->touch : 1;
}

/* Of samples that are followed the reuse, or the end of the time for which they are. */
static void follow(struct rewatch *rewatch, const struct loci_ref *ref, const struct span *span)
{
	struct sample reuse, gone;

	for (size_t i = 0; i < rewatch->n_followed;) {
		gone = rewatch->followed[i];
		if (is_reuse(rewatch, ref, span, gone.block)) {
			describe(rewatch, &reuse, ref);
			put_open(rewatch, &gone, LOCI_WATCH_BURST);
			put_fire(rewatch, &gone, &reuse, touches_since(rewatch, &gone, span));
		} else if (rewatch->thread[gone.thread].count - gone.count >=
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
			put_fire(rewatch, &rewatch->watched[i], &reuse, 0);
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

static int take(struct rewatch *rewatch, const struct loci_ref *ref, const struct span *span)
{
	const struct thread *thread = &rewatch->thread[rewatch->at];
	uint64_t chosen = choose(rewatch, span->blocks);
	struct sample sample = { .id = ++rewatch->n_samples,
		.block = span->first + chosen,
		.count = thread->count,
		.thread = rewatch->at,
		.touch = thread->touches - span->blocks + chosen + 1,
		.after = thread->touches,
		.blocks = span->blocks };
	void *larger;

	describe(rewatch, &sample, ref);
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

static int switch_thread(struct rewatch *rewatch, uint32_t id)
{
	size_t i = rewatch->at;
	void *larger;

	if (i < rewatch->n_threads && rewatch->thread[i].id == id && !rewatch->thread[i].ended)
		return 0;
	for (i = 0; i < rewatch->n_threads; i++)
		if (rewatch->thread[i].id == id && !rewatch->thread[i].ended)
			break;
	if (i == rewatch->thread_cap) {
		rewatch->thread_cap = i ? 2 * i : 4;
		larger = realloc(rewatch->thread, rewatch->thread_cap * sizeof(*rewatch->thread));
		if (!larger)
			return -ENOMEM;
		rewatch->thread = larger;
	}
	if (i == rewatch->n_threads)
		rewatch->thread[rewatch->n_threads++] = (struct thread){ .id = id };
	rewatch->at = i;
	return 0;
}

static int follow_calls(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct loci_replay_calls *calls = &rewatch->thread[rewatch->at].calls;
	struct loci_ref_site site = { 0 };

	if (ref->op == LOCI_OP_CALLER)
		loci_replay_calls_called(calls, ref->address);
	if (ref->op != LOCI_OP_FRAME)
		return 0;
	(void)loci_decoder_site(rewatch->decoder, ref->definition, &site);
	return loci_replay_calls_enter(calls, ref->address, site.code_address);
}

static int refer(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct span span = span_of(rewatch, ref);

	if (switch_thread(rewatch, ref->thread) < 0)
		return -ENOMEM;
	if (ref->op >= LOCI_OP_FRAME)
		return follow_calls(rewatch, ref);
	rewatch->count++;
	rewatch->thread[rewatch->at].count++;
	rewatch->thread[rewatch->at].touches += span.blocks;
	watch(rewatch, ref, &span);
	follow(rewatch, ref, &span);
	if (rewatch->count < rewatch->next || !span.blocks)
		return 0;
	rewatch->next += gap(rewatch);
	return take(rewatch, ref, &span);
}

static void put_count(struct rewatch *rewatch, const struct thread *thread)
{
	put(rewatch, LOCI_MARK_SWITCH, thread->id, 0, NULL);
	put(rewatch, LOCI_MARK_COUNT, 0, 1, &thread->count);
}

/* A name that the stream has, as the next marker needs it; one that is too long is cut off. */
static void put_name(struct rewatch *rewatch, uint64_t id)
{
	const char *text = id ? loci_decoder_string(rewatch->decoder, id) : NULL;
	uint64_t word[LOCI_RAW_MAX] = { 0 };
	size_t left = text ? strlen(text) + 1 : 0, most = (NAME_WORDS - 8) * sizeof(*word);

	left = left < most ? left : most;
	while (left) {
		size_t n = left < sizeof(word) ? left : sizeof(word);

		memset(word, 0, sizeof(word));
		memcpy(word, text, n);
		put(rewatch, LOCI_MARK_STRING, id, (unsigned)((n + 7) / 8), word);
		text += n;
		left -= n;
	}
}

/* What the stream says of code, memory and processes is passed on. */
static void pass(struct rewatch *rewatch, const struct loci_event *event)
{
	static const struct {
		enum loci_marker kind;
		int name; /* the raw word that has it; -1: none */
	} passed[] = {
		{ LOCI_MARK_PROCESS, -1 },
		{ LOCI_MARK_THREAD_START, -1 },
		{ LOCI_MARK_THREAD_EXIT, -1 },
		{ LOCI_MARK_ALLOC, -1 },
		{ LOCI_MARK_FREE, -1 },
		{ LOCI_MARK_RESIZE, -1 },
		{ LOCI_MARK_MAP, 4 },
		{ LOCI_MARK_UNMAP, -1 },
		{ LOCI_MARK_OBJECT, 2 },
		{ LOCI_MARK_OBJECT_END, -1 },
		{ LOCI_MARK_OBJECT_PART, 3 },
		{ LOCI_MARK_MODULE_LOAD, 3 },
		{ LOCI_MARK_MODULE_UNLOAD, -1 },
		{ LOCI_MARK_LOST, -1 },
	};

	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		if (event->kind != passed[i].kind)
			continue;
		if (passed[i].name >= 0)
			put_name(rewatch, event->raw[passed[i].name]);
		put(rewatch, LOCI_MARK_SWITCH, event->thread, 0, NULL);
		put(rewatch, passed[i].kind, event->payload, event->n_raw, event->raw);
	}
}

/* The thread says how many references it has, and another may have its id. */
static int leave(struct rewatch *rewatch, uint32_t id)
{
	struct thread *thread;

	if (switch_thread(rewatch, id) < 0)
		return -ENOMEM;
	thread = &rewatch->thread[rewatch->at];
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
	pass(rewatch, &event);
	return 1;
}

/* The end: samples that are followed still have their place in the lottery. */
static bool finish(struct rewatch *rewatch)
{
	const struct thread *thread;

	if (rewatch->n_followed) {
		enter(rewatch, &rewatch->followed[0]);
		memmove(&rewatch->followed[0], &rewatch->followed[1],
			--rewatch->n_followed * sizeof(rewatch->followed[0]));
		return true;
	}
	if (rewatch->n_told == rewatch->n_threads)
		return false;
	thread = &rewatch->thread[rewatch->n_told++];
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

	rewatch->out = words;
	rewatch->n_out = 0;
	while (r == 1 &&
		cap - rewatch->n_out >=
			SAMPLE_WORDS * (rewatch->n_followed + LOCI_RESERVOIR + 2) + MARK_WORDS)
		r = advance(rewatch, err);
	if (r == 1 && !rewatch->n_out)
		return loci_err_set(err, E2BIG,
			"too many samples are followed at once: sample less often, or follow "
			"them for a shorter time");
	memcpy(source->note, rewatch->from->note, sizeof(source->note));
	source->incomplete = rewatch->from->incomplete;
	return r < 0 ? r : (ssize_t)rewatch->n_out;
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
	for (size_t i = 0; i < rewatch->n_threads; i++)
		loci_replay_calls_fini(&rewatch->thread[i].calls);
	free(rewatch->thread);
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
