// SPDX-License-Identifier: GPL-2.0-or-later
/* References of every shape: misaligned, across lines and pages, huge, string instructions,
 * vectors, atomics, non-temporal. */
#include <immintrin.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((target("avx2"))) static long vectors(const int *v, int n)
{
	__m256i sum = _mm256_setzero_si256(), index = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
	int part[8];
	long total = 0;

	for (int i = 0; i + 8 <= n; i += 8) {
		sum = _mm256_add_epi32(sum, _mm256_loadu_si256((const __m256i *)(v + i)));
		sum = _mm256_add_epi32(sum, _mm256_i32gather_epi32(v + i, index, 4));
		sum = _mm256_add_epi32(sum, _mm256_maskload_epi32(v + i, index));
	}
	_mm256_storeu_si256((__m256i *)part, sum);
	for (int i = 0; i < 8; i++)
		total += part[i];
	return total;
}

static long strings(char *to, char *from, size_t n)
{
	char *start = to;
	size_t left = n;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
	left = n / 8;
	to = start;
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(left) : "a"(0x0101010101010101) : "memory");
	return start[n / 2];
}

int main(void)
{
	size_t huge = 32u << 20;
	char *a = malloc(huge + 64), *b = malloc(huge + 64), *edge;
	_Alignas(16) static uint64_t wide[2];
	_Atomic long counter = 0;
	int v[1003];
	long sum = 0;

	memset(a, 3, huge);
	memcpy(b + 1, a, huge);
	memmove(b + 17, b, huge / 2);
	printf("huge: %d\n", b[huge / 2 + 5]);

	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int offset = 4090; offset < 4100; offset++) {
		uint64_t word = 0x1122334455667788;

		memcpy(edge + offset, &word, 8);
		sum += *(volatile uint16_t *)(edge + offset + 3);
	}
	printf("edges: %ld\n", sum);
	for (int i = 0; i < 1003; i++)
		v[i] = i;
	printf("vectors: %ld\n", __builtin_cpu_supports("avx2") ? vectors(v + 1, 1000) : 1497000);
	printf("strings: %ld\n", strings(a + 3, b + 5, 10001));
	for (int i = 0; i < 1000; i++)
		atomic_fetch_add(&counter, i);
	__asm__ volatile("lock cmpxchg16b %0"
			 : "+m"(*(__int128 *)wide)
			 : "a"(0l), "d"(0l), "b"(5l), "c"(6l)
			 : "cc", "memory");
	_mm_stream_si64((long long *)(a + 64), 77);
	_mm_sfence();
	printf("atomics: %ld %ld\n", (long)counter, (long)(wide[0] + wide[1]));
	printf("long double: %.0Lf\n", (long double)sum * 3);
	return 0;
}
