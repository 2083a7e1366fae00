/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomic operations of every kind, in loops, rows, and where code cannot stand twice: as exact.c,
 * expect_* lists what exact_* refer to. Without an optimiser locals are references too. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic unsigned char small;
static _Atomic long count, other;
static _Atomic double sum;
static volatile long plain[8];
static FILE *out;

static void expect(char op, size_t bytes, const volatile void *address)
{
	fprintf(out, "%c %zu %p\n", op, bytes, (void *)address);
}

#ifdef __OPTIMIZE__
static void expect_number(char kind, const volatile void *address)
{
	fprintf(out, "%c %p\n", kind, (void *)address);
}

static void expect_load(const volatile void *address)
{
	expect_number('A', address);
	expect('L', 8, address);
}

static void expect_store(const volatile void *address)
{
	expect('S', 8, address);
	expect_number('R', address);
}

static void expect_modify(size_t bytes, const volatile void *address)
{
	expect_number('A', address);
	expect('L', bytes, address);
	expect('S', bytes, address);
	expect_number('R', address);
}
#endif

__attribute__((noinline)) static void exact_plain(void)
{
	plain[0] = plain[1];
}

#ifdef __OPTIMIZE__
__attribute__((noinline)) static long exact_kinds(void)
{
	long was = 7, x = atomic_load_explicit(&count, memory_order_relaxed);

	plain[0] = x;
	atomic_store_explicit(&other, x + 1, memory_order_release);
	atomic_fetch_xor(&small, 5);
	plain[1] = atomic_exchange(&other, was);
	if (!atomic_compare_exchange_strong(&other, &was, 11))
		plain[2] = 0;
	if (!atomic_compare_exchange_strong(&other, &was, 12))
		plain[3] = was;
	plain[4] = atomic_load_explicit(&other, memory_order_acquire);
	return was;
}

static void expect_kinds(void)
{
	expect_load(&count);
	expect('S', 8, &plain[0]);
	expect_store(&other);
	expect_modify(1, &small);
	expect_modify(8, &other);
	expect('S', 8, &plain[1]);
	expect_modify(8, &other);
	expect_modify(8, &other);
	expect('S', 8, &plain[3]);
	expect_load(&other);
	expect('S', 8, &plain[4]);
}

/* More than there is room for at once. */
#define TEN(x) x x x x x x x x x x
__attribute__((noinline)) static void exact_row(void)
{
	TEN(TEN(atomic_fetch_add(&count, 1); plain[5] = atomic_load(&other);))
}

static void expect_row(void)
{
	for (int i = 0; i < 100; i++) {
		expect_modify(8, &count);
		expect_load(&other);
		expect('S', 8, &plain[5]);
	}
}

__attribute__((noinline)) static void exact_loop(long n)
{
	while (atomic_load_explicit(&count, memory_order_relaxed) < n)
		atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
	for (int i = 0; i < 300; i++)
		atomic_store_explicit(&other, i, memory_order_relaxed);
}

static void expect_loop(void)
{
	for (int i = 0; i < 500; i++) {
		expect_load(&count);
		expect_modify(8, &count);
	}
	expect_load(&count);
	for (int i = 0; i < 300; i++)
		expect_store(&other);
}

/* A place in assembly, which cannot be there twice. */
__attribute__((noinline)) static void exact_place(const unsigned char *code)
{
	for (;; code++) {
		__asm__ volatile("only_once: nop");
		if (*code == 3)
			break;
		if (*code == 0) {
			plain[6] = 2;
			atomic_fetch_add(&count, 2);
			plain[6] = 3;
		} else if (*code == 1) {
			plain[7] = atomic_load(&count);
		} else {
			atomic_exchange(&count, 0);
		}
	}
	atomic_store(&other, 1);
}

static void expect_place(const unsigned char *code)
{
	for (;; code++) {
		expect('L', 1, code);
		if (*code == 3)
			break;
		if (*code == 0) {
			expect('S', 8, &plain[6]);
			expect_modify(8, &count);
			expect('S', 8, &plain[6]);
		} else if (*code == 1) {
			expect_load(&count);
			expect('S', 8, &plain[7]);
		} else {
			expect_modify(8, &count);
		}
	}
	expect_store(&other);
}
#endif

/* A loop that compares and exchanges, since the processor cannot add. */
__attribute__((noinline)) static void add(double x)
{
	double was = sum;

	while (!atomic_compare_exchange_weak(&sum, &was, was + x))
		;
}

int main(void)
{
	static unsigned char code[40];

	out = fopen(getenv("EXPECTED"), "w");
	for (int i = 0; i < 39; i++)
		code[i] = (unsigned char)(i * 7 % 3);
	code[39] = 3;
	for (int i = 0; i < 1000; i++)
		add(0.5);
	exact_plain();
	expect('L', 8, &plain[1]);
	expect('S', 8, &plain[0]);
#ifdef __OPTIMIZE__
	plain[2] = exact_kinds();
	expect_kinds();
	exact_row();
	expect_row();
	exact_loop(600);
	expect_loop();
	exact_place(code);
	expect_place(code);
#endif
	printf("%ld %ld %d %.1f %ld %ld %ld\n", count, other, small, sum, plain[2], plain[3],
		plain[7]);
	fclose(out);
	return 0;
}
