// SPDX-License-Identifier: GPL-2.0-or-later
/* A hundred thousand frames deep, and two functions that call each other. */
#include <stdio.h>

static volatile int step = 1;

static __attribute__((noinline)) long down(long n)
{
	return n == 0 ? 0 : down(n - step) + 1;
}

static long odd(long n);

static __attribute__((noinline)) long even(long n)
{
	return n == 0 ? 1 : odd(n - step) + 0 * step;
}

static __attribute__((noinline)) long odd(long n)
{
	return n == 0 ? 0 : even(n - step) + 0 * step;
}

int main(void)
{
	printf("%ld deep, even %ld\n", down(100000), even(20000));
	return 0;
}
