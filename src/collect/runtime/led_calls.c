// SPDX-License-Identifier: BSD-2-Clause
/* System calls while pages are watched, which would fail where the kernel finds one closed.
 * Wrapping functions of the C library would not do, since it calls the kernel itself: every call
 * that is not the runtime's own arrives here as a signal (Syscall User Dispatch, Linux 5.11) before
 * it is made. Pages that it may touch are opened, and it is made as the program's own, with its
 * registers, on its stack, interrupted and restarted as ever: when the handler returns the thread
 * is at a slot with such an instruction (call_slots_x86_64.S). Where pages were opened the
 * processor traps behind it, and they are closed again.
 *
 * Made here are calls that change mappings, which are followed, that block signals, which the three
 * of ours are left out of, and fork, whose child has its own pages open before it runs.
 *
 * A thread that waits in a call is at an address that the C library does not know: with glibc 2.41
 * or newer it cannot be cancelled there before the call ends. */
#include "collect/runtime/own_signals.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define FROM_DISPATCH 2          /* SYS_USER_DISPATCH */
#define ARCH_X86_64   0xc000003e /* AUDIT_ARCH_X86_64 */
#define SIGSET_BYTES  8
#define SLOT_BYTES    32
#define CALL_BYTES    2 /* of a syscall instruction */
#define THREAD_STACK  (128u << 10)

#define SYS_CLONE3        435
#define SYS_EPOLL_PWAIT2  441
#define SYS_MSEAL         462
#define MADV_POPULATE     22 /* and the one behind it */
#define PR_SET_SECCOMP_NR 22
#define PR_DISPATCH_NR    59
#define SECCOMP_ASKS      2 /* and more */

#define BIT  RT_PAGES_SIGNAL
#define OURS RT_PAGES_SIGNALS

extern const char rt_call_slots[] __attribute__((visibility("hidden")));
extern uintptr_t rt_call_returns[] __attribute__((visibility("hidden")));
uintptr_t rt_call_returns[RT_CALL_SLOTS];
static bool makes_threads[RT_CALL_SLOTS];

struct call {
	ucontext_t *context;
	greg_t *reg;
	long number;
	long a[6];
};

/* Of the program's memory, wherever that is. False: it cannot be. */
static bool copy(long number, void *here, uintptr_t there, size_t bytes)
{
	struct iovec local = { here, bytes }, remote = { (void *)there, bytes };
	long pid = loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0);

	return loci_syscall6(number, pid, (long)&local, 1, (long)&remote, 1, 0) == (long)bytes;
}

static bool get(void *to, uintptr_t from, size_t bytes)
{
	return copy(SYS_process_vm_readv, to, from, bytes);
}

static bool put(uintptr_t to, const void *from, size_t bytes)
{
	return copy(SYS_process_vm_writev, (void *)(uintptr_t)from, to, bytes);
}

/* The slot of a place that calls; there are enough for all of the C library. -1: no more. */
static int slot_of(uintptr_t place)
{
	unsigned at = (unsigned)(place >> 1) * 2654435761u >> 16;

	for (unsigned i = 0; i < RT_CALL_SLOTS; i++) {
		unsigned slot = (at + i) % RT_CALL_SLOTS;

		if (!rt_call_returns[slot])
			rt_call_returns[slot] = place;
		if (rt_call_returns[slot] == place)
			return (int)slot;
	}
	return -1;
}

bool rt_is_slot_of_thread(uintptr_t address)
{
	uintptr_t slot = (address - (uintptr_t)rt_call_slots) / SLOT_BYTES;

	return slot < RT_CALL_SLOTS && makes_threads[slot];
}

/* As if nothing had ever been watched: the instruction again. */
static void stop_for(struct call *call, enum loci_control_stop why)
{
	rt_pages_stop(why);
	call->reg[REG_RIP] -= CALL_BYTES;
}

/* By the call. */
static const struct {
	long number;
	enum loci_control_stop why;
} stopping[] = {
	{ SYS_io_setup, LOCI_STOP_AIO },
	{ SYS_io_uring_setup, LOCI_STOP_IO_URING },
	{ SYS_userfaultfd, LOCI_STOP_USERFAULTFD },
};

static enum loci_control_stop why_stop(const struct call *call)
{
	for (unsigned i = 0; i < sizeof(stopping) / sizeof(*stopping); i++)
		if (stopping[i].number == call->number)
			return stopping[i].why;
	return LOCI_STOP_CALL;
}

static void go(struct call *call)
{
	int slot = slot_of((uintptr_t)call->reg[REG_RIP]);
	uintptr_t at = (uintptr_t)rt_call_slots + (unsigned)slot * SLOT_BYTES;

	if (slot < 0)
		stop_for(call, LOCI_STOP_PLACES);
	else
		call->reg[REG_RIP] = (greg_t)at;
}

/* With pages open, and perhaps a register that is to have its value again. */
static void go_with(
	struct call *call, const struct rt_call_reach *reach, unsigned changed, long value)
{
	struct rt_wait wait = {
		.pages = rt_reached_pages(reach), .changed = (uint8_t)changed, .value = value
	};

	if ((wait.pages || changed) && !rt_wait_begin(call->context, &wait)) {
		if (changed)
			call->reg[changed - 1] = value;
		rt_pages_give_up(wait.pages);
	}
	rt_calls_begin(reach, call->context);
	go(call);
}

static void go_through(struct call *call)
{
	struct rt_call_reach reach;

	rt_call_reach(call->number, call->a, &reach);
	go_with(call, &reach, 0, 0);
}

static long make(const struct call *call)
{
	return loci_syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3],
		call->a[4], call->a[5]);
}

/* What they make works on any memory, later. Those that fail make nothing. */
static void stop_if_made(struct call *call)
{
	rt_page_set pages = rt_pages_all();

	rt_pages_open(pages);
	call->reg[REG_RAX] = make(call);
	if (call->reg[REG_RAX] >= 0)
		rt_pages_stop(why_stop(call));
	rt_pages_close(pages);
}

static void go_touching_nothing(struct call *call)
{
	go_with(call, &(struct rt_call_reach){ 0 }, 0, 0);
}

static void give_up_and_go(struct call *call)
{
	rt_pages_give_up(rt_pages_all());
	rt_mappings_forget();
	go_through(call);
}

/* Pages in a range have another permission, or are gone. They are open meanwhile, so that the
 * kernel finds the mappings as the program left them. */
static void change(struct call *call)
{
	uintptr_t start = (uintptr_t)call->a[0], length = (uintptr_t)call->a[1];
	rt_page_set pages = rt_pages_in(start, length);

	rt_pages_open(pages);
	call->reg[REG_RAX] = make(call);
	if (call->number == SYS_mprotect && call->reg[REG_RAX] < 0)
		rt_pages_give_up(pages); /* some of it may have been done */
	for (unsigned i = 0; call->number == SYS_mprotect && i < RT_PAGES; i++)
		if (pages >> i & 1)
			rt_page_changed(&rt_pages.page[i], (int)call->a[2]);
	if (call->number == SYS_munmap && call->reg[REG_RAX] == 0)
		rt_pages_gone(pages);
	rt_pages_close(pages);
	rt_mappings_forget();
}

static void map(struct call *call)
{
	bool is_fixed = (call->a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == MAP_FIXED;
	rt_page_set pages = is_fixed ? rt_pages_in((uintptr_t)call->a[0], (size_t)call->a[1]) : 0;

	rt_pages_open(pages);
	call->reg[REG_RAX] = make(call);
	if (call->reg[REG_RAX] == call->a[0])
		rt_pages_gone(pages);
	rt_pages_close(pages);
	rt_mappings_forget();
}

/* The old place is gone but for what stays where it is. */
static void remap(struct call *call)
{
	uintptr_t old = (uintptr_t)call->a[0], new = (uintptr_t)call->a[4];
	size_t old_bytes = (size_t)call->a[1], bytes = (size_t)call->a[2];
	rt_page_set pages = rt_pages_in(old, old_bytes), staying = 0;

	if (call->a[3] & MREMAP_FIXED)
		pages |= rt_pages_in(new, bytes);
	rt_pages_open(pages);
	rt_pages_join(pages);
	call->reg[REG_RAX] = make(call);
	if (call->reg[REG_RAX] < 0)
		staying = pages;
	else if ((uintptr_t)call->reg[REG_RAX] == old)
		staying = rt_pages_in(old, bytes);
	rt_pages_gone(pages & ~staying);
	rt_pages_close(pages);
	rt_mappings_forget();
}

static void move_break(struct call *call)
{
	uintptr_t old = (uintptr_t)loci_syscall3(SYS_brk, 0, 0, 0), new;

	new = (uintptr_t)(call->reg[REG_RAX] = make(call));
	if (new < old) {
		new = (new + RT_PAGE_BYTES - 1) & -(uintptr_t)RT_PAGE_BYTES;
		rt_pages_gone(old > new ? rt_pages_in(new, old - new) : 0);
	}
	rt_mappings_forget();
}

static void advise(struct call *call)
{
	if (call->a[2] == MADV_POPULATE || call->a[2] == MADV_POPULATE + 1)
		go_through(call);
	else
		go_touching_nothing(call);
}

/* Ours are never blocked. */
static long block(const struct call *call)
{
	uint64_t mask, set;

	memcpy(&mask, &call->context->uc_sigmask, SIGSET_BYTES);
	if (call->a[3] != SIGSET_BYTES)
		return -EINVAL;
	if (call->a[1] && !get(&set, (uintptr_t)call->a[1], SIGSET_BYTES))
		return -EFAULT;
	if (call->a[1] && (unsigned long)call->a[0] > SIG_SETMASK)
		return -EINVAL;
	if (call->a[2] && !put((uintptr_t)call->a[2], &mask, SIGSET_BYTES))
		return -EFAULT;
	if (!call->a[1])
		return 0;
	if (call->a[0] == SIG_BLOCK)
		mask |= set;
	else if (call->a[0] == SIG_UNBLOCK)
		mask &= ~set;
	else
		mask = set;
	mask &= ~(OURS | BIT(SIGKILL) | BIT(SIGSTOP));
	memcpy(&call->context->uc_sigmask, &mask, SIGSET_BYTES);
	return 0;
}

static void block_signals(struct call *call)
{
	struct rt_call_reach reach;
	rt_page_set pages;

	rt_call_reach(call->number, call->a, &reach);
	pages = rt_reached_pages(&reach);
	rt_pages_open(pages);
	call->reg[REG_RAX] = block(call);
	rt_pages_close(pages);
}

/* Handlers of ours are installed by the C library, in its way. Those that it installs for itself
 * (profil) block all signals, and return by a call that is led. What the program puts in the place
 * of ours, by an instruction of its own, ends it all. */
static void install(struct call *call)
{
	struct rt_pages_action action;
	bool is_ours = call->a[0] > 0 && call->a[0] <= 64 && (OURS & BIT(call->a[0]));
	struct rt_call_reach reach;
	rt_page_set pages;

	if (!call->a[1] || !get(&action, (uintptr_t)call->a[1], sizeof(action)) ||
		(!is_ours && !(action.mask & OURS))) {
		go_through(call);
		return;
	}
	if (is_ours && !rt_own_is_setting() && !rt_pages_is_own_code(action.handler)) {
		stop_for(call, LOCI_STOP_ACTION);
		return;
	}
	rt_call_reach(call->number, call->a, &reach);
	pages = rt_reached_pages(&reach);
	rt_pages_open(pages);
	rt_pages_adapt(&action);
	action.mask &= ~OURS;
	call->a[1] = (long)&action;
	call->reg[REG_RAX] = make(call);
	rt_pages_close(pages);
}

/* Calls with signals that are blocked while they wait: the argument, and its register. */
static const struct {
	long number;
	unsigned argument;
	int reg;
} masking[] = {
	{ SYS_rt_sigsuspend, 0, REG_RDI },
	{ SYS_pselect6, 5, REG_R9 },
	{ SYS_ppoll, 3, REG_R10 },
	{ SYS_epoll_pwait, 4, REG_R8 },
	{ SYS_EPOLL_PWAIT2, 4, REG_R8 },
};
#define N_MASKING (sizeof(masking) / sizeof(*masking))

/* What the kernel is given instead; NULL: what is there. */
static void *unmasked(const struct call *call, uintptr_t given)
{
	struct rt_page_thread *self = &rt_page_self;
	uint64_t pair[2] = { given, SIGSET_BYTES };

	if (!given || (call->number == SYS_pselect6 && !get(pair, given, sizeof(pair))) ||
		!pair[0] || pair[1] != SIGSET_BYTES ||
		!get(&self->blocked, pair[0], SIGSET_BYTES) || !(self->blocked & OURS))
		return NULL;
	self->blocked &= ~OURS;
	self->blocked_set.set = &self->blocked;
	self->blocked_set.bytes = SIGSET_BYTES;
	return call->number == SYS_pselect6 ? (void *)&self->blocked_set : (void *)&self->blocked;
}

static void wait_masking(struct call *call)
{
	struct rt_call_reach reach;
	rt_page_set pages;
	unsigned changed = 0;
	long value = 0;

	rt_call_reach(call->number, call->a, &reach);
	pages = rt_reached_pages(&reach);
	rt_pages_open(pages);
	for (unsigned i = 0; i < N_MASKING; i++) {
		greg_t *reg = &call->reg[masking[i].reg];
		void *set = NULL;

		if (masking[i].number == call->number)
			set = unmasked(call, (uintptr_t)call->a[masking[i].argument]);
		if (!set)
			continue;
		changed = (unsigned)masking[i].reg + 1;
		value = *reg;
		*reg = (greg_t)set;
	}
	go_with(call, &reach, changed, value);
	rt_pages_close(pages);
}

/* Its child is a copy of this handler, and returns from it. */
static void fork_here(struct call *call)
{
	rt_page_set pages = rt_pages_all(); /* the kernel writes who the child is */

	rt_pages_open(pages);
	call->reg[REG_RAX] = make(call);
	if (call->reg[REG_RAX] == 0)
		rt_pages_forget();
	else
		rt_pages_close(pages);
}

static void fork_sharing(struct call *call)
{
	rt_page_self.is_vfork = true;
	rt_page_self.vfork_pages = rt_pages_all();
	rt_pages_open(rt_page_self.vfork_pages);
	rt_pages.n_vforks++;
	for (unsigned i = 0; i < 2; i++) /* the child counts down too */
		rt_calls_begin(&(struct rt_call_reach){ 0 }, call->context);
	go(call);
}

/* It is back when it calls again. */
static void end_vfork(void)
{
	if (!rt_page_self.is_vfork)
		return;
	rt_page_self.is_vfork = false;
	rt_pages.n_vforks--;
	rt_pages_close(rt_page_self.vfork_pages);
}

static void make_thread(struct call *call, uintptr_t stack, size_t bytes)
{
	int slot = slot_of((uintptr_t)call->reg[REG_RIP]);
	struct rt_wait wait = { .pages = rt_pages_all() };

	rt_pages_give_up(rt_pages_in(stack, bytes));
	if (slot < 0 || !rt_wait_begin(call->context, &wait)) {
		stop_for(call, slot < 0 ? LOCI_STOP_PLACES : LOCI_STOP_CLONE);
		return;
	}
	makes_threads[slot] = true;
	rt_calls_begin(&(struct rt_call_reach){ .n_spans = 1, .span = { { 0, ~(size_t)0 } } },
		call->context);
	go(call);
}

/* Flags, the lowest address of the stack, its bytes: the latter 0 if it is the caller's. */
static void clone_as(struct call *call, uint64_t flags, uintptr_t stack, size_t bytes)
{
	if (!(flags & CLONE_VM) && !bytes)
		fork_here(call);
	else if (!(flags & CLONE_VM))
		give_up_and_go(call);
	else if (flags & CLONE_VFORK)
		fork_sharing(call);
	else if (flags & CLONE_SETTLS)
		make_thread(call, stack, bytes);
	else
		stop_for(call, LOCI_STOP_CLONE);
}

static void clone_any(struct call *call)
{
	uint64_t given[7] = { 0 };
	rt_page_set pages;
	bool is_there;

	if (call->number == SYS_fork || call->number == SYS_vfork) {
		clone_as(call, call->number == SYS_vfork ? CLONE_VM | CLONE_VFORK : 0, 0, 0);
	} else if (call->number == SYS_clone) {
		uintptr_t top = (uintptr_t)call->a[1];

		clone_as(call, (uint64_t)call->a[0], top - THREAD_STACK,
			top ? THREAD_STACK + RT_PAGE_BYTES : 0);
	} else {
		pages = rt_pages_in((uintptr_t)call->a[0], sizeof(given));
		rt_pages_open(pages);
		is_there = get(given, (uintptr_t)call->a[0], sizeof(given));
		rt_pages_close(pages);
		if (is_there)
			clone_as(call, given[0], given[5], given[6]);
		else
			go_through(call);
	}
}

static void change_stack(struct call *call)
{
	stack_t stack = { 0 };

	rt_pages_give_up(rt_pages_in((uintptr_t)call->a[0], sizeof(stack)) |
		rt_pages_in((uintptr_t)call->a[1], sizeof(stack)));
	if (call->a[0] && get(&stack, (uintptr_t)call->a[0], sizeof(stack)) &&
		!(stack.ss_flags & SS_DISABLE)) {
		uintptr_t start = (uintptr_t)stack.ss_sp;

		rt_pages_give_up(rt_pages_in(start, stack.ss_size));
		if (!rt_refused_add(start, start + stack.ss_size)) {
			stop_for(call, LOCI_STOP_THREADS);
			return;
		}
	}
	go_touching_nothing(call);
}

/* What the kernel does with locks that a thread leaves is not seen. */
static void exit_thread(struct call *call)
{
	struct {
		const void *next;
	} *head = NULL;
	size_t bytes = 0;

	loci_syscall3(SYS_get_robust_list, 0, (long)&head, (long)&bytes);
	if (head && head->next != head)
		rt_pages_give_up(rt_pages_all());
	rt_refused_drop();
	rt_calls_give_back();
	rt_page_self.is_led = false;
	go(call);
}

/* The other operations ask what there is. */
static void filter(struct call *call)
{
	if ((unsigned long)call->a[0] < SECCOMP_ASKS)
		stop_for(call, LOCI_STOP_FILTER);
	else
		go_through(call);
}

/* The kernel looks through the locks that other processes may wait for, and there is no more to
 * watch. */
static void exit_all(struct call *call)
{
	rt_pages_open(rt_pages_all());
	rt_pages.n_vforks++; /* none is closed any more */
	go(call);
}

static void control(struct call *call)
{
	if (call->a[0] == PR_SET_SECCOMP_NR)
		stop_for(call, LOCI_STOP_FILTER);
	else if (call->a[0] == PR_DISPATCH_NR)
		stop_for(call, LOCI_STOP_DISPATCH);
	else
		go_through(call);
}

static const struct {
	long number;
	void (*lead)(struct call *call);
} leading[] = {
	{ SYS_mprotect, change },
	{ SYS_munmap, change },
	{ SYS_mmap, map },
	{ SYS_mremap, remap },
	{ SYS_brk, move_break },
	{ SYS_madvise, advise },
	{ SYS_rt_sigreturn, go }, /* it does not come back */
	{ SYS_rt_sigaction, install },
	{ SYS_rt_sigprocmask, block_signals },
	{ SYS_rt_sigsuspend, wait_masking },
	{ SYS_pselect6, wait_masking },
	{ SYS_ppoll, wait_masking },
	{ SYS_epoll_pwait, wait_masking },
	{ SYS_EPOLL_PWAIT2, wait_masking },
	{ SYS_fork, clone_any },
	{ SYS_vfork, clone_any },
	{ SYS_clone, clone_any },
	{ SYS_CLONE3, clone_any },
	{ SYS_sigaltstack, change_stack },
	{ SYS_exit, exit_thread },
	{ SYS_exit_group, exit_all },
	{ SYS_prctl, control },
	{ SYS_shmat, give_up_and_go },
	{ SYS_shmdt, give_up_and_go },
	{ SYS_remap_file_pages, give_up_and_go },
	{ SYS_pkey_mprotect, give_up_and_go },
	{ SYS_MSEAL, give_up_and_go },
	{ SYS_io_setup, stop_if_made },
	{ SYS_io_uring_setup, stop_if_made },
	{ SYS_userfaultfd, stop_if_made },
	{ SYS_seccomp, filter },
};

static void lead(struct call *call)
{
	for (unsigned i = 0; i < sizeof(leading) / sizeof(*leading); i++)
		if (leading[i].number == call->number) {
			leading[i].lead(call);
			return;
		}
	go_through(call);
}

static struct call call_of(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;

	return (struct call){ context, reg, reg[REG_RAX],
		{ reg[REG_RDI], reg[REG_RSI], reg[REG_RDX], reg[REG_R10], reg[REG_R8],
			reg[REG_R9] } };
}

bool rt_led_call(int signal, siginfo_t *info, ucontext_t *context)
{
	struct call call;

	uint64_t begun = rt_own_ns();

	(void)signal;
	if (info->si_code != FROM_DISPATCH || !context)
		return false;
	call = call_of(context);
	rt_pages_lock();
	__atomic_fetch_add(&rt.control->watching.syscalls, 1, __ATOMIC_RELAXED);
	rt_page_self.n_last = 0;
	end_vfork();
	rt_wait_drop_left(context);
	rt_pages_look_at_stack(context);
	if (!rt_pages.is_on || info->si_arch != ARCH_X86_64)
		stop_for(&call, LOCI_STOP_CALL);
	else
		lead(&call);
	rt_pages_unlock();
	rt_pages_tell(context);
	rt_watch_took(RT_WATCH_LED, begun);
	return true;
}
