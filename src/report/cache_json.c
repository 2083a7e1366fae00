// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/cache_table.h"

#include "report/pairs.h"

#include <math.h>

static const char *const shares[] = {
	[LOCI_SHARE_PRIVATE] = "private",
	[LOCI_SHARE_ALL] = "shared",
	[LOCI_SHARE_SOME] = "some",
};

static void put_cache(const struct loci_cache *cache, struct loci_json *json)
{
	loci_pair_string(json, "name", cache->name);
	loci_pair_u64(json, "size_bytes", cache->size_bytes);
	loci_pair_u64(json, "ways", cache->ways);
	loci_pair_u64(json, "sets", loci_cache_sets(cache));
	loci_pair_u64(json, "line_bytes", cache->line_bytes);
	loci_pair_string(json, "share", shares[cache->share]);
	loci_pair_u64(json, "share_threads", cache->share == LOCI_SHARE_SOME ? cache->share_n : 0);
	loci_pair_bool(json, "tlb", cache->is_tlb);
}

void loci_cache_table_json_row(const struct loci_prediction *p, struct loci_json *json)
{
	put_cache(&p->cache, json);
	loci_pair_string(json, "basis", loci_basis_name(p->basis));
	loci_pair_string(json, "why", p->why);
	loci_pair_number(json, "error_points", p->error_points);
	loci_pair_number(json, "chance_points", p->chance_points);
	loci_pair_number(json, "accesses", p->accesses);
	loci_pair_number(json, "hits", p->hits);
	loci_pair_bool(json, "hits_estimated", p->hits_estimated);
	loci_pair_number(json, "misses", p->misses);
	loci_pair_number(
		json, "reference_misses", p->has_reference_misses ? p->reference_misses : NAN);
	loci_pair_number(json, "miss_ratio", p->accesses > 0 ? p->misses / p->accesses : 0);
	/* NAN becomes null: not known is not nothing */
	loci_pair_number(json, "cold", p->has_split ? p->cold : NAN);
	loci_pair_number(json, "capacity", p->has_split ? p->capacity : NAN);
	loci_pair_number(json, "conflict", p->has_split ? p->conflict : NAN);
	loci_pair_number(json, "coherence", p->has_split ? p->coherence : NAN);
	loci_pair_number(json, "split_error_points", p->has_split ? p->split_points : NAN);
	loci_pair_number(json, "writebacks", p->has_writebacks ? p->writebacks : NAN);
	loci_pair_number(json, "moved_bytes", p->cache.is_tlb ? NAN : p->moved_bytes);
	loci_pair_bool(json, "threaded", p->is_threaded);
	loci_pair_number(json, "true_sharing", p->has_sharing ? p->true_sharing : NAN);
	loci_pair_number(json, "false_sharing", p->has_sharing ? p->false_sharing : NAN);
	loci_pair_number(json, "remote", p->has_sharing ? p->remote : NAN);
}

void loci_cache_table_json(const struct loci_cache_table *table, struct loci_json *json)
{
	loci_json_array(json);
	for (size_t i = 0; i < table->n; i++) {
		loci_json_object(json);
		loci_cache_table_json_row(&table->row[i], json);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}
