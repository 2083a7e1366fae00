// SPDX-License-Identifier: GPL-2.0-or-later
/* Most executions of blocks follow the one before or turn a loop, are whole, and refer to what
 * their sites referred to before, in one of the most recent blocks. This loop does those and
 * nothing else, with as little as can be: where control was last and which loops run is only
 * written down when somebody else is to know it. All that is not as usual is left to who does the
 * rest (attribute.c), or to functions apart. */
#include "analyse/attribute_quick.h"

#include "analyse/attribute_flow.h"
#include "analyse/walk_quick.h"

LOCI_HOT struct loci_loop_event loop_event(
	const struct loci_walk *walk, uint32_t touch, size_t length, uint32_t loop, uint64_t time)
{
	return (struct loci_loop_event){ .touch = touch,
		.stack = walk->level->stack,
		.length = (uint32_t)length,
		.loop = loop,
		.time = time };
}

/* Which loops run, before the next touch is told. They are few enough for the room there is. */
LOCI_HOT void put_loops(struct loci_attribution *a, size_t kept)
{
	struct loci_walk *walk = &a->walk;
	const struct loci_loop_entry *entry = walk->level->loop + kept;
	size_t n_log = walk->n_log, n = walk->level->n_loops;
	uint32_t touch = (uint32_t)a->batch->n;

	if (kept == n)
		walk->log[n_log++] = loop_event(walk, touch, n, LOCI_NO_LOOP, 0);
	for (; kept < n; kept++, entry++)
		walk->log[n_log++] = loop_event(walk, touch, kept,
			walk->loop[entry->loop].proven ? entry->loop : LOCI_UNPROVEN, entry->time);
	walk->n_log = n_log;
}

static __attribute__((noinline)) int flush_and_put(
	struct loci_attribution *a, size_t kept, struct loci_err *err)
{
	int r = loci_attribution_flush(a, err);

	if (r == 0)
		put_loops(a, kept);
	return r;
}

static __attribute__((noinline)) int tell_loops(
	struct loci_attribution *a, size_t kept, struct loci_err *err)
{
	if (!a->walk.log)
		return 0;
	if (__builtin_expect(a->walk.n_log + LOCI_LOOP_EVENTS > LOCI_BATCH_EVENTS, 0))
		return flush_and_put(a, kept, err);
	put_loops(a, kept);
	return 0;
}

LOCI_HOT int settle_loops(
	struct loci_attribution *a, struct loci_walk_untold *untold, struct loci_err *err)
{
	size_t kept = untold->kept;

	if (__builtin_expect(loci_walk_is_told(&a->walk, *untold), 1))
		return 0;
	*untold = loci_walk_all_told(&a->walk);
	return tell_loops(a, kept, err);
}

/* The last instruction seen was this reference's; NULL: the walk knows. */
LOCI_HOT void settle_last(struct loci_attribution *a, const struct loci_code_ref *ref)
{
	if (!ref)
		return;
	a->walk.level->last = (uint32_t)(ref - a->code.ref);
	a->walk.frame->last = ref->address;
}

/* A reference elsewhere than its site's last, or to several blocks. */
static __attribute__((noinline)) int refer_slowly(struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, struct loci_err *err)
{
	uint64_t size_bytes = ref->size_bytes;

	if (!size_bytes)
		size_bytes = a->code.site[ref->site].size_bytes;
	return loci_touch_refer(a, ref, address, size_bytes, 6, true, err);
}

/* The flow of control at a special reference that needs more than loci_walk_turn_quickly; the walk
 * knows all. 1: it is no reference that counts. */
static __attribute__((noinline)) int turn(struct loci_attribution *a,
	const struct loci_code_ref *ref, const struct loci_code_block *block, uint64_t address,
	struct loci_err *err)
{
	if (!a->walk.learns && loci_flow_passes(a, ref, block))
		return 0;
	return loci_flow_special(a, (uint32_t)(ref - a->code.ref), address, err);
}

/* A block that starts with the instruction that was last: whether it is this again, and the
 * innermost loop's header, as where one instruction goes round (walk.h). */
LOCI_HOT bool comes_again(struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block, const struct loci_code_ref *seen, uint64_t last)
{
	return a->walk.learns && block->loop && block->address == last && seen &&
		(seen->is_write || !ref->is_write) &&
		loci_walk_again_quickly(&a->walk, block->loop, last);
}

/* What loci_touch_enters does, where all places are taken. True: the batch is full. */
static __attribute__((noinline)) bool enter(struct loci_attribution *a, struct loci_row_site *site,
	uint64_t block, uint64_t use, uint8_t is_write, uint64_t bytes)
{
	struct loci_batch *b = a->batch;
	struct loci_recent *recent = &a->recent;
	unsigned place = loci_recent_take_full(recent);
	size_t n = b->n++;

	site->place = (uint8_t)place;
	b->left[n] = recent->use[place];
	b->bytes[n] = recent->bytes[place];
	b->left_time[n] = recent->time[place];
	b->farthest[n] = recent->farthest[place];
	b->place[n] = (uint8_t)place;
	b->block[n] = block;
	b->use[n] = use;
	b->born[n] = site->born;
	b->is_write[n] = is_write;
	b->time[n] = ++recent->now;
	recent->time[place] = recent->now;
	recent->low[place] = (uint32_t)block;
	recent->block[place] = block;
	recent->use[place] = use;
	recent->bytes[place] = bytes;
	recent->farthest[place] = 0;
	recent->written[place] = is_write;
	return n + 1 == LOCI_BATCH;
}

/* Of a reference to one block, whose site knows its row. */
LOCI_HOT int touch(struct loci_attribution *a, const struct loci_code_ref *ref,
	struct loci_row_site *site, uint64_t address, struct loci_walk_untold *untold,
	struct loci_err *err)
{
	uint64_t block = (address >> 6) + ((uint64_t)site->generation << LOCI_GENERATION_BITS);
	uint64_t use = a->use | site->row | (uint64_t)ref->is_write << LOCI_USE_WRITE;
	uint64_t bytes = ref->bytes << (address & 63);
	unsigned place = site->place, touch;
	int r;

	if (a->recent.block[place] != block) {
		place = loci_recent_find_full(&a->recent, block);
		if (place == LOCI_RECENT) {
			r = settle_loops(a, untold, err);
			if (r == 0 && enter(a, site, block, use, ref->is_write, bytes))
				r = loci_attribution_flush(a, err);
			return r;
		}
		site->place = (uint8_t)place;
	}
	touch = loci_recent_touch_full(&a->recent, place, ref->is_write, use, bytes);
	if (__builtin_expect(touch & LOCI_RECENT_STAYS, 0)) {
		r = settle_loops(a, untold, err);
		return r < 0 ? r : loci_touch_stays(a, site, touch, place, err);
	}
	a->here.near[touch]++;
	site->near[touch]++; /* with refs, which tell when they are many */
	return 0;
}

LOCI_HOT int refer(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct loci_walk_untold *untold, struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];

	if (__builtin_expect(!loci_touch_holds(a, site, address), 0) ||
		__builtin_expect((int)(address & 63) > ref->room, 0)) {
		int r = settle_loops(a, untold, err);

		return r < 0 ? r : refer_slowly(a, ref, address, err);
	}
	loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	return touch(a, ref, site, address, untold, err);
}

/* Whether an execution is of references alone, and all its words are there; at: its first. */
LOCI_HOT bool is_usual(const struct loci_block *of, const uint64_t *at, const uint64_t *end)
{
	return of->n_words == of->n_refs && of->n_refs && (size_t)(end - at) >= of->n_refs &&
		!loci_word_is_marker(*at);
}

LOCI_HOT bool is_plain_start(const struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block)
{
	return (ref->kind & LOCI_CODE_SPECIAL) == LOCI_CODE_FIRST && !block->flags &&
		block->function == a->walk.frame->function;
}

int loci_attribution_quick(struct loci_attribution *a, struct loci_runs *runs, struct loci_err *err)
{
	struct loci_walk_untold untold = loci_walk_all_told(&a->walk);
	const struct loci_block *of = runs->left == runs->block->n_refs ? runs->block : NULL;
	const struct loci_code_ref *seen = NULL; /* the last reference; NULL: the walk knows */
	const uint64_t *word = runs->word, *const end = runs->end;
	uint64_t last = a->walk.frame->last; /* address of the last instruction seen */
	int r;

	while (word < end) {
		uint64_t id = *word - LOCI_RUNS_BLOCK;
		const struct loci_block *next = of;
		const uint64_t *from = word;
		const struct loci_code_ref *ref;
		struct loci_code_block *block;
		uint32_t left;

		if (__builtin_expect(id < runs->n_direct, 1)) {
			next = &runs->direct[id];
			from++;
		} else if (loci_word_is_marker(*word) || !of) {
			break;
		}
		if (!is_usual(next, from, end))
			break;
		of = next;
		word = from;
		left = of->n_refs;
		ref = a->code.ref + of->first;
		block = &a->code.blocks[ref->block];
		if (__builtin_expect(!is_plain_start(a, ref, block), 0))
			goto special;
		if (!loci_walk_turn_quickly(&a->walk, block, last, &untold, &a->use) &&
			!comes_again(a, ref, block, seen, last))
			goto special;
		for (;;) {
			r = refer(a, ref, *word++, &untold, err);
		after:
			if (__builtin_expect(r < 0, 0))
				return r;
			if (!--left)
				break;
			if (__builtin_expect(loci_word_is_marker(*word), 0))
				goto part;
			ref++;
			if (__builtin_expect(ref->kind & LOCI_CODE_SPECIAL, 0)) {
				if (!block->flags)
					seen = ref - 1;
				else
					loci_flow_leave(a, ref - 1, block,
						(uint32_t)(ref - 1 - a->code.ref));
				block = &a->code.blocks[ref->block];
				goto special;
			}
		}
		a->here.refs += of->n_refs;
		if (__builtin_expect(block->ran | block->flags, 0)) {
			r = loci_flow_ran(a, block, (uint32_t)(ref - a->code.ref), 1, err);
			if (r < 0)
				return r;
			if (block->flags)
				goto ends;
		}
		seen = ref;
		last = ref->address;
		if (!loci_flow_may_return(a, ref, word[-1]))
			continue;
	ends:
		settle_last(a, seen);
		seen = NULL;
		r = settle_loops(a, &untold, err);
		if (r == 0)
			r = loci_flow_end(
				a, ref, block, (uint32_t)(ref - a->code.ref), word[-1], err);
		if (r < 0)
			return r;
		untold = loci_walk_all_told(&a->walk);
		last = a->walk.frame->last;
		continue;
	special: /* those before it count where they were executed */
		settle_last(a, seen);
		seen = NULL;
		r = settle_loops(a, &untold, err);
		a->here.refs += (uint64_t)(word - from);
		if (r == 0)
			r = turn(a, ref, block, *word, err);
		a->here.refs -= (uint64_t)(word - from);
		untold = loci_walk_all_told(&a->walk);
		if (r == 0) {
			r = refer(a, ref, *word, &untold, err);
		} else if (r > 0) {
			a->here.refs--;
			r = 0;
		}
		word++;
		goto after;
	part: /* the rest of the execution is to come */
		a->here.refs += (uint64_t)(word - from);
		runs->block = of;
		runs->word = word;
		runs->next = of->first + (uint32_t)(word - from);
		runs->left = of->n_refs - (uint32_t)(word - from);
		settle_last(a, seen);
		r = settle_loops(a, &untold, err);
		return r < 0 ? r
			     : loci_flow_end(
				       a, ref, block, (uint32_t)(ref - a->code.ref), word[-1], err);
	}
	if (of) {
		runs->block = of;
		runs->next = of->first;
		runs->left = of->n_refs;
	}
	runs->word = word;
	settle_last(a, seen);
	return settle_loops(a, &untold, err);
}
