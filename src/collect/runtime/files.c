// SPDX-License-Identifier: BSD-2-Clause
/* What the runtime makes in the run's directory. A ring gets its name when it is complete; until
 * then it has one that nobody looks at. */
#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#include <string.h>

struct rt_size {
	uint32_t n_words, n_chunks;
};

#define SYS_RENAME    82
#define SYS_UNLINK    87
#define SYS_FCHMOD    91
#define SYS_WRITE     1
#define SYS_STATFS    137
#define SYS_FALLOCATE 285
#define SYS_PRLIMIT64 302

#define O_CREATE_NEW    (0100 | 0200 | 02 | 02000000) /* O_CREAT, EXCL, RDWR, CLOEXEC */
#define O_CREATE        (0100 | 01 | 02000000)
#define O_READ_WRITE    (02 | 02000000)
#define EEXIST_NR       17
#define RLIMIT_FSIZE_NR 1
#define SPARE_RINGS     16 /* of its size must find room beside a ring, but for the smallest */

/* A thread's words should stay in a second-level cache; handlers and definitions are few. Where
 * there is little space they are smaller, so that many find some. */
static const struct rt_size thread_sizes[] = { { 1u << 16, 8 },
	{ LOCI_RING_WORDS, LOCI_RING_CHUNKS }, { 1u << 13, 4 }, { 1u << 12, 4 } };
/* Where samples are watched there are allocations, and little else. */
static const struct rt_size watch_sizes[] = { { 1u << 14, 4 }, { 1u << 13, 4 }, { 1u << 12, 4 } };
/* The recorder should hear of samples soon. */
static const struct rt_size sample_sizes[] = { { 1u << 14, 16 }, { 1u << 12, 4 } };
static const struct rt_size step_sizes[] = { { 1u << 13, 16 }, { 1u << 12, 8 } }; /* in step */
_Static_assert((1u << 12) / 8 >= LOCI_RING_CHUNK_MIN, "chunks have room for the longest marker");
static const struct rt_size other_sizes[] = { { 1u << 13, 4 }, { 1u << 12, 4 } };

/* As the kernel has it. */
struct file_system {
	int64_t type, block_bytes;
	uint64_t blocks, free_blocks, available_blocks;
	uint64_t rest[10];
};

static size_t ring_bytes(const struct rt_size *size)
{
	return LOCI_RING_HEADER_BYTES + size->n_words * sizeof(uint64_t);
}

static bool is_roomy(size_t bytes)
{
	struct file_system fs = { 0 };

	if (loci_syscall3(SYS_STATFS, (long)rt.dir, (long)&fs, 0) < 0)
		return true;
	return fs.available_blocks * (uint64_t)fs.block_bytes / SPARE_RINGS >= bytes;
}

/* A larger file would be a signal. */
static bool is_allowed(size_t bytes)
{
	uint64_t limit[2] = { 0 };

	return loci_syscall6(SYS_PRLIMIT64, 0, RLIMIT_FSIZE_NR, 0, (long)limit, 0, 0) < 0 ||
		bytes <= limit[0];
}

/* Takes the file's space now: a full file system must be an error here, not a signal later. */
static bool fill_file(long fd, size_t bytes)
{
	static const char zeros[4096];

	if (loci_syscall6(SYS_FALLOCATE, fd, 0, 0, (long)bytes, 0, 0) == 0)
		return true;
	for (size_t at = 0; at < bytes; at += sizeof(zeros))
		if (loci_syscall3(SYS_WRITE, fd, (long)zeros, sizeof(zeros)) != (long)sizeof(zeros))
			return false;
	return true;
}

static struct loci_stream_info stream_info(void)
{
	struct loci_stream_info info = { .version = LOCI_STREAM_VERSION,
		.arch = LOCI_ARCH_X86_64,
		.collector = rt.is_plain ? LOCI_COLLECTOR_GCC : LOCI_COLLECTOR_CC,
		.unit = LOCI_UNIT_BYTE,
		.capabilities = LOCI_CAP_STORES | LOCI_CAP_SITES | LOCI_CAP_FRAMES |
			LOCI_CAP_OBJECTS | LOCI_CAP_PARTIAL,
		.origin = "loci " LOCI_VERSION ", cc" };

	if (rt.is_plain)
		strcpy(info.origin, "loci " LOCI_VERSION ", gcc");
	if (rt.control->mode != LOCI_CONTROL_WATCH)
		info.capabilities |= rt.control->windows ? LOCI_CAP_WINDOWS : LOCI_CAP_COMPLETE;
	if (rt.control->mode == LOCI_CONTROL_SAMPLE || rt.control->mode == LOCI_CONTROL_WATCH)
		info.capabilities |= LOCI_CAP_SAMPLES;
	return info;
}

static void *make_ring(struct loci_ring_producer *ring, const char *path, const char *lock,
	const struct rt_size *size)
{
	struct loci_stream_info info = stream_info();
	size_t bytes = ring_bytes(size);
	long fd = loci_syscall3(LOCI_SYS_OPEN, (long)path, O_CREATE_NEW, 0600);
	void *memory = NULL;

	if (fd < 0)
		return NULL;
	loci_syscall3(SYS_FCHMOD, fd, 0600, 0); /* whatever the program's umask */
	if (fill_file(fd, bytes))
		memory = loci_sys_map(bytes, fd);
	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	if (memory &&
		loci_ring_format(memory, bytes, &info, size->n_words / size->n_chunks, lock) == 0 &&
		loci_ring_producer_attach(ring, memory, bytes) == 0)
		return memory;
	if (memory)
		rt_unmap(memory, bytes);
	loci_syscall3(SYS_UNLINK, (long)path, 0, 0);
	return NULL;
}

static void put_path(char to[RT_PATH_BYTES], const char *before, uint32_t number, const char *end)
{
	if (number)
		rt_text(to, RT_PATH_BYTES, "%s/%s%u.%u.%u%s", rt.dir, before, (unsigned)rt.pid,
			(unsigned)rt.number, number, end);
	else
		rt_text(to, RT_PATH_BYTES, "%s/%s%u.%u%s", rt.dir, before, (unsigned)rt.pid,
			(unsigned)rt.number, end);
}

static void *make_some_ring(struct loci_ring_producer *ring, const struct rt_size *sizes, size_t n,
	char path[2][RT_PATH_BYTES], size_t *ret_bytes)
{
	rt_text(path[1], RT_PATH_BYTES, "%s/lock", rt.dir);
	for (size_t i = 0; i < n; i++) {
		size_t bytes = ring_bytes(&sizes[i]);
		void *memory;

		if (!is_allowed(bytes) || (i + 1 < n && !is_roomy(bytes)))
			continue;
		memory = make_ring(ring, path[0], path[1], &sizes[i]);
		if (memory) {
			*ret_bytes = bytes;
			return memory;
		}
	}
	return NULL;
}

/* In the process's ring, which counts itself first, and stays mapped when it is closed. */
static void tell_ring(struct loci_ring_shared *shared)
{
	if (shared)
		__atomic_fetch_add(&shared->rings, 1, __ATOMIC_SEQ_CST);
}

void *rt_make_ring(struct loci_ring_producer *ring, uint32_t number, bool is_small,
	char path[2][RT_PATH_BYTES], size_t *ret_bytes)
{
	const struct rt_size *sizes = is_small ? other_sizes : thread_sizes;
	size_t n = is_small ? sizeof(other_sizes) / sizeof(*sizes)
			    : sizeof(thread_sizes) / sizeof(*sizes);
	void *memory;

	if (rt.watches && !is_small) {
		sizes = watch_sizes;
		n = sizeof(watch_sizes) / sizeof(*sizes);
	} else if (rt.samples && !is_small) {
		sizes = rt.control->skew ? step_sizes : sample_sizes;
		n = 2;
	}
	loci_ring_producer_init(ring);
	put_path(path[0], ".", number, ".ring");
	memory = make_some_ring(ring, sizes, n, path, ret_bytes);
	if (!memory)
		return NULL;
	put_path(path[1], "", number, ".ring");
	if (loci_syscall3(SYS_RENAME, (long)path[0], (long)path[1], 0) == 0) {
		tell_ring(number ? rt.mapped : memory);
		return memory;
	}
	loci_ring_producer_init(ring);
	rt_unmap(memory, *ret_bytes);
	return NULL;
}

/* The name stays taken after its ring is gone. */
int rt_take_number(void)
{
	for (rt.number = 0; rt.number < 1000000; rt.number++) {
		long fd;

		put_path(rt.path[0], ".", 0, "");
		fd = loci_syscall3(LOCI_SYS_OPEN, (long)rt.path[0], O_CREATE_NEW, 0600);
		if (fd >= 0) {
			loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
			return rt.number;
		}
		if (fd != -EEXIST_NR)
			break;
	}
	return -1;
}

void rt_leave_unheard(void)
{
	long fd;

	put_path(rt.path[0], "", 0, LOCI_RUN_UNHEARD);
	fd = loci_syscall3(LOCI_SYS_OPEN, (long)rt.path[0], O_CREATE, 0600);
	if (fd >= 0)
		loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
}

struct loci_control *rt_map_control(const char *path)
{
	long fd = loci_syscall3(LOCI_SYS_OPEN, (long)path, O_READ_WRITE, 0);
	long bytes;
	void *memory = NULL;

	if (fd < 0)
		return NULL;
	bytes = loci_syscall3(LOCI_SYS_LSEEK, fd, 0, 2 /* SEEK_END */);
	if (bytes >= (long)sizeof(struct loci_control))
		memory = loci_sys_map(sizeof(struct loci_control), fd);
	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	return memory;
}
