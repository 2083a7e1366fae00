// SPDX-License-Identifier: BSD-2-Clause
/* Calls by syscall() that set what the runtime keeps for the program where it took signals, or that
 * wait for these: they are led to what is in front of the C library's functions. The layouts are
 * the kernel's. As of those functions, actions return as the library has it, and the signals that
 * it keeps for itself are not blocked. A pointer to nowhere is a fault. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/own_waits.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#define SIGSET_BYTES  8
#define FIRST_LIBRARY 32 /* signal of its own, up to SIGRTMIN */

int RT_WRAPPED(sigaction)(int, const struct sigaction *, struct sigaction *);
int RT_WRAPPED(sigprocmask)(int, const sigset_t *, sigset_t *);
int RT_WRAPPED(sigaltstack)(const stack_t *, stack_t *);
int RT_WRAPPED(sigpending)(sigset_t *);

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

static long get_pending(uint64_t *to)
{
	sigset_t set = { 0 };
	int r = RT_WRAPPED(sigpending)(&set);

	if (r == 0)
		*to = rt_set_word(&set);
	return r;
}

static rt_system_call *library;

static int timed_wait(const sigset_t *mask, siginfo_t *info, const struct timespec *time)
{
	return (int)library(SYS_rt_sigtimedwait, mask, info, time, SIGSET_BYTES);
}

static bool waits_for_own(const long a[6], sigset_t *ret)
{
	if (!a[0] || a[3] != SIGSET_BYTES)
		return false;
	rt_set_be(ret, *(const uint64_t *)a[0]);
	return rt_own_expects(ret);
}

struct given_mask {
	const uint64_t *set;
	size_t bytes;
};

/* Calls with a mask for their time, and which argument that is. */
static const struct masking {
	long number;
	unsigned argument;
	bool is_pair; /* behind a pointer, with its size */
} masking[] = {
	{ SYS_rt_sigsuspend, 0, false },
	{ SYS_ppoll, 3, false },
	{ SYS_pselect6, 5, true },
	{ SYS_epoll_pwait, 4, false },
	{ SYS_epoll_pwait2, 4, false },
};

static const struct masking *masking_of(long number)
{
	for (unsigned i = 0; i < sizeof(masking) / sizeof(*masking); i++)
		if (masking[i].number == number)
			return &masking[i];
	return NULL;
}

static struct given_mask given_to(const struct masking *of, const long a[6])
{
	const struct given_mask *pair = (const struct given_mask *)a[of->argument];

	if (of->is_pair)
		return pair ? *pair : (struct given_mask){ 0 };
	return (struct given_mask){ (const uint64_t *)a[of->argument],
		(size_t)a[of->argument + 1] };
}

static long wait_masked(const struct masking *of, const struct given_mask *given, const long a[6])
{
	__attribute__((cleanup(rt_own_mask_again))) struct rt_own_instead instead = { 0 };
	sigset_t set = { 0 };
	uint64_t word;
	struct given_mask pair = { &word, SIGSET_BYTES };
	long with[6], r;

	rt_set_be(&set, *given->set);
	word = rt_set_word(rt_own_mask_instead(&instead, &set));
	memcpy(with, a, sizeof(with));
	with[of->argument] = of->is_pair ? (long)&pair : (long)&word;
	do
		r = library(of->number, with[0], with[1], with[2], with[3], with[4], with[5]);
	while (r < 0 && rt_own_was_spurious(&instead));
	return r;
}

static bool wait_by(long number, const long a[6], long *ret)
{
	const struct masking *of = masking_of(number);
	struct given_mask given = { 0 };
	sigset_t set;

	if (of)
		given = given_to(of, a);
	if (given.set && given.bytes == SIGSET_BYTES)
		*ret = wait_masked(of, &given, a);
	else if (number == SYS_rt_sigtimedwait && waits_for_own(a, &set))
		*ret = rt_own_wait(
			timed_wait, &set, (siginfo_t *)a[1], (const struct timespec *)a[2]);
	else
		return false;
	return true;
}

/* The C library has actions of its own, which it sets in this way too. */
static bool is_library_signal(long signal)
{
	return signal >= FIRST_LIBRARY && signal < SIGRTMIN;
}

static bool is_ours(long number, const long a[6])
{
	switch (number) {
	case SYS_rt_sigaction:
		return !is_library_signal((int)a[0]);
	case SYS_rt_sigpending:
		return a[1] == SIGSET_BYTES;
	default:
		return number == SYS_rt_sigprocmask || number == SYS_sigaltstack ||
			number == SYS_rt_sigtimedwait || masking_of(number);
	}
}

bool rt_own_call(rt_system_call *real, long number, const long a[6], long *ret)
{
	bool has_set = number == SYS_rt_sigaction || number == SYS_rt_sigprocmask;

	if (!is_ours(number, a) || !rt_own_is_kept())
		return false;
	library = real;
	if (has_set && a[3] != SIGSET_BYTES) {
		errno = EINVAL;
		*ret = -1;
	} else if (number == SYS_rt_sigaction) {
		*ret = set_action((int)a[0], (const struct action *)a[1], (struct action *)a[2]);
	} else if (number == SYS_rt_sigprocmask) {
		*ret = set_mask((int)a[0], (const uint64_t *)a[1], (uint64_t *)a[2]);
	} else if (number == SYS_rt_sigpending) {
		*ret = get_pending((uint64_t *)a[0]);
	} else if (number == SYS_sigaltstack) {
		*ret = RT_WRAPPED(sigaltstack)((const stack_t *)a[0], (stack_t *)a[1]);
	} else {
		return wait_by(number, a, ret);
	}
	return true;
}
