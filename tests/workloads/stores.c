// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores whose number is known, made as the arguments say:
 *
 *	N           that many
 *	threads=T   what follows in each of T threads
 *	forks=F     what follows in each of F children, one after the other
 *	exec        what follows as another program
 *	handler     what follows in a signal handler
 *	leap        what follows in a signal handler that is left by siglongjmp
 *	kill=S      be killed by signal S; abort, _exit=N
 *	run=PROGRAM another program, and wait for it
 *
 * Nothing else in it refers to memory but for what the machine does to keep a function going. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;
static char **rest;
static sigjmp_buf landing;

void store_many(volatile char *to, long n);

/* The only code that is to count. */
__attribute__((noinline)) void store_many(volatile char *to, long n)
{
	for (long i = 0; i < n; i++)
		to[i & 1023] = (char)i;
}

/* What handlers do here they may: nothing is interrupted in the middle of it.
 * NOLINTBEGIN(bugprone-signal-handler) */
static void run_all(char **step);

static void *run_thread(void *data)
{
	run_all(data);
	return NULL;
}

static void run_threads(long n, char **step)
{
	pthread_t thread[64];

	for (long i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, run_thread, step);
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void run_forks(long n, char **step)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			run_all(step);
			exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void run_exec(char **step)
{
	char *argv[32] = { self };

	for (int i = 0; step[i] && i < 30; i++)
		argv[1 + i] = step[i];
	execv("/proc/self/exe", argv);
	_exit(99);
}

static void run_program(char *name)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp(name, name, (char *)NULL);
		_exit(99);
	}
	waitpid(pid, NULL, 0);
}

static void on_signal(int number)
{
	run_all(rest);
	if (number == SIGUSR2)
		siglongjmp(landing, 1);
}

static void run_handler(int number, char **step)
{
	rest = step;
	signal(number, on_signal);
	if (!sigsetjmp(landing, 1))
		raise(number);
}

static long value(const char *text, const char *name)
{
	size_t n = strlen(name);

	return strncmp(text, name, n) ? -1 : strtol(text + n, NULL, 10);
}

static void run_all(char **step)
{
	static __thread volatile char to[1024];

	for (; *step; step++) {
		if (**step >= '0' && **step <= '9') {
			store_many(to, strtol(*step, NULL, 10));
		} else if (value(*step, "threads=") > 0) {
			run_threads(value(*step, "threads="), step + 1);
			return;
		} else if (value(*step, "forks=") > 0) {
			run_forks(value(*step, "forks="), step + 1);
			return;
		} else if (!strcmp(*step, "exec")) {
			run_exec(step + 1);
		} else if (!strcmp(*step, "handler")) {
			run_handler(SIGUSR1, step + 1);
			return;
		} else if (!strcmp(*step, "leap")) {
			run_handler(SIGUSR2, step + 1);
			return;
		} else if (value(*step, "kill=") > 0) {
			kill(getpid(), (int)value(*step, "kill="));
		} else if (!strcmp(*step, "abort")) {
			abort();
		} else if (value(*step, "_exit=") >= 0) {
			_exit((int)value(*step, "_exit="));
		} else if (!strncmp(*step, "run=", 4)) {
			run_program(*step + 4);
		}
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	self = argv[0];
	run_all(argv + 1);
	printf("done\n");
	return 0;
}
/* NOLINTEND(bugprone-signal-handler) */
