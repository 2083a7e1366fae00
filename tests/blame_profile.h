/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile small enough to add up by hand: four sites, two objects, three pairs, a first level of
 * 16 blocks.
 *
 *	site  where                 refs  misses  distances
 *	1     mm.c:14 mul            120      70  50 at 3, 60 at 20, 10 cold    100 to b, 20 to a
 *	2     mm.c:14 mul             60      30  30 at 5, 30 at 40             60 to b
 *	3     mm.c:5 dot, in mul      40      10  30 at 2, 10 cold              40 to a
 *	4     libfoo.so+0x40 foo      30       5  30 at 10                      30 to nothing known
 *	none                          10       5  10 cold
 *	                             260     120
 *
 * Variant 1 is the same program rebuilt: mm.c has three lines more at its top, site 1 misses 20
 * times, site 4 is gone and site 5 is new. */
#ifndef LOCI_TESTS_BLAME_PROFILE_H
#define LOCI_TESTS_BLAME_PROFILE_H

#include "profile/dimension.h"

#include <stdlib.h>

#define BLAME_CHAIN 100000 /* contexts below one another */

static struct loci_err blame_err;
static struct loci_profile *blame_profile;

#define BLAME_PUT(table, ...)                                                         \
	do {                                                                          \
		struct loci_##table##_row row_ = { __VA_ARGS__ };                     \
		if (loci_profile_put_##table(blame_profile, &row_, &blame_err) < 0) { \
			fprintf(stderr, "%s: %s\n", #table, blame_err.text);          \
			exit(1);                                                      \
		}                                                                     \
	} while (0)

struct blame_bar {
	uint64_t distance;
	double weight;
};

static void blame_hist(enum loci_owner owner, int64_t id, enum loci_scheme scheme, double cold,
	const struct blame_bar *bar, size_t n)
{
	struct loci_hist_key key = {
		.distance = LOCI_DISTANCE_STACK, .block_bytes = 64, .owner = owner, .owner_id = id
	};
	struct loci_hist hist;

	loci_hist_init(&hist, scheme);
	hist.cold = cold;
	for (size_t i = 0; i < n; i++)
		if (loci_hist_add(&hist, bar[i].distance, bar[i].weight) < 0)
			exit(1);
	if (loci_profile_put_hist(blame_profile, &key, &hist, &blame_err) < 0) {
		fprintf(stderr, "%s\n", blame_err.text);
		exit(1);
	}
	loci_hist_fini(&hist);
}

/* first_hits at the first level are what does not miss it. */
static void blame_count(enum loci_owner owner, int64_t id, uint64_t touches, uint64_t misses,
	uint64_t outer, uint64_t writebacks)
{
	BLAME_PUT(level_count, .level_id = 1, .owner = owner, .owner_id = id,
		.first_hits = touches - misses, .misses = misses, .writebacks = writebacks);
	BLAME_PUT(level_count, .level_id = 2, .owner = owner, .owner_id = id,
		.first_hits = misses - outer, .misses = outer);
}

static void blame_put_code(int variant, const char *source)
{
	unsigned shift = variant ? 3 : 0;

	BLAME_PUT(module, .id = 1, .path = "/bin/mm");
	BLAME_PUT(module, .id = 2, .path = "/usr/lib/libfoo.so");
	BLAME_PUT(source, .id = 1, .path = source);
	BLAME_PUT(function, .id = 1, .module_id = 1, .name = "main", .source_id = 1,
		.line = 20 + shift);
	BLAME_PUT(function, .id = 2, .module_id = 1, .name = "app::mul(int)", .mangled = "_Zmul",
		.source_id = 1, .line = 9 + shift);
	BLAME_PUT(function, .id = 3, .module_id = 1, .name = "dot", .source_id = 1,
		.line = 4 + shift);
	BLAME_PUT(function, .id = 4, .module_id = 2, .name = "foo");
	BLAME_PUT(inlined, .id = 1, .function_id = 3, .source_id = 1, .line = 14 + shift);
	BLAME_PUT(loop, .id = 1, .function_id = 2, .source_id = 1, .line = 12 + shift,
		.iterations = 9);
	BLAME_PUT(site, .id = 1, .site_key = "mul+5#0", .function_id = 2, .loop_id = 1,
		.source_id = 1, .line = 14 + shift, .op = "load", .size_bytes = 8, .refs = 120);
	BLAME_PUT(site, .id = 2, .site_key = "mul+5#1", .function_id = 2, .loop_id = 1,
		.source_id = 1, .line = 14 + shift, .op = "load", .size_bytes = 8, .refs = 60);
	BLAME_PUT(site, .id = 3, .site_key = "mul+5<dot+1#0", .function_id = 2, .inlined_id = 1,
		.source_id = 1, .line = 5 + shift, .op = "store", .size_bytes = 8, .refs = 40);
	if (!variant)
		BLAME_PUT(site, .id = 4, .site_key = "foo+0#0", .function_id = 4,
			.code_offset = 0x40, .op = "load", .size_bytes = 4, .refs = 30);
	else
		BLAME_PUT(site, .id = 5, .site_key = "main+1#0", .function_id = 1, .source_id = 1,
			.line = 21 + shift, .op = "load", .size_bytes = 4, .refs = 30);
}

static void blame_put_data(int variant)
{
	BLAME_PUT(object, .id = 1, .kind = "heap", .name = "b", .size_bytes = 4096,
		.allocations = 1, .function_id = 1, .source_id = 1, .line = 21, .refs = 160);
	BLAME_PUT(object, .id = 2, .kind = "global", .name = "a", .type = "struct p",
		.size_bytes = 64, .refs = 60);
	BLAME_PUT(field, .id = 1, .object_id = 2, .name = "x", .offset_bytes = 0, .size_bytes = 8);
	BLAME_PUT(access, .id = 1, .site_id = 1, .object_id = 1, .refs = 100, .stride_bytes = 64,
		.regular_refs = 100, .fills = 50, .used_bytes = 400);
	BLAME_PUT(access, .id = 2, .site_id = 2, .object_id = 1, .refs = 60, .stride_bytes = 64,
		.regular_refs = 50, .fills = 30, .used_bytes = 240);
	BLAME_PUT(access, .id = 3, .site_id = 1, .object_id = 2, .refs = 20, .fills = 10,
		.used_bytes = 640);
	BLAME_PUT(access, .id = 4, .site_id = 3, .object_id = 2, .field_id = 1, .refs = 40,
		.stride_bytes = 0, .regular_refs = 40, .fills = 10, .used_bytes = 80);
	if (!variant)
		BLAME_PUT(access, .id = 5, .site_id = 4, .refs = 30, .fills = 5, .used_bytes = 20);
}

static void blame_put_contexts(void)
{
	BLAME_PUT(context, .id = 6, .function_id = 1, .refs = 10); /* main, of a later id */
	BLAME_PUT(context, .id = 2, .parent_id = 6, .function_id = 2, .source_id = 1, .line = 22,
		.refs = 200);
	for (int64_t i = 0; i < BLAME_CHAIN; i++)
		BLAME_PUT(context, .id = 10 + i, .parent_id = i ? 9 + i : 6, .function_id = 4,
			.refs = 0);
}

static void blame_put_pairs(void)
{
	static const struct blame_bar near[] = { { 20, 50 } }, far[] = { { 40, 30 } };

	BLAME_PUT(pair, .id = 1, .use_site_id = 1, .reuse_site_id = 1, .object_id = 1,
		.kind = "RAR", .common_context_id = 2, .loop_id = 1, .refs = 50);
	BLAME_PUT(pair, .id = 2, .use_site_id = 1, .reuse_site_id = 2, .object_id = 1,
		.kind = "RAR", .common_context_id = 2, .loop_id = 1, .refs = 30);
	BLAME_PUT(pair, .id = 3, .use_site_id = 3, .reuse_site_id = 1, .object_id = 2,
		.kind = "RAW", .common_context_id = 6, .recycled = true, .refs = 10);
	blame_hist(LOCI_OWNER_PAIR, 1, LOCI_SCHEME_COARSE, 0, near, 1);
	blame_hist(LOCI_OWNER_PAIR, 2, LOCI_SCHEME_COARSE, 0, far, 1);
}

static void blame_put_counts(int variant)
{
	static const struct blame_bar whole[] = { { 2, 30 }, { 3, 50 }, { 5, 30 }, { 10, 30 },
		{ 20, 60 }, { 40, 30 } };
	static const struct blame_bar one[] = { { 3, 50 }, { 20, 60 } },
				      two[] = { { 5, 30 }, { 40, 30 } }, three[] = { { 2, 30 } },
				      four[] = { { 10, 30 } };

	blame_count(LOCI_OWNER_WHOLE, 0, 260, variant ? 90 : 120, 40, 30);
	blame_count(LOCI_OWNER_SITE, 1, 120, variant ? 20 : 70, 20, 0);
	blame_count(LOCI_OWNER_SITE, 2, 60, 30, 15, 0);
	blame_count(LOCI_OWNER_SITE, 3, 40, 10, 5, 4);
	blame_count(LOCI_OWNER_SITE, variant ? 5 : 4, 30, variant ? 25 : 5, 0, 0);
	blame_count(LOCI_OWNER_ACCESS, 1, 100, 60, 15, 0);
	blame_count(LOCI_OWNER_ACCESS, 2, 60, 30, 15, 0);
	blame_count(LOCI_OWNER_ACCESS, 3, 20, 10, 5, 0);
	blame_count(LOCI_OWNER_ACCESS, 4, 40, 10, 5, 4);
	if (!variant)
		blame_count(LOCI_OWNER_ACCESS, 5, 30, 5, 0, 0);
	blame_count(LOCI_OWNER_OBJECT, 1, 160, variant ? 50 : 90, 30, 0);
	blame_count(LOCI_OWNER_OBJECT, 2, 60, 20, 10, 4);
	blame_count(LOCI_OWNER_FIELD, 1, 40, 10, 5, 4);
	blame_count(LOCI_OWNER_CONTEXT, 6, 10, 5, 0, 0);
	blame_count(LOCI_OWNER_CONTEXT, 2, 200, 100, 40, 4);
	blame_count(LOCI_OWNER_CONTEXT, 9 + BLAME_CHAIN, 50, 7, 0, 0);
	blame_count(LOCI_OWNER_PAIR, 1, 50, 50, 10, 0);
	blame_count(LOCI_OWNER_PAIR, 2, 30, 30, 10, 0);
	blame_count(LOCI_OWNER_PAIR, 3, 10, 10, 5, 0);
	blame_hist(LOCI_OWNER_WHOLE, 0, LOCI_SCHEME_FINE, 30, whole, 6);
	blame_hist(LOCI_OWNER_SITE, 1, LOCI_SCHEME_COARSE, 10, one, 2);
	blame_hist(LOCI_OWNER_SITE, 2, LOCI_SCHEME_COARSE, 0, two, 2);
	blame_hist(LOCI_OWNER_SITE, 3, LOCI_SCHEME_COARSE, 10, three, 1);
	blame_hist(LOCI_OWNER_SITE, variant ? 5 : 4, LOCI_SCHEME_COARSE, 0, four, 1);
}

/* source: the path of mm.c. */
static void blame_make(const char *path, int variant, const char *source, const char *started)
{
	struct loci_run run = { .command = "./mm",
		.collector = "any",
		.mode = "exact",
		.unit = "byte",
		.capabilities = "complete stores sites",
		.caches = "L1=1K/2,L2=4K",
		.started = (char *)started,
		.seconds = 1,
		.complete = true,
		.references = 260,
		.loads = 220,
		.stores = 40,
		.threads = 1,
		.merged = 1 };
	struct loci_grain grain = {
		.block_bytes = 64, .touches = 260, .writes = 40, .blocks = 30, .sampling_rate = 1
	};
	struct loci_thread_totals thread = { .thread = 1, .references = 260 };

	if (loci_profile_create(path, &blame_profile, &blame_err) < 0 ||
		loci_profile_put_run(blame_profile, &run, &blame_err) < 0 ||
		loci_profile_put_grain(blame_profile, &grain, &blame_err) < 0 ||
		loci_profile_put_thread(blame_profile, &thread, &blame_err) < 0) {
		fprintf(stderr, "%s\n", blame_err.text);
		exit(1);
	}
	BLAME_PUT(process, .id = 1, .pid = 42, .command = "./mm");
	BLAME_PUT(level, .id = 1, .name = "L1", .size_bytes = 1024, .ways = 2, .line_bytes = 64,
		.share = "private");
	BLAME_PUT(level, .id = 2, .name = "L2", .size_bytes = 4096, .line_bytes = 64,
		.share = "shared");
	blame_put_code(variant, source);
	blame_put_data(variant);
	blame_put_contexts();
	blame_put_pairs();
	blame_put_counts(variant);
	if (loci_profile_commit(blame_profile, &blame_err) < 0) {
		fprintf(stderr, "%s\n", blame_err.text);
		exit(1);
	}
	loci_profile_close(blame_profile);
	blame_profile = NULL;
}

#endif
