// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#include <stdarg.h>
#include <time.h>

#define SYS_RT_SIGPROCMASK 14
#define SYS_CLOCK_GETTIME  228
#define SIG_SETMASK_NR     2
#define SIGSET_BYTES       8

static uint64_t all = ~0ull;

void rt_keep_unblocked(uint64_t signals)
{
	all = ~signals;
}

uint64_t rt_blockable(uint64_t signals)
{
	return signals & all;
}

uint64_t rt_block(void)
{
	uint64_t before = 0;

	loci_syscall6(
		SYS_RT_SIGPROCMASK, SIG_SETMASK_NR, (long)&all, (long)&before, SIGSET_BYTES, 0, 0);
	return before;
}

void rt_unblock_only(uint64_t mask)
{
	loci_syscall6(SYS_RT_SIGPROCMASK, SIG_SETMASK_NR, (long)&mask, 0, SIGSET_BYTES, 0, 0);
}

void rt_unblock(uint64_t mask)
{
	rt_unblock_only(mask);
	if (rt_own_taken && !rt_is_closed(mask))
		rt_own_release_due();
}

/* 0: free, 1: held, 2: held, and someone waits. */
void rt_lock(void)
{
	uint32_t was = 0;

	if (__atomic_compare_exchange_n(&rt.lock, &was, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&rt.lock, 2, __ATOMIC_ACQUIRE))
		loci_futex_wait(&rt.lock, 2, 1000000000u);
}

void rt_unlock(void)
{
	if (__atomic_exchange_n(&rt.lock, 0, __ATOMIC_RELEASE) == 2)
		loci_futex_wake(&rt.lock);
}

#ifdef __SANITIZE_THREAD__
extern int __real_munmap(void *memory, size_t bytes);
#endif

/* The thread sanitizer, where it watches the runtime, is not to take what comes there next for the
 * same memory. */
void rt_unmap(void *memory, size_t bytes)
{
#ifdef __SANITIZE_THREAD__
	__real_munmap(memory, bytes);
#else
	loci_syscall3(LOCI_SYS_MUNMAP, (long)memory, (long)bytes, 0);
#endif
}

uint64_t rt_now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t rt_own_ns(void)
{
	struct timespec now = { 0 };

	loci_syscall3(SYS_CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static size_t put_number(char *to, size_t room, unsigned number)
{
	char digit[10];
	size_t n = 0, i;

	do
		digit[n++] = (char)('0' + number % 10);
	while (number /= 10);
	for (i = 0; i < n && i < room; i++)
		to[i] = digit[n - 1 - i];
	return i;
}

void rt_text(char *to, size_t bytes, const char *format, ...)
{
	size_t at = 0;
	va_list args;

	va_start(args, format);
	for (; *format && at + 1 < bytes; format++) {
		if (*format != '%') {
			to[at++] = *format;
		} else if (*++format == 's') {
			for (const char *s = va_arg(args, const char *); *s && at + 1 < bytes; s++)
				to[at++] = *s;
		} else {
			at += put_number(to + at, bytes - 1 - at, va_arg(args, unsigned));
		}
	}
	va_end(args);
	to[at] = '\0';
}
