// SPDX-License-Identifier: BSD-2-Clause
/* What the program marks (loci/mark.h). Markers stand among the thread's words; what a mark changes
 * is changed with signals blocked, so marks may be made in handlers. */
#include "collect/runtime/watching.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#define LOCI_MARK_OFF /* the requests only */
#include <loci/mark.h>

#include <errno.h>

static void *memory(size_t bytes)
{
	return loci_sys_map(bytes, -1);
}

static void mark(
	void *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw, const uint64_t *raw)
{
	rt_mark(thread, kind, payload, n_raw, raw);
}

static const struct loci_marking_ops ops = { .memory = memory,
	.lock = rt_lock,
	.unlock = rt_unlock,
	.string = rt_process_string,
	.sequence = rt_next_sequence,
	.mark = mark,
	.block = rt_define_told };

static struct loci_marking marking = { .ops = &ops };

void rt_marks_leave(struct rt_thread *thread)
{
	loci_marking_leave(&marking, &thread->marks, thread);
}

void rt_marks_again(struct rt_thread *thread)
{
	loci_marking_again(&marking, &thread->marks, thread);
}

static void refer(struct rt_thread *thread, uint64_t site, uint64_t address, uint64_t bytes,
	unsigned long kind)
{
	uint64_t descriptor = loci_marking_descriptor(bytes, kind == LOCI_STORE), id, mask;

	if (!bytes)
		return;
	if (__builtin_expect(bytes > LOCI_MARKING_REFERENCE_BYTES, 0)) {
		mask = rt_block();
		if (rt_mode() == RT_TRACE)
			loci_marking_too_long(&marking, thread);
		rt_unblock(mask);
		return;
	}
	__atomic_fetch_add(&thread->offset, 1, __ATOMIC_RELAXED); /* it counts, recorded or not */
	if (rt.watches)
		rt_watch_told(thread,
			&(struct rt_burst_ref){ .address = address,
				.bytes = bytes,
				.site = site,
				.descriptor = descriptor });
	if (rt_mode() != RT_TRACE || !thread->recording)
		return;
	id = loci_marking_block_known(&marking, site, descriptor);
	if (!id) {
		mask = rt_block();
		id = loci_marking_block(&marking, site, descriptor);
		rt_unblock(mask);
	}
	if (id)
		rt_refer(thread, id, address, (uint32_t)descriptor ? 0 : bytes);
}

static void tell(struct rt_thread *thread, unsigned long request, unsigned long a, unsigned long b,
	unsigned long c, unsigned long d, unsigned long e)
{
	switch (request) {
	case LOCI_MARK_REGION_BEGIN_:
		loci_marking_region_begin(&marking, &thread->marks, thread, (const char *)a, b);
		break;
	case LOCI_MARK_REGION_END_:
		loci_marking_region_end(&marking, &thread->marks, thread, (const char *)a, b);
		break;
	case LOCI_MARK_PHASE_:
		loci_marking_phase(&marking, thread, (const char *)a, b);
		break;
	case LOCI_MARK_OBJECT_:
		loci_marking_object(&marking, thread, (const char *)a, b, c, d, e);
		break;
	case LOCI_MARK_OBJECT_PART_:
		loci_marking_object_part(&marking, thread, (const char *)a, b, c, d, e);
		break;
	case LOCI_MARK_OBJECT_END_:
		loci_marking_object_end(&marking, thread, a);
		break;
	case LOCI_MARK_DISABLE_:
		loci_marking_disable(&marking, thread);
		break;
	case LOCI_MARK_ENABLE_:
		loci_marking_enable(&marking, thread);
		break;
	default: /* of a later header */
		break;
	}
}

RT_PUBLIC void __loci_tell(unsigned long request, unsigned long a, unsigned long b, unsigned long c,
	unsigned long d, unsigned long e);
RT_PUBLIC void __loci_tell(unsigned long request, unsigned long a, unsigned long b, unsigned long c,
	unsigned long d, unsigned long e)
{
	struct rt_thread *thread;
	int error;

	if (__builtin_expect(rt_mode() == RT_OFF, 1))
		return;
	error = errno;
	thread = rt_thread();
	if (thread && request == LOCI_MARK_ACCESS_) {
		refer(thread, d ? d : (uintptr_t)__builtin_return_address(0) - 1, a, b, c);
	} else if (thread && rt_mode() == RT_TRACE) {
		uint64_t mask = rt_block();

		tell(thread, request, a, b, c, d, e);
		rt_unblock(mask);
	}
	errno = error;
}
