// SPDX-License-Identifier: GPL-2.0-or-later
/* What each level of a hierarchy satisfies, and cycles. Every level sees every touch; a real outer
 * level sees the inner ones' misses only and orders its LRU by them. */
#include "model/predict.h"

/* What hits inside hits outside too if each outer set takes blocks of one inner set only and holds
 * at least as many. Where more threads share the outer one, theirs may fill it. */
static bool includes(const struct loci_prediction *outside, const struct loci_prediction *inside)
{
	const struct loci_cache *outer = &outside->cache, *inner = &inside->cache;
	uint64_t outer_ways = outer->ways ? outer->ways : loci_cache_blocks(outer);
	uint64_t inner_ways = inner->ways ? inner->ways : loci_cache_blocks(inner);

	if (outside->is_threaded &&
		(outer->share != inner->share || outer->share_n != inner->share_n))
		return false;
	return outer->line_bytes == inner->line_bytes && outer_ways >= inner_ways &&
		loci_cache_sets(outer) % loci_cache_sets(inner) == 0;
}

void loci_predict_hits(struct loci_prediction *prediction, size_t n, enum loci_policy policy)
{
	const struct loci_prediction *inner = NULL;
	double reaching = 0; /* touches no inner level has satisfied */

	for (size_t i = 0; i < n; i++) {
		struct loci_prediction *p = &prediction[i];
		double missing = p->misses;

		if (p->cache.is_tlb) {
			p->hits = p->accesses - p->misses;
			p->hits_estimated = false;
			continue;
		}
		if (!inner)
			reaching = p->accesses;
		else
			p->hits_estimated = policy != LOCI_POLICY_LRU || !includes(p, inner);
		if (missing > reaching)
			missing = reaching;
		p->hits = reaching - missing;
		reaching = missing;
		inner = p;
	}
}

double loci_predict_cycles(
	const struct loci_hierarchy *hierarchy, const struct loci_prediction *prediction)
{
	double accesses = 0, left = 0, cycles = 0;

	for (unsigned i = 0; i < hierarchy->n_levels; i++) {
		if (prediction[i].cache.is_tlb)
			continue;
		if (!(hierarchy->level[i].latency_cycles > 0))
			return 0;
		if (!accesses)
			left = accesses = prediction[i].accesses;
		cycles += prediction[i].hits * hierarchy->level[i].latency_cycles;
		left -= prediction[i].hits;
	}
	if (!(accesses > 0) || !(hierarchy->memory_cycles > 0))
		return 0;
	return (cycles + left * hierarchy->memory_cycles) / accesses;
}
