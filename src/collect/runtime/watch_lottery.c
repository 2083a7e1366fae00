// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/watch_lottery.h"
#include "collect/runtime/reservoir.h"
#include "collect/runtime/untold.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watch_bulk.h"
#include "collect/runtime/watch_far.h"

/* While one of its samples is watched a thread looks after so many references, or this part of the
 * sample's age: by that the count in memory may be behind, and time is the judge in between. */
#define LOOK_REFS 4096
#define LOOK_PART 8
/* After a look code may stay in its tracing copy for a while: it is not to be there most of the
 * time. */
#define TAIL_PART 32

/* That a function may keep its budget in, where it has no register for it. */
#define MEMORY_WORDS 64
#define PAGE_BYTES   4096

/* A sample that has a watch. */
struct armed {
	uint64_t id, count, block, site;
	uint64_t in_parts;                     /* touches by the thread's large references then */
	const struct rt_thread *thread;        /* whose it is; NULL: free */
	const struct loci_cc_thread *counting; /* NULL: the thread has ended .. */
	uint64_t ended, ended_in_parts;        /* .. with this count, and these */
};

/* A sample whose watch has met its block, until it is known better when that was: the count in
 * memory is that of the thread's last call or look. When it looks again, what it counted since is
 * shared out by time. */
struct met {
	const struct rt_thread *thread; /* of the sample; NULL: none */
	uint64_t site, count;           /* of the sample */
	uint64_t id, raw[LOCI_FIRE_MEMORY + MEMORY_WORDS];
	unsigned n_raw;
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
	/* Of the kernel's part of a trap: */
	bool is_measured;
	uint64_t begun_ns, over_ns; /* of the handler that met `probe` */
} lottery;

static uint64_t probe __attribute__((aligned(4096)));

static struct loci_control_watching *shared(void)
{
	return &rt.control->watching;
}

/* Of several processes that have fewer any one is told of. */
static void tell_fewer(int why)
{
	__atomic_store_n(&shared()->fewest, lottery.n, __ATOMIC_RELAXED);
	__atomic_store_n(&shared()->fewer_for, (uint32_t)why, __ATOMIC_RELAXED);
}

static void begin_process(void)
{
	uint64_t none = 0;
	int failed = 0;

	lottery.pid = rt.pid;
	lottery.n_met = 0;
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		lottery.armed[i] = (struct armed){ 0 };
		lottery.met[i].thread = NULL;
	}
	lottery.ops = shared()->by == LOCI_CONTROL_PAGES ? &rt_watch_pages : &rt_watch_registers;
	rt_watch_stop_forget();
	__atomic_compare_exchange_n(
		&shared()->began_ns, &none, rt_now_ns(), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	lottery.n = lottery.ops->begin(shared()->watches, &failed);
	if (!lottery.n)
		__atomic_store_n(&shared()->failed, (uint32_t)failed, __ATOMIC_RELAXED);
	else if (lottery.n < shared()->watches)
		tell_fewer(failed);
	lottery.reservoir = (struct loci_reservoir){ .n = lottery.n,
		.replace = (enum loci_replace)shared()->replace,
		.random = rt.control->seed ^ rt.salt ^ 0x9e3779b97f4a7c15u };
}

bool rt_lottery_begin(void)
{
	bool is_first = lottery.pid != rt.pid;

	if (is_first)
		begin_process();
	else if (lottery.n && lottery.ops->thread_begin)
		lottery.ops->thread_begin();
	return is_first;
}

void rt_lottery_end(void)
{
	if (lottery.pid == rt.pid && lottery.n)
		lottery.ops->end();
	lottery.n = 0;
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
		uint64_t count = (uint64_t)(offset - budget), run_refs;

		if (__atomic_load_n(&armed->thread->offset, __ATOMIC_ACQUIRE) != offset ||
			count < armed->count || count > (uint64_t)RT_ENDLESS / 2)
			continue;
		*ret_behind = budget > 0 ? (uint64_t)budget : 0;
		run_refs = __atomic_load_n(&armed->thread->run_refs, __ATOMIC_RELAXED);
		if (!__atomic_load_n(&armed->thread->is_near, __ATOMIC_RELAXED) &&
			*ret_behind < run_refs)
			*ret_behind = run_refs;
		return count;
	}
	return armed->count;
}

/* Touches by large references since the sample. */
static uint64_t in_parts_since(const struct armed *armed, uint64_t more)
{
	uint64_t now = armed->counting
		? __atomic_load_n(&armed->thread->parts.touched, __ATOMIC_RELAXED)
		: armed->ended_in_parts;

	return now + more - armed->in_parts;
}

static void tell_stack(const uint64_t *back, unsigned n)
{
	if (n)
		rt_process_mark(LOCI_MARK_STACK, 0, n, back);
}

/* Its count may be off by so much; if it is not, nothing else need be known. */
static void tell_met(struct met *met, uint64_t count, uint64_t off)
{
	met->raw[1] = count;
	met->raw[7] = off;
	rt_far_met(met->site, count - met->count);
	rt_process_mark(
		LOCI_MARK_SAMPLE_FIRE, met->id, off ? met->n_raw : LOCI_FIRE_EMPTY, met->raw);
	tell_stack(met->back, met->n_back);
	met->thread = NULL;
	__atomic_fetch_sub(&lottery.n_met, 1, __ATOMIC_RELAXED);
}

/* Those whose thread has not come since: in the middle of where it may be. Lock held. */
void rt_lottery_tell_met(void)
{
	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		struct met *met = &lottery.met[i];

		met->raw[LOCI_FIRE_LEAST] = met->raw[1];
		met->raw[LOCI_FIRE_MOST] = met->raw[1] + met->raw[7];
		if (met->thread)
			tell_met(met, met->raw[1] + met->raw[7] / 2, (met->raw[7] + 1) / 2);
	}
}

/* The thread has come to this count. Where it has been in its tracing copy ever since it looked,
 * and in no loop that tells of itself at its end, memory had the count right. Lock held. */
void rt_lottery_look_back(struct rt_thread *thread, bool is_exact)
{
	uint64_t now = rt_thread_count(thread), from = thread->pace.since_refs;
	uint64_t ns = rt_pace_since(thread);

	for (unsigned i = 0; i < LOCI_RESERVOIR; i++) {
		struct met *met = &lottery.met[i];
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
		met->raw[LOCI_FIRE_LEAST] = least;
		met->raw[LOCI_FIRE_MOST] = now;
		tell_met(met, count, count - least > now - count ? count - least : now - count);
	}
}

static uint64_t take_id(void)
{
	return __atomic_add_fetch(&rt.control->taken, 1, __ATOMIC_RELAXED);
}

/* Which events of memory were before an address was met. What it is in is told by then. */
static uint64_t last_sequence(uintptr_t address)
{
	rt_untold_met(address);
	return __atomic_load_n(&rt.sequence, __ATOMIC_SEQ_CST);
}

static void tell_open(const struct rt_thread *thread, const struct rt_burst_sample *sample,
	uint64_t id, uint32_t watch)
{
	uint64_t until = sample->has_reuse ? sample->reuse_count : thread->burst->count;
	uint64_t raw[LOCI_OPEN_AROUND + LOCI_AROUND_WORDS] = { sample->address, sample->count,
		sample->site, sample->descriptor, watch, sample->frame, sample->mean, thread->id,
		sample->n_blocks, sample->is_part ? 0 : until - sample->count,
		sample->touches - sample->in_parts, last_sequence(sample->address) };
	unsigned n = LOCI_OPEN_AROUND + loci_around_put(&sample->around, raw + LOCI_OPEN_AROUND);

	rt_process_mark(LOCI_MARK_SAMPLE_OPEN, id, n, raw);
	tell_stack(sample->back, sample->n_back);
}

void rt_lottery_reused(
	const struct rt_thread *thread, const struct rt_burst_sample *sample, uint64_t unseen)
{
	uint64_t id = take_id();
	uint64_t raw[] = { sample->reuse.address, sample->reuse_count, sample->reuse.site,
		sample->reuse.descriptor, thread->id, sample->reuse_frame, sample->touches, unseen,
		last_sequence(sample->reuse.address), sample->reuse_distinct };

	tell_open(thread, sample, id, LOCI_WATCH_BURST);
	rt_process_mark(LOCI_MARK_SAMPLE_FIRE, id, sizeof(raw) / sizeof(*raw), raw);
	tell_stack(sample->reuse_back, sample->n_reuse_back);
}

/* It is watched no longer, because of another or of none. */
static void evict(unsigned watch, uint64_t by)
{
	struct armed *armed = &lottery.armed[watch];
	uint64_t behind, raw[2] = { 0, by };

	if (!armed->thread)
		return;
	raw[0] = count_of(armed, &behind);
	rt_process_mark(LOCI_MARK_SAMPLE_EVICT, armed->id, 2, raw);
	__atomic_store_n(&armed->thread, NULL, __ATOMIC_RELAXED);
}

static void add(uint64_t *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void give_up(unsigned watch)
{
	evict(watch, 0);
	loci_reservoir_release(&lottery.reservoir, watch);
}

static void give_up_lost(void)
{
	uint64_t lost = lottery.ops->lost ? lottery.ops->lost() : 0;

	for (unsigned i = 0; i < lottery.n; i++)
		if ((lost >> i & 1) && lottery.armed[i].thread)
			give_up(i);
}

/* Its reuse has not come for so long: it may be watched. Lock held. */
void rt_lottery_enter(struct rt_thread *thread, const struct rt_burst_sample *sample)
{
	uint64_t id = take_id();
	int watch = lottery.n ? loci_reservoir_offer(&lottery.reservoir) : -1;
	struct armed *armed;
	bool is_armed;

	rt_lottery_tell_met();
	add(&shared()->entered);
	if (watch >= 0)
		evict((unsigned)watch, id);
	tell_open(thread, sample, id, watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch);
	if (!lottery.n)
		add(&shared()->unwatched);
	if (watch < 0)
		return;
	armed = &lottery.armed[watch];
	armed->id = id;
	armed->block = sample->block;
	armed->site = sample->site;
	armed->in_parts = thread->parts.touched - sample->in_parts;
	armed->counting = thread->counting;
	armed->ended = 0;
	__atomic_store_n(&armed->count, sample->count, __ATOMIC_RELAXED);
	__atomic_store_n(&armed->thread, thread, __ATOMIC_RELEASE);
	is_armed = lottery.ops->arm((unsigned)watch, sample->block << shared()->block_shift);
	give_up_lost();
	if (is_armed)
		return;
	if (!rt_watch_has_stopped()) {
		give_up((unsigned)watch);
		return;
	}
	add(&shared()->unwatched);
	for (unsigned i = 0; i < lottery.n; i++) /* nor are the others any more */
		if (lottery.armed[i].thread) {
			add(&shared()->lapsed);
			give_up(i);
		}
}

void rt_lottery_thread_end(const struct rt_thread *thread)
{
	rt_lottery_tell_met();
	for (unsigned i = 0; i < lottery.n; i++)
		if (lottery.armed[i].thread == thread && lottery.armed[i].counting) {
			lottery.armed[i].counting = NULL;
			lottery.armed[i].ended = rt_thread_count(thread);
			lottery.armed[i].ended_in_parts = thread->parts.touched;
		}
}

bool rt_lottery_has_met(void)
{
	return __atomic_load_n(&lottery.n_met, __ATOMIC_RELAXED) > 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How far the count in memory may be behind while samples of the thread are watched. */
uint64_t rt_lottery_look_refs(const struct rt_thread *thread, uint64_t count)
{
	uint64_t refs = RT_ENDLESS, tails = TAIL_PART * thread->tail_refs;

	for (unsigned i = 0; i < lottery.n; i++) {
		const struct armed *armed = &lottery.armed[i];
		uint64_t age, part;

		if (__atomic_load_n(&armed->thread, __ATOMIC_ACQUIRE) != thread)
			continue;
		age = count - __atomic_load_n(&armed->count, __ATOMIC_RELAXED);
		part = larger(age / LOOK_PART, tails < age ? tails : age);
		part = larger(part, LOOK_REFS);
		refs = refs < part ? refs : part;
	}
	return refs;
}

/* The first trap waits for pages of the kernel that later ones find there. */
void rt_lottery_measure(void)
{
	struct rt_pace_kernel least = { UINT64_MAX, UINT64_MAX };

	if (__atomic_load_n(&lottery.is_measured, __ATOMIC_RELAXED) ||
		__atomic_exchange_n(&lottery.is_measured, true, __ATOMIC_RELAXED))
		return;
	if (lottery.ops == &rt_watch_pages) {
		least = rt_pace_kernel;
		rt_pages_measure(&least.before_ns, &least.after_ns);
		rt_pace_set_kernel(&least);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		uint64_t mask = rt_block(), from, to;
		bool is_armed;

		rt_lock();
		is_armed = lottery.n && rt_mode() != RT_OFF && !lottery.armed[0].thread &&
			lottery.ops->arm(0, (uintptr_t)&probe);
		lottery.over_ns = 0;
		rt_unlock();
		rt_unblock(mask);
		if (!is_armed)
			return;
		from = rt_now_ns();
		*(volatile uint64_t *)&probe = i;
		to = rt_now_ns();
		if (!lottery.over_ns)
			return;
		if (i && lottery.begun_ns - from < least.before_ns)
			least.before_ns = lottery.begun_ns - from;
		if (i && to - lottery.over_ns < least.after_ns)
			least.after_ns = to - lottery.over_ns;
	}
	rt_pace_set_kernel(&least);
}

/* Meanwhile another sample may have got it. */
static bool is_armed(unsigned watch, uintptr_t address)
{
	return watch < lottery.n && lottery.armed[watch].thread && rt_mode() != RT_OFF &&
		address >> shared()->block_shift == lottery.armed[watch].block;
}

/* A fault is at the instruction that touched the block, a trap is behind it. */
static uintptr_t behind(uintptr_t code)
{
	return code + (shared()->by == LOCI_CONTROL_PAGES);
}

/* Where the budget may be. A frame is on the same two pages as its ends, which are there.
 */
static void take_registers(struct met *met, const struct rt_thread *thread, const greg_t *gregs)
{
	static const uint8_t dwarf[16] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
		REG_R15 };
	uintptr_t top = (uintptr_t)gregs[REG_RBP], end = (uintptr_t)gregs[REG_RSP];
	unsigned n = LOCI_FIRE_MEMORY;

	met->raw[LOCI_FIRE_EMPTY] = (uint64_t)thread->offset;
	met->raw[LOCI_FIRE_CODE] = (uint64_t)gregs[REG_RIP];
	for (unsigned i = 0; i < 16; i++)
		met->raw[LOCI_FIRE_REGISTERS + i] = (uint64_t)gregs[dwarf[i]];
	if (met->raw[5] && !(top & 7) && top - end <= PAGE_BYTES)
		for (uintptr_t at = top - 8; at >= end && n < LOCI_FIRE_MEMORY + MEMORY_WORDS;
			at -= 8)
			met->raw[n++] = *(const uint64_t *)at;
	met->n_raw = n;
}

/* The frame pointer is that of the code, if that keeps one. Lock held. */
static void meet(unsigned watch, uintptr_t address, const greg_t *gregs, uint64_t now_ns)
{
	struct armed *armed = &lottery.armed[watch];
	struct met *met = &lottery.met[watch];
	uintptr_t site = (uintptr_t)gregs[REG_RIP];
	struct rt_bulk_touch touch = { 0 };
	bool is_within = armed->thread == rt_self &&
		rt_bulk_is_within(rt_self, address, (uintptr_t)gregs[REG_RSP], &touch);
	static struct rt_call_stack calls;

	*met = (struct met){ .thread = armed->thread,
		.id = armed->id,
		.site = armed->site,
		.count = armed->count,
		.n_raw = LOCI_FIRE_EMPTY };
	met->raw[0] = address;
	met->raw[1] = count_of(armed, &met->raw[7]);
	met->raw[2] = is_within ? rt_self->parts.back : behind(site);
	met->raw[3] = touch.descriptor;
	met->raw[4] = rt_self ? rt_self->id : 0;
	met->raw[6] = in_parts_since(armed, touch.touches);
	met->raw[8] = last_sequence(address);
	if (is_within)
		rt_call_stack_walk(&calls, rt_self->parts.pointer, rt_self->parts.back);
	else
		rt_call_stack_walk(&calls, (uintptr_t)gregs[REG_RBP], site);
	met->raw[5] = calls.n ? calls.call[calls.n - 1].frame : 0;
	met->n_back = rt_call_stack_list(&calls, met->back);
	if (armed->thread == rt_self && !rt_self->depth)
		take_registers(met, rt_self, gregs);
	if (armed->counting) /* or there is another thread in its place */
		met->since_ns = rt_pace_until(armed->thread, now_ns);
	__atomic_fetch_add(&lottery.n_met, 1, __ATOMIC_RELAXED);
	if (!armed->counting || is_within ||
		(armed->thread->burst &&
			__atomic_load_n(&armed->thread->burst->is_on, __ATOMIC_RELAXED)))
		tell_met(met, met->raw[1], 0);
	__atomic_store_n(&armed->thread, NULL, __ATOMIC_RELAXED);
	loci_reservoir_release(&lottery.reservoir, watch);
}

void rt_watch_fired(unsigned watch, uintptr_t address, const ucontext_t *context)
{
	struct rt_thread *self = rt_self;
	uint64_t begun = rt_now_ns();

	if (address == (uintptr_t)&probe) {
		lottery.begun_ns = begun;
		lottery.over_ns = rt_now_ns();
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

void rt_watch_lot(unsigned watch, uintptr_t address, bool is_kept)
{
	struct armed *armed = &lottery.armed[watch];
	uint64_t behind, raw[] = { 0, RT_WATCH_LOTS, is_kept };

	rt_lock();
	if (is_armed(watch, address)) {
		raw[0] = count_of(armed, &behind);
		rt_process_mark(LOCI_MARK_SAMPLE_LOT, armed->id, sizeof(raw) / sizeof(*raw), raw);
		if (!is_kept) {
			__atomic_store_n(&armed->thread, NULL, __ATOMIC_RELAXED);
			loci_reservoir_release(&lottery.reservoir, watch);
		}
	}
	rt_unlock();
}

void rt_watch_given_up(unsigned watch, uintptr_t address)
{
	rt_lock();
	if (is_armed(watch, address)) {
		if (rt_watch_has_stopped())
			add(&shared()->lapsed);
		give_up(watch);
	}
	rt_unlock();
}
