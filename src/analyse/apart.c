// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/apart.h"

#include "analyse/grow.h"

#include <errno.h>
#include <stdlib.h>

int loci_apart_new(
	const uint64_t *block, size_t n_blocks, struct loci_apart **ret, struct loci_err *err)
{
	const struct loci_coherent_options options = { 0 };
	struct loci_apart *apart = calloc(1, sizeof(*apart));
	int r = apart ? 0 : loci_err_nomem(err);

	if (r < 0)
		return r;
	loci_hist_init(&apart->remote, LOCI_SCHEME_FINE);
	r = loci_coherent_new(&options, &apart->alone, err);
	if (r == 0)
		r = loci_coherent_new(&options, &apart->all, err);
	if (r == 0)
		r = loci_coherent_adopt(apart->alone, 0, block, n_blocks, 1, err);
	if (r == 0)
		r = loci_coherent_adopt(apart->all, 0, block, n_blocks, 1, err);
	if (r < 0) {
		loci_apart_free(apart);
		return r;
	}
	*ret = apart;
	return 0;
}

void loci_apart_free(struct loci_apart *apart)
{
	if (!apart)
		return;
	loci_coherent_free(apart->alone);
	loci_coherent_free(apart->all);
	for (size_t i = 0; i < apart->n_lost; i++)
		loci_hist_fini(&apart->lost[i]);
	free(apart->lost);
	loci_hist_fini(&apart->remote);
	free(apart);
}

static int reserve(struct loci_apart *apart, uint32_t member)
{
	if (loci_grow(&apart->lost, &apart->lost_cap, (size_t)member + 1, sizeof(*apart->lost)) < 0)
		return -ENOMEM;
	for (; apart->n_lost <= member; apart->n_lost++)
		loci_hist_init(&apart->lost[apart->n_lost], LOCI_SCHEME_FINE);
	return 0;
}

static int add(struct loci_hist *hist, uint64_t distance)
{
	if (distance != LOCI_INFINITE)
		return loci_hist_add(hist, distance, 1);
	hist->cold++;
	return 0;
}

static int count_turn(
	struct loci_apart *apart, uint32_t member, size_t from, size_t to, const bool *is_counted)
{
	int r = reserve(apart, member);

	for (size_t i = from; r == 0 && i < to; i++) {
		if (!is_counted[i] || !(apart->kind[i] & LOCI_COHERENT_REMOTE))
			continue;
		r = add(&apart->lost[member], apart->distance[i]);
		if (r == 0)
			r = add(&apart->remote, apart->all_distance[i]);
	}
	return r;
}

int loci_apart_use(struct loci_apart *apart, const struct loci_coherent_touches *touches,
	const bool *is_counted, struct loci_err *err)
{
	static const uint32_t first = 0, nobody = 0;
	struct loci_coherent_touches own = *touches, all;
	int r;

	own.is_write = apart->reads;
	own.ret_distance = apart->distance;
	own.ret_kind = apart->kind;
	own.ret_lost_to = NULL;
	all = own;
	all.ret_distance = apart->all_distance;
	all.ret_kind = apart->all_kind;
	all.turn_touch = &first;
	all.turn_member = &nobody;
	all.n_turns = 1;
	r = loci_coherent_feed(apart->alone, &own, err);
	if (r == 0)
		r = loci_coherent_feed(apart->all, &all, err);
	for (size_t k = 0; r == 0 && k < own.n_turns; k++) {
		size_t end = k + 1 < own.n_turns ? own.turn_touch[k + 1] : own.n;

		if (count_turn(apart, own.turn_member[k], own.turn_touch[k], end, is_counted) < 0)
			r = loci_err_nomem(err);
	}
	return r;
}
