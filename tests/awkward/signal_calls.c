// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that a collector may want for itself, where a program sets and waits for them in unusual
 * ways: in children by vfork, which have signals of their own; with masks of calls; by number,
 * without the functions for it; from within handlers. With an argument it ends by its stack. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

volatile uint64_t traps_touched[8];

static const int signals[] = { SIGTRAP, SIGSEGV, SIGSYS, SIGUSR1 };
#define N (sizeof(signals) / sizeof(*signals))

static volatile int n_handled, seen;
static char stack[65536];

static void work(void)
{
	for (int i = 0; i < 2000; i++)
		traps_touched[i % 8]++;
}

static int blocked(void)
{
	sigset_t now;
	int mask = 0;

	sigprocmask(SIG_BLOCK, NULL, &now);
	for (unsigned i = 0; i < N; i++)
		mask |= sigismember(&now, signals[i]) << i;
	return mask;
}

static void handler(int signal)
{
	work();
	seen = blocked();
	n_handled += signal != 0;
}

static sigset_t set_of(const int *signal)
{
	sigset_t set;

	sigemptyset(&set);
	for (; *signal; signal++)
		sigaddset(&set, *signal);
	return set;
}

static void install(int signal, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void show(const char *what)
{
	struct sigaction action;
	stack_t now;

	work();
	sigaltstack(NULL, &now);
	printf("%s: blocks %x, stack %d %zu, handlers", what, blocked(), now.ss_flags, now.ss_size);
	for (unsigned i = 0; i < N; i++) {
		sigaction(signals[i], NULL, &action);
		printf(" %d", action.sa_handler == handler);
	}
	n_handled = 0;
	for (unsigned i = 0; i < N; i++)
		raise(signals[i]);
	printf(", handled %d\n", n_handled);
	fflush(stdout);
}

/* What a program that it becomes finds. */
static void become(void)
{
	execl("/bin/grep", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", NULL);
	_exit(127);
}

static void in_child(int way)
{
	stack_t none = { .ss_flags = SS_DISABLE };
	sigset_t empty;

	sigemptyset(&empty);
	if (way == 0) {
		for (int i = 1; i < 32; i++)
			signal(i, SIG_DFL);
		sigaltstack(&none, NULL);
		_exit(0);
	}
	if (way == 4) { /* has a child of its own */
		int status = 0;

		signal(SIGTRAP, SIG_DFL);
		if (fork() == 0) {
			work();
			_exit(5);
		}
		wait(&status);
		_exit(status == 5 << 8 ? 0 : 6);
	}
	if (way == 1)
		sigprocmask(SIG_SETMASK, &empty, NULL);
	if (way == 2)
		signal(SIGTRAP, SIG_IGN);
	become();
}

static void vforks(void)
{
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	sigset_t some = set_of((int[]){ SIGTRAP, SIGUSR1, 0 }), before;
	int status;

	sigaltstack(&own, NULL);
	for (unsigned i = 0; i < N; i++)
		install(signals[i], i & 1 ? SA_ONSTACK : 0);
	show("before");
	for (int way = 0; way < 5; way++) {
		sigprocmask(SIG_BLOCK, &some, &before);
		work();
		if (vfork() == 0)
			in_child(way);
		wait(&status);
		work();
		printf("child %d: %x, blocks %x\n", way, status, blocked());
		sigprocmask(SIG_SETMASK, &before, NULL);
		show("after");
	}
	own.ss_flags = SS_DISABLE;
	sigaltstack(&own, NULL);
}

/* The same, of those that are ignored where it begins. */
static void ignored_by_children(void)
{
	static char *const arguments[] = { "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status",
		NULL };
	pid_t pid;

	for (unsigned i = 0; i < N; i++) {
		fflush(stdout);
		if (fork() == 0) {
			signal(signals[i], SIG_IGN);
			work();
			execl("/nowhere", "nowhere", NULL);
			work();
			become();
		}
		wait(NULL);
		signal(signals[i], SIG_IGN);
		work();
		if (posix_spawn(&pid, "/bin/grep", NULL, NULL, arguments, environ) == 0)
			waitpid(pid, NULL, 0);
		work();
		install(signals[i], 0);
	}
}

static void *shows_mask(void *data)
{
	work();
	printf("a thread: blocks %x\n", blocked());
	return data;
}

static void threads(void)
{
	sigset_t some = set_of((int[]){ SIGTRAP, SIGSEGV, SIGUSR1, 0 }), before;
	pthread_attr_t attributes;
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, shows_mask, NULL);
		pthread_join(thread, NULL);
		sigprocmask(SIG_BLOCK, &some, &before);
	}
	sigemptyset(&some);
	pthread_attr_init(&attributes);
	pthread_attr_setsigmask_np(&attributes, &some);
	pthread_create(&thread, &attributes, shows_mask, NULL);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	sigprocmask(SIG_SETMASK, &some, NULL);
}

static int file;
#define FILE_BYTES 32768

static void grows(int signal)
{
	seen = blocked();
	n_handled += signal == SIGBUS;
	if (ftruncate(file, FILE_BYTES) < 0)
		_exit(5);
	work();
}

/* Memory of a file that is cut off, and comes again. */
static void faults(void)
{
	struct sigaction action = { .sa_handler = grows };
	volatile long *memory;
	long sum = 0;

	file = memfd_create("faults", 0);
	if (ftruncate(file, FILE_BYTES) < 0)
		return;
	memory = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	sigaction(SIGBUS, &action, NULL);
	for (int round = 0; round < 50; round++) {
		for (unsigned i = 0; i < FILE_BYTES / sizeof(long); i++)
			memory[i]++;
		if (ftruncate(file, 0) < 0)
			return;
		for (unsigned i = 0; i < FILE_BYTES / sizeof(long); i++)
			sum += memory[i];
	}
	printf("faults: %d handled, with %x, sum %ld, blocks %x\n", n_handled, seen, sum,
		blocked());
	n_handled = 0;
}

/* A handler has the mask of the call that it comes within, and its own. */
static void masks(void)
{
	sigset_t all, none, others = set_of((int[]){ SIGUSR1, 0 });

	sigfillset(&all);
	sigemptyset(&none);
	for (unsigned i = 0; i < N; i++) {
		sigprocmask(SIG_SETMASK, &all, NULL);
		raise(signals[i]);
		work();
		sigsuspend(&none);
		printf("suspended: %x, then %x\n", seen, blocked());
		sigprocmask(SIG_SETMASK, &none, NULL);
		work();
	}
	sigprocmask(SIG_SETMASK, &all, NULL);
	raise(SIGTRAP);
	printf("ppoll: %d", ppoll(NULL, 0, NULL, &others));
	printf(" %d, %x\n", errno, seen);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(SIGTRAP);
	printf("by itself: %x\n", seen);
}

static void told(const char *what, long result)
{
	printf("%s: %ld", what, result);
	printf(result < 0 ? " %d" : "", errno);
	printf(", handled %d, with %x\n", n_handled, seen);
	n_handled = seen = 0;
	work();
}

/* The library has functions for all of these. */
static void by_number(int signal)
{
	uint64_t mask = 1ull << (signal - 1), none = 0, pending = 0;
	struct timespec soon = { .tv_nsec = 1000 };
	struct {
		uint64_t *set;
		size_t bytes;
	} pair = { &none, 8 };
	struct epoll_event event;
	siginfo_t info = { 0 };
	int events = epoll_create1(0);

	install(signal, 0);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 8);
	told("nothing", syscall(SYS_rt_sigtimedwait, &mask, &info, &soon, 8));
	raise(signal);
	work();
	told("pending", syscall(SYS_rt_sigpending, &pending, 8));
	printf("is %d\n", (pending & mask) != 0);
	told("waited", syscall(SYS_rt_sigtimedwait, &mask, &info, NULL, 8));
	printf("for %d\n", info.si_signo);
	raise(signal);
	told("suspended", syscall(SYS_rt_sigsuspend, &none, 8));
	raise(signal);
	told("ppoll", syscall(SYS_ppoll, NULL, 0, NULL, &none, 8));
	raise(signal);
	told("pselect6", syscall(SYS_pselect6, 0, NULL, NULL, NULL, NULL, &pair));
	raise(signal);
	told("epoll_pwait", syscall(SYS_epoll_pwait, events, &event, 1l, -1l, &none, 8l));
	told("sizes", syscall(SYS_rt_sigsuspend, &none, 4));
	told("in time", syscall(SYS_ppoll, NULL, 0, &soon, &none, 8));
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, 8);
	told("none is left", 0);
	close(events);
}

static void ignored(void)
{
	struct sigaction action;

	for (unsigned i = 0; i < N; i++) {
		install(signals[i], 0);
		printf("ignore: %d", sigignore(signals[i]));
		work();
		raise(signals[i]);
		sigaction(signals[i], NULL, &action);
		printf(" %d, handled %d\n", action.sa_handler == SIG_IGN, n_handled);
		signal(signals[i], SIG_DFL);
		work();
	}
}

static void takes_stack(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;

	(void)info;
	work();
	context->uc_stack = (stack_t){ .ss_flags = SS_DISABLE };
	n_handled += signal != 0;
}

/* It stays if the handler is on it. */
static void stack_by_context(void)
{
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) }, now;
	struct sigaction action = { .sa_sigaction = takes_stack };

	for (unsigned i = 0; i < 2 * N; i++) {
		action.sa_flags = SA_SIGINFO | (i < N ? SA_ONSTACK : 0);
		sigaltstack(&own, NULL);
		sigaction(signals[i % N], &action, NULL);
		raise(signals[i % N]);
		work();
		sigaltstack(NULL, &now);
		printf("taken: %d, flags %d\n", n_handled, now.ss_flags);
		signal(signals[i % N], SIG_DFL);
	}
}

static void never(int signal)
{
	_exit(signal == SIGSEGV ? 3 : 4);
}

__attribute__((noinline)) static int deeper(volatile char *above)
{
	volatile char here[4096];

	here[0] = (char)(above[0] + 1);
	traps_touched[here[0] & 7]++;
	return deeper(here) + here[0];
}

int main(int argc, char **argv)
{
	char top = 0;

	(void)argv;
	work();
	if (argc > 1) {
		signal(SIGSEGV, never); /* for which there is no room */
		return deeper(&top);
	}
	faults();
	threads();
	vforks();
	ignored_by_children(); /* from here on no pages are watched */
	masks();
	for (unsigned i = 0; i < N; i++)
		by_number(signals[i]);
	n_handled = 0;
	ignored();
	stack_by_context();
	return 0;
}
