// SPDX-License-Identifier: GPL-2.0-or-later
/* Eight coroutines on stacks from the heap that hand control round. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define N     8
#define STACK (64 * 1024)

static ucontext_t main_context, context[N];
static long total[N];

static __attribute__((noinline)) long work(int id, int round)
{
	long v[32], sum = 0;

	for (int i = 0; i < 32; i++)
		v[i] = id * round + i;
	for (int i = 0; i < 32; i++)
		sum += v[i];
	return sum;
}

static void run(int id)
{
	for (int round = 0; round < 100; round++) {
		total[id] += work(id, round);
		swapcontext(&context[id], id + 1 < N ? &context[id + 1] : &main_context);
	}
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < N; i++) {
		getcontext(&context[i]);
		context[i].uc_stack.ss_sp = malloc(STACK);
		context[i].uc_stack.ss_size = STACK;
		context[i].uc_link = &main_context;
		makecontext(&context[i], (void (*)(void))run, 1, i);
	}
	for (int round = 0; round < 100; round++)
		swapcontext(&main_context, &context[0]);
	for (int i = 0; i < N; i++)
		sum += total[i];
	printf("sum %ld\n", sum);
	return 0;
}
