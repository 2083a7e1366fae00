/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that are watched. */
#ifndef LOCI_COLLECT_VALGRIND_CALL_TABLE_H
#define LOCI_COLLECT_VALGRIND_CALL_TABLE_H

#include "collect/valgrind/core.h"
#include "collect/valgrind/ordering.h"
#include "stream/stream.h"

enum call_class {
	CALL_ALLOCATE,    /* bytes: argument `bytes`, times argument `times`; result in RAX */
	CALL_ALLOCATE_TO, /* the result is where argument `object` points */
	CALL_RESIZE,
	CALL_FREE,
	CALL_SYNC,
	CALL_JOIN,
	CALL_GIVE,    /* the object is the function that argument `routine` gives to be run */
	CALL_ROUTINE, /* such a function */
};

/* What such a function says: it acquires what it was given with, releases it at its end .. */
enum call_run {
	RUN_REGION,
	RUN_TASK, /* .. or the team's, where it is waited for */
	RUN_ONCE, /* .. or the object of the call that runs it, and has acquired nothing */
};

/* Arguments count from 1; 0: none. What `enter` and `leave` say is 1 more than enum loci_sync, 0 is
 * nothing; leave is said if the function returned 0, or anything where `always` is set. */
struct call_kind {
	const HChar *name;
	enum call_class class;
	UChar object;
	UChar bytes;
	UChar times;
	UChar enter, leave;
	UChar other; /* another object, which is released on entry and acquired at return */
	Bool always;
	Bool holds;    /* calls from inside are calls, not a part of it */
	UChar routine; /* a function that is run */
	Bool points;   /* the second word where that points is the function */
	enum call_run runs;
	UWord fixed; /* the object, where no argument is */
	Addr code;   /* of a routine */
};

#define SAY(sync) (1 + LOCI_SYNC_##sync)

/* clang-format off */
#define JOIN(text) { .name = (text), .class = CALL_JOIN, .object = 1, .leave = SAY(THREAD_JOIN) }
#define TAKE(text, argument, own) { .name = (text), .class = CALL_SYNC, .object = (argument), .fixed = (own), \
	.leave = SAY(ACQUIRE), .always = True }
#define GIVE(text, argument, own) { .name = (text), .class = CALL_SYNC, .object = (argument), .fixed = (own), \
	.enter = SAY(RELEASE) }
#define BARRIER(text) { .name = (text), .class = CALL_SYNC, .fixed = FIXED_TEAM, .holds = True, .always = True, \
	.enter = SAY(BARRIER_ARRIVE), .leave = SAY(BARRIER_LEAVE) }
#define TASK_WAIT(text) { .name = (text), .class = CALL_SYNC, .fixed = FIXED_TEAM, .holds = True, .always = True, \
	.leave = SAY(ACQUIRE) }
#define REGION(text, argument) { .name = (text), .class = CALL_GIVE, .routine = (argument), .runs = RUN_REGION, \
	.enter = SAY(RELEASE), .leave = SAY(ACQUIRE), .holds = True }
#define TASK(text, argument, far) { .name = (text), .class = CALL_GIVE, .routine = (argument), .points = (far), \
	.runs = RUN_TASK, .enter = SAY(RELEASE), .holds = True }

static const struct call_kind call_table[] = {
	{ .name = "malloc", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "calloc", .class = CALL_ALLOCATE, .bytes = 1, .times = 2 },
	{ .name = "realloc", .class = CALL_RESIZE, .object = 1, .bytes = 2 },
	{ .name = "reallocarray", .class = CALL_RESIZE, .object = 1, .bytes = 2, .times = 3 },
	{ .name = "free", .class = CALL_FREE, .object = 1 },
	{ .name = "cfree", .class = CALL_FREE, .object = 1 },
	{ .name = "memalign", .class = CALL_ALLOCATE, .bytes = 2 },
	{ .name = "aligned_alloc", .class = CALL_ALLOCATE, .bytes = 2 },
	{ .name = "valloc", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "pvalloc", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "posix_memalign", .class = CALL_ALLOCATE_TO, .object = 1, .bytes = 3 },
	/* operator new and delete, of arrays, aligned, and those that do not throw */
	{ .name = "_Znwm", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZnwmRKSt9nothrow_t", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZnwmSt11align_val_t", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZnwmSt11align_val_tRKSt9nothrow_t", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_Znam", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZnamRKSt9nothrow_t", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZnamSt11align_val_t", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZnamSt11align_val_tRKSt9nothrow_t", .class = CALL_ALLOCATE, .bytes = 1 },
	{ .name = "_ZdlPv", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdlPvm", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdlPvRKSt9nothrow_t", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdlPvSt11align_val_t", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdlPvmSt11align_val_t", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdaPv", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdaPvm", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdaPvRKSt9nothrow_t", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdaPvSt11align_val_t", .class = CALL_FREE, .object = 1 },
	{ .name = "_ZdaPvmSt11align_val_t", .class = CALL_FREE, .object = 1 },

	{ .name = "pthread_mutex_lock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_mutex_trylock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_mutex_timedlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_mutex_clocklock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_mutex_unlock", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	{ .name = "pthread_rwlock_rdlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_tryrdlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_timedrdlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_wrlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_trywrlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_timedwrlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_unlock", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	{ .name = "pthread_spin_lock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_spin_trylock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_spin_unlock", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	/* the same code as pthread_spin_unlock, and perhaps its name */
	{ .name = "pthread_spin_init", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	{ .name = "pthread_cond_signal", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	{ .name = "pthread_cond_broadcast", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	{ .name = "pthread_cond_wait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE), .other = 2 },
	{ .name = "pthread_cond_timedwait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE), .other = 2,
	  .always = True },
	{ .name = "pthread_cond_clockwait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE), .other = 2,
	  .always = True },
	{ .name = "pthread_barrier_wait", .class = CALL_SYNC, .object = 1,
	  .enter = SAY(BARRIER_ARRIVE), .leave = SAY(BARRIER_LEAVE), .always = True },
	{ .name = "sem_wait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "sem_trywait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "sem_timedwait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "sem_post", .class = CALL_SYNC, .object = 1, .enter = SAY(RELEASE) },
	{ .name = "pthread_once", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE), .holds = True,
	  .routine = 2, .runs = RUN_ONCE },
	JOIN("pthread_join"), JOIN("pthread_tryjoin_np"), JOIN("pthread_timedjoin_np"),
	JOIN("pthread_clockjoin_np"), JOIN("thrd_join"),
	{ .name = "pthread_rwlock_clockrdlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "pthread_rwlock_clockwrlock", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },
	{ .name = "sem_clockwait", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE) },

	/* libgomp */
	REGION("GOMP_parallel", 1), REGION("GOMP_parallel_sections", 1), REGION("GOMP_parallel_reductions", 1),
	REGION("GOMP_parallel_loop_static", 1), REGION("GOMP_parallel_loop_dynamic", 1),
	REGION("GOMP_parallel_loop_guided", 1), REGION("GOMP_parallel_loop_runtime", 1),
	REGION("GOMP_parallel_loop_nonmonotonic_dynamic", 1),
	REGION("GOMP_parallel_loop_nonmonotonic_guided", 1),
	REGION("GOMP_parallel_loop_nonmonotonic_runtime", 1),
	REGION("GOMP_parallel_loop_maybe_nonmonotonic_runtime", 1),
	BARRIER("GOMP_barrier"), BARRIER("GOMP_barrier_cancel"), BARRIER("GOMP_loop_end"),
	BARRIER("GOMP_loop_end_cancel"), BARRIER("GOMP_sections_end"), BARRIER("GOMP_sections_end_cancel"),
	BARRIER("GOMP_single_copy_start"), BARRIER("GOMP_single_copy_end"),
	BARRIER("GOMP_workshare_task_reduction_unregister"),
	TAKE("GOMP_critical_start", 0, FIXED_CRITICAL), GIVE("GOMP_critical_end", 0, FIXED_CRITICAL),
	TAKE("GOMP_critical_name_start", 1, 0), GIVE("GOMP_critical_name_end", 1, 0),
	TAKE("GOMP_atomic_start", 0, FIXED_ATOMIC), GIVE("GOMP_atomic_end", 0, FIXED_ATOMIC),
	TAKE("GOMP_ordered_start", 0, FIXED_ORDERED), GIVE("GOMP_ordered_end", 0, FIXED_ORDERED),
	TAKE("GOMP_doacross_wait", 0, FIXED_ORDERED), GIVE("GOMP_doacross_post", 0, FIXED_ORDERED),
	TAKE("GOMP_doacross_ull_wait", 0, FIXED_ORDERED), GIVE("GOMP_doacross_ull_post", 0, FIXED_ORDERED),
	TASK("GOMP_task", 1, False), TASK("GOMP_taskloop", 1, False), TASK("GOMP_taskloop_ull", 1, False),
	TASK_WAIT("GOMP_taskwait"), TASK_WAIT("GOMP_taskwait_depend"), TASK_WAIT("GOMP_taskgroup_end"),
	TASK_WAIT("GOMP_taskyield"),
	/* libomp; the leading underscores are no part of a name here */
	REGION("kmpc_fork_call", 3), REGION("kmpc_fork_teams", 3),
	BARRIER("kmpc_barrier"), BARRIER("kmpc_cancel_barrier"), BARRIER("kmpc_barrier_master"),
	BARRIER("kmpc_end_barrier_master"), BARRIER("kmpc_copyprivate"),
	TAKE("kmpc_critical", 3, 0), TAKE("kmpc_critical_with_hint", 3, 0), GIVE("kmpc_end_critical", 3, 0),
	TAKE("kmpc_ordered", 0, FIXED_ORDERED), GIVE("kmpc_end_ordered", 0, FIXED_ORDERED),
	TAKE("kmpc_doacross_wait", 0, FIXED_ORDERED), GIVE("kmpc_doacross_post", 0, FIXED_ORDERED),
	TAKE("kmpc_reduce", 0, FIXED_REDUCE), TAKE("kmpc_reduce_nowait", 0, FIXED_REDUCE),
	GIVE("kmpc_end_reduce_nowait", 0, FIXED_REDUCE),
	{ .name = "kmpc_end_reduce", .class = CALL_SYNC, .fixed = FIXED_REDUCE,
	  .enter = SAY(BARRIER_ARRIVE), .leave = SAY(BARRIER_LEAVE), .always = True },
	TASK("kmpc_omp_task", 3, True), TASK("kmpc_omp_task_with_deps", 3, True), TASK("kmpc_taskloop", 3, True),
	TASK_WAIT("kmpc_omp_taskwait"), TASK_WAIT("kmpc_end_taskgroup"), TASK_WAIT("kmpc_omp_taskyield"),
	/* both */
	TAKE("omp_set_lock", 1, 0), TAKE("omp_test_lock", 1, 0), GIVE("omp_unset_lock", 1, 0),
	TAKE("omp_set_nest_lock", 1, 0), TAKE("omp_test_nest_lock", 1, 0), GIVE("omp_unset_nest_lock", 1, 0),
};

static const struct call_kind run_kind[] = {
	[RUN_REGION] = { .class = CALL_ROUTINE, .enter = SAY(ACQUIRE), .leave = SAY(RELEASE), .holds = True },
	[RUN_TASK] = { .class = CALL_ROUTINE, .enter = SAY(ACQUIRE), .leave = SAY(RELEASE),
	  .fixed = FIXED_TEAM, .holds = True },
	[RUN_ONCE] = { .class = CALL_ROUTINE, .leave = SAY(RELEASE), .holds = True },
};
/* clang-format on */

#endif
