/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose every reference is known, and is written to the file EXPECTED as word_log.c would
 * list it. All that they refer to is volatile or handed to the C library, so that no optimiser can
 * change it; without one, local variables would be references too, so then only functions without
 * any are called. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define N 100
static volatile long a[N], b[N];
static volatile char c[N];
static volatile int n = 24;
static _Atomic long count;
static char from[N] = "to be or not to be", to[N], more[N] = "to be or what";
static char large[2][400 * N];
static volatile size_t length;
static FILE *out;

static void expect(char op, size_t bytes, const volatile void *address)
{
	fprintf(out, "%c %zu %p\n", op, bytes, (void *)address);
}

static void expect_range(char op, size_t bytes, const volatile void *address)
{
	fprintf(out, "R%c %zu %p\n", op, bytes, (void *)address);
}

__attribute__((noinline)) static void exact_straight(void)
{
	a[3] = b[7];
	c[5] = 1;
	a[a[3]] = c[5];
}

static void expect_straight(void)
{
	expect('L', 8, &b[7]);
	expect('S', 8, &a[3]);
	expect('S', 1, &c[5]);
	expect('L', 1, &c[5]);
	expect('L', 8, &a[3]);
	expect('S', 8, &a[b[7]]);
}

__attribute__((noinline)) static void exact_inner(void)
{
	b[1] = b[2];
}

__attribute__((noinline)) static void exact_outer(void)
{
	a[1] = 0;
	exact_inner();
	a[2] = 0;
	exact_inner();
	exact_inner();
}

static void expect_outer(void)
{
	for (int i = 0; i < 3; i++) {
		if (i < 2)
			expect('S', 8, &a[i + 1]);
		expect('L', 8, &b[2]);
		expect('S', 8, &b[1]);
	}
}

#ifdef __OPTIMIZE__
__attribute__((noinline)) static void exact_atomic(void)
{
	atomic_fetch_add(&count, 3);
	atomic_store(&count, 5);
	if (atomic_load(&count) == 5)
		a[0] = 1;
	else
		a[1] = 1;
}

/* Behind it is what is read, before it what is written. */
static void expect_number(char kind, const volatile void *address)
{
	fprintf(out, "%c %p\n", kind, (void *)address);
}

static void expect_atomic(void)
{
	expect_number('A', &count);
	expect('L', 8, &count);
	expect('S', 8, &count);
	expect_number('R', &count);
	expect('S', 8, &count);
	expect_number('R', &count);
	expect_number('A', &count);
	expect('L', 8, &count);
	expect('S', 8, &a[0]);
}

__attribute__((noinline)) static void exact_loop(void)
{
	for (int i = 0; i < N; i++)
		a[i] = b[N - 1 - i];
}

__attribute__((noinline)) static void exact_branches(void)
{
	for (int i = 0; i < N; i++) {
		if (c[i] & 1) {
			b[i] = 1;
			if (a[i] > 50)
				continue;
			b[i / 2] = 2;
		}
		if (i > 90)
			exact_inner();
		c[i / 3];
	}
}

static void expect_branches(void)
{
	for (int i = 0; i < N; i++) {
		expect('L', 1, &c[i]);
		if (c[i] & 1) {
			expect('S', 8, &b[i]);
			expect('L', 8, &a[i]);
			if (a[i] > 50)
				continue;
			expect('S', 8, &b[i / 2]);
		}
		if (i > 90) {
			expect('L', 8, &b[2]);
			expect('S', 8, &b[1]);
		}
		expect('L', 1, &c[i / 3]);
	}
}

/* Both ways go on from the same references. */
__attribute__((noinline)) static void exact_either(void)
{
	for (int i = 1; i < N; i++) {
		if (c[i] & 1) {
			a[i] = 1;
			(void)c[0];
		} else if (c[i] & 2) {
			(void)n;
			a[0] = 2;
		} else {
			c[i - 1] = 0;
		}
	}
}

static void expect_either(void)
{
	for (int i = 1; i < N; i++) {
		expect('L', 1, &c[i]);
		if (c[i] & 1) {
			expect('S', 8, &a[i]);
			expect('L', 1, &c[0]);
			continue;
		}
		expect('L', 1, &c[i]);
		if (c[i] & 2) {
			expect('L', 4, &n);
			expect('S', 8, &a[0]);
		} else {
			expect('S', 1, &c[i - 1]);
		}
	}
}

__attribute__((noinline)) static void exact_nest(void)
{
	for (int i = 0; i < 30; i++)
		for (int j = 0; j < i; j++)
			a[i] = b[j];
}

/* More words than there is room for at once. */
#define FEW(x)  a[x], a[x + 1], a[x + 2], a[x + 3], a[x + 4]
#define MANY(x) FEW(x), FEW(x + 5), FEW(x + 10), FEW(x + 15), FEW(x + 20)
__attribute__((noinline)) static void exact_long(void)
{
	for (int i = 0; i < 200; i++) {
		(void)(MANY(0), MANY(25), MANY(50), MANY(0), MANY(25), MANY(50));
		(void)(MANY(0), MANY(25), MANY(50), MANY(0), MANY(25), MANY(50));
		(void)(MANY(0), MANY(25), MANY(50), MANY(0), MANY(25), MANY(50));
	}
}

__attribute__((noinline)) static size_t exact_strings(void)
{
	memcpy(to, from, (size_t)n);
	memset(to + 40, 1, (size_t)n);
	length = strlen(to);
	length = (size_t)strcmp(from, more);
	memmove(to, to + 1, 32);
	length = (size_t)(strchr(from, 'r') - from);
	strcat(more, from + n / 2);
	memset(large[0], 1, 400 * (size_t)n);
	memcpy(large[1], large[0], 400 * (size_t)n);
	memmove(large[0], large[0] + 1, 399 * (size_t)n);
	memset(large[1], 2, sizeof(large[1]));
	return length;
}

static void expect_strings(void)
{
	expect('L', 4, &n);
	expect_range('L', 24, from);
	expect_range('S', 24, to);
	expect('L', 4, &n);
	expect_range('S', 24, to + 40);
	expect_range('L', 19, to);
	expect('S', 8, &length);
	expect_range('L', 10, from); /* "to be or n", "to be or w" */
	expect_range('L', 10, more);
	expect('S', 8, &length);
	expect('L', 32, to + 1);
	expect('S', 32, to);
	expect_range('L', 8, from);
	expect('S', 8, &length);
	expect('L', 4, &n);
	expect_range('L', 14, more);     /* "to be or what" */
	expect_range('L', 7, from + 12); /* " to be" */
	expect_range('S', 7, more + 13);
	expect('L', 4, &n);
	expect_range('S', 9600, large[0]);
	expect('L', 4, &n);
	expect_range('L', 9600, large[0]);
	expect_range('S', 9600, large[1]);
	expect('L', 4, &n);
	expect_range('L', 9576, large[0] + 1);
	expect_range('S', 9576, large[0]);
	expect('S', sizeof(large[1]), large[1]);
	expect('L', 8, &length);
}
#endif

#if defined(__AVX2__) && defined(__OPTIMIZE__)
static int v[64];
static volatile __m256i mask, where, result;

__attribute__((noinline)) static void exact_vectors(void)
{
	__m256i some = mask;
	result = _mm256_maskload_epi32(v + 8, some);
	result = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), v, where, some, 4);
	_mm256_maskstore_epi32(v + 32, some, result);
}

static void expect_vectors(void)
{
	mask = _mm256_setr_epi32(0, -1, -1, 0, -1, 0, 0, 0);
	where = _mm256_setr_epi32(-1000000, 40, 3, 9, 17, 9, 9, 9);
	exact_vectors();
	expect('L', 32, &mask);
	expect_range('L', 16, v + 9); /* from the first lane to the last */
	expect('S', 32, &result);
	expect('L', 32, &where);
	for (int lane = 0; lane < 8; lane++)
		if (lane == 1 || lane == 2 || lane == 4)
			expect_range('L', 4, v + (lane == 1 ? 40 : lane == 2 ? 3 : 17));
		else
			fprintf(out, "RL 0 0\n");
	expect('S', 32, &result);
	expect('L', 32, &result);
	expect_range('S', 16, v + 33);
}
#endif

int main(void)
{
	const char *path = getenv("EXPECTED");
	out = fopen(path ? path : "/dev/null", "w");
	b[7] = 9;
	exact_straight();
	expect_straight();
	exact_outer();
	expect_outer();
#ifdef __OPTIMIZE__
	exact_atomic();
	expect_atomic();
	exact_loop();
	for (int i = 0; i < N; i++) {
		expect('L', 8, &b[N - 1 - i]);
		expect('S', 8, &a[i]);
	}
	for (int i = 0; i < N; i++) {
		c[i] = (char)(i * 7 % 5);
		a[i] = i * 31 % 97;
	}
	exact_branches();
	expect_branches();
	expect_either();
	exact_either();
	exact_nest();
	for (int i = 0; i < 30; i++)
		for (int j = 0; j < i; j++) {
			expect('L', 8, &b[j]);
			expect('S', 8, &a[i]);
		}
	exact_long();
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < 6; k++)
			for (int j = 0; j < 75; j++)
				expect('L', 8, &a[j]);
	exact_strings();
	expect_strings();
#endif
#if defined(__AVX2__) && defined(__OPTIMIZE__)
	expect_vectors();
#endif
	fclose(out);
	printf("%ld %ld\n", a[3], b[7]);
	return 0;
}
