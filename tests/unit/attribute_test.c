// SPDX-License-Identifier: GPL-2.0-or-later
/* What is attributed to sites, objects, loops and pairs, counted by hand. */
#include "attribution.h"

#include <errno.h>
#include <pthread.h>

static const struct loci_level_row two_levels[] = {
	{ .name = "L1", .size_bytes = 2 * 64, .ways = 2, .line_bytes = 64, .share = "private" },
	{ .name = "L2", .size_bytes = 4 * 64, .ways = 0, .line_bytes = 64, .share = "shared" },
};

static const struct loci_analyse_options options = { .attribute = true,
	.no_sets = true,
	.pairs = LOCI_PAIRS_ALL,
	.levels = two_levels,
	.n_levels = LOCI_ARRAY_SIZE(two_levels) };

#define A 0x100000
#define B 0x200000

static const struct loci_access_row *access_of(
	struct loci_profile *profile, int64_t site, int64_t object)
{
	GET(profile, access, accesses);
	for (size_t i = 0; i < n_access; i++)
		if (access[i].site_id == site && access[i].object_id == object)
			return &access[i];
	CHECK_FAIL("site %" PRId64 " has no access to object %" PRId64, site, object);
	return access;
}

/* One site walks over a with stride 8, one over b with stride 72, then with no stride at all. */
static void check_strides(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_access_row *access;
	struct words w = { 0 };
	uint64_t random = 1;

	DEFINE(&w, 1, 0, LOAD(0x1000), STORE(0x1004));
	DEFINE(&w, 2, 0, BYTES(4, 0x1010));
	object(&w, A, 0x10000, "a");
	object(&w, B, 0x10000, "b");
	for (uint64_t i = 0; i < 100; i++)
		RUN(&w, 1, A + 8 * i, B + 72 * i);
	for (uint64_t i = 0; i < 200; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		RUN(&w, 2, A + 4 * (random >> 52));
	}
	for (uint64_t i = 0; i < 50; i++)
		RUN(&w, 2, B + 4 * i);
	profile = attributed(&w, &options);
	access = access_of(profile, site_id(profile, 0x1000, "load"), object_named(profile, "a"));
	CHECK_U64(access->refs, 100);
	CHECK_U64((uint64_t)access->stride_bytes, 8);
	/* the first has no stride, the second differs from none, the 3rd to 15th are the 2nd to
	 * 14th in agreement */
	CHECK_U64(access->regular_refs, 100 - 15);
	CHECK_U64(access->fills, 13);
	CHECK_U64(access->used_bytes, 800);
	access = access_of(profile, site_id(profile, 0x1004, "store"), object_named(profile, "b"));
	CHECK_U64((uint64_t)access->stride_bytes, 72);
	CHECK_U64(access->regular_refs, 100 - 15);
	CHECK_U64(access->fills, 100);
	CHECK_U64(access->used_bytes, 800);
	access = access_of(profile, site_id(profile, 0x1010, "load"), object_named(profile, "a"));
	CHECK_U64(access->refs, 200);
	CHECK_U64(access->regular_refs, 0);
	CHECK_U64((uint64_t)access->stride_bytes, 0);
	access = access_of(profile, site_id(profile, 0x1010, "load"), object_named(profile, "b"));
	CHECK_U64(access->refs, 50);
	CHECK_U64(access->regular_refs, 50 - 15);
	CHECK_U64((uint64_t)access->stride_bytes, 4);
	free(w.word);
}

/* One odd stride in 16 does no harm, two do. */
static void check_stride_history(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };
	uint64_t at = A;

	DEFINE(&w, 1, 0, LOAD(0x1000));
	DEFINE(&w, 2, 0, LOAD(0x2000));
	DEFINE(&w, 3, 0, LOAD(0x3000));
	object(&w, A, 0x10000, "a");
	for (uint64_t i = 0; i < 160; i++, at += i % 16 ? 8 : 1000)
		RUN(&w, 1, at);
	at = A;
	for (uint64_t i = 0; i < 160; i++, at += i % 15 ? 8 : 1000)
		RUN(&w, 2, at);
	at = A;
	for (uint64_t i = 0; i < 160; i++, at += i % 8 ? 8 : 1000)
		RUN(&w, 3, at);
	profile = attributed(&w, &options);
	/* every 16 strides have one odd among them, from the first 15 on, which all agree */
	CHECK_U64(access_of(profile, site_id(profile, 0x1000, "load"), 1)->regular_refs, 160 - 15);
	/* the 15th is odd, and of the 16 that end at the 30th, 45th, .. two are */
	CHECK_U64(access_of(profile, site_id(profile, 0x2000, "load"), 1)->regular_refs,
		160 - 16 - 9);
	CHECK_U64(access_of(profile, site_id(profile, 0x3000, "load"), 1)->regular_refs, 0);
	free(w.word);
}

/* for i < 4: for j < 5 { load }; store: the inner loop is entered in the middle of the outer one's
 * block, as a collector shows it. */
static void check_loops(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };

	DEFINE(&w, 1, LOCI_BLOCK_ENTRY, FRAME(0x1000), LOAD(0x1002));
	DEFINE(&w, 2, 0, LOAD(0x1010), LOAD(0x1020)); /* outer header, and inner body */
	DEFINE(&w, 3, 0, LOAD(0x1020));               /* inner header */
	DEFINE(&w, 4, 0, STORE(0x1030));
	DEFINE(&w, 5, 0, LOAD(0x1050)); /* put apart: reached from the middle, and left for it */
	DEFINE(&w, 6, 0, LOAD(0x1025));
	RUN(&w, 1, 0x7ff000, A);
	for (uint64_t i = 0; i < 4; i++) {
		RUN(&w, 2, A, B);
		for (uint64_t j = 1; j < 5; j++)
			RUN(&w, 3, B + 64 * j);
		if (i % 2)
			RUN(&w, 5, A);
		RUN(&w, 6, A);
		RUN(&w, 4, A + 64);
	}
	profile = attributed(&w, &options);
	{
		GET(profile, loop, loops);
		const struct loci_site_row *inner = site_at(profile, 0x1020, "load");
		const struct loci_site_row *outer = site_at(profile, 0x1030, "store");

		CHECK_U64(n_loop, 2);
		if (n_loop != 2)
			return;
		CHECK_U64(loop[0].iterations, 3);
		CHECK_U64((uint64_t)loop[0].parent_id, 0);
		CHECK_U64(loop[1].iterations, 4 * 4);
		CHECK_U64((uint64_t)loop[1].parent_id, (uint64_t)loop[0].id);
		CHECK_U64((uint64_t)inner->loop_id, (uint64_t)loop[1].id);
		CHECK_U64((uint64_t)outer->loop_id, (uint64_t)loop[0].id);
		CHECK_U64(
			(uint64_t)site_at(profile, 0x1025, "load")->loop_id, (uint64_t)loop[0].id);
		CHECK_U64((uint64_t)site_at(profile, 0x1002, "load")->loop_id, 0);
	}
	free(w.word);
}

/* The same copy of a body several times in one block, as an unrolling collector gives it. */
static void check_unrolled(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };

	DEFINE(&w, 1, LOCI_BLOCK_ENTRY, FRAME(0x1000), LOAD(0x1002));
	DEFINE(&w, 2, 0, LOAD(0x1010), STORE(0x1010), LOAD(0x1010), STORE(0x1010));
	DEFINE(&w, 3, 0, LOAD(0x1020), LOAD(0x1024), LOAD(0x1020), LOAD(0x1024));
	RUN(&w, 1, 0x7ff000, A);
	for (uint64_t i = 0; i < 10; i += 2)
		RUN(&w, 2, A + 8 * i, A + 8 * i, A + 8 * (i + 1), A + 8 * (i + 1));
	RUN(&w, 3, B, B + 8, B + 16, B + 24);
	RUN(&w, 3, B + 32, B + 40);
	profile = attributed(&w, &options);
	{
		GET(profile, loop, loops);
		GET(profile, site, sites);

		CHECK_U64(n_site, 5);
		CHECK_U64(site_at(profile, 0x1010, "load")->refs, 10);
		CHECK_U64(site_at(profile, 0x1010, "store")->refs, 10);
		CHECK_U64(site_at(profile, 0x1020, "load")->refs, 3);
		CHECK_U64(n_loop, 2);
		CHECK_U64(n_loop ? loop[0].iterations : 0, 9);
		CHECK_U64(n_loop > 1 ? loop[1].iterations : 0, 2);
	}
	free(w.word);
}

static const struct loci_pair_row *pair_of(struct loci_profile *profile, uint64_t use,
	const char *use_op, uint64_t reuse, const char *reuse_op, uint64_t *ret_refs)
{
	const struct loci_pair_row *found = NULL;
	int64_t from = site_id(profile, use, use_op), to = site_id(profile, reuse, reuse_op);

	GET(profile, pair, pairs);
	*ret_refs = 0;
	for (size_t i = 0; i < n_pair; i++)
		if (pair[i].use_site_id == from && pair[i].reuse_site_id == to) {
			found = &pair[i];
			*ret_refs += pair[i].refs;
		}
	if (!found)
		CHECK_FAIL("no pair of 0x%" PRIx64 " and 0x%" PRIx64, use, reuse);
	return found ? found : pair;
}

/* main calls f, which writes, and g, which reads what f wrote: kinds, distances, contexts, common
 * caller, levels. */
static void check_pairs(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_pair_row *found;
	struct words w = { 0 };
	uint64_t refs;
	char path[256];

	DEFINE(&w, 1, LOCI_BLOCK_ENTRY, FRAME(0x1000), LOAD(0x1002));
	DEFINE(&w, 2, LOCI_BLOCK_ENTRY, FRAME(0x2000), STORE(0x2002));
	DEFINE(&w, 3, 0, STORE(0x2002), LOAD(0x2008));
	DEFINE(&w, 4, LOCI_BLOCK_ENTRY, FRAME(0x3000), LOAD(0x3002), STORE(0x3004));
	object(&w, A, 0x1000, "a");
	RUN(&w, 1, 0x7ff000, A);               /* block 0 */
	RUN(&w, 2, 0x7fe000, A);               /* 0: WAR, distance 0 */
	RUN(&w, 3, A + 64, A + 128);           /* 1, 2: cold */
	RUN(&w, 4, 0x7fe000, A, A);            /* 0: RAW from 0x2002, distance 2; WAR */
	RUN(&w, 4, 0x7fe000, A + 64, A + 192); /* 1: RAW, distance 2; 3: cold */
	RUN(&w, 4, 0x7fe000, A + 256, A);      /* 4: cold; 0: WAW from 0x3004, distance 3 */
	profile = attributed(&w, &options);
	{
		GET(profile, pair, pairs);
		uint64_t all = 0;

		for (size_t i = 0; i < n_pair; i++)
			all += pair[i].refs;
		CHECK_U64(all, 5); /* as many as there are reuses */
	}
	found = pair_of(profile, 0x1002, "load", 0x2002, "store", &refs);
	CHECK_STR(found->kind, "WAR");
	CHECK_U64(refs, 1);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_PAIR, found->id, 0), 1, 0);
	CHECK_STR(context_path(profile, found->use_context_id, path, sizeof(path)), "0x1000");
	CHECK_STR(context_path(profile, found->reuse_context_id, path, sizeof(path)),
		"0x2000<0x1000");
	CHECK_STR(context_path(profile, found->common_context_id, path, sizeof(path)), "0x1000");
	CHECK_U64(level_count(profile, 1, LOCI_OWNER_PAIR, found->id).first_hits, 1);
	found = pair_of(profile, 0x2002, "store", 0x3002, "load", &refs);
	CHECK_STR(found->kind, "RAW");
	CHECK_U64(refs, 2);
	CHECK(!found->recycled);
	CHECK_U64((uint64_t)found->object_id, (uint64_t)object_named(profile, "a"));
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_PAIR, found->id, 2), 2, 0);
	CHECK_STR(context_path(profile, found->common_context_id, path, sizeof(path)), "0x1000");
	CHECK_U64(level_count(profile, 1, LOCI_OWNER_PAIR, found->id).misses, 2);
	CHECK_U64(level_count(profile, 2, LOCI_OWNER_PAIR, found->id).first_hits, 2);
	CHECK_U64(level_count(profile, 2, LOCI_OWNER_PAIR, found->id).misses, 0);
	found = pair_of(profile, 0x3004, "store", 0x3004, "store", &refs);
	CHECK_STR(found->kind, "WAW");
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_PAIR, found->id, 3), 1, 0);
	CHECK_STR(context_path(profile, found->common_context_id, path, sizeof(path)),
		"0x3000<0x1000");
	free(w.word);
}

/* Only far reuses, unless all are asked for. */
static void check_far_pairs(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_options far = options;
	struct words w = { 0 };
	uint64_t refs;

	far.pairs = LOCI_PAIRS_FAR;
	DEFINE(&w, 1, 0, LOAD(0x1000));
	DEFINE(&w, 2, 0, LOAD(0x2000));
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 65; i++)
			RUN(&w, 1, A + 64 * i); /* distance 64 */
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < 64; i++)
			RUN(&w, 2, B + 64 * i); /* distance 63 */
	profile = attributed(&w, &far);
	pair_of(profile, 0x1000, "load", 0x1000, "load", &refs);
	CHECK_U64(refs, 2 * 65);
	{
		GET(profile, pair, pairs);

		/* the loop of one block over and over carries all but the reuse of what was touched
		 * before it was known */
		CHECK_U64(n_pair, 2);
		for (size_t i = 0; i < n_pair; i++)
			CHECK_U64(pair[i].refs, pair[i].loop_id ? 2 * 65 - 1 : 1);
	}
	free(w.word);
}

/* Which loop carries a reuse: for i < 3: for j < 4 { for k < 5 load b[k]; load c[j] }, with the
 * references so many bytes of code apart. */
static void check_carriers(uint64_t apart)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };
	uint64_t by_loop[4] = { 0 };
	const uint64_t at_i = 0x1000 + apart, at_j = at_i + apart, at_k = at_j + apart;
	const uint64_t at_c = at_k + apart;
	int64_t b, c;

	DEFINE(&w, 1, LOCI_BLOCK_ENTRY, FRAME(0x1000), LOAD(0x1002));
	DEFINE(&w, 2, 0, LOAD(at_i), LOAD(at_j), LOAD(at_k)); /* headers of i, j and k */
	DEFINE(&w, 3, 0, LOAD(at_j), LOAD(at_k));             /* of j and k */
	DEFINE(&w, 4, 0, LOAD(at_k));
	DEFINE(&w, 5, 0, LOAD(at_c));
	object(&w, A, 0x1000, "a");
	object(&w, B, 0x1000, "b");
	object(&w, 2 * B, 0x1000, "c");
	RUN(&w, 1, 0x7ff000, A);
	for (int again = 0; again < 2; again++) { /* in the second run all loops are known */

		for (uint64_t i = 0; i < 3; i++)
			for (uint64_t j = 0; j < 4; j++) {
				if (j == 0)
					RUN(&w, 2, A, A, B);
				else
					RUN(&w, 3, A, B);
				for (uint64_t k = 1; k < 5; k++)
					RUN(&w, 4, B + 64 * k);
				RUN(&w, 5, 2 * B + 64 * j);
			}
		RUN(&w, 1, 0x7ff000, A); /* again from the start: another entry of all loops */
	}
	profile = attributed(&w, &options);
	b = site_id(profile, at_k, "load");
	c = site_id(profile, at_c, "load");
	{
		GET(profile, loop, loops);
		GET(profile, pair, pairs);

		CHECK_U64(n_loop, 3);
		if (n_loop != 3)
			return;
		CHECK_U64(loop[0].iterations, 2 * 2);
		CHECK_U64(loop[1].iterations, 2 * 3 * 3);
		CHECK_U64(loop[2].iterations, 2 * 3 * 4 * 4);
		for (size_t i = 0; i < n_pair; i++)
			if (pair[i].use_site_id == c && pair[i].reuse_site_id == c)
				by_loop[pair[i].loop_id] += pair[i].refs;
		/* c[j] is used again in the next i: in the second run, 2 of 3 times; the first
		 * reuse of the second run is of the first */
		CHECK_U64(by_loop[2] + by_loop[3], 0);
		CHECK_U64(by_loop[0] + by_loop[1], 5 * 4);
		CHECK(by_loop[1] >= 4 * 2 + 4 && by_loop[1] <= 4 * 4);
		memset(by_loop, 0, sizeof(by_loop));
		for (size_t i = 0; i < n_pair; i++)
			if (pair[i].use_site_id == b && pair[i].reuse_site_id == b)
				by_loop[pair[i].loop_id] += pair[i].refs;
		/* b[k] in the next j; at the first j of an i in the next i */
		CHECK_U64(by_loop[0] + by_loop[1] + by_loop[2] + by_loop[3], 5 * (2 * 3 * 4 - 1));
		CHECK_U64(by_loop[3], 0);
		CHECK(by_loop[2] >= 5 * (3 * 3 + 2 * 3) && by_loop[2] <= 5 * (2 * 3 * 3));
		CHECK(by_loop[1] >= 5 * 2 && by_loop[1] <= 5 * 4 + 5);
	}
	free(w.word);
}

/* A reuse of memory that was allocated after its use is marked; a neighbour's in the same block is
 * not. Memory that was unmapped is cold when it comes back. */
static void check_recycled(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };
	uint64_t refs;

	DEFINE(&w, 1, 0, STORE(0x1000));
	DEFINE(&w, 2, 0, LOAD(0x2000));
	DEFINE(&w, 3, 0, LOAD(0x3000));
	mark(&w, LOCI_MARK_ALLOC, 32, 3, (uint64_t)A, (uint64_t)1, (uint64_t)0x9000);
	mark(&w, LOCI_MARK_ALLOC, 32, 3, (uint64_t)A + 32, (uint64_t)2, (uint64_t)0x9000);
	RUN(&w, 1, A);
	RUN(&w, 2, A + 32); /* the neighbour, alive all the time */
	mark(&w, LOCI_MARK_FREE, 0, 2, (uint64_t)A, (uint64_t)3);
	mark(&w, LOCI_MARK_ALLOC, 32, 3, (uint64_t)A, (uint64_t)4, (uint64_t)0x9100);
	RUN(&w, 3, A);
	RUN(&w, 2, A + 32);
	mark(&w, LOCI_MARK_MAP, 3, 5, (uint64_t)B, (uint64_t)4096, (uint64_t)5, (uint64_t)0,
		(uint64_t)0);
	RUN(&w, 1, B);
	RUN(&w, 1, B);
	mark(&w, LOCI_MARK_UNMAP, 0, 3, (uint64_t)B, (uint64_t)4096, (uint64_t)6);
	mark(&w, LOCI_MARK_MAP, 3, 5, (uint64_t)B, (uint64_t)4096, (uint64_t)7, (uint64_t)0,
		(uint64_t)0);
	RUN(&w, 1, B);
	profile = attributed(&w, &options);
	CHECK(!pair_of(profile, 0x1000, "store", 0x2000, "load", &refs)->recycled);
	CHECK(pair_of(profile, 0x2000, "load", 0x3000, "load", &refs)->recycled);
	CHECK(!pair_of(profile, 0x3000, "load", 0x2000, "load", &refs)->recycled);
	pair_of(profile, 0x1000, "store", 0x1000, "store", &refs);
	CHECK_U64(refs, 1);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_SITE, site_id(profile, 0x1000, "store"),
			   LOCI_INFINITE),
		3, 0);
	free(w.word);
}

/* Straddling references neither of whose halves was found, all of them if none was. */
static double both_of(struct loci_profile *profile, uint64_t block_bytes)
{
	struct loci_hist_key key = {
		.distance = LOCI_DISTANCE_SET_BOTH, .block_bytes = block_bytes, .set_bits = 3
	};
	const struct loci_hist *hist = NULL;

	if (loci_profile_hist(profile, &key, &hist, NULL) < 0)
		return -1;
	return hist->cold == loci_hist_total(hist) ? hist->cold : -1;
}

/* References over block and object edges: a touch each, in the object it is in; the reference
 * counts where it begins. Ranges, empty ones, other block sizes. */
static void check_straddles(void)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_options several = options;
	struct words w = { 0 };
	int64_t site, a, b;

	several.block_bytes[0] = 64;
	several.block_bytes[1] = 4096;
	several.no_sets = false;
	several.block_bytes[2] = 32;
	several.block_bytes[3] = 4;
	several.n_block_bytes = 4;
	DEFINE(&w, 1, 0, BYTES(16, 0x1000));
	DEFINE(&w, 2, 0, { 0, LOCI_OP_STORE, 0x2000, LOCI_REF_BULK });
	object(&w, A, 64, "a");
	object(&w, A + 64, 0x10000, "b");
	RUN(&w, 1, A + 56);             /* the last 8 bytes of a, the first 8 of b */
	RUN(&w, 2, A + 32, 64 * 3 + 1); /* a, and 3 blocks of b */
	RUN(&w, 2, A, 0);
	profile = attributed(&w, &several);
	site = site_id(profile, 0x1000, "load");
	a = object_named(profile, "a");
	b = object_named(profile, "b");
	CHECK_U64(loci_profile_run(profile)->references, 3);
	CHECK_U64(loci_profile_run(profile)->bulk, 2);
	CHECK_U64(loci_profile_run(profile)->stores, 2);
	CHECK_U64(loci_profile_grain(profile, 64)->touches, 2 + 4);
	CHECK_U64(loci_profile_grain(profile, 64)->straddles, 1);
	CHECK_U64(loci_profile_grain(profile, 4096)->touches, 2);
	CHECK_U64(loci_profile_grain(profile, 4096)->straddles, 0);
	/* Both halves cold; ranges and references of more than two blocks have no halves. */
	CHECK_NEAR(both_of(profile, 64), 1, 0);
	CHECK_NEAR(both_of(profile, 4096), 0, 0);
	CHECK_NEAR(both_of(profile, 32), 1, 0);
	CHECK_NEAR(both_of(profile, 4), 0, 0);
	CHECK_U64(loci_profile_grain(profile, 4)->straddles, 1);
	CHECK_U64(access_of(profile, site, a)->refs, 1);
	CHECK_U64(access_of(profile, site, b)->refs, 0);
	CHECK_U64(access_of(profile, site, b)->fills, 1);
	CHECK_U64(access_of(profile, site, a)->used_bytes, 8 + 24); /* the range's 32 overlap 8 */
	CHECK_U64(access_of(profile, site, b)->used_bytes, 64);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_OBJECT, a, LOCI_INFINITE), 1, 0);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_OBJECT, a, 1), 1, 0);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_OBJECT, b, LOCI_INFINITE), 3, 0);
	free(w.word);
}

struct reader {
	struct loci_analysis *analysis;
	struct words_source source;
	int r;
};

static void *read_one(void *data)
{
	struct reader *reader = data;

	reader->r = loci_analysis_read(reader->analysis, &reader->source.source, NULL);
	return NULL;
}

/* The same program several times, at another place each time: code, contexts and objects of the
 * same name are one. */
static void check_processes(void)
{
	enum { N = 6 };
	struct words w[N] = { 0 };
	struct loci_analysis *analysis = NULL;
	struct loci_analyse_summary summary;
	struct reader reader[N];
	pthread_t thread[N];
	struct loci_err err = { "" };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	CHECK(loci_analysis_new(&options, &analysis, &err) == 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t bias = 0x10000 * i;

		mark(&w[i], LOCI_MARK_PROCESS, 100 + i, 3, i ? (uint64_t)100 : (uint64_t)1, i,
			(uint64_t)0);
		name(&w[i], 5, "/no/such/program");
		mark(&w[i], LOCI_MARK_MODULE_LOAD, 1, 6, bias, bias + 0x1000, (uint64_t)0x2000,
			(uint64_t)5, (uint64_t)1, (uint64_t)0);
		put(&w[i], loci_mark_word(LOCI_MARK_DEFINE, 6, 1));
		put(&w[i], 1ull << 32 | LOCI_BLOCK_ENTRY);
		put(&w[i], bias + 0x1000);
		put(&w[i], loci_ref_word(8, LOCI_OP_FRAME, 0));
		put(&w[i], bias + 0x1000);
		put(&w[i], loci_ref_word(8, LOCI_OP_LOAD, 0));
		put(&w[i], bias + 0x1004);
		object(&w[i], A + bias, 0x1000, "a");
		for (uint64_t k = 0; k < 10; k++)
			RUN(&w[i], 1, 0x7ff000, A + bias + 64 * (k % 5));
		reader[i] = (struct reader){ analysis, words_source(&w[i]), -1 };
		CHECK(pthread_create(&thread[i], NULL, read_one, &reader[i]) == 0);
	}
	for (int i = 0; i < N; i++) {
		pthread_join(thread[i], NULL);
		CHECK(reader[i].r == 0);
	}
	CHECK(loci_analysis_write(analysis, "processes.loci", &summary, &err) == 0);
	CHECK_STR(err.text, "");
	loci_analysis_free(analysis);
	CHECK(loci_profile_open("processes.loci", &profile, &err) == 0);
	remove("processes.loci");
	{
		GET(profile, site, sites);
		GET(profile, context, contexts);
		GET(profile, object, objects);
		GET(profile, module, modules);
		GET(profile, process, processes);
		GET(profile, access, accesses);

		CHECK_U64(n_site, 1);
		CHECK_U64(n_context, 1);
		CHECK_U64(n_object, 1);
		CHECK_U64(n_module, 1);
		CHECK_U64(n_access, 1);
		CHECK_U64(n_process, N);
		CHECK_U64((uint64_t)process[N - 1].parent_id, 1);
		CHECK_U64(site[0].refs, 10 * N);
		CHECK_U64(site[0].code_offset, 0x1004);
		CHECK_STR(site[0].site_key, "program+0x1004#0");
		CHECK_U64(context[0].refs, 10 * N);
		CHECK_U64(object[0].refs, 10 * N);
		CHECK_NEAR(
			touches_at(profile, LOCI_OWNER_SITE, site[0].id, LOCI_INFINITE), 5 * N, 0);
		CHECK_NEAR(touches_at(profile, LOCI_OWNER_SITE, site[0].id, 4), 5 * N, 0);
		CHECK_U64(level_count(profile, 1, LOCI_OWNER_SITE, site[0].id).misses, 10 * N);
		CHECK_U64(level_count(profile, 2, LOCI_OWNER_WHOLE, 0).misses, 10 * N);
	}
	for (int i = 0; i < N; i++)
		free(w[i].word);
}

/* A stream without sites and frames has levels and objects all the same. */
static void check_poor_stream(void)
{
	struct words w = { 0 };
	struct words_source source = words_source(&w);
	struct loci_analyse_summary summary;
	struct loci_err err = { "" };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	source.source.info.capabilities = LOCI_CAP_COMPLETE;
	DEFINE(&w, 1, 0, LOAD(0));
	object(&w, A, 0x1000, "a");
	for (uint64_t k = 0; k < 10; k++)
		RUN(&w, 1, A + 64 * (k % 5));
	CHECK(loci_analyse(&source.source, &options, "poor.loci", &summary, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(loci_profile_open("poor.loci", &profile, &err) == 0);
	remove("poor.loci");
	{
		GET(profile, site, sites);
		GET(profile, context, contexts);
		GET(profile, loop, loops);
		GET(profile, object, objects);

		CHECK_U64(n_site + n_context + n_loop, 0);
		CHECK_U64(n_object, 1);
		CHECK_U64(n_object ? object[0].refs : 0, 10);
		CHECK_U64(level_count(profile, 1, LOCI_OWNER_WHOLE, 0).misses, 10);
	}
	free(w.word);
}

static void check_refusals(void)
{
	static const struct loci_level_row wrong[] = {
		{ .name = "L1",
			.size_bytes = 128,
			.ways = 2,
			.line_bytes = 32,
			.share = "private" },
		{ .name = "L1",
			.size_bytes = 128,
			.ways = 4,
			.line_bytes = 64,
			.share = "private" },
		{ .name = "L1", .size_bytes = 32, .ways = 1, .line_bytes = 64, .share = "private" },
	};
	struct words w = { 0 };

	DEFINE(&w, 1, 0, LOAD(0x1000));
	RUN(&w, 1, A);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(wrong); i++) {
		struct words_source source = words_source(&w);
		struct loci_analyse_options bad = options;
		struct loci_analyse_summary summary;
		struct loci_err err = { "" };

		bad.levels = &wrong[i];
		bad.n_levels = 1;
		CHECK(loci_analyse(&source.source, &bad, "bad.loci", &summary, &err) == -EINVAL);
		CHECK(strstr(err.text, "L1") != NULL);
		CHECK(access("bad.loci", F_OK) < 0);
	}
	free(w.word);
}

int main(void)
{
	char dir[] = "/tmp/attribute_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	check_strides();
	check_stride_history();
	check_loops();
	check_unrolled();
	check_pairs();
	check_far_pairs();
	check_carriers(0x10);
	check_carriers(0x1000);
	check_recycled();
	check_straddles();
	check_processes();
	check_poor_stream();
	check_refusals();
	rmdir(dir);
	return check_status();
}
