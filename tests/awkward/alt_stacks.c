// SPDX-License-Identifier: GPL-2.0-or-later
/* Alternate stacks of all sizes that the kernel takes, between bytes that nobody is to change; and
 * what a program sees of its stack, on it and beside it. What is touched all the time is there to
 * be watched. And actions and masks that are set without the functions for it. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

volatile uint64_t traps_touched[8];

#define AROUND     32768
#define CANARY     0x5a
#define ROOM       16384 /* in such a stack, or larger, a handler is on it */
#define AUTODISARM (1 << 31)

static stack_t own;
static volatile int n_handled, is_on, was_shown, set_error, is_in_context, nests, stays;
static size_t frame_bytes;
static sigjmp_buf back;

static void work(void)
{
	for (int i = 0; i < 2000; i++)
		traps_touched[i % 8]++;
}

static int holds(const void *address)
{
	return (uintptr_t)address - (uintptr_t)own.ss_sp < own.ss_size;
}

static void handler(int signal, siginfo_t *info, void *data)
{
	const ucontext_t *context = data;
	const char *vectors = (const char *)context->uc_mcontext.fpregs;
	uint32_t bytes;
	stack_t now, none = { .ss_flags = SS_DISABLE };

	work();
	memcpy(&bytes, vectors + 468, sizeof(bytes)); /* of all vectors */
	frame_bytes = bytes + 1024;
	is_on = holds(&now);
	sigaltstack(NULL, &now);
	was_shown = now.ss_flags;
	errno = 0;
	set_error = stays || sigaltstack(&none, NULL) == 0 ? 0 : errno; /* unless it stays */
	is_in_context =
		context->uc_stack.ss_sp == own.ss_sp && context->uc_stack.ss_size == own.ss_size;
	n_handled++;
	if (nests-- > 0)
		raise(signal == SIGUSR1 ? SIGUSR2 : SIGUSR1);
	work();
}

static void jumping(int signal)
{
	work();
	siglongjmp(back, signal);
}

static void install(int signal, int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	sigaction(signal, &action, NULL);
}

/* Between canaries. */
static char *new_stack(size_t bytes)
{
	char *memory = mmap(NULL, bytes + 2 * AROUND, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, CANARY, bytes + 2 * AROUND);
	return memory + AROUND;
}

static const char *kept(const char *start, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (start[i] != CANARY)
			return "changed";
	return "kept";
}

static void check_around(const char *what)
{
	stack_t now;

	work();
	sigaltstack(NULL, &now);
	printf("%zu bytes, %s: below %s, above %s, shown %d%d flags %x\n", own.ss_size, what,
		kept((char *)own.ss_sp - AROUND, AROUND),
		kept((char *)own.ss_sp + own.ss_size, AROUND), now.ss_sp == own.ss_sp,
		now.ss_size == own.ss_size, (unsigned)now.ss_flags);
}

static void show(const char *what)
{
	printf("%s: %d handled, shown %x, error %d, in context %d", what, n_handled,
		(unsigned)was_shown, set_error, is_in_context);
	printf(own.ss_size < ROOM ? "\n" : ", on it %d\n", is_on);
	n_handled = 0;
	check_around(what);
}

static int take_stack(size_t bytes, int flags)
{
	own = (stack_t){ .ss_sp = new_stack(bytes), .ss_size = bytes, .ss_flags = flags };
	work();
	return sigaltstack(&own, NULL);
}

static void leave_stack(void)
{
	stack_t none = { .ss_flags = SS_DISABLE }, old;

	printf("removed: %d", sigaltstack(&none, &old));
	printf(" was own %d\n", old.ss_sp == own.ss_sp);
	munmap((char *)own.ss_sp - AROUND, own.ss_size + 2 * AROUND);
}

static void raise_all(void)
{
	static const int signals[] = { SIGUSR1, SIGTRAP, SIGSEGV };

	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		install(signals[i], SA_ONSTACK);
		raise(signals[i]);
		show("on the stack");
		install(signals[i], 0);
		raise(signals[i]); /* it removes the stack, until it returns */
		show("beside it");
	}
}

static void *sizes(void *data)
{
	static const size_t bytes[] = { 2048, 4096, 8192, 16384, 65536 };

	for (unsigned i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		if (take_stack(bytes[i], 0)) {
			printf("%zu: error %d\n", bytes[i], errno);
			continue;
		}
		check_around("taken");
		if (bytes[i] > frame_bytes)
			raise_all();
		leave_stack();
	}
	return data;
}

static void within(void)
{
	take_stack(65536, 0);
	install(SIGUSR1, SA_ONSTACK);
	install(SIGUSR2, SA_ONSTACK);
	nests = 3;
	raise(SIGUSR1);
	show("two within");
	install(SIGUSR1, SA_ONSTACK | SA_NODEFER);
	install(SIGUSR2, SA_ONSTACK | SA_NODEFER);
	nests = 4;
	raise(SIGUSR1);
	show("five within");
	nests = 0;
	leave_stack();
}

static void jumps(void)
{
	struct sigaction action = { .sa_handler = jumping, .sa_flags = SA_ONSTACK };

	take_stack(8192, 0);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			raise(SIGUSR1);
		check_around("jumped off");
		if (sigsetjmp(back, 1) == 0)
			raise(SIGTRAP);
		check_around("jumped off");
	}
	leave_stack();
}

static void show_mask(const char *what)
{
	sigset_t now;

	work();
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("%s: blocks %d%d%d\n", what, sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2),
		sigismember(&now, SIGTRAP));
}

static void masked(int signal)
{
	show_mask("within the call");
	if (signal == SIGUSR2)
		siglongjmp(back, 1); /* which leaves the mask as it is */
}

/* A handler has the mask of the call that it comes within. */
static void suspended(void)
{
	struct sigaction action = { .sa_handler = masked, .sa_flags = SA_ONSTACK };
	sigset_t all, none, others;

	take_stack(65536, 0);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigfillset(&all);
	sigemptyset(&none);
	others = all;
	sigdelset(&others, SIGUSR2);
	sigprocmask(SIG_BLOCK, &all, NULL);
	raise(SIGUSR1);
	sigsuspend(&none);
	show_mask("after it");
	raise(SIGUSR2);
	if (sigsetjmp(back, 0) == 0)
		sigsuspend(&others);
	show_mask("out of it");
	sigprocmask(SIG_SETMASK, &none, NULL);
	leave_stack();
}

static void greedy(int signal)
{
	volatile char room[150000];

	for (unsigned i = 0; i < sizeof(room); i += 64)
		room[i] = (char)signal;
	n_handled += room[64] == (char)signal;
}

/* Of two that come at once one has its frame on top of the other's. */
static void at_once(void)
{
	struct sigaction action = { .sa_handler = greedy, .sa_flags = SA_ONSTACK };
	sigset_t both, before;

	take_stack(1 << 20, 0);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	sigprocmask(SIG_BLOCK, &both, &before);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigprocmask(SIG_SETMASK, &before, NULL);
	printf("at once: %d handled\n", n_handled);
	n_handled = 0;
	check_around("at once");
	leave_stack();
}

static void disarms(void)
{
	take_stack(65536, AUTODISARM);
	install(SIGUSR1, SA_ONSTACK);
	install(SIGTRAP, SA_ONSTACK);
	stays = 1;
	raise(SIGUSR1);
	show("disarmed");
	raise(SIGTRAP);
	show("disarmed");
	stays = 0;
	raise(SIGUSR1);
	show("and removed");
	leave_stack();
}

static void set_in_a_child(void)
{
	take_stack(16384, 0);
	install(SIGUSR1, SA_ONSTACK);
	fflush(stdout);
	if (fork() == 0) {
		raise(SIGUSR1);
		show("a child");
		leave_stack();
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	leave_stack();
}

static void refused(void)
{
	stack_t small = { .ss_sp = own.ss_sp, .ss_size = 2047 },
		strange = { .ss_sp = own.ss_sp, .ss_size = 65536, .ss_flags = 8 };

	take_stack(65536, 0);
	printf("small: %d", sigaltstack(&small, NULL));
	printf(" %s\n", strerror(errno));
	printf("strange: %d", sigaltstack(&strange, NULL));
	printf(" %s\n", strerror(errno));
	check_around("refused");
	leave_stack();
}

/* As the kernel has it. */
struct action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

static void by_number(int signal)
{
	struct action action, old;
	struct sigaction seen;
	uint64_t mask = 1ull << (signal - 1), before = 0;
	stack_t now;

	install(signal, 0);
	printf("read: %ld", syscall(SYS_rt_sigaction, signal, NULL, &action, 8));
	printf(" %d flags %lx mask %lx\n", action.handler == (void *)handler, (long)action.flags,
		(long)action.mask);
	action.flags |= SA_NODEFER;
	action.mask = 1ull << (SIGUSR2 - 1);
	printf("set: %ld", syscall(SYS_rt_sigaction, signal, &action, &old, 8));
	printf(" was %d flags %lx\n", old.handler == (void *)handler, (long)old.flags);
	sigaction(signal, NULL, &seen);
	printf("seen: %d flags %x mask %d\n", seen.sa_sigaction == handler, (unsigned)seen.sa_flags,
		sigismember(&seen.sa_mask, SIGUSR2));
	work();
	raise(signal);
	printf("handled %d\n", n_handled);
	printf("sizes: %ld", syscall(SYS_rt_sigaction, signal, &action, NULL, 4));
	printf(" %d", errno);
	printf(" %ld\n", syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 128));
	printf("block: %ld", syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &before, 8));
	printf(" was %d\n", (before & mask) != 0);
	work();
	raise(signal);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &before, 8);
	printf("blocked %d, handled %d\n", (before & mask) != 0, n_handled);
	printf("unblock: %ld", syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, 8));
	printf(" handled %d\n", n_handled);
	work();
	action.handler = (void *)SIG_DFL;
	syscall(SYS_rt_sigaction, signal, &action, NULL, 8);
	work();
	printf("stack: %ld", syscall(SYS_sigaltstack, NULL, &now));
	printf(" flags %d\n", now.ss_flags);
	n_handled = 0;
}

int main(void)
{
	pthread_t thread;

	work();
	install(SIGUSR1, 0);
	stays = 1;
	raise(SIGUSR1); /* frame_bytes */
	stays = n_handled = 0;
	sizes(NULL);
	pthread_create(&thread, NULL, sizes, NULL);
	pthread_join(thread, NULL);
	within();
	jumps();
	suspended();
	at_once();
	disarms();
	set_in_a_child();
	refused();
	by_number(SIGTRAP);
	by_number(SIGSEGV);
	by_number(SIGUSR1);
	return 0;
}
