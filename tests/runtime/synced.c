// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that synchronise in every way there is, and tell what must stand in order:
 *
 *	synced SCENARIO [SHARED]	SHARED: a file, mapped
 *
 * It exits with 0, or the line of what went wrong. */
#define _GNU_SOURCE
#include "runtime/synced.h"

uint64_t counter[KINDS];
static volatile uint64_t *shared; /* with the test */

struct timespec from_now(clockid_t clock, long ms)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += ms % 1000 * 1000000;
	time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

struct timespec later(clockid_t clock)
{
	return from_now(clock, 100000);
}

void together(void *(*run)(void *))
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		MUST(pthread_create(&thread[i], NULL, run, (void *)i) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
}

/* Threads that come and go. */
enum { JOINED = 64, JOINED_OTHERWISE, JOINED_C11, DETACHED, AT_ONCE };
static sem_t gone;

static void *be_joined(void *data)
{
	tell_write((unsigned)(uintptr_t)data);
	return data;
}

static int be_joined_c11(void *data)
{
	tell_write(JOINED_C11);
	return (int)(uintptr_t)data;
}

static void *be_detached(void *data)
{
	tell_write(DETACHED);
	MUST(sem_post(&gone) == 0);
	return data;
}

static void join_otherwise(pthread_t thread, int i)
{
	struct timespec real = later(CLOCK_REALTIME), steady = later(CLOCK_MONOTONIC);

	if (i % 3 == 0)
		while (pthread_tryjoin_np(thread, NULL) == EBUSY)
			sched_yield();
	else if (i % 3 == 1)
		MUST(pthread_timedjoin_np(thread, NULL, &real) == 0);
	else
		MUST(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &steady) == 0);
}

static void one_after_the_other(int i)
{
	pthread_t thread;
	void *result;

	tell_write(JOINED);
	MUST(pthread_create(&thread, NULL, be_joined, (void *)(uintptr_t)JOINED) == 0);
	MUST(pthread_join(thread, &result) == 0 && result == (void *)(uintptr_t)JOINED);
	tell_write(JOINED_OTHERWISE);
	MUST(pthread_create(&thread, NULL, be_joined, (void *)(uintptr_t)JOINED_OTHERWISE) == 0);
	join_otherwise(thread, i);
	tell_write(JOINED_OTHERWISE);
}

static void come_and_go(void)
{
	pthread_attr_t attributes;
	pthread_t thread[50];
	thrd_t c11;
	int result;

	MUST(pthread_attr_init(&attributes) == 0 && sem_init(&gone, 0, 0) == 0);
	MUST(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
	for (int i = 0; i < 25; i++) {
		one_after_the_other(i);
		tell_write(JOINED_C11);
		MUST(thrd_create(&c11, be_joined_c11, (void *)7) == thrd_success);
		MUST(thrd_join(c11, &result) == thrd_success && result == 7);
		tell_write(DETACHED);
		MUST(pthread_create(&thread[0], i % 2 ? &attributes : NULL, be_detached, NULL) ==
			0);
		if (i % 2 == 0)
			MUST(pthread_detach(thread[0]) == 0);
		MUST(sem_wait(&gone) == 0);
	}
	for (uintptr_t round = 0; round < 2; round++) {
		for (uintptr_t i = 0; i < 50; i++) {
			tell_write((unsigned)(AT_ONCE + i));
			MUST(pthread_create(&thread[i], NULL, be_joined, (void *)(AT_ONCE + i)) ==
				0);
		}
		for (uintptr_t i = 0; i < 50; i++) {
			MUST(pthread_join(thread[i], NULL) == 0);
			tell_write((unsigned)(AT_ONCE + i));
		}
	}
}

/* Waits that are cancelled: what held when they began holds again. */
enum { CANCELLED = 128 };
static sem_t never;

static void unlock(void *data)
{
	tell_write(CANCELLED);
	MUST(pthread_mutex_unlock(data) == 0);
}

static void *wait_for_ever(void *data)
{
	MUST(pthread_mutex_lock(&turn_mutex[0]) == 0);
	pthread_cleanup_push(unlock, &turn_mutex[0]);
	shared[0]++;
	for (;;)
		pthread_cond_wait(&turn_cond[0], &turn_mutex[0]);
	pthread_cleanup_pop(0);
	return data;
}

static void *wait_for_never(void *data)
{
	if (data)
		pthread_cancel(pthread_self()); /* which acts even if nobody has to wait */
	sem_wait(&never);
	return data;
}

static void cancels(void)
{
	pthread_t thread[THREADS + 2];
	void *result;

	MUST(sem_init(&never, 0, 0) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&thread[i], NULL, wait_for_ever, NULL) == 0);
	MUST(pthread_create(&thread[THREADS], NULL, wait_for_never, NULL) == 0);
	for (bool all = false; !all; sched_yield()) {
		MUST(pthread_mutex_lock(&turn_mutex[0]) == 0);
		all = shared[0] == THREADS;
		MUST(pthread_mutex_unlock(&turn_mutex[0]) == 0);
	}
	for (int i = 0; i <= THREADS; i++)
		MUST(pthread_cancel(thread[i]) == 0);
	for (int i = 0; i <= THREADS; i++)
		MUST(pthread_join(thread[i], &result) == 0 && result == PTHREAD_CANCELED);
	MUST(sem_post(&never) == 0);
	MUST(pthread_create(&thread[0], NULL, wait_for_never, &never) == 0);
	MUST(pthread_join(thread[0], &result) == 0 && result == PTHREAD_CANCELED);
	MUST(counter[CANCELLED] == THREADS);
}

/* Children of a program with threads: a stream of their own, numbers from 1. */
static volatile bool is_over;

static void *lock_on(void *data)
{
	while (!is_over) {
		MUST(pthread_mutex_lock(&turn_mutex[1]) == 0);
		tell_write(MUTEX);
		MUST(pthread_mutex_unlock(&turn_mutex[1]) == 0);
		sem_post(&gone);
		if (counter[MUTEX] > 2000)
			usleep(100); /* there is enough to look at */
	}
	return data;
}

static void in_child(void)
{
	pthread_t thread;

	counter[JOINED] = 0;
	tell_write(JOINED);
	MUST(pthread_create(&thread, NULL, be_joined, (void *)(uintptr_t)JOINED) == 0);
	MUST(sem_post(&gone) == 0); /* of which the parent has taken numbers */
	MUST(pthread_join(thread, NULL) == 0);
	tell_write(JOINED);
	memset(counter, 0, sizeof(counter));
	init_mutexes();
	together(lock_all);
	_exit(0);
}

static void forks(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		MUST(pthread_create(&thread[i], NULL, lock_on, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			in_child();
		MUST(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	}
	is_over = true;
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
}

static void exits(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&thread, NULL, lock_on, NULL) == 0);
	for (int i = 0; i < 1000; i++)
		MUST(sem_wait(&gone) == 0);
	exit(0);
}

/* A storm of signals whose handlers post what is waited for: the same numbers, all the time. */
static sigjmp_buf back;
static volatile sig_atomic_t n_alarms;

static void on_alarm(int signal)
{
	int error = errno;

	(void)signal;
	n_alarms++;
	sem_post(&gone);
	tell(AFTER + SEM, 0);
	errno = error;
}

static void on_alarm_informed(int signal, siginfo_t *info, void *context)
{
	MUST(signal == SIGALRM && info->si_signo == SIGALRM && context);
	on_alarm(signal);
}

static void *idle(void *data)
{
	while (!is_over)
		usleep(1000);
	return data;
}

/* Another thread, which takes no signals. */
static pthread_t beside(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	MUST(pthread_create(&thread, NULL, idle, NULL) == 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

static void storm(bool informed)
{
	struct sigaction action = { .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 60 }, { 0, 60 } }, none = { { 0 }, { 0 } };

	action.sa_flags |= informed ? SA_SIGINFO : 0;
	if (informed)
		action.sa_sigaction = on_alarm_informed;
	else
		action.sa_handler = on_alarm;
	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
	for (n_alarms = 0; n_alarms < 1500;) {
		errno = 4711;
		sem_post(&gone);
		sem_wait(&gone);
		sem_trywait(&gone);
		MUST(errno == 4711 || errno == EAGAIN);
	}
	MUST(setitimer(ITIMER_REAL, &none, NULL) == 0);
}

static void signals(void)
{
	pthread_t thread;

	MUST(sem_init(&gone, 0, 0) == 0);
	thread = beside();
	storm(false);
	storm(true);
	is_over = true;
	MUST(pthread_join(thread, NULL) == 0);
}

/* Handlers that jump out of a wait. */
static void on_alarm_jump(int signal)
{
	(void)signal;
	n_alarms++;
	siglongjmp(back, 1);
}

static void jumps(void)
{
	struct sigaction action = { .sa_handler = on_alarm_jump };
	struct itimerval once_only = { { 0 }, { 0, 2000 } };
	pthread_t thread;

	MUST(sem_init(&never, 0, 0) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
	thread = beside();
	if (sigsetjmp(back, 1) == 0 || n_alarms < 20) {
		tell_write(SEM);
		MUST(setitimer(ITIMER_REAL, &once_only, NULL) == 0);
		sem_wait(&never);
	}
	is_over = true;
	MUST(pthread_join(thread, NULL) == 0);
}

/* Nobody gets on. */
static pthread_barrier_t both;

static void *cross(void *data)
{
	uintptr_t me = (uintptr_t)data;

	MUST(pthread_mutex_lock(&turn_mutex[me]) == 0);
	tell_write((unsigned)me);
	pthread_barrier_wait(&both);
	__atomic_fetch_add(&shared[0], 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&turn_mutex[1 - me]);
	return data;
}

static void deadlock(void)
{
	pthread_t thread[2];

	MUST(pthread_barrier_init(&both, NULL, 2) == 0);
	for (uintptr_t i = 0; i < 2; i++)
		MUST(pthread_create(&thread[i], NULL, cross, (void *)i) == 0);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* A mutex is held while its holder's ring is full. */
static void *hold(void *data)
{
	for (int i = 0; i < 20; i++) {
		MUST(pthread_mutex_lock(&turn_mutex[0]) == 0);
		for (int k = 0; k < 3000; k++)
			tell(AFTER + MUTEX, 0);
		tell_write(MUTEX);
		MUST(pthread_mutex_unlock(&turn_mutex[0]) == 0);
	}
	return data;
}

static void full(void)
{
	together(hold);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenario[] = {
	{ "locks", locks },
	{ "waits", waits },
	{ "come_and_go", come_and_go },
	{ "results", results },
	{ "cancels", cancels },
	{ "forks", forks },
	{ "exits", exits },
	{ "signals", signals },
	{ "jumps", jumps },
	{ "deadlock", deadlock },
	{ "full", full },
};

int main(int argc, char **argv)
{
	static uint64_t alone[1];

	shared = alone;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the test, or whoever started this */
	if (argc > 2) {
		int fd = open(argv[2], O_RDWR);

		MUST(fd >= 0);
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		MUST(shared != MAP_FAILED);
		close(fd);
	}
	for (size_t i = 0; i < sizeof(scenario) / sizeof(*scenario); i++)
		if (argc > 1 && !strcmp(argv[1], scenario[i].name)) {
			scenario[i].run();
			return 0;
		}
	return 201;
}
