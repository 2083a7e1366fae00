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

	if (__builtin_expect(loci_walk_is_told(&a->walk, untold), 1))
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
	const struct loci_code_ref *ref, uint64_t address, struct loci_walk_untold *untold,
	struct loci_err *err)
{
	uint64_t size_bytes = ref->size_bytes;
	int r = settle_loops(a, untold, err);

	if (r < 0)
		return r;
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
	if (!a->walk.learns || !block->loop || block->address != last)
		return false;
	if (!seen) {
		if (a->walk.level->last == LOCI_NO_DEFINITION)
			return false;
		seen = &a->code.ref[a->walk.level->last];
	}
	return (seen->is_write || !ref->is_write) &&
		loci_walk_again_quickly(&a->walk, block->loop, last);
}

/* What loci_touch_enters does, where all places are taken, of a block that is none of them. */
static __attribute__((noinline)) int enter(struct loci_attribution *a,
	const struct loci_code_ref *ref, struct loci_row_site *site, uint64_t address,
	uint64_t block, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	struct loci_recent *recent = &a->recent;
	unsigned place = loci_recent_take_full(recent);
	uint64_t use = a->use | site->row | (uint64_t)ref->is_write << LOCI_USE_WRITE;
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
	b->is_write[n] = ref->is_write;
	b->time[n] = ++recent->now;
	recent->time[place] = recent->now;
	recent->low[place] = (uint32_t)block;
	recent->block[place] = block;
	recent->use[place] = use;
	recent->bytes[place] = ref->bytes << (address & 63);
	recent->farthest[place] = 0;
	recent->written[place] = ref->is_write;
	return n + 1 == LOCI_BATCH ? loci_attribution_flush(a, err) : 0;
}

/* The first write to a recent block. */
static __attribute__((noinline)) int stay(struct loci_attribution *a, struct loci_row_site *site,
	unsigned touch, unsigned place, struct loci_walk_untold *untold, struct loci_err *err)
{
	int r = settle_loops(a, untold, err);

	return r < 0 ? r : loci_touch_stays(a, site, touch, place, err);
}

/* Of a reference to one block, whose site knows its row. */
LOCI_HOT int touch(struct loci_attribution *a, const struct loci_code_ref *ref,
	struct loci_row_site *site, uint64_t address, struct loci_walk_untold *untold,
	struct loci_err *err)
{
	uint64_t block = (address >> 6) + ((uint64_t)site->generation << LOCI_GENERATION_BITS);
	struct loci_recent *recent = &a->recent;
	unsigned place = site->place, rank;

	if (recent->block[place] != block) {
		place = loci_recent_find_full(recent, block);
		if (place == LOCI_RECENT) {
			int r = settle_loops(a, untold, err);

			return r < 0 ? r : enter(a, ref, site, address, block, err);
		}
		site->place = (uint8_t)place;
	}
	rank = loci_recent_touch_full(recent, place);
	recent->bytes[place] |= ref->bytes << (address & 63);
	recent->use[place] = a->use | site->row;
	if (ref->is_write) {
		unsigned first = loci_recent_wrote(recent, place);

		recent->use[place] |= 1ull << LOCI_USE_WRITE;
		if (__builtin_expect(first, 0))
			return stay(a, site, first | rank, place, untold, err);
	}
	a->here.near[rank]++;
	site->near[rank]++; /* with refs, which tell when they are many */
	return 0;
}

LOCI_HOT int refer(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct loci_walk_untold *untold, struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];

	if (__builtin_expect(!loci_touch_holds(a, site, address), 0) ||
		__builtin_expect((int)(address & 63) > ref->room, 0))
		return refer_slowly(a, ref, address, untold, err);
	loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	return touch(a, ref, site, address, untold, err);
}

/* An execution of a block, all of whose words are there unless another marker comes first. */
struct execution {
	const struct loci_block *of;
	const uint64_t *from, *to;
};

/* The rest of an execution is to come. */
static __attribute__((noinline)) void leave_rest(
	struct loci_runs *runs, const struct execution *x, const uint64_t *word)
{
	runs->block = x->of;
	runs->word = word;
	runs->next = x->of->first + (uint32_t)(word - x->from);
	runs->left = x->of->n_refs - (uint32_t)(word - x->from);
}

/* An execution from a special reference on, which needs more than loci_walk_turn_quickly; the walk
 * knows all, then and in the end. 1: it goes no further than the runs say. */
static __attribute__((noinline)) int go_specially(struct loci_attribution *a,
	struct loci_runs *runs, const struct execution *x, const uint64_t *word,
	struct loci_err *err)
{
	struct loci_walk_untold untold = loci_walk_all_told(&a->walk);
	const struct loci_code_ref *ref = a->code.ref + x->of->first + (word - x->from);
	struct loci_code_block *block = &a->code.blocks[ref->block];
	bool special = true, whole;
	int r = 0;

	for (;;) {
		if (special) { /* those before it count where they were executed */
			a->here.refs += (uint64_t)(word - x->from);
			r = turn(a, ref, block, *word, err);
			a->here.refs -= (uint64_t)(word - x->from);
		}
		if (r == 0)
			r = refer(a, ref, *word, &untold, err);
		else if (r > 0)
			a->here.refs--;
		if (__builtin_expect(r < 0, 0))
			return r;
		ref++;
		word++;
		whole = word == x->to;
		if (whole || loci_word_is_marker(*word))
			break;
		r = 0;
		special = ref->kind & LOCI_CODE_SPECIAL;
		if (special) {
			loci_flow_leave(a, ref - 1, block, (uint32_t)(ref - 1 - a->code.ref));
			block = &a->code.blocks[ref->block];
		}
	}
	ref--;
	a->here.refs += (uint64_t)(word - x->from);
	r = 0;
	if (whole)
		r = loci_flow_ran(a, block, (uint32_t)(ref - a->code.ref), 1, err);
	else
		leave_rest(runs, x, word);
	if (r == 0)
		r = loci_flow_end(a, ref, block, (uint32_t)(ref - a->code.ref), word[-1], err);
	return r < 0 ? r : !whole;
}

/* Whether a block that begins with this reference, as its definition does, may be a plain
 * successor. */
LOCI_HOT bool is_plain_start(
	const struct loci_code_ref *ref, const struct loci_code_block *block, uint32_t function)
{
	return !(ref->kind & (LOCI_CODE_SPECIAL & ~LOCI_CODE_FIRST)) && !block->flags &&
		block->function == function;
}

/* A head for every block. Fresh zeroed memory costs nothing until it is used, as with what the
 * decoder has of them. */
static __attribute__((noinline)) int grow_heads(
	struct loci_attribution *a, size_t n, struct loci_err *err)
{
	free(a->head);
	a->n_heads = 0;
	a->head = calloc(n, sizeof(*a->head));
	if (!a->head)
		return loci_err_nomem(err);
	a->n_heads = n;
	return 0;
}

/* Definitions were others when the head was learnt, or arrays stood elsewhere. */
static __attribute__((noinline)) void learn_head(
	struct loci_attribution *a, const struct loci_runs *runs, struct loci_quick_head *head)
{
	const struct loci_block *of = &runs->direct[head - a->head];

	head->changes = runs->changes;
	head->n_refs = UINT64_MAX;
	if (!of->n_refs || of->n_words != of->n_refs)
		return;
	head->n_refs = of->n_refs;
	head->ref = a->code.ref + of->first;
	head->block = &a->code.blocks[head->ref->block];
}

/* fixed: as in the walk. */
LOCI_HOT int go(
	struct loci_attribution *a, struct loci_runs *runs, bool fixed, struct loci_err *err)
{
	struct loci_walk_untold untold = loci_walk_all_told(&a->walk);
	struct loci_quick_head *const heads = a->head, *head = NULL;
	const struct loci_code_ref *seen = NULL; /* the last reference; NULL: the walk knows */
	const uint64_t *word = runs->word, *const end = runs->end;
	const uint64_t n_direct = runs->n_direct, changes = runs->changes;
	uint64_t last = a->walk.frame->last; /* address of the last instruction seen */
	uint32_t function = a->walk.frame->function;
	int r;

	if (runs->left == runs->block->n_refs && runs->block >= runs->direct &&
		runs->block < runs->direct + n_direct)
		head = &heads[runs->block - runs->direct];
	while (word < end) {
		uint64_t id = *word - LOCI_RUNS_BLOCK;
		struct loci_quick_head *next = head;
		const uint64_t *from = word, *to;
		const struct loci_code_ref *ref;
		const struct loci_code_block *block;

		if (__builtin_expect(id < n_direct, 1)) {
			next = &heads[id];
			from++;
		} else if (loci_word_is_marker(*word) || !head) {
			break;
		}
		if (__builtin_expect(next->changes != changes, 0))
			learn_head(a, runs, next);
		if ((uint64_t)(end - from) < next->n_refs || loci_word_is_marker(*from))
			break;
		head = next;
		word = from;
		to = from + head->n_refs;
		ref = head->ref;
		block = head->block;
		if (__builtin_expect(!is_plain_start(ref, block, function), 0))
			goto special;
		if (!loci_walk_turn_quickly(&a->walk, block, last, fixed, &untold, &a->use) &&
			!comes_again(a, ref, block, seen, last))
			goto special;
		for (;;) {
			r = refer(a, ref, *word, &untold, err);
			if (__builtin_expect(r < 0, 0))
				return r;
			ref++;
			word++;
			if (word == to)
				break;
			if (__builtin_expect(loci_word_is_marker(*word), 0)) {
				seen = ref - 1;
				goto part;
			}
			if (__builtin_expect(ref->kind & LOCI_CODE_SPECIAL, 0)) {
				seen = ref - 1;
				goto special;
			}
		}
		seen = ref - 1;
		last = seen->address;
		a->here.refs += head->n_refs;
		if (fixed) {
			r = loci_flow_ran(a, head->block, (uint32_t)(seen - a->code.ref), 1, err);
			if (r < 0)
				return r;
		}
		if (!loci_flow_may_return(a, seen, word[-1]))
			continue;
		settle_last(a, seen);
		seen = NULL;
		r = settle_loops(a, &untold, err);
		if (r == 0)
			r = loci_flow_return(a, word[-1], err);
		if (r < 0)
			return r;
		goto elsewhere;
	special:
		settle_last(a, seen);
		seen = NULL;
		r = settle_loops(a, &untold, err);
		if (r == 0)
			r = go_specially(a, runs,
				&(struct execution){ &runs->direct[head - heads], from, to }, word,
				err);
		if (r)
			return r < 0 ? r : 0;
		word = to;
	elsewhere:
		untold = loci_walk_all_told(&a->walk);
		last = a->walk.frame->last;
		function = a->walk.frame->function;
		continue;
	part:
		a->here.refs += (uint64_t)(word - from);
		leave_rest(
			runs, &(struct execution){ &runs->direct[head - heads], from, to }, word);
		settle_last(a, seen);
		r = settle_loops(a, &untold, err);
		return r == 0 && loci_flow_may_return(a, seen, word[-1])
			? loci_flow_return(a, word[-1], err)
			: r;
	}
	if (head) {
		runs->block = &runs->direct[head - heads];
		runs->next = runs->block->first;
		runs->left = runs->block->n_refs;
	}
	runs->word = word;
	settle_last(a, seen);
	return settle_loops(a, &untold, err);
}

int loci_attribution_quick(struct loci_attribution *a, struct loci_runs *runs, struct loci_err *err)
{
	if (a->n_heads < runs->n_direct) {
		int r = grow_heads(a, runs->n_direct, err);

		if (r < 0)
			return r;
	}
	return a->walk.fixed ? go(a, runs, true, err) : go(a, runs, false, err);
}
