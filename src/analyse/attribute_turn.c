// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads take turns. As long as one has touched anything nothing of this is done. When another's
 * first reference comes, what was handed on is measured to its end; then the most recent blocks go
 * back to the engines, which hear of every touch from there on, the first thread's stack becomes
 * its own, and touches are handed on with a third stage (share.h). */
#include "analyse/attribute_flow.h"

#include "analyse/grow.h"
#include "base/cleanup.h"

#define NO_BLOCK UINT64_MAX

void loci_members_fini(struct loci_members *members)
{
	free(members->thread);
	free(members->of);
}

static int new_member(struct loci_attribution *a)
{
	struct loci_members *m = &a->members;

	if (loci_grow(&m->thread, &m->cap, m->n + 1, sizeof(*m->thread)) < 0)
		return -ENOMEM;
	m->thread[m->n++] = a->walk.thread[a->walk.at].id;
	m->of[a->walk.at] = (uint32_t)m->n;
	return 0;
}

void loci_attribution_put_turn(struct loci_attribution *a)
{
	struct loci_batch *b = a->batch;

	if (a->members.toucher == SIZE_MAX)
		return;
	if (b->n_turns && b->turn[b->n_turns - 1].touch == b->n)
		b->n_turns--;
	b->turn[b->n_turns++] =
		(struct loci_turn){ (uint32_t)b->n, a->members.of[a->members.toucher] - 1 };
}

/* Touches that no engine has heard of. */
static void sum_near(struct loci_attribution *a, uint64_t near[LOCI_RECENT])
{
	for (size_t i = 0; i < a->rows.site_cap; i++)
		loci_rows_settle(&a->rows, &a->rows.site[i]);
	for (size_t i = 0; i < a->rows.n; i++)
		for (unsigned k = 0; k < LOCI_RECENT; k++)
			near[k] += a->rows.row[i].near[k];
}

static void leave_recents(struct loci_attribution *a, const uint64_t *near)
{
	if (!a->recents)
		return;
	loci_grain_leave_recent(a->grain[0], &a->recent, near);
	if (a->measure.levels)
		loci_levels_leave_recent(a->measure.levels, &a->recent);
	a->recents = a->measure.recent = false;
}

static int open_share(struct loci_attribution *a, struct loci_err *err)
{
	struct loci_share_options options = { .n_groups = a->options->n_share,
		.max_bytes = a->share_bytes,
		.alone = a->options->alone };
	loci_cleanup(loci_hist_fini) struct loci_hist distances = { 0 };
	struct loci_share_before before = {
		.distances = &distances, .rows = &a->measure.rows, .n_rows = a->rows.n
	};
	loci_autofree uint64_t *block = NULL;
	int r;

	for (unsigned i = 0; i < options.n_groups; i++)
		options.group[i] = a->options->share[i];
	if (a->share_bytes)
		loci_grain_limit(a->grain[0], a->share_bytes);
	r = loci_grain_held(
		a->grain[0], &block, &before.n_blocks, &distances, &before.sampling_rate, err);
	before.block = block;
	return r < 0 ? r : loci_share_new(&options, &before, &a->measure.share, err);
}

static bool has_ended(const struct loci_attribution *a, uint32_t member)
{
	for (size_t i = 0; i < a->members.of_cap; i++)
		if (a->members.of[i] == member + 1)
			return false;
	return true;
}

int loci_attribution_open_relay(struct loci_attribution *a, struct loci_err *err)
{
	loci_relay_use use[LOCI_RELAY_USERS];
	struct loci_relay *relay = NULL;
	unsigned n = 0;
	int r;

	if (a->measure.n_levels)
		use[n++] = loci_measure_simulate;
	if (a->measure.share)
		use[n++] = loci_measure_share;
	use[n++] = loci_measure_use;
	r = loci_relay_new(use, n, &a->measure, &relay, err);
	if (r < 0)
		return r;
	loci_relay_free(a->relay);
	a->relay = relay;
	return 0;
}

static int share_from_here(struct loci_attribution *a, struct loci_err *err)
{
	uint64_t near[LOCI_RECENT] = { 0 };
	int r;

	sum_near(a, near);
	leave_recents(a, near);
	r = loci_measure_first_member(&a->measure, a->rows.n, near, a->options, a->shift, err);
	if (r == 0)
		r = open_share(a, err);
	a->threaded = r == 0;
	return r;
}

static int begin_sharing(struct loci_attribution *a, struct loci_err *err)
{
	int r;

	loci_attribution_complete(a);
	r = loci_relay_finish(a->relay, err);
	a->batch->n = a->batch->n_events = a->batch->n_stage_events = 0; /* it has been used */
	a->walk.n_log = 0;
	if (r == 0)
		r = share_from_here(a, err);
	if (r == 0)
		r = loci_attribution_open_relay(a, err);
	if (r < 0)
		return r;
	loci_attribution_begin(a);
	if (has_ended(a, 0))
		a->batch->ended[a->batch->n_ended++] = (struct loci_turn){ 0, 0 };
	return 0;
}

int loci_attribution_turn(struct loci_attribution *a, struct loci_err *err)
{
	struct loci_members *m = &a->members;
	int r = 0;

	if (loci_grow(&m->of, &m->of_cap, a->walk.n_threads, sizeof(*m->of)) < 0)
		return loci_err_nomem(err);
	if (!a->threaded && m->n && !m->of[a->walk.at])
		r = begin_sharing(a, err);
	if (r < 0)
		return r;
	if (!m->of[a->walk.at] && new_member(a) < 0)
		return loci_err_nomem(err);
	m->toucher = a->walk.at;
	if (!a->threaded)
		return 0;
	a->last_block = NO_BLOCK; /* nothing is joined with another's touch */
	if (a->batch->n_turns == LOCI_BATCH_TURNS)
		return loci_attribution_flush(a, err);
	loci_attribution_put_turn(a);
	return 0;
}

int loci_attribution_leave(struct loci_attribution *a, size_t thread, struct loci_err *err)
{
	struct loci_members *m = &a->members;
	int r = 0;

	if (thread >= m->of_cap || !m->of[thread])
		return 0;
	if (a->threaded && a->batch->n_ended == LOCI_BATCH_TURNS)
		r = loci_attribution_flush(a, err);
	if (a->threaded && r == 0)
		a->batch->ended[a->batch->n_ended++] =
			(struct loci_turn){ (uint32_t)a->batch->n, m->of[thread] - 1 };
	m->of[thread] = 0;
	if (m->toucher == thread)
		m->toucher = SIZE_MAX;
	return r;
}
