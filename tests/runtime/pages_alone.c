// SPDX-License-Identifier: GPL-2.0-or-later
#include "pages_alone.h"
#include "check.h"
#include "collect/runtime/own_signals.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rt_image rt;
__thread struct rt_thread *rt_self;
static struct loci_control control;
struct loci_control_watching *watching = &control.watching;

struct told fired[PAGES_TOLD], given_up[PAGES_TOLD], lost[PAGES_TOLD];
unsigned n_fired, n_given_up, n_lost, n_kept, n_took[3];

static void add(struct told *to, unsigned *n, unsigned watch, uintptr_t address)
{
	unsigned at = __atomic_fetch_add(n, 1, __ATOMIC_SEQ_CST);

	if (at < PAGES_TOLD)
		to[at] = (struct told){ watch, address, pthread_self() };
}

void rt_watch_fired(unsigned watch, uintptr_t address, const ucontext_t *context)
{
	(void)context;
	add(fired, &n_fired, watch, address);
}

void rt_watch_lot(unsigned watch, uintptr_t address, bool is_kept)
{
	if (is_kept)
		n_kept++;
	else
		add(lost, &n_lost, watch, address);
}

void rt_watch_given_up(unsigned watch, uintptr_t address)
{
	add(given_up, &n_given_up, watch, address);
}

uint64_t rt_watch_took(enum rt_watch_work work, uint64_t begun_ns)
{
	__atomic_fetch_add(&n_took[work], 1, __ATOMIC_RELAXED);
	return begun_ns;
}

uint64_t rt_own_taken; /* no signal waits */
void rt_own_release_due(void);
void rt_own_release_due(void)
{
}

/* The kernel has the program's. */
const stack_t *rt_own_stack_program(void)
{
	static const stack_t none = { .ss_flags = SS_DISABLE };

	return &none;
}

bool rt_own_is_setting(void)
{
	return false;
}

static rt_own_handler *own[65];
void (*programs[65])(int, siginfo_t *, void *);

static void on_own(int signal, siginfo_t *info, void *context)
{
	sigset_t mask = ((ucontext_t *)context)->uc_sigmask;

	if (own[signal](signal, info, context))
		return;
	if (!programs[signal]) {
		fprintf(stderr, "signal %d code %d address %p at %llx\n", signal, info->si_code,
			info->si_addr, ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
		abort();
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	programs[signal](signal, info, context);
}

bool rt_own_signal_take(int signal, rt_own_handler *handler)
{
	struct sigaction action = { .sa_sigaction = on_own, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	own[signal] = handler;
	sigfillset(&action.sa_mask);
	return sigaction(signal, &action, NULL) == 0;
}

void pages_begin(unsigned block_shift, bool writes_only)
{
	int failed = 0;

	rt.control = &control;
	rt_watch_stop_forget();
	memset(watching, 0, sizeof(*watching));
	watching->block_shift = block_shift;
	watching->writes_only = writes_only;
	CHECK(rt_watch_pages.begin(PAGES_WATCHES, &failed) == PAGES_WATCHES && failed == 0);
	n_fired = n_given_up = n_lost = n_kept = 0;
	memset(n_took, 0, sizeof(n_took));
}

bool pages_arm(unsigned watch, const volatile void *address)
{
	uint64_t mask = rt_block();
	bool is_armed = rt_watch_pages.arm(watch, (uintptr_t)address);

	rt_unblock(mask);
	return is_armed;
}

bool pages_arm_anew(unsigned watch, const volatile void *address)
{
	rt_mappings_forget();
	return pages_arm(watch, address);
}

void pages_disarm(unsigned watch)
{
	uint64_t mask = rt_block();

	rt_watch_pages.disarm(watch);
	rt_unblock(mask);
}

void pages_end(void)
{
	uint64_t mask = rt_block();

	rt_watch_pages.end();
	rt_unblock(mask);
}

const void *pages_own_memory(void)
{
	return &rt_pages;
}

const void *pages_thread_memory(void)
{
	return &rt_page_self;
}
