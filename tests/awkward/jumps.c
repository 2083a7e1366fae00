// SPDX-License-Identifier: GPL-2.0-or-later
/* longjmp out of deep calls, again and again, and out of a function called by qsort. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;

static __attribute__((noinline)) int deep(int n)
{
	volatile char pad[64];

	pad[n & 63] = (char)n;
	if (n == 0)
		longjmp(back, 42);
	return deep(n - 1) + pad[n & 63];
}

static int compare(const void *a, const void *b)
{
	static int calls;

	if (++calls == 50)
		longjmp(back, 7);
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	volatile int rounds = 0, sum = 0;
	int v[1000];

	for (rounds = 0; rounds < 200; rounds++) {
		int r = setjmp(back);

		if (r == 0)
			deep(100 + rounds);
		sum += r;
	}
	printf("%d rounds, sum %d\n", rounds, sum);
	for (int i = 0; i < 1000; i++)
		v[i] = i * 7919 % 1000;
	if (setjmp(back) == 0)
		qsort(v, 1000, sizeof(v[0]), compare);
	else
		printf("left qsort\n");
	return 3;
}
