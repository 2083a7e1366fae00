/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls of a ring's producer, made directly: it runs where there is no C library, or
 * where the library is the program's. Each returns what the kernel does: -errno on failure. */
#ifndef LOCI_STREAM_RING_X86_64_H
#define LOCI_STREAM_RING_X86_64_H

#ifndef __x86_64__
#error "the ring's system calls are written for x86-64 only so far"
#endif

#include <stddef.h>
#include <stdint.h>

enum {
	LOCI_SYS_OPEN = 2,
	LOCI_SYS_CLOSE = 3,
	LOCI_SYS_LSEEK = 8,
	LOCI_SYS_MMAP = 9,
	LOCI_SYS_MUNMAP = 11,
	LOCI_SYS_MADVISE = 28,
	LOCI_SYS_GETPID = 39,
	LOCI_SYS_KILL = 62,
	LOCI_SYS_FLOCK = 73,
	LOCI_SYS_FUTEX = 202,
};

static inline long loci_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long loci_syscall3(long number, long a, long b, long c)
{
	return loci_syscall6(number, a, b, c, 0, 0, 0);
}

/* NULL on failure; anonymous memory of this process alone where fd is -1, else the file, shared. */
static inline void *loci_sys_map(size_t bytes, long fd)
{
	register long r10 __asm__("r10") =
		fd < 0 ? 0x22 : 1; /* MAP_PRIVATE|ANONYMOUS, MAP_SHARED */
	register long r8 __asm__("r8") = fd;
	register long r9 __asm__("r9") = 0;
	void *ret;

	__asm__ volatile(
		"syscall"
		: "=a"(ret)
		: "a"((long)LOCI_SYS_MMAP), "D"(0l), "S"(bytes), "d"(3l), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return (uintptr_t)ret > (uintptr_t)-4096 ? (void *)0 : ret;
}

/* Sleeps while *word is expected, for a while at most. The word is shared between processes. */
static inline long loci_futex_wait(const uint32_t *word, uint32_t expected, uint64_t ns)
{
	struct {
		long seconds, nanoseconds;
	} timeout = { (long)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return loci_syscall6(
		LOCI_SYS_FUTEX, (long)word, 0 /* FUTEX_WAIT */, expected, (long)&timeout, 0, 0);
}

static inline long loci_futex_wake(const uint32_t *word)
{
	return loci_syscall3(LOCI_SYS_FUTEX, (long)word, 1 /* FUTEX_WAKE */, 1);
}

#endif
