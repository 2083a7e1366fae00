// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/answer.h"

#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *loci_version(void)
{
	return LOCI_VERSION;
}

int loci_api_result(int r, const struct loci_err *err, struct loci_error *error)
{
	if (!error)
		return r;
	if (r >= 0)
		error->text[0] = '\0';
	else
		snprintf(error->text, sizeof(error->text), "%s",
			err->text[0] ? err->text : strerror(-r));
	return r;
}

int loci_api_options(unsigned flags, struct loci_predict_options *ret, struct loci_err *err)
{
	if (flags & ~(unsigned)(LOCI_ASK_RANDOM | LOCI_ASK_FROM_TIME))
		return loci_err_set(
			err, EINVAL, "flags 0x%x are not known to loci " LOCI_VERSION, flags);
	*ret = (struct loci_predict_options){
		.policy = flags & LOCI_ASK_RANDOM ? LOCI_POLICY_RANDOM : LOCI_POLICY_LRU,
		.from_time =
			flags & LOCI_ASK_FROM_TIME ? LOCI_CONVERT_STATSTACK : LOCI_CONVERT_NONE,
	};
	return 0;
}

int loci_api_room(const struct loci_hierarchy *hierarchy, size_t n, struct loci_err *err)
{
	if (hierarchy->n_levels > n)
		return loci_err_set(err, ENOSPC, "%s has %u levels, and there is room for %zu",
			hierarchy->name, hierarchy->n_levels, n);
	return 0;
}

_Static_assert(sizeof(((struct loci_answer *)0)->name) >= sizeof(((struct loci_cache *)0)->name),
	"a level's name fits");
_Static_assert(LOCI_ASK_LEVELS >= LOCI_LEVELS_MAX, "every hierarchy fits");

void loci_api_answer(const struct loci_prediction *prediction, struct loci_answer *ret)
{
	const struct loci_cache *cache = &prediction->cache;

	*ret = (struct loci_answer){
		.size_bytes = cache->size_bytes,
		.line_bytes = cache->line_bytes,
		.ways = cache->ways,
		.accesses = prediction->accesses,
		.misses = prediction->misses,
		.hits = prediction->hits,
		.cold = prediction->cold,
		.capacity = prediction->capacity,
		.conflict = prediction->conflict,
		.writebacks = prediction->has_writebacks ? prediction->writebacks : -1,
		.moved_bytes = prediction->moved_bytes,
		.error_points = prediction->error_points,
	};
	snprintf(ret->name, sizeof(ret->name), "%s", cache->name);
	snprintf(ret->basis, sizeof(ret->basis), "%s", loci_basis_name(prediction->basis));
}
