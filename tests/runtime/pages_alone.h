/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rt_watch_pages without the rest of the runtime, in a library of its own, as the runtime is. */
#ifndef LOCI_TESTS_RUNTIME_PAGES_ALONE_H
#define LOCI_TESTS_RUNTIME_PAGES_ALONE_H

#include "collect/run_control.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define PAGES_WATCHES 4
#define PAGES_TOLD    256

/* What was told. */
struct told {
	unsigned watch;
	uintptr_t address;
	pthread_t thread;
};
extern struct told fired[PAGES_TOLD], given_up[PAGES_TOLD], lost[PAGES_TOLD];
extern unsigned n_fired, n_given_up, n_lost, n_kept;
extern unsigned n_took[3]; /* by enum rt_watch_work */
extern struct loci_control_watching *watching;

/* What the program would have installed: called where a signal is not ours. */
extern void (*programs[65])(int, siginfo_t *, void *);

void pages_begin(unsigned block_shift, bool writes_only);
bool pages_arm(unsigned watch, const volatile void *address);
bool pages_arm_anew(unsigned watch, const volatile void *address); /* what is known is forgotten */
void pages_disarm(unsigned watch);
void pages_end(void);
const void *pages_own_memory(void);
const void *pages_thread_memory(void);

#endif
