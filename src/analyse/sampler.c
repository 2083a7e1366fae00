// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the references of each thread from where its windows begin, and so finds those that are
 * samples. Touches go to the engine only while samples are open.
 *
 * Code that was counting when a window began goes on counting until it comes to a test: what it
 * does when a function that it called returns is not in the stream. Threads say how many references
 * they have counted, again and again; those that are missing are counted here, and samples among
 * them are lost. */
#include "analyse/sampler_state.h"

#include "analyse/attribute_touch.h"
#include "analyse/grow.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A sample is given up when as many touches have come since as so many gaps, but no fewer. */
#define LIMIT_TOUCHES  (1u << 20)
#define LIMIT_GAPS     64
/* And chance decides whether it is followed from this age on, or this part of a gap: until then
 * what second-level caches hold was reused. */
#define GAMBLE_TOUCHES (1u << 15)
#define GAMBLE_PART    16
#define PRUNE_FROM     100
#define LOOK_TOUCHES   4096 /* between looks whether samples are too old */

static uint64_t no_less(uint64_t n, uint64_t least)
{
	return n > least ? n : least;
}

int loci_sampler_new(
	const struct loci_sampler_options *options, struct loci_sampler **ret, struct loci_err *err)
{
	struct loci_windowed_options windowed = {
		.limit_touches = no_less(LIMIT_GAPS * options->period, LIMIT_TOUCHES),
		.prune_from = PRUNE_FROM,
		.gamble_touches = options->gamble_touches
			? options->gamble_touches
			: no_less(options->period / GAMBLE_PART, GAMBLE_TOUCHES),
		.seed = options->seed,
		.max_bytes = options->max_bytes
	};
	struct loci_sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return loci_err_nomem(err);
	s->options = *options;
	s->random = options->seed;
	s->last_block = UINT64_MAX;
	r = loci_windowed_new(&windowed, &s->windowed, err);
	if (r < 0) {
		free(s);
		return r;
	}
	s->epochs = loci_windowed_epochs(s->windowed);
	*ret = s;
	return 0;
}

void loci_sampler_free(struct loci_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->thread_cap; i++)
		free(s->thread[i].announced);
	free(s->thread);
	free(s->taken);
	loci_sampler_parts_fini(&s->parts);
	loci_spread_fini(&s->private_.rows);
	free(s->private_.met);
	loci_windowed_free(s->windowed);
	free(s);
}

static uint64_t draw(struct loci_sampler *s, uint64_t below)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (uint64_t)(((unsigned __int128)(s->random >> 1) * below) >> 63);
}

/* Those that are neither to come nor open. */
void loci_sampler_tell_closed(struct loci_sampler *s)
{
	uint64_t closed = s->announced - s->waiting - loci_windowed_n_open(s->windowed);

	if (closed > s->closed && s->options.closed)
		s->options.closed(s->options.data, (uint32_t)(closed - s->closed));
	s->closed = closed;
}

void loci_sampler_look(struct loci_sampler *s)
{
	loci_windowed_prune(s->windowed);
	s->look = s->epochs->touches + LOOK_TOUCHES;
	s->follows = loci_windowed_n_open(s->windowed) > 0;
	loci_sampler_tell_closed(s);
}

/* Strides are those of all references while samples are open. */
static int walk_on(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];
	int r = loci_touch_find(a, ref, address, err);

	if (r < 0)
		return r;
	if (site->started)
		loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	else
		loci_rows_start(site, address);
	return 0;
}

/* A touch in what its site knows. Only that of a sample's block is asked whose it is. */
int loci_sampler_touch(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, uint64_t size_bytes,
	struct loci_err *err)
{
	const struct loci_row_site *site = &a->rows.site[ref->site];
	unsigned shift = s->options.shift;
	struct loci_windowed_touch touch = { .block = loci_sampler_block(site, address >> shift),
		.bytes = loci_touch_bytes(shift, address & ((1ull << shift) - 1), size_bytes),
		.use = site->row | a->use,
		.member = (uint32_t)a->walk.at,
		.is_write = ref->is_write };
	size_t n_open = loci_windowed_n_open(s->windowed);

	if (loci_windowed_touch(s->windowed, &touch) < 0)
		return loci_err_nomem(err);
	s->member = touch.member;
	if (n_open != loci_windowed_n_open(s->windowed))
		loci_sampler_look(s);
	return 0;
}

/* How a reference lies in blocks. */
struct span {
	uint64_t first, last; /* bytes */
	uint64_t blocks;
};

static int put_span(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_code_ref *ref, const struct span *span,
	const struct loci_sampler_announced *sample, struct loci_err *err)
{
	const struct loci_row_site *site = &a->rows.site[ref->site];
	uint64_t chosen = sample ? draw(s, span->blocks) : UINT64_MAX, address = span->first;
	uint64_t block_bytes = 1ull << s->options.shift;

	for (uint64_t i = 0; i < span->blocks; i++) {
		uint64_t end = address | (block_bytes - 1);
		uint64_t n = (end < span->last ? end : span->last) - address + 1;
		int r = 0;

		if (s->follows || i == chosen) {
			if (i) /* where it begins its site knows */
				r = loci_touch_find(a, ref, address, err);
			if (r == 0)
				r = loci_sampler_touch(s, a, ref, address, n, err);
		}
		if (r == 0 && i == chosen)
			r = loci_sampler_take(s,
				&(struct loci_sampler_taken){ .mean = sample->mean,
					.blocks = span->blocks,
					.row = site->row,
					.context = loci_use_context(a->use),
					.is_write = ref->is_write,
					.straddles = span->blocks > 1 &&
						!(a->code.site[ref->site].flags & LOCI_REF_BULK) });
		if (r == -EOVERFLOW)
			return loci_err_set(err, EOVERFLOW,
				"there are more than 2^32 samples; choose a longer period (-c)");
		if (r < 0)
			return r == -ENOMEM ? loci_err_nomem(err) : r;
		address = end + 1;
	}
	return 0;
}

static struct loci_sampler_announced next_announced(struct loci_sampler_thread *t)
{
	struct loci_sampler_announced first = t->announced[0];

	memmove(t->announced, t->announced + 1, --t->n_announced * sizeof(*t->announced));
	t->next = t->n_announced ? t->announced[0].number : UINT64_MAX;
	return first;
}

int loci_sampler_refer(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, uint64_t size_bytes, bool left_out,
	struct loci_err *err)
{
	struct loci_sampler_thread *t = &s->thread[a->walk.at];
	struct loci_sampler_announced sample;
	uint64_t first, last;
	bool is_sample;
	int r = 0;

	if (!t->in_window)
		return 0;
	is_sample = ++t->count == t->next;
	if (!is_sample && (!s->follows || left_out))
		return 0;
	first = address >> s->options.shift;
	last = (address + size_bytes - 1) >> s->options.shift;
	if (!left_out && size_bytes)
		r = walk_on(a, ref, address, err);
	if (r < 0)
		return r;
	s->last_block = UINT64_MAX;
	if (is_sample)
		sample = next_announced(t);
	if (left_out || !size_bytes)
		s->lost += is_sample;
	else
		r = put_span(s, a, ref,
			&(struct span){ address, address + size_bytes - 1, last - first + 1 },
			is_sample ? &sample : NULL, err);
	if (is_sample) { /* it is open, or lost */
		s->waiting--;
		loci_sampler_look(s);
	}
	return r;
}

static int announce(struct loci_sampler *s, struct loci_sampler_thread *t,
	const struct loci_event *event, struct loci_err *err)
{
	struct loci_sampler_announced sample = { event->raw[1],
		event->n_raw > 6 ? event->raw[6] : 1 };

	s->announced++;
	if (!t->in_window || sample.number <= t->count ||
		(t->n_announced && sample.number <= t->announced[t->n_announced - 1].number)) {
		s->lost++;
		return 0;
	}
	if (loci_grow(&t->announced, &t->cap, t->n_announced + 1, sizeof(*t->announced)) < 0)
		return loci_err_nomem(err);
	t->announced[t->n_announced++] = sample;
	t->next = t->announced[0].number;
	s->waiting++;
	return 0;
}

/* The thread has counted so many references. */
static void correct(struct loci_sampler *s, struct loci_sampler_thread *t, uint64_t count)
{
	t->refs = count;
	if (!t->in_window || count <= t->count)
		return;
	s->unseen += count - t->count;
	t->begun += count - t->count;
	t->count = count;
	while (t->next <= count) {
		next_announced(t);
		s->waiting--;
		s->lost++;
	}
}

void loci_sampler_forget(struct loci_sampler *s, struct loci_sampler_thread *t)
{
	s->lost += t->n_announced;
	s->waiting -= t->n_announced;
	t->n_announced = 0;
	t->next = UINT64_MAX;
}

void loci_sampler_end_window(struct loci_sampler *s, struct loci_sampler_thread *t)
{
	if (t->in_window)
		s->analysed += t->count - t->begun;
	t->in_window = false;
}

/* What follows of the thread is not in the stream. */
static void leave(struct loci_sampler *s, size_t number, bool has_ended)
{
	struct loci_sampler_thread *t = &s->thread[number];

	loci_sampler_end_window(s, t);
	loci_sampler_forget(s, t);
	if (has_ended)
		loci_windowed_end(s->windowed, (uint32_t)number);
	else
		loci_windowed_interrupt(s->windowed, (uint32_t)number);
	loci_sampler_look(s);
}

static int reserve_threads(struct loci_sampler *s, size_t n)
{
	size_t before = s->thread_cap;

	if (loci_grow(&s->thread, &s->thread_cap, n, sizeof(*s->thread)) < 0)
		return -ENOMEM;
	for (size_t i = before; i < s->thread_cap; i++)
		s->thread[i].next = UINT64_MAX;
	return 0;
}

int loci_sampler_event(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_event *event, struct loci_err *err)
{
	struct loci_sampler_thread *t;

	s->last_block = UINT64_MAX;
	if (reserve_threads(s, a->walk.n_threads) < 0)
		return loci_err_nomem(err);
	t = &s->thread[a->walk.at];
	switch (event->kind) {
	case LOCI_MARK_WINDOW_BEGIN:
		t->count = t->begun = event->raw[0];
		t->in_window = true;
		return 0;
	case LOCI_MARK_WINDOW_END:
		correct(s, t, event->raw[0]);
		leave(s, a->walk.at, false);
		return 0;
	case LOCI_MARK_SAMPLE_OPEN:
		return announce(s, t, event, err);
	case LOCI_MARK_COUNT:
		correct(s, t, event->raw[0]);
		return 0;
	case LOCI_MARK_THREAD_EXIT:
		leave(s, a->walk.at, true);
		return 0;
	default:
		return 0;
	}
}
