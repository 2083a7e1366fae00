// SPDX-License-Identifier: BSD-2-Clause
/* Taken signals as they come: to who took them, or to the program. For its handlers, also of other
 * signals, the frame that the kernel made on our alternate stack is moved to where the kernel would
 * have made it (own_stacks.c); from then on the handler runs, and is left, as ever. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/watched_pages.h"
#include "stream/ring_x86_64.h"

#include <string.h>

#define SYS_GETTID            186
#define SYS_RT_TGSIGQUEUEINFO 297
#define SA_RESTORER_FLAG      0x04000000
#define ALIGNMENT_BYTES       (64 + 16 + sizeof(void *) * 2)
#define LEGACY_FP_BYTES       512 /* of the state of vectors .. */
#define FP_MAGIC_OFFSET       464 /* .. where it is said whether there is more, and how much */
#define FP_MAGIC              0x46505853u
#define BIT                   RT_SIGNAL_BIT

uint64_t rt_own_taken;

static const int signal_of[RT_OWN_SIGNALS] = { SIGTRAP, SIGSEGV, SIGSYS };
static struct own {
	rt_own_handler *handler;
	struct sigaction program; /* its action */
} own[RT_OWN_SIGNALS];
static void *restorer; /* the C library's, which it shows with every action */

static long owner;     /* the process that they were taken in */
static bool is_shared; /* with others */
/* The child of this thread by vfork that has them back. */
static __thread long given_back __attribute__((tls_model("initial-exec")));

/* What on_program is to do, from one stack to the other. All signals are blocked meanwhile. */
static __thread struct rt_handling due __attribute__((tls_model("initial-exec")));

/* Frames are copied: there may be no room where they are to be. */
static __thread bool is_moving __attribute__((tls_model("initial-exec")));

/* One of ours came within a call that waits with other signals blocked (own_waits.h). */
static __thread bool has_interrupted __attribute__((tls_model("initial-exec")));

static long this_process(void)
{
	return loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0);
}

int rt_own_slot(int signal)
{
	for (int i = 0; i < RT_OWN_SIGNALS; i++)
		if (signal_of[i] == signal)
			return i;
	return -1;
}

int rt_own_signal_of(int slot)
{
	return signal_of[slot];
}

void rt_own_send(int signal, const siginfo_t *info)
{
	loci_syscall6(SYS_RT_TGSIGQUEUEINFO, this_process(), loci_syscall3(SYS_GETTID, 0, 0, 0),
		signal, (long)info, 0, 0);
}

/* The kernel does not let such a signal wait or be ignored. Those of perf events it does. */
static bool is_forced(int signal, const siginfo_t *info)
{
	return info->si_code > 0 && !(signal == SIGTRAP && info->si_code == RT_TRAP_PERF);
}

/* As it would have ended alone: it gets the same signal when our handler returns. */
static void die(int signal, const siginfo_t *info)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	rt_real_sigaction(signal, &action, NULL);
	rt_own_send(signal, info);
}

static void on_program(int signal, siginfo_t *info, void *data)
{
	struct rt_handling of = due;

	(void)signal;
	of.info = info;
	of.context = data;
	rt_handler_run(&of);
}

static size_t vectors_bytes(const char *state)
{
	uint32_t word[2];

	memcpy(word, state + FP_MAGIC_OFFSET, sizeof(word));
	return word[0] == FP_MAGIC ? word[1] : LEGACY_FP_BYTES;
}

__attribute__((noreturn, visibility("hidden"))) void rt_continue_on(
	void *frame, rt_handler_function *function, int signal, siginfo_t *info, void *context);

/* Where the kernel returns to, the context, the information, and somewhere the vectors. */
static void move_frame(int signal, siginfo_t *info, ucontext_t *context, uintptr_t top)
{
	char *from = (char *)context - sizeof(void *), *end = (char *)(info + 1);
	char *vectors = (char *)context->uc_mcontext.fpregs, *to;
	ucontext_t *moved;

	is_moving = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (vectors) {
		top = (top - vectors_bytes(vectors)) & ~63ul;
		memcpy((char *)top, vectors, vectors_bytes(vectors));
	}
	to = (char *)(((top - (uintptr_t)(end - from)) & ~15ul) - sizeof(void *));
	memcpy(to, from, (size_t)(end - from));
	moved = (ucontext_t *)(to + sizeof(void *));
	if (vectors)
		moved->uc_mcontext.fpregs = (fpregset_t)top;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	is_moving = false;
	rt_continue_on(to, on_program, signal, (siginfo_t *)(to + ((char *)info - from)), moved);
}

static size_t frame_bytes(const siginfo_t *info, const ucontext_t *context)
{
	const char *vectors = (const char *)context->uc_mcontext.fpregs;

	return (size_t)((const char *)(info + 1) - (const char *)context) +
		(vectors ? vectors_bytes(vectors) : 0) + ALIGNMENT_BYTES;
}

void rt_own_run(const struct rt_handling *of, bool wants_own)
{
	uintptr_t top =
		rt_own_stack_for(of->context, wants_own, frame_bytes(of->info, of->context));

	due = *of;
	if (top)
		move_frame(of->signal, of->info, of->context, top);
	else
		on_program(of->signal, of->info, of->context);
}

static struct sigaction take_action(int signal)
{
	struct own *of = &own[rt_own_slot(signal)];
	struct sigaction action;

	rt_lock();
	action = of->program;
	if (action.sa_flags & (int)SA_RESETHAND)
		of->program.sa_handler = SIG_DFL;
	rt_unlock();
	return action;
}

static void handle(const struct sigaction *action, int signal, siginfo_t *info, ucontext_t *context)
{
	struct rt_handling of = { .handler = action->sa_sigaction,
		.signal = signal,
		.info = info,
		.context = context,
		.blocks = rt_set_word(&action->sa_mask),
		.is_closed = true };

	if (!(action->sa_flags & SA_NODEFER))
		of.blocks |= BIT(signal);
	of.has_mask = rt_own_is_in_call(context, &of.mask);
	of.mask |= of.blocks;
	rt_own_run(&of, (action->sa_flags & SA_ONSTACK) != 0);
}

static void give_to_program(int signal, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action = take_action(signal);

	if (action.sa_handler == SIG_DFL ||
		(action.sa_handler == SIG_IGN && is_forced(signal, info)))
		die(signal, info);
	else if (action.sa_handler != SIG_IGN)
		handle(&action, signal, info, context);
}

static void give(int signal, siginfo_t *info, ucontext_t *context)
{
	bool is_blocked = rt_own_is_blocked(signal);

	/* Where a frame has no room the kernel ends the process, too. */
	if (is_forced(signal, info) && (is_blocked || is_moving))
		die(signal, info);
	else if (is_forced(signal, info) ||
		(!is_blocked && !rt_is_closed(rt_set_word(&context->uc_sigmask))))
		give_to_program(signal, info, context);
	else
		rt_own_park(signal, info);
}

bool rt_own_is_ours(int signal, siginfo_t *info, ucontext_t *context)
{
	int slot = rt_own_slot(signal);

	return slot >= 0 && own[slot].handler && own[slot].handler(signal, info, context);
}

bool rt_own_has_interrupted(void)
{
	bool has = has_interrupted;

	has_interrupted = false;
	return has;
}

/* While the runtime has all others blocked, and perhaps its lock, ours may come, but are not given
 * to the program before that is over. */
static void on_own(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	uint64_t waiting;

	if (rt_own_is_ours(signal, info, context))
		has_interrupted |= rt_own_is_instead() && !is_forced(signal, info);
	else if (!rt_own_is_wake(info))
		give(signal, info, context);
	waiting = rt_own_parked() & ~rt_own_blocked();
	if (waiting && !rt_is_closed(rt_set_word(&context->uc_sigmask))) {
		rt_own_hold(waiting);
		rt_own_release(waiting);
	}
}

/* A call of the kernel's that the signal interrupts is begun again if the program's action says so,
 * or if alone it would not have been interrupted. */
static int install(int signal)
{
	struct own *of = &own[rt_own_slot(signal)];
	struct sigaction action = { .sa_sigaction = on_own, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (!rt_is_function((uintptr_t)of->program.sa_handler) ||
		(of->program.sa_flags & SA_RESTART))
		action.sa_flags |= SA_RESTART;
	rt_set_be(&action.sa_mask, ~0ull);
	return rt_real_sigaction(signal, &action, NULL);
}

bool rt_own_signal_take(int signal, rt_own_handler *handler)
{
	int slot = rt_own_slot(signal);
	struct sigaction action;

	if (slot < 0)
		return false;
	if (rt_own_taken & BIT(signal)) {
		own[slot].handler = handler;
		return install(signal) == 0; /* a child by vfork that forks has none */
	}
	if (rt_real_sigaction(signal, NULL, &own[slot].program) < 0)
		return false;
	own[slot].program.sa_handler =
		(sighandler_t)rt_function_of((uintptr_t)own[slot].program.sa_handler);
	own[slot].handler = handler;
	if (install(signal) < 0 || rt_real_sigaction(signal, NULL, &action) < 0)
		return false;
	restorer = (void *)action.sa_restorer;
	owner = this_process();
	__atomic_fetch_or(&rt_own_taken, BIT(signal), __ATOMIC_RELEASE);
	rt_handlers_unmask();
	rt_own_signals_thread();
	return true;
}

void rt_own_signals_thread(void)
{
	if (rt_own_taken)
		rt_own_stack_begin();
}

void rt_own_signals_thread_end(void)
{
	rt_own_stack_end();
}

/* As the kernel and the C library would have it. */
static void keep(struct own *to, const struct sigaction *action)
{
	uint64_t never = BIT(SIGKILL) | BIT(SIGSTOP);

	to->program = *action;
	to->program.sa_flags |= SA_RESTORER_FLAG;
	to->program.sa_restorer = (void (*)(void))restorer;
	rt_set_be(&to->program.sa_mask, rt_set_word(&action->sa_mask) & ~never);
}

void rt_own_action(int signal, const struct sigaction *new, struct sigaction *old)
{
	struct own *of = &own[rt_own_slot(signal)];
	struct sigaction wanted = { 0 }, before;
	uint64_t mask;

	if (new)
		wanted = *new;
	mask = rt_block();
	rt_lock();
	before = of->program;
	if (new) {
		keep(of, &wanted);
		install(signal);
	}
	rt_unlock();
	if (new &&wanted.sa_handler == SIG_IGN)
		rt_own_park_forget(signal);
	rt_unblock(mask);
	if (old)
		*old = before;
}

void rt_own_signals_fork(void)
{
	rt_own_parking_fork();
	owner = this_process();
}

void rt_own_signals_share(void)
{
	__atomic_store_n(&is_shared, true, __ATOMIC_RELAXED);
}

static void give_back(void)
{
	for (int i = 0; i < RT_OWN_SIGNALS; i++) {
		struct sigaction action = own[i].program;

		if (!(rt_own_taken & BIT(signal_of[i])))
			continue;
		action.sa_handler = (sighandler_t)rt_entry_of((uintptr_t)action.sa_handler);
		rt_real_sigaction(signal_of[i], &action, NULL);
	}
	rt_own_hold(rt_own_blocked());
	rt_own_stack_give_back();
}

bool rt_own_is_kept(void)
{
	long self;

	if (!__atomic_load_n(&rt_own_taken, __ATOMIC_ACQUIRE))
		return false;
	if (__atomic_load_n(&is_shared, __ATOMIC_RELAXED))
		return true;
	self = this_process();
	if (self < 0)
		return true; /* a filter does not let it be asked */
	if (self == owner) {
		given_back = 0;
	} else if (self != given_back) {
		given_back = self;
		give_back();
	}
	return self == owner;
}

static bool is_ignored(int slot)
{
	return (rt_own_taken & BIT(signal_of[slot])) && own[slot].program.sa_handler == SIG_IGN;
}

/* The kernel ends a process that ignores the trap of a step, which threads may be in the midst of
 * though no page is watched any more: then the next program finds SIGTRAP as by default. */
static bool is_passed_on(int slot)
{
	return is_ignored(slot) &&
		(signal_of[slot] != SIGTRAP ||
			!__atomic_load_n(&rt_pages.n_waits, __ATOMIC_RELAXED));
}

/* What the next program is to find: signals that are ignored, or blocked. */
void rt_own_signals_exec(bool with_mask)
{
	bool is_any = with_mask && rt_own_blocked();

	if (!rt_own_is_kept())
		return;
	for (int i = 0; i < RT_OWN_SIGNALS; i++)
		is_any |= is_ignored(i);
	if (is_any)
		rt_pages_leave_signals(LOCI_STOP_INHERITED);
	for (int i = 0; i < RT_OWN_SIGNALS; i++)
		if (is_passed_on(i))
			rt_real_sigaction(signal_of[i], &own[i].program, NULL);
	rt_own_masks_show();
}

void rt_own_signals_exec_failed(void)
{
	if (!rt_own_is_kept())
		return;
	for (int i = 0; i < RT_OWN_SIGNALS; i++)
		if (rt_own_taken & BIT(signal_of[i]))
			install(signal_of[i]);
	rt_own_masks_hide();
}
