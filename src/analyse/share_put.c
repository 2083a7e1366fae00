// SPDX-License-Identifier: GPL-2.0-or-later
/* What threads met of each other into the profile. */
#include "analyse/share_sum.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>

int loci_share_put_met(struct loci_profile *profile, int64_t id, enum loci_owner owner,
	int64_t owner_id, uint64_t block_bytes, uint64_t touches, const struct loci_coherence *met,
	struct loci_err *err)
{
	return loci_profile_put_coherence(profile,
		&(struct loci_coherence_row){ .id = id,
			.owner = owner,
			.owner_id = owner_id,
			.block_bytes = block_bytes,
			.touches = touches,
			.true_sharing = met->true_sharing,
			.false_sharing = met->false_sharing,
			.remote = met->remote },
		err);
}

static int put_owner(struct loci_share_put *put, enum loci_owner owner, int64_t owner_id,
	const struct loci_hist *alone, uint64_t touches, const struct loci_coherence *met,
	struct loci_err *err)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_PRIVATE,
		.block_bytes = put->block_bytes,
		.owner = owner,
		.owner_id = owner_id };
	int r = loci_profile_put_hist(put->profile, &key, alone, err);

	return r < 0 ? r
		     : loci_share_put_met(put->profile, ++put->coherence_id, owner, owner_id,
			       put->block_bytes, touches, met, err);
}

static int put_levels(const struct loci_share_put *put, const struct loci_share_owner *from,
	int64_t owner_id, struct loci_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < put->n_levels; i++) {
		const struct loci_level_tally *level = &from->level[i];

		r = loci_profile_put_level_count(put->profile,
			&(struct loci_level_count_row){ .level_id = i + 1,
				.owner = LOCI_OWNER_THREAD,
				.owner_id = owner_id,
				/* all touches hit the first level or miss it */
				.first_hits = i ? level->first_hits : from->touches - level->misses,
				.misses = level->misses,
				.writebacks = level->writebacks,
				.coherence = level->coherence,
				.transfers = level->transfers },
			err);
	}
	return r;
}

/* What the model of Anger et al. is made of. */
static int put_apart(const struct loci_share_put *put, const struct loci_share_owner *from,
	int64_t id, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_ALONE,
		.block_bytes = put->block_bytes,
		.owner = LOCI_OWNER_THREAD,
		.owner_id = id };
	int r;

	if (!from->has_apart)
		return 0;
	r = loci_profile_put_hist(put->profile, &key, &from->plain, err);
	key.distance = LOCI_DISTANCE_ALONE_REMOTE;
	return r < 0 ? r : loci_profile_put_hist(put->profile, &key, &from->lost, err);
}

static int put_thread(struct loci_share_put *put, const struct loci_share_owner *from,
	uint32_t base, struct loci_err *err)
{
	loci_cleanup(loci_hist_fini) struct loci_hist stack = { 0 };
	int64_t id = base + from->thread[0];
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK,
		.block_bytes = put->block_bytes,
		.owner = LOCI_OWNER_THREAD,
		.owner_id = id };
	int r;

	put->touches += from->touches;
	put->met.true_sharing += from->met.true_sharing;
	put->met.false_sharing += from->met.false_sharing;
	put->met.remote += from->met.remote;
	if (loci_hist_merge(&put->alone, &from->alone) < 0 ||
		loci_spread_hist(from->stack, loci_bin_coarse(LOCI_PAIRS_FAR_BLOCKS), &stack) < 0)
		return loci_err_nomem(err);
	r = put_owner(put, LOCI_OWNER_THREAD, id, &from->alone, from->touches, &from->met, err);
	if (r == 0)
		r = loci_profile_put_hist(put->profile, &key, &stack, err);
	if (r == 0)
		r = put_apart(put, from, id, err);
	return r < 0 ? r : put_levels(put, from, id, err);
}

static int put_group(struct loci_share_put *put, const struct loci_share_owner *from, uint32_t base,
	struct loci_err *err)
{
	loci_autofree char *threads = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&threads, &bytes);
	int r;

	if (!out)
		return loci_err_nomem(err);
	for (size_t i = 0; i < from->n_threads; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", base + from->thread[i]);
	if (fclose(out) != 0)
		return loci_err_nomem(err);
	r = loci_profile_put_thread_group(put->profile,
		&(struct loci_thread_group_row){ .id = ++put->group_id,
			.share = from->share,
			.thread = base + from->thread[0],
			.threads = threads },
		err);
	return r < 0 ? r
		     : put_owner(put, LOCI_OWNER_THREAD_GROUP, put->group_id, &from->alone,
			       from->touches, &from->met, err);
}

int loci_share_sum_put(const struct loci_share_sum *sum, uint32_t base, struct loci_share_put *put,
	struct loci_err *err)
{
	int r = 0;

	put->blocks.alone += sum->blocks.alone;
	put->blocks.read_only += sum->blocks.read_only;
	put->blocks.written += sum->blocks.written;
	put->has_apart |= sum->has_apart;
	if (loci_hist_merge(&put->remote, &sum->remote) < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; r == 0 && i < sum->n; i++)
		r = sum->owner[i].share ? put_group(put, &sum->owner[i], base, err)
					: put_thread(put, &sum->owner[i], base, err);
	return r;
}

int loci_share_put_whole(struct loci_share_put *put, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_REMOTE,
		.block_bytes = put->block_bytes,
		.owner = LOCI_OWNER_WHOLE };
	int r = put_owner(put, LOCI_OWNER_WHOLE, 0, &put->alone, put->touches, &put->met, err);

	if (r == 0 && put->has_apart)
		r = loci_profile_put_hist(put->profile, &key, &put->remote, err);
	return r < 0 ? r
		     : loci_profile_put_shared_blocks(put->profile,
			       &(struct loci_shared_blocks_row){ .id = 1,
				       .block_bytes = put->block_bytes,
				       .alone = put->blocks.alone,
				       .read_only = put->blocks.read_only,
				       .written = put->blocks.written },
			       err);
}
