// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/burst.h"
#include "collect/runtime/watch_far.h"
#include "collect/runtime/watching.h"
#include "stream/ring_x86_64.h"

#include <string.h>

#define SYS_MADVISE      28
#define MADV_DONTNEED_NR 4

static unsigned shift(void)
{
	return rt.control->watching.block_shift;
}

static uint64_t last_byte(const struct rt_burst_ref *ref)
{
	return ref->address + ref->bytes - 1;
}

static uint32_t blocks_of(const struct rt_burst_ref *ref)
{
	uint64_t n = (last_byte(ref) >> shift()) - (ref->address >> shift()) + 1;

	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static uint64_t frame_of(const struct rt_burst *burst)
{
	return burst->calls.n ? burst->calls.call[burst->calls.n - 1].frame : 0;
}

static bool is_write(const struct rt_burst_ref *ref)
{
	return (ref->descriptor >> 32 & 0xff) == LOCI_OP_STORE;
}

/* Up to the touch of that number; 0: others were not seen. */
static uint64_t distinct_until(
	struct rt_burst *burst, const struct rt_burst_sample *sample, uint64_t touch)
{
	if (touch - sample->passed + 1 != sample->touches)
		return 0;
	if (sample->far_refs)
		return burst->far->n + 1;
	return loci_passed_distinct(&burst->passed, sample->passed, touch, sample->block);
}

/* Blocks that were touched since the sample that is followed for long. */
static void pass_far(
	struct rt_burst *burst, struct rt_burst_sample *sample, uint64_t first, uint64_t n)
{
	if (sample->far_refs && !loci_far_add(burst->far, first, n))
		rt_burst_far_over(burst, sample);
}

/* before: touches that were passed before this reference. */
static void follow(struct rt_burst *burst, struct rt_burst_sample *sample,
	const struct rt_burst_ref *ref, uint64_t before)
{
	uint64_t first = ref->address >> shift();
	bool touches = sample->block - first <= (last_byte(ref) >> shift()) - first;

	if (sample->has_reuse)
		return;
	if (!touches || (rt.control->watching.writes_only && !is_write(ref))) {
		sample->touches += blocks_of(ref);
		sample->in_parts += ref->has_parts ? blocks_of(ref) : 0;
		pass_far(burst, sample, first, blocks_of(ref));
		return;
	}
	sample->touches += sample->block - first + 1;
	pass_far(burst, sample, first, sample->block - first);
	sample->reuse_distinct = distinct_until(burst, sample, before + sample->block - first);
	sample->has_reuse = true;
	sample->reuse = *ref;
	sample->reuse_count = burst->count;
	sample->reuse_frame = frame_of(burst);
	sample->n_reuse_back = rt_call_stack_list(&burst->calls, sample->reuse_back);
}

/* Its memory is given back, unless the program has all of its own locked. */
static void forget_far(struct loci_far_blocks *far)
{
	size_t used = offsetof(struct loci_far_blocks, slot) +
		loci_far_used(far) * sizeof(struct loci_far_slot);

	if (far->n_slots &&
		loci_syscall3(SYS_MADVISE, (long)far, sizeof(*far), MADV_DONTNEED_NR) < 0)
		memset(far, 0, used);
}

void rt_burst_far_over(struct rt_burst *burst, struct rt_burst_sample *sample)
{
	burst->far_refs += burst->count - sample->count;
	burst->has_far = false;
	sample->far_refs = 0;
	forget_far(burst->far);
}

/* It may be followed for long, one at a time. What other threads touch is not seen meanwhile, which
 * matters the more the longer it is: where there are others watches do better. */
static void follow_far(struct rt_thread *thread, struct rt_burst_sample *sample)
{
	struct rt_burst *burst = thread->burst;
	bool is_asked = !burst->has_far && !rt.control->watching.writes_only && !rt_is_threaded();
	uint64_t refs = is_asked ? rt_far_refs(thread, sample->site) : 0;

	if (refs <= rt.control->watching.burst_refs)
		return;
	if (!burst->far)
		burst->far = loci_sys_map(sizeof(*burst->far), -1);
	if (!burst->far)
		return;
	forget_far(burst->far); /* of one that was lost */
	burst->has_far = true;
	sample->far_refs = refs;
	pass_far(burst, sample, sample->block + 1, sample->touches);
}

/* From its touches on. */
static void start_over(struct loci_passed *passed, const struct rt_burst_ref *ref)
{
	passed->n = 0;
	loci_passed_add(passed, ref->address >> shift(), blocks_of(ref));
}

/* Of the blocks that it touches any. */
static void take(struct rt_thread *thread, const struct rt_burst_ref *ref)
{
	struct rt_burst *burst = thread->burst;
	struct rt_burst_sample *sample = &burst->followed[burst->n_followed];
	uint32_t n = blocks_of(ref), chosen;

	if (burst->n_followed == RT_BURST_FOLLOWED) {
		rt_watch_lose(1);
		return;
	}
	if (!burst->n_followed)
		start_over(&burst->passed, ref);
	chosen = (uint32_t)((loci_gap_random(&thread->random) >> 32) * n >> 32);
	*sample = (struct rt_burst_sample){ .block = (ref->address >> shift()) + chosen,
		.count = burst->count,
		.mean = thread->next_mean,
		.site = ref->site,
		.descriptor = ref->descriptor,
		.frame = frame_of(burst),
		.touches = n - 1 - chosen,
		.passed = burst->passed.n - (n - 1 - chosen),
		.n_blocks = n };
	sample->address = chosen ? sample->block << shift() : ref->address;
	sample->n_back = rt_call_stack_list(&burst->calls, sample->back);
	loci_around_share_out(&burst->around, &sample->around);
	follow_far(thread, sample);
	burst->n_followed++;
}

void rt_burst_refer(struct rt_thread *thread, const struct rt_burst_ref *ref)
{
	struct rt_burst *burst = thread->burst;
	uint64_t before;

	burst->count++;
	if (!ref->bytes) { /* as in exact profiles it touches nothing */
		if (burst->count == thread->next_sample)
			rt_watch_draw(thread);
		return;
	}
	if (thread->next_sample - burst->count < LOCI_AROUND && !ref->has_parts)
		loci_around_add(&burst->around, ref->site, blocks_of(ref));
	before = burst->passed.n;
	if (burst->n_followed)
		loci_passed_add(&burst->passed, ref->address >> shift(), blocks_of(ref));
	for (unsigned i = 0; i < burst->n_followed; i++)
		follow(burst, &burst->followed[i], ref, before);
	if (burst->count == thread->next_sample) {
		if (!ref->has_parts)
			take(thread, ref);
		rt_watch_draw(thread);
	}
}

/* A program that is nothing of ours may have closed the library in the meantime, and nobody has
 * said so. Its words are the only ones that still know it. */
static bool is_there(struct rt_burst *burst, const struct loci_cc_definition *function)
{
	uintptr_t address = (uintptr_t)function;

	if (address - burst->loaded < burst->loaded_bytes)
		return true;
	burst->loaded_bytes = 0;
	return rt_module_around(address, &burst->loaded, &burst->loaded_bytes);
}

static struct rt_brief_block block_of(
	const struct rt_known *known, uint32_t number, const struct loci_cc_site **ret_sites)
{
	const struct loci_cc_block *blocks = (const void *)(known->definition + 1);

	/* whose tables are of eight bytes and more */
	*ret_sites = (const void *)(blocks + known->n_blocks);
	if (known->brief)
		return known->brief->block[number];
	return (struct rt_brief_block){ .first_site = blocks[number].first_site,
		.n_sites = blocks[number].n_sites,
		.flags = blocks[number].flags };
}

static void begin_block(struct rt_burst *burst, uint64_t id)
{
	struct rt_known *of = &burst->of;
	struct rt_brief_block block;

	burst->n_sites = burst->n_left = 0;
	burst->has_address = burst->is_wide = false;
	if (((!of->definition || id - of->first >= of->n_blocks) && !rt_known_of_block(id, of)) ||
		!is_there(burst, of->definition)) {
		of->definition = NULL;
		burst->is_senseless = true;
		return;
	}
	block = block_of(of, (uint32_t)(id - of->first), &burst->sites);
	burst->first_site = block.first_site;
	burst->n_sites = burst->n_left = block.n_sites;
	if (!(block.flags & LOCI_BLOCK_ENTRY))
		rt_call_stack_within(&burst->calls, of->definition);
}

static void value(struct rt_thread *thread, uint64_t word)
{
	struct rt_burst *burst = thread->burst;
	const struct loci_cc_site *site;
	struct rt_burst_ref ref;
	uint32_t number;

	if (!burst->n_sites) {
		burst->is_senseless = true;
		return;
	}
	if (!burst->n_left) /* it runs again */
		burst->n_left = burst->n_sites;
	number = burst->first_site + burst->n_sites - burst->n_left;
	site = rt_brief_site(burst->of.brief, burst->sites, number);
	if (!site->size_bytes && site->op < LOCI_OP_FRAME && !burst->has_address) {
		burst->address = word;
		burst->has_address = true;
		return;
	}
	ref = (struct rt_burst_ref){ .address = burst->has_address ? burst->address : word,
		.bytes = burst->has_address ? word : site->size_bytes,
		.site = (uintptr_t)(burst->sites + number),
		.descriptor = loci_ref_word(site->size_bytes, site->op, site->flags) };
	ref.has_parts = site->may_be_large && ref.bytes >= LOCI_CC_LARGE_BYTES;
	burst->has_address = false;
	burst->n_left--;
	if (site->op == LOCI_OP_FRAME)
		burst->frame = word;
	else if (site->op == LOCI_OP_CALLER)
		rt_call_stack_enter(&burst->calls, burst->of.definition, burst->frame, word);
	else if (site->op < LOCI_OP_FRAME)
		rt_burst_refer(thread, &ref);
}

/* As many turns as neither a sample is in nor what stands around one, if none is followed. */
static uint64_t idle_turns(const struct rt_thread *thread, uint64_t turns)
{
	const struct rt_burst *burst = thread->burst;
	uint64_t refs = thread->next_sample - burst->count - 1;
	uint64_t ahead = refs > LOCI_AROUND ? (refs - LOCI_AROUND) / burst->n_sites : 0;

	for (unsigned i = 0; i < burst->n_followed; i++)
		if (!burst->followed[i].has_reuse)
			return 0;
	return ahead < turns ? ahead : turns;
}

/* A loop that was under way when the burst began. */
static void run(struct rt_thread *thread, const uint64_t *raw, unsigned n_raw)
{
	struct rt_burst *burst = thread->burst;

	if (!burst->n_sites || n_raw != 2 + 2 * burst->n_sites) {
		burst->is_senseless = true;
		return;
	}
	for (uint64_t turn = 0; turn < raw[0]; turn++) {
		uint64_t idle = idle_turns(thread, raw[0] - turn);

		turn += idle;
		burst->count += idle * burst->n_sites;
		for (unsigned i = 0; turn < raw[0] && i < burst->n_sites; i++) {
			uint32_t number = burst->first_site + i;
			const struct loci_cc_site *site =
				rt_brief_site(burst->of.brief, burst->sites, number);
			const uint64_t *steps = &raw[2 + 2 * i];
			struct rt_burst_ref ref = { .address = steps[0] + turn * steps[1],
				.bytes = site->size_bytes,
				.site = (uintptr_t)(burst->sites + number),
				.descriptor =
					loci_ref_word(site->size_bytes, site->op, site->flags) };

			rt_burst_refer(thread, &ref);
		}
	}
	burst->n_left = 0;
}

/* What else may stand among words is numbers of atomic operations. */
static const uint64_t *marker(struct rt_thread *thread, const uint64_t *at)
{
	struct rt_burst *burst = thread->burst;
	unsigned n_raw = loci_word_n_raw(*at);

	switch (loci_word_kind(*at)) {
	case LOCI_MARK_BLOCK:
		begin_block(burst, loci_word_payload(*at));
		return at + 1;
	case LOCI_MARK_RUN:
		begin_block(burst, loci_word_payload(*at));
		run(thread, at + 1, n_raw);
		return at + 1 + n_raw;
	case LOCI_MARK_WIDE:
		burst->is_wide = true;
		return at + 1;
	case LOCI_MARK_SYNC:
		return at + 1 + n_raw;
	default:
		burst->is_senseless = true;
		return at + 1;
	}
}

bool rt_burst_read(struct rt_thread *thread)
{
	struct rt_burst *burst = thread->burst;
	const uint64_t *at = burst->read, *end = burst->state.cursor;

	burst->loaded_bytes = 0;
	if (burst->of.definition && !is_there(burst, burst->of.definition))
		burst->is_senseless = true;
	while (at < end && !burst->is_senseless) {
		if (burst->is_wide || !loci_word_is_marker(*at)) {
			burst->is_wide = false;
			value(thread, *at++);
		} else {
			at = marker(thread, at);
		}
	}
	burst->read = burst->state.cursor;
	return !burst->is_senseless;
}
