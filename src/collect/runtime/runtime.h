/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtime of programs built by `loci cc`, within itself.
 *
 * It is a guest in somebody's program: memory comes from mmap, system calls are made directly where
 * signals may be blocked, errno stays as it was, nothing is printed, and what cannot be done is not
 * done. A process is off (nobody records it: code counts, and nothing else happens), counting, or
 * tracing. Once off it stays off.
 *
 * Signals. A handler runs on a level of its own, with its own ring: whatever it interrupts, code
 * that appends or the runtime in the midst of a marker, is continued when it returns. So what
 * belongs to a level needs no protection from handlers. What belongs to the thread or the process
 * is changed with all signals blocked, and if other threads change it too, under the one lock. A
 * handler may also leave by longjmp, so a level is changed with signals blocked where it would be
 * left half changed; a marker that is dropped half written is none. */
#ifndef LOCI_COLLECT_RUNTIME_RUNTIME_H
#define LOCI_COLLECT_RUNTIME_RUNTIME_H

#include "collect/run_control.h"
#include "collect/runtime/brief.h"
#include "collect/runtime/cc_abi.h"
#include "collect/runtime/marking.h"
#include "collect/runtime/watch_pace.h"
#include "stream/ring_producer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <ucontext.h>

#define RT_LEVELS     17 /* the thread itself, and handlers within handlers */
#define RT_PATH_BYTES (LOCI_RING_PATH_MAX + 64)
#define RT_ENDLESS    ((int64_t)1 << 62) /* a budget */
#define RT_LOOK_REFS  10000              /* between looks whether a window has begun */
#define RT_SINK_WORDS 128
#define RT_SINK_MOST  1024

enum rt_mode {
	RT_UNKNOWN = 0, /* nobody has looked yet */
	RT_OFF,
	RT_COUNT,
	RT_TRACE,
};

struct rt_burst;
struct rt_stripe;

/* What a handler interrupted, and for which signal. */
struct rt_interruption {
	int signal;
	uintptr_t frame;         /* of what called the handler, above its own frames */
	uintptr_t stack_pointer; /* of what it interrupted */
	uint64_t own_blocked;    /* by the program then, of the signals that the runtime took */
};

struct rt_level {
	struct loci_ring_producer ring;
	struct loci_cc_state *live; /* in the ring's header; NULL: no ring */
	struct loci_cc_state quiet; /* where words go when none are wanted */
	struct rt_interruption by;
	bool entered; /* SIGNAL_ENTER was written */
	bool deaf;    /* there was no room for a ring */
	size_t mapped_bytes;
};

/* Its place among the others (turns.h). */
struct rt_turn {
	uint32_t state;
	uint32_t is_lost; /* others do not wait for it until it comes again */
	bool waits;       /* in the runtime, for others or for the recorder */
	uint32_t tid;     /* of the kernel; 0: it has not begun */
	uint64_t added;   /* its clock is its references, and these */
	uint64_t until;   /* the place of the least of the others, when last seen .. */
	uint64_t changes; /* .. and what had changed by then */
	const struct loci_cc_thread *counter; /* its __loci_thread; NULL: not begun, or ended .. */
	uint32_t readers;                     /* .. and who looks there now */
	uint32_t patience;                    /* naps for which others wait for it */
	const volatile void *at;              /* where it is parked .. */
	uint64_t ticket;                      /* .. and who was before */
	struct rt_thread *woken_next;         /* of those that are woken together */
	uint64_t team;      /* whose others may not have begun yet (teams.h); 0: none .. */
	uint32_t team_size; /* .. and how many these are */
};

/* Of its large references (watch_bulk.h). */
struct rt_extent {
	uintptr_t address;
	size_t bytes;
	uint32_t op;
};
struct rt_parts {
	uint64_t ahead, mean;      /* until the next sample, and of the draw */
	uint64_t touched;          /* blocks so far, by those that are over */
	struct rt_extent range[2]; /* of the one that is on its way, in their order .. */
	uintptr_t frame;           /* .. if the stack reaches below this, .. */
	uintptr_t pointer,
		back; /* .. called by the code with this frame pointer, from before there */
};

#define RT_GONE_BITS 6

/* Allocations by one call that were freed before anybody was told of them (untold.h). */
struct rt_gone {
	uint64_t site, n, bytes; /* of the largest */
};

/* A thread. These are never given back, only used again. */
struct rt_thread {
	struct rt_thread *next;
	uint32_t in_use;
	uint32_t id, parent;
	uint32_t depth;   /* the current level */
	int64_t offset;   /* references executed: offset less the budget */
	uint64_t unheard; /* of these, without a ring to go to */
	bool recording;   /* a window is open, or there are none */
	bool has_jumped;  /* out of a handler */
	bool is_told;     /* its maker has written CREATE */
	uint32_t blocked_depth;
	uint32_t omp_waits; /* of OpenMP that it is in */
	bool omp_is_idle;   /* the library waits, or is about to begin something */
	bool omp_is_within; /* a barrier that is not its region's end */
	uint64_t omp_place; /* of libgomp's regions: openmp.h */
	bool is_blocked;    /* BLOCKED was written */
	uint32_t busy;      /* signals are to wait (deferring.h) */
	int put_off;        /* the one that does; 0: none */
	bool put_off_informs;
	uint64_t put_off_mask; /* signals that were blocked when it came */
	siginfo_t put_off_info;
	bool is_atomic;         /* an atomic operation of the program's is on its way .. */
	struct rt_stripe *held; /* .. and has this lock (atomics.c) */
	unsigned rounds;        /* of destructors of thread-specific data that have passed */
	uint64_t fork_mask;     /* signals that were blocked before fork */
	void *(*start)(void *);
	int (*start_c11)(void *);
	uint64_t inherits; /* signals blocked by who made it, of those that are taken */
	void *argument;
	/* Sampling: */
	uint64_t random;      /* state of its generator */
	uint64_t next_sample; /* the number of the reference that is its next sample */
	uint64_t next_mean;   /* of the gap before it */
	uint64_t margin;      /* so many references before it the thread begins to record */
	uint64_t window_refs; /* of the thread when it began */
	uint64_t ahead;       /* references in this window, as others see them */
	uint32_t is_stuck;    /* others do not wait for it until it comes again */
	uint64_t sink[RT_SINK_MOST + LOCI_CC_ROOM_WORDS];
	/* Watching: */
	struct rt_burst *burst;                /* NULL: it takes no samples */
	struct rt_parts parts;                 /* watch_bulk.h */
	const struct loci_cc_thread *counting; /* its __loci_thread */
	struct rt_pace pace;
	uint64_t run_refs;  /* of loops told by RUNs between two comings, at most, of late .. */
	uint64_t word_refs; /* .. and those that a word told of */
	bool is_near;       /* RUNs are not allowed now: it has a sample ahead, or one too young */
	uint64_t rested;    /* its count when it came last and had no sample */
	uint64_t tail_refs, tail_now; /* references in its tracing copy when a look or burst was
					 over: of late, and so far */
	struct rt_turn turn;
	uint64_t *counters; /* of executions; NULL: none yet */
	struct rt_gone gone[1 << RT_GONE_BITS];
	uintptr_t new_site;          /* of an operator new that is on its way to malloc */
	char path[2][RT_PATH_BYTES]; /* stacks may be small */
	struct loci_marking_thread marks;
	struct rt_level level[RT_LEVELS];
};

/* The process. */
struct rt_image {
	uint32_t mode; /* enum rt_mode */
	uint32_t lock;
	pid_t pid;
	int number; /* of the program it is in this process */
	bool ended;
	bool is_threaded;    /* there have been other threads */
	bool learns;         /* functions are to be known also while no words are wanted */
	bool is_plain;       /* no code in it was compiled by `loci cc` when it began */
	bool samples;        /* windows are where threads have samples */
	bool watches;        /* samples are watched, and no words go to the recorder (watching.h) */
	unsigned turn_shift; /* turns are of 1 << so many references; 0: none are taken */
	uint64_t salt;       /* of the generators of this process */
	uint64_t forks;      /* children so far: each samples other references */
	struct loci_control *control;
	uint64_t sequence;
	uint64_t n_strings;
	uint32_t n_rings;
	struct rt_thread *threads;
	struct loci_ring_producer ring;
	void *mapped;
	size_t mapped_bytes;
	char dir[LOCI_RING_PATH_MAX];
	char variable[LOCI_RING_PATH_MAX + sizeof(LOCI_RUN_VARIABLE) + 1]; /* of the environment */
	char path[2][RT_PATH_BYTES];
};

extern struct rt_image rt __attribute__((visibility("hidden")));
extern __thread struct rt_thread *rt_self __attribute__((tls_model("initial-exec")));
extern pthread_key_t rt_key; /* whose destructor ends a thread */

/* attach.c */
enum rt_mode rt_attach(void); /* looks around if nobody has; errno is kept */
bool rt_is_chosen(void);      /* this process is to be watched */
bool rt_begin_image(void);    /* the process's ring; lock held */
void rt_go_off(void);         /* nothing is written from here on, by any thread; lock held */

/* All threads that there have been, for who looks without having made one. */
static inline struct rt_thread *rt_threads(void)
{
	return __atomic_load_n(&rt.threads, __ATOMIC_ACQUIRE);
}

static inline bool rt_is_threaded(void)
{
	return __atomic_load_n(&rt.is_threaded, __ATOMIC_RELAXED);
}

static inline enum rt_mode rt_mode(void)
{
	enum rt_mode mode = (enum rt_mode)__atomic_load_n(&rt.mode, __ATOMIC_ACQUIRE);

	return mode == RT_UNKNOWN ? rt_attach() : mode;
}

/* system.c: signals and the lock. Whoever holds it has blocked all signals. */
uint64_t rt_block(void); /* returns the signals blocked before */
/* And what came meanwhile of the signals that the runtime took, and is the program's. */
void rt_unblock(uint64_t mask);
void rt_unblock_only(uint64_t mask);
/* Only the runtime, and the C library in moments of its own, block the signals that the library
 * keeps for itself. */
static inline bool rt_is_closed(uint64_t mask)
{
	return (mask >> 31 & 3) == 3;
}
/* By rt_block, from here on: these and no others; those that may be blocked. */
void rt_keep_unblocked(uint64_t signals);
uint64_t rt_blockable(uint64_t signals);
void rt_lock(void);
void rt_unlock(void);
void rt_unmap(void *memory, size_t bytes);
uint64_t rt_now_ns(void);
uint64_t rt_own_ns(void); /* that the thread has had of a processor */
void rt_text(char *to, size_t bytes, const char *format, ...); /* %s and %u */

/* files.c: rings and what else is in the run's directory. */
int rt_take_number(void); /* of this image; -1: failed */
void rt_leave_unheard(void);
/* A ring "PID.N.number.ring", or the process's where number is 0. Paths are scratch memory.
 * NULL: there is no room. */
void *rt_make_ring(struct loci_ring_producer *ring, uint32_t number, bool is_small,
	char path[2][RT_PATH_BYTES], size_t *ret_bytes);
struct loci_control *rt_map_control(const char *path);

/* process.c */
bool rt_is_this_process(void); /* not a child by vfork, which uses our memory */
/* The process's ring; lock held. */
void rt_process_mark(enum loci_marker kind, uint64_t payload, unsigned n_raw, const uint64_t *raw);
uint64_t *rt_process_begin(enum loci_marker kind, uint64_t payload, unsigned n_raw); /* raw words */
void rt_process_commit(void);
uint64_t rt_process_string(const char *text);

/* thread_record.c: this thread, or NULL where words and counts are not wanted. */
struct rt_thread *rt_thread(void);
struct rt_thread *rt_thread_take(uint32_t parent); /* for a thread to come; NULL: no */
void rt_thread_give_back(struct rt_thread *thread);
/* In the thread itself, signals blocked: it begins, ends, is the first one of a child, is no longer
 * watched. */
void rt_thread_begin(struct rt_thread *thread);
void rt_thread_end(struct rt_thread *thread);
void rt_thread_again(struct rt_thread *thread);
void rt_thread_forsake(void);
/* For handlers that no level is left for: what they do is only counted. */
void rt_thread_mute(struct rt_thread *thread);
void rt_thread_unmute(void);
void rt_threads_forget(struct rt_thread *but); /* in a child */
/* References so far. Only in the thread itself. */
uint64_t rt_thread_count(const struct rt_thread *thread);
void rt_thread_tell_count(struct rt_thread *thread);
void rt_thread_set_budget(struct rt_thread *thread, int64_t budget);
/* Which others look at. */
static inline void rt_thread_set_recording(struct rt_thread *thread, bool recording)
{
	__atomic_store_n(&thread->recording, recording, __ATOMIC_RELAXED);
}

/* level.c: a marker of this thread. */
void rt_mark(struct rt_thread *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw,
	const uint64_t *raw);
/* A reference of a block that has one, if words are wanted; bytes 0: it is no range. */
void rt_refer(struct rt_thread *thread, uint64_t block, uint64_t address, uint64_t bytes);
void rt_flush(struct rt_thread *thread);
/* The recorder gets all words of this level now. Signals blocked. */
void rt_push(struct rt_thread *thread);
static inline uint64_t rt_next_sequence(void)
{
	return __atomic_add_fetch(&rt.sequence, 1, __ATOMIC_SEQ_CST); /* from 1 */
}

/* window.c: whether words are wanted. */
void rt_window_look(struct rt_thread *thread);
bool rt_window_is_shut(const struct rt_thread *thread);   /* and the thread has run out of budget */
int64_t rt_window_budget(const struct rt_thread *thread); /* until that is to be asked again */

/* sampling.c: the same where threads open windows themselves. */
void rt_sample_begin(struct rt_thread *thread); /* counts from zero */
/* A child's samples are its own. */
void rt_sample_fork(const struct rt_thread *thread); /* NULL: of a thread that is not watched */
bool rt_sample_is_wanted(const struct rt_thread *thread);
/* It is: begins to record with the others, and opens what is due. */
void rt_sample_join(struct rt_thread *thread);
void rt_sample_open(struct rt_thread *thread);
int64_t rt_sample_budget(const struct rt_thread *thread); /* until it may be */
/* No words are wanted, and code that goes on appending for a while is not to ask all the time. */
void rt_sample_rest(struct rt_thread *thread);
/* Of watched samples too: the generator; words that follow go nowhere; loops may be told by RUNs.
 */
void rt_sample_seed(struct rt_thread *thread);
void rt_sample_quiet(struct rt_thread *thread, unsigned n_words);
void rt_sample_allow_runs(bool allowed);
/* Lets threads that are too far behind catch up. Signals not blocked. */
void rt_sample_wait(struct rt_thread *thread);

/* counters.c: how often blocks executed in counting copies. */
void rt_counters_tell(struct rt_thread *thread);   /* by this thread */
void rt_counters_gather(struct rt_thread *thread); /* .. and those that it did not wait for */
void rt_counters_clear(struct rt_thread *thread);

/* definitions.c, loaded.c; lock held. */
bool rt_define_now(struct loci_cc_function *function); /* false: nothing is written any more */
/* NULL: of a version that this runtime does not know, or none. */
const struct loci_cc_definition *rt_definition_of(const struct loci_cc_function *function);
/* The function of a block; false: none. */
bool rt_known_of_block(uint64_t id, struct rt_known *ret);
/* Of the code around an address. NULL: none is known. */
const struct loci_cc_definition *rt_definition_at(uintptr_t address);
const struct loci_cc_term *rt_terms_of(const struct loci_cc_definition *definition);
void rt_define_all_again(void);
/* A block of one reference, whose site is an address of code; id 0: a new one. */
uint64_t rt_define_told(uint64_t site, uint64_t descriptor, uint64_t id);
void rt_forget_functions(uintptr_t start, size_t bytes);
uint64_t rt_take_block_ids(uint32_t n); /* the first of them */
bool rt_is_defined(uintptr_t code);
bool rt_is_defined_name(const char *name, uintptr_t start, size_t bytes); /* of the code there */
uint32_t rt_module_of(uintptr_t address);
bool rt_is_loader(uintptr_t address); /* its own code, once modules have begun */
bool rt_has_definitions(void);        /* some code of the process was compiled by `loci cc` */
void rt_modules_begin(void);
void rt_modules_tell_again(void); /* in a child */
/* What the loader has there now; false: nothing. Without locks. */
bool rt_module_around(uintptr_t address, uintptr_t *ret_start, size_t *ret_bytes);
void rt_modules_look(void); /* for new ones, with the loader's locks; our lock not held */
/* Code that was not linked to the runtime closes libraries without its knowledge. Lock held. */
void rt_modules_drop_gone(bool is_told);

/* handlers.c: functions that the program installs, and the entries that the kernel is given for
 * them. One that runs in a handler of ours does so on a level of its own. */
typedef void rt_handler_function(int signal, siginfo_t *info, void *context);
struct rt_handling {
	rt_handler_function *handler;
	int signal;
	siginfo_t *info;
	ucontext_t *context;
	uint64_t blocks; /* signals, of those that the runtime took or of all .. */
	bool is_closed;  /* .. because all are blocked until it is called, and from its end on */
	bool has_mask; /* then this is the mask that it is to have, which may not be that of the */
	uint64_t mask; /* thread and these: a call had another */
};
void rt_handler_run(const struct rt_handling *handling);
bool rt_is_function(uintptr_t function); /* not SIG_DFL, and so on */
uintptr_t rt_entry_of(uintptr_t function);
uintptr_t rt_function_of(uintptr_t entry);
int rt_real_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
void rt_handlers_unmask(
	void); /* handlers are not to block what the runtime took; signals blocked */
/* A jump is about to leave handlers that interrupted frames at or above this one; their mask too.
 */
void rt_handlers_leave(uintptr_t target, bool with_mask);

/* Calls into code that was not built by `loci cc`. */
void rt_unseen_count(void);  /* takes what the definitions' counters have .. */
void rt_unseen_tell(void);   /* .. and tells it, by module */
void rt_unseen_forget(void); /* in a child: it is the parent's */
void rt_unseen_now(void);    /* both; lock not held */
void rt_unseen_forget_counts(void);
void rt_unseen_add(const char *name, uintptr_t caller, uint64_t calls);

/* telling.c, signals blocked: the thread ends; it is the only one of a child. */
void rt_marks_leave(struct rt_thread *thread);
void rt_marks_again(struct rt_thread *thread);

/* What ends when. */
void rt_fork_init(void);
void rt_end_init(void);
void rt_end(int status, bool with_loader); /* the process's last words */

/* Called by stubs_x86_64.S. */
void rt_room(void);
void rt_define(struct loci_cc_function *function);
void rt_counters(struct loci_cc_function *function, uint64_t *place);

#endif
