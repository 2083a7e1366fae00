// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading rings without waiting. */
#define _GNU_SOURCE
#include "stream/ring_state.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the producer's process has ended. Its id is not given to another process between its
 * attaching and our opening the descriptor unless it died in that moment. */
static bool is_dead(struct ring *ring)
{
	uint32_t pid = __atomic_load_n(&ring->shared->producer_pid, __ATOMIC_ACQUIRE);
	struct pollfd poll_fd;

	if (pid == 0 || pid == (uint32_t)getpid())
		return false;
	if (ring->pidfd < 0) {
		ring->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (ring->pidfd < 0)
			return errno == ESRCH;
		fcntl(ring->pidfd, F_SETFD, FD_CLOEXEC);
	}
	poll_fd = (struct pollfd){ .fd = ring->pidfd, .events = POLLIN };
	return poll(&poll_fd, 1, 0) == 1;
}

bool loci_ring_has_died(struct loci_source *source)
{
	struct ring *ring = (struct ring *)source;

	if (ring->producer_dead || !is_dead(ring))
		return ring->producer_dead;
	ring->producer_dead = true;
	if (__atomic_load_n(&ring->shared->producer, __ATOMIC_SEQ_CST) != LOCI_RING_GONE)
		snprintf(source->note, sizeof(source->note),
			"the program ended without closing its stream; all it wrote was read");
	return true;
}

bool loci_ring_has_ended(const struct ring *ring)
{
	return ring->producer_dead || __atomic_load_n(&ring->stop, __ATOMIC_SEQ_CST) ||
		__atomic_load_n(&ring->shared->producer, __ATOMIC_SEQ_CST) == LOCI_RING_GONE;
}

/* What a producer that writes no more had appended beyond head, if it keeps its place in the ring.
 * What makes no sense is not believed. */
static uint64_t appended_end(const struct ring *ring, uint64_t head)
{
	const struct loci_ring_inline *place = &ring->shared->inline_;
	uint64_t cursor = __atomic_load_n(&place->cursor, __ATOMIC_ACQUIRE);
	uint64_t chunk = __atomic_load_n(&place->chunk, __ATOMIC_ACQUIRE);
	uint64_t base = __atomic_load_n(&place->base, __ATOMIC_ACQUIRE);
	uint64_t n_words = (cursor - chunk) / sizeof(uint64_t);

	if (!chunk || cursor < chunk || n_words > ring->chunk_words || base % ring->chunk_words)
		return head;
	return base + n_words > head && base + n_words - ring->tail <= ring->n_words
		? base + n_words
		: head;
}

int loci_ring_look(
	const struct loci_source *source, struct loci_ring_view *ret, struct loci_err *err)
{
	const struct ring *ring = (const struct ring *)source;
	/* how it ended before where */
	bool cut = __atomic_load_n(&ring->stop, __ATOMIC_SEQ_CST) == RING_CUT;
	uint64_t end;

	ret->ended = cut || loci_ring_has_ended(ring);
	end = __atomic_load_n(&ring->shared->head, __ATOMIC_ACQUIRE);
	if (cut)
		end = ring->cut > ring->tail ? ring->cut : ring->tail;
	else if (ret->ended && __atomic_load_n(&ring->stop, __ATOMIC_SEQ_CST) != RING_CUT)
		end = appended_end(ring, end);
	/* by loci_ring_look_to more may have been read than was published */
	if (end < ring->tail && ring->tail - end < ring->chunk_words)
		end = ring->tail;
	ret->n_words = end - ring->tail;
	if (ret->n_words > ring->n_words)
		return loci_err_set(err, EBADMSG,
			"%s: the ring's header was overwritten (by the program?) after %" PRIu64
			" words",
			ring->path, ring->tail);
	return 0;
}

void loci_ring_look_to(
	const struct loci_source *source, uint64_t number, struct loci_ring_view *view)
{
	const struct ring *ring = (const struct ring *)source;
	uint64_t end = ring->tail + view->n_words;

	if (number > end && number <= appended_end(ring, end))
		view->n_words = number - ring->tail;
}

size_t loci_ring_whole(const uint64_t *words, size_t cap)
{
	size_t n = 0;

	while (n < cap) {
		size_t next =
			n + 1 + (loci_word_is_marker(words[n]) ? loci_word_n_raw(words[n]) : 0);

		if (next > cap)
			break;
		n = next;
	}
	return n;
}

/* Fewer words than there are end at a chunk's end if that will do, because no marker crosses it. */
size_t loci_ring_copy(
	const struct loci_source *source, uint64_t *words, size_t cap, uint64_t n_words)
{
	const struct ring *ring = (const struct ring *)source;
	uint64_t at = ring->tail % ring->n_words, n = n_words < cap ? n_words : cap, first;
	bool cut = n < n_words;

	if (cut && n >= ring->chunk_words) {
		n -= (ring->tail + n) % ring->chunk_words;
		cut = false;
	}
	first = ring->n_words - at < n ? ring->n_words - at : n;
	memcpy(words, ring->data + at, first * sizeof(*words));
	memcpy(words + first, ring->data, (n - first) * sizeof(*words));
	return cut ? loci_ring_whole(words, n) : n;
}

void loci_ring_give_back(
	struct loci_source *source, uint64_t n_words, const struct loci_ring_view *view)
{
	struct ring *ring = (struct ring *)source;
	struct loci_ring_shared *shared = ring->shared;

	ring->tail += n_words;
	__atomic_exchange_n(&shared->tail, ring->tail, __ATOMIC_SEQ_CST);
	/* Not for every chunk: waking costs more than what it brings. */
	if (view->n_words - n_words <= ring->n_words / 2 &&
		__atomic_load_n(&shared->producer_waits, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&shared->space_bell, 1, __ATOMIC_SEQ_CST);
		loci_futex_wake(&shared->space_bell);
	}
}

int loci_ring_senseless(const struct loci_source *source, struct loci_err *err)
{
	const struct ring *ring = (const struct ring *)source;

	return loci_err_set(err, EBADMSG, "%s: word %" PRIu64 " of the ring makes no sense",
		ring->path, ring->tail);
}

uint64_t loci_ring_chunk_words(const struct loci_source *source)
{
	return ((const struct ring *)source)->chunk_words;
}

uint64_t loci_ring_words(const struct loci_source *source)
{
	return ((const struct ring *)source)->n_words;
}

uint32_t loci_ring_others(const struct loci_source *source)
{
	return __atomic_load_n(&((const struct ring *)source)->shared->rings, __ATOMIC_ACQUIRE);
}

bool loci_ring_await(struct loci_source *source, struct loci_ring_bell *ret)
{
	struct ring *ring = (struct ring *)source;
	struct loci_ring_shared *shared = ring->shared;
	/* what the producer can fill in any case: it stops at chunks */
	uint32_t wanted = (uint32_t)(ring->n_words / 2 / ring->chunk_words * ring->chunk_words);

	/* threads record until they hear what came of their samples */
	if (source->info.capabilities & LOCI_CAP_SAMPLES)
		wanted = 1;

	ret->bell = &shared->data_bell;
	ret->value = __atomic_load_n(&shared->data_bell, __ATOMIC_SEQ_CST);
	__atomic_exchange_n(&shared->consumer_waits, wanted, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&shared->head, __ATOMIC_SEQ_CST) - ring->tail < wanted &&
		!loci_ring_has_ended(ring);
}

void loci_ring_awaited(struct loci_source *source)
{
	__atomic_store_n(&((struct ring *)source)->shared->consumer_waits, 0, __ATOMIC_SEQ_CST);
}

void loci_ring_wake(struct loci_source *source)
{
	struct loci_ring_shared *shared = ((struct ring *)source)->shared;

	__atomic_fetch_add(&shared->data_bell, 1, __ATOMIC_SEQ_CST);
	loci_futex_wake(&shared->data_bell);
}

void loci_ring_stop(struct loci_source *source)
{
	__atomic_store_n(&((struct ring *)source)->stop, RING_STOPPED, __ATOMIC_SEQ_CST);
	loci_ring_wake(source);
}

void loci_ring_cut(struct loci_source *source)
{
	struct ring *ring = (struct ring *)source;
	uint64_t end = __atomic_load_n(&ring->shared->head, __ATOMIC_SEQ_CST);

	if (!__atomic_load_n(&ring->stop, __ATOMIC_SEQ_CST)) {
		ring->cut = end;
		__atomic_store_n(&ring->stop, RING_CUT, __ATOMIC_SEQ_CST);
	}
	loci_ring_wake(source);
}
