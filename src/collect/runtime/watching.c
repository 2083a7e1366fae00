// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/watching.h"
#include "collect/runtime/level.h"
#include "collect/runtime/untold.h"
#include "collect/runtime/watch_bulk.h"
#include "collect/runtime/watch_far.h"
#include "collect/runtime/watch_lottery.h"
#include "stream/ring_x86_64.h"

#include <errno.h>

/* Code without tests may run over a sample: the margin grows, and the sample is lost. */
#define MARGIN_REFS (RT_SINK_WORDS + LOCI_CC_ROOM_WORDS)
#define MARGIN_MOST (1u << 18)
#define FIRST_WORDS 64
#define RUN_REFS    (1u << 16) /* of a loop that is told by a RUN, until more is known */
#define RUN_MOST    (1u << 26)
/* Frames between rt_room and the code: its own, the stub's, that of loci.ready or loci.cross. */
#define OWN_FRAMES  3
#define STUB_BYTES  128

static struct {
	int32_t n_near;      /* threads that have a sample ahead, or are in a burst */
	uint32_t generation; /* of code: changes when some is unloaded */
	uint32_t unloading;
} watching;

static struct loci_control_watching *shared(void)
{
	return &rt.control->watching;
}

/* A loop that is told by a RUN is left at its end only: none begins while a thread has a sample
 * ahead. */
static void keep_runs_off(struct rt_thread *thread, bool is_near)
{
	if (thread->is_near != is_near)
		__atomic_fetch_add(&watching.n_near, is_near ? 1 : -1, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->is_near, is_near, __ATOMIC_RELAXED);
	rt_sample_allow_runs(__atomic_load_n(&watching.n_near, __ATOMIC_RELAXED) == 0);
}

void rt_watch_lose(unsigned n)
{
	if (n)
		__atomic_fetch_add(&shared()->lost, n, __ATOMIC_RELAXED);
}

void rt_watch_draw(struct rt_thread *thread)
{
	thread->next_mean = rt_pace_period(thread);
	thread->next_sample += loci_gap_draw(&thread->random, thread->next_mean);
}

void rt_watch_thread_begin(struct rt_thread *thread)
{
	rt_lock();
	if (rt_lottery_begin()) {
		watching.n_near = 0;
		watching.unloading = 0;
		rt_far_begin();
	}
	rt_unlock();
	if (!thread->burst)
		thread->burst = loci_sys_map(sizeof(*thread->burst), -1);
	if (thread->burst) {
		thread->burst->is_on = false;
		thread->burst->n_followed = 0;
	}
	thread->counting = &__loci_thread;
	thread->margin = MARGIN_REFS;
	thread->run_refs = RUN_REFS;
	thread->word_refs = 0;
	thread->is_near = false;
	thread->rested = thread->tail_refs = thread->tail_now = 0;
	rt_sample_seed(thread);
	rt_pace_begin(thread);
	rt_watch_draw(thread);
	rt_bulk_begin(thread);
}

void rt_watch_end(void)
{
	rt_lottery_end();
}

void rt_watch_unloading(bool begins)
{
	if (begins || watching.unloading) /* a child may have begun in between */
		watching.unloading += begins ? 1 : -1u;
	watching.generation++;
}

/* For so long that it is watched if its reuse has not come. */
static bool is_followed(const struct rt_burst *burst, const struct rt_burst_sample *sample)
{
	return burst->count - sample->count <
		(sample->far_refs ? sample->far_refs : shared()->burst_refs);
}

static void see_reuse(struct rt_thread *thread, struct rt_burst_sample *sample, uint64_t unseen)
{
	if (sample->reuse_distinct)
		rt_far_seen(sample->site, sample->reuse_count - sample->count);
	rt_lottery_reused(thread, sample, unseen);
}

/* Samples whose reuse was seen, and those that were followed for long enough. */
static void settle(struct rt_thread *thread, uint64_t unseen, bool all)
{
	struct rt_burst *burst = thread->burst;
	unsigned n = 0;

	for (unsigned i = 0; i < burst->n_followed; i++) {
		struct rt_burst_sample *sample = &burst->followed[i];

		if (!sample->has_reuse && !all && is_followed(burst, sample)) {
			if (i != n)
				burst->followed[n] = *sample;
			n++;
			continue;
		}
		if (sample->far_refs)
			rt_burst_far_over(burst, sample);
		if (sample->has_reuse)
			see_reuse(thread, sample, unseen);
		else
			rt_lottery_enter(thread, sample);
	}
	burst->n_followed = n;
}

/* They were somewhere among the words that were read. */
static void pass_unseen(struct rt_burst *burst, uint64_t unseen)
{
	for (unsigned i = 0; i < burst->n_followed; i++)
		burst->followed[i].touches += burst->followed[i].has_reuse ? 0 : unseen;
}

/* A sample that was run over is lost. */
static void skip_lost(struct rt_thread *thread, uint64_t count)
{
	while (thread->next_sample <= count) {
		rt_watch_lose(1);
		rt_watch_draw(thread);
	}
}

/* By a loop that told of itself at its end, or by code without tests. */
static void beware(struct rt_thread *thread, uint64_t count)
{
	uint64_t *ahead = thread->is_near ? &thread->margin : &thread->run_refs;
	uint64_t most = thread->is_near ? MARGIN_MOST : RUN_MOST;

	if (thread->next_sample > count)
		return;
	*ahead += *ahead + count - thread->next_sample;
	if (*ahead > most)
		*ahead = most;
}

/* Lock held, signals blocked. */
static void read_words(struct rt_thread *thread, bool all)
{
	struct rt_burst *burst = thread->burst;
	uint64_t count = rt_thread_count(thread), unseen;
	bool is_sound = burst->generation == watching.generation && !watching.unloading &&
		rt_is_this_process() && rt_burst_read(thread) && count >= burst->count;

	if (!is_sound) {
		rt_watch_lose(burst->n_followed);
		burst->n_followed = 0;
		burst->has_far = false;
		burst->is_senseless = false;
		burst->of.definition = NULL;
		burst->n_sites = 0;
		burst->generation = watching.generation;
		burst->count = count;
	}
	unseen = count - burst->count;
	pass_unseen(burst, unseen);
	burst->count = count;
	skip_lost(thread, count);
	settle(thread, unseen, all);
}

static bool is_due(const struct rt_thread *thread)
{
	return thread->next_sample <= rt_thread_count(thread) + thread->margin;
}

static void give_room(struct rt_burst *burst)
{
	burst->state.cursor = burst->read = burst->words;
	burst->state.limit = burst->words + (burst->n_followed ? RT_BURST_WORDS : RT_BURST_WAITING);
}

/* Code of gcc's comes another way, and keeps no frame pointers. */
static void find_calls(struct rt_call_stack *calls, uintptr_t pointer)
{
	rt_call_stack_walk(calls, pointer, 0);
	if (calls->n >= OWN_FRAMES &&
		calls->call[calls->n - 1].back - (uintptr_t)__loci_room < STUB_BYTES)
		calls->n -= OWN_FRAMES;
	else
		calls->n = 0;
}

static void begin_burst(struct rt_thread *thread, uintptr_t pointer)
{
	struct rt_burst *burst = thread->burst;

	beware(thread, rt_thread_count(thread));
	skip_lost(thread, rt_thread_count(thread));
	if (!is_due(thread))
		return;
	rt_pace_burst(thread);
	burst->is_on = true;
	burst->generation = watching.generation;
	burst->count = rt_thread_count(thread);
	burst->of.definition = NULL;
	burst->n_sites = burst->n_followed = 0;
	burst->has_far = false;
	burst->far_refs = 0;
	burst->around.n = 0;
	burst->is_senseless = false;
	find_calls(&burst->calls, pointer);
	keep_runs_off(thread, true);
	give_room(burst);
	__loci_thread.state = &burst->state;
	rt_thread_set_budget(thread, -RT_ENDLESS);
}

static void end_burst(struct rt_thread *thread)
{
	rt_pace_burst_over(thread, thread->burst->far_refs);
	__atomic_store_n(&thread->burst->is_on, false, __ATOMIC_RELAXED);
}

/* That it has appended since it was last told to rest. */
static uint64_t rested_words(const struct rt_thread *thread)
{
	uint64_t words = (uint64_t)(thread->level->quiet.cursor - thread->sink);

	return words <= RT_SINK_MOST + LOCI_CC_ROOM_WORDS ? words : 0;
}

/* References that words tell of. */
static uint64_t refs_told(const uint64_t *at, const uint64_t *end)
{
	uint64_t refs = 0;

	while (at < end) {
		unsigned n_raw = loci_word_n_raw(*at);

		if (!loci_word_is_marker(*at)) {
			refs++;
			at++;
		} else if (loci_word_kind(*at) == LOCI_MARK_WIDE) {
			refs++;
			at += 2;
		} else {
			if (loci_word_kind(*at) == LOCI_MARK_RUN)
				refs += at[1] * (n_raw / 2 - 1);
			at += 1 + n_raw;
		}
	}
	return refs;
}

/* Where loops are told by RUNs few words are many references: what they were of late is
 * remembered. */
static void learn_runs(struct rt_thread *thread, uint64_t words)
{
	uint64_t refs, of_word, run_refs, read = words;

	if (!words)
		return;
	/* None has begun since then; one that had is what it told of first. */
	if (thread->is_near && read > FIRST_WORDS)
		read = FIRST_WORDS;
	refs = refs_told(thread->sink, thread->sink + read) + (words - read);
	of_word = (refs + words - 1) / words;
	thread->word_refs -= thread->word_refs / 16;
	if (thread->word_refs < of_word)
		thread->word_refs = of_word;
	if (refs <= words)
		return;
	run_refs = thread->run_refs - thread->run_refs / 16;
	if (run_refs < refs)
		run_refs = refs < RUN_MOST ? refs : RUN_MOST;
	__atomic_store_n(&thread->run_refs, run_refs, __ATOMIC_RELAXED);
}

/* So many that they tell of no more references than there are until the sample, as far as is
 * known. */
static unsigned sink_words(const struct rt_thread *thread, uint64_t due)
{
	uint64_t most = due > thread->margin + 4 * RT_SINK_MOST ? RT_SINK_MOST : RT_SINK_WORDS;

	return (unsigned)(thread->is_near || !thread->word_refs ? most : most / thread->word_refs);
}

/* Who comes with some budget left was in its tracing copy all the time. */
static void learn_tail(struct rt_thread *thread, uint64_t count, uint64_t words)
{
	if (__loci_thread.budget >= 0) {
		thread->tail_now += count - thread->rested;
		return;
	}
	thread->tail_refs = (3 * thread->tail_refs + thread->tail_now + words) / 4;
	thread->tail_now = 0;
}

/* That code may go on for when its budget has run out: it may still have a sink to fill. The margin
 * has room for a small one. */
static uint64_t slack(const struct rt_thread *thread, unsigned n_words)
{
	if (!thread->is_near)
		return thread->run_refs;
	return n_words > RT_SINK_WORDS ? n_words : 0;
}

/* No sample is due. */
static void rest(struct rt_thread *thread)
{
	uint64_t count = rt_thread_count(thread), words = rested_words(thread), look, ahead;
	uint64_t due = thread->next_sample - count; /* until its sample */
	uint64_t refs = 1;
	unsigned n_words;

	learn_tail(thread, count, words);
	learn_runs(thread, words);
	look = rt_lottery_look_refs(thread, count);
	rt_pace_rest(thread, words);
	keep_runs_off(
		thread, due < thread->margin + 2 * thread->run_refs || look < thread->run_refs);
	n_words = sink_words(thread, due);
	rt_sample_quiet(thread, n_words);
	thread->rested = count;
	ahead = thread->margin + slack(thread, n_words);
	if (due > ahead)
		refs = due - ahead;
	refs = refs < look ? refs : look;
	/* what is left of it says how far behind the count can be */
	if (!thread->burst)
		rt_thread_set_budget(thread, RT_ENDLESS);
	else if (__loci_thread.budget < 0 || (uint64_t)__loci_thread.budget >= refs)
		rt_thread_set_budget(thread, (int64_t)refs - 1);
}

/* With signals blocked. */
static void go_on(struct rt_thread *thread, uintptr_t pointer)
{
	struct rt_burst *burst = thread->burst;

	bool is_over;

	rt_lock();
	if (rt_mode() != RT_OFF && !burst->is_on)
		begin_burst(thread, pointer);
	else if (rt_mode() != RT_OFF)
		read_words(thread, false);
	is_over = burst->is_on && !burst->n_followed && !is_due(thread);
	if (is_over)
		rt_brief_give_back();
	rt_unlock();
	if (is_over)
		end_burst(thread);
	else if (burst->is_on)
		give_room(burst);
}

/* It was in its tracing copy since it came last, so that its count was in memory all the time. Who
 * comes with some budget left is in the tracing copy, but may have come there where what is left
 * does not last for a loop that is counted as a whole, and no words tell of what it did before. */
static bool was_tracing(const struct rt_thread *thread)
{
	uint64_t told = refs_told(thread->sink, thread->sink + rested_words(thread));

	return __loci_thread.budget >= 0 && thread->is_near &&
		told >= rt_thread_count(thread) - thread->rested;
}

/* With signals blocked. */
static void look_back(struct rt_thread *thread)
{
	rt_lock();
	if (rt_mode() != RT_OFF)
		rt_lottery_look_back(thread, was_tracing(thread));
	rt_unlock();
}

void rt_watch_room(struct rt_thread *thread, uintptr_t frame)
{
	struct rt_burst *burst = thread->burst;

	rt_lottery_measure();
	if (rt_lottery_has_met()) {
		uint64_t mask = rt_block();

		look_back(thread);
		rt_unblock(mask);
	}
	if (burst && (burst->is_on || is_due(thread))) {
		uint64_t mask = rt_block();

		go_on(thread, frame);
		if (!burst->is_on)
			rest(thread);
		rt_unblock(mask);
	} else {
		rest(thread); /* the usual case, and often: no system calls */
	}
}

void rt_watch_told(struct rt_thread *thread, const struct rt_burst_ref *ref)
{
	uint64_t mask;

	if (!thread->burst || !thread->burst->is_on || thread->depth)
		return;
	mask = rt_block();
	rt_lock();
	if (thread->burst->generation == watching.generation && !watching.unloading &&
		rt_burst_read(thread))
		rt_burst_refer(thread, ref);
	rt_unlock();
	rt_unblock(mask);
}

/* What it follows has its place in the lottery; what is watched may still be reused by others. */
void rt_watch_thread_end(struct rt_thread *thread)
{
	rt_lock();
	if (thread->burst && thread->burst->is_on) {
		if (rt_mode() != RT_OFF)
			read_words(thread, true);
		end_burst(thread);
	}
	keep_runs_off(thread, false);
	if (rt_mode() != RT_OFF)
		rt_lottery_thread_end(thread);
	rt_untold_say_gone(thread);
	rt_unlock();
}
