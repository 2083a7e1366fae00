// SPDX-License-Identifier: BSD-2-Clause
/* What the kernel takes for a fault, on a page that nothing else touches. */
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"
#include "stream/ring_x86_64.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define ROUNDS 4

static struct {
	uintptr_t page; /* 0: there is none */
	uint64_t begun_ns, over_ns;
} probe;

bool rt_page_probe_met(uintptr_t address)
{
	uintptr_t page = __atomic_load_n(&probe.page, __ATOMIC_ACQUIRE);

	if (!page || address != page)
		return false;
	probe.begun_ns = rt_now_ns();
	loci_syscall3(SYS_mprotect, (long)page, RT_PAGE_BYTES, PROT_READ | PROT_WRITE);
	probe.over_ns = rt_now_ns();
	return true;
}

static void keep_less(uint64_t *least, uint64_t ns)
{
	if (ns < *least)
		*least = ns;
}

/* The first fault waits for pages of the kernel that later ones find there. */
void rt_pages_measure(uint64_t *before_ns, uint64_t *after_ns)
{
	char *page = __atomic_load_n(&rt_pages.is_on, __ATOMIC_RELAXED)
		? loci_sys_map(RT_PAGE_BYTES, -1)
		: NULL;
	uint64_t before = UINT64_MAX, after = UINT64_MAX;

	if (!page)
		return;
	__atomic_store_n(&probe.page, (uintptr_t)page, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t from, to;

		loci_syscall3(SYS_mprotect, (long)page, RT_PAGE_BYTES, PROT_NONE);
		probe.over_ns = 0;
		from = rt_now_ns();
		*(volatile char *)page = 1;
		to = rt_now_ns();
		if (!i || !probe.over_ns)
			continue;
		keep_less(&before, probe.begun_ns - from);
		keep_less(&after, to - probe.over_ns);
	}
	__atomic_store_n(&probe.page, 0, __ATOMIC_RELEASE);
	loci_syscall3(SYS_munmap, (long)page, RT_PAGE_BYTES, 0);
	if (before == UINT64_MAX)
		return;
	*before_ns = before;
	*after_ns = after;
}
