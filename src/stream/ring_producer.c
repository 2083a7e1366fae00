// SPDX-License-Identifier: BSD-2-Clause
#include "stream/ring_producer.h"
#include "stream/ring_x86_64.h"

/* errno's numbers, without the library's header. */
#define RING_ESRCH   3
#define RING_ENOMEM  12
#define RING_EBUSY   16
#define RING_EINVAL  22
#define RING_EPROTO  71
#define RING_EBADMSG 74

#define POLL_NS 100000000u /* how long to wait before looking whether the consumer lives */

#define O_RDWR_CLOEXEC     (02 | 02000000)
#define O_RDONLY_CLOEXEC   02000000
#define LOCK_SH_NB         (1 | 4)
#define MADV_WIPEONFORK_NR 18
#define SEEK_END_NR        2

/* Words go to the sink from here on, which is as long as the longest reserve. */
static void go_quiet(struct loci_ring_producer *producer)
{
	producer->shared = 0;
	producer->place = 0;
	producer->chunk = producer->cursor = producer->sink;
	producer->limit = producer->sink + LOCI_RING_RESERVE_MAX;
	producer->base = producer->lost_words;
	producer->head = &producer->lost_words;
}

void loci_ring_producer_init(struct loci_ring_producer *producer)
{
	producer->lost_words = 0;
	producer->mapped_bytes = 0;
	go_quiet(producer);
}

int loci_ring_format(void *memory, size_t bytes, const struct loci_stream_info *info,
	uint32_t chunk_words, const char *lock_path)
{
	struct loci_ring_shared *shared = memory;
	uint64_t n_words;

	if (chunk_words < LOCI_RING_CHUNK_MIN || bytes < LOCI_RING_HEADER_BYTES)
		return -RING_EINVAL;
	n_words = (bytes - LOCI_RING_HEADER_BYTES) / sizeof(uint64_t);
	n_words -= n_words % chunk_words;
	if (n_words < 2ull * chunk_words)
		return -RING_EINVAL;
	shared->version = LOCI_RING_VERSION;
	shared->chunk_words = chunk_words;
	shared->n_words = n_words;
	shared->info = *info;
	for (unsigned i = 0; lock_path[i]; i++) {
		if (i + 1 == sizeof(shared->lock_path))
			return -RING_EINVAL;
		shared->lock_path[i] = lock_path[i];
	}
	for (unsigned i = 0; i < sizeof(shared->magic); i++)
		shared->magic[i] = LOCI_RING_MAGIC[i];
	return 0;
}

static int is_ring(const struct loci_ring_shared *shared, size_t bytes)
{
	if (bytes < LOCI_RING_HEADER_BYTES)
		return 0;
	for (unsigned i = 0; i < sizeof(shared->magic); i++)
		if (shared->magic[i] != LOCI_RING_MAGIC[i])
			return 0;
	return shared->version == LOCI_RING_VERSION && shared->chunk_words >= LOCI_RING_CHUNK_MIN &&
		shared->n_words >= 2ull * shared->chunk_words &&
		shared->n_words % shared->chunk_words == 0 &&
		shared->n_words <= (bytes - LOCI_RING_HEADER_BYTES) / sizeof(uint64_t);
}

/* The chunk's address comes last: a process that is killed on the way leaves a place that says
 * nothing, and head, which says all. */
static void show_place(struct loci_ring_producer *producer)
{
	struct loci_ring_inline *place = producer->place;

	__atomic_store_n(&place->base, producer->base, __ATOMIC_RELEASE);
	__atomic_store_n(&place->limit, (uint64_t)(producer->limit - producer->room_words),
		__ATOMIC_RELEASE);
	__atomic_store_n(&place->cursor, (uint64_t)producer->cursor, __ATOMIC_RELEASE);
	__atomic_store_n(&place->chunk, (uint64_t)producer->chunk, __ATOMIC_RELEASE);
}

static void hide_place(struct loci_ring_producer *producer)
{
	if (producer->place)
		__atomic_store_n(&producer->place->chunk, 0, __ATOMIC_SEQ_CST);
}

static void enter_chunk(struct loci_ring_producer *producer)
{
	producer->chunk = producer->data + producer->base % producer->n_words;
	producer->cursor = producer->chunk;
	producer->limit = producer->chunk + producer->chunk_words;
	if (producer->place)
		show_place(producer);
}

int loci_ring_producer_attach(struct loci_ring_producer *producer, void *memory, size_t bytes)
{
	struct loci_ring_shared *shared = memory;
	uint32_t absent = LOCI_RING_ABSENT;

	loci_ring_producer_init(producer);
	if (!is_ring(shared, bytes))
		return -RING_EPROTO;
	if (__atomic_load_n(&shared->producer_pid, __ATOMIC_ACQUIRE) ||
		!__atomic_compare_exchange_n(&shared->producer_pid, &absent,
			(uint32_t)loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0), 0, __ATOMIC_SEQ_CST,
			__ATOMIC_RELAXED))
		return -RING_EBUSY;
	__atomic_store_n(&shared->producer, LOCI_RING_PRESENT, __ATOMIC_SEQ_CST);
	producer->shared = shared;
	producer->head = &shared->head;
	producer->data = (uint64_t *)((char *)memory + LOCI_RING_HEADER_BYTES);
	producer->n_words = shared->n_words;
	producer->chunk_words = shared->chunk_words;
	producer->base = 0;
	enter_chunk(producer);
	return 0;
}

/* The whole file; NULL on failure, with *ret_error. */
static void *map_file(const char *path, size_t *ret_bytes, int *ret_error)
{
	long fd = loci_syscall3(LOCI_SYS_OPEN, (long)path, O_RDWR_CLOEXEC, 0), bytes;
	void *memory;

	*ret_error = (int)fd;
	if (fd < 0)
		return 0;
	bytes = loci_syscall3(LOCI_SYS_LSEEK, fd, 0, SEEK_END_NR);
	memory = bytes > 0 ? loci_sys_map((size_t)bytes, fd) : 0;
	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	*ret_bytes = (size_t)bytes;
	*ret_error = bytes > 0 ? -RING_ENOMEM : -RING_EPROTO;
	return memory;
}

int loci_ring_producer_open(const char *path, struct loci_ring_producer **ret)
{
	size_t handle_bytes = (sizeof(struct loci_ring_producer) + 4095) & ~(size_t)4095, bytes = 0;
	struct loci_ring_producer *producer;
	int r = 0;
	void *memory = map_file(path, &bytes, &r);

	if (!memory)
		return r;
	producer = loci_sys_map(handle_bytes, -1);
	r = -RING_ENOMEM;
	if (producer)
		r = (int)loci_syscall3(
			LOCI_SYS_MADVISE, (long)producer, (long)handle_bytes, MADV_WIPEONFORK_NR);
	if (r == 0)
		r = loci_ring_producer_attach(producer, memory, bytes);
	if (r < 0) {
		loci_syscall3(LOCI_SYS_MUNMAP, (long)memory, (long)bytes, 0);
		if (producer)
			loci_syscall3(LOCI_SYS_MUNMAP, (long)producer, (long)handle_bytes, 0);
		return r;
	}
	producer->mapped_bytes = bytes;
	*ret = producer;
	return 0;
}

static void ring_bell(struct loci_ring_shared *shared)
{
	__atomic_fetch_add(&shared->data_bell, 1, __ATOMIC_SEQ_CST);
	loci_futex_wake(&shared->data_bell);
}

void loci_ring_producer_flush(struct loci_ring_producer *producer)
{
	struct loci_ring_shared *shared = producer->shared;
	uint64_t head = producer->base + (uint64_t)(producer->cursor - producer->chunk);
	uint32_t wanted;

	if (!shared)
		return;
	/* An exchange, because the store before the load must not be delayed past it. */
	__atomic_exchange_n(&shared->head, head, __ATOMIC_SEQ_CST);
	wanted = __atomic_load_n(&shared->consumer_waits, __ATOMIC_SEQ_CST);
	if (wanted && head - __atomic_load_n(&shared->tail, __ATOMIC_SEQ_CST) >= wanted)
		ring_bell(shared);
}

void loci_ring_producer_close(struct loci_ring_producer *producer)
{
	struct loci_ring_shared *shared = producer->shared;
	uint64_t bytes = producer->mapped_bytes;

	if (!shared)
		return;
	loci_ring_producer_flush(producer);
	hide_place(producer);
	__atomic_store_n(&shared->producer, LOCI_RING_GONE, __ATOMIC_SEQ_CST);
	ring_bell(shared);
	go_quiet(producer);
	if (bytes)
		loci_syscall3(LOCI_SYS_MUNMAP, (long)shared, (long)bytes, 0);
}

/* The lock is the consumer's word. Where its file cannot be seen (this process has changed its
 * root) the process id must do; whoever removes a run's directory marks its rings first. */
static int consumer_is_dead(const struct loci_ring_shared *shared)
{
	long fd = loci_syscall3(LOCI_SYS_OPEN, (long)shared->lock_path, O_RDONLY_CLOEXEC, 0);
	long r;

	if (fd < 0) {
		r = loci_syscall3(LOCI_SYS_KILL, (long)shared->consumer_pid, 0, 0);
		return r == -RING_ESRCH;
	}
	r = loci_syscall3(LOCI_SYS_FLOCK, fd, LOCK_SH_NB, 0);
	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	return r == 0;
}

/* Whether the chunk at base has become free. */
static int chunk_is_free(const struct loci_ring_producer *producer)
{
	uint64_t tail = __atomic_load_n(&producer->shared->tail, __ATOMIC_SEQ_CST);

	return producer->base + producer->chunk_words - tail <= producer->n_words;
}

/* Returns 0 when the chunk is free, -1 when there is no consumer any more. */
static int wait_for_space(struct loci_ring_producer *producer)
{
	struct loci_ring_shared *shared = producer->shared;
	int dead = 0;

	while (!chunk_is_free(producer) && !dead) {
		uint32_t bell = __atomic_load_n(&shared->space_bell, __ATOMIC_SEQ_CST);
		long r = 0;

		__atomic_exchange_n(&shared->producer_waits, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&shared->consumer, __ATOMIC_SEQ_CST) == LOCI_RING_GONE)
			dead = 1;
		else if (!chunk_is_free(producer))
			r = loci_futex_wait(&shared->space_bell, bell, POLL_NS);
		__atomic_store_n(&shared->producer_waits, 0, __ATOMIC_SEQ_CST);
		if (r < 0 && !chunk_is_free(producer))
			dead = consumer_is_dead(shared);
	}
	return dead ? -1 : 0;
}

void loci_ring_inline_begin(struct loci_ring_producer *producer, uint32_t room_words)
{
	if (!producer->shared)
		return;
	producer->room_words = room_words;
	producer->place = &producer->shared->inline_;
	show_place(producer);
}

int loci_ring_inline_take(struct loci_ring_producer *producer)
{
	uint64_t *cursor;

	if (!producer->place)
		return 0;
	cursor = (uint64_t *)producer->place->cursor;
	if (cursor < producer->cursor || cursor > producer->limit ||
		((uintptr_t)cursor - (uintptr_t)producer->chunk) % sizeof(*cursor)) {
		show_place(producer);
		return -RING_EBADMSG;
	}
	producer->cursor = cursor;
	return 0;
}

uint64_t *loci_ring_next_chunk(struct loci_ring_producer *producer, size_t n_words)
{
	size_t rest = (size_t)(producer->limit - producer->cursor);

	/* Every chunk has room for the longest reserve. */
	if (!producer->shared) {
		if (producer->head) {
			producer->base += (uint64_t)(producer->cursor - producer->chunk);
			producer->cursor = producer->chunk = producer->sink;
		} else {
			go_quiet(producer);
		}
		return producer->cursor;
	}
	for (; rest; rest -= n_words) { /* a PAD is no longer than any marker */
		n_words = rest < LOCI_RING_RESERVE_MAX ? rest : LOCI_RING_RESERVE_MAX;
		*producer->cursor = loci_mark_word(LOCI_MARK_PAD, (unsigned)n_words - 1, 0);
		producer->cursor += n_words;
	}
	loci_ring_producer_flush(producer);
	hide_place(producer);
	producer->base += producer->chunk_words;
	if (wait_for_space(producer) < 0) {
		struct loci_ring_shared *shared = producer->shared;

		go_quiet(producer);
		producer->head = &shared->lost_words;
		return producer->cursor;
	}
	enter_chunk(producer);
	return producer->cursor;
}
