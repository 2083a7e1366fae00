/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that are taken from the program while blocks in them are watched, within watch_pages.c and
 * what belongs to it: faults on them (page_faults.c), system calls (led_calls.c, call_reach.c), and
 * what the program had them as (mappings.c).
 *
 * A page is closed while blocks in it are watched and nobody needs it: whoever does, for a single
 * step or a call of the kernel, opens it for all threads, since protection is the process's. What
 * other threads touch meanwhile is missed.
 *
 * There is one lock, taken in handlers too, so whoever holds it touches nothing but memory of the
 * runtime's own. It is taken inside the runtime's lock, never the other way round. */
#ifndef LOCI_COLLECT_RUNTIME_WATCHED_PAGES_H
#define LOCI_COLLECT_RUNTIME_WATCHED_PAGES_H

#include "collect/runtime/reservoir.h"
#include "collect/runtime/runtime.h"

#include <ucontext.h>

#define RT_PAGE_BYTES  4096u
#define RT_PAGES       (4 * LOCI_RESERVOIR)
/* Faults beside its block that a watch may cost, at some 20 us each; then lots are drawn. An array
 * of floats that is gone through in order has up to 1008 until the block comes again. Without lots
 * a sample of any program would cost 63 in the mean at most, as many as there are other blocks in
 * its page, but a few of them nearly all of these: where the rest of the page is hot and the block
 * is not. */
#define RT_SURE_FAULTS 1024
#define RT_CALL_SLOTS  512
#define RT_SPANS       3
#define RT_WAITS       4 /* that a thread is in: a call, one of a handler that came meanwhile .. */

#define RT_PAGES_SIGNAL(signal) (1ull << ((signal)-1))
#define RT_PAGES_SIGNALS                                                                         \
	(RT_PAGES_SIGNAL(SIGSEGV) | RT_PAGES_SIGNAL(SIGTRAP) | RT_PAGES_SIGNAL(SIGSYS)) /* taken \
											 */

typedef uint64_t rt_page_set; /* a bit for each page */
_Static_assert(RT_PAGES <= 64, "a page has a bit");

struct rt_page {
	uintptr_t address; /* 0: none */
	int own;           /* protection that the program gave it */
	bool is_closed;
	bool is_apart; /* a mapping by itself, lest it become one with its neighbours when it opens
			*/
	uint32_t watches, openers;
};

struct rt_page_watch {
	uintptr_t block;      /* 0: it is free */
	struct rt_page *page; /* NULL: the memory is gone, nobody will touch the block */
	unsigned false_faults;
	unsigned next_lot; /* so many of them, and a lot is drawn */
};

/* What a thread is in the midst of; when it ends the processor traps. */
struct rt_wait {
	bool is_step;      /* of one instruction; else a call of the kernel */
	bool had_trap;     /* the program's own trap flag */
	uint8_t changed;   /* a register that has to have its value again, + 1; 0: none */
	rt_page_set pages; /* open for it */
	uintptr_t at;      /* the instruction, of a step */
	uintptr_t stack;   /* its stack pointer */
	uint64_t mask;     /* signals that were blocked before a step */
	long value;        /* of the register */
};

struct rt_page_thread {
	bool is_led;   /* its system calls are */
	bool is_vfork; /* its child uses our memory; the pages are open for it */
	rt_page_set vfork_pages;
	uintptr_t stack; /* the mapping that it began in */
	size_t stack_bytes;
	unsigned n_waits;
	struct rt_wait wait[RT_WAITS];
	uintptr_t last_address, last_at; /* of a fault on a page that is open */
	unsigned n_last;
	uint64_t stepped_ns; /* its own time when the handler that began a step ended; 0: unknown */
	uint64_t blocked;    /* what the kernel is told instead of .. */
	struct {
		const uint64_t *set;
		uint64_t bytes;
	} blocked_set; /* .. and where that is, of pselect */
};

/* Calls that a thread is in: pages in their reach are not to be closed before they are over, which
 * the slot notes by counting down. */
struct rt_calls {
	uint32_t n; /* first */
	bool is_used;
	struct rt_call_reach {
		uintptr_t stack; /* pointer */
		unsigned n_spans;
		struct rt_span {
			uintptr_t start;
			size_t bytes;
		} span[RT_SPANS];
	} call[RT_WAITS];
};
extern __thread struct rt_calls *rt_calls_self
	__attribute__((visibility("hidden"), tls_model("initial-exec")));

struct rt_pages {
	uint32_t lock;
	uint32_t is_on;
	uint8_t selector; /* read by the kernel at every call */
	bool writes_only;
	unsigned block_shift;
	unsigned n_vforks; /* no page is closed meanwhile */
	unsigned n_watches;
	unsigned n_waits;           /* of all threads, each of which ends with a trap */
	uintptr_t image, image_end; /* of the runtime, whose memory is not watched */
	uintptr_t text, text_end;   /* its code, whose calls are not led */
	uint64_t random;            /* for lots */
	uint64_t given_up;          /* watches whose end is still to be told .. */
	uint64_t lost, kept;        /* .. and lots, of which the first end one */
	struct rt_page_watch watch[LOCI_RESERVOIR];
	struct rt_page page[RT_PAGES];
};
extern struct rt_pages rt_pages __attribute__((visibility("hidden")));
extern __thread struct rt_page_thread rt_page_self __attribute__((tls_model("initial-exec")));

/* watch_pages.c. All but the lock itself, telling and leading with the lock held. */
void rt_pages_lock(void);
void rt_pages_unlock(void);
struct rt_page *rt_page_at(uintptr_t address);          /* NULL: not watched */
rt_page_set rt_pages_in(uintptr_t start, size_t bytes); /* watched ones */
rt_page_set rt_pages_all(void);
static inline rt_page_set rt_page_bit(const struct rt_page *page)
{
	return (rt_page_set)1 << (page - rt_pages.page);
}
void rt_page_open_often(struct rt_page *page); /* it will be, for steps */
void rt_pages_join(rt_page_set pages);         /* with their neighbours */
void rt_pages_open(rt_page_set pages);
void rt_pages_close(rt_page_set pages); /* as often as they were opened */
void rt_page_unwatch(struct rt_page_watch *watch);
void rt_pages_gone(rt_page_set pages); /* their memory is: nobody will touch their blocks */
/* The program's permission is another one now. */
void rt_page_changed(struct rt_page *page, int own);
/* Does so in a program that has stacks of its own making (coroutines). */
void rt_pages_look_at_stack(const ucontext_t *context);
/* No page is watched in this process any more, and the kernel is called as ever. */
void rt_pages_stop(enum loci_control_stop why);
void rt_pages_forget(void); /* in a child: they are the parent's */
bool rt_pages_is_own_code(uintptr_t address);
/* The runtime was interrupted, which may hold its lock. */
bool rt_pages_in_runtime(const ucontext_t *context);
/* No page is watched any more, so that the signals for it can be blocked. */
void rt_pages_leave_signals(enum loci_control_stop why);
/* A fault of another kind, for which the program has a handler. Whether it was in the midst of a
 * single step: nothing of that is left in the context. */
bool rt_pages_leave_step(ucontext_t *context);
bool rt_pages_lead(void); /* the calls of this thread; false: cannot be */

/* What the kernel is told of a handler. */
struct rt_pages_action {
	uintptr_t handler;
	uint64_t flags;
	uintptr_t restorer;
	uint64_t mask;
};
void rt_pages_adapt(struct rt_pages_action *action); /* if it is ours */

/* page_ends.c. The first two with the lock held. */
void rt_pages_give_up(rt_page_set pages); /* watches of these are over */
/* It has cost many faults beside its block: a lot is drawn whether it goes on. */
void rt_page_watch_lot(struct rt_page_watch *watch);
void rt_pages_tell_ends(void);
void rt_pages_tell(const ucontext_t *context); /* likewise, unless it was the runtime */

/* page_faults.c */
bool rt_page_fault(int signal, siginfo_t *info, ucontext_t *context);
bool rt_page_trap(int signal, siginfo_t *info, ucontext_t *context);
/* The thread waits for a call's end. False: it is in too many. Lock held, as for the next. */
bool rt_wait_begin(ucontext_t *context, const struct rt_wait *wait);
void rt_wait_drop_left(ucontext_t *context); /* those that were left by a jump */

/* page_probe.c: whether a fault is one of rt_pages_measure(). */
bool rt_page_probe_met(uintptr_t address);

/* led_calls.c */
bool rt_led_call(int signal, siginfo_t *info, ucontext_t *context);
bool rt_is_slot_of_thread(uintptr_t address); /* behind a call that makes threads */

/* The stack of what was interrupted is shallower than it was: it was left by a jump. Of a handler's
 * own stack that says nothing. */
bool rt_pages_was_left(uintptr_t stack, const ucontext_t *context);

/* call_reach.c: memory that the kernel may touch in a call. */
void rt_call_reach(long number, const long argument[6], struct rt_call_reach *ret);
rt_page_set rt_reached_pages(const struct rt_call_reach *reach);
bool rt_calls_take(void); /* for this thread; false: no more */
void rt_calls_give_back(void);
void rt_calls_clear(void);
void rt_calls_begin(const struct rt_call_reach *reach, const ucontext_t *context);
bool rt_is_reached(uintptr_t page); /* by a call that is not over */

/* mappings.c */
struct rt_mapping {
	uintptr_t start, end;
	int protection;
	bool is_special; /* a stack, code of the kernel's, or of large pages */
};
bool rt_mapping_of(uintptr_t address, struct rt_mapping *ret);
bool rt_mappings_ran_out(void); /* it could not be asked the last time, for want of descriptors */
void rt_mappings_forget(void);  /* they change */
/* Memory of a thread that is never watched: its stacks, and what is in front of its TCB. */
bool rt_refused_add(uintptr_t start, uintptr_t end);
void rt_refused_drop(void); /* this thread ends */
void rt_refused_clear(void);
bool rt_is_refused(uintptr_t start, size_t bytes);
bool rt_refuse_thread(void);
/* Likewise, of a thread that is watched already; lock not held. */
void rt_pages_refuse(uintptr_t start, uintptr_t end);
/* One of the thread's own, or that the kernel was told of: not one in memory of the program's,
 * which is watched like any other, where the kernel would end the process for a page that is
 * closed. */
bool rt_is_known_stack(uintptr_t pointer);

#endif
