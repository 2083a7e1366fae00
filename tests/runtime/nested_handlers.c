// SPDX-License-Identifier: GPL-2.0-or-later
/* A handler is interrupted, somewhere, by another that leaves both by siglongjmp: afterwards what
 * is blocked is what was before. Under step_into.c, which knows where a round begins and ends by
 * calls that nobody else makes:
 *
 *	nested_handlers returns | jumps | fault
 *
 * says how the first handler ends, or that it is that of a fault, and jumps. */
#define _GNU_SOURCE
#include "nested_handlers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static sigjmp_buf back;
static int is_fault;
static volatile int jumps, is_last;

static void outer(int signal)
{
	(void)signal;
	if (jumps)
		siglongjmp(back, 1);
}

static void inner(int signal)
{
	(void)signal;
	siglongjmp(back, 2);
}

static void install(int signal, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaddset(&action.sa_mask, SIGTRAP);
	sigaddset(&action.sa_mask, SIGSEGV);
	sigaction(signal, &action, NULL);
}

static void provoke(void)
{
	syscall(SIGN_BEGINS);
	if (is_fault)
		*(volatile int *)8 = 1;
	else
		syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
}

/* The inner handler comes before this returns, but in the last round. */
static void go(void)
{
	if (!sigsetjmp(back, 1))
		provoke();
	is_last = syscall(SIGN_ENDS) == ANSWER_LAST;
}

int main(int argc, char **argv)
{
	sigset_t before, after;
	int rounds = 0, wrong = 0;

	is_fault = argc > 1 && !strcmp(argv[1], "fault");
	jumps = is_fault || (argc > 1 && !strcmp(argv[1], "jumps"));
	install(SIGUSR1, outer);
	install(SIGSEGV, outer);
	install(SIGALRM, inner);
	sigprocmask(SIG_BLOCK, NULL, &before);
	while (!is_last) {
		go();
		sigprocmask(SIG_SETMASK, &before, &after);
		wrong += memcmp(&before, &after, 8) != 0;
		rounds++;
	}
	printf("%d wrong\n", wrong);
	return rounds < 20; /* or nothing was tested */
}
