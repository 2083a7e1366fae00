// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/own_waits.h"
#include "collect/runtime/own_masks.h"
#include "collect/runtime/watched_pages.h"

#include <errno.h>

/* Nothing is to be done if the mask has of the taken ones those that are blocked anyway. */
const sigset_t *rt_own_mask_instead(struct rt_own_instead *to, const sigset_t *mask)
{
	uint64_t word;

	if (!mask || !rt_own_is_kept())
		return mask;
	word = rt_set_word(mask);
	rt_own_call_has(word);
	to->mask = *mask;
	rt_set_be(&to->mask, word & ~rt_own_taken);
	to->before = rt_own_blocked();
	to->is_needed = (word & rt_own_taken) != to->before;
	to->error = errno;
	if (to->is_needed) {
		if (to->before & ~word)
			rt_pages_leave_signals(LOCI_STOP_SIGNAL);
		rt_own_masks_close();
		rt_own_block_instead(word);
		to->entered = rt_own_entered();
		rt_own_has_interrupted();
	}
	return &to->mask;
}

/* A trap of ours that came on the way into the call is delivered within it: no time has passed. */
bool rt_own_was_spurious(const struct rt_own_instead *to)
{
	if (!to->is_needed || errno != EINTR || rt_own_entered() != to->entered ||
		!rt_own_has_interrupted())
		return false;
	errno = to->error;
	return true;
}

void rt_own_mask_again(const struct rt_own_instead *was)
{
	int error = errno;

	rt_own_call_over();
	if (was->is_needed) {
		rt_own_block_again(was->before);
		rt_own_masks_open();
	}
	errno = error;
}

bool rt_own_expects(const sigset_t *mask)
{
	return (rt_set_word(mask) & rt_own_taken) && rt_own_is_kept();
}

static void end(const int *nothing)
{
	int error = errno;

	(void)nothing;
	rt_own_waiter_end();
	rt_own_masks_open();
	errno = error;
}

/* The program's memory is not touched while they are blocked: that may be what one is for. */
static int wait_closed(
	rt_timed_wait *real, const sigset_t *mask, siginfo_t *info, const struct timespec *time)
{
	uint64_t expected = rt_set_word(mask) & rt_own_taken;
	__attribute__((cleanup(end), unused)) int nothing = 0;
	int r;

	rt_pages_leave_signals(LOCI_STOP_SIGNAL);
	rt_own_masks_close();
	rt_own_waiter_begin(expected);
	rt_own_release(expected);
	do
		r = real(mask, info, time);
	while (r > 0 && rt_own_is_ours(r, info, NULL));
	if (r > 0 && rt_own_is_wake(info) && !rt_own_fetch(r, info)) {
		errno = EINTR; /* another thread has it */
		r = -1;
	}
	return r;
}

int rt_own_wait(
	rt_timed_wait *real, const sigset_t *mask, siginfo_t *info, const struct timespec *time)
{
	sigset_t set = *mask;
	struct timespec for_time = { 0 };
	siginfo_t got;
	int r;

	if (!rt_own_expects(&set))
		return real(mask, info, time);
	if (time)
		for_time = *time;
	r = wait_closed(real, &set, &got, time ? &for_time : NULL);
	if (r > 0 && info)
		*info = got;
	return r;
}

int rt_own_wait_one(rt_timed_wait *real, const sigset_t *mask, int *signal)
{
	int r, error = errno;

	do
		r = rt_own_wait(real, mask, NULL, NULL);
	while (r < 0 && errno == EINTR);
	if (r < 0) {
		r = errno;
		errno = error;
		return r;
	}
	*signal = r;
	return 0;
}
