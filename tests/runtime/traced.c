// SPDX-License-Identifier: GPL-2.0-or-later
/* A program as `loci cc` would have built it, for tests/unit/runtime_test.c:
 *
 *	traced SCENARIO TOTALS		TOTALS: a file of struct totals
 *
 * It does what the scenario says and exits with 0, or the line of what went wrong. */
#define _GNU_SOURCE
#include "runtime/by_hand.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static struct totals *totals;
static const char *totals_path, *self_path;

BY_HAND(work)
BY_HAND(handle)
BY_HAND(other)

enum {
	MAIN = 1,
	HANDLER = 2,
	NESTED = 3,
	BEFORE = 4,
	AFTER = 5,
	CHILD = 6,
	GRANDCHILD = 7,
	THREAD = 64
};

static void plain(void)
{
	work(totals, MAIN, 300000);
	other(totals, MAIN, 10);
	work(totals, MAIN, 0);
}

/* Threads: they return, exit, are cancelled; others count in destructors of their data. */
static pthread_key_t key;

static void destroy(void *data)
{
	other(totals, (uintptr_t)data, 7);
}

static void *threaded(void *data)
{
	uintptr_t tag = (uintptr_t)data;

	MUST(pthread_setspecific(key, data) == 0);
	for (int i = 0; i < 50; i++)
		work(totals, tag, 1000);
	if (tag % 3 == 0)
		pthread_exit(data);
	if (tag % 3 == 1) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return data;
}

static int threaded_c11(void *data)
{
	threaded(data);
	return 5;
}

static void threads(void)
{
	pthread_t thread[8];
	thrd_t c11;
	int result = 0;

	MUST(pthread_key_create(&key, destroy) == 0);
	for (uintptr_t i = 0; i < 8; i++)
		MUST(pthread_create(&thread[i], NULL, threaded, (void *)(THREAD + i)) == 0);
	work(totals, MAIN, 20000);
	for (uintptr_t i = 0; i < 8; i++) {
		void *ret = NULL;

		MUST(pthread_join(thread[i], &ret) == 0);
		MUST(ret == ((THREAD + i) % 3 == 1 ? PTHREAD_CANCELED : (void *)(THREAD + i)));
	}
	MUST(thrd_create(&c11, threaded_c11, (void *)(uintptr_t)(THREAD + 10)) == thrd_success);
	MUST(thrd_join(c11, &result) == thrd_success && result == 5);
}

static void await_child(pid_t pid, int want)
{
	int status;

	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	MUST(WEXITSTATUS(status) == want);
}

static void in_fork_child(void)
{
	other(totals, CHILD, 3);
}

static int in_clone(void *data)
{
	handle(data, GRANDCHILD, 6);
	return 13;
}

static void forks(void)
{
	pid_t pid;

	pthread_atfork(NULL, NULL, in_fork_child);
	work(totals, MAIN, 50000);
	pid = fork();
	if (pid == 0) {
		work(totals, CHILD, 40000);
		pid = fork();
		if (pid == 0) {
			work(totals, GRANDCHILD, 30000);
			_exit(4);
		}
		await_child(pid, 4);
		exit(3);
	}
	work(totals, MAIN, 50000);
	await_child(pid, 3);
	pid = _Fork();
	if (pid == 0) {
		handle(totals, GRANDCHILD, 5);
		_exit(9);
	}
	await_child(pid, 9);
	pid = (pid_t)syscall(SYS_fork);
	if (pid == 0) {
		handle(totals, GRANDCHILD, 5);
		_exit(10);
	}
	await_child(pid, 10);
	{
		static char stack[65536] __attribute__((aligned(16)));

		await_child(clone(in_clone, stack + sizeof(stack), SIGCHLD, totals), 13);
	}
}

/* Signals: a storm of them, and one within another. */
static volatile sig_atomic_t n_alarms;

static void on_nested(int signal, siginfo_t *info, void *context)
{
	MUST(signal == SIGUSR1 && info->si_pid == getpid() && context);
	other(totals, NESTED, 2);
}

static void on_alarm(int signal)
{
	int error = errno;

	MUST(signal == SIGALRM);
	n_alarms++;
	handle(totals, HANDLER, 40);
	if (n_alarms % 4 == 0)
		raise(SIGUSR1);
	free(malloc(n_alarms));
	errno = error;
}

static void catch (int signal, void (*function)(int), int flags)
{
	struct sigaction action = { .sa_handler = function, .sa_flags = flags };

	MUST(sigaction(signal, &action, NULL) == 0);
}

static void catch_info(int signal, void (*function)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = function, .sa_flags = SA_SIGINFO | SA_RESTART };

	MUST(sigaction(signal, &action, NULL) == 0);
}

static void storm(long us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };

	MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void signals(void)
{
	catch_info(SIGUSR1, on_nested);
	catch (SIGALRM, on_alarm, SA_RESTART);
	storm(100);
	errno = 4711;
	for (int i = 0; n_alarms < 1000; i++) {
		work(totals, MAIN, 1000);
		MUST(errno == 4711);
		free(malloc(100 + i % 1000));
	}
	storm(0);
}

/* Threads, each interrupted, while the process forks. */
static __thread uintptr_t my_tag;

static void on_alarm_anywhere(int signal)
{
	(void)signal;
	if (my_tag)
		handle(totals, my_tag + 512, 5);
	__atomic_fetch_add(&totals->value[0], 1, __ATOMIC_SEQ_CST);
}

static void *interrupted(void *data)
{
	my_tag = (uintptr_t)data;
	while (__atomic_load_n(&totals->value[0], __ATOMIC_SEQ_CST) < 2000) {
		work(totals, my_tag, 500);
		free(realloc(malloc(my_tag), 5000));
	}
	return data;
}

static void mixture(void)
{
	pthread_t thread[4];

	catch (SIGALRM, on_alarm_anywhere, SA_RESTART);
	for (uintptr_t i = 0; i < 4; i++)
		MUST(pthread_create(&thread[i], NULL, interrupted, (void *)(THREAD + i)) == 0);
	storm(100);
	for (uintptr_t i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			work(totals, CHILD + 1024 + i, 1000);
			free(malloc(10));
			_exit(0);
		}
		await_child(pid, 0);
	}
	for (uintptr_t i = 0; i < 4; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	storm(0);
}

static sigjmp_buf back;

static void on_alarm_jump(int signal)
{
	n_alarms++;
	handle(totals, HANDLER, 3);
	if (n_alarms % 2)
		siglongjmp(back, 1);
}

/* Between setjmp and longjmp nothing may be changed that is not volatile. */
static void jumps(void)
{
	struct loci_cc_state *mark;

	catch (SIGALRM, on_alarm_jump, 0);
	storm(200);
	mark = __loci_mark();
	sigsetjmp(back, 1);
	__loci_landed(mark);
	while (n_alarms < 1000)
		other(totals, MAIN, 1); /* the one that is interrupted may be in the ring or not */
	storm(0);
	work(totals, AFTER, 1000);
}

static void for_ever(void)
{
	for (;;)
		work(totals, MAIN, 1000);
}

/* The program's view of its handlers. */
static void on_one(int signal)
{
	totals->value[0] += (uint64_t)signal;
}

static void on_two(int signal)
{
	totals->value[1] += (uint64_t)signal;
}

static void handlers(void)
{
	struct sigaction action = { .sa_handler = on_one, .sa_flags = SA_RESETHAND }, old;

	MUST(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	MUST(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == on_one);
	MUST(old.sa_flags & SA_RESETHAND);
	raise(SIGUSR1);
	MUST(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	MUST(signal(SIGUSR1, on_two) == SIG_DFL);
	MUST(signal(SIGUSR1, on_one) == on_two);
	raise(SIGUSR1);
	MUST(signal(SIGUSR1, SIG_IGN) == on_one);
	raise(SIGUSR1);
	MUST(sigset(SIGUSR1, on_two) == SIG_IGN);
	raise(SIGUSR1);
	MUST(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == on_two);
	MUST(totals->value[0] == 2 * SIGUSR1 && totals->value[1] == SIGUSR1);
	MUST(system("true") == 0);
	MUST(sigaction(SIGKILL, &action, NULL) < 0 && errno == EINVAL);
}

static void on_silent(int signal)
{
	(void)signal;
	raise(SIGUSR1);
}

static void on_inner(int signal)
{
	(void)signal;
	other(totals, NESTED, 4);
}

static void silent(void)
{
	catch (SIGUSR2, on_silent, 0);
	catch (SIGUSR1, on_inner, 0);
	work(totals, MAIN, 3);
	raise(SIGUSR2);
	work(totals, MAIN, 3);
}

/* Handlers beyond all levels: each raises the signal again. */
static void on_deep(int signal)
{
	other(totals, NESTED, 1);
	if (++n_alarms < 40)
		raise(signal);
	other(totals, NESTED + 1, 1);
}

static void deep(void)
{
	catch (SIGUSR2, on_deep, SA_NODEFER);
	work(totals, MAIN, 1);
	raise(SIGUSR2);
	work(totals, MAIN, 100);
}

static void load(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void (*run)(struct totals *, uint64_t, uint64_t);

	MUST(plugin);
	run = (void (*)(struct totals *, uint64_t, uint64_t))dlsym(plugin, "plugin_run");
	MUST(run);
	run(totals, MAIN, 100);
	MUST(dlclose(plugin) == 0);
}

static void dynamic(void)
{
	const char *path = getenv("PLUGIN");

	MUST(path);
	for (int i = 0; i < 3; i++)
		load(path);
	work(totals, MAIN, 10);
	await_child(fork() ?: (work(totals, CHILD, 10), _exit(0), 0), 0);
}

static void run_self(char *const envp[])
{
	char *argv[] = { (char *)self_path, (char *)"exec_end", (char *)totals_path, NULL };

	execve(self_path, argv, envp);
}

static void execs(void)
{
	char *none[] = { NULL };
	pid_t pid;

	work(totals, MAIN, 1000);
	pid = vfork();
	if (pid == 0) {
		work(totals, MAIN, 10);
		run_self(none);
		_exit(99);
	}
	await_child(pid, 11);
	pid = vfork();
	if (pid == 0)
		_exit(12);
	await_child(pid, 12);
	{
		char *argv[] = { (char *)self_path, (char *)"exec_end", (char *)totals_path, NULL };

		MUST(posix_spawn(&pid, self_path, NULL, NULL, argv, none) == 0);
	}
	await_child(pid, 11);
	{
		char command[1024];
		FILE *file;

		MUST(!getenv("LOCI_RUN"));
		snprintf(command, sizeof(command), "exec '%s' exec_end '%s'", self_path,
			totals_path);
		MUST(WEXITSTATUS(system(command)) == 11);
		file = popen(command, "r");
		MUST(file && WEXITSTATUS(pclose(file)) == 11);
		MUST(!getenv("LOCI_RUN"));
		setenv("OTHER", "1", 1);
		MUST(WEXITSTATUS(system(command)) == 11);
		MUST(getenv("OTHER") && !getenv("LOCI_RUN"));
	}
	MUST(execl("/nonexistent", "nonexistent", (char *)NULL) < 0 && errno == ENOENT);
	work(totals, MAIN, 1000);
	clearenv();
	execl(self_path, self_path, "exec_end", totals_path, (char *)NULL);
}

static void exec_end(void)
{
	work(totals, CHILD, 100);
	exit(11);
}

static void memory(void)
{
	char *a = malloc(1000), *b = calloc(10, 20), *c = NULL, *d;

	memset(a, 1, 1000);
	a = realloc(a, 100000);
	MUST(a[999] == 1);
	MUST(posix_memalign((void **)&c, 64, 640) == 0 && (uintptr_t)c % 64 == 0);
	d = realloc(NULL, 77);
	totals->value[0] = (uintptr_t)a;
	totals->value[1] = (uintptr_t)b;
	totals->value[2] = (uintptr_t)c;
	totals->value[3] = (uintptr_t)d;
	free(a);
	free(b);
	free(c);
	free(d);
	free(NULL);
	MUST(realloc(malloc(5), 0) == NULL);
	a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(a != MAP_FAILED);
	totals->value[4] = (uintptr_t)a;
	a[8191] = 3;
	a = mremap(a, 8192, 1 << 20, MREMAP_MAYMOVE);
	MUST(a != MAP_FAILED && a[8191] == 3);
	totals->value[5] = (uintptr_t)a;
	MUST(munmap(a, 1 << 20) == 0);
	MUST(sbrk(4096) != (void *)-1 && sbrk(-4096) != (void *)-1);
}

static void end_by_quick(void)
{
	other(totals, AFTER, 3);
}

static void *end_in_thread(void *data)
{
	pthread_join(*(pthread_t *)data, NULL);
	work(totals, THREAD, 100);
	exit(6);
	return data;
}

static void ends(const char *how)
{
	static pthread_t first;
	pthread_t thread;

	first = pthread_self();
	work(totals, MAIN, 100);
	if (!strcmp(how, "_exit"))
		_exit(21);
	if (!strcmp(how, "_Exit"))
		_Exit(22);
	if (!strcmp(how, "quick_exit")) {
		at_quick_exit(end_by_quick);
		quick_exit(23);
	}
	if (!strcmp(how, "thread")) {
		MUST(pthread_create(&thread, NULL, end_in_thread, &first) == 0);
		pthread_exit(NULL);
	}
	abort();
}

static void windows(void)
{
	/* value[0] is what the test has told us to go on to. */
	for (uint64_t i = 0; i < 3; i++) {
		__atomic_store_n(&totals->value[1], i + 1, __ATOMIC_SEQ_CST);
		do {
			work(totals, MAIN, 5000);
			usleep(20); /* one may count a lot otherwise */
		} while (__atomic_load_n(&totals->value[0], __ATOMIC_SEQ_CST) <= i);
	}
}

/* Every register that LLVM's preserve_most keeps. */
#define SET(value, name)  "movq $" #value ", %%" #name "\n\t"
#define TEST(value, name) "cmpq $" #value ", %%" #name "\n\tjne 1f\n\t"
#define EACH(what)                                                                               \
	what(1, rax) what(2, rcx) what(3, rdx) what(4, rsi) what(6, r8) what(7, r9) what(8, r10) \
		what(9, r12) what(10, r13) what(11, r14) what(12, r15) what(13, rbx)

static void registers(void)
{
	long good = 0;

	work(totals, MAIN, 0); /* fills in its definition */
	function_work.base = 0;

	/* This stands in for what the compiler does; the red zone is below the call. */
	__asm__ volatile("subq $128, %%rsp\n\t" EACH(
		SET) "leaq %1, %%rdi\n\t"
		     "call __loci_define@PLT\n\t" EACH(TEST) "call __loci_room@PLT\n\t" EACH(
			     TEST) "leaq %1, %%rax\n\t"
				   "cmpq %%rax, %%rdi\n\tjne 1f\n\t"
				   "movl $1, %%edi\n\tjmp 2f\n1:\txorl %%edi, %%edi\n"
				   "2:\taddq $128, %%rsp"
			 : "=&D"(good)
			 : "m"(function_work)
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13",
			 "r14", "r15", "rbx", "memory", "cc");
	MUST(good == 1);
	errno = 5;
	work(totals, MAIN, 100000);
	MUST(errno == 5);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenario[] = {
	{ "plain", plain },
	{ "threads", threads },
	{ "forks", forks },
	{ "signals", signals },
	{ "mixture", mixture },
	{ "jumps", jumps },
	{ "for_ever", for_ever },
	{ "handlers", handlers },
	{ "deep", deep },
	{ "silent", silent },
	{ "dynamic", dynamic },
	{ "execs", execs },
	{ "exec_end", exec_end },
	{ "memory", memory },
	{ "windows", windows },
	{ "registers", registers },
};

static void map_totals(const char *path)
{
	int fd = open(path, O_RDWR);

	MUST(fd >= 0);
	totals_path = path;
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(totals != MAP_FAILED);
	close(fd);
}

__attribute__((constructor)) static void before(int argc, char **argv)
{
	if (argc < 3)
		_exit(100);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the test, or whoever started this */
	map_totals(argv[2]);
	other(totals, BEFORE, 5);
}

__attribute__((destructor)) static void after(void)
{
	other(totals, AFTER, 5);
}

static void at_exit(void)
{
	other(totals, AFTER, 5);
}

int main(int argc, char **argv)
{
	self_path = argv[0];
	atexit(at_exit);
	for (size_t i = 0; i < sizeof(scenario) / sizeof(*scenario); i++)
		if (!strcmp(argv[1], scenario[i].name)) {
			scenario[i].run();
			return 0;
		}
	ends(argv[1]);
	return 101;
}
