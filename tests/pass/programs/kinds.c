/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses of every kind: atomic, volatile, bit-fields, thread-local, vectors, masked and gathered
 * ones where the machine has them, strings, structures by value, indirect functions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

static _Atomic long shared;
static __thread int mine[4];
static __thread _Atomic long alone; /* where exchanges do not fail by chance */
static volatile int port;
struct packed {
	unsigned a : 3, b : 11, c : 18;
	char tail;
} __attribute__((packed));
struct large {
	double v[30];
};

static void *work(void *argument)
{
	for (int i = 0; i < 1000; i++) {
		atomic_fetch_add(&shared, i);
		mine[i % 4] += (int)(long)argument;
		long seen = atomic_load(&alone) + i % 2;
		atomic_compare_exchange_strong(&alone, &seen, seen + 1);
	}
	return (void *)(long)(mine[0] + mine[3]);
}

__attribute__((noinline)) static void conditional(const int *c, float *x, int n)
{
	for (int i = 0; i < n; i++)
		if (c[i] > 3)
			x[i] += 1.5f;
}

__attribute__((noinline)) static int indexed(const int *at, const int *of, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += of[at[i]];
	return sum;
}

__attribute__((noinline)) static void scattered(const int *at, int *to, int n)
{
	for (int i = 0; i < n; i++)
		to[at[i]] = i;
}

__attribute__((noinline)) static struct large give(double x)
{
	struct large result;
	for (int i = 0; i < 30; i++)
		result.v[i] = x * i;
	return result;
}

__attribute__((noinline)) static double take(struct large l, int i)
{
	return l.v[i] + l.v[29];
}

static int plain_square(int x)
{
	return x * x;
}
static void *choose_square(void)
{
	return (void *)plain_square;
}
int square(int x) __attribute__((ifunc("choose_square")));

static void strings(void)
{
	char text[200], other[200];
	strcpy(text, "the quick brown fox");
	strcat(text, " jumps over");
	strncat(text, " the lazy dog", 5);
	strncpy(other, text, 50);
	printf("%zu %zu\n", strlen(text), strnlen(text, 7));
	printf("%d %d %d\n", strcmp(text, other) == 0, strncmp(text, "the slow", 5) > 0,
		memcmp(text, other, 12));
	printf("%s %s\n", strchr(text, 'q'), strrchr(text, 'o'));
	printf("%zu %zu %s\n", strspn(text, "eht "), strcspn(text, "xyz"), strpbrk(text, "bj"));
	printf("%d\n", (int)((char *)memchr(text, 'k', sizeof(text)) - text));
	memmove(text + 3, text, 20);
	memset(text, 'a', 3);
	printf("%s %s\n", text, strstr(text, "fox"));
	for (int i = 0; i < 10; i++)
		memcpy(other + i * 3, text + i, (size_t)i + 1);
	other[40] = '\0';
	printf("%s\n", other);
}

#ifdef __AVX2__
__attribute__((noinline)) static int vectors(int *p, int n)
{
	__m256i mask = _mm256_setr_epi32(-1, 0, -1, -1, 0, 0, -1, 0);
	__m256i sum = _mm256_setzero_si256();
	for (int i = 0; i + 8 <= n; i += 8) {
		__m256i at = _mm256_setr_epi32(0, 7, 1, 6, 2, 5, 3, 4);
		sum = _mm256_add_epi32(sum, _mm256_maskload_epi32(p + i, mask));
		sum = _mm256_add_epi32(sum, _mm256_i32gather_epi32(p + i, at, 4));
		_mm256_maskstore_epi32(p + i, mask, sum);
	}
	return _mm256_extract_epi32(sum, 2) + _mm256_extract_epi32(sum, 7);
}
#endif

int main(void)
{
	pthread_t thread[3];
	int at[100], of[100], to[100] = { 0 };
	float x[100];
	long done = 0;
	for (long i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++) {
		void *result;
		pthread_join(thread[i], &result);
		done += (long)result;
	}
	printf("%ld %ld\n", (long)shared, done);
	for (int i = 0; i < 100; i++) {
		at[i] = i * 37 % 100;
		of[i] = i % 9;
		x[i] = (float)i;
	}
	conditional(of, x, 99);
	scattered(at, to, 99);
	float sum = 0;
	for (int i = 0; i < 100; i++)
		sum += x[i];
	printf("%g %d %d\n", sum, indexed(at, of, 99), indexed(at, to, 98));
	for (int i = 0; i < 10; i++)
		port = port + i;
	struct packed p[10];
	memset(p, 0, sizeof(p));
	for (int i = 0; i < 10; i++) {
		p[i].b = (unsigned)i * 3;
		p[i].c += p[i].b;
		p[i].tail = (char)p[i].c;
	}
	printf("%d %d\n", port, p[9].tail);
	printf("%g\n", take(give(2.5), 7));
	printf("%d\n", square(12));
	strings();
#ifdef __AVX2__
	printf("%d\n", vectors(at, 100) != 0);
#endif
	return 0;
}
