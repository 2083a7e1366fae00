// SPDX-License-Identifier: BSD-2-Clause
/* Calls by syscall() that set what the runtime keeps for the program where it took signals: they
 * are led to what is in front of the C library's functions. The layouts are the kernel's. As of
 * those functions, actions return as the library has it, and the signals that it keeps for itself
 * are not blocked. A pointer to nowhere is a fault. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

#define SIGSET_BYTES  8
#define FIRST_LIBRARY 32 /* signal of its own, up to SIGRTMIN */

int RT_WRAPPED(sigaction)(int, const struct sigaction *, struct sigaction *);
int RT_WRAPPED(sigprocmask)(int, const sigset_t *, sigset_t *);
int RT_WRAPPED(sigaltstack)(const stack_t *, stack_t *);

struct action {
	void (*handler)(int);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

static uint64_t library_signals(void)
{
	return RT_SIGNAL_BIT(SIGRTMIN) - RT_SIGNAL_BIT(FIRST_LIBRARY);
}

static long set_action(int signal, const struct action *new, struct action *old)
{
	struct sigaction wanted = { 0 }, before = { 0 };
	int r;

	if (new) {
		wanted.sa_handler = new->handler;
		wanted.sa_flags = (int)new->flags;
		rt_set_be(&wanted.sa_mask, new->mask & ~library_signals());
	}
	r = RT_WRAPPED(sigaction)(signal, new ? &wanted : NULL, &before);
	if (r == 0 && old)
		*old = (struct action){ before.sa_handler, (unsigned)before.sa_flags,
			before.sa_restorer, rt_set_word(&before.sa_mask) };
	return r;
}

static long set_mask(int how, const uint64_t *new, uint64_t *old)
{
	sigset_t wanted = { 0 }, before = { 0 };
	int r;

	if (new)
		rt_set_be(&wanted, *new);
	r = RT_WRAPPED(sigprocmask)(how, new ? &wanted : NULL, &before);
	if (r == 0 && old)
		*old = rt_set_word(&before);
	return r;
}

/* The C library has actions of its own, which it sets in this way too. */
static bool is_library_signal(long signal)
{
	return signal >= FIRST_LIBRARY && signal < SIGRTMIN;
}

bool rt_own_call(long number, const long a[6], long *ret)
{
	bool has_set = number == SYS_rt_sigaction || number == SYS_rt_sigprocmask;

	if (!rt_own_taken || !rt_is_this_process() || (!has_set && number != SYS_sigaltstack) ||
		(number == SYS_rt_sigaction && is_library_signal((int)a[0])))
		return false;
	if (has_set && a[3] != SIGSET_BYTES) {
		errno = EINVAL;
		*ret = -1;
	} else if (number == SYS_rt_sigaction) {
		*ret = set_action((int)a[0], (const struct action *)a[1], (struct action *)a[2]);
	} else if (number == SYS_rt_sigprocmask) {
		*ret = set_mask((int)a[0], (const uint64_t *)a[1], (uint64_t *)a[2]);
	} else {
		*ret = RT_WRAPPED(sigaltstack)((const stack_t *)a[0], (stack_t *)a[1]);
	}
	return true;
}
