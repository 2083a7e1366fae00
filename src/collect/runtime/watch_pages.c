// SPDX-License-Identifier: BSD-2-Clause
/* Blocks watched by taking away the pages they are in (Vestberg 2011), within the process: a fault
 * in the block is its reuse, one beside it costs a single step.
 *
 * What is missed: what other threads touch while a page is open for one of them; what the kernel
 * touches for a system call, which is no reference in other ways of recording either; and a
 * reference that begins beside the block and reaches into it (page_faults.c knows a few). What is
 * refused: pages with code, stacks, and memory that the kernel uses on its own. Once asynchronous
 * calls (io_uring) or a filter of system calls are set up, a thread is on a stack that the program
 * made, or it waits for one of the signals that are needed here, nothing is watched any more. In a
 * static program, where the runtime's calls of the kernel are not in a range of their own, nothing
 * is. */
#include "collect/runtime/own_signals.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"
#include "stream/ring_x86_64.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define SYS_MPROTECT     10
#define SYS_MADVISE      28
#define SYS_RT_SIGACTION 13
#define SYS_PRCTL        157
#define SIGSET_BYTES     8

#define PR_SET_SYSCALL_USER_DISPATCH_NR 59
#define LET_PASS                        0
#define LEAD                            1

struct rt_pages rt_pages;
__thread struct rt_page_thread rt_page_self __attribute__((tls_model("initial-exec")));

/* As the runtime's lock. */
void rt_pages_lock(void)
{
	uint32_t was = 0;

	if (__atomic_compare_exchange_n(
		    &rt_pages.lock, &was, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&rt_pages.lock, 2, __ATOMIC_ACQUIRE))
		loci_futex_wait(&rt_pages.lock, 2, 1000000000u);
}

void rt_pages_unlock(void)
{
	if (__atomic_exchange_n(&rt_pages.lock, 0, __ATOMIC_RELEASE) == 2)
		loci_futex_wake(&rt_pages.lock);
}

struct rt_page *rt_page_at(uintptr_t address)
{
	uintptr_t start = address & -(uintptr_t)RT_PAGE_BYTES;

	for (struct rt_page *page = rt_pages.page; page < rt_pages.page + RT_PAGES; page++)
		if (start && page->address == start)
			return page;
	return NULL;
}

rt_page_set rt_pages_in(uintptr_t start, size_t bytes)
{
	uintptr_t end = bytes > ~start ? ~(uintptr_t)0 : start + bytes;
	rt_page_set set = 0;

	for (struct rt_page *page = rt_pages.page; page < rt_pages.page + RT_PAGES; page++)
		if (page->watches && page->address < end && page->address + RT_PAGE_BYTES > start)
			set |= rt_page_bit(page);
	return set;
}

rt_page_set rt_pages_all(void)
{
	return rt_pages_in(0, ~(size_t)0);
}

static bool protect(const struct rt_page *page, int protection)
{
	return loci_syscall3(SYS_MPROTECT, (long)page->address, RT_PAGE_BYTES, protection) == 0;
}

/* The kernel would make a page that opens one with its neighbours, and part them again when it
 * closes: a quarter of what a fault beside the block costs. An advice that means nothing to memory
 * that is not a file's keeps them apart. */
static void keep_apart(struct rt_page *page, bool apart)
{
	if (page->is_apart == apart)
		return;
	page->is_apart = apart;
	loci_syscall3(
		SYS_MADVISE, (long)page->address, RT_PAGE_BYTES, apart ? MADV_RANDOM : MADV_NORMAL);
}

/* What it is to be like, from what is known of it. */
static void settle(struct rt_page *page)
{
	bool closes = page->watches && !page->openers, changes = closes != page->is_closed;

	if (!page->address)
		return;
	page->is_closed = closes;
	if (changes && !closes)
		protect(page, page->own);
	else if (changes &&
		!protect(page, rt_pages.writes_only ? page->own & ~PROT_WRITE : PROT_NONE))
		rt_pages_give_up(rt_page_bit(page)); /* the kernel has no room for it */
	if (page->watches || page->openers)
		return;
	keep_apart(page, false);
	page->address = 0;
}

/* Each is `page`. */
#define FOR_PAGES(set)                                                                      \
	for (struct rt_page *page = rt_pages.page; page < rt_pages.page + RT_PAGES; page++) \
		if ((set)&rt_page_bit(page))

void rt_page_open_often(struct rt_page *page)
{
	keep_apart(page, true);
}

/* Mappings are as the program made them. They are open. */
void rt_pages_join(rt_page_set pages)
{
	FOR_PAGES(pages)
	keep_apart(page, false);
}

void rt_pages_open(rt_page_set pages)
{
	FOR_PAGES(pages)
	{
		page->openers++;
		settle(page);
	}
}

void rt_pages_close(rt_page_set pages)
{
	FOR_PAGES(pages)
	{
		page->openers--;
		settle(page);
	}
}

void rt_page_unwatch(struct rt_page_watch *watch)
{
	struct rt_page *page = watch->page;

	watch->block = 0;
	watch->page = NULL;
	if (!page)
		return;
	page->watches--;
	settle(page);
}

void rt_pages_gone(rt_page_set pages)
{
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++)
		if (rt_pages.watch[i].page && (pages & rt_page_bit(rt_pages.watch[i].page)))
			rt_pages.watch[i].page = NULL;
	FOR_PAGES(pages)
	{
		page->address = 0;
		page->watches = 0;
		page->is_closed = page->is_apart = false;
	}
}

static bool can_be_watched(int own)
{
	int needed = rt_pages.writes_only ? PROT_READ | PROT_WRITE : PROT_READ;

	return !(own & PROT_EXEC) && (own & needed) == needed;
}

/* It is open. */
void rt_page_changed(struct rt_page *page, int own)
{
	page->own = own;
	if (!can_be_watched(own))
		rt_pages_give_up(rt_page_bit(page));
}

static void let_pass(void)
{
	__atomic_store_n(&rt_pages.selector, LET_PASS, __ATOMIC_RELAXED);
	__atomic_store_n(&rt_pages.is_on, 0, __ATOMIC_RELAXED);
}

void rt_pages_stop(enum loci_control_stop why)
{
	if (rt_mappings_ran_out() && (why == LOCI_STOP_STACK || why == LOCI_STOP_THREADS))
		why = LOCI_STOP_FILES;
	if (rt_pages.is_on)
		rt_watch_stop(why);
	rt_pages_give_up(rt_pages_all());
	let_pass();
}

void rt_pages_look_at_stack(const ucontext_t *context)
{
	if (rt_pages.is_on && !rt_is_known_stack((uintptr_t)context->uc_mcontext.gregs[REG_RSP]))
		rt_pages_stop(LOCI_STOP_STACK);
}

/* Permissions were copied. */
void rt_pages_forget(void)
{
	for (struct rt_page *page = rt_pages.page; page < rt_pages.page + RT_PAGES; page++) {
		if (page->is_closed)
			protect(page, page->own);
		keep_apart(page, false);
	}
	memset(rt_pages.page, 0, sizeof(rt_pages.page));
	memset(rt_pages.watch, 0, sizeof(rt_pages.watch));
	rt_page_self.is_led = rt_page_self.is_vfork = false;
	for (unsigned i = 0; i < rt_page_self.n_waits; i++)
		rt_page_self.wait[i].pages = 0; /* they still end with a trap */
	rt_pages.given_up = rt_pages.lost = rt_pages.kept = 0;
	rt_pages.n_vforks = 0;
	rt_pages.n_waits = rt_page_self.n_waits;
	rt_mappings_forget();
	rt_refused_clear();
	rt_calls_clear();
	let_pass();
	rt_pages.lock = 0;
}

bool rt_pages_is_own_code(uintptr_t address)
{
	return address >= rt_pages.text && address < rt_pages.text_end;
}

bool rt_pages_in_runtime(const ucontext_t *context)
{
	const struct rt_page_thread *self = &rt_page_self;
	const struct rt_wait *wait = self->n_waits ? &self->wait[self->n_waits - 1] : NULL;
	uint64_t mask;

	memcpy(&mask, &context->uc_sigmask, SIGSET_BYTES);
	if (wait && wait->is_step)
		mask = wait->mask;
	return rt_is_closed(mask) ||
		rt_pages_is_own_code((uintptr_t)context->uc_mcontext.gregs[REG_RIP]);
}

/* For a program that waits for one of them: before its call does, the kernel must keep it. And for
 * one that it becomes or starts, which is to find them as this one has them. */
void rt_pages_leave_signals(enum loci_control_stop why)
{
	uint64_t mask;

	if (rt_blockable(RT_PAGES_SIGNALS) == RT_PAGES_SIGNALS)
		return;
	mask = rt_block();
	rt_pages_lock();
	rt_pages_stop(why);
	rt_pages_unlock();
	rt_pages_tell_ends();
	rt_keep_unblocked(0);
	rt_unblock(mask);
}

/* Where the runtime lies, by the headers of its file: all of it, and the code. */
static void find_image(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)__ehdr_start;
	const Elf64_Phdr *part = (const Elf64_Phdr *)(__ehdr_start + header->e_phoff);

	rt_pages.image = (uintptr_t)__ehdr_start;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uintptr_t start = rt_pages.image + part[i].p_vaddr, end = start + part[i].p_memsz;

		if (part[i].p_type != PT_LOAD)
			continue;
		if (end > rt_pages.image_end)
			rt_pages.image_end = end;
		if (part[i].p_flags & PF_X) {
			rt_pages.text = start;
			rt_pages.text_end = end;
		}
	}
}

bool rt_pages_lead(void)
{
	if (rt_page_self.is_led)
		return true;
	if (!rt_calls_take())
		return false;
	rt_page_self.is_led =
		loci_syscall6(SYS_PRCTL, PR_SET_SYSCALL_USER_DISPATCH_NR, 1, (long)rt_pages.text,
			(long)(rt_pages.text_end - rt_pages.text), (long)&rt_pages.selector,
			0) == 0;
	return rt_page_self.is_led;
}

/* A handler of ours returns by a call that is not led itself, and may make calls that are. */
void rt_pages_adapt(struct rt_pages_action *action)
{
	extern const char rt_pages_restorer[] __attribute__((visibility("hidden")));

	if (!rt_pages_is_own_code(action->handler))
		return;
	action->flags |= SA_NODEFER;
	action->restorer = (uintptr_t)rt_pages_restorer;
	action->mask &= ~RT_PAGES_SIGNALS;
}

static bool take_signal(int signal, rt_own_handler *handler)
{
	struct rt_pages_action action;

	if (!rt_own_signal_take(signal, handler) ||
		loci_syscall6(SYS_RT_SIGACTION, signal, 0, (long)&action, SIGSET_BYTES, 0, 0) < 0)
		return false;
	rt_pages_adapt(&action);
	return loci_syscall6(SYS_RT_SIGACTION, signal, (long)&action, 0, SIGSET_BYTES, 0, 0) == 0;
}

static int begin_process(void)
{
#ifdef LOCI_RT_STATIC
	return -EOPNOTSUPP;
#endif
	rt_pages_forget();
	rt_pages.writes_only = rt.control->watching.writes_only != 0;
	rt_pages.block_shift = rt.control->watching.block_shift;
	if (1u << rt_pages.block_shift > RT_PAGE_BYTES)
		return -EINVAL;
	rt_pages.random = rt.control->seed ^ rt.salt ^ 0xd1b54a32d192ed03u;
	find_image();
	if (!take_signal(SIGSEGV, rt_page_fault) || !take_signal(SIGTRAP, rt_page_trap) ||
		!take_signal(SIGSYS, rt_led_call))
		return -EOPNOTSUPP;
	rt_keep_unblocked(RT_PAGES_SIGNALS);
	if (!rt_refuse_thread())
		return -ENOENT;
	if (!rt_pages_lead())
		return -ENOSYS;
	__atomic_store_n(&rt_pages.selector, LEAD, __ATOMIC_RELAXED);
	__atomic_store_n(&rt_pages.is_on, 1, __ATOMIC_RELAXED);
	return 0;
}

static unsigned begin(unsigned n, int *failed)
{
	int r = begin_process();

	if (r < 0)
		return *failed = r, 0;
	return n < LOCI_RESERVOIR ? n : LOCI_RESERVOIR;
}

static struct rt_page *new_page(uintptr_t address)
{
	for (unsigned i = 0; i < RT_PAGES; i++) {
		struct rt_page *page = &rt_pages.page[i];
		struct rt_mapping mapping;

		if (page->watches || page->openers)
			continue;
		if (!rt_mapping_of(address, &mapping) || mapping.is_special ||
			!can_be_watched(mapping.protection))
			return NULL;
		*page = (struct rt_page){ .address = address & -(uintptr_t)RT_PAGE_BYTES,
			.own = mapping.protection };
		return page;
	}
	return NULL;
}

static bool is_own(uintptr_t page)
{
	return page + RT_PAGE_BYTES > rt_pages.image && page < rt_pages.image_end;
}

static bool arm_locked(struct rt_page_watch *watch, uintptr_t address)
{
	uintptr_t start = address & -(uintptr_t)RT_PAGE_BYTES;
	struct rt_page *page = rt_page_at(address);

	if (!rt_pages.is_on || rt_pages.n_vforks || is_own(start) ||
		!rt_is_known_stack((uintptr_t)__builtin_frame_address(0)) ||
		rt_is_refused(start, RT_PAGE_BYTES) || rt_is_reached(start))
		return false;
	if (!page)
		page = new_page(address);
	if (!page || !can_be_watched(page->own))
		return false;
	*watch = (struct rt_page_watch){
		.block = address, .page = page, .next_lot = RT_SURE_FAULTS
	};
	page->watches++;
	settle(page);
	return page->is_closed || page->openers;
}

static void disarm_locked(unsigned watch)
{
	rt_page_unwatch(&rt_pages.watch[watch]);
	rt_pages.given_up &= ~(1ull << watch);
	rt_pages.lost &= ~(1ull << watch);
	rt_pages.kept &= ~(1ull << watch);
}

static bool arm(unsigned watch, uintptr_t address)
{
	bool is_armed;

	rt_pages_lock();
	disarm_locked(watch);
	is_armed = arm_locked(
		&rt_pages.watch[watch], address & -((uintptr_t)1 << rt_pages.block_shift));
	if (!is_armed)
		disarm_locked(watch);
	rt_pages_unlock();
	return is_armed;
}

static void disarm(unsigned watch)
{
	rt_pages_lock();
	disarm_locked(watch);
	rt_pages_unlock();
}

void rt_pages_refuse(uintptr_t start, uintptr_t end)
{
	uint64_t mask = rt_block();

	rt_pages_lock();
	if (rt_pages.is_on && !rt_refused_add(start, end))
		rt_pages_stop(LOCI_STOP_THREADS);
	rt_pages_unlock();
	rt_unblock(mask);
}

static void thread_begin(void)
{
	rt_pages_lock();
	if (rt_pages.is_on && !rt_page_self.is_led && (!rt_refuse_thread() || !rt_pages_lead()))
		rt_pages_stop(LOCI_STOP_THREADS);
	rt_pages_unlock();
}

/* Threads may be in the midst of a step, so the handlers stay. */
static void end(void)
{
	rt_pages_lock();
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++)
		disarm_locked(i);
	let_pass();
	rt_pages_unlock();
}

const struct rt_watch_ops rt_watch_pages = {
	.begin = begin, .arm = arm, .disarm = disarm, .thread_begin = thread_begin, .end = end
};
