// SPDX-License-Identifier: BSD-2-Clause
/* Where a thread's words go, and those of the handlers that interrupt it. */
#include "collect/runtime/level.h"
#include "collect/runtime/burst.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "stream/ring_x86_64.h"

/* Words that nobody wants; whoever passes the check of a tracing copy may append so many. */
uint64_t rt_sink[LOCI_CC_ROOM_WORDS];

static bool is_open(const struct rt_level *level)
{
	return level->live && level->ring.shared;
}

static uint64_t words_so_far(const struct rt_level *level)
{
	const struct loci_ring_producer *ring = &level->ring;

	if (!is_open(level))
		return 0;
	return ring->base + (level->live->cursor - ring->chunk);
}

/* A handler's ring says whose it is. */
static void introduce(struct rt_thread *thread, struct rt_level *level)
{
	uint64_t *at;

	if (level == thread->level)
		return;
	at = loci_ring_reserve(&level->ring, 1);
	*at = loci_mark_word(LOCI_MARK_SWITCH, 0, thread->id);
	loci_ring_commit(&level->ring, at + 1);
}

/* Signals blocked. */
static bool open_ring(struct rt_thread *thread, struct rt_level *level)
{
	bool is_main = level == thread->level;
	uint32_t number = thread->id;
	void *memory;

	if (is_open(level))
		return true;
	if (level->deaf || rt_mode() == RT_OFF)
		return false;
	if (!is_main)
		number = __atomic_add_fetch(&rt.n_rings, 1, __ATOMIC_SEQ_CST);
	memory = rt_make_ring(&level->ring, number, !is_main || rt_mode() == RT_COUNT, thread->path,
		&level->mapped_bytes);
	if (!memory) {
		level->deaf = true;
		return false;
	}
	loci_ring_inline_begin(&level->ring, LOCI_CC_ROOM_WORDS);
	__atomic_store_n(&level->live, (struct loci_cc_state *)&level->ring.shared->inline_,
		__ATOMIC_RELEASE); /* for rt_go_off in another thread */
	introduce(thread, level);
	return true;
}

/* The consumer is gone: that holds for all rings of the run. */
static void notice_silence(struct rt_level *level)
{
	if (level->live && !level->ring.shared) {
		rt_lock();
		rt_go_off();
		rt_unlock();
	}
}

/* The recorder may be late. */
static void next_chunk(struct loci_ring_producer *ring, unsigned n_words)
{
	struct rt_thread *thread = rt_self;
	bool waits = thread && thread->turn.waits;

	if (thread)
		rt_turn_waits(thread, true);
	loci_ring_next_chunk(ring, n_words);
	if (thread)
		rt_turn_waits(thread, waits);
}

static uint64_t *make_room(struct rt_level *level, unsigned n_words)
{
	struct loci_ring_producer *ring = &level->ring;

	loci_ring_inline_take(ring);
	if ((size_t)(ring->limit - ring->cursor) < n_words) {
		uint64_t mask = rt_block();

		next_chunk(ring, n_words);
		notice_silence(level);
		rt_unblock(mask);
	}
	return ring->cursor;
}

/* Appends a marker at this very level; signals blocked, or else a handler that leaves by longjmp
 * must find nothing but a marker that was not written. */
static void append(struct rt_level *level, enum loci_marker kind, uint64_t payload, unsigned n_raw,
	const uint64_t *raw)
{
	struct loci_ring_producer *ring = &level->ring;
	uint64_t *at = make_room(level, n_raw + 1);

	at[0] = loci_mark_word(kind, n_raw, payload);
	for (unsigned i = 0; i < n_raw; i++)
		at[1 + i] = raw[i];
	loci_ring_commit(ring, at + 1 + n_raw);
}

static void enter(struct rt_level *level)
{
	uint64_t raw[1] = { words_so_far(level - 1) };

	append(level, LOCI_MARK_SIGNAL_ENTER, (uint64_t)level->by.signal, 1, raw);
	level->entered = true;
}

/* Opens a level and those that it interrupts, which have nothing to say yet but that they are
 * there: rings of handlers are numbered from the outermost. */
static void open_up_to(struct rt_thread *thread, struct rt_level *last)
{
	uint64_t mask = rt_block();

	for (struct rt_level *level = thread->level; level <= last; level++)
		if (open_ring(thread, level) && level != thread->level && !level->entered)
			enter(level);
	rt_unblock(mask);
}

/* For a word of the runtime. */
static bool ready(struct rt_thread *thread, struct rt_level *level)
{
	if (is_open(level) && (level->entered || level == thread->level))
		return true;
	open_up_to(thread, level);
	return is_open(level);
}

void rt_mark(struct rt_thread *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw,
	const uint64_t *raw)
{
	struct rt_level *level = &thread->level[thread->depth];

	if (ready(thread, level)) {
		append(level, kind, payload, n_raw, raw);
	} else if (rt_mode() != RT_OFF) {
		/* What has a sequence number must be said somewhere. */
		uint64_t mask = rt_block();

		rt_lock();
		rt_process_mark(kind, payload, n_raw, raw);
		rt_unlock();
		rt_unblock(mask);
	}
}

bool rt_level_reserve(struct rt_thread *thread, unsigned n_words)
{
	struct rt_level *level = &thread->level[thread->depth];

	if (!ready(thread, level))
		return false;
	make_room(level, n_words);
	return is_open(level);
}

static uint64_t *put_value(uint64_t *at, uint64_t value)
{
	if (loci_word_is_marker(value))
		*at++ = loci_mark_word(LOCI_MARK_WIDE, 1, 0);
	*at++ = value;
	return at;
}

void rt_refer(struct rt_thread *thread, uint64_t block, uint64_t address, uint64_t bytes)
{
	struct rt_level *level = &thread->level[thread->depth];
	uint64_t *at;

	if (!thread->recording || !ready(thread, level))
		return;
	at = make_room(level, 5);
	*at++ = loci_mark_word(LOCI_MARK_BLOCK, 0, block);
	at = put_value(at, address);
	if (bytes)
		at = put_value(at, bytes);
	loci_ring_commit(&level->ring, at);
}

void rt_flush(struct rt_thread *thread)
{
	loci_ring_producer_flush(&thread->level[thread->depth].ring);
}

void rt_push(struct rt_thread *thread)
{
	struct rt_level *level = &thread->level[thread->depth];

	if (!is_open(level))
		return;
	loci_ring_inline_take(&level->ring);
	next_chunk(&level->ring, 1);
	notice_silence(level);
}

static void be_quiet(struct rt_level *level)
{
	level->quiet.cursor = rt_sink;
	level->quiet.limit = NULL;
	__loci_thread.state = &level->quiet;
}

void rt_level_reset(struct rt_level *level)
{
	level->quiet.cursor = rt_sink;
	level->quiet.limit = NULL;
}

void rt_level_resume(struct rt_thread *thread, struct rt_level *level)
{
	bool is_ready =
		thread->recording && is_open(level) && (level->entered || level == thread->level);

	if (is_ready)
		__loci_thread.state = level->live;
	else if (level == thread->level && thread->burst && thread->burst->is_on)
		__loci_thread.state = &thread->burst->state;
	else
		be_quiet(level);
}

bool rt_level_make_room(struct rt_thread *thread, struct rt_level *level)
{
	struct loci_ring_producer *ring = &level->ring;
	bool is_new;

	if (!thread->recording || !ready(thread, level)) {
		be_quiet(level);
		return false;
	}
	if (loci_ring_inline_take(ring) < 0) /* by code that keeps a cursor too long */
		append(level, LOCI_MARK_LOST, 1, 0, NULL);
	is_new = ring->cursor > ring->limit - LOCI_CC_ROOM_WORDS;
	if (is_new)
		next_chunk(ring, LOCI_CC_ROOM_WORDS);
	notice_silence(level);
	if (!ring->shared) {
		be_quiet(level);
		return false;
	}
	if (is_new && rt_is_synced() && level == thread->level)
		rt_sync_time(thread);
	__loci_thread.state = level->live;
	return true;
}

void rt_level_leave(struct rt_level *level)
{
	if (level->entered && is_open(level))
		append(level, LOCI_MARK_SIGNAL_LEAVE, (uint64_t)level->by.signal, 0, NULL);
	level->entered = false;
}

void rt_level_forget(struct rt_level *level)
{
	if (level->live)
		rt_unmap((char *)level->live - offsetof(struct loci_ring_shared, inline_),
			level->mapped_bytes);
	level->live = NULL;
	level->entered = level->deaf = false;
	loci_ring_producer_init(&level->ring);
	rt_level_reset(level);
}

void rt_level_close(struct rt_level *level)
{
	if (is_open(level)) {
		loci_ring_inline_take(&level->ring);
		loci_ring_producer_close(&level->ring);
	}
	rt_level_forget(level);
}
