/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that wait for signals, or with a mask of their own, where the runtime took some
 * (own_signals.h). From before to after such a call these are blocked in the kernel, so that none
 * comes before the call waits: only within it they are not. */
#ifndef LOCI_COLLECT_RUNTIME_OWN_WAITS_H
#define LOCI_COLLECT_RUNTIME_OWN_WAITS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct rt_own_instead {
	bool is_needed;
	int error; /* errno before */
	uint32_t entered;
	uint64_t before;
	sigset_t mask;
};

/* Returns the mask for the kernel. */
const sigset_t *rt_own_mask_instead(struct rt_own_instead *to, const sigset_t *mask);
/* The call was interrupted, but not by a signal of the program's: it is to be made again. */
bool rt_own_was_spurious(const struct rt_own_instead *to);
void rt_own_mask_again(const struct rt_own_instead *was);

typedef int rt_timed_wait(const sigset_t *, siginfo_t *, const struct timespec *);
bool rt_own_expects(const sigset_t *mask); /* some of it is taken */
int rt_own_wait(
	rt_timed_wait *real, const sigset_t *mask, siginfo_t *info, const struct timespec *time);
int rt_own_wait_one(rt_timed_wait *real, const sigset_t *mask, int *signal); /* as sigwait */

#endif
