// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults in the middle of straight-line code: three stores, one that faults and is repaired by the
 * handler, one more; and in the end, with an argument, one that kills. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static volatile long before[3], after[1];
static char *page;

static void repair(int signal)
{
	(void)signal;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = repair };

	(void)argv;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	if (printf("%p %p %p\n", (void *)before, (void *)after, (void *)page) < 0 || fflush(stdout))
		return 1;
	before[0] = 1;
	before[1] = 2;
	before[2] = 3;
	*(volatile long *)(page + 8) = 4;
	after[0] = 5;
	if (argc > 1) {
		signal(SIGSEGV, SIG_DFL);
		before[0] = 6;
		before[1] = 7;
		*(volatile long *)16 = 8;
		before[2] = 9;
	}
	return 0;
}
