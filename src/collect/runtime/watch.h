/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches on blocks of memory: whoever touches one next is told of. By the processor's debug
 * registers, or by taking pages away. They are the process's: any of its threads may fire one,
 * once, and then it is free. Which samples get one is not decided here (watching.h). */
#ifndef LOCI_COLLECT_RUNTIME_WATCH_H
#define LOCI_COLLECT_RUNTIME_WATCH_H

#include "collect/run_control.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* All with signals blocked and the lock held, but fired. */
struct rt_watch_ops {
	/* How many of n this process can have; *failed is -errno where that is fewer. Of a child,
	 * what its parent had is not its own. Called once in each process, before the first arm. */
	unsigned (*begin)(unsigned n, int *failed);
	/* Armed ones that watch nothing any more, a bit each; NULL: there never are. */
	uint64_t (*lost)(void);
	/* A block, aligned to its size, of 1 << control->watching.block_shift bytes; an armed watch
	 * is moved. False: it cannot be watched (memory that is not there, an own page). */
	bool (*arm)(unsigned watch, uintptr_t address);
	void (*disarm)(unsigned watch);
	/* In a new thread, before its first reference; may be NULL. */
	void (*thread_begin)(void);
	/* All are disarmed, and the program's memory and signals are as it expects them. */
	void (*end)(void);
};
extern const struct rt_watch_ops rt_watch_registers, rt_watch_pages;
/* Of pages, what the kernel takes for a fault before and after its handler; stays as it is if that
 * cannot be measured. Without the lock, signals not blocked. */
void rt_pages_measure(uint64_t *before_ns, uint64_t *after_ns);

/* What they call, in the thread that touched the block, in a handler, with all signals blocked and
 * the lock not held. The watch is disarmed already. The context is at the instruction that touched
 * it (pages), or the one behind it (registers). */
void rt_watch_fired(unsigned watch, uintptr_t address, const ucontext_t *context);
/* Likewise: it could not go on (a page that the program protects itself), what becomes of the block
 * is not known, and the watch is free. Of a block that has been armed anew meanwhile it is not
 * meant: that is what the address, in the block, is for. */
void rt_watch_given_up(unsigned watch, uintptr_t address);
/* Likewise: it costs much (a page with many faults beside the block), and a lot decided whether it
 * goes on or is free; one of two does. */
void rt_watch_lot(unsigned watch, uintptr_t address, bool is_kept);
#define RT_WATCH_LOTS 2

/* And what handlers of pages took beside that, of the thread's own time since begun_ns. */
enum rt_watch_work {
	RT_WATCH_BEFORE, /* until a watch fired, or a step was over: the kernel's part is known */
	RT_WATCH_BESIDE, /* a fault beside the block */
	RT_WATCH_LED,    /* a call of the kernel, which comes however few samples there are */
};
uint64_t rt_watch_took(enum rt_watch_work work, uint64_t begun_ns); /* now */

/* watch_stop.c. This process is watched no longer, and why: the first time counts. */
void rt_watch_stop(enum loci_control_stop why);
bool rt_watch_has_stopped(void);
void rt_watch_stop_forget(void); /* it is a new process */

#endif
