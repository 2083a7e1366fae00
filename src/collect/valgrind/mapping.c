// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/modules.h"
#include "collect/valgrind/out.h"
#include "collect/valgrind/thread.h"

#define SYSCALL_BYTES    2 /* the instruction's */
#define STACK_NAME       "[stack]"
#define MAP_GROWSDOWN_NR 0x100
#define HEAP_NAME        "[heap]"

static uint64_t sequence;

/* The tool's own file, where the core has trampolines that the program runs through; the linker's
 * symbols. */
extern const UChar __executable_start[], _end[];

uint64_t mapping_sequence(void)
{
	return ++sequence;
}

void mapping_begin(void)
{
	sequence = 0;
}

Addr mapping_syscall_site(ThreadId tid)
{
	return tid == VG_INVALID_THREADID ? 0 : VG_(get_IP)(tid) - SYSCALL_BYTES;
}

const Addr *mapping_segments(Int *ret_n)
{
	static Addr *starts;
	static Int cap;
	Int n = -1;

	while (!starts ||
		(n = VG_(am_get_segment_starts)(SkFileC | SkAnonC | SkShmC, starts, cap)) < 0) {
		cap = 64 - n;
		starts = VG_(realloc)("loci.segments", starts, (SizeT)cap * sizeof(*starts));
	}
	*ret_n = n;
	return starts;
}

static void tell_map(Addr start, SizeT bytes, UInt prot, UInt flags, const HChar *name, Addr site)
{
	uint64_t raw[5] = { start, bytes, 0, site, name ? out_string(name) : 0 };

	raw[2] = mapping_sequence();
	out_mark(LOCI_MARK_MAP, prot | (uint64_t)flags << 8, 5, raw);
}

static void tell_unmap(Addr start, SizeT bytes)
{
	uint64_t raw[3] = { start, bytes, mapping_sequence() };

	out_mark(LOCI_MARK_UNMAP, 0, 3, raw);
}

static UInt prot_of(const NSegment *segment)
{
	return (segment->hasR ? VKI_PROT_READ : 0) | (segment->hasW ? VKI_PROT_WRITE : 0) |
		(segment->hasX ? VKI_PROT_EXEC : 0);
}

/* The stack grows into a reservation below it without notice, so all of it is told. */
static Addr lowest_of_stack(const NSegment *segment)
{
	const NSegment *below = VG_(am_find_nsegment)(segment->start - 1);

	return below && below->kind == SkResvn ? below->start : segment->start;
}

static Bool is_our_own(Addr start)
{
	return (Addr)__executable_start <= start && start < (Addr)_end;
}

static void tell_segment(Addr start, SizeT bytes, Addr site)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	UInt flags = VKI_MAP_PRIVATE;
	const HChar *name = NULL;

	if (!segment || is_our_own(start))
		return;
	if (segment->kind == SkFileC) {
		name = VG_(am_get_filename)(segment);
	} else if (segment->kind == SkShmC) {
		flags = VKI_MAP_SHARED;
	} else if (segment->end == VG_(clstk_end)) {
		Addr lowest = lowest_of_stack(segment);

		bytes += start - lowest;
		start = lowest;
		flags |= VKI_MAP_ANONYMOUS | MAP_GROWSDOWN_NR;
		name = STACK_NAME;
	} else {
		flags |= VKI_MAP_ANONYMOUS;
		if (segment->isCH)
			name = HEAP_NAME;
	}
	tell_map(start, bytes, prot_of(segment), flags, name, site);
	if (segment->hasX)
		module_at(start);
}

void mapping_tell_all(void)
{
	Int n, i;
	const Addr *starts = mapping_segments(&n);

	for (i = 0; i < n; i++) {
		const NSegment *segment = VG_(am_find_nsegment)(starts[i]);

		if (segment)
			tell_segment(segment->start, segment->end - segment->start + 1, 0);
	}
}

static void on_startup(Addr start, SizeT bytes, Bool r, Bool w, Bool x, ULong info)
{
	(void)r, (void)w, (void)x, (void)info;
	tell_segment(start, bytes, 0);
}

static void on_map(Addr start, SizeT bytes, Bool r, Bool w, Bool x, ULong info)
{
	(void)r, (void)w, (void)x, (void)info;
	tell_segment(start, bytes, mapping_syscall_site(VG_(get_running_tid)()));
}

static void on_unmap(Addr start, SizeT bytes)
{
	tell_unmap(start, bytes);
	module_unmapped(start, bytes);
}

/* UNMAP of the old place follows from the core. */
static void on_remap(Addr from, Addr to, SizeT bytes)
{
	(void)from;
	tell_segment(to, bytes, mapping_syscall_site(VG_(get_running_tid)()));
}

static void on_grow_heap(Addr start, SizeT bytes, ThreadId tid)
{
	tell_map(start, bytes, VKI_PROT_READ | VKI_PROT_WRITE, VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS,
		HEAP_NAME, mapping_syscall_site(tid));
}

static void on_protect(Addr start, SizeT bytes, Bool r, Bool w, Bool x)
{
	(void)bytes, (void)r, (void)w;
	if (x)
		module_at(start);
}

void mapping_init(void)
{
	VG_(track_new_mem_startup)(on_startup);
	VG_(track_new_mem_mmap)(on_map);
	VG_(track_die_mem_munmap)(on_unmap);
	VG_(track_copy_mem_remap)(on_remap);
	VG_(track_new_mem_brk)(on_grow_heap);
	VG_(track_die_mem_brk)(tell_unmap);
	VG_(track_change_mem_mprotect)(on_protect);
}
