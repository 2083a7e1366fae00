/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that are watched. */
#ifndef LOCI_COLLECT_VALGRIND_CALL_TABLE_H
#define LOCI_COLLECT_VALGRIND_CALL_TABLE_H

#include "collect/valgrind/core.h"
#include "stream/stream.h"

enum call_class {
	CALL_ALLOCATE,    /* bytes: argument `bytes`, times argument `times`; result in RAX */
	CALL_ALLOCATE_TO, /* the result is where argument `object` points */
	CALL_RESIZE,
	CALL_FREE,
	CALL_SYNC,
	CALL_JOIN,
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
};

#define SAY(sync) (1 + LOCI_SYNC_##sync)

/* clang-format off */
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
	{ .name = "pthread_once", .class = CALL_SYNC, .object = 1, .leave = SAY(ACQUIRE), .other = 1 },
	{ .name = "pthread_join", .class = CALL_JOIN, .object = 1, .leave = SAY(THREAD_JOIN) },
};
/* clang-format on */

#endif
