// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/walk_state.h"

#include "analyse/grow.h"
#include "analyse/walk_quick.h"

#define SEARCHED_FRAMES 64         /* for the function of a block, or a return */
#define MAX_FRAMES      (1u << 20) /* of a level; the outer half is forgotten then */
#define LONGEST_CALL    15         /* bytes of an instruction */

static void level_fini(struct loci_walk_level *level)
{
	free(level->shadow.frame);
	free(level->frame);
	free(level->loop);
}

/* The outermost n frames go. */
static void unpin(struct loci_shadow *shadow, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (shadow->frame[i].pin)
			++*shadow->frame[i].pin;
}

void loci_walk_fini(struct loci_walk *walk)
{
	for (size_t i = 0; i < walk->n_threads; i++) {
		for (size_t k = 0; k < walk->thread[i].n; k++)
			level_fini(&walk->thread[i].level[k]);
		free(walk->thread[i].level);
	}
	free(walk->thread);
	free(walk->loop);
	free(walk->left);
	loci_keymap_fini(&walk->loop_ids);
	loci_contexts_fini(&walk->contexts);
	loci_keymap_fini(&walk->thread_ids);
	*walk = (struct loci_walk){ 0 };
}

/* The loops of the top frame are others. */
void loci_walk_refresh_loops(struct loci_walk *walk)
{
	const struct loci_walk_level *level = walk->level;
	const struct loci_loop_entry *entry;

	walk->loop_begin = walk->entry ? walk->entry - 1 : 0;
	walk->loop_end = UINT64_MAX;
	walk->innermost = LOCI_NO_LOOP;
	if (level->n_loops <= walk->frame->loops)
		return;
	entry = &level->loop[level->n_loops - 1];
	walk->loop_begin = entry->address;
	walk->loop_end = entry->end;
	if (walk->loop[entry->loop].proven)
		walk->innermost = entry->loop;
}

void loci_walk_refresh(struct loci_walk *walk)
{
	struct loci_walk_level *level = walk->level;
	const struct loci_shadow *shadow = &level->shadow;
	const struct loci_shadow_frame *top = shadow->n ? &shadow->frame[shadow->n - 1] : NULL;

	walk->frame = &level->frame[shadow->n];
	walk->base[1] = top ? top->address : 0;
	walk->entry = top ? top->entry : 0;
	walk->context = top ? top->context : level->root;
	walk->learns = !walk->fixed || loci_walk_is_plain(walk, walk->frame->function);
	loci_walk_refresh_loops(walk);
}

void loci_walk_cut_loops(struct loci_walk *walk, size_t n)
{
	if (n == walk->level->n_loops)
		return;
	walk->level->n_loops = n;
	loci_walk_log_loops(walk, (uint32_t)n, LOCI_NO_LOOP, 0);
}

static int push_level(struct loci_walk *walk, struct loci_walk_thread *thread)
{
	struct loci_walk_level *level;

	if (thread->n == LOCI_SIGNAL_DEPTH + 1) { /* handlers left by longjmp: forget the oldest */
		unpin(&thread->level[0].shadow, thread->level[0].shadow.n);
		level_fini(&thread->level[0]);
		memmove(thread->level, thread->level + 1, --thread->n * sizeof(*thread->level));
	}
	if (loci_grow(&thread->level, &thread->cap, thread->n + 1, sizeof(*thread->level)) < 0)
		return -ENOMEM;
	level = &thread->level[thread->n];
	*level = (struct loci_walk_level){
		.shadow.pins = true, .last = LOCI_NO_DEFINITION, .stack = walk->n_stacks++
	};
	if (loci_grow(&level->frame, &level->frame_cap, 1, sizeof(*level->frame)) < 0)
		return -ENOMEM;
	level->frame[0].function = LOCI_NO_FUNCTION;
	thread->n++;
	return 0;
}

static void enter_level(struct loci_walk *walk)
{
	struct loci_walk_thread *thread = &walk->thread[walk->at];

	walk->level = &thread->level[thread->n - 1];
	loci_walk_refresh(walk);
	loci_walk_log_loops(walk, (uint32_t)walk->level->n_loops, LOCI_NO_LOOP, 0);
}

int loci_walk_switch(struct loci_walk *walk, uint32_t id)
{
	uint32_t i = loci_keymap_get(&walk->thread_ids, id, 0);

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)walk->n_threads;
		if (loci_grow(&walk->thread, &walk->thread_cap, i + 1, sizeof(*walk->thread)) < 0 ||
			push_level(walk, &walk->thread[i]) < 0 ||
			loci_keymap_put(&walk->thread_ids, id, 0, i) < 0)
			return -ENOMEM;
		walk->thread[i].id = id;
		walk->n_threads++;
	}
	walk->at = i;
	enter_level(walk);
	return 0;
}

int loci_walk_init(struct loci_walk *walk, struct loci_code *code)
{
	*walk = (struct loci_walk){ .code = code, .n_loops = 1, .fixed = code->options.fixed };
	if (loci_contexts_init(&walk->contexts) < 0 ||
		loci_grow(&walk->loop, &walk->loop_cap, 1, sizeof(*walk->loop)) < 0)
		return -ENOMEM;
	return loci_walk_switch(walk, 0);
}

int loci_walk_signal_enter(struct loci_walk *walk)
{
	if (push_level(walk, &walk->thread[walk->at]) < 0)
		return -ENOMEM;
	enter_level(walk);
	return 0;
}

void loci_walk_pop_frames(struct loci_walk *walk, size_t n)
{
	struct loci_walk_level *level = walk->level;
	struct loci_shadow *shadow = &level->shadow;
	size_t loops = level->n_loops;

	while (shadow->n > n) {
		uint32_t *pin = shadow->frame[shadow->n - 1].pin;

		if (pin)
			++*pin;
		if (walk->fixed)
			loci_walk_leave_frame(walk, shadow->n - 1);
		loops = level->frame[shadow->n--].loops;
	}
	loci_walk_cut_loops(walk, loops);
	loci_walk_refresh(walk);
}

void loci_walk_signal_leave(struct loci_walk *walk)
{
	struct loci_walk_thread *thread = &walk->thread[walk->at];

	loci_walk_pop_frames(walk, 0);
	if (thread->n > 1)
		level_fini(&thread->level[--thread->n]);
	enter_level(walk);
}

int loci_walk_exit(struct loci_walk *walk, uint32_t id)
{
	uint32_t current = walk->thread[walk->at].id;
	struct loci_walk_thread *thread;

	if (loci_walk_switch(walk, id) < 0)
		return -ENOMEM;
	thread = &walk->thread[walk->at];
	while (thread->n > 1)
		loci_walk_signal_leave(walk);
	loci_walk_pop_frames(walk, 0);
	walk->level->last = LOCI_NO_DEFINITION;
	walk->level->root = LOCI_CONTEXT_ROOT;
	walk->level->frame[0].function = LOCI_NO_FUNCTION;
	return loci_walk_switch(walk, current);
}

int loci_walk_gap(struct loci_walk *walk, uint32_t id)
{
	uint32_t i;

	if (loci_walk_exit(walk, id) < 0)
		return -ENOMEM;
	i = loci_keymap_get(&walk->thread_ids, id, 0);
	/* nothing that was left on this stack is come back to */
	walk->thread[i].level[0].stack = walk->n_stacks++;
	if (i == walk->at)
		enter_level(walk);
	return 0;
}

/* A recursion without end must not take all memory. */
static void forget_half(struct loci_walk *walk)
{
	struct loci_walk_level *level = walk->level;
	struct loci_shadow *shadow = &level->shadow;
	size_t half = shadow->n / 2;

	unpin(shadow, half);
	memmove(shadow->frame, shadow->frame + half, half * sizeof(*shadow->frame));
	memmove(level->frame + 1, level->frame + 1 + half, half * sizeof(*level->frame));
	shadow->n = half;
}

int loci_walk_push_frame(struct loci_walk *walk, const struct loci_shadow_frame *frame,
	uint32_t function, uint64_t last)
{
	struct loci_walk_level *level = walk->level;
	struct loci_shadow *shadow = &level->shadow;
	size_t n;

	if (shadow->n == MAX_FRAMES)
		forget_half(walk);
	n = shadow->n;
	if (loci_grow(&shadow->frame, &shadow->cap, n + 1, sizeof(*shadow->frame)) < 0 ||
		loci_grow(&level->frame, &level->frame_cap, n + 2, sizeof(*level->frame)) < 0)
		return -ENOMEM;
	shadow->frame[n] = *frame;
	level->frame[n + 1] = (struct loci_walk_frame){
		.last = last, .function = function, .loops = (uint32_t)level->n_loops
	};
	shadow->n++;
	loci_walk_refresh(walk);
	return 0;
}

/* A frame at the very address of one before is its replacement, by a jump (the stub of a procedure
 * linkage table, a tail call): it was called from where that was called. */
int loci_walk_enter(struct loci_walk *walk, uint32_t definition, uint64_t frame_address)
{
	const struct loci_shadow *shadow = &walk->level->shadow;
	const struct loci_code *code = walk->code;
	uint32_t last = walk->level->last, context, parent, call = LOCI_NO_SITE;
	uint64_t call_address = 0, entry = code->address[definition];
	size_t n = shadow->n;

	if (walk->fixed)
		return loci_walk_enter_fixed(walk, definition, frame_address);
	if (last != LOCI_NO_DEFINITION) {
		call = code->ref[last].site;
		call_address = code->address[last];
	}
	while (n && shadow->frame[n - 1].address < frame_address)
		n--;
	if (n && shadow->frame[n - 1].address == frame_address) {
		const struct loci_shadow_frame *replaced = &shadow->frame[--n];

		parent = walk->contexts.node[replaced->context].parent;
		call = walk->contexts.node[replaced->context].call;
		call_address = replaced->call_site;
	} else {
		parent = n ? shadow->frame[n - 1].context : LOCI_CONTEXT_ROOT;
	}
	if (n < shadow->n)
		loci_walk_pop_frames(walk, n);
	if (loci_contexts_child(
		    &walk->contexts, parent, code->ref[definition].site, call, &context) < 0)
		return -ENOMEM;
	return loci_walk_push_frame(walk,
		&(struct loci_shadow_frame){ .address = frame_address,
			.entry = entry,
			.module = code->blocks[code->block[definition]].module,
			.context = context,
			.call_site = call_address },
		code->ref[definition].site, entry);
}

void loci_walk_return(struct loci_walk *walk, uint64_t address)
{
	const struct loci_shadow *shadow = &walk->level->shadow;

	for (size_t n = shadow->n, i = 0; n && i < SEARCHED_FRAMES; n--, i++) {
		if (shadow->frame[n - 1].address > address)
			return;
		if (shadow->frame[n - 1].address == address) {
			loci_walk_pop_frames(walk, n - 1);
			return;
		}
	}
}

/* The block is known to belong to another function than the top frame's: to that of a frame further
 * out, which so is the top, or it was learnt wrongly. A block seen for the first time right after
 * the call in the frame below belongs there. */
static void settle(struct loci_walk *walk, struct loci_code_block *block)
{
	const struct loci_walk_level *level = walk->level;
	const struct loci_shadow *shadow = &level->shadow;

	if (block->function != LOCI_NO_SITE) {
		for (size_t n = shadow->n, i = 0; n && i < SEARCHED_FRAMES; n--, i++)
			if (level->frame[n - 1].function == block->function) {
				loci_walk_pop_frames(walk, n - 1);
				return;
			}
	} else if (shadow->n) {
		uint64_t call = shadow->frame[shadow->n - 1].call_site;

		if (call && block->address - call - 1 < LONGEST_CALL &&
			level->frame[shadow->n].function != level->frame[shadow->n - 1].function)
			loci_walk_pop_frames(walk, shadow->n - 1);
	}
	block->function = walk->frame->function;
}

static int new_loop(struct loci_walk *walk, struct loci_code_block *block)
{
	struct loci_loop *loop;

	if (loci_grow(&walk->loop, &walk->loop_cap, walk->n_loops + 1, sizeof(*walk->loop)) < 0)
		return -ENOMEM;
	loop = &walk->loop[walk->n_loops];
	*loop = (struct loci_loop){ .address = block->address,
		.end = block->address,
		.offset = block->offset,
		.module = block->symbol_module,
		.function = walk->fixed ? walk->code->function[walk->frame->function].site
					: walk->frame->function };
	block->loop = (uint32_t)walk->n_loops++;
	return loci_code_header(walk->code, (uint32_t)(block - walk->code->blocks));
}

int loci_walk_push_loop(struct loci_walk *walk, uint32_t number)
{
	struct loci_walk_level *level = walk->level;
	const struct loci_loop *loop = &walk->loop[number];

	if (loci_grow(&level->loop, &level->loop_cap, level->n_loops + 1, sizeof(*level->loop)) < 0)
		return -ENOMEM;
	level->loop[level->n_loops] = (struct loci_loop_entry){
		.address = loop->address, .end = loop->end, .time = ++walk->clock, .loop = number
	};
	loci_walk_log_loops(walk, (uint32_t)level->n_loops++, loop->proven ? number : LOCI_UNPROVEN,
		walk->clock);
	walk->loop_begin = loop->address;
	walk->loop_end = loop->end;
	walk->innermost = loop->proven ? number : LOCI_NO_LOOP;
	return 0;
}

/* The loops of the frame that are left when control is here: those that neither begin after here
 * nor end before. */
static size_t running(const struct loci_walk *walk, uint64_t address)
{
	const struct loci_walk_level *level = walk->level;
	size_t n = level->n_loops;

	while (n > walk->frame->loops &&
		(level->loop[n - 1].address > address || level->loop[n - 1].end < address))
		n--;
	return n;
}

static void come_back(struct loci_loop *loop, uint64_t from)
{
	loop->iterations++;
	if (loop->end < from)
		loop->end = from;
}

/* Control is back at the header of entry n - 1. */
static void iterate(struct loci_walk *walk, size_t n)
{
	struct loci_loop_entry *entry = &walk->level->loop[n - 1];
	struct loci_loop *loop = &walk->loop[entry->loop];

	loci_walk_cut_loops(walk, n);
	come_back(loop, walk->frame->last);
	entry->end = loop->end;
	if (!loop->proven)
		loci_walk_log_loops(walk, (uint32_t)(n - 1), entry->loop, entry->time);
	loop->proven = true;
	walk->loop_begin = entry->address;
	walk->loop_end = loop->end;
	walk->innermost = entry->loop;
}

/* What most turns are does what loci_walk_turn does below, with less to look at. */
bool loci_walk_turn_plainly(struct loci_walk *walk, const struct loci_code_block *block)
{
	const struct loci_walk_level *level = walk->level;
	struct loci_walk_untold untold = loci_walk_all_told(walk);
	const struct loci_loop_entry *top;
	uint64_t use = 0;

	if (!walk->learns)
		return loci_walk_turn_fixed_plainly(walk, block);
	if (!loci_walk_turn_quickly(walk, block, walk->frame->last, false, &untold, &use))
		return false;
	top = level->loop + level->n_loops - 1;
	if (level->n_loops > untold.told)
		loci_walk_log_loops(walk, (uint32_t)untold.told,
			walk->innermost ? top->loop : LOCI_UNPROVEN, top->time);
	else if (level->n_loops < untold.told)
		loci_walk_log_loops(walk, (uint32_t)level->n_loops, LOCI_NO_LOOP, 0);
	return true;
}

int loci_walk_turn(struct loci_walk *walk, struct loci_code_block *block, bool again)
{
	const struct loci_walk_level *level = walk->level;
	uint64_t last;
	bool back;
	size_t n;

	if (block->flags & LOCI_CODE_KERNEL && !walk->fixed)
		return 0;
	if (block->function != walk->frame->function) {
		if (!walk->fixed)
			settle(walk, block);
		else if (loci_walk_settle_fixed(walk, block->function) < 0)
			return -ENOMEM;
		level = walk->level;
	}
	if (!walk->learns)
		return loci_walk_turn_fixed(walk, block);
	/* before its function's entry: a compiler puts what it thinks rare apart */
	if (block->address < walk->entry) {
		block->flags |= LOCI_CODE_OUTSIDE;
		return 0;
	}
	last = walk->frame->last;
	back = block->address < last || (block->address == last && again);
	n = running(walk, block->address);
	if (back && n > walk->frame->loops && level->loop[n - 1].address == block->address) {
		iterate(walk, n);
	} else {
		if (n > walk->frame->loops && level->loop[n - 1].address == block->address)
			n--; /* entered anew */
		if (n != level->n_loops) {
			loci_walk_cut_loops(walk, n);
			loci_walk_refresh_loops(walk);
		}
		if (back && !block->loop && new_loop(walk, block) < 0)
			return -ENOMEM;
		if (back)
			come_back(&walk->loop[block->loop], last);
		if (block->loop && loci_walk_push_loop(walk, block->loop) < 0)
			return -ENOMEM;
	}
	return 0;
}
