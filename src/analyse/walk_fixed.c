// SPDX-License-Identifier: GPL-2.0-or-later
/* Where threads are in fixed code: which function a block belongs to and which loops are around it
 * is known; when functions return is not told. */
#include "analyse/walk_state.h"

#include "analyse/grow.h"

/* Frames. */

void loci_walk_leave_frame(struct loci_walk *walk, size_t i)
{
	const struct loci_walk_level *level = walk->level;
	const struct loci_shadow_frame *frame = &level->shadow.frame[i];
	uint32_t function = level->frame[i + 1].function;

	if (function < walk->left_cap)
		walk->left[function] = (struct loci_walk_left){ .address = frame->address,
			.last = level->frame[i + 1].last,
			.call_site = frame->call_site,
			.context = frame->context,
			.stack = level->stack + 1 };
}

static int push(struct loci_walk *walk, uint32_t function, uint64_t address, uint64_t call_site,
	uint32_t context, uint64_t last)
{
	const struct loci_code *code = walk->code;

	if (loci_grow(&walk->left, &walk->left_cap, code->n_functions, sizeof(*walk->left)) < 0)
		return -ENOMEM;
	return loci_walk_push_frame(walk,
		&(struct loci_shadow_frame){ .address = address,
			.entry = code->function[function].address,
			.module = code->function[function].module,
			.context = context,
			.call_site = call_site },
		function, last);
}

/* How many frames are left where all at or below an address are gone. */
static size_t frames_above(const struct loci_walk *walk, uint64_t address)
{
	const struct loci_shadow *shadow = &walk->level->shadow;
	size_t n = shadow->n;

	while (n && shadow->frame[n - 1].address <= address)
		n--;
	return n;
}

/* Code runs of a function that has no frame. The frames that are there were entered while it did
 * not run: they are of another stack, or were called by it and have returned. */
static int come_back(struct loci_walk *walk, uint32_t function)
{
	struct loci_walk_level *level = walk->level;
	struct loci_walk_left left = { 0 };

	if (function < walk->left_cap)
		left = walk->left[function];
	if (left.stack == level->stack + 1) {
		loci_walk_pop_frames(walk, frames_above(walk, left.address));
		return push(walk, function, left.address, left.call_site, left.context, left.last);
	}
	loci_walk_pop_frames(walk, 0);
	loci_walk_cut_loops(walk, 0);
	if (loci_contexts_child(&walk->contexts, LOCI_CONTEXT_ROOT,
		    walk->code->function[function].site, LOCI_NO_SITE, &level->root) < 0)
		return -ENOMEM;
	level->frame[0].function = function;
	level->frame[0].last = 0;
	loci_walk_refresh(walk);
	return 0;
}

bool loci_walk_is_plain(const struct loci_walk *walk, uint32_t function)
{
	return function < walk->code->n_functions && walk->code->function[function].plain;
}

int loci_walk_settle_fixed(struct loci_walk *walk, uint32_t function)
{
	const struct loci_walk_level *level = walk->level;

	for (size_t n = level->shadow.n + 1; n-- > 0;)
		if (level->frame[n].function == function) {
			loci_walk_pop_frames(walk, n);
			return 0;
		}
	return come_back(walk, function);
}

int loci_walk_plain(struct loci_walk *walk, uint32_t function)
{
	return loci_walk_settle_fixed(walk, function);
}

static int enter(struct loci_walk *walk, uint32_t definition, uint64_t frame_address, uint32_t call,
	uint64_t call_address)
{
	const struct loci_code *code = walk->code;
	uint32_t function = code->blocks[code->block[definition]].function, context;

	if (loci_contexts_child(&walk->contexts, walk->context, code->function[function].site, call,
		    &context) < 0)
		return -ENOMEM;
	return push(walk, function, frame_address, call_address, context, 0);
}

int loci_walk_enter_fixed(struct loci_walk *walk, uint32_t definition, uint64_t frame_address)
{
	const struct loci_code *code = walk->code;

	loci_walk_pop_frames(walk, frames_above(walk, frame_address));
	if (definition + 1 < code->n_refs &&
		code->block[definition + 1] == code->block[definition] &&
		code->ref[definition + 1].kind & LOCI_CODE_CALLER) {
		walk->level->entering = frame_address;
		walk->level->entering_last = walk->frame->last;
		return 0;
	}
	return enter(walk, definition, frame_address, LOCI_NO_SITE, 0);
}

int loci_walk_called(struct loci_walk *walk, uint32_t definition, uint64_t return_address)
{
	const struct loci_code_call *call;
	struct loci_err err;

	walk->frame->last = walk->level->entering_last;
	if (loci_code_call(walk->code, return_address, &call, &err) < 0)
		return -ENOMEM;
	if (call->function != LOCI_NO_FUNCTION && call->function != walk->frame->function &&
		loci_walk_settle_fixed(walk, call->function) < 0)
		return -ENOMEM;
	return enter(walk, definition, walk->level->entering, call->site, return_address - 1);
}

/* Loops. */

static int number_loop(struct loci_walk *walk, uint32_t module, uint64_t name, uint32_t *ret,
	struct loci_err *err);

static int new_loop(
	struct loci_walk *walk, uint32_t module, uint64_t name, uint32_t *ret, struct loci_err *err)
{
	struct loci_loop_name known;
	struct loci_loop loop = { .offset = name, .module = module, .proven = true, .fixed = true };
	int r = loci_symbols_loop(walk->code->options.symbols, module, name, &known, err);

	*ret = LOCI_NO_LOOP;
	if (r <= 0)
		return r;
	/* parents stand before what is in them, so this ends */
	if (known.parent && known.parent < name)
		r = number_loop(walk, module, known.parent, &loop.parent, err);
	if (r < 0)
		return r;
	loop.depth = walk->loop[loop.parent].depth + 1;
	if (loop.depth > LOCI_LOOP_DEPTH) {
		*ret = loop.parent;
		return 0;
	}
	if (loci_grow(&walk->loop, &walk->loop_cap, walk->n_loops + 1, sizeof(*walk->loop)) < 0)
		return loci_err_nomem(err);
	*ret = (uint32_t)walk->n_loops;
	walk->loop[walk->n_loops++] = loop;
	return 0;
}

static int number_loop(
	struct loci_walk *walk, uint32_t module, uint64_t name, uint32_t *ret, struct loci_err *err)
{
	int r;

	*ret = loci_keymap_get(&walk->loop_ids, name, module);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	r = new_loop(walk, module, name, ret, err);
	if (r == 0 && loci_keymap_put(&walk->loop_ids, name, module, *ret) < 0)
		r = loci_err_nomem(err);
	return r;
}

/* The innermost loop around a block. */
static int ask(struct loci_walk *walk, struct loci_code_block *block)
{
	const struct loci_code_options *code = &walk->code->options;
	struct loci_symbol_site site;
	struct loci_err err;
	int r;

	block->loop = LOCI_NO_LOOP;
	if (block->symbol_module == LOCI_NO_MODULE)
		return 0;
	pthread_mutex_lock(code->symbols_lock);
	r = loci_symbols_site(code->symbols, block->symbol_module, block->offset, &site, &err);
	if (r > 0 && site.loop)
		r = number_loop(walk, block->symbol_module, site.loop, &block->loop, &err);
	pthread_mutex_unlock(code->symbols_lock);
	return r < 0 ? -ENOMEM : 0;
}

/* Whether a loop is another or around it. */
static bool holds(const struct loci_walk *walk, uint32_t loop, uint32_t inner)
{
	while (inner && walk->loop[inner].depth > walk->loop[loop].depth)
		inner = walk->loop[inner].parent;
	return inner == loop;
}

/* Into the loops around a block that do not run yet. */
static int enter_loops(struct loci_walk *walk, uint32_t innermost)
{
	const struct loci_walk_level *level = walk->level;
	uint32_t way[LOCI_LOOP_DEPTH], running = LOCI_NO_LOOP;
	size_t n = 0;

	if (level->n_loops > walk->frame->loops)
		running = level->loop[level->n_loops - 1].loop;
	for (; innermost != running && innermost; innermost = walk->loop[innermost].parent)
		way[n++] = innermost;
	while (n--)
		if (loci_walk_push_loop(walk, way[n]) < 0)
			return -ENOMEM;
	return 0;
}

/* A block whose loop is known. */
static int turn(struct loci_walk *walk, const struct loci_code_block *block)
{
	const struct loci_walk_level *level = walk->level;
	size_t n;

	for (n = level->n_loops;
		n > walk->frame->loops && !holds(walk, level->loop[n - 1].loop, block->loop);)
		n--;
	loci_walk_cut_loops(walk, n);
	if (n > walk->frame->loops && block->address <= walk->frame->last)
		walk->loop[level->loop[n - 1].loop].iterations++;
	if (enter_loops(walk, block->loop) < 0)
		return -ENOMEM;
	loci_walk_refresh_loops(walk);
	return 0;
}

int loci_walk_turn_fixed(struct loci_walk *walk, struct loci_code_block *block)
{
	if (block->loop == LOCI_LOOP_UNASKED && ask(walk, block) < 0)
		return -ENOMEM;
	return turn(walk, block);
}

/* Into one more loop than the n that stay. */
static void enter_one(struct loci_walk *walk, size_t n, uint32_t number)
{
	struct loci_walk_level *level = walk->level;
	const struct loci_loop *loop = &walk->loop[number];

	level->loop[n] = (struct loci_loop_entry){
		.address = loop->address, .end = loop->end, .time = ++walk->clock, .loop = number
	};
	level->n_loops = n + 1;
	walk->loop_end = loop->end;
	walk->innermost = number;
	loci_walk_log_loops(walk, (uint32_t)n, number, walk->clock);
}

/* Out of the innermost loop, into the one around it or none. */
static void leave_one(struct loci_walk *walk, size_t n, uint32_t number)
{
	struct loci_walk_level *level = walk->level;

	level->n_loops = n;
	walk->loop_end = number ? level->loop[n - 1].end : UINT64_MAX;
	walk->innermost = number;
	loci_walk_log_loops(walk, (uint32_t)n, LOCI_NO_LOOP, 0);
}

/* As turn, of what most turns are: one loop is entered, one is left, or both. The loops of a frame
 * that run are each the parent of the next. */
static bool turn_by_one(struct loci_walk *walk, const struct loci_code_block *block)
{
	const struct loci_walk_level *level = walk->level;
	size_t n = level->n_loops, base = walk->frame->loops;
	uint32_t number = block->loop, parent = walk->loop[number].parent;
	uint32_t inner = n > base ? level->loop[n - 1].loop : LOCI_NO_LOOP, outer;
	bool back = block->address <= walk->frame->last;

	if (number && inner == parent) {
		walk->loop[inner].iterations += back && inner;
		enter_one(walk, n, number);
		return true;
	}
	if (!inner || inner == number)
		return false;
	outer = n - 1 > base ? level->loop[n - 2].loop : LOCI_NO_LOOP;
	if (outer != number && (!number || outer != parent))
		return false;
	walk->loop[outer].iterations += back && outer;
	if (outer == number)
		leave_one(walk, n - 1, number);
	else
		enter_one(walk, n - 1, number);
	return true;
}

bool loci_walk_turn_fixed_plainly(struct loci_walk *walk, const struct loci_code_block *block)
{
	struct loci_walk_level *level = walk->level;

	/* room for all loops that may begin, so that it cannot fail half-way */
	if (block->loop == LOCI_LOOP_UNASKED ||
		loci_grow(&level->loop, &level->loop_cap, level->n_loops + LOCI_LOOP_DEPTH,
			sizeof(*level->loop)) < 0)
		return false;
	return turn_by_one(walk, block) || turn(walk, block) == 0;
}
