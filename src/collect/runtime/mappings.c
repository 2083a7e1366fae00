// SPDX-License-Identifier: BSD-2-Clause
/* What a page may be used for before it is watched: the kernel is asked for the mapping around it
 * (PROCMAP_QUERY, Linux 6.11), or its list is read. The last answers are kept until the program
 * changes its mappings, which led_calls.c sees.
 *
 * And which memory is never watched: stacks, since the kernel writes frames of signals there and
 * does not ask, and memory of threads that the kernel or a handler of ours uses. */
#include "collect/runtime/own_signals.h"
#include "collect/runtime/watched_pages.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define SYS_READ        0
#define SYS_IOCTL       16
#define SYS_SIGALTSTACK 131
#define SYS_GETTID      186
#define O_CLOEXEC_NR    02000000

#define N_KEPT        8
#define N_REFUSED     4096 /* some three for each of the threads whose calls are led */
#define LARGEST_STACK (64ul << 20)

#define TCB_BYTES        1024 /* of what the kernel knows: the list of locks, the thread's id */
#define RSEQ_BYTES       32
#define OWN_THREAD_BYTES 4096 /* variables of the runtime's, less than */

/* As in linux/fs.h. */
struct query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_bytes, offset, inode;
	uint32_t major, minor, name_bytes, build_id_bytes;
	uint64_t name, build_id;
};
#define PROCMAP_QUERY  0xc0686611ul
#define VMA_READABLE   1u
#define VMA_WRITABLE   2u
#define VMA_EXECUTABLE 4u

static struct rt_mapping kept[N_KEPT];
static unsigned next_kept;

void rt_mappings_forget(void)
{
	memset(kept, 0, sizeof(kept));
}

static bool is_special_name(const char *name)
{
	return !strncmp(name, "[stack", 6) || !strncmp(name, "[v", 2) ||
		!strncmp(name, "[uprobes", 8);
}

/* 0, -ENOTTY where the kernel cannot be asked, or that there is none. */
static long ask(long fd, uintptr_t address, struct rt_mapping *ret)
{
	char name[32] = { 0 };
	struct query query = { .size = sizeof(query), .address = address };
	long r;

	query.name = (uintptr_t)name;
	query.name_bytes = sizeof(name);
	r = loci_syscall3(SYS_IOCTL, fd, (long)PROCMAP_QUERY, (long)&query);
	if (r == -36) { /* ENAMETOOLONG: a file's */
		query.name = query.name_bytes = 0;
		r = loci_syscall3(SYS_IOCTL, fd, (long)PROCMAP_QUERY, (long)&query);
	}
	if (r < 0)
		return r;
	*ret = (struct rt_mapping){ query.start, query.end,
		(query.vma_flags & VMA_READABLE ? PROT_READ : 0) |
			(query.vma_flags & VMA_WRITABLE ? PROT_WRITE : 0) |
			(query.vma_flags & VMA_EXECUTABLE ? PROT_EXEC : 0),
		query.page_bytes != RT_PAGE_BYTES || is_special_name(name) };
	return 0;
}

/* One byte of the list at a time; its lines are "START-END rwxp OFFSET DEVICE INODE   NAME". */
struct reader {
	long fd;
	char buffer[1024];
	long at, n;
};

static int next_byte(struct reader *reader)
{
	if (reader->at == reader->n) {
		reader->n = loci_syscall3(
			SYS_READ, reader->fd, (long)reader->buffer, sizeof(reader->buffer));
		reader->at = 0;
		if (reader->n <= 0)
			return reader->n = 0, -1;
	}
	return (unsigned char)reader->buffer[reader->at++];
}

static uintptr_t number(struct reader *reader, int *ret_byte)
{
	uintptr_t value = 0;
	int c;

	while ((c = next_byte(reader)) > ' ' && c != '-')
		value = value * 16 + (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	*ret_byte = c;
	return value;
}

static bool next_line(struct reader *reader, struct rt_mapping *ret)
{
	char name[10] = { 0 };
	unsigned n = 0, spaces = 0;
	int c;

	*ret = (struct rt_mapping){ 0 };
	ret->start = number(reader, &c);
	if (c < 0)
		return false;
	ret->end = number(reader, &c);
	ret->protection = (next_byte(reader) == 'r' ? PROT_READ : 0) |
		(next_byte(reader) == 'w' ? PROT_WRITE : 0);
	ret->protection |= next_byte(reader) == 'x' ? PROT_EXEC : 0;
	while ((c = next_byte(reader)) >= 0 && c != '\n') {
		spaces += c == ' ' && spaces < 4;
		if (spaces >= 4 && c != ' ' && n + 1 < sizeof(name))
			name[n++] = (char)c;
	}
	ret->is_special = is_special_name(name);
	return true;
}

static bool read_list(long fd, uintptr_t address, struct rt_mapping *ret)
{
	struct reader reader = { .fd = fd };

	while (next_line(&reader, ret))
		if (address >= ret->start && address < ret->end)
			return true;
	return false;
}

static bool ran_out; /* of descriptors, the last time */

bool rt_mappings_ran_out(void)
{
	return ran_out;
}

bool rt_mapping_of(uintptr_t address, struct rt_mapping *ret)
{
	long fd, r;

	ran_out = false;
	for (unsigned i = 0; i < N_KEPT; i++)
		if (address >= kept[i].start && address < kept[i].end)
			return *ret = kept[i], true;
	fd = loci_syscall3(LOCI_SYS_OPEN, (long)"/proc/self/maps", O_CLOEXEC_NR, 0);
	ran_out = fd == -EMFILE || fd == -ENFILE;
	if (fd < 0)
		return false;
	r = ask(fd, address, ret);
	if (r == -25) /* ENOTTY */
		r = read_list(fd, address, ret) ? 0 : -1;
	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	if (r < 0)
		return false;
	kept[next_kept++ % N_KEPT] = *ret;
	return true;
}

static struct {
	uintptr_t start, end;
	long thread;
} refused[N_REFUSED];
static unsigned n_refused;

/* One that begins where another of the thread's does may be within it. */
bool rt_refused_add(uintptr_t start, uintptr_t end)
{
	long thread = loci_syscall3(SYS_GETTID, 0, 0, 0);
	unsigned i = 0;

	while (i < n_refused && (refused[i].thread != thread || refused[i].start != start))
		i++;
	if (i < n_refused && end < refused[i].end)
		end = refused[i].end;
	if (i == n_refused)
		for (i = 0; i < n_refused && refused[i].start != refused[i].end;)
			i++;
	if (i == N_REFUSED)
		return false;
	refused[i].start = start;
	refused[i].end = end;
	refused[i].thread = thread;
	n_refused += i == n_refused;
	return true;
}

void rt_refused_drop(void)
{
	long thread = loci_syscall3(SYS_GETTID, 0, 0, 0);

	for (unsigned i = 0; i < n_refused; i++)
		if (refused[i].thread == thread)
			refused[i].start = refused[i].end;
}

void rt_refused_clear(void)
{
	n_refused = 0;
}

bool rt_is_refused(uintptr_t start, size_t bytes)
{
	for (unsigned i = 0; i < n_refused; i++)
		if (start < refused[i].end && start + bytes > refused[i].start)
			return true;
	return false;
}

extern const ptrdiff_t __rseq_offset __attribute__((weak)); /* since glibc 2.35 */

/* Around the TCB: the library's record of the thread, which the kernel writes to, and variables of
 * the runtime's in front of it. */
static bool refuse_tcb(uintptr_t tcb)
{
	uintptr_t low = (uintptr_t)&rt_page_self, self = (uintptr_t)&rt_self;
	uintptr_t high = tcb + TCB_BYTES, rseq = tcb;

	if (&__rseq_offset)
		rseq += (uintptr_t)__rseq_offset;
	if (self < low)
		low = self;
	low -= OWN_THREAD_BYTES;
	if (rseq < low)
		low = rseq;
	if (rseq + RSEQ_BYTES > high)
		high = rseq + RSEQ_BYTES;
	return rt_refused_add(low, high);
}

static bool refuse_stack(const stack_t *stack)
{
	uintptr_t start = (uintptr_t)stack->ss_sp;

	return !stack->ss_size || (stack->ss_flags & SS_DISABLE) ||
		rt_refused_add(start, start + stack->ss_size);
}

bool rt_refuse_thread(void)
{
	uintptr_t tcb, stack = (uintptr_t)__builtin_frame_address(0), start;
	struct rt_mapping mapping;
	stack_t other = { 0 };

	__asm__("movq %%fs:0, %0" : "=r"(tcb));
	if (!rt_mapping_of(stack, &mapping))
		return false;
	rt_page_self.stack = mapping.start;
	rt_page_self.stack_bytes = mapping.end - mapping.start;
	start = stack - mapping.start > LARGEST_STACK ? stack - LARGEST_STACK : mapping.start;
	if (!mapping.is_special &&
		!rt_refused_add(start, tcb > stack && tcb < mapping.end ? tcb : mapping.end))
		return false;
	if (loci_syscall3(SYS_SIGALTSTACK, 0, (long)&other, 0) < 0 || !refuse_stack(&other) ||
		!refuse_stack(rt_own_stack_program()))
		return false;
	return refuse_tcb(tcb);
}

/* The first stack may have grown. */
bool rt_is_known_stack(uintptr_t pointer)
{
	struct rt_mapping mapping;

	return pointer - rt_page_self.stack < rt_page_self.stack_bytes ||
		rt_is_refused(pointer, 1) ||
		(rt_mapping_of(pointer, &mapping) && mapping.is_special);
}
