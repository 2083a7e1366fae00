// SPDX-License-Identifier: GPL-2.0-or-later
/* Every way an x86-64 program has of touching memory, once or a few times. */
#include <immintrin.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned char bytes[4096] __attribute__((aligned(64)));
static unsigned char other[4096] __attribute__((aligned(64)));
static volatile int handled;

static __attribute__((noinline)) unsigned fibonacci(unsigned n)
{
	volatile unsigned kept = n;

	return kept < 2 ? kept : fibonacci(kept - 1) + fibonacci(kept - 2);
}

static void strings(void)
{
	void *to = bytes, *from = other;
	unsigned long n = 100;

	memset(other, 7, sizeof(other));
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	n = 33;
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(5ul) : "memory");
	to = bytes;
	n = 50;
	__asm__ volatile("repne scasb" : "+D"(to), "+c"(n) : "a"(9) : "memory", "cc");
	to = bytes;
	from = other;
	n = 40;
	__asm__ volatile("repe cmpsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory", "cc");
	from = other;
	__asm__ volatile("lodsq" : "+S"(from) : : "rax", "memory");
	n = 0;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static __attribute__((target("avx2"))) int vectors(void)
{
	__m128i narrow = _mm_loadu_si128((const __m128i *)(bytes + 3));
	__m256i wide = _mm256_loadu_si256((const __m256i *)(bytes + 61));
	__m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, -1, 0), index;

	_mm_stream_si128((__m128i *)other, narrow);
	_mm256_store_si256((__m256i *)(other + 64), wide);
	/* Guarded: only the elements whose mask is set. */
	wide = _mm256_maskload_epi32((const int *)(bytes + 8), mask);
	_mm256_maskstore_epi32((int *)(other + 128), mask, wide);
	index = _mm256_setr_epi32(0, 5, 10, 15, 20, 25, 30, 35);
	wide = _mm256_mask_i32gather_epi32(wide, (const int *)bytes, index, mask, 4);
	return _mm256_extract_epi32(wide, 0);
}

static int atomics(void)
{
	static _Atomic int counter;
	static _Alignas(16) uint64_t pair[2] = { 1, 2 };
	uint64_t low = 1, high = 2;
	char same;
	int expected = 0, old;

	atomic_fetch_add(&counter, 3);
	old = atomic_exchange(&counter, 4);
	atomic_compare_exchange_strong(&counter, &expected, 9);
	expected = 4;
	atomic_compare_exchange_strong(&counter, &expected, 9);
	__asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
			 : "=q"(same), "+m"(pair), "+a"(low), "+d"(high)
			 : "b"(5ul), "c"(6ul)
			 : "cc");
	__asm__ volatile("lock incb %0" : "+m"(bytes[10]) : : "cc");
	return old + same + counter;
}

static long double floating(void)
{
	volatile long double extended = 1.5L;
	volatile double sum = 0;
	volatile float single = 2;
	unsigned char state[108];

	for (int i = 0; i < 3; i++)
		sum += (double)extended * single;
	__asm__ volatile("fnstenv %0" : "=m"(*(char(*)[28])state));
	__asm__ volatile("fxsave64 %0" : "=m"(*(char(*)[512])(bytes + 512)));
	__asm__ volatile("fxrstor64 %0" : : "m"(*(const char(*)[512])(bytes + 512)));
	return extended + sum;
}

/* Loops with several ways out. */
static __attribute__((noinline)) int exits(const unsigned char *from, int n)
{
	int found = 0;

	for (int i = 0; i < n; i++) {
		if (from[i] == 77)
			break;
		if (from[i] & 1)
			continue;
		found += from[n - i] ? 2 : from[i / 2];
	}
	return found;
}

static unsigned misaligned(void)
{
	volatile uint64_t *at = (volatile uint64_t *)(bytes + 60); /* two lines */

	*at += 3;
	__asm__ volatile("pushq %0\n\tpopq %0" : "+m"(*(uint64_t *)(bytes + 200)));
	__asm__ volatile("addl $1, %0\n\tnotb %1"
			 : "+m"(*(unsigned *)(bytes + 301)), "+m"(bytes[9]));
	return (unsigned)*at;
}

static void on_signal(int signal)
{
	handled += signal + bytes[0];
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	int sum = 0;

	sum += (int)fibonacci(7);
	strings();
	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)i;
	if (__builtin_cpu_supports("avx2"))
		sum += vectors();
	sum += atomics() + (int)floating() + exits(bytes, 100) + (int)misaligned();
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	printf("%d %d\n", sum, handled);
	return 3;
}
