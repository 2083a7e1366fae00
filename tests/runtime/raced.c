// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that have the runtime of `loci cc` do all it does for threads, at the same time and
 *without waiting for each other, so that nothing orders what it does but the runtime itself:
 *
 *	raced SCENARIO TOTALS		TOTALS: a file of struct totals
 *
 * It is code as `loci cc` would have built it, by hand; what it is linked with is the runtime, as
 *the thread sanitizer watches it or as it is. Exits with 0, or the line of what went wrong. */
#define _GNU_SOURCE
#include "collect/runtime/openmp.h"
#include "runtime/by_hand.h"

#include <errno.h>
#include <fcntl.h>
#include <loci/mark.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS      4u
#define ROUNDS       160u
#define CELLS        8u
#define SHARED_WORDS 4096u
#define FUNCTIONS    6u
#define FORKS        24u /* rounds between them */
#define FOR_EVER     UINT32_MAX
#define REGIONS      40u
#define BARRIERS     3u /* of a region */

static struct totals *totals;
static uint64_t cell[CELLS];
static uint64_t *shared_words;
static uint32_t n_began, n_over;
static pthread_t thread[THREADS];

BY_HAND(work_0)
BY_HAND(work_1)
BY_HAND(work_2)
BY_HAND(work_3)
BY_HAND(work_4)
BY_HAND(work_5)
BY_HAND(handle)
BY_HAND(touching)

/* By loops whose addresses say who made them. */
static void (*const work[FUNCTIONS])(
	struct totals *, uint64_t, uint64_t) = { work_0, work_1, work_2, work_3, work_4, work_5 };

/* Each thread has a tag to itself: its own, and one for handlers that run in it. */
static __thread uint64_t tag;
static uint64_t n_tags;

static void take_tag(void)
{
	tag = 2 + 2 * __atomic_fetch_add(&n_tags, 1, __ATOMIC_RELAXED);
	MUST(tag + 1 < MAX_TAGS);
}

/* The same of memory that all threads have, and that may be watched. */
static __attribute__((noinline)) void touch(uint64_t *words, uint64_t n)
{
	struct loci_cc_function *function = &function_touching;
	struct loci_cc_state *state = __loci_thread.state;
	uint64_t *cursor = state->cursor;
	int64_t budget = __loci_thread.budget;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t value;

		if (budget < 0) {
			if (cursor > state->limit) {
				__loci_room();
				state = __loci_thread.state;
				cursor = state->cursor;
				budget = __loci_thread.budget;
			}
			if (!__atomic_load_n(&function->base, __ATOMIC_ACQUIRE))
				__loci_define(function);
		}
		if (budget < 0) {
			*cursor++ = function->base + 1;
			*cursor++ = (uintptr_t)&words[i];
			*cursor++ = (uintptr_t)&words[i];
			__atomic_store_n(&state->cursor, cursor, __ATOMIC_RELEASE);
		}
		value = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
		__atomic_store_n(&words[i], value + 1, __ATOMIC_RELAXED);
		budget -= 2;
		__atomic_store_n(&__loci_thread.budget, budget, __ATOMIC_RELEASE);
	}
}

/* An atomic operation of the program's, in the tracing copy. */
static void add_atomically(uint64_t *to)
{
	struct loci_cc_state *state = __loci_thread.state;
	uint64_t *cursor;

	if (__loci_thread.budget >= 0)
		return;
	if (state->cursor > state->limit) {
		__loci_room();
		state = __loci_thread.state;
	}
	if (!__atomic_load_n(&function_touching.base, __ATOMIC_ACQUIRE))
		__loci_define(&function_touching);
	if (__loci_thread.budget >= 0 || !function_touching.base)
		return;
	cursor = state->cursor;
	*cursor++ = function_touching.base + 1;
	__loci_atomic_begin(cursor, (uintptr_t)to, LOCI_CC_ATOMIC_MODIFY);
	__atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
	__loci_atomic_end();
	__loci_thread.budget -= 2;
}

static void allocate(unsigned round)
{
	size_t page = 4096;
	char *small = malloc(24 + round), *large = malloc(300000), *mapped;
	void *aligned = NULL;

	MUST(small && large);
	small = realloc(small, 500);
	MUST(small && posix_memalign(&aligned, 64, 640) == 0);
	loci_object(small, 500, 4, round % 2 ? "odd" : "even");
	loci_object_end(small);
	free(small);
	free(large);
	free(aligned);
	mapped = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(mapped != MAP_FAILED && munmap(mapped, 2 * page) == 0);
}

static void mark(unsigned round)
{
	static const char *const name[] = { "one", "two", "three", "four", "five" };
	const char *of = name[round % 5];

	loci_region_begin(of);
	loci_access(&cell[round % CELLS], 8, LOCI_STORE);
	if (round % 16 == 0)
		loci_phase(name[round % 3]);
	loci_region_end(of);
}

static void on_signal(int number)
{
	int error = errno;

	(void)number;
	handle(totals, tag + 1, 3);
	errno = error;
}

static void *be_short(void *data)
{
	take_tag();
	work[1](totals, tag, 50);
	free(malloc(100));
	return data;
}

static void make_thread(unsigned round)
{
	pthread_t other;

	MUST(pthread_create(&other, NULL, be_short, NULL) == 0);
	if (round % 16)
		MUST(pthread_join(other, NULL) == 0);
	else
		MUST(pthread_detach(other) == 0);
}

static void make_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		work[0](totals, 1, 10);
		free(malloc(50));
		_exit(7);
	}
	MUST(pid > 0);
	while (waitpid(pid, &status, 0) != pid)
		MUST(errno == EINTR);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* They begin together, which orders nothing for the sanitizer: it does not watch this file. */
static void meet(uint32_t *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(n, __ATOMIC_RELAXED) < THREADS)
		sched_yield();
}

static uint32_t rounds = ROUNDS;
static bool forks;

static void *run(void *data)
{
	unsigned me = (unsigned)(uintptr_t)data;

	take_tag();
	meet(&n_began);
	for (uint32_t round = 0; round < rounds; round++) {
		work[(round + me) % FUNCTIONS](totals, tag, 20 + round % 300);
		touch(shared_words + round % 8 * 512, 200);
		add_atomically(&cell[(round + me) % CELLS]);
		add_atomically(&cell[0]);
		allocate(round);
		mark(round + me);
		if (round % 8 == me)
			make_thread(round);
		if (round % 5 == 0)
			MUST(pthread_kill(thread[(me + round / 5) % THREADS], SIGUSR1) == 0);
		if (forks && round % FORKS == 6 * me)
			make_child();
	}
	meet(&n_over); /* handles are good until here */
	return NULL;
}

/* Regions of a team, as libgomp has them (gomp.c), which the sanitizer could not look into: threads
 * wait for the next one, and for each other, in ways that order nothing for it. */
const struct rt_omp_objects rt_omp;

static struct region {
	uint64_t place;
	uint32_t arrived[BARRIERS], ended;
} region[REGIONS];
static uint32_t n_forked;

static void wait_for(const uint32_t *n, uint32_t most)
{
	while (__atomic_load_n(n, __ATOMIC_RELAXED) < most)
		sched_yield();
}

static void barrier(struct rt_thread *self, uint32_t *arrived)
{
	struct rt_stripe *stripe = rt_barrier_stripe(self->omp_place);

	rt_sync(self, stripe, LOCI_SYNC_BARRIER_ARRIVE);
	rt_omp_park(self, self->omp_place);
	__atomic_fetch_add(arrived, 1, __ATOMIC_RELAXED);
	wait_for(arrived, THREADS);
	rt_omp_wake(self, self->omp_place++);
	rt_barrier_leave(self, stripe);
}

static void be_in(struct region *of, unsigned me)
{
	struct rt_thread *self = rt_sync_thread();

	MUST(self);
	self->omp_place = of->place;
	rt_task_begin(self);
	rt_team_begin(self, of->place, THREADS);
	for (unsigned i = 0; i < BARRIERS; i++) {
		for (unsigned piece = 0; piece < 4; piece++) {
			rt_turn_take(self);
			work[(i + me) % FUNCTIONS](totals, tag, 20 + 100 * me);
			add_atomically(&cell[piece]);
		}
		barrier(self, &of->arrived[i]);
	}
	self->omp_place = 0;
	rt_sync(self, rt_join_stripe(of->place), LOCI_SYNC_BARRIER_ARRIVE);
	rt_turn_reach(self, rt_team_clock(of->place));
	rt_sync_blocked(self);
	__atomic_fetch_add(&of->ended, 1, __ATOMIC_RELAXED);
}

static void fork_region(struct region *of)
{
	struct rt_thread *self = rt_openmp_thread();

	MUST(self);
	of->place = (uint64_t)(of - region + 1) << 32;
	rt_team_release(self, LOCI_SYNC_RELEASE);
	rt_team_fork(self, of->place);
	__atomic_fetch_add(&n_forked, 1, __ATOMIC_RELAXED);
	be_in(of, 0);
	wait_for(&of->ended, THREADS);
	rt_join_leave(self, of->place);
}

static void *be_of_team(void *data)
{
	unsigned me = (unsigned)(uintptr_t)data;

	take_tag();
	for (uint32_t i = 0; i < REGIONS; i++) {
		if (me) {
			wait_for(&n_forked, i + 1);
			be_in(&region[i], me);
		} else {
			fork_region(&region[i]);
		}
	}
	return NULL;
}

static void link_all(void)
{
	struct {
		struct loci_cc_function *function;
		struct by_hand *definition;
		const uint64_t *calls;
		const char *code;
	} all[] = {
#define OF(name) { &function_##name, &definition_##name, &calls_##name, (const char *)&(name) }
		OF(work_0), OF(work_1), OF(work_2), OF(work_3), OF(work_4), OF(work_5), OF(handle),
		{ &function_touching, &definition_touching, &calls_touching, (const char *)&touch }
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		by_hand_link(all[i].function, all[i].definition, all[i].calls, all[i].code);
	(void)touching;
}

static void begin(void *(*what)(void *))
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	shared_words = mmap(NULL, SHARED_WORDS * sizeof(*shared_words), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(shared_words != MAP_FAILED);
	for (uintptr_t i = 0; i < THREADS; i++) /* before the first of them runs: it waits */
		MUST(pthread_create(&thread[i], NULL, what, (void *)i) == 0);
}

static void join(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[2], O_RDWR) : -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60); /* the sanitizer may not find the way out of what it reports */
	MUST(fd >= 0);
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(totals != MAP_FAILED);
	link_all();
	forks = !strcmp(argv[1], "forks");
	if (!strcmp(argv[1], "exits")) /* while threads are at it */
		rounds = FOR_EVER;
	begin(strcmp(argv[1], "teams") == 0 ? be_of_team : run);
	if (rounds == FOR_EVER)
		usleep(300000);
	else
		join();
	_exit(0); /* by the name that the runtime stands in front of */
}
