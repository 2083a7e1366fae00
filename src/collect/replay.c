// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/replay.h"

#include "stream/decode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4096
#define REFS  1024

struct sample {
	uint64_t id, block, count;
	struct loci_ref ref;
	uint64_t site, descriptor;
};

struct replay {
	struct loci_source source;
	struct loci_source *from;
	struct loci_replay_options options;
	struct loci_decoder *decoder;
	unsigned shift;
	struct loci_reservoir reservoir;
	struct sample watched[LOCI_RESERVOIR];
	struct sample *followed; /* ascending by count */
	size_t n_followed, followed_cap;
	uint64_t count, next, n_samples;
	uint32_t thread;
	uint64_t words[WORDS];
	size_t n_words, pos;
	struct loci_ref refs[REFS];
	size_t n_refs, at_ref;
	uint64_t *out; /* of one read */
	size_t n_out;
	bool ended, told;
};

/* 1 plus an exponential's whole part: memoryless, like the number of throws until a rare face. */
static uint64_t gap(struct replay *replay)
{
	double u = ((double)(loci_reservoir_random(&replay->reservoir) >> 11) + 0.5) * 0x1p-53;
	double period = (double)replay->options.period;

	return period <= 1 ? 1 : 1 + (uint64_t)floor(log(u) / log1p(-1 / period));
}

static void put(
	struct replay *replay, enum loci_marker kind, uint64_t id, unsigned n, const uint64_t *raw)
{
	replay->out[replay->n_out++] = loci_mark_word(kind, n, id);
	memcpy(replay->out + replay->n_out, raw, n * sizeof(*raw));
	replay->n_out += n;
}

static void put_open(struct replay *replay, const struct sample *sample, uint32_t watch)
{
	const uint64_t raw[] = { sample->ref.address, sample->count, sample->site,
		sample->descriptor, watch, 0 };

	put(replay, LOCI_MARK_SAMPLE_OPEN, sample->id, 6, raw);
}

static void put_fire(struct replay *replay, uint64_t id, const struct sample *reuse)
{
	const uint64_t raw[] = { reuse->ref.address, replay->count, reuse->site, reuse->descriptor,
		reuse->ref.thread, 0 };

	put(replay, LOCI_MARK_SAMPLE_FIRE, id, 6, raw);
}

static void describe(const struct replay *replay, struct sample *sample, const struct loci_ref *ref)
{
	struct loci_ref_site site = { 0 };

	(void)loci_decoder_site(replay->decoder, ref->definition, &site);
	sample->ref = *ref;
	sample->site = site.site;
	sample->descriptor = loci_ref_word(site.size_bytes, ref->op, ref->flags);
}

/* Its reuse has not come for so long: it may be watched. */
static void enter(struct replay *replay, const struct sample *sample)
{
	bool was_armed[LOCI_RESERVOIR];
	int watch;

	for (unsigned i = 0; i < replay->options.watches; i++)
		was_armed[i] = replay->reservoir.k[i] > 0;
	watch = loci_reservoir_offer(&replay->reservoir);
	if (watch >= 0 && was_armed[watch]) {
		const uint64_t raw[] = { replay->count, sample->id };

		put(replay, LOCI_MARK_SAMPLE_EVICT, replay->watched[watch].id, 2, raw);
	}
	put_open(replay, sample, watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch);
	if (watch >= 0)
		replay->watched[watch] = *sample;
}

static bool touches(const struct replay *replay, const struct loci_ref *ref, uint64_t block)
{
	uint64_t last = ref->address + (ref->size_bytes ? ref->size_bytes - 1 : 0);

	return block - (ref->address >> replay->shift) <=
		(last >> replay->shift) - (ref->address >> replay->shift);
}

static bool is_reuse(const struct replay *replay, const struct loci_ref *ref)
{
	return !replay->options.writes_only || ref->op == LOCI_OP_STORE;
}

/* Of samples that are followed the reuse, or the end of the time for which they are. */
static void follow(struct replay *replay, const struct loci_ref *ref)
{
	struct sample reuse, gone;

	for (size_t i = 0; i < replay->n_followed;) {
		gone = replay->followed[i];
		if (is_reuse(replay, ref) && touches(replay, ref, gone.block)) {
			describe(replay, &reuse, ref);
			put_open(replay, &gone, LOCI_WATCH_BURST);
			put_fire(replay, gone.id, &reuse);
		} else if (replay->count - gone.count >= replay->options.burst_refs) {
			enter(replay, &gone);
		} else {
			i++;
			continue;
		}
		memmove(&replay->followed[i], &replay->followed[i + 1],
			(--replay->n_followed - i) * sizeof(gone));
	}
}

static void watch(struct replay *replay, const struct loci_ref *ref)
{
	struct sample reuse;

	for (unsigned i = 0; i < replay->options.watches; i++)
		if (replay->reservoir.k[i] && is_reuse(replay, ref) &&
			touches(replay, ref, replay->watched[i].block)) {
			describe(replay, &reuse, ref);
			put_fire(replay, replay->watched[i].id, &reuse);
			loci_reservoir_release(&replay->reservoir, i);
		}
}

static int take(struct replay *replay, const struct loci_ref *ref)
{
	struct sample sample = { .id = ++replay->n_samples,
		.block = ref->address >> replay->shift,
		.count = replay->count };
	void *larger;

	describe(replay, &sample, ref);
	if (!replay->options.burst_refs) {
		enter(replay, &sample);
		return 0;
	}
	if (replay->n_followed == replay->followed_cap) {
		replay->followed_cap = replay->followed_cap ? 2 * replay->followed_cap : 16;
		larger = realloc(replay->followed, replay->followed_cap * sizeof(sample));
		if (!larger)
			return -ENOMEM;
		replay->followed = larger;
	}
	replay->followed[replay->n_followed++] = sample;
	return 0;
}

static int refer(struct replay *replay, const struct loci_ref *ref)
{
	if (ref->op >= LOCI_OP_FRAME)
		return 0;
	replay->count++;
	watch(replay, ref);
	follow(replay, ref);
	if (replay->count < replay->next)
		return 0;
	replay->next += gap(replay);
	return take(replay, ref);
}

/* The end: samples that are followed still have their place in the lottery. */
static bool finish(struct replay *replay)
{
	const uint64_t raw[] = { replay->count };

	if (replay->n_followed) {
		enter(replay, &replay->followed[0]);
		memmove(&replay->followed[0], &replay->followed[1],
			--replay->n_followed * sizeof(replay->followed[0]));
		return true;
	}
	if (replay->told)
		return false;
	put(replay, LOCI_MARK_COUNT, 0, 1, raw);
	replay->told = true;
	return true;
}

/* What the words of the source yield next: 1, or 0 at its end. */
static int advance(struct replay *replay, struct loci_err *err)
{
	struct loci_event event;
	ssize_t n;
	int r;

	if (replay->at_ref < replay->n_refs)
		return refer(replay, &replay->refs[replay->at_ref++]) < 0 ? loci_err_nomem(err) : 1;
	if (replay->pos == replay->n_words) {
		n = replay->ended
			? 0
			: replay->from->ops->read(replay->from, replay->words, WORDS, err);
		if (n < 0)
			return (int)n;
		replay->n_words = (size_t)n;
		replay->pos = 0;
		replay->ended |= n == 0;
		if (n == 0)
			return finish(replay);
	}
	replay->at_ref = 0;
	r = loci_decoder_next(replay->decoder, replay->words, replay->n_words, &replay->pos,
		replay->refs, REFS, &replay->n_refs, &event, err);
	return r < 0 ? r : 1;
}

/* What one reference yields is bounded by how many samples are followed at once, most of which it
 * cannot end: room is asked for them all. */
static ssize_t replay_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct replay *replay = (struct replay *)source;
	int r = 1;

	replay->out = words;
	replay->n_out = 0;
	while (r == 1 && cap - replay->n_out >= 16 * (replay->n_followed + LOCI_RESERVOIR + 2))
		r = advance(replay, err);
	if (r == 1 && !replay->n_out)
		return loci_err_set(err, E2BIG,
			"too many samples are followed at once: sample less often, or follow "
			"them for a shorter time");
	memcpy(source->note, replay->from->note, sizeof(source->note));
	source->incomplete = replay->from->incomplete;
	return r < 0 ? r : (ssize_t)replay->n_out;
}

static void replay_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct replay *replay = (const struct replay *)source;

	replay->from->ops->progress(replay->from, ret_done, ret_total);
}

static void replay_close(struct loci_source *source)
{
	struct replay *replay = (struct replay *)source;

	loci_decoder_free(replay->decoder);
	loci_source_close(replay->from);
	free(replay->followed);
	free(replay);
}

static const struct loci_source_ops replay_ops = { replay_read, replay_progress, replay_close };

int loci_replay_new_take(struct loci_source *source, const struct loci_replay_options *options,
	struct loci_source **ret, struct loci_err *err)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay || loci_decoder_new(&replay->decoder, err) < 0) {
		free(replay);
		loci_source_close(source);
		return loci_err_nomem(err);
	}
	replay->source.ops = &replay_ops;
	replay->source.info = source->info;
	replay->source.info.capabilities &= ~(uint32_t)(LOCI_CAP_COMPLETE | LOCI_CAP_WINDOWS);
	replay->source.info.capabilities |= LOCI_CAP_SAMPLES;
	replay->from = source;
	replay->options = *options;
	replay->shift = (unsigned)__builtin_ctzll(options->block_bytes);
	replay->reservoir = (struct loci_reservoir){
		.n = options->watches, .replace = options->replace, .random = options->seed
	};
	replay->next = gap(replay);
	*ret = &replay->source;
	return 0;
}
