/* SPDX-License-Identifier: BSD-2-Clause */
/* Within own_signals.h: which of the taken signals the program blocks, those that wait for it, and
 * the alternate stack. What a thread blocks travels in the contexts of its handlers, as the rest of
 * its mask does. */
#ifndef LOCI_COLLECT_RUNTIME_OWN_MASKS_H
#define LOCI_COLLECT_RUNTIME_OWN_MASKS_H

#include "collect/runtime/own_signals.h"

#include <string.h>

#define RT_OWN_SIGNALS 3
#define RT_TRAP_PERF   6 /* si_code */

static inline uint64_t rt_set_word(const sigset_t *set)
{
	uint64_t word;

	memcpy(&word, set, sizeof(word));
	return word;
}

static inline void rt_set_be(sigset_t *set, uint64_t word)
{
	memcpy(set, &word, sizeof(word));
}

/* own_signals.c */
int rt_own_slot(int signal); /* -1: none that may be taken */
int rt_own_signal_of(int slot);
void rt_own_send(int signal, const siginfo_t *info); /* to this thread */
bool rt_own_is_ours(int signal, siginfo_t *info, ucontext_t *context);
/* Since this was last asked: by one of ours, in a call with a mask of its own. */
bool rt_own_has_interrupted(void);

/* own_masks.c. A handler of the program's begins, whose action blocks these too, and returns. Last,
 * what waited for that is sent, to come when ours has returned. */
void rt_own_masks_enter(uint64_t mask, ucontext_t *context);
void rt_own_masks_leave(ucontext_t *context);
void rt_own_masks_left(void);
uint64_t rt_own_masks_kept(void); /* what is blocked when one that begins now has returned */
bool rt_own_is_blocked(int signal);
uint64_t rt_own_blocked(void);
void rt_own_block_only(uint64_t mask); /* those of it that are taken; what waited may come */
void rt_own_release_due(void);         /* it may, if it is not blocked */
/* In the kernel, until the handler returns in which this is. */
void rt_own_hold(uint64_t signals);
/* The same for the time of a call, and as it was. */
void rt_own_block_instead(uint64_t mask);
void rt_own_block_again(uint64_t mask);
/* The whole mask of such a call; it is over. Whether a signal came within it, which is then the
 * mask that a handler runs with, beside its own. */
void rt_own_call_has(uint64_t mask);
void rt_own_call_over(void);
bool rt_own_is_in_call(const ucontext_t *context, uint64_t *ret_mask);
/* In such a call, if no handler of the program's has come; how many have, of this thread. */
bool rt_own_is_instead(void);
uint32_t rt_own_entered(void);
/* Of the mask that a thread had before the runtime came: what is left for the kernel. */
uint64_t rt_own_masks_adopt(uint64_t mask);
/* What the program blocks is blocked in the kernel, for who inherits that, and is not again. */
void rt_own_masks_show(void);
void rt_own_masks_hide(void);
/* All are, and are not again: so that a signal does not come before a call that waits for it does.
 */
void rt_own_masks_close(void);
void rt_own_masks_open(void);

/* own_parking.c: signals that wait until they are not blocked; signals blocked, but for release. */
void rt_own_parking_fork(void);
void rt_own_park(int signal, const siginfo_t *info);
void rt_own_park_forget(int signal);
uint64_t rt_own_parked(void);
/* Sends those of them to this thread. */
void rt_own_release(uint64_t mask);
/* This thread is about to wait for these: it is woken for those of the process, to fetch them. */
void rt_own_waiter_begin(uint64_t mask);
bool rt_own_is_wake(const siginfo_t *info);
bool rt_own_fetch(int signal, siginfo_t *info);
void rt_own_waiter_end(void);

/* own_stacks.c */
void rt_own_stacks_off(void);
void rt_own_stack_begin(void);
void rt_own_stack_end(void);
void rt_own_stack_give_back(void); /* in a child by vfork */
/* A handler has come on ours that is to have another. */
bool rt_own_stack_is_under(const ucontext_t *context);
/* Where a handler's frame of so many bytes is to end, on the program's alternate stack if it wants
 * that; 0: it stays where it is. */
uintptr_t rt_own_stack_for(const ucontext_t *context, bool wants_own, size_t bytes);
/* A handler of the program's begins, with the program's alternate stack in its context. If so, it
 * takes that from there when it returns. */
bool rt_own_stack_enter(ucontext_t *context);
void rt_own_stack_leave(ucontext_t *context);
bool rt_own_stack_is_on(void); /* the program is, as far as it knows */

#endif
