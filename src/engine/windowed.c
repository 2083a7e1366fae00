// SPDX-License-Identifier: GPL-2.0-or-later
/* Open samples are found by their block, in chains; and they stand in a list by age. The shared
 * stack distance so far of each is kept up to date without asking the engine: a touch moves its
 * block to the top, and if it came from below the sample's block, that is one deeper. Older samples
 * are deeper, so it ends at the first that is not concerned. */
#include "engine/windowed.h"

#include "engine/coherent.h"
#include "engine/stack.h"

#include <stdlib.h>
#include <string.h>

#define CHAINS       4096u
#define BATCH        4096
#define PERCENTILE   0.99
#define NONE         UINT32_MAX
#define LOOK_TOUCHES (1u << 20) /* between looks how large the engines are */

struct sample {
	uint64_t block;
	uint64_t since; /* touches fed before it */
	uint64_t above; /* the shared distance so far */
	uint32_t outcome;
	uint32_t member;
	uint32_t next; /* of its chain */
	bool private_open, shared_open;
	bool lost; /* only waits to be told from LAST */
};

struct loci_windowed {
	struct loci_windowed_options options;
	struct loci_stack *shared;
	struct loci_coherent *private_; /* NULL: there has been one member */
	uint32_t first_member;
	uint64_t fed, looked;
	struct sample *sample; /* slots, used again */
	size_t n_slots, slot_cap;
	uint32_t free_slot;
	uint32_t chain[CHAINS];
	uint32_t *by_age; /* those that are open, the oldest first */
	size_t n_open, age_cap;
	struct loci_windowed_outcome *outcome;
	size_t n_outcomes, outcome_cap;
	uint64_t *known; /* shared distances, by fine bin */
	uint64_t n_known, n_cut, cut;
	uint64_t n_hopeless; /* given up because of their distance */
	uint64_t distance[BATCH], private_distance[BATCH];
	uint8_t kind[BATCH];
};

static int reserve(void *array, size_t *cap, size_t n, size_t element)
{
	void **pointer = array, *larger;
	size_t want = *cap ? 2 * *cap : 64;

	if (n <= *cap)
		return 0;
	larger = realloc(*pointer, want * element);
	if (!larger)
		return -1;
	*pointer = larger;
	*cap = want;
	return 0;
}

static int open_shared(struct loci_windowed *w, struct loci_err *err)
{
	loci_stack_free(w->shared);
	w->shared = NULL;
	return loci_stack_new(&(struct loci_stack_options){ 0 }, &w->shared, err);
}

int loci_windowed_new(const struct loci_windowed_options *options, struct loci_windowed **ret,
	struct loci_err *err)
{
	struct loci_windowed *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return loci_err_nomem(err);
	w->options = *options;
	w->free_slot = NONE;
	w->first_member = NONE;
	w->cut = UINT64_MAX;
	memset(w->chain, 0xff, sizeof(w->chain));
	w->known = calloc(LOCI_FINE_BINS, sizeof(*w->known));
	r = w->known ? open_shared(w, err) : loci_err_nomem(err);
	if (r < 0) {
		loci_windowed_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void loci_windowed_free(struct loci_windowed *w)
{
	if (!w)
		return;
	loci_stack_free(w->shared);
	loci_coherent_free(w->private_);
	free(w->sample);
	free(w->by_age);
	free(w->outcome);
	free(w->known);
	free(w);
}

static uint32_t chain_of(uint64_t block)
{
	return (uint32_t)(block * 0x9e3779b97f4a7c15u >> 52) % CHAINS;
}

/* Beyond which a sample need not be followed. Those given up count with what they had met: without
 * them the percentile would sink with every one. But what is known first is what is near, so that
 * it begins too low, and those given up keep it there: no more than the share that is meant to be
 * beyond are given up. */
static void learn(struct loci_windowed *w, uint64_t distance)
{
	uint64_t below = 0;
	uint32_t bin = 0;

	w->known[loci_bin_fine(distance)]++;
	if (++w->n_known < w->options.prune_from || w->n_known - w->n_cut < w->n_known / 16)
		return;
	w->n_cut = w->n_known;
	while ((double)(below += w->known[bin]) < PERCENTILE * (double)w->n_known)
		bin++;
	w->cut = loci_bin_high(LOCI_SCHEME_FINE, bin) - 1;
}

static void unchain(struct loci_windowed *w, uint32_t slot)
{
	uint32_t *at = &w->chain[chain_of(w->sample[slot].block)];

	while (*at != slot)
		at = &w->sample[*at].next;
	*at = w->sample[slot].next;
	w->sample[slot].next = w->free_slot;
	w->free_slot = slot;
}

static void close_sample(struct loci_windowed *w, uint32_t slot)
{
	size_t i = w->n_open;

	while (w->by_age[--i] != slot)
		;
	memmove(w->by_age + i, w->by_age + i + 1, (--w->n_open - i) * sizeof(*w->by_age));
	if (!w->sample[slot].lost)
		unchain(w, slot);
}

static void settle(struct loci_windowed *w, uint32_t slot)
{
	const struct sample *s = &w->sample[slot];

	if (!s->private_open && !s->shared_open)
		close_sample(w, slot);
}

static void answer_shared(
	struct loci_windowed *w, struct sample *s, enum loci_windowed_kind kind, uint64_t distance)
{
	if (!s->shared_open)
		return;
	s->shared_open = false;
	w->outcome[s->outcome].shared =
		(struct loci_windowed_answer){ .kind = kind, .distance = distance };
	if (kind == LOCI_WINDOWED_REUSE || kind == LOCI_WINDOWED_AT_LEAST)
		learn(w, distance);
}

static void answer_private(
	struct loci_windowed *w, struct sample *s, enum loci_windowed_kind kind, uint64_t distance)
{
	if (!s->private_open)
		return;
	s->private_open = false;
	w->outcome[s->outcome].private_ =
		(struct loci_windowed_answer){ .kind = kind, .distance = distance };
}

/* What is known of a private distance: what the engine has above the block. */
static uint64_t private_so_far(struct loci_windowed *w, const struct sample *s)
{
	uint64_t above;

	if (!w->private_)
		return s->above;
	return loci_coherent_above(w->private_, s->member, s->block, &above) == 0 ? above : 0;
}

static void give_up(struct loci_windowed *w, uint32_t slot)
{
	struct sample *s = &w->sample[slot];

	answer_private(w, s, LOCI_WINDOWED_AT_LEAST, private_so_far(w, s));
	answer_shared(w, s, LOCI_WINDOWED_AT_LEAST, s->above);
	settle(w, slot);
}

/* A touch, and what the engines say of it. */
struct met {
	uint64_t block, use, shared, private_;
	uint32_t member;
	bool is_write;
	uint8_t kind;
};

/* A touch of the block of open samples. */
static void resolve(struct loci_windowed *w, const struct met *met)
{
	uint32_t slot = w->chain[chain_of(met->block)], next;

	for (; slot != NONE; slot = next) {
		struct sample *s = &w->sample[slot];
		struct loci_windowed_outcome *outcome = &w->outcome[s->outcome];

		next = s->next;
		if (s->block != met->block)
			continue;
		if (s->lost) {
			if (s->member == met->member) {
				outcome->private_ =
					(struct loci_windowed_answer){ .kind = LOCI_WINDOWED_LOST,
						.is_false = (met->kind & LOCI_COHERENT_MASK) ==
							LOCI_COHERENT_FALSE,
						.by = met->use };
				s->lost = false;
				if (!s->shared_open)
					unchain(w, slot);
			}
			continue;
		}
		if (s->shared_open) {
			answer_shared(w, s, LOCI_WINDOWED_REUSE, met->shared);
			outcome->shared.by = met->use;
		}
		if (s->member == met->member && s->private_open) {
			answer_private(w, s, LOCI_WINDOWED_REUSE, met->private_);
			outcome->private_.by = met->use;
		} else if (s->member != met->member && met->is_write && s->private_open) {
			answer_private(w, s, LOCI_WINDOWED_LAST, 0);
			s->lost = true;
		}
		settle(w, slot);
	}
}

static void deepen(struct loci_windowed *w, uint64_t distance)
{
	for (size_t i = w->n_open; i-- > 0;) {
		struct sample *s = &w->sample[w->by_age[i]];

		if (!s->shared_open)
			continue;
		if (s->above > distance)
			break;
		s->above++;
	}
}

static int open_sample(struct loci_windowed *w, uint64_t block, uint32_t member, uint64_t tag)
{
	uint32_t slot = w->free_slot, *chain = &w->chain[chain_of(block)];

	if (reserve(&w->by_age, &w->age_cap, w->n_open + 1, sizeof(*w->by_age)) < 0 ||
		reserve(&w->outcome, &w->outcome_cap, w->n_outcomes + 1, sizeof(*w->outcome)) < 0)
		return -1;
	if (slot == NONE) {
		if (reserve(&w->sample, &w->slot_cap, w->n_slots + 1, sizeof(*w->sample)) < 0)
			return -1;
		slot = (uint32_t)w->n_slots++;
	} else {
		w->free_slot = w->sample[slot].next;
	}
	w->sample[slot] = (struct sample){ .block = block,
		.since = w->fed,
		.outcome = (uint32_t)w->n_outcomes,
		.member = member,
		.next = *chain,
		.private_open = true,
		.shared_open = true };
	*chain = slot;
	w->by_age[w->n_open++] = slot;
	w->outcome[w->n_outcomes++] =
		(struct loci_windowed_outcome){ .tag = tag, .member = member };
	return 0;
}

static bool is_hopeless(const struct loci_windowed *w, const struct sample *s)
{
	return w->options.prune_from && s->above > w->cut &&
		(double)w->n_hopeless < (1 - PERCENTILE) * (double)w->n_outcomes;
}

static void prune(struct loci_windowed *w, bool opened)
{
	while (w->n_open) {
		const struct sample *oldest = &w->sample[w->by_age[0]];
		bool old = w->options.limit_touches &&
			w->fed - oldest->since > w->options.limit_touches;

		if (!old && !(opened && is_hopeless(w, oldest)))
			return;
		w->n_hopeless += !old;
		give_up(w, w->by_age[0]);
	}
}

/* Another member has come. What is open was not followed in stacks of their own. */
static int open_private(struct loci_windowed *w, struct loci_err *err)
{
	for (size_t i = w->n_open; i-- > 0;) {
		uint32_t slot = w->by_age[i];

		answer_private(w, &w->sample[slot], LOCI_WINDOWED_AT_LEAST, w->sample[slot].above);
		settle(w, slot);
	}
	return loci_coherent_new(&(struct loci_coherent_options){ 0 }, &w->private_, err);
}

static int meet(struct loci_windowed *w, uint32_t member, struct loci_err *err)
{
	if (w->first_member == NONE)
		w->first_member = member;
	return w->private_ || member == w->first_member ? 0 : open_private(w, err);
}

/* Touches of one turn, or a part of them. */
struct part {
	size_t first, n;
	uint32_t member;
};

static int measure(struct loci_windowed *w, const struct loci_windowed_touches *t,
	const struct part *part, struct loci_err *err)
{
	struct loci_coherent_touches touches = { .block = t->block + part->first,
		.is_write = t->is_write + part->first,
		.bytes = t->bytes + part->first,
		.n = part->n,
		.turn_touch = &(uint32_t){ 0 },
		.turn_member = &part->member,
		.n_turns = 1,
		.ret_distance = w->private_distance,
		.ret_kind = w->kind };
	int r = loci_stack_feed(
		w->shared, touches.block, touches.is_write, part->n, w->distance, err);

	if (r == 0 && w->private_)
		r = loci_coherent_feed(w->private_, &touches, err);
	return r;
}

static int look(struct loci_windowed *w, const struct loci_windowed_touches *t,
	const struct part *part, size_t *next_sample)
{
	const uint64_t *private_ = w->private_ ? w->private_distance : w->distance;
	bool opened = false;

	for (size_t i = 0; i < part->n; i++) {
		size_t touch = part->first + i;
		uint64_t block = t->block[touch];

		if (w->n_open && w->distance[i])
			deepen(w, w->distance[i]);
		if (w->chain[chain_of(block)] != NONE)
			resolve(w,
				&(struct met){ .block = block,
					.use = t->use ? t->use[touch] : 0,
					.shared = w->distance[i],
					.private_ = private_[i],
					.member = part->member,
					.is_write = t->is_write[touch],
					.kind = w->private_ ? w->kind[i] : 0 });
		w->fed++;
		while (*next_sample < t->n_samples && t->sample_touch[*next_sample] == touch) {
			if (open_sample(w, block, part->member, t->sample_tag[*next_sample]) < 0)
				return -1;
			++*next_sample;
			opened = true;
		}
	}
	/* now the engines and the samples are at the same touch */
	prune(w, opened);
	return 0;
}

static int renew(struct loci_windowed *w, struct loci_err *err)
{
	struct loci_stack_result result;
	uint64_t bytes;
	int r;

	if (!w->options.max_bytes || w->n_open || w->fed - w->looked < LOOK_TOUCHES)
		return 0;
	w->looked = w->fed;
	r = loci_stack_result(w->shared, &result, err);
	if (r < 0)
		return r;
	bytes = result.bytes;
	loci_stack_result_fini(&result);
	if (bytes > w->options.max_bytes)
		r = open_shared(w, err);
	if (r == 0 && w->private_ && loci_coherent_bytes(w->private_) > w->options.max_bytes) {
		loci_coherent_free(w->private_);
		w->private_ = NULL;
		r = open_private(w, err);
	}
	return r;
}

int loci_windowed_feed(
	struct loci_windowed *w, const struct loci_windowed_touches *t, struct loci_err *err)
{
	size_t next_sample = 0;

	for (size_t i = 0; i < t->n_turns; i++) {
		struct part part = { .first = t->turn_touch[i], .member = t->turn_member[i] };
		size_t end = i + 1 < t->n_turns ? t->turn_touch[i + 1] : t->n;
		int r = meet(w, part.member, err);

		for (; r == 0 && part.first < end; part.first += part.n) {
			part.n = end - part.first < BATCH ? end - part.first : BATCH;
			r = measure(w, t, &part, err);
			if (r == 0 && look(w, t, &part, &next_sample) < 0)
				r = loci_err_nomem(err);
		}
		if (r < 0)
			return r;
	}
	return renew(w, err);
}

int loci_windowed_end(struct loci_windowed *w, uint32_t member, struct loci_err *err)
{
	(void)err;
	for (size_t i = w->n_open; i-- > 0;) {
		uint32_t slot = w->by_age[i];
		struct sample *s = &w->sample[slot];

		if (s->member != member)
			continue;
		answer_private(w, s, LOCI_WINDOWED_LAST, 0);
		settle(w, slot); /* others may touch it */
	}
	if (w->private_)
		loci_coherent_end(w->private_, member);
	return 0;
}

int loci_windowed_interrupt(struct loci_windowed *w, uint32_t member, struct loci_err *err)
{
	(void)err;
	for (size_t i = w->n_open; i-- > 0;)
		if (w->sample[w->by_age[i]].member == member)
			give_up(w, w->by_age[i]);
	return 0;
}

int loci_windowed_finish(struct loci_windowed *w, struct loci_err *err)
{
	(void)err;
	while (w->n_open) {
		uint32_t slot = w->by_age[w->n_open - 1];

		answer_private(w, &w->sample[slot], LOCI_WINDOWED_LAST, 0);
		answer_shared(w, &w->sample[slot], LOCI_WINDOWED_LAST, 0);
		settle(w, slot);
	}
	return 0;
}

size_t loci_windowed_n_open(const struct loci_windowed *w)
{
	return w->n_open;
}

const struct loci_windowed_outcome *loci_windowed_outcomes(
	const struct loci_windowed *w, size_t *ret_n)
{
	*ret_n = w->n_outcomes;
	return w->outcome;
}

uint64_t loci_windowed_touches_fed(const struct loci_windowed *w)
{
	return w->fed;
}
