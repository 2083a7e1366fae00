// SPDX-License-Identifier: GPL-2.0-or-later
/* What of the folded dimensions goes into the sum: that which all inputs have, since a sum over
 * some would pass for a sum over all. */
#include "profile/fold.h"

#include "profile/sum.h"

static bool in_all_or_none(const struct fold *fold, enum table_id id)
{
	return fold->with[id] == fold->busy || !fold->with[id];
}

static bool has_code(const struct fold *fold)
{
	return in_all_or_none(fold, TABLE_site);
}

static bool has_pairs(const struct fold *fold)
{
	return has_code(fold) && in_all_or_none(fold, TABLE_pair);
}

static bool has_operations(const struct fold *fold)
{
	return has_code(fold) && in_all_or_none(fold, TABLE_block);
}

static bool has_footprints(const struct fold *fold)
{
	return has_code(fold) && in_all_or_none(fold, TABLE_footprint);
}

/* Their misses are of one cache. */
static bool has_pieces(const struct fold *fold)
{
	return has_code(fold) && in_all_or_none(fold, TABLE_piece) && !fold->other_levels;
}

/* Processes of one thread have none. */
static bool has_coherence(const struct fold *fold, uint64_t block_bytes)
{
	return fold->coherent & fold->grains & block_bytes;
}

bool loci_fold_is_whole(const struct fold *fold, enum loci_owner owner)
{
	switch (owner) {
	case LOCI_OWNER_WHOLE:
	case LOCI_OWNER_THREAD:
	case LOCI_OWNER_THREAD_GROUP:
		return true;
	case LOCI_OWNER_PAIR:
		return has_pairs(fold);
	default:
		return has_code(fold) && loci_owner_table(owner) != TABLE_NONE;
	}
}

int loci_fold_note(const struct fold *fold, char **note, struct loci_err *err)
{
	int r = 0;

	if (!has_code(fold))
		r = loci_sum_text(note,
			"left out because not all of the merged profiles have it: what is known of "
			"code and data");
	else if (!has_pairs(fold))
		r = loci_sum_text(
			note, "left out because not all of the merged profiles have them: pairs");
	if (r == 0 && has_code(fold) && !has_operations(fold))
		r = loci_sum_text(note,
			"left out because not all of the merged profiles have them: operations");
	if (r == 0 && has_code(fold) && !has_footprints(fold))
		r = loci_sum_text(note,
			"left out because not all of the merged profiles have them: distinct "
			"bytes");
	if (r == 0 && fold->with[TABLE_memory_use])
		r = loci_sum_text(note,
			"merging left out the smallest memory that holds a share "
			"of the accesses");
	if (r == 0 && has_code(fold) && fold->with[TABLE_piece] && !has_pieces(fold))
		r = loci_sum_text(note,
			"left out because not all of the merged profiles have them, or their "
			"caches: pieces of arrays");
	if (r == 0 && fold->with[TABLE_coherence] && !has_coherence(fold, UINT64_MAX))
		r = loci_sum_text(note,
			"left out because not all of the merged profiles have it: what threads met "
			"of each other, but for each thread's own");
	if (r == 0 && fold->other_levels)
		r = loci_sum_text(note,
			"left out because the merged profiles were recorded with different "
			"caches: hits and misses counted while recording");
	return r < 0 ? loci_err_nomem(err) : 0;
}

/* What a thread met is its own, whoever else is there. */
static bool is_coherence_put(const struct fold *fold, const struct loci_coherence_row *row)
{
	if (row->owner == LOCI_OWNER_THREAD || row->owner == LOCI_OWNER_THREAD_GROUP)
		return fold->grains & row->block_bytes;
	return has_coherence(fold, row->block_bytes) && loci_fold_is_whole(fold, row->owner);
}

static bool is_put(const struct fold *fold, enum table_id id, const void *row)
{
	const struct loci_level_count_row *count = row;
	const struct loci_shared_blocks_row *shared = row;
	const struct loci_piece_row *piece = row;

	switch (id) {
	case TABLE_process:
	case TABLE_thread_group:
	case TABLE_mistake:
	case TABLE_sampling:
		return true;
	case TABLE_coherence:
		return is_coherence_put(fold, row);
	case TABLE_shared_blocks:
		return has_coherence(fold, shared->block_bytes);
	case TABLE_sharing:
		return has_code(fold) && has_coherence(fold, UINT64_MAX);
	case TABLE_level:
		return !fold->other_levels;
	case TABLE_level_count:
		return !fold->other_levels && loci_fold_is_whole(fold, count->owner);
	case TABLE_pair:
		return has_pairs(fold);
	case TABLE_block:
	case TABLE_operation:
	case TABLE_invocation:
	case TABLE_execution:
		return has_operations(fold);
	case TABLE_footprint:
		return has_footprints(fold);
	case TABLE_piece:
		return has_pieces(fold) && fold->grains & piece->block_bytes;
	default:
		return has_code(fold);
	}
}

int loci_fold_put(const struct fold *fold, struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (enum table_id id = TABLE_thread + 1; id < TABLE_END; id++)
		for (size_t i = 0; r == 0 && i < fold->table[id].n; i++)
			if (is_put(fold, id, loci_fold_row(fold, id, i)))
				r = loci_table_insert(profile, loci_dimension_table(id),
					loci_fold_row(fold, id, i), err);
	return r;
}
