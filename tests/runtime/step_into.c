// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a program and sends it SIGALRM at every instruction of a round, or at some:
 *
 *	step_into STRIDE PROGRAM [ARGUMENT..]
 *
 * In its first round at the beginning, in the next STRIDE instructions later, and so on to the
 * round's end (nested_handlers.h). While SIGTRAP is blocked the kernel would take a step for a
 * reason to end the program: then it is not, for as long as the step takes. */
#define _GNU_SOURCE
#include "nested_handlers.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define IN_CALL      (SIGTRAP | 0x80)
#define SYSCALL      0x050f
#define SIGSET_BYTES 8
#define TRAP         ((uint64_t)1 << (SIGTRAP - 1))

static pid_t pid;
static int signal_due; /* that the program has yet to be given */

/* Returns what it stopped for; the program's end is ours. */
static int resume(int how, int signal)
{
	int status;

	if (ptrace(how, pid, 0, (long)signal) < 0 || waitpid(pid, &status, 0) < 0) {
		perror("step_into");
		exit(1);
	}
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "step_into: signal %d ended it\n", WTERMSIG(status));
		exit(128 + WTERMSIG(status));
	}
	return WSTOPSIG(status);
}

static struct user_regs_struct registers(void)
{
	struct user_regs_struct now;

	ptrace(PTRACE_GETREGS, pid, 0, &now);
	return now;
}

/* Not an int3 of the program's, nor a trap that somebody else asked for. */
static int is_step(int stop)
{
	siginfo_t info = { 0 };

	if (stop != SIGTRAP)
		return stop == IN_CALL;
	ptrace(PTRACE_GETSIGINFO, pid, 0, &info);
	return info.si_code == TRAP_BRKPT || info.si_code == TRAP_TRACE || info.si_code == SIGTRAP;
}

static int step_unblocked(void)
{
	uint64_t mask = 0, without;
	int stop;

	ptrace(PTRACE_GETSIGMASK, pid, SIGSET_BYTES, &mask);
	without = mask & ~TRAP;
	if (mask & TRAP)
		ptrace(PTRACE_SETSIGMASK, pid, SIGSET_BYTES, &without);
	stop = resume(PTRACE_SINGLESTEP, 0);
	if (mask & TRAP)
		ptrace(PTRACE_SETSIGMASK, pid, SIGSET_BYTES, &mask);
	return stop;
}

/* Calls may change the mask: they are let through whole. */
static void step(void)
{
	int stop, given = signal_due;

	signal_due = 0;
	if (given)
		stop = resume(PTRACE_SINGLESTEP, given);
	else if ((ptrace(PTRACE_PEEKTEXT, pid, registers().rip, 0) & 0xffff) != SYSCALL)
		stop = step_unblocked();
	else if ((stop = resume(PTRACE_SYSCALL, 0)) == IN_CALL)
		stop = resume(PTRACE_SYSCALL, 0);
	if (!is_step(stop))
		signal_due = stop;
}

static void go_to_round(void)
{
	for (;;) {
		int stop = resume(PTRACE_SYSCALL, signal_due);
		struct user_regs_struct now = registers();

		signal_due = stop == IN_CALL ? 0 : stop;
		if (!signal_due && now.orig_rax == SIGN_BEGINS && (long)now.rax > 0)
			return;
	}
}

/* False: the round is over before. */
static int step_in_round(long n)
{
	struct user_regs_struct now;

	for (; n > 0; n--) {
		step();
		now = registers();
		if (now.orig_rax != SIGN_ENDS)
			continue;
		now.rax = ANSWER_LAST;
		ptrace(PTRACE_SETREGS, pid, 0, &now);
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	long stride = argc > 2 ? atol(argv[1]) : 0;

	if (stride <= 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			_exit(77);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &(int){ 0 }, 0) < 0 ||
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
		return 77;
	for (long n = 0;; n += stride) {
		go_to_round();
		if (step_in_round(n))
			kill(pid, SIGALRM);
	}
}
