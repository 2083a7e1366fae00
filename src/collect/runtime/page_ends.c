// SPDX-License-Identifier: BSD-2-Clause
/* Watches of pages that end without a reuse: because the page cannot be watched any more, or by
 * lot, where it costs many faults. Those who listen are told later, without the lock: the runtime
 * itself may have been interrupted. */
#include "collect/runtime/gap.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"

static void end_watch(struct rt_page_watch *watch, uint64_t *told_by)
{
	uintptr_t block = watch->block;

	rt_page_unwatch(watch);
	watch->block = block; /* to be told */
	*told_by |= 1ull << (watch - rt_pages.watch);
}

void rt_page_watch_lot(struct rt_page_watch *watch)
{
	watch->next_lot *= RT_WATCH_LOTS;
	if (loci_gap_random(&rt_pages.random) % RT_WATCH_LOTS)
		end_watch(watch, &rt_pages.lost);
	else
		rt_pages.kept |= 1ull << (watch - rt_pages.watch);
}

void rt_pages_give_up(rt_page_set pages)
{
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++)
		if (rt_pages.watch[i].page && (pages & rt_page_bit(rt_pages.watch[i].page)))
			end_watch(&rt_pages.watch[i], &rt_pages.given_up);
}

static bool has(uint64_t set, unsigned watch)
{
	return set >> watch & 1;
}

void rt_pages_tell_ends(void)
{
	uintptr_t block[LOCI_RESERVOIR] = { 0 };
	uint64_t given_up, lost, kept;

	rt_pages_lock();
	given_up = rt_pages.given_up;
	lost = rt_pages.lost;
	kept = rt_pages.kept;
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		block[i] = rt_pages.watch[i].block;
		if (has(given_up | lost, i))
			rt_pages.watch[i].block = 0;
	}
	rt_pages.given_up = rt_pages.lost = rt_pages.kept = 0;
	rt_pages_unlock();
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		if (!block[i])
			continue;
		if (has(kept, i))
			rt_watch_lot(i, block[i], true);
		if (has(lost, i))
			rt_watch_lot(i, block[i], false);
		else if (has(given_up, i))
			rt_watch_given_up(i, block[i]);
	}
}

/* It is told later if nobody can listen now. */
void rt_pages_tell(const ucontext_t *context)
{
	bool is_due = __atomic_load_n(&rt_pages.given_up, __ATOMIC_RELAXED) ||
		__atomic_load_n(&rt_pages.lost, __ATOMIC_RELAXED) ||
		__atomic_load_n(&rt_pages.kept, __ATOMIC_RELAXED);

	if (is_due && !rt_pages_in_runtime(context))
		rt_pages_tell_ends();
}
