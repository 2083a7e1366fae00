/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control that leaves the usual ways: setjmp, computed goto, asm goto, an irreducible loop, labels
 * in assembly, alloca, variable arguments, tail calls. */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static jmp_buf buffer;
static int data[64];

__attribute__((noinline)) static void leave(int n)
{
	data[n]++;
	if (n == 0)
		longjmp(buffer, 7);
	leave(n - 1);
}

static int jumps(void)
{
	volatile int times = 0;
	int result = setjmp(buffer);
	times++;
	if (times < 10)
		leave(times + result % 3);
	for (int i = 0; i < 64; i++)
		result += data[i] * i;
	return result + times;
}

/* A little machine with computed gotos. */
__attribute__((noinline)) static int machine(const unsigned char *code)
{
	static void *const op[] = { &&push, &&add, &&twice, &&loop, &&end };
	int stack[16], top = 0, rounds = 0;
	const unsigned char *at = code;
	goto *op[*at++];
push:
	stack[top++] = *at++;
	goto *op[*at++];
add:
	top--;
	stack[top - 1] += stack[top];
	goto *op[*at++];
twice:
	stack[top - 1] *= 2;
	goto *op[*at++];
loop:
	if (++rounds < 20) {
		at = code;
		top = 0;
	}
	goto *op[*at++];
end:
	return stack[0] + rounds;
}

__attribute__((noinline)) static int asm_jumps(int *p, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		asm goto("testl $1, %0\n\tjne %l1" : : "r"(p[i]) : "cc" : odd);
		sum += p[i];
		continue;
	odd:
		sum -= p[i] * 2;
	}
	return sum;
}

__attribute__((noinline)) static int irreducible(int n, int *p)
{
	int i = 0, sum = 0;
	if (n & 1)
		goto inside;
again:
	sum += p[i];
	i++;
inside:
	p[i % 8] += sum;
	if (i < n)
		goto again;
	return sum;
}

__attribute__((noinline)) static int labelled(int *p)
{
	int sum = p[0];
	__asm__ volatile("jumping_label:\n\tnop" : "+r"(sum));
	for (int i = 0; i < 5; i++)
		sum += p[i];
	return sum;
}
extern char jumping_label[];

static long sum_of(int n, ...)
{
	va_list list, again;
	long sum = 0;
	va_start(list, n);
	va_copy(again, list);
	for (int i = 0; i < n; i++)
		sum += va_arg(list, long);
	for (int i = 0; i < n; i++)
		sum -= va_arg(again, long) / 2;
	va_end(list);
	va_end(again);
	return sum;
}

__attribute__((noinline)) static int stacks(int n)
{
	int sum = 0;
	for (int i = 1; i < n; i++) {
		int *room = alloca((size_t)i * sizeof(int));
		room[i - 1] = i;
		for (int k = 0; k < i; k++)
			room[k] = k ^ n;
		sum += room[i / 2];
	}
	return sum;
}

static int hops(int n, int *count);
__attribute__((noinline)) static int skips(int n, int *count)
{
	++*count;
	if (n <= 0)
		return *count;
	__attribute__((musttail)) return hops(n - 2, count);
}
__attribute__((noinline)) static int hops(int n, int *count)
{
	*count += 2;
	if (n <= 0)
		return *count;
	__attribute__((musttail)) return skips(n - 1, count);
}

int main(void)
{
	static const unsigned char code[] = { 0, 5, 0, 7, 1, 2, 3, 4 };
	int numbers[20], count = 0;
	for (int i = 0; i < 20; i++)
		numbers[i] = i * 3;
	printf("%d\n", jumps());
	printf("%d\n", machine(code));
	printf("%d\n", asm_jumps(numbers, 20));
	printf("%d %d\n", irreducible(10, numbers), irreducible(7, numbers));
	printf("%d %d\n", labelled(numbers), *jumping_label != 0);
	printf("%ld\n", sum_of(7, 1L, 2L, 3L, 4L, 5L, 6L, 7L));
	printf("%d\n", stacks(30));
	/* Far deeper than a stack is, were the calls not made in place. */
	printf("%d\n", skips(3000000, &count));
	return 0;
}
