// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a lane is in time: on a straight line, by references, between two time stamps (TIME, and
 * the start and end of a thread). So the next stamp has to be known before a lane goes on: a second
 * walk goes ahead to it. A thread that is BLOCKED before tells none; until there, as where there is
 * no other choice, it goes on at the pace it had. */
#include "stream/order_place.h"

#include <stdlib.h>

#define FAR (INT64_MAX / 2)

/* What a marker says of time. */
static bool stamp(const uint64_t *marker, uint64_t *ret_ns)
{
	unsigned n_raw = loci_word_n_raw(*marker);
	unsigned place;

	switch (loci_word_kind(*marker)) {
	case LOCI_MARK_TIME:
	case LOCI_MARK_THREAD_EXIT:
		place = 1;
		break;
	case LOCI_MARK_THREAD_START:
		place = 3;
		break;
	default:
		return false;
	}
	*ret_ns = place <= n_raw ? marker[place] : 0;
	return *ret_ns;
}

/* After this many references, at the pace it had. No program runs FAR long; a stream that says so
 * is wrong, and its thread stays where it was. */
static uint64_t estimate(const struct loci_order_pace *pace, uint64_t refs)
{
	double ns =
		refs > pace->from_refs ? (double)(refs - pace->from_refs) * pace->ns_per_ref : 0;

	return pace->from_ns + (ns < (double)FAR ? (uint64_t)ns : 0);
}

static void set_aim(struct loci_order_pace *pace, uint64_t ns)
{
	pace->to_ns = ns > pace->from_ns ? ns : pace->from_ns;
	pace->to_refs = pace->ahead;
	pace->known = true;
	if (!pace->begun)
		pace->from_ns = pace->to_ns;
	if (pace->to_refs > pace->from_refs && pace->to_ns > pace->from_ns)
		pace->ns_per_ref = (double)(pace->to_ns - pace->from_ns) /
			(double)(pace->to_refs - pace->from_refs);
}

static void look_at(
	struct loci_ordered *order, struct loci_order_pace *pace, const uint64_t *marker)
{
	int64_t refs = loci_order_count_marker(order, &pace->place, marker);
	uint64_t ns;

	pace->ahead += refs > 0 ? (uint64_t)refs : 0;
	if (stamp(marker, &ns))
		set_aim(pace, ns);
	else if (loci_word_kind(*marker) == LOCI_MARK_BLOCKED)
		set_aim(pace, estimate(pace, pace->ahead));
}

static void look(struct loci_ordered *order, struct loci_order_lane *lane)
{
	struct loci_order_queue *queue = &lane->queue;
	struct loci_order_pace *pace = &lane->pace;

	while (!pace->known && queue->first) {
		struct loci_order_chunk *chunk = queue->ahead ? queue->ahead : queue->first;
		size_t at = queue->ahead ? queue->ahead_at : queue->at, n;
		int64_t left = FAR;

		if (at == chunk->n) {
			if (!chunk->next)
				return;
			chunk = chunk->next;
			at = 0;
		}
		n = loci_order_count(order, &pace->place, chunk->word + at, chunk->n - at, &left);
		pace->ahead += (uint64_t)(FAR - left);
		at += n;
		if (at < chunk->n) {
			look_at(order, pace, chunk->word + at);
			at += 1 + loci_word_n_raw(chunk->word[at]);
		}
		queue->ahead = chunk;
		queue->ahead_at = at;
	}
}

static uint64_t clock_of(const struct loci_order_pace *pace)
{
	double whole = (double)(pace->to_ns - pace->from_ns), part;

	if (!pace->known)
		return estimate(pace, pace->given);
	if (pace->given >= pace->to_refs)
		return pace->to_ns;
	part = whole * (double)(pace->given - pace->from_refs) /
		(double)(pace->to_refs - pace->from_refs);
	return part < whole ? pace->from_ns + (uint64_t)part : pace->to_ns;
}

bool loci_order_pace(struct loci_ordered *order, struct loci_order_lane *lane)
{
	uint64_t clock;

	look(order, lane);
	clock = clock_of(&lane->pace);
	if (lane->clock < clock)
		lane->clock = clock;
	return lane->pace.known;
}

void loci_order_pace_given(struct loci_ordered *order, struct loci_order_lane *lane, uint64_t refs)
{
	lane->pace.given += refs;
	loci_order_pace(order, lane);
}

void loci_order_pace_marker(
	struct loci_ordered *order, struct loci_order_lane *lane, const uint64_t *marker)
{
	struct loci_order_pace *pace = &lane->pace;
	uint64_t ns;

	if (stamp(marker, &ns)) {
		pace->begun = true;
		pace->from_ns = ns > pace->from_ns ? ns : pace->from_ns;
	} else if (loci_word_kind(*marker) == LOCI_MARK_BLOCKED) {
		pace->from_ns = clock_of(pace);
	} else {
		return;
	}
	pace->from_refs = pace->given;
	pace->known = false;
	loci_order_pace(order, lane);
}
