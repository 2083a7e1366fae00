// SPDX-License-Identifier: GPL-2.0-or-later
/* As long as every reference stays in its object only touches are left to be made one by one: the
 * loop goes round and the sites walk on by as much as all times together. And a time after which no
 * reference leaves its block is followed by others that do just the same: the blocks are the same
 * few, so each touch finds its own where the time before left it. The first of these is counted as
 * often as there are. */
#include "analyse/attribute_repeat.h"

#include "analyse/attribute_flow.h"

#define WORDS       1024 /* of references at once */
#define WALKING     32   /* references of a block, at most */
#define BLOCK_BYTES 64
#define SHORT       16         /* a step; with longer ones few times are alike */
#define WORTH       2          /* times after the first, or else one by one is as fast */
#define MANY        (1u << 30) /* times at once */

/* References on their way. */
struct walker {
	struct loci_row_site *site;
	uint64_t address, step;
	uint64_t generation; /* as part of block numbers */
	uint64_t use;
	uint64_t bytes; /* a bit each, from the address on */
	uint8_t size, is_write;
};

struct walkers {
	struct walker walker[WALKING];
	uint32_t n;
	bool is_short; /* all steps are */
};

/* The addresses of whole times, as if they stood in the stream. */
static int take(struct loci_attribution *a, const struct loci_repeat *repeat, const uint64_t *words,
	size_t n, struct loci_err *err)
{
	const struct loci_block block = {
		.first = repeat->first, .n_refs = repeat->n_refs, .n_words = repeat->n_refs
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n;) {
		uint32_t at = (uint32_t)(i % repeat->n_refs), definition = repeat->first + at;
		size_t end = i;

		while (end < n && !loci_word_is_marker(words[end]))
			end++;
		if (end > i) {
			r = loci_attribution_runs(a,
				&(struct loci_runs){ .word = words + i,
					.end = words + end,
					.next = definition,
					.left = repeat->n_refs - at,
					.block = &block },
				err);
			i = end;
		} else {
			const struct loci_code_ref *of = &a->code.ref[definition];

			r = loci_attribution_alone(a,
				&(struct loci_ref){ .address = words[i++],
					.size_bytes = a->code.site[of->site].size_bytes,
					.definition = definition },
				err);
		}
	}
	return r;
}

static int one_by_one(struct loci_attribution *a, const struct loci_repeat *repeat, uint64_t time,
	uint64_t n, struct loci_err *err)
{
	uint64_t words[WORDS], end = time + n;
	int r = 0;

	while (r == 0 && time < end) {
		size_t n_words = 0;

		for (; time < end && n_words + repeat->n_refs <= WORDS; time++)
			for (uint32_t i = 0; i < repeat->n_refs; i++)
				words[n_words++] = loci_repeat_address(repeat, i, time);
		r = take(a, repeat, words, n_words, err);
	}
	return r;
}

/* Whether nothing but touches may be left: no reference that means more than an access, or whose
 * site is another's, too. */
static bool may_walk(const struct loci_attribution *a, const struct loci_repeat *repeat)
{
	const struct loci_code_ref *ref = a->code.ref + repeat->first;
	uint32_t n = repeat->n_refs;

	if (!a->walks || a->paused || a->sampler || a->distinct || a->footprint || !a->flow ||
		a->shift != 6 || a->n_grains != 1 || n > WALKING ||
		(ref[0].kind & LOCI_CODE_SPECIAL) != LOCI_CODE_FIRST ||
		ref[n - 1].kind & LOCI_CODE_RETURN || a->code.blocks[ref[0].block].flags)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if ((i && ref[i].kind & LOCI_CODE_SPECIAL) ||
			ref[i].size_bytes - 1u >= BLOCK_BYTES ||
			a->code.site[ref[i].site].flags & LOCI_REF_BULK)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (ref[k].site == ref[i].site)
				return false;
	}
	return true;
}

/* How many times from this one on, up to most, a reference is in the object that its site knows. */
static uint64_t times_within(const struct loci_attribution *a, const struct loci_row_site *site,
	uint64_t address, uint64_t step, unsigned size, uint64_t most)
{
	uint64_t low = loci_touch_low(a, site), before = address - low, after, n;

	if (!loci_touch_holds(a, site, address) || site->bytes - before < size)
		return 0;
	after = site->bytes - before - size;
	if (!step)
		return most;
	n = (int64_t)step > 0 ? after / step : before / -step;
	return n < most ? n + 1 : most;
}

/* Sets out, for as many times as are returned. */
static uint64_t set_out(struct loci_attribution *a, const struct loci_repeat *repeat, uint64_t time,
	struct walkers *ret)
{
	const struct loci_code_ref *ref = a->code.ref + repeat->first;
	uint64_t most = repeat->times - time < MANY ? repeat->times - time : MANY;

	if (a->code.blocks[ref->block].function != a->walk.frame->function)
		return 0;
	ret->n = repeat->n_refs;
	ret->is_short = true;
	for (uint32_t i = 0; i < repeat->n_refs && most; i++) {
		struct loci_row_site *site = &a->rows.site[ref[i].site];
		struct walker *w = &ret->walker[i];

		*w = (struct walker){ .site = site,
			.address = loci_repeat_address(repeat, i, time),
			.step = repeat->at[2 * i + 1],
			.generation = (uint64_t)site->generation << LOCI_GENERATION_BITS,
			.use = a->use | site->row | (uint64_t)ref[i].is_write << LOCI_USE_WRITE,
			.bytes = ref[i].bytes,
			.size = (uint8_t)ref[i].size_bytes,
			.is_write = ref[i].is_write };
		most = times_within(a, site, w->address, w->step, w->size, most);
		ret->is_short &= w->step + SHORT <= 2 * SHORT;
	}
	return most;
}

/* The innermost loop goes round n times, if it does so the first time. */
static bool goes_round(struct loci_attribution *a, const struct loci_repeat *repeat, uint64_t n)
{
	const struct loci_code_block *block = &a->code.blocks[a->code.ref[repeat->first].block];
	struct loci_loop *loop = &a->walk.loop[block->loop];
	uint64_t before;

	if (block->loop >= a->walk.n_loops)
		return false;
	before = loop->iterations;
	if (!loci_walk_passes(&a->walk, block))
		return false;
	loop->iterations += (n - 1) * (loop->iterations - before);
	return true;
}

static inline int touch(struct loci_attribution *a, const struct walker *w, struct loci_err *err)
{
	unsigned offset = w->address & (BLOCK_BYTES - 1);
	uint64_t block = (w->address >> 6) + w->generation;
	int r = loci_touch_used(a, w->site, block, w->use, w->is_write, w->bytes << offset, err);

	if (__builtin_expect(offset + w->size <= BLOCK_BYTES, 1) || r < 0)
		return r;
	a->straddles++;
	return loci_touch_used(a, w->site, block + 1, w->use, w->is_write,
		w->bytes >> (BLOCK_BYTES - offset), err);
}

/* How many times after this one all references stay in their blocks, up to most. */
static uint64_t times_alike(const struct walkers *walkers, uint64_t most)
{
	for (uint32_t i = 0; i < walkers->n && most; i++) {
		const struct walker *w = &walkers->walker[i];
		unsigned offset = w->address & (BLOCK_BYTES - 1), n;
		int step = (int)w->step;

		if (offset + w->size > BLOCK_BYTES)
			return 0;
		if (!step)
			continue;
		n = step > 0 ? (BLOCK_BYTES - w->size - offset) / (unsigned)step
			     : offset / (unsigned)-step;
		if (n < most)
			most = n;
	}
	return most;
}

/* Whether all blocks are among the most recent. What is written now the time before has written:
 * since then no block has left. */
static bool is_steady(const struct loci_attribution *a, const struct walkers *walkers)
{
	for (uint32_t i = 0; i < walkers->n; i++) {
		const struct walker *w = &walkers->walker[i];

		if (!loci_recent_is_at(
			    &a->recent, w->site->place, (w->address >> 6) + w->generation))
			return false;
	}
	return true;
}

/* All bytes of its block that a reference touches in n times. */
static uint64_t bytes_of(const struct walker *w, uint64_t n)
{
	uint64_t address = w->address, all = w->bytes << (address & (BLOCK_BYTES - 1));

	for (; w->step && --n; all |= w->bytes << (address & (BLOCK_BYTES - 1)))
		address += w->step;
	return all;
}

/* Counts n times of which the first is taken as it comes. */
static void steadily(struct loci_attribution *a, struct walkers *walkers, uint64_t n)
{
	struct loci_recent *recent = &a->recent;
	uint64_t more = (n - 1) * walkers->n;
	unsigned places = 0;

	for (uint32_t i = 0; i < walkers->n; i++) {
		struct walker *w = &walkers->walker[i];
		unsigned place = w->site->place;
		unsigned rank = loci_recent_touch_times(
			recent, place, w->is_write, w->use, bytes_of(w, n), n);

		a->here.near[rank] += n;
		loci_rows_near(&a->rows, w->site, rank, n);
		places |= 1u << place;
		w->address += n * w->step;
	}
	for (; places; places &= places - 1)
		recent->time[__builtin_ctz(places)] += more;
	recent->now += more;
}

/* The touches of n times. */
static int touch_all(
	struct loci_attribution *a, struct walkers *walkers, uint64_t n, struct loci_err *err)
{
	int r = 0;

	while (r == 0 && n) {
		uint64_t alike = a->recents && walkers->is_short ? times_alike(walkers, n - 1) : 0;

		for (uint32_t i = 0; r == 0 && i < walkers->n; i++) {
			struct walker *w = &walkers->walker[i];

			r = touch(a, w, err);
			w->address += w->step;
		}
		n--;
		if (r == 0 && alike >= WORTH && is_steady(a, walkers)) {
			steadily(a, walkers, alike);
			n -= alike;
		}
	}
	return r;
}

int loci_attribution_repeat(
	struct loci_attribution *a, const struct loci_repeat *repeat, struct loci_err *err)
{
	int r = 0;

	if (!repeat->n_refs)
		return 0;
	if (!may_walk(a, repeat))
		return one_by_one(a, repeat, 0, repeat->times, err);
	for (uint64_t time = 0; r == 0 && time < repeat->times;) {
		struct walkers walkers;
		uint64_t n = time ? set_out(a, repeat, time, &walkers) : 0;

		if (!n || !goes_round(a, repeat, n)) {
			r = one_by_one(a, repeat, time++, 1, err);
			continue;
		}
		for (uint32_t i = 0; i < walkers.n; i++)
			loci_rows_steps(&a->rows, walkers.walker[i].site, walkers.walker[i].step, n,
				loci_touch_low(a, walkers.walker[i].site));
		a->here.refs += n * walkers.n;
		r = touch_all(a, &walkers, n, err);
		if (r == 0)
			r = loci_flow_ran(a, &a->code.blocks[a->code.ref[repeat->first].block],
				repeat->first, n, err);
		time += n;
	}
	return r;
}
