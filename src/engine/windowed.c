// SPDX-License-Identifier: GPL-2.0-or-later
/* Open samples are found by their block, in chains; and they stand in a list by age. Each begins an
 * epoch (epochs.h): what was touched in it and since is its distance. */
#include "engine/windowed.h"

#include "engine/epochs.h"
#include "hist/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHAINS     4096u
#define PERCENTILE 0.99
#define NONE       UINT32_MAX
#define AGE_SHIFT  2  /* the next age is four times as far */
#define LOOKS      16 /* until the first age, who has come to one */

struct sample {
	uint64_t block;
	uint64_t since;   /* touches fed before it */
	uint64_t written; /* bytes, by others, since it was lost */
	uint32_t epoch;   /* that it began */
	uint32_t outcome;
	uint32_t member;
	uint32_t next;   /* of its chain */
	uint32_t stayed; /* ages at which chance decided */
	bool private_open, shared_open;
	bool lost; /* only waits to be told from LAST */
};

struct outcome {
	struct loci_windowed_outcome told;
	uint32_t slot; /* of the sample; NONE: nothing more will be known */
};

struct loci_windowed {
	struct loci_windowed_options options;
	struct loci_epochs epochs;
	struct loci_epochs_block *last; /* touched, as the next */
	uint32_t last_member;
	struct sample *sample; /* slots, used again */
	size_t n_slots, slot_cap;
	uint32_t free_slot;
	uint32_t chain[CHAINS];
	uint32_t *by_age; /* those that are open, the oldest first */
	size_t n_open, age_cap;
	struct outcome *outcome; /* not taken yet */
	size_t n_outcomes, outcome_cap;
	uint64_t n_samples;
	bool finished;
	uint64_t *known;              /* shared distances, by fine bin */
	uint64_t n_known, n_cut, cut; /* as many as they stand for */
	uint64_t n_learnt;
	uint64_t n_hopeless;                 /* given up because of their distance */
	uint64_t n_aged[LOCI_WINDOWED_AGES]; /* for whom chance decided, by age */
	bool stays[LOCI_WINDOWED_AGES];      /* whether the last one of an odd number stayed */
	uint64_t gamble_at;                  /* touches, when it is next looked who is */
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

int loci_windowed_new(const struct loci_windowed_options *options, struct loci_windowed **ret,
	struct loci_err *err)
{
	struct loci_windowed *w = calloc(1, sizeof(*w));

	if (!w)
		return loci_err_nomem(err);
	w->options = *options;
	w->free_slot = NONE;
	w->cut = UINT64_MAX;
	memset(w->chain, 0xff, sizeof(w->chain));
	w->known = calloc(LOCI_FINE_BINS, sizeof(*w->known));
	if (loci_epochs_init(&w->epochs) < 0 || !w->known) {
		loci_windowed_free(w);
		return loci_err_nomem(err);
	}
	*ret = w;
	return 0;
}

void loci_windowed_free(struct loci_windowed *w)
{
	if (!w)
		return;
	loci_epochs_fini(&w->epochs);
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
static void learn(struct loci_windowed *w, uint64_t distance, uint32_t stayed)
{
	uint64_t below = 0;
	uint32_t bin = 0;

	w->known[loci_bin_fine(distance)] += 1ull << stayed;
	w->n_known += 1ull << stayed;
	if (++w->n_learnt < w->options.prune_from || w->n_known - w->n_cut < w->n_known / 16)
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
	w->outcome[w->sample[slot].outcome].slot = NONE;
	w->sample[slot].next = w->free_slot;
	w->free_slot = slot;
}

/* Nobody asks for what was before the oldest. */
static void rebase(struct loci_windowed *w)
{
	loci_epochs_rebase(
		&w->epochs, w->n_open ? w->sample[w->by_age[0]].epoch : w->epochs.now + 1);
}

static void close_sample(struct loci_windowed *w, uint32_t slot)
{
	size_t i = w->n_open;

	while (w->by_age[--i] != slot)
		;
	memmove(w->by_age + i, w->by_age + i + 1, (--w->n_open - i) * sizeof(*w->by_age));
	if (!w->sample[slot].lost)
		unchain(w, slot);
	if (i == 0)
		rebase(w);
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
	w->outcome[s->outcome].told.shared = (struct loci_windowed_answer){
		.kind = kind, .distance = distance, .stayed = s->stayed
	};
	if (kind == LOCI_WINDOWED_REUSE || kind == LOCI_WINDOWED_AT_LEAST)
		learn(w, distance, s->stayed);
}

static void answer_private(
	struct loci_windowed *w, struct sample *s, enum loci_windowed_kind kind, uint64_t distance)
{
	if (!s->private_open)
		return;
	s->private_open = false;
	w->outcome[s->outcome].told.private_ = (struct loci_windowed_answer){
		.kind = kind, .distance = distance, .stayed = s->stayed
	};
}

static uint64_t shared_so_far(const struct loci_windowed *w, const struct sample *s)
{
	return loci_epochs_above(&w->epochs, s->epoch);
}

static uint64_t private_so_far(const struct loci_windowed *w, const struct sample *s)
{
	return loci_epochs_above_own(&w->epochs, s->member, s->epoch);
}

/* What is open of it ends as this kind. */
static void give_up(struct loci_windowed *w, uint32_t slot, enum loci_windowed_kind kind)
{
	struct sample *s = &w->sample[slot];

	if (s->private_open)
		answer_private(w, s, kind, private_so_far(w, s));
	if (s->shared_open)
		answer_shared(w, s, kind, shared_so_far(w, s));
	settle(w, slot);
}

/* What others wrote since is not what the member touches now: they only share the block. */
static void find_lost(struct loci_windowed *w, uint32_t slot, const struct loci_windowed_touch *t)
{
	struct sample *s = &w->sample[slot];

	if (s->member != t->member) {
		s->written |= t->is_write ? t->bytes : 0;
		return;
	}
	w->outcome[s->outcome].told.private_ =
		(struct loci_windowed_answer){ .kind = LOCI_WINDOWED_LOST,
			.stayed = s->stayed,
			.is_false = !(t->bytes & s->written),
			.by = t->use };
	s->lost = false;
	if (!s->shared_open)
		unchain(w, slot);
}

static void resolve_one(struct loci_windowed *w, uint32_t slot, const struct loci_windowed_touch *t)
{
	struct sample *s = &w->sample[slot];
	struct loci_windowed_outcome *outcome = &w->outcome[s->outcome].told;

	if (s->shared_open) {
		answer_shared(w, s, LOCI_WINDOWED_REUSE, shared_so_far(w, s));
		outcome->shared.by = t->use;
	}
	if (s->member == t->member && s->private_open) {
		answer_private(w, s, LOCI_WINDOWED_REUSE, private_so_far(w, s));
		outcome->private_.by = t->use;
	} else if (s->member != t->member && t->is_write && s->private_open) {
		answer_private(w, s, LOCI_WINDOWED_LAST, 0);
		s->lost = true;
		s->written = t->bytes;
	}
	settle(w, slot);
}

/* A touch of the block of open samples, before it is one. False: there are none any more. */
static bool resolve(struct loci_windowed *w, const struct loci_windowed_touch *t)
{
	uint32_t slot = w->chain[chain_of(t->block)], next;
	bool stays = false;

	for (; slot != NONE; slot = next) {
		const struct sample *s = &w->sample[slot];

		next = s->next;
		if (s->block != t->block)
			continue;
		if (s->lost)
			find_lost(w, slot, t);
		else
			resolve_one(w, slot, t);
		stays |= s->lost || s->private_open || s->shared_open;
	}
	return stays;
}

struct loci_epochs *loci_windowed_epochs(struct loci_windowed *w)
{
	return &w->epochs;
}

int loci_windowed_touch_found(struct loci_windowed *w, struct loci_epochs_block *found,
	uint64_t block, uint32_t member, bool is_write)
{
	int r;

	w->epochs.touches++;
	r = loci_epochs_touch(&w->epochs, &found, block, member, is_write);
	w->last = found;
	w->last_member = member;
	return r;
}

int loci_windowed_touch(struct loci_windowed *w, const struct loci_windowed_touch *t)
{
	struct loci_epochs_block *found = loci_epochs_find(&w->epochs, t->block);
	int r = 0;

	w->epochs.touches++;
	if (found->last & LOCI_EPOCHS_KEPT && !resolve(w, t))
		found->last &= ~(uint64_t)LOCI_EPOCHS_KEPT;
	if (found->last != loci_epochs_here(&w->epochs, t->member))
		r = loci_epochs_touch(&w->epochs, &found, t->block, t->member, t->is_write);
	w->last = found;
	w->last_member = t->member;
	return r;
}

static int new_slot(struct loci_windowed *w, uint32_t *ret)
{
	*ret = w->free_slot;
	if (*ret != NONE) {
		w->free_slot = w->sample[*ret].next;
		return 0;
	}
	if (reserve(&w->sample, &w->slot_cap, w->n_slots + 1, sizeof(*w->sample)) < 0)
		return -ENOMEM;
	*ret = (uint32_t)w->n_slots++;
	return 0;
}

static bool is_hopeless(const struct loci_windowed *w, const struct sample *s)
{
	return w->options.prune_from && w->cut != UINT64_MAX &&
		(double)w->n_hopeless < (1 - PERCENTILE) * (double)w->n_samples &&
		shared_so_far(w, s) > w->cut;
}

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Of two that come to an age one after the other one stays: the seed says which. */
static bool may_stay(struct loci_windowed *w, uint32_t age)
{
	uint64_t n = w->n_aged[age]++;

	if (n % 2 == 0)
		w->stays[age] =
			mixed(mixed(w->options.seed + 0x9e3779b97f4a7c15u * (age + 1)) + n) >> 63;
	else
		w->stays[age] = !w->stays[age];
	return w->stays[age];
}

/* Chance decides for each age that the sample has come to. False: it was dropped. Who is answered
 * before anybody looks keeps its answer, and stands for what it stood for. */
static bool gamble(struct loci_windowed *w, uint32_t slot)
{
	uint64_t first = w->options.gamble_touches;
	struct sample *s = &w->sample[slot];

	while (s->stayed < LOCI_WINDOWED_AGES &&
		(w->epochs.touches - s->since) >> (AGE_SHIFT * s->stayed) > first) {
		if (!may_stay(w, s->stayed)) {
			give_up(w, slot, LOCI_WINDOWED_DROPPED);
			return false;
		}
		s->stayed++;
	}
	return true;
}

/* Those that are old enough; now and then, as there may be many. */
static void gamble_all(struct loci_windowed *w)
{
	uint64_t first = w->options.gamble_touches, now = w->epochs.touches;
	size_t i = 0;

	if (!first || now < w->gamble_at)
		return;
	w->gamble_at = now + first / LOOKS;
	while (i < w->n_open && now - w->sample[w->by_age[i]].since > first)
		i += gamble(w, w->by_age[i]);
}

static void prune(struct loci_windowed *w, bool opened)
{
	gamble_all(w);
	while (w->n_open) {
		const struct sample *oldest = &w->sample[w->by_age[0]];
		bool old = w->options.limit_touches &&
			w->epochs.touches - oldest->since > w->options.limit_touches;

		if (!old && !(opened && is_hopeless(w, oldest)))
			return;
		w->n_hopeless += old ? 0 : 1ull << oldest->stayed;
		give_up(w, w->by_age[0], LOCI_WINDOWED_AT_LEAST);
	}
}

void loci_windowed_prune(struct loci_windowed *w)
{
	prune(w, false);
	if (w->options.max_bytes && !w->n_open &&
		loci_epochs_bytes(&w->epochs) > w->options.max_bytes)
		(void)loci_epochs_shrink(&w->epochs); /* else it is as large as it was */
}

int loci_windowed_open(struct loci_windowed *w, uint64_t tag)
{
	uint32_t slot, *chain = &w->chain[chain_of(w->last->block)];
	int r;

	if (reserve(&w->by_age, &w->age_cap, w->n_open + 1, sizeof(*w->by_age)) < 0 ||
		reserve(&w->outcome, &w->outcome_cap, w->n_outcomes + 1, sizeof(*w->outcome)) < 0 ||
		new_slot(w, &slot) < 0)
		return -ENOMEM;
	r = loci_epochs_next(&w->epochs);
	if (r < 0)
		return r;
	w->sample[slot] = (struct sample){ .block = w->last->block,
		.since = w->epochs.touches,
		.epoch = w->epochs.now,
		.outcome = (uint32_t)w->n_outcomes,
		.member = w->last_member,
		.next = *chain,
		.private_open = true,
		.shared_open = true };
	*chain = slot;
	w->last->last |= LOCI_EPOCHS_KEPT;
	w->by_age[w->n_open++] = slot;
	w->outcome[w->n_outcomes++] =
		(struct outcome){ .told = { .tag = tag, .member = w->last_member }, .slot = slot };
	w->n_samples++;
	if (w->n_open == 1)
		rebase(w);
	prune(w, true);
	return 0;
}

void loci_windowed_end(struct loci_windowed *w, uint32_t member)
{
	for (size_t i = w->n_open; i-- > 0;) {
		uint32_t slot = w->by_age[i];
		struct sample *s = &w->sample[slot];

		if (s->member != member)
			continue;
		answer_private(w, s, LOCI_WINDOWED_LAST, 0);
		settle(w, slot); /* others may touch it */
	}
}

void loci_windowed_interrupt(struct loci_windowed *w, uint32_t member)
{
	for (size_t i = w->n_open; i-- > 0;)
		if (w->sample[w->by_age[i]].member == member)
			give_up(w, w->by_age[i], LOCI_WINDOWED_AT_LEAST);
}

void loci_windowed_finish(struct loci_windowed *w)
{
	while (w->n_open) {
		uint32_t slot = w->by_age[w->n_open - 1];

		answer_private(w, &w->sample[slot], LOCI_WINDOWED_LAST, 0);
		answer_shared(w, &w->sample[slot], LOCI_WINDOWED_LAST, 0);
		settle(w, slot);
	}
	w->finished = true;
}

size_t loci_windowed_n_open(const struct loci_windowed *w)
{
	return w->n_open;
}

int loci_windowed_take(struct loci_windowed *w, loci_windowed_taker *taker, void *data)
{
	size_t n_kept = 0;
	int r = 0;

	for (size_t i = 0; i < w->n_outcomes; i++) {
		struct outcome *outcome = &w->outcome[i];

		if (r == 0 && (w->finished || outcome->slot == NONE)) {
			r = taker(data, &outcome->told);
			continue;
		}
		if (outcome->slot != NONE)
			w->sample[outcome->slot].outcome = (uint32_t)n_kept;
		w->outcome[n_kept++] = *outcome;
	}
	w->n_outcomes = n_kept;
	return r;
}

size_t loci_windowed_n_untaken(const struct loci_windowed *w)
{
	return w->n_outcomes;
}
