/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that the runtime needs itself (SIGTRAP, SIGSEGV, SIGSYS), in a program that may have its
 * own mind about them. Once one is taken the kernel has our handler for it, on the thread's
 * alternate stack, and it is never blocked there. What the program installs is kept here: that is
 * what it reads back, and what happens when a signal is not ours, with the mask, the flags and the
 * alternate stack that it asked for. A signal that is not ours and that the program blocks waits
 * until it does not.
 *
 * Exactly as alone: actions, their flags and what is read of them; on which stack, with which mask
 * and which information a handler runs; how a process ends for want of one; masks, as they are read
 * and set; signals to a thread that it blocks, and later takes or waits for; what a child by vfork
 * does about its own signals.
 * Nearly: one to the process goes to the thread that the kernel chose; if that one blocks it, to
 * the next that unblocks it or waits for it. A call of the kernel's may be interrupted by a signal
 * that is blocked. siglongjmp with a mask restores what was blocked when the handler came that it
 * leaves, and otherwise leaves them as they are. A handler that wants an alternate stack runs on
 * ours where the program's is small (own_stacks.c). What popen and system start does not find them
 * blocked or ignored.
 * Not: signalfd never has them. A mask that is set without the C library (syscall() is part of it),
 * or in older ways (sighold, sigblock), blocks them in the kernel, and what is ours is missed
 * meanwhile. An action that is set by an instruction of the program's own replaces our handler:
 * pages are not watched any more then, but a debug register that fires goes to the program. */
#ifndef LOCI_COLLECT_RUNTIME_OWN_SIGNALS_H
#define LOCI_COLLECT_RUNTIME_OWN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define RT_SIGNAL_BIT(signal) (1ull << ((signal)-1))

/* In the thread, all signals blocked, also in one that has only just been made and that the runtime
 * does not know yet. What the handler does to the context holds; NULL: it did not come, but was
 * waited for. False: it is not ours, and goes to the program. */
typedef bool rt_own_handler(int signal, siginfo_t *info, ucontext_t *context);

/* Lock held, signals blocked. False: it cannot be had. */
bool rt_own_signal_take(int signal, rt_own_handler *handler);
/* A thread begins: it has an alternate stack if it brought none. It ends: that is given back. */
void rt_own_signals_thread(void);
void rt_own_signals_thread_end(void);
/* The process becomes another program, with its mask or another; or not, after all. */
void rt_own_signals_exec(bool with_mask);
void rt_own_signals_exec_failed(void);
/* In a child: signals that waited were the parent's. */
void rt_own_signals_fork(void);

extern uint64_t rt_own_taken; /* a bit for each signal */
/* Some are taken, and what the program does about signals is kept here. A child by vfork has
 * signals of its own in our memory: from the first time that it asks they are as if none were
 * taken. */
bool rt_own_is_kept(void);
static inline bool rt_own_has(int signal)
{
	return signal > 0 && signal <= 64 && (rt_own_taken & RT_SIGNAL_BIT(signal));
}
/* What sigaction does, for one that is taken. */
void rt_own_action(int signal, const struct sigaction *new_action, struct sigaction *old);
/* What syscall(), the library's one, does of all this without its other functions. False: it is
 * another call. */
typedef long rt_system_call(long number, ...);
bool rt_own_call(rt_system_call *real, long number, const long argument[6], long *ret);
/* A child that is no thread has the same actions. */
void rt_own_signals_share(void);
/* The thread's alternate stack as the program has it, where the kernel has another; also one that
 * is disarmed while a handler is on it. */
const stack_t *rt_own_stack_program(void);
bool rt_own_is_setting(void); /* an action, by the runtime */
struct rt_handling;
/* A handler of the program's, with all signals blocked, on the stack that it would have had. */
void rt_own_run(const struct rt_handling *of, bool wants_own);

#endif
