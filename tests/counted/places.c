// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory in all the places that variables can have, referred to a known number of times each.
 * tests/cli/cc_places_test.sh has the counts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define KEEP __attribute__((noinline))

static __thread volatile long own[8];
static volatile long global[8];

/* 2n */
static KEEP void bump(int n)
{
	for (int i = 0; i < n; i++)
		own[i & 7]++;
}

/* 1000 + 1000, more than a megabyte below its frame */
static KEEP long deep(void)
{
	volatile long huge[400000];
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		huge[i * 100] = i;
	for (int i = 0; i < 1000; i++)
		sum += huge[i * 100];
	return sum;
}

/* 200 + 200, in a frame that is aligned at run time */
static KEEP long aligned(int n)
{
	volatile long wide[64] __attribute__((aligned(64)));
	long sum = 0;

	for (int i = 0; i < n; i++)
		wide[i & 63] = i;
	for (int i = 0; i < n; i++)
		sum += wide[i & 63];
	return sum;
}

/* 300 + 300, as long as is found when it runs */
static KEEP long flexible(int n)
{
	volatile long flex[n];
	long sum = 0;

	for (int i = 0; i < n; i++)
		flex[i] = i;
	for (int i = 0; i < n; i++)
		sum += flex[i];
	return sum;
}

static KEEP long look(volatile long *p, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += p[i & 7];
	return sum;
}

/* 8 + 100 and 8 + 50, in the same place if the compiler likes */
static KEEP long shared(int n)
{
	long sum = 0;

	{
		volatile long first[8];

		for (int i = 0; i < 8; i++)
			first[i] = n;
		sum += look(first, 100);
	}
	{
		volatile long second[8];

		for (int i = 0; i < 8; i++)
			second[i] = n;
		sum += look(second, 50);
	}
	return sum;
}

/* 16 + 16, parted if the compiler likes */
static KEEP long parted(int n)
{
	volatile long pieces[16];
	long sum = 0;

	for (int i = 0; i < 16; i++)
		pieces[i] = n;
	for (int i = 0; i < 16; i++)
		sum += pieces[i];
	return sum;
}

static KEEP void *xmalloc(size_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		abort();
	return memory;
}

/* n + 1 */
static KEEP long fill(volatile long *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = i;
	return p[n - 1];
}

/* 16 + 1, on another stack; and 20 of the thread's own */
static void *work(void *argument)
{
	volatile long mine[16];

	for (int i = 0; i < 16; i++)
		mine[i] = i;
	bump(10);
	return (void *)(mine[3] + fill(argument, 16));
}

int main(void)
{
	volatile long *one, *two, *common, *mapped;
	pthread_t thread;
	long sum = 0;
	void *result;

	bump(100);
	sum += deep();
	sum += aligned(200);
	sum += flexible(300);
	sum += shared(3);
	sum += parted(3);
	sum += look(global, 70);
	one = xmalloc(800);
	two = xmalloc(1600);
	sum += fill(one, 100) + fill(two, 200);
	mapped = mmap(NULL, 8000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sum += fill(mapped, 1000);
	common = calloc(16, 8);
	if (pthread_create(&thread, NULL, work, (void *)common) != 0)
		return 1;
	pthread_join(thread, &result);
	printf("%ld\n", sum + (long)result);
	return 0;
}
