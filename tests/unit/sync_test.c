// SPDX-License-Identifier: GPL-2.0-or-later
/* What the runtime of `loci cc` says of synchronisation: a program that synchronises in every way
 * there is knows what must happen before what, and that must follow from its words. */
#define _GNU_SOURCE
#include "runtime/rings_of_run.h"

#include "runtime/happens_before.h"

#include <sys/resource.h>

static struct one_run run;
static struct hb hb;
static const char *program = SYNCED;
static bool is_any; /* under Valgrind: one ring for all threads */

static void start(const char *scenario)
{
	run_prepare(&run);
#ifdef TOOL_DIR
	if (is_any) {
		run_start_any(&run, program, scenario);
		return;
	}
#endif
	run_start(&run, program, scenario);
}

static void finish(int status)
{
	run_finish(&run);
	CHECK(WIFEXITED(run.status));
	if (WIFEXITED(run.status))
		CHECK_U64(WEXITSTATUS(run.status), status);
}

static bool is_handlers(const struct one_ring *ring)
{
	return ring->n && loci_word_is_marker(ring->words[0]) &&
		loci_word_kind(ring->words[0]) == LOCI_MARK_SWITCH;
}

/* Rings of handlers last: they stand among words of others. */
static void read_image(pid_t pid)
{
	for (int handlers = 0; handlers < 2; handlers++)
		for (size_t i = 0; i < run.n_rings; i++) {
			const struct one_ring *ring = &run.ring[i];

			if (ring->pid == pid && (ring->number || is_any) &&
				is_handlers(ring) == handlers)
				hb_read(&hb, ring->words, ring->n, (uint32_t)ring->number,
					handlers);
		}
}

/* Returns how many edges there were. */
static uint64_t check_image(pid_t pid, uint64_t may_skip)
{
	uint64_t n_edges = 0;

	memset(&hb, 0, sizeof(hb));
	hb.may_skip = may_skip;
	read_image(pid);
	if (hb_run(&hb))
		n_edges = hb_check(&hb);
	return n_edges;
}

/* The scenario is over when its threads are. Returns its edges; hb is left to be looked at. */
static uint64_t check_scenario(const char *scenario)
{
	uint64_t n_edges;

	start(scenario);
	finish(0);
	n_edges = check_image(run.pid, 0);
	for (size_t i = 0; i < hb.n_threads; i++) {
		CHECK(!hb.thread[i].is_blocked);
		CHECK(hb.thread[i].n_times > 0 || !hb.thread[i].n);
	}
	run_free(&run);
	return n_edges;
}

#define THREADS 4u
#define ROUNDS  60u

static void test_locks(void)
{
	/* 13 kinds of locks that exclude all others; of rwlocks a quarter of the rounds write, the
	 * others read, before and after a write */
	uint64_t n = check_scenario("locks"), all = THREADS * ROUNDS;

	CHECK(n >= 13 * (all - 1) + 4 * all && n <= 13 * all + 4 * 2 * all);
	CHECK(hb.n_sync[LOCI_SYNC_ACQUIRE] >= 18 * all);
	/* a thread's end releases what it may hold */
	CHECK_U64(hb.n_sync[LOCI_SYNC_ACQUIRE] + THREADS + 1, hb.n_sync[LOCI_SYNC_RELEASE]);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_CREATE], THREADS);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_BEGIN], THREADS);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_FINISH], THREADS + 1);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_JOIN], THREADS);
	hb_free(&hb);
}

static void test_waits(void)
{
	uint64_t all = THREADS * ROUNDS;

	CHECK_U64(check_scenario("waits"), 9 * (all - 1) + 2 * (ROUNDS - 1 + all) + ROUNDS - 1);
	CHECK_U64(hb.n_sync[LOCI_SYNC_BARRIER_ARRIVE], all);
	CHECK_U64(hb.n_sync[LOCI_SYNC_BARRIER_LEAVE], all);
	hb_free(&hb);
}

static void test_come_and_go(void)
{
	/* chains of 2, 3, 2, 2 a round, and 50 of 3 twice */
	CHECK_U64(check_scenario("come_and_go"), 49 + 74 + 49 + 49 + 50 * 5);
	CHECK_U64(hb.n_threads, 1 + 25 * 4 + 100);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_JOIN], 25 * 3 + 100);
	hb_free(&hb);
}

static void test_results(void)
{
	CHECK_U64(check_scenario("results"), 1);
	hb_free(&hb);
	CHECK_U64(check_scenario("cancels"), THREADS - 1);
	hb_free(&hb);
}

static void test_forks(void)
{
	unsigned n = 0;

	start("forks");
	finish(0);
	check_image(run.pid, 0);
	hb_free(&hb);
	for (size_t i = 0; i < run.n_rings; i++)
		if (run.ring[i].pid != run.pid && run.ring[i].number == 0) {
			CHECK(check_image(run.ring[i].pid, 0) >= 13 * (THREADS * ROUNDS - 1) + 2);
			hb_free(&hb);
			n++;
		}
	CHECK_U64(n, 3);
	run_free(&run);
}

/* A thread that the end has met between a number and its words leaves a gap. */
static void test_exits(void)
{
	start("exits");
	finish(0);
	CHECK(check_image(run.pid, THREADS) > 0);
	hb_free(&hb);
	run_free(&run);
}

static void test_signals(void)
{
	check_scenario("signals");
	CHECK(hb.n_told[AFTER + 38] >= 3000);
	hb_free(&hb);
	CHECK(check_scenario("jumps") >= 19);
	hb_free(&hb);
}

static bool sleeps(const char *tasks, const char *name)
{
	char path[400], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/stat", tasks, name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == 'S';
}

/* Whether the process has n threads, and none of them ran between two looks. */
static bool all_sleep(pid_t pid, unsigned n)
{
	unsigned n_sleeping = 0;

	for (unsigned look = 0; look < 2; look++) {
		char path[64];
		struct dirent *entry;
		DIR *tasks;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
		tasks = opendir(path);
		CHECK(tasks != NULL);
		while (tasks && (entry = readdir(tasks)))
			n_sleeping += entry->d_name[0] != '.' && sleeps(path, entry->d_name);
		if (tasks)
			closedir(tasks);
		usleep(20000);
	}
	return n_sleeping == 2 * n;
}

/* Ends by Ctrl-C, with all that was written before: who waits, and that it does. */
static void test_deadlock(void)
{
	unsigned n_blocked = 0;

	start("deadlock");
	while (__atomic_load_n(&run.totals->done[0], __ATOMIC_SEQ_CST) < 2) {
		run_look(&run);
		usleep(1000);
	}
	while (!all_sleep(run.pid, 3)) /* they wait for ever */
		usleep(10000);
	kill(run.pid, SIGINT);
	run_finish(&run);
	CHECK(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGINT);
	check_image(run.pid, 0);
	CHECK_U64(hb.n_threads, 3);
	for (size_t i = 0; i < hb.n_threads; i++)
		n_blocked += hb.thread[i].is_blocked;
	CHECK_U64(n_blocked, 3);
	CHECK(hb.n_told[0] == 1 && hb.n_told[1] == 1);
	hb_free(&hb);
	run_free(&run);
}

/* Rings as small as they come. */
static void test_full(void)
{
	struct rlimit small = { 40000, 40000 }, before;

	CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
	small.rlim_max = before.rlim_max;
	run_prepare(&run);
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	run_start(&run, program, "full");
	CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
	finish(0);
	CHECK_U64(check_image(run.pid, 0), THREADS * 20 - 1);
	CHECK_U64(hb.n_told[AFTER], THREADS * 20 * 3000);
	hb_free(&hb);
	run_free(&run);
}

#if defined(SYNCED_OMP_GCC) || defined(SYNCED_OMP_CLANG)
/* What synced_omp.c tells, by kind: writes, and reads at the least. */
static const struct {
	unsigned n_writes, n_reads;
} in_openmp[] = {
	{ 2, 4 }, { 2, 8 }, { 2, 8 }, { 2, 8 }, { 2, 2 }, /* regions */
	{ 1, 4 },                                         /* a barrier */
	{ 4, 0 }, { 4, 0 }, { 4, 0 }, { 4, 0 }, { 4, 0 }, /* one at a time */
	{ 8, 0 }, { 1, 4 }, { 1, 4 }, { 1, 4 }, { 1, 4 }, /* ordered, single, loop, sections */
	{ 1, 8 }, { 1, 8 }, { 1, 8 }, { 8, 0 },           /* tasks */
	{ 8, 0 },                                         /* iterations that wait for others */
};

static void test_openmp(const char *path)
{
	unsigned n_blocked = 0;

	program = path;
	start("");
	finish(0);
	check_image(run.pid, 0);
	for (unsigned kind = 0; kind < sizeof(in_openmp) / sizeof(*in_openmp); kind++) {
		CHECK_U64(hb.n_told[WRITE + kind], 20 * in_openmp[kind].n_writes);
		CHECK_U64(hb.n_told[READ + kind], 20 * in_openmp[kind].n_reads);
	}
	for (size_t i = 0; i < hb.n_threads; i++)
		n_blocked += hb.thread[i].n_blocked > 0;
	CHECK(hb.n_threads >= 4 && n_blocked >= 4);
	hb_free(&hb);
	run_free(&run);
}
#endif

#ifdef TOOL_DIR
/* Under Valgrind locks are the same; threads are told by their ids. */
static void test_any(void)
{
	uint64_t n, all = THREADS * ROUNDS;

	is_any = true;
	program = SYNCED_PLAIN;
	n = check_scenario("locks");
	CHECK(n >= 13 * (all - 1) + 4 * all && n <= 13 * all + 4 * 2 * all);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_CREATE], THREADS);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_BEGIN], THREADS);
	CHECK_U64(hb.n_sync[LOCI_SYNC_THREAD_JOIN], THREADS);
	hb_free(&hb);
	test_waits();
	CHECK_U64(check_scenario("come_and_go"), 49 + 74 + 49 + 49 + 50 * 5);
	hb_free(&hb);
	CHECK_U64(check_scenario("results"), 1);
	hb_free(&hb);
	test_forks();
	setenv("OMP_WAIT_POLICY", "passive", 1); /* threads run one at a time */
#ifdef SYNCED_OMP_GCC
	test_openmp(SYNCED_OMP_GCC);
#endif
#ifdef SYNCED_OMP_CLANG
	test_openmp(SYNCED_OMP_CLANG);
#endif
}
#endif

int main(void)
{
	const char *const programs[] = { SYNCED, SYNCED_STATIC };

	signal(SIGINT, SIG_DFL); /* ignored in what a shell runs in the background */
	for (unsigned i = 0; i < 2; i++) {
		program = programs[i];
		test_locks();
		test_waits();
		test_come_and_go();
		test_results();
		test_signals();
	}
	program = SYNCED; /* the rest is the same in both */
	test_forks();
	test_exits();
	test_deadlock();
	test_full();
#ifdef SYNCED_OMP_GCC
	test_openmp(SYNCED_OMP_GCC);
#endif
#ifdef SYNCED_OMP_CLANG
	test_openmp(SYNCED_OMP_CLANG);
#endif
#ifdef TOOL_DIR
	test_any();
#endif
	return check_status();
}
