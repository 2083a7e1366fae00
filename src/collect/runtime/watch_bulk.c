// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/watch_bulk.h"
#include "collect/runtime/burst.h"
#include "collect/runtime/watch_lottery.h"
#include "collect/runtime/watching.h"
#include "collect/runtime/wrap.h"

#include <string.h>

#define LINE_SHIFT 6
#define CALL_BYTES (1u << 14) /* of the stack, that the C library may take */

static unsigned block_shift(void)
{
	return rt.control->watching.block_shift;
}

static unsigned part_shift(void)
{
	return block_shift() > LINE_SHIFT ? block_shift() : LINE_SHIFT;
}

static uint64_t pieces(const struct rt_extent *range, unsigned shift)
{
	return range->bytes
		? ((range->address + range->bytes - 1) >> shift) - (range->address >> shift) + 1
		: 0;
}

static void draw(struct rt_thread *thread)
{
	thread->parts.mean = thread->next_mean;
	thread->parts.ahead += loci_gap_draw(&thread->random, thread->parts.mean);
}

void rt_bulk_begin(struct rt_thread *thread)
{
	thread->parts = (struct rt_parts){ 0 };
}

static uint64_t descriptor_of(const struct rt_extent *range)
{
	return loci_ref_word(0, (enum loci_op)range->op, LOCI_REF_BULK | LOCI_REF_PARTS);
}

static bool is_in(const struct rt_extent *range, uintptr_t address)
{
	uint64_t first = range->address >> block_shift();

	return (address >> block_shift()) - first < pieces(range, block_shift());
}

bool rt_bulk_is_within(const struct rt_thread *thread, uintptr_t address, uintptr_t stack,
	struct rt_bulk_touch *ret)
{
	const struct rt_parts *parts = &thread->parts;
	const struct rt_extent *range = &parts->range[!is_in(&parts->range[0], address)];

	if (stack >= parts->frame || parts->frame - stack > CALL_BYTES || !is_in(range, address))
		return false;
	ret->touches = (address >> block_shift()) - (range->address >> block_shift()) + 1;
	if (range == &parts->range[1])
		ret->touches += pieces(&parts->range[0], block_shift());
	ret->descriptor = descriptor_of(range);
	return true;
}

/* Any block of the part, of which some may lie beside the range. */
static void take(struct rt_thread *thread, const struct rt_extent *range, uint64_t part)
{
	static struct rt_burst_sample sample; /* lock held */
	static struct rt_call_stack calls;
	unsigned within = part_shift() - block_shift();
	uint64_t first = range->address >> block_shift(), n = pieces(range, block_shift());
	uint64_t block = ((range->address >> part_shift()) + part) << within;

	block += loci_gap_random(&thread->random) & ((1u << within) - 1);
	if (block - first >= n)
		return;
	rt_call_stack_walk(&calls, thread->parts.pointer, thread->parts.back);
	sample = (struct rt_burst_sample){ .address = block << block_shift(),
		.block = block,
		.count = rt_thread_count(thread),
		.mean = thread->parts.mean << within,
		.site = thread->parts.back,
		.descriptor = descriptor_of(range),
		.frame = calls.n ? calls.call[calls.n - 1].frame : 0,
		.n_blocks = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
		.is_part = true };
	if (sample.address < range->address)
		sample.address = range->address;
	sample.touches = n - 1 - (block - first);
	if (range == &thread->parts.range[0])
		sample.touches += pieces(&thread->parts.range[1], block_shift());
	sample.in_parts = sample.touches;
	sample.n_back = rt_call_stack_list(&calls, sample.back);
	rt_lottery_enter(thread, &sample);
}

/* Lock held. */
static void take_due(struct rt_thread *thread, uint64_t n)
{
	const struct rt_parts *parts = &thread->parts;
	uint64_t of_first = pieces(&parts->range[0], part_shift());

	while (parts->ahead <= n) {
		uint64_t part = parts->ahead - 1;

		if (part < of_first)
			take(thread, &parts->range[0], part);
		else
			take(thread, &parts->range[1], part - of_first);
		draw(thread);
	}
}

static uint64_t in_both(const struct rt_parts *parts, unsigned shift)
{
	return pieces(&parts->range[0], shift) + pieces(&parts->range[1], shift);
}

/* frame: of the function that was called. Handlers only count. NULL: it is not sampled. */
static struct rt_thread *begin(
	struct rt_extent first, struct rt_extent next, int64_t budget, const uintptr_t *frame)
{
	struct rt_thread *thread = rt_self;

	if (!thread || !rt.watches || !thread->burst || thread->depth || rt_mode() != RT_TRACE)
		return NULL;
	__atomic_store_n(&__loci_thread.budget, budget, __ATOMIC_RELAXED);
	thread->parts.range[0] = first;
	thread->parts.range[1] = next;
	thread->parts.pointer = frame[0];
	thread->parts.back = frame[1];
	__atomic_store_n(&thread->parts.frame, (uintptr_t)frame, __ATOMIC_RELEASE);
	return thread;
}

static void end(struct rt_thread *thread)
{
	struct rt_parts *parts = &thread->parts;
	uint64_t n = in_both(parts, part_shift()), begun, mask;

	__atomic_store_n(&parts->frame, 0, __ATOMIC_RELEASE);
	__atomic_store_n(
		&parts->touched, parts->touched + in_both(parts, block_shift()), __ATOMIC_RELAXED);
	if (!parts->ahead) /* its first */
		draw(thread);
	if (parts->ahead > n) {
		parts->ahead -= n;
		return;
	}
	mask = rt_block();
	begun = rt_own_ns();
	rt_lock();
	if (rt_mode() != RT_OFF && rt_is_this_process())
		take_due(thread, n);
	else
		parts->ahead += n;
	rt_unlock();
	parts->ahead -= n;
	rt_pace_parts(thread, rt_own_ns() - begun);
	rt_unblock(mask);
}

#define READ(from, n)                              \
	(struct rt_extent)                         \
	{                                          \
		(uintptr_t)(from), n, LOCI_OP_LOAD \
	}
#define WRITE(to, n)                              \
	(struct rt_extent)                        \
	{                                         \
		(uintptr_t)(to), n, LOCI_OP_STORE \
	}
#define NOTHING            \
	(struct rt_extent) \
	{                  \
		0          \
	}

RT_PUBLIC void *__loci_memcpy(void *to, const void *from, size_t n, int64_t budget)
{
	struct rt_thread *thread =
		begin(READ(from, n), WRITE(to, n), budget, __builtin_frame_address(0));

	memcpy(to, from, n);
	if (thread)
		end(thread);
	return to;
}

RT_PUBLIC void *__loci_memmove(void *to, const void *from, size_t n, int64_t budget)
{
	struct rt_thread *thread =
		begin(READ(from, n), WRITE(to, n), budget, __builtin_frame_address(0));

	memmove(to, from, n);
	if (thread)
		end(thread);
	return to;
}

RT_PUBLIC void *__loci_memset(void *to, int value, size_t n, int64_t budget)
{
	struct rt_thread *thread = begin(WRITE(to, n), NOTHING, budget, __builtin_frame_address(0));

	memset(to, value, n);
	if (thread)
		end(thread);
	return to;
}
