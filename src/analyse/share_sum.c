// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/share_sum.h"

#include "analyse/grow.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>

void loci_share_sum_free(struct loci_share_sum *sum)
{
	if (!sum)
		return;
	for (size_t i = 0; i < sum->n; i++) {
		loci_hist_fini(&sum->owner[i].alone);
		loci_hist_fini(&sum->owner[i].plain);
		loci_hist_fini(&sum->owner[i].lost);
		free(sum->owner[i].thread);
	}
	loci_hist_fini(&sum->remote);
	free(sum->owner);
	free(sum);
}

/* With room for so many threads. */
static struct loci_share_owner *add_owner(struct loci_share_sum *sum, size_t n_threads)
{
	struct loci_share_owner *owner;

	if (loci_grow(&sum->owner, &sum->cap, sum->n + 1, sizeof(*sum->owner)) < 0)
		return NULL;
	owner = &sum->owner[sum->n++];
	*owner = (struct loci_share_owner){ .thread = calloc(n_threads, sizeof(uint32_t)) };
	loci_hist_init(&owner->alone, LOCI_SCHEME_FINE);
	loci_hist_init(&owner->plain, LOCI_SCHEME_FINE);
	loci_hist_init(&owner->lost, LOCI_SCHEME_FINE);
	return owner->thread ? owner : NULL;
}

static int add_met(struct loci_share_owner *owner, const struct loci_coherent_result *from)
{
	owner->touches += from->touches;
	owner->met.true_sharing += from->true_sharing;
	owner->met.false_sharing += from->false_sharing;
	owner->met.remote += from->remote;
	return loci_hist_merge(&owner->alone, &from->stack);
}

static void add_levels(
	struct loci_share_owner *owner, const struct loci_attribution *process, uint32_t member)
{
	const struct loci_measure *measure = &process->measure;

	for (unsigned i = 0; i < measure->n_levels; i++) {
		size_t at = (size_t)member * measure->n_levels + i;

		if (at >= measure->member_levels.cap)
			break;
		loci_level_tally_add(&owner->level[i], &measure->member_levels.tally[at]);
	}
}

/* The owner that is this thread alone. */
static struct loci_share_owner *find_thread(const struct loci_share_sum *sum, uint32_t thread)
{
	for (size_t i = 0; i < sum->n; i++)
		if (!sum->owner[i].share && sum->owner[i].thread[0] == thread)
			return &sum->owner[i];
	return NULL;
}

/* What the member would have met alone. */
static int add_apart(struct loci_share_owner *owner, const struct loci_share *share,
	uint32_t member, struct loci_err *err)
{
	loci_cleanup(loci_coherent_result_fini) struct loci_coherent_result result = { 0 };
	int r;

	if (!share->apart)
		return 0;
	r = loci_share_alone(share, member, &result, err);
	if (r < 0)
		return r;
	owner->has_apart = true;
	if (loci_hist_merge(&owner->plain, &result.stack) < 0 ||
		(member < share->apart->n_lost &&
			loci_hist_merge(&owner->lost, &share->apart->lost[member]) < 0))
		return loci_err_nomem(err);
	return 0;
}

/* A member is a part of its thread. */
static int add_member(struct loci_share_sum *sum, const struct loci_attribution *process,
	uint32_t member, struct loci_err *err)
{
	loci_cleanup(loci_coherent_result_fini) struct loci_coherent_result result = { 0 };
	uint32_t thread = process->members.thread[member];
	struct loci_share_owner *owner = find_thread(sum, thread);
	int r = loci_share_member(process->measure.share, member, &result, err);

	if (r < 0 || !result.touches)
		return r;
	if (!owner)
		owner = add_owner(sum, 1);
	if (!owner || add_met(owner, &result) < 0)
		return loci_err_nomem(err);
	owner->thread[0] = thread;
	owner->n_threads = 1;
	loci_spread_collect(&process->measure.members, member, owner->stack);
	add_levels(owner, process, member);
	return add_apart(owner, process->measure.share, member, err);
}

/* Threads that are no owners have touched nothing. */
static void add_thread(
	struct loci_share_owner *group, const struct loci_share_sum *sum, uint32_t thread)
{
	for (size_t i = 0; i < group->n_threads; i++)
		if (group->thread[i] == thread)
			return;
	if (find_thread(sum, thread))
		group->thread[group->n_threads++] = thread;
}

static int add_group(struct loci_share_sum *sum, const struct loci_attribution *process, unsigned i,
	uint32_t number, struct loci_err *err)
{
	loci_cleanup(loci_coherent_result_fini) struct loci_coherent_result result = { 0 };
	const struct loci_members *members = &process->members;
	unsigned share = process->measure.share->options.group[i];
	struct loci_share_owner *group;
	int r = loci_share_group(process->measure.share, i, number, &result, err);

	if (r < 0 || !result.touches)
		return r;
	group = add_owner(sum, share);
	if (!group || add_met(group, &result) < 0)
		return loci_err_nomem(err);
	group->share = share;
	for (size_t k = (size_t)number * share; k < members->n && k < (number + 1ull) * share; k++)
		add_thread(group, sum, members->thread[k]);
	return 0;
}

static int add_all(
	struct loci_share_sum *sum, const struct loci_attribution *process, struct loci_err *err)
{
	const struct loci_share *share = process->measure.share;
	int r = 0;

	sum->threaded = true;
	sum->sampling_rate = loci_coherent_sampling_rate(share->threads);
	loci_coherent_blocks(share->threads, &sum->blocks);
	sum->has_apart = share->apart;
	if (share->apart && loci_hist_merge(&sum->remote, &share->apart->remote) < 0)
		return loci_err_nomem(err);
	for (uint32_t i = 0; r == 0 && i < share->n_members; i++)
		r = add_member(sum, process, i, err);
	for (unsigned i = 0; r == 0 && i < share->options.n_groups; i++)
		for (uint32_t k = 0;
			r == 0 && (uint64_t)k * share->options.group[i] < share->n_members; k++)
			r = add_group(sum, process, i, k, err);
	return r;
}

/* A process with one thread: what all share is its own. */
static int add_only(struct loci_share_sum *sum, const struct loci_attribution *process,
	const struct loci_hist *stack, double blocks)
{
	struct loci_share_owner *owner;

	sum->blocks.alone = (uint64_t)(blocks + 0.5);
	if (!process->members.n)
		return 0;
	owner = add_owner(sum, 1);
	if (!owner || loci_hist_merge(&owner->alone, stack) < 0)
		return -ENOMEM;
	owner->thread[0] = process->members.thread[0];
	owner->n_threads = 1;
	owner->touches = (uint64_t)(loci_hist_total(stack) + 0.5);
	owner->has_apart = sum->has_apart = process->options->alone;
	if (owner->has_apart && loci_hist_merge(&owner->plain, stack) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < stack->n_bins;
		i++) /* bins that are coarse have edges of fine ones */
		owner->stack[loci_bin_coarse(loci_bin_low(stack->scheme, i))] +=
			(uint64_t)(stack->weight[i] + 0.5);
	owner->stack[LOCI_SPREAD_COLD] = (uint64_t)(stack->cold + 0.5);
	loci_measure_sum_levels(&process->measure, owner->level);
	return 0;
}

int loci_share_sum_new(const struct loci_attribution *process, const struct loci_hist *stack,
	double blocks, struct loci_share_sum **ret, struct loci_err *err)
{
	struct loci_share_sum *sum = calloc(1, sizeof(*sum));
	int r = sum ? 0 : loci_err_nomem(err);

	if (r < 0)
		return r;
	sum->sampling_rate = 1;
	loci_hist_init(&sum->remote, LOCI_SCHEME_FINE);
	if (process->measure.share)
		r = add_all(sum, process, err);
	else if (add_only(sum, process, stack, blocks) < 0)
		r = loci_err_nomem(err);
	if (r < 0) {
		loci_share_sum_free(sum);
		return r;
	}
	*ret = sum;
	return 0;
}
