// SPDX-License-Identifier: GPL-2.0-or-later
/* Sampling of blocks where coherent stacks may not grow any more (after SHARDS, Waldspurger et al.
 * 2015): only blocks whose hash is below a threshold are followed, by all members, and the
 * threshold is halved whenever they become too many. A distance is the followed blocks and holes
 * above, times 2^shift, and weighs as much. Holes have no hash: every other one is kept. */
#include "engine/coherent_state.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_SHIFT 48

/* The stack of a member, while its entries may be anywhere. */
struct kept {
	uint64_t *hash;
	uint8_t *is_hole;
	size_t n;
};

static void kept_free(struct kept *kept, uint32_t n)
{
	for (uint32_t i = 0; kept && i < n; i++) {
		free(kept[i].hash);
		free(kept[i].is_hole);
	}
	free(kept);
}

static int keep_stack(const struct loci_coherent *coherent,
	const struct loci_coherent_member *member, struct kept *kept)
{
	size_t n_all = member->n_deep + LOCI_STACK_TOP;
	bool keep_hole = false;
	size_t n = 0;

	kept->hash = calloc(n_all, sizeof(*kept->hash));
	kept->is_hole = calloc(n_all, 1);
	if (!kept->hash || !kept->is_hole)
		return -ENOMEM;
	n_all = loci_coherent_get_stack(coherent, member, kept->hash, kept->is_hole);
	for (size_t i = 0; i < n_all; i++) {
		if (kept->is_hole[i])
			keep_hole = !keep_hole;
		if (kept->is_hole[i] ? !keep_hole : !loci_coherent_follows(coherent, kept->hash[i]))
			continue;
		kept->hash[n] = kept->hash[i];
		kept->is_hole[n++] = kept->is_hole[i];
	}
	kept->n = n;
	return 0;
}

static bool keep_entry(void *data, uint64_t key, uint64_t stamp, uint32_t slot)
{
	struct loci_coherent *coherent = data;
	uint32_t state = slot;

	(void)stamp;
	if (loci_coherent_follows(coherent, key))
		return true;
	if (slot >= LOCI_COHERENT_RECORD) {
		state = loci_coherent_forget(coherent, slot - LOCI_COHERENT_RECORD);
	}
	coherent->blocks[state - LOCI_COHERENT_ALONE]--;
	return false;
}

static int follow_less(struct loci_coherent *coherent, struct kept *kept)
{
	int r = 0;

	coherent->shift++;
	for (uint32_t i = 0; r == 0 && i < coherent->n_members; i++)
		if (coherent->member[i]) {
			r = loci_coherent_tally_settle(coherent->tally[i]);
			if (r == 0)
				r = keep_stack(coherent, coherent->member[i], &kept[i]);
		}
	if (r < 0)
		return r;
	loci_stack_map_filter(&coherent->map, NULL, keep_entry, coherent);
	for (uint32_t i = 0; r == 0 && i < coherent->n_members; i++)
		if (coherent->member[i])
			r = loci_coherent_set_stack(coherent, coherent->member[i], kept[i].hash,
				kept[i].is_hole, kept[i].n);
	return r;
}

int loci_coherent_sample_less(struct loci_coherent *coherent, struct loci_err *err)
{
	struct kept *kept;
	int r;

	if (coherent->shift == MAX_SHIFT)
		return loci_err_set(err, EOVERFLOW, "too many blocks for the memory given");
	kept = calloc(coherent->n_members, sizeof(*kept));
	if (!kept)
		return loci_err_nomem(err);
	r = follow_less(coherent, kept);
	kept_free(kept, coherent->n_members);
	return r < 0 ? loci_err_nomem(err) : 0;
}
