// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/out.h"
#include "collect/run_control.h"
#include "collect/valgrind/options.h"
#include "stream/ring_x86_64.h"
#include "version.h"

#define PATH_BYTES (LOCI_RING_PATH_MAX + 64)

#define SYS_FALLOCATE 285
#define SYS_STATFS    137

/* The first is larger than rings are by default: generated code fills a chunk in some tens of
 * microseconds, and waking the consumer should be rare beside that. Where there is little space
 * they are smaller, so that many processes find some. */
static const struct size {
	SizeT n_words;
	UInt n_chunks;
} sizes[] = { { 1u << 18, 8 }, { LOCI_RING_WORDS, LOCI_RING_CHUNKS }, { 1u << 13, 2 } };
#define N_SIZES     (sizeof(sizes) / sizeof(sizes[0]))
#define SPARE_RINGS 16 /* of its size must find room beside a ring, but for the smallest */

/* As the kernel has it. */
struct file_system {
	Long type, block_bytes;
	ULong blocks, free_blocks, available_blocks;
	ULong rest[10];
};

/* The ring stays where it was mapped first: a child puts its own in the same place. */
static struct {
	struct loci_ring_producer ring;
	void *memory;
	SizeT mapped_bytes;
	uint64_t n_strings;
	Int offset;
} out;

static struct loci_stream_info stream_info(void)
{
	struct loci_stream_info info = { .version = LOCI_STREAM_VERSION,
		.arch = LOCI_ARCH_X86_64,
		.collector = LOCI_COLLECTOR_ANY,
		.unit = LOCI_UNIT_BYTE,
		.capabilities = LOCI_CAP_STORES | LOCI_CAP_SITES | LOCI_CAP_FRAMES |
			LOCI_CAP_OBJECTS | LOCI_CAP_ORDER,
		.origin = "loci " LOCI_VERSION ", valgrind " LOCI_VALGRIND_VERSION };

	if (options.windows)
		info.capabilities |= LOCI_CAP_WINDOWS;
	else if (!options.only && !options.skip)
		info.capabilities |= LOCI_CAP_COMPLETE;
	return info;
}

/* Words go nowhere from here on: into memory of our own in the ring's place, because a consumer may
 * still be reading what was written before. */
static void go_quiet(void)
{
	struct loci_ring_producer *ring = &out.ring;

	if (ring->shared || ring->chunk != ring->sink || !out.memory)
		return;
	if (loci_syscall6(LOCI_SYS_MMAP, (long)out.memory, (long)out.mapped_bytes,
		    VKI_PROT_READ | VKI_PROT_WRITE,
		    VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, -1, 0) != (long)out.memory)
		return; /* the producer's own sink is shorter, and as good */
	loci_ring_producer_init(ring);
	ring->chunk = ring->cursor = out.memory;
	ring->limit = (uint64_t *)((UChar *)out.memory + out.mapped_bytes);
}

/* Takes the file's space now: a full file system must be an error here, not a signal later. */
static Bool fill_file(Int fd, SizeT bytes)
{
	static const UChar zeros[4096];
	SizeT at;

	if (loci_syscall6(SYS_FALLOCATE, fd, 0, 0, (long)bytes, 0, 0) == 0)
		return True;
	for (at = 0; at < bytes; at += sizeof(zeros))
		if (VG_(write)(fd, zeros, sizeof(zeros)) != (Int)sizeof(zeros))
			return False;
	return True;
}

/* Shared memory of the file, in the place of what was there before. */
static Bool map_file(Int fd, SizeT bytes)
{
	if (out.memory)
		return bytes <= out.mapped_bytes &&
			loci_syscall6(LOCI_SYS_MMAP, (long)out.memory, (long)bytes,
				VKI_PROT_READ | VKI_PROT_WRITE, VKI_MAP_SHARED | VKI_MAP_FIXED, fd,
				0) == (long)out.memory;
	{
		SysRes r = VG_(am_shared_mmap_file_float_valgrind)(
			bytes, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);

		if (sr_isError(r))
			return False;
		out.memory = (void *)sr_Res(r);
		out.mapped_bytes = bytes;
		return True;
	}
}

/* Images of this process are told apart by the first number that nobody has taken; the name stays
 * taken after its ring is gone. */
static Int take_number(const HChar *dir)
{
	HChar path[PATH_BYTES];
	Int n;

	for (n = 0; n < 1000000; n++) {
		SysRes r;

		VG_(snprintf)(path, sizeof(path), "%s/.%d.%d", dir, VG_(getpid)(), n);
		r = VG_(open)(path, VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY, 0600);
		if (!sr_isError(r)) {
			VG_(close)((Int)sr_Res(r));
			return n;
		}
		if (sr_Err(r) != VKI_EEXIST)
			break;
	}
	return -1;
}

/* An empty file takes no room. */
static void leave_word(const HChar *dir, const HChar *word, Int n)
{
	HChar path[PATH_BYTES];
	SysRes r;

	VG_(snprintf)(path, sizeof(path), "%s/%d.%d%s", dir, VG_(getpid)(), n, word);
	r = VG_(open)(path, VKI_O_CREAT | VKI_O_WRONLY, 0600);
	if (!sr_isError(r))
		VG_(close)((Int)sr_Res(r));
}

static SizeT ring_bytes(const struct size *size)
{
	return LOCI_RING_HEADER_BYTES + size->n_words * sizeof(uint64_t);
}

/* A ring of that size under a name that nobody looks at. */
static Bool make_ring(const HChar *path, const HChar *lock, const struct size *size)
{
	SizeT bytes = ring_bytes(size);
	SysRes r = VG_(open)(path, VKI_O_CREAT | VKI_O_EXCL | VKI_O_RDWR, 0600);
	struct loci_stream_info info = stream_info();
	Bool good;
	Int fd;

	if (sr_isError(r))
		return False;
	fd = (Int)sr_Res(r);
	good = fill_file(fd, bytes) && map_file(fd, bytes) &&
		loci_ring_format(out.memory, bytes, &info, size->n_words / size->n_chunks, lock) ==
			0 &&
		loci_ring_producer_attach(&out.ring, out.memory, bytes) == 0;
	VG_(close)(fd);
	if (!good)
		VG_(unlink)(path);
	return good;
}

static Bool is_roomy(const HChar *dir, SizeT bytes)
{
	struct file_system fs;

	VG_(memset)(&fs, 0, sizeof(fs));
	if (loci_syscall3(SYS_STATFS, (long)dir, (long)&fs, 0) < 0)
		return True;
	return fs.available_blocks * (ULong)fs.block_bytes / SPARE_RINGS >= bytes;
}

static Bool make_some_ring(const HChar *dir, const HChar *path, const HChar *lock)
{
	UInt i;

	for (i = 0; i < N_SIZES; i++)
		if ((i + 1 == N_SIZES || is_roomy(dir, ring_bytes(&sizes[i]))) &&
			make_ring(path, lock, &sizes[i]))
			return True;
	return False;
}

static Bool open_ring(const HChar *dir)
{
	HChar made[PATH_BYTES], final[PATH_BYTES], lock[PATH_BYTES];
	Int pid = VG_(getpid)(), n = take_number(dir);

	if (n < 0)
		return False;
	VG_(snprintf)(made, sizeof(made), "%s/.%d.%d.ring", dir, pid, n);
	VG_(snprintf)(final, sizeof(final), "%s/%d.%d.ring", dir, pid, n);
	VG_(snprintf)(lock, sizeof(lock), "%s/lock", dir);
	if (!make_some_ring(dir, made, lock)) {
		leave_word(dir, LOCI_RUN_UNHEARD, n);
		return False;
	}
	return VG_(rename)(made, final) == 0;
}

void out_open(const HChar *dir)
{
	out.n_strings = 0;
	if (!dir || VG_(strlen)(dir) + 64 > PATH_BYTES || !open_ring(dir))
		loci_ring_producer_init(&out.ring);
	go_quiet();
}

void out_close(void)
{
	out.ring.cursor = out.ring.chunk + (*out.ring.head - out.ring.base);
	loci_ring_producer_close(&out.ring);
	go_quiet();
}

void out_leave(const HChar *dir)
{
	if (dir && VG_(strlen)(dir) + 64 <= PATH_BYTES)
		leave_word(dir, LOCI_RUN_UNWATCHED, take_number(dir));
}

Bool out_is_quiet(void)
{
	return out.ring.shared == NULL;
}

static void next_chunk(void)
{
	struct loci_ring_producer *ring = &out.ring;

	if (!ring->shared) {
		ring->base += (uint64_t)(ring->cursor - ring->chunk);
		ring->cursor = ring->chunk;
		return;
	}
	loci_ring_next_chunk(ring, OUT_ROOM);
	go_quiet();
}

uint64_t *out_reserve(SizeT n_words)
{
	struct loci_ring_producer *ring = &out.ring;

	ring->cursor = ring->chunk + (*ring->head - ring->base);
	if ((SizeT)(ring->limit - ring->cursor) < n_words) {
		next_chunk();
		out_sync(VG_(get_running_tid)());
	}
	return ring->cursor;
}

void out_commit(uint64_t *end)
{
	loci_ring_commit(&out.ring, end);
}

void out_mark(enum loci_marker kind, uint64_t payload, UInt n_raw, const uint64_t *raw)
{
	uint64_t *at = out_reserve(n_raw + 1);
	UInt i;

	at[0] = loci_mark_word(kind, n_raw, payload);
	for (i = 0; i < n_raw; i++)
		at[1 + i] = raw[i];
	out_commit(at + 1 + n_raw);
}

uint64_t out_string(const HChar *text)
{
	uint64_t id = ++out.n_strings, raw[LOCI_RAW_MAX];
	SizeT bytes = VG_(strlen)(text) + 1, at;

	for (at = 0; at < bytes; at += sizeof(raw)) {
		SizeT n = bytes - at < sizeof(raw) ? bytes - at : sizeof(raw);
		UInt n_raw = (UInt)((n + 7) / 8);

		raw[n_raw - 1] = 0;
		VG_(memcpy)(raw, text + at, n);
		out_mark(LOCI_MARK_STRING, id, n_raw, raw);
	}
	return id;
}

uint64_t out_head(void)
{
	return *out.ring.head;
}

uint64_t *out_word(uint64_t number)
{
	return out.ring.chunk + (number - out.ring.base);
}

uint64_t out_chunk_start(void)
{
	return out.ring.base;
}

/* The words up to and including `last` are the same for all threads. */
static void fill(struct out_thread *thread)
{
	const struct loci_ring_producer *ring = &out.ring;

	thread->head = ring->head;
	thread->words = ring->chunk - ring->base;
	thread->last = ring->base + (uint64_t)(ring->limit - ring->chunk) - OUT_ROOM;
}

void out_sync(ThreadId tid)
{
	struct out_thread thread;

	if (tid == VG_INVALID_THREADID)
		return;
	fill(&thread);
	VG_(set_shadow_regs_area)
	(tid, 1, 0, offsetof(struct out_thread, calls), (const UChar *)&thread);
}

void out_make_room(void *guest_state)
{
	struct loci_ring_producer *ring = &out.ring;

	ring->cursor = ring->chunk + (*ring->head - ring->base);
	next_chunk();
	fill(out_thread_of(guest_state));
}

Int out_offset(const VexGuestLayout *layout)
{
	out.offset = layout->total_sizeB;
	return out.offset;
}

struct out_thread *out_thread_of(void *guest_state)
{
	return (struct out_thread *)((UChar *)guest_state + out.offset);
}
