// SPDX-License-Identifier: GPL-2.0-or-later
/* The runtime of programs built by `loci cc`, with a program that does by hand what such code does:
 * everything it says it has done must be in the rings, once. */
#define _GNU_SOURCE
#include "runtime/rings_of_run.h"

#include <sys/resource.h>

#define MAX_BLOCKS  1024
#define MAX_THREADS (2 * MAX_RINGS)

/* What the rings of one image say, taken together. */
struct seen {
	unsigned n_words[MAX_BLOCKS];
	unsigned n_silent[MAX_BLOCKS]; /* FRAME and CALLER, which stand first */
	size_t n_defined, n_modules, n_unloads, n_forks, n_execs, n_windows;
	bool ended;
	int status;
	uint64_t strings_unseen, unseen; /* the library's string, and calls */
	uint64_t refs[MAX_THREADS], count[MAX_THREADS], lost;
	bool started[MAX_THREADS], counted[MAX_THREADS], exited[MAX_THREADS];
	size_t n_entered, n_left, n_allocs, n_frees, n_resizes, n_maps, n_unmaps;
	uint64_t *sequence;
	size_t n_sequence;
};

/* All references, by tag: how often each has come. */
static unsigned char *times[MAX_TAGS];
static size_t n_times[MAX_TAGS];
static uint64_t n_refs_all;

static void see_reference(uint64_t address)
{
	uint64_t tag = address >> TAG_SHIFT, i = address & ((1ull << TAG_SHIFT) - 1);

	n_refs_all++;
	if (tag >= MAX_TAGS || i > 1u << 26) {
		CHECK_FAIL("address %" PRIx64, address);
		exit(1); /* there would be many */
	}
	if (i >= n_times[tag]) {
		times[tag] = realloc(times[tag], 2 * i + 2);
		memset(times[tag] + n_times[tag], 0, 2 * i + 2 - n_times[tag]);
		n_times[tag] = 2 * i + 2;
	}
	times[tag][i]++;
}

static void forget_references(void)
{
	for (size_t tag = 0; tag < MAX_TAGS; tag++) {
		free(times[tag]);
		times[tag] = NULL;
		n_times[tag] = 0;
	}
	n_refs_all = 0;
}

static void see_sequence(struct seen *seen, uint64_t number)
{
	seen->sequence = realloc(seen->sequence, (seen->n_sequence + 1) * sizeof(uint64_t));
	seen->sequence[seen->n_sequence++] = number;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void check_sequence(struct seen *seen)
{
	qsort(seen->sequence, seen->n_sequence, sizeof(uint64_t), compare);
	for (size_t i = 0; i < seen->n_sequence; i++)
		if (seen->sequence[i] != i + 1) {
			CHECK_FAIL("sequence number %zu is %" PRIu64, i + 1, seen->sequence[i]);
			break;
		}
}

static void see_define(struct seen *seen, uint64_t id, const uint64_t *raw, unsigned n_raw)
{
	CHECK(id < MAX_BLOCKS);
	CHECK(seen->n_modules > 0 && raw[0] >> 32 > 0);
	CHECK_U64(seen->n_words[id], 0);
	seen->n_defined++;
	for (unsigned i = 2; i + 1 < n_raw; i += 2) {
		seen->n_words[id]++;
		seen->n_silent[id] += (raw[i] >> 32 & 0xff) >= LOCI_OP_FRAME;
	}
	CHECK_U64(seen->n_silent[id], raw[0] & LOCI_BLOCK_ENTRY ? 2 : 0);
}

struct place {
	uint32_t thread;
	uint64_t block, left; /* words of the block still to come */
	bool is_handler, inside;
};

static void see_marker(struct seen *seen, struct place *at, uint64_t word, const uint64_t *raw)
{
	uint64_t payload = loci_word_payload(word);
	unsigned n_raw = loci_word_n_raw(word);

	switch (loci_word_kind(word)) {
	case LOCI_MARK_BLOCK:
		CHECK_U64(at->left, 0);
		CHECK(payload < MAX_BLOCKS && seen->n_words[payload]);
		CHECK(!at->is_handler || at->inside);
		at->block = payload;
		at->left = seen->n_words[payload];
		break;
	case LOCI_MARK_DEFINE:
		see_define(seen, payload, raw, n_raw);
		break;
	case LOCI_MARK_SWITCH:
		at->thread = (uint32_t)payload;
		at->is_handler = true;
		break;
	case LOCI_MARK_SIGNAL_ENTER:
		CHECK(at->is_handler && !at->inside);
		at->inside = true;
		seen->n_entered++;
		break;
	case LOCI_MARK_SIGNAL_LEAVE:
		CHECK(at->inside);
		at->inside = false;
		seen->n_left++;
		break;
	case LOCI_MARK_THREAD_START:
		CHECK_U64(payload, at->thread);
		seen->started[payload] = true;
		see_sequence(seen, raw[3]);
		break;
	case LOCI_MARK_THREAD_EXIT:
		CHECK_U64(payload, at->thread);
		seen->exited[payload] = true;
		see_sequence(seen, raw[1]);
		break;
	case LOCI_MARK_COUNT:
		seen->counted[at->thread] = true;
		seen->count[at->thread] = raw[0];
		break;
	case LOCI_MARK_MODULE_LOAD:
		seen->n_modules++;
		CHECK_U64(raw[4], 0); /* definitions follow that name it: it waits for nothing */
		break;
	case LOCI_MARK_MODULE_UNLOAD:
		seen->n_unloads++;
		see_sequence(seen, raw[0]);
		break;
	case LOCI_MARK_ALLOC:
		seen->n_allocs++;
		see_sequence(seen, raw[1]);
		break;
	case LOCI_MARK_FREE:
		seen->n_frees++;
		see_sequence(seen, raw[1]);
		break;
	case LOCI_MARK_RESIZE:
		seen->n_resizes++;
		see_sequence(seen, raw[2]);
		break;
	case LOCI_MARK_MAP:
		seen->n_maps++;
		see_sequence(seen, raw[2]);
		break;
	case LOCI_MARK_UNMAP:
		seen->n_unmaps++;
		see_sequence(seen, raw[2]);
		break;
	case LOCI_MARK_FORK:
		seen->n_forks++;
		break;
	case LOCI_MARK_EXEC:
		seen->n_execs++;
		break;
	case LOCI_MARK_WINDOW_BEGIN:
		seen->n_windows++;
		break;
	case LOCI_MARK_UNSEEN:
		CHECK(raw[0] > 0);
		seen->strings_unseen = payload;
		seen->unseen += raw[0]; /* told before what may be the end, and at the end */
		break;
	case LOCI_MARK_LOST:
		seen->lost += payload;
		break;
	case LOCI_MARK_END:
		seen->ended = true;
		seen->status = (int)payload;
		break;
	default:
		break;
	}
}

static void see_ring(struct seen *seen, const struct one_ring *ring)
{
	struct place at = { .thread = (uint32_t)ring->number };

	for (size_t i = 0; i < ring->n;) {
		uint64_t word = ring->words[i++];

		if (loci_word_is_marker(word)) {
			see_marker(seen, &at, word, ring->words + i);
			i += loci_word_n_raw(word);
			continue;
		}
		if (!at.left) {
			CHECK_FAIL("%s: word %zu belongs to no block", ring->name, i - 1);
			return;
		}
		if (seen->n_words[at.block] - at.left >= seen->n_silent[at.block]) {
			see_reference(word);
			seen->refs[at.thread]++;
		}
		at.left--;
	}
	CHECK(!at.inside);
}

/* The image's rings, the process's own first. */
static void see_image(const struct one_run *run, int pid, int image, struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < run->n_rings; i++)
			if (run->ring[i].pid == pid && run->ring[i].image == image &&
				(run->ring[i].number == 0) == own)
				see_ring(seen, &run->ring[i]);
}

/* Every loop that the program says it has done has left its two references once. */
static void check_done(const struct one_run *run, uint64_t tag)
{
	uint64_t n = 2 * run->totals->done[tag];
	size_t wrong = 0;

	for (size_t i = 0; i < n_times[tag] || i < n; i++)
		wrong += (i < n_times[tag] ? times[tag][i] : 0) != (i < n);
	if (wrong)
		CHECK_FAIL(
			"tag %" PRIu64 ": %zu of %" PRIu64 " references are wrong", tag, wrong, n);
	check_count++;
}

static void check_all_done(const struct one_run *run)
{
	for (uint64_t tag = 0; tag < MAX_TAGS; tag++)
		check_done(run, tag);
}

static void check_counts(const struct seen *seen)
{
	for (unsigned i = 0; i < MAX_THREADS; i++)
		if (seen->started[i]) {
			CHECK(seen->counted[i]);
			CHECK_U64(seen->count[i], seen->refs[i]);
		}
}

static const char *program = TRACED;
static bool is_static;

static void start(struct one_run *run, const char *scenario, enum loci_control_mode mode)
{
	forget_references();
	run_prepare(run);
	run->control->mode = mode;
	run_start(run, program, scenario);
}

static void check_status_of(const struct one_run *run, int want)
{
	CHECK(WIFEXITED(run->status));
	CHECK_U64(WEXITSTATUS(run->status), want);
}

static void finish(struct one_run *run, int status, struct seen *seen)
{
	run_finish(run);
	check_status_of(run, status);
	CHECK(run->control->running == 1);
	see_image(run, run->pid, 0, seen);
}

static void check_ended(const struct one_run *run, struct seen *seen)
{
	CHECK(seen->ended);
	CHECK_U64(seen->status, run->status);
	CHECK_U64(seen->lost, 0);
	check_counts(seen);
	check_sequence(seen);
}

static void release(struct one_run *run, struct seen *seen)
{
	free(seen->sequence);
	run_free(run);
}

static struct one_run run;
static struct seen seen;

static void test_plain(void)
{
	start(&run, "plain", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	check_all_done(&run);
	CHECK(seen.counted[1] && seen.exited[1]);
	CHECK_U64(run.n_rings, 2);
	CHECK_U64(seen.n_defined, 2 * 2);
	CHECK_U64(seen.unseen, 6); /* in a static program they are its own */
	CHECK_U64(seen.refs[1], 2 * (5 + 300010 + 5 + 5));
	release(&run, &seen);
}

static void test_threads(void)
{
	start(&run, "threads", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	check_all_done(&run);
	for (unsigned i = 1; i <= 10; i++)
		CHECK(seen.started[i] && seen.counted[i] && seen.exited[i]);
	CHECK_U64(run.n_rings, 11);
	CHECK_U64(n_refs_all, 2 * (9 * 50007 + 20000 + 15));
	release(&run, &seen);
}

static void check_forks(const char *scenario, unsigned n_forks, unsigned n_children)
{
	unsigned n = 0;

	start(&run, scenario, LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	CHECK_U64(seen.n_forks, n_forks);
	check_ended(&run, &seen);
	free(seen.sequence);
	for (size_t i = 0; i < run.n_rings; i++)
		if (run.ring[i].pid != run.pid && run.ring[i].number == 0) {
			see_image(&run, run.ring[i].pid, run.ring[i].image, &seen);
			CHECK(seen.ended && seen.counted[1]);
			check_counts(&seen);
			check_sequence(&seen);
			free(seen.sequence);
			n++;
		}
	CHECK_U64(n, n_children);
	check_all_done(&run);
	run_free(&run);
}

static void test_forks(void)
{
	check_forks("forks", 4, 5);
	check_forks("mixture", 10, 10);
}

static void test_signals(void)
{
	start(&run, "signals", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	check_all_done(&run);
	CHECK(run.totals->done[2] >= 40 * 1000 && run.totals->done[3] >= 2 * 250);
	CHECK_U64(seen.n_entered, run.totals->done[2] / 40 + run.totals->done[3] / 2);
	CHECK_U64(seen.n_left, seen.n_entered);
	CHECK_U64(run.n_rings, 4);
	release(&run, &seen);
}

/* What a loop did last before its handler jumped away may be in the ring twice, and is not in the
 * count, so there is none. */
static void test_jumps(void)
{
	uint64_t distinct = 0;

	start(&run, "jumps", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	CHECK(seen.ended);
	check_sequence(&seen);
	check_done(&run, 2);
	check_done(&run, 5);
	for (size_t i = 0; i < n_times[1]; i++)
		distinct += times[1][i] != 0;
	CHECK_U64(distinct, 2 * run.totals->done[1]);
	CHECK_U64(seen.n_left, seen.n_entered);
	CHECK(seen.n_entered >= 1000);
	CHECK(seen.exited[1] && !seen.counted[1]);
	release(&run, &seen);
}

/* The program has gone through its main loop so often. */
static void run_until(struct one_run *of, uint64_t n)
{
	while (__atomic_load_n(&of->totals->done[1], __ATOMIC_ACQUIRE) < n) {
		run_look(of);
		usleep(1000);
	}
}

/* Killed at any moment: what was appended is all there. */
static void test_killed(void)
{
	for (int i = 0; i < 10; i++) {
		uint64_t seen_loops;

		start(&run, "for_ever", LOCI_CONTROL_TRACE);
		run_until(&run, 1);
		for (int k = 0; k < 20 + 7 * i; k++) {
			run_look(&run);
			usleep(1000);
		}
		kill(run.pid, SIGKILL);
		run_finish(&run);
		CHECK(WIFSIGNALED(run.status));
		see_image(&run, run.pid, 0, &seen);
		CHECK(!seen.ended);
		seen_loops = run.totals->done[1];
		if (n_times[1] > 2 * seen_loops && times[1][2 * seen_loops])
			run.totals->done[1]++; /* was appended, not yet written down */
		check_all_done(&run);
		check_sequence(&seen);
		release(&run, &seen);
	}
}

static void test_handlers(void)
{
	start(&run, "handlers", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	release(&run, &seen);

	start(&run, "deep", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	CHECK_U64(seen.n_entered, 16);
	CHECK_U64(seen.n_left, 16);
	CHECK_U64(seen.lost, 2 * 2 * (40 - 16));
	CHECK_U64(seen.count[1], seen.refs[1] + seen.lost);
	check_done(&run, 1);
	release(&run, &seen);
}

static void test_execs(void)
{
	unsigned n = 0;

	start(&run, "execs", LOCI_CONTROL_TRACE);
	finish(&run, 11, &seen);
	CHECK_U64(seen.n_execs, 2);
	CHECK(!seen.ended);
	check_sequence(&seen);
	free(seen.sequence);
	for (size_t i = 0; i < run.n_rings; i++)
		if (run.ring[i].number == 0 &&
			(run.ring[i].pid != run.pid || run.ring[i].image != 0)) {
			see_image(&run, run.ring[i].pid, run.ring[i].image, &seen);
			CHECK(seen.ended && seen.status == 11 << 8);
			CHECK_U64(seen.refs[1], 2 * (5 + 100 + 10));
			free(seen.sequence);
			n++;
		}
	CHECK_U64(n, 6);
	check_all_done(&run);
	run_free(&run);
}

static void test_ends(void)
{
	static const struct {
		const char *how;
		int status;
		unsigned after;
	} end[] = { { "_exit", 21, 0 }, { "_Exit", 22, 0 }, { "quick_exit", 23, 3 },
		{ "thread", 6, 10 } };

	for (size_t i = 0; i < sizeof(end) / sizeof(*end); i++) {
		start(&run, end[i].how, LOCI_CONTROL_TRACE);
		finish(&run, end[i].status, &seen);
		check_ended(&run, &seen);
		check_all_done(&run);
		CHECK_U64(run.totals->done[5], end[i].after);
		CHECK(seen.counted[1]);
		release(&run, &seen);
	}
	start(&run, "abort", LOCI_CONTROL_TRACE);
	run_finish(&run);
	CHECK(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGABRT);
	see_image(&run, run.pid, 0, &seen);
	CHECK(!seen.ended && seen.counted[1]);
	check_counts(&seen);
	check_all_done(&run);
	release(&run, &seen);
}

static void test_count(void)
{
	start(&run, "threads", LOCI_CONTROL_COUNT);
	finish(&run, 0, &seen);
	CHECK(seen.ended);
	check_sequence(&seen);
	CHECK_U64(n_refs_all, 0);
	CHECK_U64(seen.count[1], 2 * (20000 + 15));
	for (unsigned i = 2; i <= 10; i++)
		CHECK_U64(seen.count[i], 2 * 50007);
	CHECK_U64(seen.n_allocs, 0);
	CHECK_U64(seen.n_defined, 0);
	release(&run, &seen);
}

/* The recorder goes away: the program does not mind. */
static void test_left_alone(void)
{
	struct one_run other;

	run_prepare(&run);
	run_prepare(&other);
	setenv(LOCI_RUN_VARIABLE, loci_rundir_path(run.dir), 1);
	run_start(&run, program, "signals");
	for (int i = 0; i < 20; i++) {
		run_look(&run);
		usleep(1000);
	}
	for (size_t i = 0; i < run.n_rings; i++) {
		loci_ring_stop(run.ring[i].source);
		CHECK(pthread_join(run.ring[i].thread, NULL) == 0);
		loci_source_close(run.ring[i].source);
		free(run.ring[i].words);
	}
	run.n_rings = 0;
	CHECK(waitpid(run.pid, &run.status, 0) == run.pid);
	check_status_of(&run, 0);
	run_free(&run);
	run_free(&other);
}

static void test_unwatched(void)
{
	static const char *const scenario[] = { "plain", "threads", "forks", "handlers", "memory" };

	for (size_t i = 0; i < sizeof(scenario) / sizeof(*scenario); i++) {
		char *argv[] = { (char *)program, (char *)scenario[i], run.totals_path, NULL };

		run_prepare(&run);
		CHECK(posix_spawn(&run.pid, program, NULL, NULL, argv, environ) == 0);
		run_finish(&run);
		check_status_of(&run, 0);
		CHECK_U64(run.n_rings, 0);
		run_free(&run);
	}
	/* Another process was chosen. */
	run_prepare(&run);
	run.control->only_pid = 1;
	run_start(&run, program, "plain");
	run_finish(&run);
	check_status_of(&run, 0);
	CHECK_U64(run.n_rings, 0);
	CHECK(!run.unheard);
	run_free(&run);
}

/* The library's definitions and its being unloaded; children know what is left. */
static void test_dynamic(void)
{
	setenv("PLUGIN", TRACED_PLUGIN, 1);
	start(&run, "dynamic", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	CHECK_U64(seen.n_unloads, 3);
	CHECK_U64(seen.n_defined, 2 * (2 + 3));
	free(seen.sequence);
	for (size_t i = 0; i < run.n_rings; i++)
		if (run.ring[i].pid != run.pid && run.ring[i].number == 0) {
			see_image(&run, run.ring[i].pid, 0, &seen);
			CHECK(seen.ended);
			CHECK_U64(seen.n_defined, 2 * 2);
		}
	check_all_done(&run);
	release(&run, &seen);
}

/* Finds a marker of the thread's ring by its kind and first raw word. */
static const uint64_t *find(enum loci_marker kind, uint64_t address, unsigned which)
{
	for (size_t k = 0; k < run.n_rings; k++) {
		const struct one_ring *ring = &run.ring[k];

		for (size_t i = 0; ring->number == 1 && i < ring->n; i++) {
			const uint64_t *word = ring->words + i;

			if (!loci_word_is_marker(*word))
				continue;
			if (loci_word_kind(*word) == kind && word[1 + which] == address)
				return word;
			i += loci_word_n_raw(*word);
		}
	}
	CHECK_FAIL("no marker %#x of %#" PRIx64, kind, address);
	return NULL;
}

static void check_alloc(uint64_t address, uint64_t bytes)
{
	const uint64_t *alloc = find(LOCI_MARK_ALLOC, address, 0);
	const uint64_t *freed = find(LOCI_MARK_FREE, address, 0);

	if (alloc && freed) {
		CHECK_U64(loci_word_payload(*alloc), bytes);
		CHECK(alloc[3] && alloc[2] < freed[2]);
	}
}

static void test_memory(void)
{
	const uint64_t *word;

	start(&run, "memory", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	word = find(LOCI_MARK_RESIZE, run.totals->value[0], 1);
	CHECK(word && loci_word_payload(*word) == 100000);
	word = word ? find(LOCI_MARK_ALLOC, word[1], 0) : NULL;
	CHECK(word && loci_word_payload(*word) == 1000);
	CHECK(find(LOCI_MARK_FREE, run.totals->value[0], 0));
	check_alloc(run.totals->value[1], 200);
	check_alloc(run.totals->value[2], 640);
	check_alloc(run.totals->value[3], 77);
	word = find(LOCI_MARK_MAP, run.totals->value[4], 0);
	CHECK(word && word[2] == 8192 && loci_word_payload(*word) == 0x2203);
	word = find(LOCI_MARK_UNMAP, run.totals->value[4], 0);
	CHECK(word && word[2] == 8192);
	word = find(LOCI_MARK_MAP, run.totals->value[5], 0);
	CHECK(word && word[2] == 1 << 20);
	CHECK_U64(seen.n_maps - seen.n_unmaps, 1); /* the totals stay */
	release(&run, &seen);
}

/* Not, then recorded, then not: what there is, is one piece from the middle. */
static void test_windows(void)
{
	size_t first = 0, last, holes = 0;

	forget_references();
	run_prepare(&run);
	run.control->windows = 1;
	run_start(&run, program, "windows");
	for (uint64_t i = 0; i < 3; i++) {
		while (__atomic_load_n(&run.totals->value[1], __ATOMIC_SEQ_CST) <= i) {
			run_look(&run);
			usleep(1000);
		}
		__atomic_store_n(&run.control->recording, i == 1, __ATOMIC_SEQ_CST);
		run_until(&run, run.totals->done[1] + 30000);
		__atomic_store_n(&run.totals->value[0], i + 1, __ATOMIC_SEQ_CST);
	}
	finish(&run, 0, &seen);
	CHECK(seen.ended);
	CHECK_U64(seen.n_windows, 1);
	CHECK_U64(seen.count[1], 2 * (run.totals->done[1] + 5 + 10));
	CHECK(seen.refs[1] > 10000 && seen.refs[1] < seen.count[1]);
	while (first < n_times[1] && !times[1][first])
		first++;
	for (last = first; last < n_times[1] && times[1][last] == 1; last++)
		;
	for (size_t i = last; i < n_times[1]; i++)
		holes += times[1][i] != 0;
	CHECK(first > 0 && last < 2 * run.totals->done[1]);
	CHECK_U64(holes, 0);
	CHECK_U64(last - first, seen.refs[1]);
	release(&run, &seen);
}

/* No room for a ring: the program runs, and says so. */
static void test_unheard(void)
{
	struct rlimit before, small;

	CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
	small = before;
	small.rlim_cur = 8192;
	run_prepare(&run);
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	run_start(&run, program, "plain");
	CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
	run_finish(&run);
	check_status_of(&run, 0);
	CHECK_U64(run.n_rings, 0);
	CHECK(run.unheard);
	run_free(&run);
}

/* A handler that says nothing, interrupted by one that does: both are in the rings, numbered from
 * the outermost. */
static void test_silent_handler(void)
{
	int number[2] = { 0, 0 };

	start(&run, "silent", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	check_all_done(&run);
	CHECK_U64(run.n_rings, 4);
	CHECK_U64(seen.n_entered, 2);
	CHECK_U64(seen.n_left, 2);
	for (size_t i = 0; i < run.n_rings; i++)
		for (size_t k = 0; run.ring[i].number > 1 && k < run.ring[i].n; k++)
			if (loci_word_is_marker(run.ring[i].words[k]) &&
				loci_word_kind(run.ring[i].words[k]) == LOCI_MARK_SIGNAL_ENTER)
				number[loci_word_payload(run.ring[i].words[k]) == SIGUSR1] =
					run.ring[i].number;
	CHECK(number[0] > 1 && number[1] > number[0]);
	release(&run, &seen);
}

static void test_registers(void)
{
	start(&run, "registers", LOCI_CONTROL_TRACE);
	finish(&run, 0, &seen);
	check_ended(&run, &seen);
	release(&run, &seen);
}

static void test_program(void)
{
	test_plain();
	test_threads();
	test_forks();
	test_signals();
	test_jumps();
	test_killed();
	test_handlers();
	test_execs();
	test_ends();
	test_count();
	test_left_alone();
	test_unwatched();
	test_memory();
	test_windows();
	test_registers();
	test_unheard();
	test_silent_handler();
}

int main(void)
{
	test_program();
	test_dynamic();
	program = TRACED_STATIC;
	is_static = true;
	if (check_turns(2) == 2) /* what a sanitizer watches reads the same words */
		test_program();
	forget_references();
	return check_status();
}
