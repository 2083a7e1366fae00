// SPDX-License-Identifier: GPL-2.0-or-later
/* Atomic operations that do not come to an end undisturbed: signal handlers that make some on the
 * same memory, and ones that fault and are left by a jump, after which others go on there. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 3, TIMES = 20000, FAULTS = 200 };

static _Atomic long count, handled, is_over;
static _Atomic long *page;
static sigjmp_buf out;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&count, 1);
	atomic_fetch_add(&handled, 1);
}

static void on_fault(int number)
{
	(void)number;
	atomic_fetch_add(&count, 1);
	atomic_fetch_add(&handled, 1);
	siglongjmp(out, 1);
}

static void *work(void *argument)
{
	(void)argument;
	for (int i = 0; i < TIMES; i++)
		atomic_fetch_add(&count, 1);
	while (!atomic_load(&is_over))
		sched_yield();
	return NULL;
}

static void *add_to_page(void *argument)
{
	(void)argument;
	atomic_fetch_add(page, 1);
	return NULL;
}

static void fault(int i)
{
	pthread_t thread;

	mprotect((void *)page, 4096, PROT_NONE);
	if (sigsetjmp(out, 1) == 0) {
		atomic_fetch_add(page, 1);
		printf("there was no fault\n");
		exit(1);
	}
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
	pthread_create(&thread, NULL, add_to_page, NULL);
	pthread_join(thread, NULL);
	if (atomic_load(page) != i + 1) {
		printf("the page has %ld\n", *page);
		exit(1);
	}
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread[THREADS];

	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < FAULTS; i++) {
		fault(i);
		for (int k = 0; k < THREADS; k++)
			pthread_kill(thread[k], SIGUSR1);
	}
	atomic_store(&is_over, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	if (atomic_load(&count) != THREADS * TIMES + handled) {
		printf("%ld were counted, %ld in handlers\n", count, handled);
		return 1;
	}
	return handled < FAULTS;
}
