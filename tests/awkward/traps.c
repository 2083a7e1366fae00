// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that a collector may want for itself, in all the ways in which a program may have them:
 * handled, read back, blocked, waited for, ignored, left by a jump, on stacks of its own. It prints
 * what it sees; with an argument it ends in one of the ways in which they end a process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

volatile uint64_t traps_touched[8]; /* what there is to be watched */

static volatile sig_atomic_t n_handled, depth, deepest, last_code, last_signal, seen_mask;
static void *volatile last_address, *volatile frame;
static volatile sig_atomic_t again; /* how often the handler sends the signal to itself */

static void work(void)
{
	for (int i = 0; i < 100; i++)
		traps_touched[i % 8]++;
}

static int blocks(int signal)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, signal);
}

static int is_pending(int signal)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, signal);
}

static void change(int how, int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(how, &set, NULL);
}

static void handler(int signal, siginfo_t *info, void *context)
{
	char here;

	work();
	depth++;
	if (depth > deepest)
		deepest = depth;
	last_signal = signal;
	last_code = info->si_code;
	last_address = info->si_addr;
	frame = &here;
	seen_mask = blocks(SIGTRAP) | blocks(SIGSEGV) << 1 | blocks(SIGUSR1) << 2 |
		sigismember(&((ucontext_t *)context)->uc_sigmask, SIGTRAP) << 3;
	n_handled++;
	if (again-- > 0)
		raise(signal);
	work();
	depth--;
}

static void plain_handler(int signal)
{
	last_signal = signal;
	n_handled++;
}

static void install(int signal, int flags, int also)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	if (also)
		sigaddset(&action.sa_mask, also);
	sigaction(signal, &action, NULL);
}

static void show(const char *what)
{
	printf("%s: %d handled, signal %d, code %d, mask %x, deepest %d, pending %d, blocked %d\n",
		what, n_handled, last_signal, last_code, (unsigned)seen_mask, deepest,
		is_pending(SIGTRAP), blocks(SIGTRAP));
	n_handled = deepest = last_signal = last_code = seen_mask = 0;
	again = 0;
	work();
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void handled(void)
{
	uint64_t before = (uint64_t)traps_touched[0] | 1ull << 40, after;

	install(SIGTRAP, 0, 0);
	breakpoint();
	show("int3");
	raise(SIGTRAP);
	show("raise");
	kill(getpid(), SIGTRAP);
	show("kill");
	sigqueue(getpid(), SIGTRAP, (union sigval){ .sival_int = 5 });
	show("queue");
	again = 2;
	raise(SIGTRAP);
	show("again");
	install(SIGTRAP, SA_NODEFER, SIGUSR1);
	again = 2;
	raise(SIGTRAP);
	show("within");
	install(SIGTRAP, SA_NODEFER, SIGSEGV);
	raise(SIGTRAP);
	show("blocks another");
	/* Registers of all kinds come back as they were. */
	__asm__ volatile("movq %1, %%xmm13\n\tint3\n\tmovq %%xmm13, %0"
			 : "=r"(after)
			 : "r"(before)
			 : "xmm13", "memory");
	printf("vectors %s\n", before != after ? "changed" : "kept");
	show("vectors");
}

static void print_action(const char *what, const struct sigaction *action)
{
	printf("%s: %s, flags %x, mask %d%d%d\n", what,
		action->sa_sigaction == handler               ? "handler"
			: action->sa_handler == plain_handler ? "plain"
			: action->sa_handler == SIG_DFL       ? "default"
			: action->sa_handler == SIG_IGN       ? "ignored"
							      : "unknown",
		(unsigned)action->sa_flags, sigismember(&action->sa_mask, SIGTRAP),
		sigismember(&action->sa_mask, SIGUSR1), sigismember(&action->sa_mask, SIGKILL));
}

static void read_back(void)
{
	static const int signals[] = { SIGTRAP, SIGSEGV, SIGSYS, SIGUSR2 };

	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		int number = signals[i];
		struct sigaction action = { .sa_handler = plain_handler }, old;

		sigfillset(&action.sa_mask);
		sigaction(number, &action, &old);
		print_action("before", &old);
		install(number, SA_ONSTACK | SA_NODEFER, SIGTRAP);
		sigaction(number, NULL, &old);
		print_action("now", &old);
		signal(number, plain_handler);
		sigaction(number, NULL, &old);
		print_action("signal", &old);
		sysv_signal(number, plain_handler);
		sigaction(number, NULL, &old);
		print_action("sysv", &old);
		printf("was %s, ",
			number == SIGTRAP && sigset(number, SIG_IGN) == plain_handler
				? "plain"
				: "not asked");
		printf("was %s\n", sigset(number, SIG_HOLD) == SIG_HOLD ? "held" : "not held");
		printf("now %s, ", sigset(number, SIG_DFL) == SIG_HOLD ? "held" : "not held");
		sigaction(number, &(struct sigaction){ .sa_handler = SIG_DFL }, &old);
		print_action("in the end", &old);
	}
}

static void blocked(void)
{
	sigset_t set, old;

	install(SIGTRAP, 0, 0);
	change(SIG_BLOCK, SIGTRAP);
	raise(SIGTRAP);
	raise(SIGTRAP);
	show("blocked");
	change(SIG_UNBLOCK, SIGTRAP);
	show("unblocked");
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, &old);
	printf("had %d\n", sigismember(&old, SIGTRAP));
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	show("all blocked");
	sigprocmask(SIG_SETMASK, &old, &set);
	printf("had %d %d\n", sigismember(&set, SIGTRAP), sigismember(&set, SIGKILL));
	show("none");
	change(SIG_BLOCK, SIGTRAP);
	raise(SIGTRAP);
	signal(SIGTRAP, SIG_IGN);
	change(SIG_UNBLOCK, SIGTRAP);
	raise(SIGTRAP);
	show("ignored");
	change(SIG_BLOCK, SIGTRAP);
	kill(getpid(), SIGTRAP);
	raise(SIGTRAP);
	signal(SIGTRAP, SIG_IGN);
	install(SIGTRAP, 0, 0);
	change(SIG_UNBLOCK, SIGTRAP);
	show("forgotten");
}

/* A handler of another signal that blocks all. */
static void sends(int signal)
{
	raise(SIGTRAP);
	printf("in %d: %d handled, blocked %d\n", signal == SIGUSR1, n_handled, blocks(SIGTRAP));
}

static void in_another(void)
{
	struct sigaction action = { .sa_handler = sends }, old;

	install(SIGTRAP, 0, 0);
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR1, NULL, &old);
	printf("mask %d\n", sigismember(&old.sa_mask, SIGTRAP));
	raise(SIGUSR1);
	show("after it");
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	show("within it");
	signal(SIGUSR1, SIG_DFL);
}

static void *wait_for_all(void *data)
{
	sigset_t set;
	int got = 0;

	sigfillset(&set);
	printf("wait: %d\n", sigwait(&set, &got));
	*(int *)data = got;
	return NULL;
}

static void *wait_for_ever(void *data)
{
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigwaitinfo(&set, &info);
	return data;
}

static void waited_for(void)
{
	sigset_t set;
	siginfo_t info;
	struct timespec soon = { 0, 2000000 };
	int got = 0;
	pthread_t thread;
	void *result;

	install(SIGTRAP, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	change(SIG_BLOCK, SIGTRAP);
	printf("timed: %d", sigtimedwait(&set, &info, &soon));
	printf(" %s\n", strerror(errno));
	raise(SIGTRAP);
	printf("wait: %d", sigwait(&set, &got));
	printf(" got %d\n", got);
	sigqueue(getpid(), SIGTRAP, (union sigval){ .sival_int = 9 });
	printf("info: %d", sigwaitinfo(&set, &info));
	printf(" code %d value %d\n", info.si_code, info.si_value.sival_int);
	kill(getpid(), SIGTRAP);
	printf("timed: %d\n", sigtimedwait(&set, NULL, &soon));
	show("waited");
	pthread_create(&thread, NULL, wait_for_all, &got);
	usleep(2000);
	kill(getpid(), SIGTRAP);
	pthread_join(thread, NULL);
	printf("a thread got %d\n", got);
	pthread_create(&thread, NULL, wait_for_all, &got);
	pthread_kill(thread, SIGTRAP);
	pthread_join(thread, NULL);
	printf("a thread got %d\n", got);
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	usleep(2000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	show("threads waited");
	change(SIG_UNBLOCK, SIGTRAP);
	show("nothing left");
}

static void suspended(void)
{
	sigset_t none, with;
	struct timespec soon = { 0, 2000000 };
	struct timespec *watched = (struct timespec *)(uintptr_t)traps_touched;
	int queue = epoll_create1(0), r;
	struct epoll_event event;

	sigemptyset(&none);
	sigemptyset(&with);
	sigaddset(&with, SIGTRAP);
	install(SIGTRAP, 0, 0);
	change(SIG_BLOCK, SIGTRAP);
	raise(SIGTRAP);
	r = sigsuspend(&none);
	printf("sigsuspend %d %d\n", r, errno);
	show("sigsuspend");
	raise(SIGTRAP);
	r = ppoll(NULL, 0, &soon, &none);
	printf("ppoll %d %d\n", r, errno);
	show("ppoll");
	raise(SIGTRAP);
	r = pselect(0, NULL, NULL, NULL, &soon, &none);
	printf("pselect %d %d\n", r, errno);
	show("pselect");
	raise(SIGTRAP);
	r = epoll_pwait(queue, &event, 1, 2, &none);
	printf("epoll %d %d\n", r, errno);
	show("epoll");
	change(SIG_UNBLOCK, SIGTRAP);
	r = ppoll(NULL, 0, &soon, &with);
	show("for a time");
	printf("ppoll %d\n", r);
	/* The C library reads it when the signals are those of the call already. */
	watched->tv_sec = 0;
	watched->tv_nsec = soon.tv_nsec;
	errno = 0;
	r = ppoll(NULL, 0, watched, &with);
	printf("ppoll %d %d\n", r, errno);
	r = ppoll(NULL, 0, &soon, NULL);
	printf("ppoll %d\n", r);
	close(queue);
}

static int is_on(const stack_t *stack)
{
	return (char *)frame >= (char *)stack->ss_sp &&
		(char *)frame < (char *)stack->ss_sp + stack->ss_size;
}

static void print_stack(const char *what, const stack_t *ours)
{
	stack_t now;

	memset(&now, 1, sizeof(now));
	if (sigaltstack(NULL, &now))
		perror(what);
	printf("%s: flags %d, %s\n", what, now.ss_flags,
		now.ss_flags == SS_DISABLE         ? "none"
			: now.ss_sp == ours->ss_sp ? "ours"
						   : "another");
}

static void *stacks(void *data)
{
	char here;
	stack_t ours = { .ss_sp = malloc(65536), .ss_size = 65536 },
		none = { .ss_flags = SS_DISABLE }, small = { .ss_sp = ours.ss_sp, .ss_size = 100 },
		old;

	print_stack("first", &ours);
	install(SIGTRAP, 0, 0);
	breakpoint();
	printf("on %s\n", labs((char *)frame - &here) < 65536 ? "the thread's" : "another");
	install(SIGTRAP, SA_ONSTACK, 0);
	breakpoint();
	printf("on %s\n", labs((char *)frame - &here) < 65536 ? "the thread's" : "another");
	printf("small: %d", sigaltstack(&small, NULL));
	printf(" %d\n", errno);
	printf("set: %d", sigaltstack(&ours, &old));
	printf(" was %d\n", old.ss_flags);
	print_stack("set", &ours);
	breakpoint();
	printf("on ours %d\n", is_on(&ours));
	raise(SIGTRAP);
	printf("on ours %d\n", is_on(&ours));
	install(SIGTRAP, 0, 0);
	breakpoint();
	printf("on ours %d\n", is_on(&ours));
	again = 1;
	install(SIGTRAP, SA_ONSTACK | SA_NODEFER, 0);
	breakpoint();
	printf("on ours %d\n", is_on(&ours));
	printf("removed: %d", sigaltstack(&none, &old));
	printf(" was %s\n", old.ss_sp == ours.ss_sp ? "ours" : "another");
	print_stack("last", &ours);
	breakpoint();
	printf("on ours %d\n", is_on(&ours));
	show("stacks");
	free(ours.ss_sp);
	return data;
}

static sigjmp_buf back;

static void jumping(int signal, siginfo_t *info, void *context)
{
	last_address = info->si_addr;
	n_handled++;
	siglongjmp(back, signal);
}

static void jumps(void)
{
	struct sigaction action = { .sa_sigaction = jumping, .sa_flags = SA_SIGINFO };
	volatile int *volatile nowhere = (int *)0x1230;

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			breakpoint();
		printf("back, blocked %d\n", blocks(SIGTRAP));
		if (sigsetjmp(back, 1) == 0)
			*nowhere = 1;
		printf("back from %p, blocked %d\n", last_address, blocks(SIGSEGV));
	}
	if (sigsetjmp(back, 0) == 0)
		breakpoint();
	printf("back, blocked %d\n", blocks(SIGTRAP));
	change(SIG_UNBLOCK, SIGTRAP);
	show("jumps");
}

static char *page;

static void gives_page(int signal, siginfo_t *info, void *context)
{
	n_handled++;
	last_code = info->si_code;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void faults(void)
{
	struct sigaction action = { .sa_sigaction = gives_page, .sa_flags = SA_SIGINFO };

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 3; i++) {
		page[i] = 7;
		mprotect(page, 4096, PROT_NONE);
	}
	mprotect(page, 4096, PROT_READ);
	printf("%d %d\n", page[0], page[2]);
	munmap(page, 4096);
	show("faults");
	signal(SIGSEGV, SIG_DFL);
}

static void blocks_itself(int signal, siginfo_t *info, void *context)
{
	n_handled++;
	sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
}

static void changes_context(void)
{
	struct sigaction action = { .sa_sigaction = blocks_itself, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	raise(SIGTRAP);
	raise(SIGTRAP);
	show("by context");
	change(SIG_UNBLOCK, SIGTRAP);
	show("again");
	change(SIG_UNBLOCK, SIGTRAP);
}

static void *in_thread(void *data)
{
	printf("blocked %d\n", blocks(SIGTRAP));
	raise(SIGTRAP);
	show("in a thread");
	return data;
}

static void inherits(void)
{
	pthread_t thread;

	install(SIGTRAP, 0, 0);
	change(SIG_BLOCK, SIGTRAP);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	raise(SIGTRAP);
	fflush(stdout);
	if (fork() == 0) {
		show("a child");
		change(SIG_UNBLOCK, SIGTRAP);
		show("a child, unblocked");
		raise(SIGTRAP);
		show("a child, handled");
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	change(SIG_UNBLOCK, SIGTRAP);
	show("the parent");
}

static void at_once(void)
{
	struct sigaction old;

	install(SIGTRAP, (int)SA_RESETHAND, 0);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	print_action("once", &old);
	show("once");
}

/* The next program finds what this one leaves. */
static void becomes(char **argv)
{
	signal(SIGTRAP, SIG_IGN);
	install(SIGSEGV, 0, 0);
	change(SIG_BLOCK, SIGSYS);
	execl("/nowhere", "nowhere", NULL);
	printf("%s, blocked %d%d\n", strerror(errno), blocks(SIGTRAP), blocks(SIGSYS));
	raise(SIGTRAP);
	install(SIGTRAP, 0, 0);
	raise(SIGTRAP);
	show("not another");
	signal(SIGTRAP, SIG_IGN);
	fflush(stdout);
	execl("/proc/self/exe", argv[0], "next", NULL);
}

static void next(void)
{
	static const int signals[] = { SIGTRAP, SIGSEGV, SIGSYS };

	for (unsigned i = 0; i < 3; i++) {
		struct sigaction action;

		sigaction(signals[i], NULL, &action);
		printf("next: %d, blocked %d\n", action.sa_handler == SIG_IGN, blocks(signals[i]));
	}
	change(SIG_UNBLOCK, SIGSYS);
}

/* Who tidies up before it begins. */
static void closes_all(void)
{
	for (int i = 3; i < 1024; i++)
		close(i);
	work();
	syscall(SYS_close_range, 3, ~0u, 0);
	work();
	printf("first free: %d\n", open("/dev/null", O_RDONLY));
	closefrom(3);
	work();
}

static int end(const char *how)
{
	volatile int *volatile nowhere = NULL;

	if (!strcmp(how, "int3")) {
		breakpoint();
	} else if (!strcmp(how, "raise")) {
		raise(SIGTRAP);
	} else if (!strcmp(how, "ignored")) {
		signal(SIGTRAP, SIG_IGN);
		raise(SIGTRAP);
		breakpoint();
	} else if (!strcmp(how, "blocked")) {
		install(SIGTRAP, 0, 0);
		change(SIG_BLOCK, SIGTRAP);
		breakpoint();
	} else if (!strcmp(how, "later")) {
		change(SIG_BLOCK, SIGTRAP);
		raise(SIGTRAP);
		printf("not yet\n");
		fflush(stdout);
		change(SIG_UNBLOCK, SIGTRAP);
	} else if (!strcmp(how, "once")) {
		install(SIGTRAP, (int)SA_RESETHAND, 0);
		raise(SIGTRAP);
		raise(SIGTRAP);
	} else if (!strcmp(how, "fault")) {
		*nowhere = 1;
	} else if (!strcmp(how, "fault-ignored")) {
		signal(SIGSEGV, SIG_IGN);
		*nowhere = 1;
	} else if (!strcmp(how, "sys")) {
		kill(getpid(), SIGSYS);
	}
	printf("still there\n");
	return 1;
}

/* A handler that the C library installs for itself, by which all signals are blocked. */
static void profiled(void)
{
	static unsigned short counts[64];
	clock_t end = clock() + CLOCKS_PER_SEC / 20; /* the timer's period is a hundredth */

	if (profil(counts, sizeof(counts), 0, 2))
		puts("profil fails");
	while (clock() < end)
		work();
	profil(NULL, 0, 0, 0);
	puts("profiled");
}

int main(int argc, char **argv)
{
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	work();
	if (argc > 1 && strcmp(argv[1], "next"))
		return end(argv[1]);
	if (argc > 1) {
		next();
		return 0;
	}
	profiled(); /* before anything that others might take for a reason to stop */
	read_back();
	handled();
	blocked();
	in_another();
	waited_for();
	suspended();
	stacks(NULL);
	pthread_create(&thread, NULL, stacks, NULL);
	pthread_join(thread, NULL);
	jumps();
	faults();
	changes_context();
	inherits();
	at_once();
	closes_all();
	becomes(argv);
	return 1;
}
