// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading rings. The producer's memory is not trusted: it runs inside a program that may be broken.
 * Sizes are copied when the ring is opened, words before they are looked at. */
#define _GNU_SOURCE
#include "stream/ring.h"
#include "stream/ring_producer.h"
#include "stream/ring_state.h"
#include "stream/ring_x86_64.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define WAIT_NS 50000000u /* then take less than a chunk, and look whether the producer lives */

static const struct loci_source_ops ring_ops;

static int check(struct ring *ring, struct loci_err *err)
{
	const struct loci_ring_shared *shared = ring->shared;
	uint64_t room = (ring->mapped_bytes - LOCI_RING_HEADER_BYTES) / sizeof(uint64_t);

	if (memcmp(shared->magic, LOCI_RING_MAGIC, sizeof(shared->magic)))
		return loci_err_set(err, EPROTO, "%s: is not a ring", ring->path);
	if (shared->version != LOCI_RING_VERSION || shared->info.version > LOCI_STREAM_VERSION)
		return loci_err_set(err, EPROTO,
			"%s: a ring of version %" PRIu32 ", stream version %" PRIu32
			"; this loci reads %d and up to %d: build the program with the same loci",
			ring->path, shared->version, shared->info.version, LOCI_RING_VERSION,
			LOCI_STREAM_VERSION);
	ring->n_words = shared->n_words;
	ring->chunk_words = shared->chunk_words;
	if (ring->chunk_words < LOCI_RING_CHUNK_MIN || ring->n_words < 2 * ring->chunk_words ||
		ring->n_words % ring->chunk_words || ring->n_words > room)
		return loci_err_set(err, EPROTO, "%s: the ring's sizes make no sense", ring->path);
	return 0;
}

static struct ring *ring_new(const struct loci_rundir *dir, const char *name)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->source.ops = &ring_ops;
	ring->pidfd = -1;
	if (asprintf(&ring->path, "%s/%s", loci_rundir_path(dir), name) < 0) {
		free(ring);
		return NULL;
	}
	return ring;
}

static int map(struct ring *ring, int fd, size_t bytes, struct loci_err *err)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return loci_err_set(err, errno, "%s: cannot map: %s", ring->path, strerror(errno));
	ring->shared = memory;
	ring->mapped_bytes = bytes;
	ring->data = (const uint64_t *)((const char *)memory + LOCI_RING_HEADER_BYTES);
	return 0;
}

static int begin(struct ring *ring, struct loci_err *err)
{
	int r = check(ring, err);

	if (r < 0)
		return r;
	ring->source.info = ring->shared->info;
	ring->source.info.origin[sizeof(ring->source.info.origin) - 1] = 0;
	ring->shared->consumer_pid = (uint32_t)getpid();
	__atomic_store_n(&ring->shared->consumer, LOCI_RING_PRESENT, __ATOMIC_SEQ_CST);
	return 0;
}

/* Creates, sizes and formats the file. Its memory is taken now: a full file system must not show
 * itself later, by a signal in the program. */
static int create(struct ring *ring, const struct loci_rundir *dir,
	const struct loci_stream_info *info, size_t n_words, struct loci_err *err)
{
	size_t bytes = LOCI_RING_HEADER_BYTES + n_words * sizeof(uint64_t);
	loci_autoclose int fd = open(ring->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return loci_err_set(
			err, errno, "%s: cannot create: %s", ring->path, strerror(errno));
	r = posix_fallocate(fd, 0, (off_t)bytes);
	if (r > 0)
		return loci_err_set(
			err, r, "%s: cannot take %zu bytes: %s", ring->path, bytes, strerror(r));
	r = map(ring, fd, bytes, err);
	if (r < 0)
		return r;
	r = loci_ring_format(ring->shared, bytes, info, (uint32_t)(n_words / LOCI_RING_CHUNKS),
		loci_rundir_lock_path(dir));
	if (r < 0)
		return loci_err_set(
			err, -r, "%s: cannot make a ring of %zu words", ring->path, n_words);
	return begin(ring, err);
}

int loci_ring_create(const struct loci_rundir *dir, const char *name,
	const struct loci_stream_info *info, size_t n_words, struct loci_source **ret,
	struct loci_err *err)
{
	struct ring *ring = ring_new(dir, name);
	int r;

	if (!ring)
		return loci_err_nomem(err);
	r = create(ring, dir, info, n_words ? n_words : LOCI_RING_WORDS, err);
	if (r < 0) {
		loci_source_close(&ring->source);
		return r;
	}
	*ret = &ring->source;
	return 0;
}

static int open_existing(struct ring *ring, struct loci_err *err)
{
	loci_autoclose int fd = open(ring->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return loci_err_set(err, errno, "%s: cannot open: %s", ring->path, strerror(errno));
	if (st.st_size < LOCI_RING_HEADER_BYTES)
		return loci_err_set(err, EPROTO, "%s: is not a ring", ring->path);
	r = map(ring, fd, (size_t)st.st_size, err);
	return r < 0 ? r : begin(ring, err);
}

int loci_ring_open(const struct loci_rundir *dir, const char *name, struct loci_source **ret,
	struct loci_err *err)
{
	struct ring *ring = ring_new(dir, name);
	int r;

	if (!ring)
		return loci_err_nomem(err);
	r = open_existing(ring, err);
	if (r < 0) {
		loci_source_close(&ring->source);
		return r;
	}
	*ret = &ring->source;
	return 0;
}

/* Until there is half a ring, not a chunk only, since waking costs more than what that brings;
 * someone rings, or a while has passed. */
static void wait_for_data(struct ring *ring)
{
	struct loci_ring_bell bell;
	long r = 0;

	if (loci_ring_await(&ring->source, &bell))
		r = loci_futex_wait(bell.bell, bell.value, WAIT_NS);
	loci_ring_awaited(&ring->source);
	if (r < 0)
		loci_ring_has_died(&ring->source);
}

static ssize_t ring_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct ring *ring = (struct ring *)source;
	bool waited = false;

	for (;;) {
		struct loci_ring_view view;
		int r = loci_ring_look(source, &view, err);

		if (r < 0)
			return r;
		if (view.n_words >= ring->chunk_words || (view.n_words && (waited || view.ended))) {
			size_t n = loci_ring_copy(source, words, cap, view.n_words);

			if (n == 0)
				return loci_ring_senseless(source, err);
			loci_ring_give_back(source, n, &view);
			return (ssize_t)n;
		}
		if (view.ended)
			return 0;
		wait_for_data(ring);
		waited = true;
	}
}

static void ring_progress(const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = ((const struct ring *)source)->tail * sizeof(uint64_t);
	*ret_total = 0;
}

static void dismiss_producer(struct loci_ring_shared *shared)
{
	__atomic_store_n(&shared->consumer, LOCI_RING_GONE, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&shared->space_bell, 1, __ATOMIC_SEQ_CST);
	loci_futex_wake(&shared->space_bell);
}

void loci_ring_abandon(int dir, const char *name)
{
	loci_autoclose int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct loci_ring_shared *shared;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < LOCI_RING_HEADER_BYTES)
		return;
	shared = mmap(NULL, LOCI_RING_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return;
	if (!memcmp(shared->magic, LOCI_RING_MAGIC, sizeof(shared->magic)) &&
		shared->version == LOCI_RING_VERSION)
		dismiss_producer(shared);
	munmap(shared, LOCI_RING_HEADER_BYTES);
}

static void ring_close(struct loci_source *source)
{
	struct ring *ring = (struct ring *)source;

	if (ring->shared) {
		dismiss_producer(ring->shared);
		munmap(ring->shared, ring->mapped_bytes);
		unlink(ring->path);
	}
	if (ring->pidfd >= 0)
		close(ring->pidfd);
	free(ring->path);
	free(ring);
}

static const struct loci_source_ops ring_ops = {
	.read = ring_read,
	.progress = ring_progress,
	.close = ring_close,
};

const char *loci_ring_path(const struct loci_source *source)
{
	return ((const struct ring *)source)->path;
}

void *loci_ring_memory(const struct loci_source *source, size_t *ret_bytes)
{
	const struct ring *ring = (const struct ring *)source;

	*ret_bytes = ring->mapped_bytes;
	return ring->shared;
}
