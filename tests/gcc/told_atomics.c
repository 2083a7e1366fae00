/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomic operations must be atomic, and of the order asked for, when the runtime makes them. Every
 * kind and size, checked for its result alone and by threads that hammer it. The references are
 * counted in tests/cli/gcc_told_test.sh. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define KEEP    __attribute__((noinline, noclone, noipa))

typedef unsigned __int128 uint128_t;

static int failures;
#define CHECK(condition)                                          \
	do {                                                      \
		if (!(condition)) {                               \
			printf("%d: %s\n", __LINE__, #condition); \
			failures++;                               \
		}                                                 \
	} while (0)

/* 1 store, 1 load, 9 that modify, and one more exchange */
#define EACH(bits)                                                                       \
	uint##bits##_t value##bits;                                                      \
	KEEP void each##bits(uint##bits##_t *v)                                          \
	{                                                                                \
		const uint##bits##_t high = (uint##bits##_t)1 << (bits - 1);             \
		uint##bits##_t expected = 1;                                             \
                                                                                         \
		__atomic_store_n(v, high | 5, __ATOMIC_RELEASE);                         \
		CHECK(__atomic_load_n(v, __ATOMIC_ACQUIRE) == (high | 5));               \
		CHECK(__atomic_exchange_n(v, high | 9, __ATOMIC_ACQ_REL) == (high | 5)); \
		CHECK(__atomic_fetch_add(v, 3, __ATOMIC_RELAXED) == (high | 9));         \
		CHECK(__atomic_fetch_sub(v, 2, __ATOMIC_SEQ_CST) == (high | 12));        \
		CHECK(__atomic_fetch_and(v, high | 6, __ATOMIC_RELAXED) == (high | 10)); \
		CHECK(__atomic_fetch_or(v, 5, __ATOMIC_RELAXED) == (high | 2));          \
		CHECK(__atomic_fetch_xor(v, 3, __ATOMIC_RELAXED) == (high | 7));         \
		CHECK(__atomic_fetch_nand(v, high | 4, __ATOMIC_RELAXED) == (high | 4)); \
		CHECK(!__atomic_compare_exchange_n(                                      \
			v, &expected, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));        \
		CHECK(expected == (uint##bits##_t) ~(high | 4));                         \
		CHECK(__atomic_compare_exchange_n(                                       \
			v, &expected, 77, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));       \
		CHECK(__atomic_exchange_n(v, 0, __ATOMIC_SEQ_CST) == 77);                \
	}
EACH(8)
EACH(16)
EACH(32)
EACH(64)
EACH(128)

static uint8_t count8;
static uint16_t count16;
static uint32_t count32;
static uint64_t count64;
static uint128_t count128;
static uint64_t spun, sum;
static bool held;

static int times = 3000000;
static pthread_barrier_t barrier;

KEEP void hammer(int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t seen;

		__atomic_fetch_add(&count8, 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&count16, 1, __ATOMIC_RELAXED);
		seen = __atomic_load_n(&count32, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(
			&count32, &seen, seen + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		__atomic_fetch_xor(&count64, (uint64_t)1 << i % 64, __ATOMIC_RELAXED);
		__atomic_fetch_add(&count128, ((uint128_t)1 << 64) + 1, __ATOMIC_RELAXED);
	}
}

/* What one thread writes before it lets go, another sees after it took hold. */
KEEP void hold(int n)
{
	for (int i = 0; i < n; i++) {
		while (__atomic_test_and_set(&held, __ATOMIC_ACQUIRE))
			__atomic_fetch_add(&spun, 1, __ATOMIC_RELAXED);
		sum++;
		__atomic_clear(&held, __ATOMIC_RELEASE);
	}
}

static void *run(void *data)
{
	(void)data;
	pthread_barrier_wait(&barrier);
	hammer(times);
	hold(times / 10);
	return NULL;
}

/* Dekker's: of two threads at least one sees the other's flag, if stores and fences order. */
static int flag[2], together;

static void *enter(void *data)
{
	int own = (int)(intptr_t)data;

	for (int i = 0; i < times / 100; i++) {
		pthread_barrier_wait(&barrier);
		if (i % 2) {
			__atomic_store_n(&flag[own], 1, __ATOMIC_SEQ_CST);
		} else {
			__atomic_store_n(&flag[own], 1, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		}
		if (!__atomic_load_n(&flag[!own], __ATOMIC_SEQ_CST))
			__atomic_fetch_add(&together, 1, __ATOMIC_RELAXED);
		pthread_barrier_wait(&barrier);
		__atomic_store_n(&flag[own], 0, __ATOMIC_SEQ_CST);
		if (!own) {
			CHECK(__atomic_exchange_n(&together, 0, __ATOMIC_SEQ_CST) <= 1);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc > 1)
		times = atoi(argv[1]);
	each8(&value8);
	each16(&value16);
	each32(&value32);
	each64(&value64);
	each128(&value128);
	if (times) {
		pthread_barrier_init(&barrier, NULL, THREADS);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, run, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		CHECK(count8 == (uint8_t)(THREADS * times));
		CHECK(count16 == (uint16_t) - (THREADS * times));
		CHECK(count32 == (uint32_t)(THREADS * times));
		CHECK(count64 == 0); /* an even number of times each */
		CHECK(count128 ==
			((uint128_t)(THREADS * times) << 64) + (uint128_t)(THREADS * times));
		CHECK(sum == (uint64_t)THREADS * (times / 10));
		pthread_barrier_init(&barrier, NULL, 2);
		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, enter, (void *)(intptr_t)i);
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	}
	puts(failures ? "failed" : "passed");
	return failures != 0;
}
