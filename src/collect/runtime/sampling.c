// SPDX-License-Identifier: BSD-2-Clause
/* Samples (Schuff et al. 2010). A thread that has none to take only counts. A margin before the
 * reference that is its next sample it begins to record, and says which reference that will be: the
 * recorder finds it among the words that follow, counting. While any sample of the process is open
 * every thread records everything; threads that count look now and then. The next gap is drawn at
 * once, so samples overlap.
 *
 * How wrong it can be: another thread's references are missing at the beginning of a window until
 * that thread looks (LOOK_REFS of its own, and what it appends to its sink). Code without tests in
 * it may run over a sample: the thread takes a larger margin from then on, and the sample is
 * lost. */
#include "collect/runtime/gap.h"
#include "collect/runtime/level.h"
#include "stream/ring_x86_64.h"

#define LOOK_REFS   2000
/* More than a thread can write between two looks while it records or rests. */
#define MARGIN_REFS 2048
#define MARGIN_MOST (1u << 18)
_Static_assert(MARGIN_REFS >= RT_SINK_WORDS + LOCI_CC_ROOM_WORDS, "a sample is told beforehand");
#define DOUBLINGS 24

#define SYS_SCHED_YIELD 24
#define SYS_NANOSLEEP   35
#define YIELDS          32 /* times that a thread may run before it is taken to sleep .. */
#define NAPS            20 /* .. and to be blocked */
#define NAP_NS          100000

static struct loci_control_samples *slot(void)
{
	return &rt.control->slot[(uint32_t)rt.pid % LOCI_CONTROL_SLOTS];
}

static bool is_any_open(void)
{
	const struct loci_control_samples *samples = slot();
	uint32_t closed = __atomic_load_n(&samples->closed, __ATOMIC_RELAXED);

	return (int32_t)(__atomic_load_n(&samples->opened, __ATOMIC_RELAXED) - closed) > 0;
}

/* A loop that is told by a RUN cannot be left: while samples are open its end may be millions of
 * references away. While none are, code that has yet to come back to a counting copy runs it as
 * fast. What other threads do meanwhile is right either way. */
void rt_sample_allow_runs(bool allowed)
{
	uint32_t runs = allowed && rt.control->runs;

	if (__atomic_load_n(&__loci_runs, __ATOMIC_RELAXED) != runs)
		__atomic_store_n(&__loci_runs, runs, __ATOMIC_RELAXED);
}

static void draw(struct rt_thread *thread)
{
	uint32_t doubling = rt.control->doubling, n = 0;

	if (doubling)
		n = __atomic_load_n(&rt.control->taken, __ATOMIC_RELAXED) / doubling;
	thread->next_mean = rt.control->period << (n < DOUBLINGS ? n : DOUBLINGS);
	thread->next_sample += loci_gap_draw(&thread->random, thread->next_mean);
}

void rt_sample_seed(struct rt_thread *thread)
{
	thread->random = rt.control->seed ^ rt.salt;
	thread->random += loci_gap_random(&thread->random) * thread->id;
	thread->next_sample = 0;
}

void rt_sample_begin(struct rt_thread *thread)
{
	rt_sample_seed(thread);
	thread->margin = MARGIN_REFS;
	__atomic_store_n(&thread->is_stuck, 0, __ATOMIC_RELAXED);
	draw(thread);
}

void rt_sample_fork(const struct rt_thread *thread)
{
	rt.salt += 0x9e3779b97f4a7c15u * rt.forks + (thread ? thread->random : 0);
}

static bool is_due(const struct rt_thread *thread)
{
	return thread->next_sample <= rt_thread_count(thread) + thread->margin;
}

bool rt_sample_is_wanted(const struct rt_thread *thread)
{
	return is_any_open() || is_due(thread);
}

static void open_next(struct rt_thread *thread)
{
	uint64_t raw[7] = { [1] = thread->next_sample, [6] = thread->next_mean };

	/* before the recorder can close it */
	__atomic_fetch_add(&slot()->opened, 1, __ATOMIC_SEQ_CST);
	rt_mark(thread, LOCI_MARK_SAMPLE_OPEN,
		__atomic_fetch_add(&rt.control->taken, 1, __ATOMIC_RELAXED), 7, raw);
}

static void widen(struct rt_thread *thread, uint64_t over)
{
	uint64_t margin = MARGIN_REFS + 2 * (thread->margin + over);

	thread->margin = margin < MARGIN_MOST ? margin : MARGIN_MOST;
}

/* A sample was told in time, so many references after it was due: most that were run over were so
 * by a loop that is told at once, which is rare. */
static void narrow(struct rt_thread *thread, uint64_t late)
{
	uint64_t margin = MARGIN_REFS + 2 * late, half = thread->margin / 2;

	if (margin < half)
		margin = half;
	if (margin < thread->margin)
		thread->margin = margin;
}

/* The count tells the recorder of what it did not see (code that goes on counting). A sample that
 * is over is told too: nothing will be known of it. */
void rt_sample_open(struct rt_thread *thread)
{
	uint64_t count = rt_thread_count(thread);

	rt_sample_allow_runs(false);
	rt_mark(thread, LOCI_MARK_COUNT, 0, 1, &count);
	for (; is_due(thread); draw(thread)) {
		if (thread->next_sample <= count)
			widen(thread, count - thread->next_sample);
		else
			narrow(thread, count + thread->margin - thread->next_sample);
		open_next(thread);
	}
}

int64_t rt_sample_budget(const struct rt_thread *thread)
{
	uint64_t due = thread->next_sample - thread->margin, count = rt_thread_count(thread);
	uint64_t refs = due > count ? due - count : 1;

	if (rt_is_threaded() && refs > LOOK_REFS)
		refs = LOOK_REFS;
	return (int64_t)refs - 1;
}

void rt_sample_quiet(struct rt_thread *thread, unsigned n_words)
{
	struct rt_level *level = thread->level;

	/* Code that comes from a counting copy will be back there at once. */
	level->quiet.cursor = thread->sink;
	level->quiet.limit = __loci_thread.budget < 0 ? NULL : thread->sink + n_words;
	__loci_thread.state = &level->quiet;
}

void rt_sample_rest(struct rt_thread *thread)
{
	rt_sample_allow_runs(true);
	rt_sample_quiet(thread, RT_SINK_WORDS);
	rt_thread_set_budget(thread, rt_sample_budget(thread));
}

/* Where the foremost of the others is. */
void rt_sample_join(struct rt_thread *thread)
{
	uint64_t foremost = 0;

	for (struct rt_thread *other = rt_threads(); other; other = other->next) {
		uint64_t ahead = __atomic_load_n(&other->ahead, __ATOMIC_RELAXED);

		if (other != thread && __atomic_load_n(&other->in_use, __ATOMIC_RELAXED) &&
			__atomic_load_n(&other->recording, __ATOMIC_RELAXED) && ahead > foremost)
			foremost = ahead;
	}
	thread->window_refs = rt_thread_count(thread) - foremost;
	__atomic_store_n(&thread->ahead, foremost, __ATOMIC_RELAXED);
}

static bool is_behind(const struct rt_thread *other, uint64_t ahead)
{
	return __atomic_load_n(&other->in_use, __ATOMIC_RELAXED) &&
		__atomic_load_n(&other->recording, __ATOMIC_RELAXED) &&
		!__atomic_load_n(&other->is_stuck, __ATOMIC_RELAXED) &&
		__atomic_load_n(&other->ahead, __ATOMIC_RELAXED) + rt.control->skew < ahead;
}

/* It may wait for something that this thread has yet to do: then it is left behind. */
static void wait_for(struct rt_thread *other, uint64_t ahead)
{
	static const uint64_t nap[2] = { 0, NAP_NS };
	uint64_t seen = __atomic_load_n(&other->ahead, __ATOMIC_RELAXED);

	for (unsigned idle = 0; is_behind(other, ahead) && is_any_open(); idle++) {
		uint64_t now;

		if (idle == YIELDS + NAPS) {
			__atomic_store_n(&other->is_stuck, 1, __ATOMIC_RELAXED);
			return;
		}
		if (idle < YIELDS)
			loci_syscall3(SYS_SCHED_YIELD, 0, 0, 0);
		else
			loci_syscall3(SYS_NANOSLEEP, (long)nap, 0, 0);
		now = __atomic_load_n(&other->ahead, __ATOMIC_RELAXED);
		if (now != seen)
			idle = 0;
		seen = now;
	}
}

void rt_sample_wait(struct rt_thread *thread)
{
	uint64_t ahead = rt_thread_count(thread) - thread->window_refs;

	__atomic_store_n(&thread->ahead, ahead, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->is_stuck, 0, __ATOMIC_RELAXED);
	if (!rt.control->skew || !rt_is_threaded())
		return;
	for (struct rt_thread *other = rt_threads(); other; other = other->next)
		if (other != thread)
			wait_for(other, ahead);
}
