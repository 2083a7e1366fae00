// SPDX-License-Identifier: GPL-2.0-or-later
/* Handlers that nest, run on another stack, leave by siglongjmp, or mend a fault. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t outer, inner, ticks, faults;
static sigjmp_buf back;
static char *page;

static void on_inner(int sig)
{
	(void)sig;
	inner++;
}

static void on_outer(int sig)
{
	(void)sig;
	outer++;
	raise(SIGUSR2);
}

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	faults++;
	if ((char *)info->si_addr == page)
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	else
		siglongjmp(back, 1);
}

static void handle(int sig, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(sig, &action, NULL);
}

int main(void)
{
	static char stack[64 * 1024];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction fault = { .sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile long sum = 0;

	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	handle(SIGUSR1, on_outer);
	handle(SIGUSR2, on_inner);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	printf("nested: %d outer, %d inner\n", (int)outer, (int)inner);

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 'x';
	printf("mended: %c after %d fault\n", page[0], (int)faults);
	for (int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1))
			*(volatile int *)(16l * i + 8) = i;
	printf("jumped out of %d faults\n", (int)faults - 1);

	handle(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < 5)
		for (int i = 0; i < 1000; i++)
			sum += i;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("ticks came\n");
	fflush(stdout);
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	return 0;
}
