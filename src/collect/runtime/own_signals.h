/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that the runtime needs itself (SIGTRAP, SIGSEGV, SIGSYS), in a program that may have its
 * own mind about them. Once one is taken the kernel has our handler for it, on the thread's
 * alternate stack, and it is never blocked there. What the program installs is kept here: that is
 * what it reads back, and what happens when a signal is not ours, with the mask, the flags and the
 * alternate stack that it asked for. A signal that is not ours and that the program blocks waits
 * until it does not. */
#ifndef LOCI_COLLECT_RUNTIME_OWN_SIGNALS_H
#define LOCI_COLLECT_RUNTIME_OWN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* In the thread, all signals blocked, also in one that has only just been made and that the runtime
 * does not know yet. What the handler does to the context holds. False: it is not ours, and goes to
 * the program. */
typedef bool rt_own_handler(int signal, siginfo_t *info, ucontext_t *context);

/* Lock held, signals blocked. False: it cannot be had. */
bool rt_own_signal_take(int signal, rt_own_handler *handler);
/* The kernel has the program's actions again. */
void rt_own_signals_give_back(void);
/* A thread begins: it has an alternate stack if it brought none. */
void rt_own_signals_thread(void);

#endif
