// SPDX-License-Identifier: BSD-2-Clause
/* Signal handlers run on a level of their own. The kernel is given an entry of ours for each
 * function that the program installs, bound to it for ever, so that installing stays one atomic
 * step, and what the kernel says is installed can be translated back. */
#include "collect/runtime/atomics.h"
#include "collect/runtime/deferring.h"
#include "collect/runtime/level.h"
#include "collect/runtime/own_masks.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/watched_pages.h"
#include "collect/runtime/wrap.h"

#include <signal.h>
#include <ucontext.h>

#define MAX_HANDLERS 256 /* as many entries are in stubs_x86_64.S */
#define ENTRY_BYTES  16
#define N_SIGNALS    65

typedef rt_handler_function handler_function;

extern const char rt_handler_entries[];

static handler_function *handlers[MAX_HANDLERS];
static uint64_t also_blocked[N_SIGNALS]; /* by its action, of the signals that the runtime took */

/* Another handler must not find the level left and still current. */
static void leave(struct rt_thread *thread, struct rt_level *level)
{
	bool has_spoken = level->entered;
	uint64_t mask = has_spoken ? rt_block() : 0;

	rt_level_leave(level);
	__atomic_store_n(&thread->depth, thread->depth - 1, __ATOMIC_RELAXED);
	if (has_spoken)
		rt_unblock_only(mask); /* what waits is released when the handler is left */
}

static void call(const struct rt_handling *of)
{
	ucontext_t *context = of->context;
	bool has_other_stack = rt_own_stack_enter(context);

	rt_own_masks_enter(of->blocks, context);
	if (of->is_closed)
		rt_unblock(~rt_own_taken &
			(of->has_mask ? of->mask : rt_set_word(&context->uc_sigmask) | of->blocks));
	of->handler(of->signal, of->info, context);
	if (of->is_closed)
		rt_block();
	rt_own_masks_leave(context);
	if (has_other_stack)
		rt_own_stack_leave(context);
}

/* Until the depth is stored another handler may come and have the same level: one that returns
 * leaves there what it found. One that jumps finds what is blocked by a handler only while that is
 * on its level. */
static void on_level(struct rt_thread *thread, const struct rt_handling *of)
{
	int64_t budget = __loci_thread.budget;
	uint64_t before = rt_thread_count(thread), unheard = thread->unheard;
	uint32_t depth = thread->depth + 1;
	struct rt_level *level = &thread->level[depth];
	struct rt_interruption found = level->by;

	level->by = (struct rt_interruption){ .signal = of->signal,
		.frame = (uintptr_t)__builtin_frame_address(0),
		.stack_pointer = (uintptr_t)of->context->uc_mcontext.gregs[REG_RSP],
		.own_blocked = rt_own_masks_kept() };
	level->entered = false;
	rt_level_reset(level);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&thread->depth, depth, __ATOMIC_RELAXED);
	__atomic_store_n(&__loci_thread.state, &level->quiet, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	call(of);
	if (rt_self != thread)
		return; /* this has become a process that is not watched */
	if (level->deaf)
		thread->unheard = unheard + rt_thread_count(thread) - before;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	leave(thread, level);
	level->by = found;
	rt_thread_set_budget(thread, budget);
	rt_level_resume(thread, level - 1);
}

/* Handlers within handlers beyond all levels are only counted. */
static void beyond_levels(struct rt_thread *thread, const struct rt_handling *of)
{
	rt_thread_mute(thread);
	call(of);
	rt_thread_unmute();
}

/* A thread that has ended for us may begin again in a handler, and ends with it. */
static void after_end(const struct rt_handling *of)
{
	call(of);
	if (rt_self && rt_mode() != RT_OFF)
		rt_thread_end(rt_self);
}

static void run(struct rt_thread *thread, const struct rt_handling *of)
{
	if (!thread)
		after_end(of);
	else if (thread->depth + 1 < RT_LEVELS)
		on_level(thread, of);
	else
		beyond_levels(thread, of);
}

/* A fault does not wait. */
void rt_handler_run(const struct rt_handling *of)
{
	struct rt_thread *thread = rt_thread();
	uint32_t busy = thread ? thread->busy : 0;

	if (busy) {
		busy -= rt_atomic_let_go(thread);
		thread->busy = 0;
	}
	run(thread, of);
	if (busy)
		thread->busy = busy;
	rt_own_masks_left();
}

/* A fault in the midst of a single step, whose mask the thread had. */
static void have_mask(struct rt_handling *of)
{
	struct sigaction action;

	rt_block();
	rt_real_sigaction(of->signal, NULL, &action);
	of->mask = rt_set_word(&of->context->uc_sigmask) | rt_set_word(&action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		of->mask |= RT_SIGNAL_BIT(of->signal);
	of->has_mask = of->is_closed = true;
}

/* Called by an entry, with its number. errno is the program's, and nothing here changes it. */
__attribute__((visibility("hidden"))) void rt_on_signal(
	int signal, siginfo_t *info, void *context, unsigned number);
void rt_on_signal(int signal, siginfo_t *info, void *context, unsigned number)
{
	handler_function *handler = __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE);
	struct rt_thread *thread = rt_thread();
	uintptr_t entry = (uintptr_t)rt_handler_entries + number * ENTRY_BYTES;
	struct rt_handling of = { .handler = handler,
		.signal = signal,
		.info = info,
		.context = context,
		.blocks = also_blocked[signal] };

	if (rt_pages_leave_step(context))
		have_mask(&of);
	if (thread && thread->busy && rt_put_off(thread, signal, info, context, entry))
		return;
	if (!rt_own_stack_is_under(context)) {
		rt_handler_run(&of);
		return;
	}
	if (!of.has_mask)
		of.mask = rt_block(); /* none may come between the stacks */
	of.has_mask = of.is_closed = true;
	rt_own_run(&of, true);
}

static bool is_entry(uintptr_t function)
{
	return function - (uintptr_t)rt_handler_entries < MAX_HANDLERS * ENTRY_BYTES;
}

bool rt_is_function(uintptr_t function)
{
	return function != (uintptr_t)SIG_DFL && function != (uintptr_t)SIG_IGN &&
		function != (uintptr_t)SIG_HOLD && function != (uintptr_t)SIG_ERR;
}

/* What the kernel is told. */
uintptr_t rt_entry_of(uintptr_t function)
{
	if (!rt_is_function(function) || is_entry(function) ||
		(rt_mode() == RT_OFF && !rt_own_taken))
		return function;
	for (unsigned i = 0; i < MAX_HANDLERS; i++) {
		handler_function *found = NULL;

		if (__atomic_compare_exchange_n(&handlers[i], &found, (handler_function *)function,
			    0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			found == (handler_function *)function)
			return (uintptr_t)rt_handler_entries + i * ENTRY_BYTES;
	}
	return function;
}

/* What the program is told. */
uintptr_t rt_function_of(uintptr_t entry)
{
	if (!is_entry(entry))
		return entry;
	return (uintptr_t)handlers[(entry - (uintptr_t)rt_handler_entries) / ENTRY_BYTES];
}

/* Handlers do not block what the runtime took, and the program reads that they do. */
static uint64_t strip(struct sigaction *action)
{
	uint64_t word = rt_set_word(&action->sa_mask);

	rt_set_be(&action->sa_mask, word & ~rt_own_taken);
	return word & rt_own_taken;
}

RT_WRAP(int, sigaction, int signal, const struct sigaction *new, struct sigaction *old)
{
	struct sigaction ours;
	bool is_kept = rt_own_is_kept();
	uint64_t before = signal > 0 && signal < N_SIGNALS ? also_blocked[signal] : 0;
	int r;

	if (is_kept && rt_own_has(signal)) {
		rt_own_action(signal, new, old);
		return 0;
	}
	if (new) {
		ours = *new;
		ours.sa_handler = (sighandler_t)rt_entry_of((uintptr_t) new->sa_handler);
		if (is_kept && signal > 0 && signal < N_SIGNALS)
			also_blocked[signal] = strip(&ours);
	}
	r = RT_REAL(sigaction)(signal, new ? &ours : NULL, old);
	if (r == 0 && old) {
		old->sa_handler = (sighandler_t)rt_function_of((uintptr_t)old->sa_handler);
		rt_set_be(&old->sa_mask, rt_set_word(&old->sa_mask) | before);
	}
	return r;
}

/* Also in handlers of ours: not the program, but the runtime sets one. */
static __thread bool is_setting __attribute__((tls_model("initial-exec")));

bool rt_own_is_setting(void)
{
	return is_setting;
}

int rt_real_sigaction(int signal, const struct sigaction *new, struct sigaction *old)
{
	bool was = is_setting;
	int r;

	is_setting = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	r = RT_REAL(sigaction)(signal, new, old);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	is_setting = was;
	return r;
}

/* Signals blocked. */
void rt_handlers_unmask(void)
{
	struct sigaction action;

	for (int i = 1; i < N_SIGNALS; i++) {
		if (rt_own_has(i) || RT_REAL(sigaction)(i, NULL, &action) < 0 ||
			!(rt_set_word(&action.sa_mask) & rt_own_taken))
			continue;
		also_blocked[i] |= strip(&action);
		RT_REAL(sigaction)(i, &action, NULL);
	}
}

/* The older ones take and give the function alone. */
static sighandler_t own_signal(int signal, sighandler_t function, int flags)
{
	struct sigaction new = { .sa_handler = function, .sa_flags = flags }, old;

	if (flags == SA_RESTART)
		sigaddset(&new.sa_mask, signal);
	rt_own_action(signal, &new, &old);
	return old.sa_handler;
}

/* And one the mask. */
static sighandler_t own_sigset(int signal, sighandler_t function, int flags)
{
	uint64_t before = rt_own_blocked(), bit = RT_SIGNAL_BIT(signal);
	struct sigaction old;

	if (function == SIG_HOLD)
		rt_own_action(signal, NULL, &old);
	else
		old.sa_handler = own_signal(signal, function, flags);
	rt_own_block_only(function == SIG_HOLD ? before | bit : before & ~bit);
	return before & bit ? SIG_HOLD : old.sa_handler;
}

#define RT_WRAP_SIGNAL(name, own, flags)                                                      \
	RT_WRAP(sighandler_t, name, int signal, sighandler_t function)                        \
	{                                                                                     \
		sighandler_t entry = (sighandler_t)rt_entry_of((uintptr_t)function);          \
		bool is_kept = rt_own_is_kept();                                              \
                                                                                              \
		if (is_kept && rt_own_has(signal))                                            \
			return own(signal, function, flags);                                  \
		if (is_kept && signal > 0 && signal < N_SIGNALS)                              \
			also_blocked[signal] = 0;                                             \
		return (sighandler_t)rt_function_of((uintptr_t)RT_REAL(name)(signal, entry)); \
	}
#define ONCE (int)(SA_RESETHAND | SA_NODEFER)
#undef signal
RT_WRAP_SIGNAL(signal, own_signal, SA_RESTART)
#ifndef LOCI_RT_STATIC /* which has no such function */
RT_WRAP_SIGNAL(bsd_signal, own_signal, SA_RESTART)
#endif
RT_WRAP_SIGNAL(sysv_signal, own_signal, ONCE)
RT_WRAP_SIGNAL(__sysv_signal, own_signal, ONCE)
RT_WRAP_SIGNAL(ssignal, own_signal, SA_RESTART)
RT_WRAP_SIGNAL(sigset, own_sigset, 0)

RT_WRAP(int, sigignore, int signal)
{
	if (!rt_own_has(signal) || !rt_own_is_kept())
		return RT_REAL(sigignore)(signal);
	own_signal(signal, SIG_IGN, 0);
	return 0;
}

RT_PUBLIC struct loci_cc_state *__loci_mark(void)
{
	return __loci_thread.state;
}

static uint32_t depth_of(const struct rt_thread *thread, const struct loci_cc_state *state)
{
	uint32_t depth = thread->depth;

	for (; depth > 0; depth--)
		if (state == thread->level[depth].live || state == &thread->level[depth].quiet)
			break;
	return depth;
}

/* Those above that depth were left. The budget is still theirs: the code here comes for its own. */
static void land(struct rt_thread *thread, uint32_t depth, bool with_mask)
{
	uint64_t mask = rt_block();

	if (thread->depth > depth) {
		thread->has_jumped = true;
		rt_thread_set_budget(thread, -1);
		if (with_mask)
			rt_own_block_only(thread->level[depth + 1].by.own_blocked);
	}
	for (; thread->depth > depth; thread->depth--)
		rt_level_leave(&thread->level[thread->depth]);
	rt_level_resume(thread, &thread->level[depth]);
	rt_sync_running(thread); /* if what was interrupted did wait */
	rt_unblock(mask);
}

RT_PUBLIC void __loci_landed(struct loci_cc_state *state)
{
	if (__builtin_expect(__loci_thread.state == state, 1))
		return;
	rt_thread_unmute();
	if (rt_self && rt_mode() != RT_OFF)
		land(rt_self, depth_of(rt_self, state), false);
}

/* The frames of a handler lie between where control is now and what called it; those of the
 * handlers below it, and of the thread, from where they were interrupted. Handlers may have a stack
 * of their own. */
void rt_handlers_leave(uintptr_t target, bool with_mask)
{
	struct rt_thread *thread = rt_self;
	uintptr_t low = (uintptr_t)__builtin_frame_address(0);
	uint32_t depth;

	if (!thread || rt_mode() == RT_OFF || !thread->depth)
		return;
	for (depth = thread->depth; depth > 0; depth--) {
		const struct rt_level *level = &thread->level[depth];

		if (target >= low && target <= level->by.frame)
			break;
		low = level->by.stack_pointer;
	}
	if (depth < thread->depth)
		land(thread, depth, with_mask);
}
