// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults as collectors of garbage and interpreters use them: a write barrier of protected pages,
 * which the handler opens, and null pointers and traps that the handler leaves by siglongjmp. An
 * alarm comes at another moment of every round, also while the handler is being left. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 16, PAGE_BYTES = 4096, ROUNDS = 40, JUMPS = 1500, LONGEST_US = 150 };

static char *heap;
static sigjmp_buf back;
static volatile int opened, jumps;
static volatile sig_atomic_t alarms;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	size_t offset = (size_t)((char *)info->si_addr - heap);

	(void)context;
	if (signal == SIGSEGV && offset < PAGES * PAGE_BYTES) {
		opened++;
		mprotect(heap + offset / PAGE_BYTES * PAGE_BYTES, PAGE_BYTES,
			PROT_READ | PROT_WRITE);
		return;
	}
	jumps++;
	siglongjmp(back, signal);
}

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* At most one for each: a slow machine gets on too. */
static void alarm_soon(int round)
{
	struct itimerval once = { .it_value.tv_usec = 1 + round % LONGEST_US };

	setitimer(ITIMER_REAL, &once, NULL);
}

static unsigned collect(int round)
{
	unsigned sum = 0;

	alarm_soon(round);
	mprotect(heap, PAGES * PAGE_BYTES, round & 1 ? PROT_READ : PROT_NONE);
	for (int i = 0; i < PAGES * PAGE_BYTES; i += 32) {
		heap[i] += (char)round;
		sum += (unsigned char)heap[i * 3 % (PAGES * PAGE_BYTES)];
	}
	return sum;
}

/* What it was left by. */
static int leave(int round)
{
	int signal = sigsetjmp(back, 1);

	if (signal)
		return signal;
	alarm_soon(round);
	if (round & 1)
		*(volatile int *)8 = round;
	__asm__ volatile("int3");
	return 0;
}

static unsigned leave_often(int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++)
		sum += (unsigned)leave(i);
	return sum;
}

int main(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	unsigned sum = 0;
	sigset_t blocked;
	int status;

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGTRAP, &fault, NULL);
	signal(SIGALRM, on_alarm);
	heap = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	for (int i = 0; i < ROUNDS; i++)
		sum += collect(i);
	printf("sum %u, %d pages opened\n", sum, opened);
	printf("left by %u", leave_often(JUMPS));
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	printf(", %d jumps, blocked %d %d\n", jumps, sigismember(&blocked, SIGSEGV),
		sigismember(&blocked, SIGTRAP));
	fflush(stdout);
	if (fork() == 0)
		_exit(leave_often(JUMPS / 5) % 128);
	wait(&status);
	printf("child %d\n", WEXITSTATUS(status));
	return alarms ? 0 : 1;
}
