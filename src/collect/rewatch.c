// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rewatch.h"

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
	memcpy(rewatch->out + rewatch->n_out, raw, n * sizeof(*raw));
	rewatch->n_out += n;
}

static void put_open(struct rewatch *rewatch, const struct sample *sample, uint32_t watch)
{
	const uint64_t raw[] = { sample->ref.address, sample->count, sample->site,
		sample->descriptor, watch, 0 };

	put(rewatch, LOCI_MARK_SAMPLE_OPEN, sample->id, 6, raw);
}

static void put_fire(struct rewatch *rewatch, uint64_t id, const struct sample *reuse)
{
	const uint64_t raw[] = { reuse->ref.address, rewatch->count, reuse->site, reuse->descriptor,
		reuse->ref.thread, 0 };

	put(rewatch, LOCI_MARK_SAMPLE_FIRE, id, 6, raw);
}

static void describe(
	const struct rewatch *rewatch, struct sample *sample, const struct loci_ref *ref)
{
	struct loci_ref_site site = { 0 };

	(void)loci_decoder_site(rewatch->decoder, ref->definition, &site);
	sample->ref = *ref;
	sample->site = site.site;
	sample->descriptor = loci_ref_word(site.size_bytes, ref->op, ref->flags);
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
		const uint64_t raw[] = { rewatch->count, sample->id };

		put(rewatch, LOCI_MARK_SAMPLE_EVICT, rewatch->watched[watch].id, 2, raw);
	}
	put_open(rewatch, sample, watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch);
	if (watch >= 0)
		rewatch->watched[watch] = *sample;
}

static bool touches(const struct rewatch *rewatch, const struct loci_ref *ref, uint64_t block)
{
	uint64_t last = ref->address + (ref->size_bytes ? ref->size_bytes - 1 : 0);

	return block - (ref->address >> rewatch->shift) <=
		(last >> rewatch->shift) - (ref->address >> rewatch->shift);
}

static bool is_reuse(const struct rewatch *rewatch, const struct loci_ref *ref)
{
	return !rewatch->options.writes_only || ref->op == LOCI_OP_STORE;
}

/* Of samples that are followed the reuse, or the end of the time for which they are. */
static void follow(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct sample reuse, gone;

	for (size_t i = 0; i < rewatch->n_followed;) {
		gone = rewatch->followed[i];
		if (is_reuse(rewatch, ref) && touches(rewatch, ref, gone.block)) {
			describe(rewatch, &reuse, ref);
			put_open(rewatch, &gone, LOCI_WATCH_BURST);
			put_fire(rewatch, gone.id, &reuse);
		} else if (rewatch->count - gone.count >= rewatch->options.burst_refs) {
			enter(rewatch, &gone);
		} else {
			i++;
			continue;
		}
		memmove(&rewatch->followed[i], &rewatch->followed[i + 1],
			(--rewatch->n_followed - i) * sizeof(gone));
	}
}

static void watch(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct sample reuse;

	for (unsigned i = 0; i < rewatch->options.watches; i++)
		if (rewatch->reservoir.k[i] && is_reuse(rewatch, ref) &&
			touches(rewatch, ref, rewatch->watched[i].block)) {
			describe(rewatch, &reuse, ref);
			put_fire(rewatch, rewatch->watched[i].id, &reuse);
			loci_reservoir_release(&rewatch->reservoir, i);
		}
}

static int take(struct rewatch *rewatch, const struct loci_ref *ref)
{
	struct sample sample = { .id = ++rewatch->n_samples,
		.block = ref->address >> rewatch->shift,
		.count = rewatch->count };
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

static int refer(struct rewatch *rewatch, const struct loci_ref *ref)
{
	if (ref->op >= LOCI_OP_FRAME)
		return 0;
	rewatch->count++;
	watch(rewatch, ref);
	follow(rewatch, ref);
	if (rewatch->count < rewatch->next)
		return 0;
	rewatch->next += gap(rewatch);
	return take(rewatch, ref);
}

/* The end: samples that are followed still have their place in the lottery. */
static bool finish(struct rewatch *rewatch)
{
	const uint64_t raw[] = { rewatch->count };

	if (rewatch->n_followed) {
		enter(rewatch, &rewatch->followed[0]);
		memmove(&rewatch->followed[0], &rewatch->followed[1],
			--rewatch->n_followed * sizeof(rewatch->followed[0]));
		return true;
	}
	if (rewatch->told)
		return false;
	put(rewatch, LOCI_MARK_COUNT, 0, 1, raw);
	rewatch->told = true;
	return true;
}

/* What the words of the source yield next: 1, or 0 at its end. */
static int advance(struct rewatch *rewatch, struct loci_err *err)
{
	struct loci_event event;
	ssize_t n;
	int r;

	if (rewatch->at_ref < rewatch->n_refs)
		return refer(rewatch, &rewatch->refs[rewatch->at_ref++]) < 0 ? loci_err_nomem(err)
									     : 1;
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
		rewatch->refs, REFS, &rewatch->n_refs, &event, err);
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
	while (r == 1 && cap - rewatch->n_out >= 16 * (rewatch->n_followed + LOCI_RESERVOIR + 2))
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
