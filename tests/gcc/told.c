/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References that gcc tells, counted by hand in tests/cli/gcc_told_test.sh: arrays that anybody may
 * see, at every level of optimisation. Each function is called as often as its comment says. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N    100
#define KEEP __attribute__((noinline, noclone, noipa))

uint8_t bytes[N];
uint16_t shorts[N];
uint32_t ints[N];
uint64_t longs[N];
unsigned __int128 wides[N];
struct record {
	uint64_t word[50];
} records[4];

KEEP void sizes(int n) /* 1 */
{
	for (int i = 0; i < n; i++) {
		bytes[i] = (uint8_t)i;
		shorts[i] = (uint16_t)i;
		ints[i] = (uint32_t)i;
		longs[i] = (uint64_t)i;
		wides[i] = (unsigned __int128)i;
	}
}

KEEP void assign(struct record *to, const struct record *from) /* 3 */
{
	*to = *from;
}

KEEP void copy(void *to, const void *from, size_t n) /* 5 */
{
	memcpy(to, from, n);
}

KEEP void clear(void *to, size_t n) /* 7 */
{
	memset(to, 0, n);
}

KEEP size_t measure(const char *text) /* 2 */
{
	return strlen(text);
}

/* Its depth is the argument; each level reads and, when it comes back, writes. */
KEEP void recurse(int n) /* 11 levels */
{
	if (!ints[n % N] && n > 1000)
		abort();
	if (n)
		recurse(n - 1);
	longs[n % N] = 1;
}

static jmp_buf place;

KEEP void leap(int n)
{
	longs[n] = 1;
	if (n == 0)
		longjmp(place, 1);
	leap(n - 1);
	longs[n] = 2; /* never */
}

KEEP void land(void)
{
	if (!setjmp(place))
		leap(9);
	ints[1] = 5;
}

KEEP void last(int n)
{
	longs[n] = 3;
}

KEEP void passes_on(int n) /* a tail call, where the compiler makes them */
{
	ints[n] = 4;
	last(n);
}

static sigjmp_buf after_signal;
static volatile sig_atomic_t signals;

KEEP void touch_in_handler(int n)
{
	for (int i = 0; i < n; i++)
		shorts[i] = 7;
}

static void on_signal(int signal)
{
	touch_in_handler(10);
	if (++signals % 2)
		siglongjmp(after_signal, signal);
}

KEEP void interrupted(int n) /* 20 signals, every other left by a jump */
{
	for (int i = 0; i < n; i++) {
		if (!sigsetjmp(after_signal, 1))
			raise(SIGUSR1);
		bytes[i] = 1;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "sizes"))
		sizes(N);
	if (!strcmp(what, "bulk")) {
		for (int i = 0; i < 3; i++)
			assign(&records[0], &records[1]);
		for (int i = 0; i < 5; i++)
			copy(longs, wides, sizeof(longs));
		for (int i = 0; i < 7; i++)
			clear(longs, sizeof(longs));
		for (int i = 0; i < 2; i++)
			if (measure("a text") != 6)
				return 1;
	}
	if (!strcmp(what, "recurse"))
		recurse(10);
	if (!strcmp(what, "leap"))
		land();
	if (!strcmp(what, "tail"))
		passes_on(3);
	if (!strcmp(what, "signal")) {
		signal(SIGUSR1, on_signal);
		interrupted(20);
		last(1);
		printf("%d signals\n", (int)signals);
	}
	return 0;
}
