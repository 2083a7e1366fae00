// SPDX-License-Identifier: GPL-2.0-or-later
/* Watches by debug registers, driven as the collector does: what fires does so once, in the thread
 * that touched the block, and nothing else does. */
#include "check.h"
#include "collect/runtime/own_signals.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/watch.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCHES 4

static const struct rt_watch_ops *ops = &rt_watch_registers;
static struct loci_control control;
static _Alignas(64) volatile uint64_t block[64];

static _Atomic unsigned n_fired, n_of[WATCHES];
static _Atomic uintptr_t last_address;
static _Atomic pid_t last_thread;

void rt_watch_fired(unsigned watch, uintptr_t address, const ucontext_t *context)
{
	CHECK(watch < WATCHES);
	CHECK(context->uc_mcontext.gregs[REG_RIP] != 0);
	n_of[watch]++;
	last_address = address;
	last_thread = gettid();
	n_fired++;
}

static _Atomic unsigned n_given_up;

void rt_watch_given_up(unsigned watch, uintptr_t address)
{
	CHECK(watch < WATCHES && address);
	n_given_up++;
}

static void lock(uint64_t *mask)
{
	*mask = rt_block();
	rt_lock();
}

static void unlock(uint64_t mask)
{
	rt_unlock();
	rt_unblock(mask);
}

static unsigned begin(unsigned n, int *failed)
{
	uint64_t mask;
	unsigned got;

	rt.pid = getpid();
	rt.control = &control;
	lock(&mask);
	got = ops->begin(n, failed);
	unlock(mask);
	return got;
}

static bool arm(unsigned watch, volatile void *address)
{
	uint64_t mask;
	bool is;

	lock(&mask);
	is = ops->arm(watch, (uintptr_t)address);
	unlock(mask);
	return is;
}

static void disarm(unsigned watch)
{
	uint64_t mask;

	lock(&mask);
	ops->disarm(watch);
	unlock(mask);
}

static void end(void)
{
	uint64_t mask;

	lock(&mask);
	ops->end();
	unlock(mask);
}

static void again(unsigned shift, bool writes_only)
{
	int failed;

	control.watching.block_shift = shift;
	control.watching.writes_only = writes_only;
	CHECK_U64(begin(WATCHES, &failed), WATCHES);
}

/* How many fire when this is done. */
#define FIRES(what)                         \
	({                                  \
		unsigned before_ = n_fired; \
		what;                       \
		n_fired - before_;          \
	})

static void touches(void)
{
	again(3, false);
	for (unsigned i = 0; i < WATCHES; i++)
		CHECK(arm(i, &block[8 * i]));
	for (unsigned i = 0; i < WATCHES; i++) {
		unsigned of = n_of[i];

		CHECK_U64(FIRES(block[8 * i] = 1), 1);
		CHECK_U64(n_of[i], of + 1);
		CHECK(last_address == (uintptr_t)&block[8 * i]);
		CHECK(last_thread == gettid());
		CHECK_U64(FIRES(block[8 * i] = 2), 0);
	}
	CHECK(arm(0, &block[1]));
	CHECK(arm(0, &block[2]));
	CHECK_U64(FIRES(block[1]++), 0);
	CHECK_U64(FIRES(block[2]), 1);
	CHECK(arm(1, &block[3]));
	disarm(1);
	CHECK_U64(FIRES(block[3]++), 0);
	CHECK(arm(1, &block[3]));
	CHECK_U64(FIRES(block[3]++), 1);
}

static void sizes(void)
{
	volatile char *bytes = (volatile char *)block;

	for (unsigned shift = 0; shift <= 3; shift++) {
		unsigned size = 1u << shift;

		again(shift, false);
		CHECK(arm(0, bytes + 16));
		CHECK_U64(FIRES(bytes[15]++), 0);
		CHECK_U64(FIRES(bytes[16 + size]++), 0);
		CHECK_U64(FIRES(bytes[16 + size - 1]++), 1);
		CHECK(arm(0, bytes + 16));
		CHECK_U64(FIRES(block[2]), 1);
		CHECK(last_address == (uintptr_t)(bytes + 16));
	}
	again(3, true);
	CHECK(arm(0, &block[2]));
	CHECK_U64(FIRES(block[2]), 0);
	CHECK_U64(FIRES(block[2] = 3), 1);
	control.watching.block_shift = 6;
	{
		int failed = 0;

		CHECK_U64(begin(WATCHES, &failed), 0);
		CHECK(failed == -EINVAL);
	}
}

/* A trap that comes while its signal is blocked is not what a call waits for, or ends with. */
static void waits(void)
{
	struct timespec none = { 0 }, *watched = (struct timespec *)(uintptr_t)&block[20];
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	again(3, false);
	CHECK(arm(0, &block[20]));
	CHECK(ppoll(NULL, 0, watched, &trap) == 0);
	CHECK_U64(n_given_up, 1);
	CHECK(arm(0, &block[20]));
	loci_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&trap, 0, 8, 0, 0);
	block[20] = 0;
	CHECK(sigtimedwait(&trap, NULL, &none) == -1 && errno == EAGAIN);
	CHECK_U64(n_given_up, 2);
	sigprocmask(SIG_UNBLOCK, &trap, NULL);
	CHECK_U64(FIRES(block[20] = 0), 0);
}

/* Handlers on the thread's own stack do not trap for ever on what is watched there. */
static void *on_own_stack(void *data)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0) & -(uintptr_t)8;
	unsigned before = n_fired, before_given_up = n_given_up;

	rt_own_signals_thread_end();
	for (uintptr_t below = 256; below < 8192; below += 8) {
		CHECK(arm(0, (volatile void *)(here - below)));
		CHECK(arm(1, &block[30]));
		block[30] = 1;
	}
	CHECK(n_fired - before >= 900);
	CHECK(n_given_up > before_given_up);
	return data;
}

static void dead_stack(void)
{
	pthread_t thread;

	again(3, false);
	CHECK(!pthread_create(&thread, NULL, on_own_stack, NULL));
	pthread_join(thread, NULL);
	disarm(0);
}

/* A thread that does what it is told. */
struct worker {
	pthread_t thread;
	pid_t tid;
	sem_t go, done;
	enum { TOUCH, ARM, QUIT } what;
	volatile uint64_t *address;
};

static void *work(void *data)
{
	struct worker *worker = data;

	worker->tid = gettid();
	sem_post(&worker->done);
	for (;;) {
		sem_wait(&worker->go);
		if (worker->what == QUIT)
			return NULL;
		if (worker->what == ARM)
			CHECK(arm(3, worker->address));
		else
			*worker->address = 1;
		sem_post(&worker->done);
	}
}

static void hire(struct worker *worker)
{
	sem_init(&worker->go, 0, 0);
	sem_init(&worker->done, 0, 0);
	CHECK(!pthread_create(&worker->thread, NULL, work, worker));
	sem_wait(&worker->done);
}

static void tell(struct worker *worker, int what, volatile uint64_t *address)
{
	worker->what = what;
	worker->address = address;
	sem_post(&worker->go);
	if (what == QUIT)
		pthread_join(worker->thread, NULL);
	else
		sem_wait(&worker->done);
}

static void remote(struct worker *worker)
{
	CHECK(arm(0, &block[5]));
	CHECK_U64(FIRES(tell(worker, TOUCH, &block[5])), 1);
	CHECK(last_thread == worker->tid);
	CHECK_U64(FIRES(tell(worker, TOUCH, &block[5])), 0);
	CHECK_U64(FIRES(block[5] = 1), 0);
	CHECK(arm(0, &block[5]));
	CHECK_U64(FIRES(block[5] = 1), 1);
	CHECK_U64(FIRES(tell(worker, TOUCH, &block[5])), 0);
	tell(worker, ARM, &block[6]);
	CHECK_U64(FIRES(block[6] = 1), 1);
	CHECK(last_thread == gettid());
	tell(worker, ARM, &block[6]);
	CHECK_U64(FIRES(tell(worker, TOUCH, &block[6])), 1);
}

/* Of a thread that a thread made, too. */
static void *make_one(void *data)
{
	hire(data);
	return NULL;
}

static void threads(void)
{
	struct worker before, after, third;
	pthread_t maker;

	end();
	hire(&before);
	again(3, false);
	hire(&after);
	CHECK(!pthread_create(&maker, NULL, make_one, &third));
	pthread_join(maker, NULL);
	remote(&before);
	remote(&after);
	remote(&third);
	tell(&before, QUIT, NULL);
	remote(&after);
	tell(&after, QUIT, NULL);
	tell(&third, QUIT, NULL);
	CHECK(arm(0, &block[5]));
	CHECK_U64(FIRES(block[5] = 1), 1);
}

/* Many touch it at once: one of them fires it. */
static pthread_barrier_t barrier;

static void *race(void *data)
{
	for (unsigned i = 0; i < 200; i++) {
		pthread_barrier_wait(&barrier);
		block[16] = (uintptr_t)data;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void races(void)
{
	pthread_t thread[3];
	unsigned wrong = 0;

	again(3, false);
	pthread_barrier_init(&barrier, NULL, 4);
	for (unsigned i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread[i], NULL, race, NULL));
	for (unsigned i = 0; i < 200; i++) {
		unsigned before = n_fired;

		CHECK(arm(i % WATCHES, &block[16]));
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		wrong += n_fired != before + 1;
	}
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	CHECK_U64(wrong, 0);
	pthread_barrier_destroy(&barrier);
}

/* In a child, whose status says how many checks failed. */
static void in_child(void (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		check_failures = 0;
		run();
		_exit(check_failures ? 1 : 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

static void of_parent(void)
{
	CHECK_U64(FIRES(block[7] = 1), 0);
	again(3, false);
	CHECK_U64(FIRES(block[7] = 1), 0);
	CHECK(arm(0, &block[9]));
	CHECK_U64(FIRES(block[9] = 1), 1);
	end();
}

static void ends_only(void)
{
	end();
	CHECK_U64(FIRES(block[7] = 1), 0);
}

static void forks(void)
{
	again(3, false);
	CHECK(arm(0, &block[7]));
	in_child(of_parent);
	in_child(ends_only);
	CHECK_U64(FIRES(block[7] = 1), 1);
}

static void *survive(void *data)
{
	pthread_join(*(pthread_t *)data, NULL);
	CHECK(arm(1, &block[10]));
	CHECK_U64(FIRES(block[10] = 1), 1);
	{
		struct worker late;

		hire(&late);
		CHECK(arm(1, &block[10]));
		CHECK_U64(FIRES(tell(&late, TOUCH, &block[10])), 1);
		tell(&late, QUIT, NULL);
	}
	_exit(check_failures ? 1 : 0);
}

/* The thread that opened the events is gone. */
static void main_goes(void)
{
	static pthread_t self;
	pthread_t other;

	self = pthread_self();
	again(3, false);
	CHECK(!pthread_create(&other, NULL, survive, &self));
	pthread_exit(NULL);
}

static void descriptors(void)
{
	int fd, other;
	struct stat status;

	end();
	fd = open("/dev/null", O_RDONLY);
	close(fd);
	again(3, false);
	other = open("/dev/null", O_RDONLY);
	CHECK(other == fd);
	close(other);
	CHECK(arm(0, &block[11]));
	CHECK(!close_range((unsigned)fd, ~0u, 0));
	CHECK_U64(FIRES(block[11] = 1), 0);
	CHECK(arm(0, &block[11]));
	CHECK_U64(FIRES(block[11] = 1), 1);
	/* Others have their numbers. */
	CHECK(!close_range((unsigned)fd, ~0u, 0));
	for (other = open("/dev/null", O_RDONLY); other >= 0 && other < 600;)
		other = open("/dev/null", O_RDONLY);
	CHECK(arm(0, &block[11]));
	CHECK_U64(FIRES(block[11] = 1), 1);
	end();
	for (int i = fd; i <= other; i++)
		CHECK(!fstat(i, &status) && S_ISCHR(status.st_mode));
	close_range((unsigned)fd, ~0u, 0);
}

static int take_register(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&block[63],
		.bp_len = 8 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static void taken_by_others(void)
{
	int fd[WATCHES], failed;

	end();
	control.watching.block_shift = 3;
	for (unsigned i = 0; i < WATCHES; i++) {
		CHECK((fd[i] = take_register()) >= 0);
		CHECK_U64(begin(WATCHES, &failed), WATCHES - 1 - i);
		CHECK(failed == -ENOSPC); /* of one, or of all */
		end();
	}
	for (unsigned i = 0; i < WATCHES; i++)
		close(fd[i]);
	CHECK_U64(begin(WATCHES, &failed), WATCHES);
	CHECK_U64(begin(2, &failed), 2);
}

/* Another process has one of this thread's registers. */
static void debugged(void)
{
	long dr = offsetof(struct user, u_debugreg);
	int status, failed;
	pid_t child;

	end();
	child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(77);
		raise(SIGSTOP);
		_exit((int)begin(WATCHES, &failed));
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	CHECK(!ptrace(PTRACE_POKEUSER, child, dr, &block[62]));
	CHECK(!ptrace(PTRACE_POKEUSER, child, dr + 7 * 8, 1 | 1 << 16 | 3 << 18));
	CHECK(!ptrace(PTRACE_CONT, child, 0, 0));
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK_U64((uint64_t)WEXITSTATUS(status), WATCHES - 1);
}

/* Blocked in the kernel: it is missed, and the watch is still there. */
static void blocked(void)
{
	uint64_t mask;

	again(3, false);
	CHECK(arm(0, &block[12]));
	mask = rt_block();
	CHECK_U64(FIRES(block[12] = 1; rt_unblock(mask)), 0);
	CHECK_U64(FIRES(block[12] = 1), 1);
}

static bool has_stack(void)
{
	stack_t now = { 0 };

	return loci_syscall3(SYS_sigaltstack, 0, (long)&now, 0) == 0 &&
		!(now.ss_flags & SS_DISABLE);
}

/* There is an alternate stack for the handler, whatever the program does with its own. */
static void stacks(void)
{
	static char room[65536];
	stack_t own = { .ss_sp = room, .ss_size = sizeof(room) }, none = { .ss_flags = SS_DISABLE };

	again(3, false);
	CHECK(has_stack());
	CHECK(!sigaltstack(&own, NULL));
	CHECK(arm(0, &block[13]));
	CHECK_U64(FIRES(block[13] = 1), 1);
	CHECK(!sigaltstack(&none, NULL));
	CHECK(has_stack());
	CHECK(arm(0, &block[13]));
	CHECK_U64(FIRES(block[13] = 1), 1);
	rt_own_signals_thread_end();
	CHECK(!has_stack());
	CHECK(arm(0, &block[13]));
	CHECK_U64(FIRES(block[13] = 1), 1);
	rt_own_signals_thread();
	CHECK(has_stack());
}

static void becomes_another(void)
{
	again(3, false);
	for (unsigned i = 0; i < WATCHES; i++)
		arm(i, &block[i]);
	execl("/bin/true", "true", (char *)NULL);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void open_close(unsigned i)
{
	int failed;

	(void)i;
	begin(WATCHES, &failed);
	end();
}

static void move(unsigned i)
{
	arm(0, &block[i & 1]);
}

static void move_and_touch(unsigned i)
{
	arm(0, &block[i & 1]);
	block[i & 1] = i;
}

/* The best of some batches: others are on the machine too. */
static double cost_us(void (*what)(unsigned))
{
	enum { BATCHES = 50, N = 200 };
	double best = HUGE_VAL;

	for (unsigned batch = 0; batch < BATCHES; batch++) {
		double start = now_us(), took;

		for (unsigned i = 0; i < N; i++)
			what(i);
		took = (now_us() - start) / N;
		best = took < best ? took : best;
	}
	return best;
}

static void measure(void)
{
	enum { THREADS = 8 };
	struct worker worker[THREADS];
	double alone;

	end();
	printf("us: begin and end with 4 watches %.2f\n", cost_us(open_close));
	again(3, false);
	alone = cost_us(move);
	printf("us: arm %.2f, trap with its handler %.2f\n", alone,
		cost_us(move_and_touch) - alone);
	for (unsigned i = 0; i < THREADS; i++)
		hire(&worker[i]);
	alone = cost_us(move);
	printf("us: with %d threads more, arm %.2f, trap with its handler %.2f\n", THREADS, alone,
		cost_us(move_and_touch) - alone);
	for (unsigned i = 0; i < THREADS; i++)
		tell(&worker[i], QUIT, NULL);
}

/* As many as have descriptors are watched, and the others told of. */
static void many_threads(void)
{
	enum { THREADS = 70, REACHED = 63 };
	static struct worker worker[THREADS];
	unsigned n = 0;

	end();
	control.watching.missed_threads = 0;
	for (unsigned i = 0; i < THREADS; i++)
		hire(&worker[i]);
	again(3, false);
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK(arm(0, &block[7]));
		n += FIRES(tell(&worker[i], TOUCH, &block[7]));
	}
	CHECK_U64(n, REACHED);
	CHECK_U64(control.watching.missed_threads, THREADS - REACHED);
	for (unsigned i = 0; i < THREADS; i++)
		tell(&worker[i], QUIT, NULL);
	again(3, false);
	CHECK_U64(control.watching.missed_threads, THREADS - REACHED); /* the most */
}

/* Descriptors for some watches, and for none. In a child. */
static void few_descriptors(void)
{
	struct rlimit limit = { 8, 8 }; /* from 6 on they are ours */
	int failed = 0;

	end();
	CHECK(close_range(3, ~0u, 0) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK_U64(begin(WATCHES, &failed), 2);
	CHECK(failed == -EMFILE);
	CHECK(arm(1, &block[5]));
	CHECK_U64(FIRES(block[5] = 1), 1);
	end();
	limit.rlim_cur = 3;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK_U64(begin(WATCHES, &failed), 0);
	CHECK(failed == -EMFILE);
}

/* None is left for a moment, after which watching goes on. In a child. */
static void no_descriptors_now(void)
{
	struct rlimit before, none = { 3, 0 };

	again(3, false);
	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	none.rlim_max = before.rlim_max;
	close_range(3, ~0u, 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	CHECK(!arm(0, &block[5]) && control.watching.n_stopped == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
	CHECK(arm(0, &block[5]));
	CHECK_U64(FIRES(block[5] = 1), 1);
	CHECK_U64(control.watching.n_stopped, 0);
}

/* Of those that a program has closed none meets anything any more. In a child. */
static void closed_together(void)
{
	again(3, false);
	CHECK(arm(0, &block[4]) && arm(1, &block[5]) && arm(2, &block[6]));
	CHECK_U64(ops->lost(), 0);
	close_range(3, ~0u, 0);
	CHECK(arm(0, &block[4]));
	CHECK_U64(ops->lost(), 6);
	CHECK_U64(ops->lost(), 0);
	CHECK_U64(FIRES(block[4] = 1), 1);
}

/* A program that closes them again and again is watched no longer, which is told. In a child. */
static void closes_again(void)
{
	bool is_armed = true;
	unsigned n = 0;

	again(3, false);
	for (; is_armed && n < 100; n++) {
		CHECK_U64(control.watching.n_stopped, 0);
		close_range(3, ~0u, 0);
		is_armed = arm(0, &block[5]);
	}
	CHECK(!is_armed && n > 10);
	CHECK_U64(control.watching.stop, LOCI_STOP_DESCRIPTORS);
	CHECK_U64(control.watching.n_stopped, 1);
}

int main(int argc, char **argv)
{
	int failed = 0;

	control.watching.block_shift = 3;
	if (!begin(WATCHES, &failed)) {
		printf("no debug registers: %s\n", strerror(-failed));
		return 77;
	}
	if (argc > 1 && !strcmp(argv[1], "measure")) {
		measure();
		return 0;
	}
	touches();
	sizes();
	waits();
	dead_stack();
	threads();
	races();
	forks();
	in_child(main_goes);
	in_child(descriptors);
	taken_by_others();
	debugged();
	blocked();
	stacks();
	many_threads();
	in_child(few_descriptors);
	in_child(no_descriptors_now);
	in_child(closed_together);
	in_child(closes_again);
	in_child(becomes_another);
	return check_status();
}
