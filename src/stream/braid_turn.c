// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/braid_state.h"
#include "stream/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOPELESS_ROUNDS 64         /* without a word, of what makes no sense */
#define KEPT_WORDS      (8u << 20) /* in memory, at most */

static void put(struct loci_braid_out *out, uint64_t word)
{
	out->words[out->n++] = word;
}

void loci_braid_switch(struct loci_braid *braid, struct loci_braid_out *out, uint32_t thread)
{
	if (braid->thread != thread)
		put(out, loci_mark_word(LOCI_MARK_SWITCH, 0, thread));
	braid->thread = thread;
}

static size_t all_kept(const struct loci_braid *braid)
{
	return loci_braid_kept_words(&braid->source);
}

static int keep(struct loci_braid *braid, struct loci_strand *strand, struct loci_err *err)
{
	return all_kept(braid) < KEPT_WORDS ? loci_strand_keep(strand, err) : 0;
}

/* Signal handlers. */

/* The thread's strand next to this one, by number: what it interrupts, or what interrupts it. */
static struct loci_strand *neighbour(
	const struct loci_braid *braid, const struct loci_strand *strand, bool above)
{
	struct loci_strand *found = NULL;

	for (size_t i = 0; i < braid->n_strands; i++) {
		struct loci_strand *other = braid->strand[i];

		if (other->thread != strand->thread || other->number == strand->number ||
			(other->number > strand->number) != above)
			continue;
		if (!found || (other->number < found->number) == above)
			found = other;
	}
	return found;
}

static bool is_kind(uint64_t word, enum loci_marker kind)
{
	return loci_word_is_marker(word) && loci_word_kind(word) == kind;
}

/* Whether a handler is next, and which word of what it interrupts it stands before. */
static bool enters(struct loci_strand *strand, uint64_t *ret_before)
{
	uint64_t words[LOCI_BRAID_MARKER];
	ssize_t n;

	if (!strand->is_handler || strand->opened)
		return false;
	while ((n = loci_strand_copy(strand, words, LOCI_BRAID_MARKER, NULL)) > 0 &&
		is_kind(words[0], LOCI_MARK_PAD))
		loci_strand_take(strand, loci_sequence_words(words, (size_t)n));
	if (n <= 0 || !is_kind(words[0], LOCI_MARK_SIGNAL_ENTER))
		return false;
	*ret_before = loci_word_n_raw(words[0]) && n > 1 ? words[1] : 0;
	return true;
}

/* How many words may come before a handler of this thread does; SIZE_MAX: none does. */
static size_t until_handler(struct loci_braid *braid, struct loci_strand *strand)
{
	struct loci_strand *above;
	uint64_t before;

	if (!braid->n_handlers)
		return SIZE_MAX;
	above = neighbour(braid, strand, true);
	if (above && above->opened)
		return 0;
	/* It has passed if the handler's ring was found late. */
	if (!above || !enters(above, &before) || before < strand->given)
		return SIZE_MAX;
	loci_ring_look_to(strand->ring, before, &strand->view);
	return before - strand->given;
}

/* Whether it is its turn to interrupt. */
static bool may_enter(struct loci_braid *braid, struct loci_strand *strand)
{
	const struct loci_strand *below;
	uint64_t before;

	if (!braid->n_handlers || !enters(strand, &before))
		return true;
	below = neighbour(braid, strand, false);
	if (below && below->given < before && !(below->view.ended && !loci_strand_words(below)))
		return false;
	strand->opened = true;
	return true;
}

int loci_braid_start(struct loci_braid *braid, struct loci_strand *strand, struct loci_err *err)
{
	uint64_t words[LOCI_BRAID_MARKER];
	ssize_t n = loci_strand_copy(strand, words, LOCI_BRAID_MARKER, err);

	if (n <= 0)
		return (int)n;
	strand->started = true;
	if (!is_kind(words[0], LOCI_MARK_SWITCH))
		return 0;
	strand->thread = (uint32_t)loci_word_payload(words[0]);
	strand->is_handler = true;
	braid->n_handlers++;
	loci_strand_take(strand, 1);
	return 0;
}

/* Turns. */

/* How many of the words may be given now: up to a number that is not due, and no further than what
 * makes others due, or ends a handler. */
static size_t admit(
	struct loci_braid *braid, struct loci_strand *strand, const uint64_t *words, size_t n_words)
{
	size_t at = 0;

	while ((at = loci_sequence_marker(words, n_words, at)) < n_words) {
		uint64_t number = loci_sequence_of(words + at, n_words - at);
		unsigned kind = loci_word_kind(words[at]);

		if (number > braid->due) {
			strand->undue = number;
			return at;
		}
		at += loci_sequence_words(words + at, n_words - at);
		if (number == braid->due && number) {
			braid->due++;
			if (braid->n_held && loci_braid_held(braid) <= braid->due)
				return at;
		}
		if (kind == LOCI_MARK_EXEC)
			strand->executes_at = strand->given + at;
		if (kind == LOCI_MARK_SIGNAL_LEAVE && strand->opened) {
			strand->opened = false;
			return at;
		}
	}
	return n_words;
}

/* Up to the end of a handler, if it ends before the next number; else 0. */
static size_t handler_rest(const uint64_t *words, size_t n_words)
{
	size_t at = 0;

	while ((at = loci_sequence_marker(words, n_words, at)) < n_words) {
		if (loci_sequence_of(words + at, n_words - at))
			return 0;
		if (loci_word_kind(words[at]) == LOCI_MARK_SIGNAL_LEAVE)
			return at + 1;
		at += loci_sequence_words(words + at, n_words - at);
	}
	return 0;
}

/* The smallest number that can be seen in memory, of a thread's strands or (NULL) of all;
 * UINT64_MAX: none can. */
static uint64_t least_number(const struct loci_braid *braid, const uint32_t *thread)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < braid->n_strands; i++) {
		const struct loci_strand *strand = braid->strand[i];
		uint64_t number;

		if ((!thread || strand->thread == *thread) &&
			loci_sequence_first(strand->kept + strand->kept_at,
				strand->n_kept - strand->kept_at, &number) &&
			number < least)
			least = number;
	}
	return least;
}

/* While a marker of the process is held its threads may be ahead of it: they give what their number
 * that is due stands behind, for that is before. It may stand in another ring, where a handler
 * begins or ends. Returns how many words, 0: none that is known. */
static ssize_t cleared(
	struct loci_braid *braid, struct loci_strand *strand, size_t until, struct loci_err *err)
{
	uint64_t number, *words, held = loci_braid_held(braid);
	size_t n, n_words;
	int r = keep(braid, strand, err);

	if (r < 0)
		return r;
	words = strand->kept + strand->kept_at;
	n_words = strand->n_kept - strand->kept_at;
	n = loci_sequence_first(words, n_words, &number);
	if (n && number <= braid->due)
		return (ssize_t)n;
	strand->undue = n && number < held ? number : held;
	for (size_t i = 0; r == 0 && braid->n_handlers && i < braid->n_strands; i++)
		if (braid->strand[i]->thread == strand->thread)
			r = keep(braid, braid->strand[i], err);
	if (r < 0)
		return r;
	if (least_number(braid, &strand->thread) > braid->due)
		return 0;
	return (ssize_t)(strand->opened    ? handler_rest(words, n_words)
			: until <= n_words ? until
					   : 0);
}

/* With one strand there is nobody to take turns with. */
static size_t turn_words(const struct loci_braid *braid, const struct loci_strand *strand,
	const struct loci_braid_out *out)
{
	size_t room = out->cap - out->n - LOCI_BRAID_MARKER - 2;
	size_t chunk = (size_t)loci_ring_chunk_words(strand->ring);

	return braid->n_strands > 1 && chunk < room ? chunk : room;
}

static int give(struct loci_braid *braid, struct loci_strand *strand, size_t cap,
	struct loci_braid_out *out, struct loci_err *err)
{
	size_t before = out->n, first, used;
	uint32_t thread = braid->thread;
	ssize_t n;

	loci_braid_switch(braid, out, strand->thread);
	first = out->n;
	n = loci_strand_copy(strand, out->words + first, cap, err);
	used = n > 0 ? admit(braid, strand, out->words + first, (size_t)n) : 0;
	if (!used) {
		out->n = before;
		braid->thread = thread;
		return n < 0 ? (int)n : 0;
	}
	loci_strand_take(strand, used);
	out->n += used;
	loci_braid_release(braid, out);
	return 0;
}

/* How much it may give now; 0: it has to wait. */
static ssize_t allowance(struct loci_braid *braid, struct loci_strand *strand,
	const struct loci_braid_out *out, struct loci_err *err)
{
	size_t cap = turn_words(braid, strand, out), until = until_handler(braid, strand);
	ssize_t clear;

	if (!until || !may_enter(braid, strand))
		return 0;
	if (until < cap)
		cap = until;
	if (!braid->n_held)
		return (ssize_t)cap;
	clear = cleared(braid, strand, until, err);
	return clear < (ssize_t)cap ? clear : (ssize_t)cap;
}

int loci_braid_turn(struct loci_braid *braid, struct loci_strand *strand,
	struct loci_braid_out *out, struct loci_err *err)
{
	uint64_t n = loci_strand_words(strand);
	ssize_t cap;
	int r = 0;

	/* Handlers are short, and have their place among the thread's words. */
	if (n < loci_ring_chunk_words(strand->ring) && !strand->view.ended && !braid->hungry &&
		!braid->n_handlers)
		return 0;
	if (!strand->started || out->cap - out->n < LOCI_BRAID_ROOM)
		return 0;
	strand->undue = 0;
	cap = allowance(braid, strand, out, err);
	if (cap > 0)
		r = give(braid, strand, (size_t)cap, out, err);
	if (cap < 0 || r < 0)
		return cap < 0 ? (int)cap : r;
	if ((cap == 0 || strand->undue) && strand->view.n_words > loci_ring_words(strand->ring) / 2)
		r = keep(braid, strand, err);
	return r;
}

uint64_t loci_braid_waiting(const struct loci_braid *braid)
{
	uint64_t least = loci_braid_held(braid);

	for (size_t i = 0; i < braid->n_strands; i++) {
		uint64_t number = braid->strand[i]->undue;

		if (number > braid->due && (!least || number < least))
			least = number;
	}
	return least;
}

int loci_braid_pass(struct loci_braid *braid, struct loci_err *err)
{
	uint64_t least = loci_braid_waiting(braid), number;
	int r = 0;

	for (size_t i = 0; r == 0 && i < braid->n_strands; i++)
		r = loci_strand_keep(braid->strand[i], err);
	if (r < 0)
		return r;
	number = least_number(braid, NULL);
	/* If the one that is due is there after all, it is found in one of the next rounds. */
	if (number > braid->due)
		braid->due = number < least ? number : least;
	else if (braid->idle_rounds > HOPELESS_ROUNDS)
		braid->due = least;
	return 0;
}

void loci_braid_retire(
	struct loci_braid *braid, const struct loci_strand *strand, struct loci_braid_out *out)
{
	braid->n_handlers -= strand->is_handler;
	braid->became_another |= strand->given && strand->executes_at == strand->given;
	if (!strand->opened)
		return;
	loci_braid_switch(braid, out, strand->thread);
	put(out, loci_mark_word(LOCI_MARK_SIGNAL_LEAVE, 0, 0));
}
