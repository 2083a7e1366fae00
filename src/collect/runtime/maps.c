// SPDX-License-Identifier: BSD-2-Clause
/* Memory that the program maps itself. What the C library maps for its heap is not seen here; its
 * blocks are. */
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#define SITE       ((uintptr_t)__builtin_return_address(0) - 1)
#define PAGE_BYTES 4096u

static struct rt_thread *watching(void)
{
	return rt_mode() == RT_TRACE ? rt_thread() : NULL;
}

static void tell_map(
	struct rt_thread *thread, uintptr_t address, size_t bytes, uint64_t kind, uintptr_t site)
{
	uint64_t raw[5] = { address, bytes, rt_next_sequence(), site, 0 };

	rt_mark(thread, LOCI_MARK_MAP, kind, 5, raw);
}

static void tell_unmap(struct rt_thread *thread, uintptr_t address, size_t bytes, uint64_t sequence)
{
	uint64_t raw[3] = { address, bytes, sequence };

	rt_mark(thread, LOCI_MARK_UNMAP, 0, 3, raw);
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

static void *tell_mapped(void *memory, size_t bytes, int protection, int flags, uintptr_t site)
{
	struct rt_thread *thread = memory == MAP_FAILED ? NULL : watching();

	if (thread)
		tell_map(thread, (uintptr_t)memory, whole_pages(bytes),
			(unsigned)protection | (uint64_t)(unsigned)flags << 8, site);
	return memory;
}

RT_WRAP(void *, mmap, void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *memory = RT_REAL(mmap)(address, bytes, protection, flags, fd, offset);

	return tell_mapped(memory, bytes, protection, flags, SITE);
}

RT_WRAP(void *, mmap64, void *address, size_t bytes, int protection, int flags, int fd,
	off64_t offset)
{
	void *memory = RT_REAL(mmap64)(address, bytes, protection, flags, fd, offset);

	return tell_mapped(memory, bytes, protection, flags, SITE);
}

RT_WRAP(int, munmap, void *address, size_t bytes)
{
	struct rt_thread *thread = watching();
	uint64_t sequence = thread ? rt_next_sequence() : 0;
	int r = RT_REAL(munmap)(address, bytes);

	if (thread) /* nothing of nothing where it failed: the number is taken */
		tell_unmap(thread, (uintptr_t)address, r == 0 ? whole_pages(bytes) : 0, sequence);
	return r;
}

/* The place moves: what was there ends before, what is there begins after. */
RT_WRAP(void *, mremap, void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	struct rt_thread *thread = watching();
	uint64_t sequence = thread ? rt_next_sequence() : 0;
	bool is_moved;
	va_list args;
	void *new;

	va_start(args, flags);
	new = RT_REAL(mremap)(
		old, old_bytes, bytes, flags, flags & MREMAP_FIXED ? va_arg(args, void *) : NULL);
	va_end(args);
	if (!thread)
		return new;
	is_moved = new != MAP_FAILED;
	tell_unmap(thread, (uintptr_t)old, is_moved ? whole_pages(old_bytes) : 0, sequence);
	if (is_moved)
		tell_map(thread, (uintptr_t) new, whole_pages(bytes), PROT_READ | PROT_WRITE, SITE);
	return new;
}

/* From the old end to the new one. */
static void tell_break(struct rt_thread *thread, uintptr_t old, uintptr_t new, uintptr_t site)
{
	if (new > old)
		tell_map(thread, old, new - old, PROT_READ | PROT_WRITE, site);
	else if (new < old)
		tell_unmap(thread, new, old - new, rt_next_sequence());
}

RT_WRAP(void *, sbrk, intptr_t bytes)
{
	void *old = RT_REAL(sbrk)(bytes);
	struct rt_thread *thread = bytes && old != (void *)-1 ? watching() : NULL;

	if (thread)
		tell_break(thread, (uintptr_t)old, (uintptr_t)old + (uintptr_t)bytes, SITE);
	return old;
}

RT_WRAP(int, brk, void *end)
{
	struct rt_thread *thread = watching();
	uintptr_t old = thread ? (uintptr_t)RT_REAL(sbrk)(0) : 0;
	int r = RT_REAL(brk)(end);

	if (thread && r == 0)
		tell_break(thread, old, (uintptr_t)end, SITE);
	return r;
}
