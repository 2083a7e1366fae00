// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/watching.h"
#include "collect/runtime/level.h"
#include "collect/runtime/reservoir.h"
#include "collect/runtime/watch.h"
#include "stream/ring_x86_64.h"

#include <errno.h>

/* Code without tests may run over a sample: the margin grows, and the sample is lost. */
#define MARGIN_REFS (RT_SINK_WORDS + LOCI_CC_ROOM_WORDS)
#define MARGIN_MOST (1u << 18)
#define RUN_REFS    (1u << 16) /* of a loop that is told by a RUN, until more is known */
#define RUN_MOST    (1u << 26)
/* While one of its samples is watched a thread looks after so many references, or this part of the
 * sample's age: by that the count in memory may be behind, and time is the judge in between. */
#define LOOK_REFS   4096
#define LOOK_PART   8
/* After a look code may stay in its tracing copy for a while: it is not to be there most of the
 * time.
 */
#define TAIL_PART   32
/* Frames between rt_room and the code: its own, the stub's, that of loci.ready or loci.cross. */
#define OWN_FRAMES  3
#define STUB_BYTES  128

/* A sample that has a watch. */
struct armed {
	uint64_t id, count, block;
	const struct rt_thread *thread;        /* whose it is; NULL: free */
	const struct loci_cc_thread *counting; /* NULL: the thread has ended .. */
	uint64_t ended;                        /* .. with this count */
};

/* A sample whose watch has met its block, until it is known better when that was: the count in
 * memory is that of the thread's last call or look. When it looks again, what it counted since is
 * shared out by time. */
struct met {
	const struct rt_thread *thread; /* of the sample; NULL: none */
	uint64_t id, raw[9];
	uint64_t since_ns; /* from the last look to the touch */
	unsigned n_back;
	uint64_t back[RT_CALLS];
};

static struct {
	pid_t pid; /* that has begun; 0: none */
	const struct rt_watch_ops *ops;
	unsigned n; /* watches */
	struct loci_reservoir reservoir;
	struct armed armed[LOCI_RESERVOIR];
	struct met met[LOCI_RESERVOIR];
	uint32_t n_met;
	int32_t n_near;      /* threads that have a sample ahead, or are in a burst */
	uint32_t generation; /* of code: changes when some is unloaded */
	uint32_t unloading;
	/* Of the kernel's part of a trap: */
	bool is_measured;
	uint64_t begun_ns, over_ns; /* of the handler that met `probe` */
} watching;

static uint64_t probe __attribute__((aligned(4096)));

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
	thread->is_near = is_near;
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

/* The process begins with its first thread. Lock held. */
static void begin_process(void)
{
	int failed = 0;

	watching.pid = rt.pid;
	watching.n_near = 0;
	watching.unloading = 0;
	watching.n_met = 0;
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		watching.armed[i] = (struct armed){ 0 };
		watching.met[i].thread = NULL;
	}
	watching.ops = shared()->by == LOCI_CONTROL_PAGES ? &rt_watch_pages : &rt_watch_registers;
	watching.n = watching.ops->begin(shared()->watches, &failed);
	if (!watching.n)
		__atomic_store_n(&shared()->failed, (uint32_t)failed, __ATOMIC_RELAXED);
	watching.reservoir = (struct loci_reservoir){ .n = watching.n,
		.replace = (enum loci_replace)shared()->replace,
		.random = rt.control->seed ^ rt.salt ^ 0x9e3779b97f4a7c15u };
}

void rt_watch_thread_begin(struct rt_thread *thread)
{
	rt_lock();
	if (watching.pid != rt.pid)
		begin_process();
	else if (watching.n && watching.ops->thread_begin)
		watching.ops->thread_begin();
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
	thread->is_near = false;
	thread->rested = thread->tail_refs = thread->tail_now = 0;
	rt_sample_seed(thread);
	rt_pace_begin(thread);
	rt_watch_draw(thread);
}

void rt_watch_end(void)
{
	if (watching.pid == rt.pid && watching.n)
		watching.ops->end();
	watching.n = 0;
}

void rt_watch_unloading(bool begins)
{
	watching.unloading += begins ? 1 : -1u;
	watching.generation++;
}

/* As it stands in memory, which may be behind. Another thread may be changing both. */
static uint64_t count_of(const struct armed *armed, uint64_t *ret_behind)
{
	*ret_behind = 0;
	if (!armed->counting)
		return armed->ended;
	for (unsigned i = 0; i < 1000; i++) {
		int64_t offset = __atomic_load_n(&armed->thread->offset, __ATOMIC_ACQUIRE);
		int64_t budget = __atomic_load_n(&armed->counting->budget, __ATOMIC_ACQUIRE);
		uint64_t count = (uint64_t)(offset - budget);

		if (__atomic_load_n(&armed->thread->offset, __ATOMIC_ACQUIRE) != offset ||
			count < armed->count || count > (uint64_t)RT_ENDLESS / 2)
			continue;
		*ret_behind = budget > 0 ? (uint64_t)budget : 0;
		if (!armed->thread->is_near && *ret_behind < armed->thread->run_refs)
			*ret_behind = armed->thread->run_refs;
		return count;
	}
	return armed->count;
}

static void tell_stack(const uint64_t *back, unsigned n)
{
	if (n)
		rt_process_mark(LOCI_MARK_STACK, 0, n, back);
}

/* Its count may be off by so much. */
static void tell_met(struct met *met, uint64_t count, uint64_t off)
{
	met->raw[1] = count;
	met->raw[7] = off;
	rt_process_mark(LOCI_MARK_SAMPLE_FIRE, met->id, 9, met->raw);
	tell_stack(met->back, met->n_back);
	met->thread = NULL;
	__atomic_fetch_sub(&watching.n_met, 1, __ATOMIC_RELAXED);
}

/* Those whose thread has not come since: in the middle of where it may be. Lock held. */
static void tell_all_met(void)
{
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		struct met *met = &watching.met[i];

		if (met->thread)
			tell_met(met, met->raw[1] + met->raw[7] / 2, (met->raw[7] + 1) / 2);
	}
}

/* The thread has come to this count. Where it has been in its tracing copy ever since it looked,
 * and in no loop that tells of itself at its end, memory had the count right. Lock held. */
static void tell_met_by(struct rt_thread *thread, bool is_exact)
{
	uint64_t now = rt_thread_count(thread), from = thread->pace.since_refs;
	uint64_t ns = rt_pace_since(thread);

	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		struct met *met = &watching.met[i];
		uint64_t least = met->raw[1], count = now;

		if (met->thread != thread)
			continue;
		if (is_exact) {
			tell_met(met, least, 0);
			continue;
		}
		if (met->since_ns < ns)
			count = from +
				(uint64_t)((unsigned __int128)(now - from) * met->since_ns / ns);
		count = count < least ? least : count;
		tell_met(met, count, count - least > now - count ? count - least : now - count);
	}
}

static uint64_t take_id(void)
{
	return __atomic_add_fetch(&rt.control->taken, 1, __ATOMIC_RELAXED);
}

/* Which events of memory were before. */
static uint64_t last_sequence(void)
{
	return __atomic_load_n(&rt.sequence, __ATOMIC_SEQ_CST);
}

static void tell_open(const struct rt_thread *thread, const struct rt_burst_sample *sample,
	uint64_t id, uint32_t watch)
{
	uint64_t raw[] = { sample->address, sample->count, sample->site, sample->descriptor, watch,
		sample->frame, sample->mean, thread->id, sample->n_blocks,
		(sample->has_reuse ? sample->reuse_count : thread->burst->count) - sample->count,
		sample->touches, last_sequence() };

	rt_process_mark(LOCI_MARK_SAMPLE_OPEN, id, sizeof(raw) / sizeof(*raw), raw);
	tell_stack(sample->back, sample->n_back);
}

static void tell_reuse(
	const struct rt_thread *thread, const struct rt_burst_sample *sample, uint64_t unseen)
{
	uint64_t id = take_id();
	uint64_t raw[] = { sample->reuse.address, sample->reuse_count, sample->reuse.site,
		sample->reuse.descriptor, thread->id, sample->reuse_frame, sample->touches, unseen,
		last_sequence() };

	tell_open(thread, sample, id, LOCI_WATCH_BURST);
	rt_process_mark(LOCI_MARK_SAMPLE_FIRE, id, sizeof(raw) / sizeof(*raw), raw);
	tell_stack(sample->reuse_back, sample->n_reuse_back);
}

/* It is watched no longer, because of another or of none. */
static void evict(unsigned watch, uint64_t by)
{
	struct armed *armed = &watching.armed[watch];
	uint64_t behind, raw[2] = { 0, by };

	if (!armed->thread)
		return;
	raw[0] = count_of(armed, &behind);
	rt_process_mark(LOCI_MARK_SAMPLE_EVICT, armed->id, 2, raw);
	__atomic_store_n(&armed->thread, NULL, __ATOMIC_RELAXED);
}

static void give_up(unsigned watch)
{
	evict(watch, 0);
	loci_reservoir_release(&watching.reservoir, watch);
}

/* Its reuse has not come for so long: it may be watched. Lock held. */
static void enter(struct rt_thread *thread, const struct rt_burst_sample *sample)
{
	uint64_t id = take_id();
	int watch = watching.n ? loci_reservoir_offer(&watching.reservoir) : -1;

	tell_all_met();
	if (watch >= 0)
		evict((unsigned)watch, id);
	tell_open(thread, sample, id, watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch);
	if (watch < 0)
		return;
	watching.armed[watch] = (struct armed){ .id = id,
		.count = sample->count,
		.block = sample->block,
		.counting = thread->counting };
	__atomic_store_n(&watching.armed[watch].thread, thread, __ATOMIC_RELEASE);
	if (!watching.ops->arm((unsigned)watch, sample->block << shared()->block_shift))
		give_up((unsigned)watch);
}

/* Samples whose reuse was seen, and those that were followed for long enough. */
static void settle(struct rt_thread *thread, uint64_t unseen, bool all)
{
	struct rt_burst *burst = thread->burst;
	unsigned n = 0;

	for (unsigned i = 0; i < burst->n_followed; i++) {
		struct rt_burst_sample *sample = &burst->followed[i];

		if (sample->has_reuse) {
			tell_reuse(thread, sample, unseen);
		} else if (all || burst->count - sample->count >= shared()->burst_refs) {
			enter(thread, sample);
		} else {
			if (i != n)
				burst->followed[n] = *sample;
			n++;
		}
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
		burst->is_senseless = false;
		burst->function = NULL;
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
	burst->function = NULL;
	burst->n_sites = burst->n_followed = 0;
	burst->is_senseless = false;
	find_calls(&burst->calls, pointer);
	keep_runs_off(thread, true);
	give_room(burst);
	__loci_thread.state = &burst->state;
	rt_thread_set_budget(thread, -RT_ENDLESS);
}

static void end_burst(struct rt_thread *thread)
{
	rt_pace_burst_over(thread);
	thread->burst->is_on = false;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How far the count in memory may be behind while samples of the thread are watched. */
static uint64_t look_refs(const struct rt_thread *thread, uint64_t count)
{
	uint64_t refs = RT_ENDLESS, tails = TAIL_PART * thread->tail_refs;

	for (unsigned i = 0; i < watching.n; i++) {
		const struct armed *armed = &watching.armed[i];
		uint64_t age, part;

		if (__atomic_load_n(&armed->thread, __ATOMIC_ACQUIRE) != thread)
			continue;
		age = count - armed->count;
		part = larger(age / LOOK_PART, tails < age ? tails : age);
		part = larger(part, LOOK_REFS);
		refs = refs < part ? refs : part;
	}
	return refs;
}

/* Where loops are told by RUNs few words are many references, and each may be the last; the longest
 * of them, of late, is remembered. */
static unsigned sink_words(struct rt_thread *thread, uint64_t count, uint64_t due)
{
	uint64_t refs = count - thread->rested;

	thread->rested = count;
	if (__loci_thread.budget >= 0 && refs > RT_SINK_MOST + LOCI_CC_ROOM_WORDS) {
		thread->run_refs -= thread->run_refs / 16;
		if (thread->run_refs < refs)
			thread->run_refs = refs < RUN_MOST ? refs : RUN_MOST;
		return 0;
	}
	return due > 4 * RT_SINK_MOST ? RT_SINK_MOST : RT_SINK_WORDS;
}

/* That it has appended since it was last told to rest. */
static uint64_t rested_words(const struct rt_thread *thread)
{
	uint64_t words = (uint64_t)(thread->level->quiet.cursor - thread->sink);

	return words <= RT_SINK_MOST + LOCI_CC_ROOM_WORDS ? words : 0;
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

/* No sample is due. */
static void rest(struct rt_thread *thread)
{
	uint64_t count = rt_thread_count(thread), words = rested_words(thread), look;
	uint64_t due = thread->next_sample - count; /* until its sample */
	uint64_t refs = due > thread->margin ? due - thread->margin : 1;

	learn_tail(thread, count, words);
	look = look_refs(thread, count);
	rt_pace_rest(thread, words);
	rt_sample_quiet(thread, sink_words(thread, count, due));
	keep_runs_off(thread, due < 2 * thread->run_refs || look < thread->run_refs);
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

	rt_lock();
	if (rt_mode() != RT_OFF && !burst->is_on)
		begin_burst(thread, pointer);
	else if (rt_mode() != RT_OFF)
		read_words(thread, false);
	rt_unlock();
	if (burst->is_on && !burst->n_followed && !is_due(thread))
		end_burst(thread);
	else if (burst->is_on)
		give_room(burst);
}

/* The first trap waits for pages of the kernel that later ones find there. */
static void measure_kernel(void)
{
	struct rt_pace_kernel least = { UINT64_MAX, UINT64_MAX };

	for (unsigned i = 0; i < 4; i++) {
		uint64_t mask = rt_block(), from, to;
		bool is_armed;

		rt_lock();
		is_armed = watching.n && rt_mode() != RT_OFF && !watching.armed[0].thread &&
			watching.ops->arm(0, (uintptr_t)&probe);
		watching.over_ns = 0;
		rt_unlock();
		rt_unblock(mask);
		if (!is_armed)
			return;
		from = rt_now_ns();
		*(volatile uint64_t *)&probe = i;
		to = rt_now_ns();
		if (!watching.over_ns)
			return;
		if (i && watching.begun_ns - from < least.before_ns)
			least.before_ns = watching.begun_ns - from;
		if (i && to - watching.over_ns < least.after_ns)
			least.after_ns = to - watching.over_ns;
	}
	rt_pace_kernel = least;
}

/* With signals blocked. */
static void look_back(struct rt_thread *thread)
{
	rt_lock();
	if (rt_mode() != RT_OFF)
		tell_met_by(thread, __loci_thread.budget >= 0 && thread->is_near);
	rt_unlock();
}

void rt_watch_room(struct rt_thread *thread, uintptr_t frame)
{
	struct rt_burst *burst = thread->burst;

	if (!__atomic_exchange_n(&watching.is_measured, true, __ATOMIC_RELAXED))
		measure_kernel();
	if (__atomic_load_n(&watching.n_met, __ATOMIC_RELAXED)) {
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
	if (rt_mode() != RT_OFF)
		tell_all_met();
	if (thread->burst && thread->burst->is_on) {
		if (rt_mode() != RT_OFF)
			read_words(thread, true);
		end_burst(thread);
	}
	keep_runs_off(thread, false);
	for (unsigned i = 0; i < watching.n; i++)
		if (watching.armed[i].thread == thread && watching.armed[i].counting) {
			watching.armed[i].counting = NULL;
			watching.armed[i].ended = rt_thread_count(thread);
		}
	rt_unlock();
}

/* Meanwhile another sample may have got it. */
static bool is_armed(unsigned watch, uintptr_t address)
{
	return watch < watching.n && watching.armed[watch].thread && rt_mode() != RT_OFF &&
		address >> shared()->block_shift == watching.armed[watch].block;
}

/* A fault is at the instruction that touched the block, a trap is behind it. */
static uintptr_t behind(uintptr_t code)
{
	return code + (shared()->by == LOCI_CONTROL_PAGES);
}

/* The frame pointer is that of the code, if that keeps one. Lock held. */
static void meet(unsigned watch, uintptr_t address, const greg_t *gregs, uint64_t now_ns)
{
	struct armed *armed = &watching.armed[watch];
	struct met *met = &watching.met[watch];
	uintptr_t site = (uintptr_t)gregs[REG_RIP];
	static struct rt_call_stack calls;

	*met = (struct met){ .thread = armed->thread, .id = armed->id };
	met->raw[0] = address;
	met->raw[1] = count_of(armed, &met->raw[7]);
	met->raw[2] = behind(site);
	met->raw[4] = rt_self ? rt_self->id : 0;
	met->raw[8] = last_sequence();
	rt_call_stack_walk(&calls, (uintptr_t)gregs[REG_RBP], site);
	met->raw[5] = calls.n ? calls.call[calls.n - 1].frame : 0;
	met->n_back = rt_call_stack_list(&calls, met->back);
	met->since_ns = rt_pace_until(armed->thread, now_ns);
	__atomic_fetch_add(&watching.n_met, 1, __ATOMIC_RELAXED);
	if (!armed->counting || (armed->thread->burst && armed->thread->burst->is_on))
		tell_met(met, met->raw[1], 0);
	__atomic_store_n(&armed->thread, NULL, __ATOMIC_RELAXED);
	loci_reservoir_release(&watching.reservoir, watch);
}

void rt_watch_fired(unsigned watch, uintptr_t address, const ucontext_t *context)
{
	struct rt_thread *self = rt_self;
	uint64_t begun = rt_now_ns();

	if (address == (uintptr_t)&probe) {
		watching.begun_ns = begun;
		watching.over_ns = rt_now_ns();
		return;
	}
	__atomic_fetch_add(&shared()->traps, 1, __ATOMIC_RELAXED);
	rt_lock();
	if (is_armed(watch, address))
		meet(watch, address, context->uc_mcontext.gregs, begun);
	rt_unlock();
	if (self)
		rt_pace_trap(self, rt_now_ns() - begun);
}

void rt_watch_given_up(unsigned watch, uintptr_t address)
{
	rt_lock();
	if (is_armed(watch, address))
		give_up(watch);
	rt_unlock();
}
