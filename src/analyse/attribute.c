// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/attribute_flow.h"
#include "analyse/attribute_quick.h"
#include "analyse/attribute_repeat.h"
#include "analyse/sampler_pass.h"

#include "analyse/grow.h"
#include "base/cleanup.h"

#include <inttypes.h>

/* A longer reference is damage, not a program's. */
#define REF_MAX_BYTES (1ull << 40)

static int reserve_threads(struct loci_attribution *a, size_t n)
{
	if (loci_grow(&a->thread_refs, &a->thread_cap, n, sizeof(*a->thread_refs)) < 0)
		return -ENOMEM;
	return loci_grow(&a->thread_again, &a->thread_again_cap, n, sizeof(*a->thread_again));
}

/* Elements are as large as the smallest blocks. */
static int open_distinct(
	struct loci_attribution *a, const uint64_t *block_bytes, struct loci_err *err)
{
	uint64_t smallest = block_bytes[0];

	for (unsigned i = 1; i < a->n_grains; i++)
		smallest = block_bytes[i] < smallest ? block_bytes[i] : smallest;
	return loci_distinct_new(&a->code, smallest, &a->distinct, err);
}

int loci_attribution_new(const struct loci_attribution_options *options,
	struct loci_attribution **ret, struct loci_err *err)
{
	struct loci_attribution *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return loci_err_nomem(err);
	*ret = a;
	a->options = options->options;
	a->decoder = options->decoder;
	a->grain = options->grain;
	a->n_grains = options->n_grains;
	a->symbols = options->symbols;
	a->symbols_lock = options->symbols_lock;
	a->share_bytes = options->share_bytes;
	a->members.toucher = SIZE_MAX;
	a->flow = options->capabilities & LOCI_CAP_SITES;
	loci_decoder_keep_runs(a->decoder);
	a->shift = (unsigned)__builtin_ctzll(options->block_bytes[0]);
	r = loci_code_init(&a->code,
		&(struct loci_code_options){ .symbols = a->symbols,
			.symbols_lock = a->symbols_lock,
			.no_kernel = a->options->no_kernel,
			.fixed = loci_collector_is_inside(options->collector),
			.only = a->options->only,
			.skip = a->options->skip },
		err);
	if (r == 0 &&
		(loci_walk_init(&a->walk, &a->code) < 0 || loci_rows_init(&a->rows) < 0 ||
			loci_stages_init(&a->stages) < 0 || reserve_threads(a, 1) < 0))
		r = loci_err_nomem(err);
	if (r == 0)
		r = loci_objects_new(a->symbols, &a->objects, err);
	if (r == 0)
		loci_objects_guard(
			a->objects, a->symbols_lock, loci_collector_is_inside(options->collector));
	if (r == 0)
		r = loci_measure_init(&a->measure, a->grain[0], a->options, a->shift, err);
	if (r == 0 && a->options->index)
		r = loci_pieces_new(a->objects, options->block_bytes[0], &a->pieces, err);
	if (r == 0 && a->options->statement)
		r = open_distinct(a, options->block_bytes, err);
	for (unsigned i = 1; r == 0 && i < a->n_grains; i++)
		r = loci_side_new(a->grain[i], options->block_bytes[i], &a->side[i - 1], err);
	if (r == 0)
		r = loci_attribution_open_relay(a, err);
	if (r == 0 && a->options->footprint) {
		a->footprint = loci_footprint_new(options->footprint_bytes);
		r = a->footprint ? 0 : loci_err_nomem(err);
	}
	if (r < 0) {
		loci_attribution_free(a);
		*ret = NULL;
		return r;
	}
	if (a->walk.fixed)
		loci_decoder_tell_plain(a->decoder);
	a->batch = loci_relay_batch(a->relay);
	a->joins = a->options->pairs != LOCI_PAIRS_ALL && !a->pieces;
	a->recents = a->walks = a->measure.recent;
	if (a->options->pairs != LOCI_PAIRS_NONE)
		a->walk.log = a->batch->event;
	return 0;
}

void loci_attribution_free(struct loci_attribution *a)
{
	if (!a)
		return;
	loci_relay_free(a->relay); /* before what its thread uses */
	loci_measure_fini(&a->measure);
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(a->side); i++)
		loci_side_free(a->side[i]);
	loci_distinct_free(a->distinct);
	loci_pieces_free(a->pieces);
	loci_objects_free(a->objects);
	loci_rows_fini(&a->rows);
	loci_walk_fini(&a->walk);
	loci_executed_fini(&a->executed);
	loci_footprint_free(a->footprint);
	loci_code_fini(&a->code);
	loci_stages_fini(&a->stages);
	free(a->head);
	free(a->thread_refs);
	free(a->thread_again);
	loci_members_fini(&a->members);
	free(a);
}

/* Memory was allocated: time goes on. */
static void bear(struct loci_attribution *a, uint64_t address)
{
	uint32_t epoch;

	if (a->watched) /* there is no time, but that of samples */
		return;
	epoch = loci_objects_epoch(a->objects, address);
	a->walk.clock++;
	a->birth[epoch % LOCI_BIRTHS] = (struct loci_birth){ .epoch = epoch,
		.clock = (uint32_t)a->walk.clock & LOCI_CLOCK_MASK };
	loci_flow_refresh(a);
}

/* What a body of the loop is compiled for. */
struct refer_kind {
	bool plain; /* blocks of 64 bytes, no other size, and nothing else is asked for */
	bool flow;  /* as in the attribution */
};

/* Whose bytes they are: the function's, by the site that names it. */
static uint32_t function_of(const struct loci_attribution *a, const struct loci_code_ref *ref)
{
	uint32_t function =
		a->walk.fixed ? a->code.blocks[ref->block].function : a->walk.frame->function;

	if (function == LOCI_NO_FUNCTION)
		return LOCI_NO_SITE;
	return a->walk.fixed ? a->code.function[function].site : function;
}

static int mark_bytes(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	uint64_t size_bytes, struct loci_err *err)
{
	if (!a->footprint)
		return 0;
	return loci_footprint_touch(
		       a->footprint, address, size_bytes, ref->is_write, function_of(a, ref)) < 0
		? loci_err_nomem(err)
		: 0;
}

/* A function by itself, so that the loop keeps its registers. */
static __attribute__((noinline)) int refer_any(struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, struct loci_err *err)
{
	uint64_t size_bytes = ref->size_bytes;
	int r;

	if (a->distinct) {
		r = loci_distinct_again(a->distinct, ref->site, (uint32_t)a->walk.at, address, err);
		if (r > 0) { /* who counts the run counts it too */
			a->here.refs--;
			a->here.again++;
		}
		if (r)
			return r < 0 ? r : 0;
	}
	if (!size_bytes)
		size_bytes = a->code.site[ref->site].size_bytes;
	r = mark_bytes(a, ref, address, size_bytes, err);
	if (r < 0)
		return r;
	return loci_touch_refer(a, ref, address, size_bytes, a->shift, a->n_grains == 1, err);
}

/* A reference of a run. */
LOCI_HOT int refer(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct refer_kind kind, struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];
	uint64_t offset = address & 63;

	if (!kind.plain || !loci_touch_holds(a, site, address) ||
		ref->size_bytes - 1ull >= 64 - offset)
		return refer_any(a, ref, address, err);
	loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	return loci_touch_put(a, site, address >> 6, ref->is_write, ref->bytes << offset, err);
}

/* A special reference of a run, not the first if the block is given another. True: it needs no
 * more than what is done here. */
LOCI_HOT bool passes(struct loci_attribution *a, const struct loci_code_ref *ref,
	struct loci_code_block **block, bool is_first, struct refer_kind kind)
{
	if (!is_first) {
		loci_flow_leave(a, ref - 1, *block, (uint32_t)(ref - 1 - a->code.ref));
		*block = &a->code.blocks[ref->block];
	}
	return kind.flow && loci_flow_passes(a, ref, *block);
}

/* A special reference that needs more, i references after the first of its run. Those before count
 * where they were executed; who counts the whole run later counts them no more. */
static __attribute__((noinline)) int special(struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t i, uint64_t address, struct loci_err *err)
{
	int r;

	a->here.refs += i;
	r = loci_flow_special(a, (uint32_t)(ref - a->code.ref), address, err);
	a->here.refs -= i + (r > 0);
	return r;
}

/* After the last reference of a run. Where the words end before the block does, it is not known yet
 * whether control has left it there. */
LOCI_HOT int end_run(struct loci_attribution *a, const struct loci_runs *runs,
	const struct loci_code_ref *ref, const struct loci_code_block *block, uint32_t left,
	struct loci_err *err)
{
	uint32_t definition = (uint32_t)(ref - a->code.ref);
	uint64_t address = runs->word[-1];

	if (__builtin_expect(!left || runs->word < runs->end, 1))
		return loci_flow_end(a, ref, block, definition, address, err);
	if (!(block->flags & LOCI_CODE_KERNEL)) {
		loci_flow_leave(a, ref, block, definition);
		a->cut = loci_flow_may_return(a, ref, address) ? address : 0;
	}
	return 0;
}

/* Words come after a cut: whether the execution goes on shows in the first of them. */
static int heal_cut(struct loci_attribution *a, uint64_t word, struct loci_err *err)
{
	uint64_t address = a->cut;

	a->cut = 0;
	return loci_word_is_marker(word) ? loci_flow_return(a, address, err) : 0;
}

/* The references of one execution of a block, or a part of them. */
LOCI_HOT int refer_run(struct loci_attribution *a, struct loci_runs *runs, struct refer_kind kind,
	struct loci_err *err)
{
	const struct loci_code_ref *ref = a->code.ref + runs->next;
	struct loci_code_block *block = &a->code.blocks[ref->block];
	const uint64_t *from = runs->word;
	uint32_t left = runs->left, definition;

	for (;;) {
		uint64_t address = *runs->word;
		int r = 0;

		if (ref->kind & LOCI_CODE_SPECIAL &&
			!passes(a, ref, &block, runs->word == from, kind))
			r = special(a, ref, (uint64_t)(runs->word - from), address, err);
		if (r == 0)
			r = refer(a, ref, address, kind, err);
		if (r < 0)
			return r;
		runs->word++;
		if (!--left || !loci_runs_goes_on(runs))
			break;
		ref++;
	}
	a->here.refs += (uint64_t)(runs->word - from);
	definition = (uint32_t)(ref - a->code.ref);
	loci_runs_read(runs, left);
	if (!left) {
		int r = loci_flow_ran(a, block, definition, 1, err);

		if (r < 0)
			return r;
	}
	return end_run(a, runs, ref, block, left, err);
}

LOCI_HOT int refer_runs(struct loci_attribution *a, struct loci_runs *runs, struct refer_kind kind,
	struct loci_err *err)
{
	int r;

	do {
		r = runs->left ? refer_run(a, runs, kind, err)
			       : loci_flow_plain(a, runs->block->definition - 1, 1, err);
		if (r == 0 && kind.plain && kind.flow && loci_attribution_is_quick(a))
			r = loci_attribution_quick(a, runs, err);
	} while (r == 0 && loci_runs_next(runs));
	return r;
}

/* Whether the definition is the last of its block. */
static bool is_last(const struct loci_attribution *a, uint32_t definition)
{
	return definition + 1 == a->code.n_refs ||
		a->code.block[definition + 1] != a->code.block[definition] ||
		a->code.ref[definition + 1].kind & LOCI_CODE_FIRST;
}

/* Bytes of a range are counted with the block that it stands in. */
static int count_range(struct loci_attribution *a, const struct loci_code_ref *of,
	uint32_t definition, uint64_t bytes, struct loci_err *err)
{
	struct loci_code_block *block = &a->code.blocks[of->block];
	struct loci_ran *ran;
	int r = 0;

	if (!block->ran || a->code.site[of->site].size_bytes)
		return 0;
	if (block->ran == LOCI_RAN_UNASKED)
		r = loci_flow_ask_ran(a, block, definition, err);
	ran = &a->executed.ran[block->ran];
	if (r == 0 && block->ran)
		*(of->is_write ? &ran->stored_bytes : &ran->loaded_bytes) += bytes;
	return r;
}

/* A reference that does not count here, unless it is a sample. */
static int leave_out(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	uint64_t size_bytes, bool is_access, struct loci_err *err)
{
	const struct loci_site *site = &a->code.site[ref->site];

	a->left_out += is_access && !a->sampler;
	if (!a->sampler || site->op >= LOCI_OP_FRAME)
		return 0;
	return loci_sampler_refer(a->sampler, a, ref, address,
		size_bytes ? size_bytes : site->size_bytes, a->paused || !is_access, err);
}

/* The same while references do not count, or only samples do: the flow of control is followed. */
LOCI_HOT int pass_run(struct loci_attribution *a, struct loci_runs *runs,
	struct loci_sampler_lean *lean, struct loci_err *err)
{
	const struct loci_code_ref *ref = a->code.ref + runs->next;
	struct loci_code_block *block = &a->code.blocks[ref->block];
	const struct refer_kind kind = { .flow = a->flow };
	const uint64_t *from = runs->word;
	uint32_t left = runs->left;

	for (;;) {
		int r = 0;

		if (ref->kind & LOCI_CODE_SPECIAL &&
			!passes(a, ref, &block, runs->word == from, kind))
			r = loci_flow_special(a, (uint32_t)(ref - a->code.ref), *runs->word, err);
		if (r == 0 && lean)
			r = loci_sampler_pass(a->sampler, a, lean, ref, *runs->word, err);
		else if (r >= 0)
			r = leave_out(a, ref, *runs->word, ref->size_bytes, r == 0, err);
		if (r < 0)
			return r;
		runs->word++;
		if (!--left || !loci_runs_goes_on(runs))
			break;
		ref++;
	}
	loci_runs_read(runs, left);
	return end_run(a, runs, ref, block, left, err);
}

/* The same of samples. */
static int sample_run(struct loci_attribution *a, struct loci_runs *runs, struct loci_err *err)
{
	struct loci_sampler_lean lean;
	int r;

	if (!loci_sampler_begin_lean(a->sampler, a, runs->left, &lean))
		return pass_run(a, runs, NULL, err);
	r = pass_run(a, runs, &lean, err);
	loci_sampler_end_lean(&lean);
	return r;
}

static int pass_runs(struct loci_attribution *a, struct loci_runs *runs, struct loci_err *err)
{
	bool samples = a->sampler && !a->paused;
	int r = 0;

	do {
		if (samples && !a->sampler->follows && !loci_attribution_skip(a, runs))
			break;
		r = !runs->left   ? loci_flow_plain(a, runs->block->definition - 1, 1, err)
			: samples ? sample_run(a, runs, err)
				  : pass_run(a, runs, NULL, err);
	} while (r == 0 && loci_runs_next(runs));
	return r;
}

/* A reference by itself: a range, or one that was not in a run. */
int loci_attribution_alone(
	struct loci_attribution *a, const struct loci_ref *ref, struct loci_err *err)
{
	const struct loci_code_ref *of = &a->code.ref[ref->definition];
	int r = 0;

	if (ref->size_bytes > REF_MAX_BYTES)
		return loci_err_set(err, EBADMSG,
			"a reference of %" PRIu64 " bytes at address 0x%" PRIx64 " after %" PRIu64
			" references: the trace is damaged",
			ref->size_bytes, ref->address, a->references + a->here.refs);
	if (of->kind & LOCI_CODE_SPECIAL)
		r = loci_flow_special(a, ref->definition, ref->address, err);
	if (r == 0 && a->distinct && !a->paused) {
		r = loci_distinct_again(
			a->distinct, of->site, (uint32_t)a->walk.at, ref->address, err);
		a->here.again += r > 0;
	}
	if (r >= 0 && (a->paused || a->sampler)) {
		int left = leave_out(a, of, ref->address, ref->size_bytes, r == 0, err);

		r = left < 0 ? left : r;
	} else if (r == 0) {
		r = loci_touch_refer(
			a, of, ref->address, ref->size_bytes, a->shift, a->n_grains == 1, err);
		a->here.refs += r == 0;
		if (r == 0)
			r = mark_bytes(a, of, ref->address, ref->size_bytes, err);
		if (r == 0)
			r = count_range(a, of, ref->definition, ref->size_bytes, err);
	}
	if (r >= 0 && is_last(a, ref->definition))
		r = loci_flow_ran(a, &a->code.blocks[of->block], ref->definition, 1, err);
	return r < 0 ? r
		     : loci_flow_end(a, of, &a->code.blocks[of->block], ref->definition,
			       ref->address, err);
}

static int switch_thread(struct loci_attribution *a, uint32_t thread, struct loci_err *err)
{
	int r = loci_flow_prepare(a, err);

	if (r < 0)
		return r;
	if (loci_walk_switch(&a->walk, thread) < 0 || reserve_threads(a, a->walk.n_threads) < 0 ||
		loci_stages_switch(&a->stages, a->walk.at) < 0)
		return loci_err_nomem(err);
	r = loci_flow_stage(a, err);
	loci_flow_refresh(a);
	return r;
}

/* Of references: touches follow. */
static int refer_in(struct loci_attribution *a, uint32_t thread, struct loci_err *err)
{
	int r = 0;

	if (thread != a->walk.thread[a->walk.at].id)
		r = switch_thread(a, thread, err);
	if (r == 0 && __builtin_expect(a->walk.at != a->members.toucher, 0))
		r = loci_attribution_turn(a, err);
	return r;
}

static int follow(struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	int r = loci_flow_prepare(a, err);

	if (r < 0)
		return r;
	if (event->kind == LOCI_MARK_SIGNAL_ENTER)
		r = loci_walk_signal_enter(&a->walk);
	else if (event->kind == LOCI_MARK_SIGNAL_LEAVE)
		loci_walk_signal_leave(&a->walk);
	else if (event->kind == LOCI_MARK_THREAD_EXIT)
		r = loci_executed_exit(&a->executed, (uint32_t)event->payload) < 0
			? -ENOMEM
			: loci_walk_exit(&a->walk, (uint32_t)event->payload);
	else if (event->kind == LOCI_MARK_WINDOW_END && a->walk.fixed)
		r = loci_walk_gap(&a->walk, event->thread);
	if (r < 0)
		return loci_err_nomem(err);
	loci_flow_refresh(a);
	if (event->kind == LOCI_MARK_THREAD_EXIT) {
		r = loci_attribution_leave(
			a, loci_keymap_get(&a->walk.thread_ids, (uint32_t)event->payload, 0), err);
		if (r < 0)
			return r;
	}
	return loci_code_event(&a->code, event, a->decoder, err);
}

/* What the program says of itself. Nothing else comes between what it changes and telling it. */
static int take_mark(
	struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	const char *name = "";
	int r = 0;

	if (event->kind == LOCI_MARK_REGION_BEGIN || event->kind == LOCI_MARK_REGION_END ||
		event->kind == LOCI_MARK_PHASE)
		name = loci_decoder_string(a->decoder, event->payload);
	if (!name)
		name = "?";
	switch (event->kind) {
	case LOCI_MARK_REGION_BEGIN:
		r = loci_stages_begin(&a->stages, a->walk.at, name);
		break;
	case LOCI_MARK_REGION_END:
		r = loci_stages_end(&a->stages, a->walk.at, name);
		break;
	case LOCI_MARK_PHASE:
		r = loci_stages_phase(&a->stages, name, a->references);
		break;
	case LOCI_MARK_THREAD_EXIT:
		r = loci_stages_leave(&a->stages,
			loci_keymap_get(&a->walk.thread_ids, (uint32_t)event->payload, 0),
			a->walk.at);
		break;
	case LOCI_MARK_PAUSE:
		a->paused = event->payload;
		return 0;
	default:
		return 0;
	}
	return r < 0 ? loci_err_nomem(err) : loci_flow_stage(a, err);
}

static int take_event(
	struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	int r = 0;

	if (event->thread != a->walk.thread[a->walk.at].id)
		r = switch_thread(a, event->thread, err);
	if (r == 0 && a->watched)
		r = loci_watch_blame_before(a->watched, a, event, err);
	if (r == 0)
		r = follow(a, event, err);
	if (r < 0)
		return r;
	loci_flow_count(a);
	r = take_mark(a, event, err);
	if (r < 0)
		return r;
	if (a->sampler) {
		r = loci_sampler_event(a->sampler, a, event, err);
		if (r < 0)
			return r;
	}
	if (a->watched) {
		r = loci_watch_blame_event(a->watched, a, event, err);
		if (r < 0)
			return r;
	}
	if (event->kind == LOCI_MARK_EXECUTED)
		return loci_flow_told(a, event, err);
	r = loci_objects_event(
		a->objects, event, a->decoder, &a->walk.level->shadow, a->references, err);
	if (r == 0 && event->kind == LOCI_MARK_ALLOC && event->raw[0])
		bear(a, event->raw[0]);
	if (r == 0 && event->kind == LOCI_MARK_RESIZE && event->raw[0] != event->raw[1])
		bear(a, event->raw[1]);
	return r;
}

/* What the decoder has defined since. */
static int learn(struct loci_attribution *a, struct loci_err *err)
{
	int r;

	if (loci_decoder_definitions(a->decoder) == a->code.n_refs)
		return 0;
	r = loci_code_learn(&a->code, a->decoder, err);
	if (r == 0 && loci_rows_reserve(&a->rows, a->code.n_sites) < 0)
		r = loci_err_nomem(err);
	return r;
}

int loci_attribution_runs(struct loci_attribution *a, struct loci_runs *first, struct loci_err *err)
{
	struct refer_kind kind = { a->shift == 6 && a->n_grains == 1 && !a->distinct &&
			!a->pieces && !a->footprint,
		a->flow };
	struct loci_runs runs = *first;
	int r;

	if (a->sampler && a->sampler->epochs->touches >= a->sampler->look)
		loci_sampler_look(a->sampler);
	if (a->paused || a->sampler)
		r = pass_runs(a, &runs, err);
	else if (kind.plain && kind.flow)
		r = refer_runs(a, &runs, (struct refer_kind){ true, true }, err);
	else
		r = refer_runs(a, &runs, kind, err);
	*first = runs;
	return r;
}

/* A block without references, that did not come in a run. */
static int take_plain(struct loci_attribution *a, const struct loci_event *event, uint64_t times,
	struct loci_err *err)
{
	int r = 0;

	if (event->thread != a->walk.thread[a->walk.at].id)
		r = switch_thread(a, event->thread, err);
	if (r == 0 && a->walk.fixed)
		r = loci_flow_plain(
			a, loci_decoder_defined(a->decoder, event->payload), times, err);
	return r;
}

/* The first of the runs has been found. */
static int take_runs(struct loci_attribution *a, struct loci_runs *first, struct loci_err *err)
{
	uint32_t thread = loci_decoder_thread(a->decoder);
	int r = learn(a, err);

	if (r == 0)
		r = refer_in(a, thread, err);
	return r < 0 ? r : loci_attribution_runs(a, first, err);
}

static int take_repeat(
	struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	struct loci_repeat repeat;
	int r;

	loci_decoder_repeat(a->decoder, event, &repeat);
	if (!repeat.n_refs)
		return take_plain(a, event, repeat.times, err);
	r = refer_in(a, event->thread, err);
	return r < 0 ? r : loci_attribution_repeat(a, &repeat, err);
}

/* Whether the word is a SWITCH to a thread whose next reference need not be looked at by itself, as
 * while samples are open or if it is one. */
static bool may_go_on(const struct loci_attribution *a, uint64_t word)
{
	uint64_t id = word - loci_mark_word(LOCI_MARK_SWITCH, 0, 0);
	const struct loci_sampler *s = a->sampler;
	uint32_t at;

	if (id > UINT32_MAX || !s)
		return id <= UINT32_MAX;
	if (s->follows)
		return false;
	at = loci_keymap_get(&a->walk.thread_ids, id, 0);
	return at < s->thread_cap && s->thread[at].next - s->thread[at].count > 1;
}

static int take_words(struct loci_attribution *a, const uint64_t *words, size_t n_words,
	void (*event)(void *data, const struct loci_event *event), void *data, struct loci_err *err)
{
	size_t pos = 0;

	if (__builtin_expect(a->cut != 0, 0) && n_words) {
		int r = heal_cut(a, words[0], err);

		if (r < 0)
			return r;
	}
	while (pos < n_words) {
		struct loci_event marker;
		struct loci_runs runs;
		struct loci_ref ref;
		size_t n;
		int fault, r = 0;

		if (loci_runs_begin(a->decoder, words, n_words, pos, &runs)) {
			runs.plain = a->walk.fixed;
			if (loci_runs_next(&runs))
				r = take_runs(a, &runs, err);
			loci_runs_end(a->decoder, &runs, words, &pos);
			if (r < 0)
				return r;
			if (pos == n_words)
				break;
		}
		if (may_go_on(a, words[pos])) {
			r = loci_decoder_switch(a->decoder, words, n_words, &pos, err);
			if (r < 0)
				return r;
			continue;
		}
		fault = loci_decoder_next(
			a->decoder, words, n_words, &pos, &ref, 1, &n, &marker, err);
		r = learn(a, err);
		if (r == 0 && n)
			r = refer_in(a, ref.thread, err);
		if (r == 0 && n)
			r = loci_attribution_alone(a, &ref, err);
		if (r == 0 && fault == 0 && marker.kind == LOCI_MARK_BLOCK) {
			r = take_plain(a, &marker, 1, err);
		} else if (r == 0 && fault == 0 && marker.kind == LOCI_MARK_RUN) {
			r = take_repeat(a, &marker, err);
		} else if (r == 0 && fault == 0 && marker.kind != LOCI_MARK_PAD) {
			r = take_event(a, &marker, err);
			event(data, &marker);
		}
		if (r < 0 || fault < 0)
			return r < 0 ? r : fault;
	}
	return 0;
}

int loci_attribution_words(struct loci_attribution *a, const uint64_t *words, size_t n_words,
	void (*event)(void *data, const struct loci_event *event), void *data, struct loci_err *err)
{
	int r = take_words(a, words, n_words, event, data, err);

	loci_flow_count(a);
	if (a->sampler)
		loci_sampler_look(a->sampler);
	return r;
}

/* The engines hear what they were not told. */
static void add_recent(struct loci_attribution *a)
{
	uint64_t near[LOCI_RECENT] = { 0 };

	for (size_t i = 0; i < a->rows.n; i++)
		for (unsigned k = 0; k < LOCI_RECENT; k++)
			near[k] += a->rows.row[i].near[k];
	loci_grain_add_recent(a->grain[0], &a->recent, near);
	if (a->measure.levels)
		loci_levels_add_recent(a->measure.levels, &a->recent);
}

int loci_attribution_finish(struct loci_attribution *a, struct loci_err *err)
{
	int r;

	loci_attribution_complete(a);
	r = loci_relay_finish(a->relay, err);
	for (unsigned i = 1; r == 0 && i < a->n_grains; i++)
		r = loci_side_flush(a->side[i - 1], err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < a->rows.site_cap; i++)
		loci_rows_settle(&a->rows, &a->rows.site[i]);
	if (a->recents)
		add_recent(a);
	loci_measure_finish(&a->measure);
	for (size_t i = 0; i < a->rows.n && i < a->measure.used_cap; i++)
		a->rows.row[i].used_bytes = a->measure.used_bytes[i];
	loci_grain_straddled(a->grain[0], a->straddles);
	return 0;
}
