/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the words of a process say of the order of its threads, looked at by plain rules: numbers of
 * every object are 1, 2, 3.. without gaps, an order that keeps them exists, and what a program
 * knows to happen before something else (tests/runtime/telling.h) does so by releases and
 * acquisitions alone, whatever the numbers (vector clocks; Mattern 1988, Fidge 1988). Not more than
 * one handler deep. */
#ifndef LOCI_TESTS_RUNTIME_HAPPENS_BEFORE_H
#define LOCI_TESTS_RUNTIME_HAPPENS_BEFORE_H

#include "check.h"
#include "runtime/telling.h"

#include "stream/stream.h"

#include <stdbool.h>
#include <stdlib.h>

struct hb_event {
	enum { HB_SYNC, HB_TOLD } what;
	unsigned kind; /* enum loci_sync, or the tag */
	uint64_t object, number;
	uint64_t at; /* words of its ring before it */
};

struct hb_thread {
	uint32_t id;
	struct hb_event *event;
	size_t n, room, next;
	bool is_blocked;
	uint64_t n_blocked, n_times, time_ns;
	uint32_t *clock;
};

struct hb_object {
	uint64_t id, number;
	uint32_t *clock;
};

struct hb_told {
	uint32_t thread, epoch;
	uint32_t *clock;
};

struct hb {
	struct hb_thread *thread;
	size_t n_threads;
	struct hb_object *object;
	size_t n_objects;
	struct hb_told *told[ALL_TAGS]; /* by index; of READ and AFTER the list of all */
	uint64_t *told_index[ALL_TAGS];
	size_t n_told[ALL_TAGS];
	uint64_t n_sync[8];
	uint64_t skipped; /* numbers that never came */
	uint64_t may_skip;
};

static inline struct hb_thread *hb_thread(struct hb *hb, uint32_t id)
{
	for (size_t i = 0; i < hb->n_threads; i++)
		if (hb->thread[i].id == id)
			return &hb->thread[i];
	hb->thread = realloc(hb->thread, (hb->n_threads + 1) * sizeof(*hb->thread));
	hb->thread[hb->n_threads] = (struct hb_thread){ .id = id };
	return &hb->thread[hb->n_threads++];
}

static inline void hb_add(struct hb_thread *thread, struct hb_event event)
{
	if (thread->n == thread->room) {
		thread->room = 2 * thread->n + 64;
		thread->event = realloc(thread->event, thread->room * sizeof(event));
	}
	thread->event[thread->n++] = event;
}

/* A marker of a thread itself: BLOCKED and RUNNING take turns, time does not go back. */
static inline void hb_mark(struct hb_thread *thread, unsigned kind, const uint64_t *raw)
{
	switch (kind) {
	case LOCI_MARK_BLOCKED:
		CHECK(!thread->is_blocked);
		thread->is_blocked = true;
		thread->n_blocked++;
		break;
	case LOCI_MARK_RUNNING:
		CHECK(thread->is_blocked);
		thread->is_blocked = false;
		break;
	case LOCI_MARK_TIME:
		CHECK(raw[0] >= thread->time_ns);
		thread->time_ns = raw[0];
		thread->n_times++;
		break;
	default:
		break;
	}
}

/* Those of a handler stand before what has come to the same place. */
static inline void hb_put_between(struct hb_thread *thread, const struct hb_thread *handler)
{
	struct hb_thread both = *thread;
	size_t i = 0, k = 0;

	both.event = NULL;
	both.n = both.room = 0;
	while (i < thread->n || k < handler->n)
		if (k < handler->n &&
			(i == thread->n || handler->event[k].at <= thread->event[i].at))
			hb_add(&both, handler->event[k++]);
		else
			hb_add(&both, thread->event[i++]);
	free(thread->event);
	*thread = both;
}

/* The words of a ring, or of a whole process: `thread` is who speaks first. A handler's ring begins
 * with SWITCH, and tells where it stands in what it interrupts; its events go there. */
static inline void hb_read(
	struct hb *hb, const uint64_t *words, size_t n, uint32_t id, bool is_handler)
{
	struct hb_thread *thread = is_handler ? NULL : hb_thread(hb, id), mine = { 0 };
	uint64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t word = words[i];
		const uint64_t *raw = words + i + 1;
		struct hb_event event = { .at = is_handler ? at : i };

		if (!loci_word_is_marker(word)) {
			unsigned tag = (unsigned)(word >> EVENT_SHIFT) - EVENT_BASE;

			if (word >> EVENT_SHIFT < EVENT_BASE || tag >= ALL_TAGS)
				continue;
			event.what = HB_TOLD;
			event.kind = tag;
			event.number = word & ((1ull << EVENT_SHIFT) - 1);
			CHECK(is_handler || !thread->is_blocked);
			hb_add(is_handler ? &mine : thread, event);
			continue;
		}
		i += loci_word_n_raw(word);
		if (loci_word_kind(word) == LOCI_MARK_SWITCH) {
			id = (uint32_t)loci_word_payload(word);
			thread = hb_thread(hb, id);
		} else if (loci_word_kind(word) == LOCI_MARK_SIGNAL_ENTER && is_handler) {
			at = raw[0];
		} else if (loci_word_kind(word) == LOCI_MARK_SYNC) {
			event.what = HB_SYNC;
			event.kind = (unsigned)loci_word_payload(word);
			event.object = raw[0];
			event.number = raw[1];
			CHECK(event.kind <= LOCI_SYNC_THREAD_JOIN);
			hb->n_sync[event.kind & 7]++;
			hb_add(is_handler ? &mine : thread, event);
		} else if (!is_handler) {
			hb_mark(thread, loci_word_kind(word), raw);
		}
	}
	if (!is_handler)
		return;
	hb_put_between(thread, &mine);
	free(mine.event);
}

static inline struct hb_object *hb_object(struct hb *hb, uint64_t id)
{
	for (size_t i = 0; i < hb->n_objects; i++)
		if (hb->object[i].id == id)
			return &hb->object[i];
	hb->object = realloc(hb->object, (hb->n_objects + 1) * sizeof(*hb->object));
	hb->object[hb->n_objects] =
		(struct hb_object){ .id = id, .clock = calloc(hb->n_threads, sizeof(uint32_t)) };
	return &hb->object[hb->n_objects++];
}

static inline void hb_join(const struct hb *hb, uint32_t *to, const uint32_t *from)
{
	for (size_t i = 0; i < hb->n_threads; i++)
		if (to[i] < from[i])
			to[i] = from[i];
}

static inline void hb_sync(
	const struct hb *hb, uint32_t thread, struct hb_object *object, unsigned kind)
{
	uint32_t *clock = hb->thread[thread].clock;

	switch (kind) {
	case LOCI_SYNC_RELEASE:
	case LOCI_SYNC_BARRIER_ARRIVE:
	case LOCI_SYNC_THREAD_CREATE:
	case LOCI_SYNC_THREAD_FINISH:
		hb_join(hb, object->clock, clock);
		clock[thread]++;
		break;
	default:
		hb_join(hb, clock, object->clock);
		break;
	}
}

static inline void hb_tell(struct hb *hb, uint32_t thread, unsigned tag, uint64_t index)
{
	struct hb_told told = { thread, hb->thread[thread].clock[thread], NULL };
	size_t n = hb->n_told[tag]++;

	if ((n & (n - 1)) == 0) {
		hb->told[tag] = realloc(hb->told[tag], (n ? 2 * n : 1) * sizeof(told));
		hb->told_index[tag] = realloc(hb->told_index[tag], (n ? 2 * n : 1) * 8);
	}
	told.clock = malloc(hb->n_threads * sizeof(*told.clock));
	memcpy(told.clock, hb->thread[thread].clock, hb->n_threads * sizeof(*told.clock));
	hb->told[tag][n] = told;
	hb->told_index[tag][n] = index;
}

/* As far as it may go. */
static inline bool hb_advance(struct hb *hb, uint32_t number)
{
	struct hb_thread *thread = &hb->thread[number];
	size_t before = thread->next;

	for (; thread->next < thread->n; thread->next++) {
		const struct hb_event *event = &thread->event[thread->next];
		struct hb_object *object;

		if (event->what == HB_TOLD) {
			hb_tell(hb, number, event->kind, event->number);
			continue;
		}
		object = hb_object(hb, event->object);
		if (event->number != object->number + 1)
			break;
		object->number++;
		hb_sync(hb, number, object, event->kind);
	}
	return thread->next > before;
}

/* One number that nobody has written: where a thread was killed on its way there. */
static inline bool hb_skip(struct hb *hb)
{
	for (size_t i = 0; i < hb->n_threads; i++) {
		struct hb_thread *thread = &hb->thread[i];
		struct hb_object *object;
		bool comes = false;

		if (thread->next == thread->n)
			continue;
		object = hb_object(hb, thread->event[thread->next].object);
		for (size_t k = 0; k < hb->n_threads && !comes; k++)
			for (size_t e = hb->thread[k].next; e < hb->thread[k].n && !comes; e++)
				comes = hb->thread[k].event[e].what == HB_SYNC &&
					hb->thread[k].event[e].object == object->id &&
					hb->thread[k].event[e].number == object->number + 1;
		if (!comes) {
			object->number++;
			hb->skipped++;
			return true;
		}
	}
	return false;
}

/* Finds an order; false: there is none. */
static inline bool hb_run(struct hb *hb)
{
	bool moves = true;

	for (size_t i = 0; i < hb->n_threads; i++) {
		hb->thread[i].clock = calloc(hb->n_threads, sizeof(uint32_t));
		hb->thread[i].clock[i] = 1;
	}
	while (moves) {
		moves = false;
		for (size_t i = 0; i < hb->n_threads; i++)
			moves |= hb_advance(hb, (uint32_t)i);
		if (!moves && hb->skipped < hb->may_skip)
			moves = hb_skip(hb);
	}
	for (size_t i = 0; i < hb->n_threads; i++)
		if (hb->thread[i].next < hb->thread[i].n) {
			const struct hb_event *event = &hb->thread[i].event[hb->thread[i].next];

			CHECK_FAIL("thread %u waits for number %" PRIu64 " of object %" PRIx64
				   ", which has come to %" PRIu64,
				hb->thread[i].id, event->number, event->object,
				hb_object(hb, event->object)->number);
			return false;
		}
	return true;
}

static inline bool hb_before(const struct hb_told *a, const struct hb_told *b)
{
	return a->epoch <= b->clock[a->thread];
}

static inline const struct hb_told *hb_write(const struct hb *hb, unsigned kind, uint64_t index)
{
	for (size_t i = 0; i < hb->n_told[WRITE + kind]; i++)
		if (hb->told_index[WRITE + kind][(index + i) % hb->n_told[WRITE + kind]] == index)
			return &hb->told[WRITE + kind][(index + i) % hb->n_told[WRITE + kind]];
	return NULL;
}

/* What was told stands as telling.h says. Returns how many edges were looked at. */
static inline uint64_t hb_check(const struct hb *hb)
{
	uint64_t n_edges = 0, wrong = 0;

	for (unsigned tag = 0; tag < ALL_TAGS; tag++)
		for (size_t i = 0; i < hb->n_told[tag]; i++) {
			const struct hb_told *it = &hb->told[tag][i], *other;
			uint64_t index = hb->told_index[tag][i];

			if (index) {
				other = hb_write(hb, tag % KINDS, index - 1);
				wrong += !other || !hb_before(other, it);
				n_edges++;
			}
			other = tag / KINDS == 1 ? hb_write(hb, tag % KINDS, index) : NULL;
			if (other) {
				wrong += !hb_before(it, other);
				n_edges++;
			}
			if (wrong) {
				CHECK_FAIL("tag %u, %" PRIu64 " is not ordered", tag, index);
				return n_edges;
			}
		}
	return n_edges;
}

static inline void hb_free(struct hb *hb)
{
	for (size_t i = 0; i < hb->n_threads; i++) {
		free(hb->thread[i].event);
		free(hb->thread[i].clock);
	}
	for (size_t i = 0; i < hb->n_objects; i++)
		free(hb->object[i].clock);
	for (unsigned tag = 0; tag < ALL_TAGS; tag++) {
		for (size_t i = 0; i < hb->n_told[tag]; i++)
			free(hb->told[tag][i].clock);
		free(hb->told[tag]);
		free(hb->told_index[tag]);
	}
	free(hb->thread);
	free(hb->object);
	memset(hb, 0, sizeof(*hb));
}

#endif
