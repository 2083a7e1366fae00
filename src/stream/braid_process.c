// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process's own ring says is passed on at once, but for markers whose number is not due. */
#include "stream/braid_state.h"
#include "stream/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS 0 /* its words are no thread's */

static int hold(struct loci_braid *braid, const uint64_t *marker, size_t n, struct loci_err *err)
{
	if (braid->n_held + n > braid->held_cap) {
		size_t cap = 2 * (braid->n_held + n);
		void *larger = realloc(braid->held, cap * sizeof(*braid->held));

		if (!larger)
			return loci_err_nomem(err);
		braid->held = larger;
		braid->held_cap = cap;
	}
	memcpy(braid->held + braid->n_held, marker, n * sizeof(*marker));
	braid->n_held += n;
	return 0;
}

uint64_t loci_braid_held(const struct loci_braid *braid)
{
	return braid->n_held ? loci_sequence_of(braid->held, braid->n_held) : 0;
}

void loci_braid_release(struct loci_braid *braid, struct loci_braid_out *out)
{
	while (braid->n_held && loci_braid_held(braid) <= braid->due) {
		size_t n = loci_sequence_words(braid->held, braid->n_held);

		if (out->cap - out->n < n + 1)
			return;
		loci_braid_switch(braid, out, PROCESS);
		memcpy(out->words + out->n, braid->held, n * sizeof(*braid->held));
		out->n += n;
		braid->due += loci_braid_held(braid) == braid->due;
		braid->n_held -= n;
		memmove(braid->held, braid->held + n, braid->n_held * sizeof(*braid->held));
	}
}

/* Passes words of the process on, but for what has to wait; n_words of them end at out->n. */
static int sift(
	struct loci_braid *braid, struct loci_braid_out *out, size_t n_words, struct loci_err *err)
{
	uint64_t *from = out->words + out->n - n_words, *end = out->words + out->n, *to = from;

	while (from < end) {
		size_t n = loci_sequence_words(from, (size_t)(end - from));
		bool is_marker = loci_word_is_marker(*from);
		uint64_t number = is_marker ? loci_sequence_of(from, n) : 0;

		if (is_marker && loci_word_kind(*from) == LOCI_MARK_END) {
			braid->end = loci_mark_word(LOCI_MARK_END, 0, loci_word_payload(*from));
		} else if (number && (number > braid->due || braid->n_held)) {
			if (hold(braid, from, n, err) < 0)
				return -ENOMEM;
		} else {
			braid->due += number && number == braid->due;
			memmove(to, from, n * sizeof(*to));
			to += n;
		}
		from += n;
	}
	out->n = (size_t)(to - out->words);
	return 0;
}

int loci_braid_process(struct loci_braid *braid, struct loci_braid_out *out, struct loci_err *err)
{
	struct loci_ring_view *view = &braid->process_view;
	int r = loci_ring_look(braid->process, view, err);

	loci_braid_release(braid, out);
	while (r == 0 && view->n_words) {
		size_t room = out->cap - out->n, before = out->n, n;
		uint32_t thread = braid->thread;

		if (room < LOCI_BRAID_ROOM)
			return 1;
		loci_braid_switch(braid, out, PROCESS);
		n = loci_ring_copy(braid->process, out->words + out->n,
			room - LOCI_BRAID_MARKER - 2, view->n_words);
		if (n == 0)
			return loci_ring_senseless(braid->process, err);
		loci_ring_give_back(braid->process, n, view);
		view->n_words -= n;
		out->n += n;
		r = sift(braid, out, n, err);
		if (out->n == before + (thread != PROCESS)) { /* there was nothing to pass on */
			out->n = before;
			braid->thread = thread;
		}
		loci_braid_release(braid, out);
	}
	return r;
}
