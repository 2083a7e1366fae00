// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures of owners against what blame_profile.h adds up to. */
#include "check.h"

#include "blame_profile.h"
#include "model/blame.h"
#include "model/context_tree.h"
#include "model/culprit.h"

#include <unistd.h>

static struct loci_profile *profile;
static struct loci_subject subject;
static struct loci_catalogue catalogue;
static struct loci_blame_levels levels;
static struct loci_err err;

static struct loci_blame *blame_of(enum loci_blame_kind kind)
{
	struct loci_blame *blame = NULL;

	CHECK(loci_blame_new(&catalogue, &subject, &levels, kind, &blame, &err) == 0);
	return blame;
}

static struct loci_blame_detail look(struct loci_blame *blame, size_t row)
{
	struct loci_blame_detail detail;

	CHECK(loci_blame_look(blame, &blame->row[row], &detail, &err) == 0);
	return detail;
}

static void check_sites(void)
{
	struct loci_blame *sites = blame_of(LOCI_BLAME_SITE);
	static const double misses[] = { 70, 30, 10, 5 }, refs[] = { 120, 60, 40, 30 };

	CHECK_U64(sites->n_rows, 4);
	CHECK(!sites->is_estimate);
	for (size_t i = 0; i < 4; i++) {
		const struct loci_site_row *site = sites->row[i].owner;

		CHECK_U64((uint64_t)site->id, i + 1);
		CHECK_NEAR(sites->row[i].misses, misses[i], 0);
		CHECK_NEAR(sites->row[i].refs, refs[i], 0);
		CHECK_NEAR(sites->row[i].touches, refs[i], 0);
	}
	CHECK_NEAR(sites->row[0].level_misses[0], 70, 0);
	CHECK_NEAR(sites->row[0].level_misses[1], 20, 0);
	CHECK_NEAR(sites->row[2].writebacks, 4, 0);
	CHECK_NEAR(sites->refs, 260, 0);
	CHECK_NEAR(sites->misses, 120, 0);
	CHECK_NEAR(sites->owned_misses, 115, 0);
	CHECK_NEAR(loci_blame_share(sites, 30), 0.25, 1e-12);
	CHECK_U64(loci_blame_cover(sites, 0.58), 1); /* 70 of 120 are 58.3 % */
	CHECK_U64(loci_blame_cover(sites, 0.75), 2);
	CHECK_U64(loci_blame_cover(sites, 0.90), 3);
	CHECK_U64(loci_blame_cover(sites, 0.95), 4);
	CHECK_U64(loci_blame_cover(sites, 0.99), 0); /* 5 have no site */
	CHECK(loci_blame_sort(sites, LOCI_BLAME_BY_WRITEBACKS, &err) == 0);
	CHECK(((const struct loci_site_row *)sites->row[0].owner)->id == 3);
	CHECK_U64(loci_blame_cover(sites, 0.75), 2); /* whatever the order */
	CHECK(loci_blame_sort(sites, LOCI_BLAME_BY_DISTANCE, &err) == 0);
	CHECK(((const struct loci_site_row *)sites->row[0].owner)->id == 2); /* at 40 */
	CHECK(loci_blame_sort(sites, LOCI_BLAME_BY_REFS, &err) == 0);
	CHECK(((const struct loci_site_row *)sites->row[3].owner)->id == 4);
	loci_blame_free(sites);
}

static void check_causes(void)
{
	struct loci_blame *sites = blame_of(LOCI_BLAME_SITE);
	struct loci_blame_detail detail = look(sites, 0);

	CHECK(detail.cause == LOCI_CAUSE_FAR);
	CHECK_U64(detail.far_blocks, 20);                    /* which lies in a bin of 20 to 23 */
	CHECK(detail.far_blocks <= detail.effective_blocks); /* what holds it is no smaller */
	CHECK_U64(detail.effective_blocks, 24);
	detail = look(sites, 1);
	CHECK(detail.cause == LOCI_CAUSE_FAR);
	CHECK_U64(detail.far_blocks, 40); /* of 40 to 47 */
	CHECK(detail.has_stride && detail.is_mostly_regular && !detail.is_regular); /* 50 of 60 */
	detail = look(sites, 2);
	CHECK(detail.cause == LOCI_CAUSE_COLD);
	CHECK_U64(detail.far_blocks, 0);
	CHECK(detail.is_regular && detail.stride_bytes == 0);
	detail = look(sites, 3);
	CHECK(detail.cause == LOCI_CAUSE_CONFLICT); /* all at 10, and 16 blocks would hold them */
	CHECK(detail.object_id == 0);
	CHECK_U64(detail.n_objects, 0);
	CHECK(!detail.is_mostly_regular);
	loci_blame_free(sites);
}

static void check_code(void)
{
	struct loci_blame *blame = blame_of(LOCI_BLAME_LINE);
	struct loci_blame_detail detail = look(blame, 0);

	CHECK_U64(blame->n_rows, 3);
	CHECK_NEAR(blame->row[0].misses, 100, 0);
	CHECK_NEAR(blame->row[0].refs, 180, 0);
	CHECK_U64(blame->row[0].n_members, 2);
	CHECK(((const struct loci_site_row *)blame->row[0].owner)->id == 1); /* the worst of it */
	CHECK_U64(detail.far_blocks, 20); /* of 60 at 20 and 30 at 40: the 45th */
	CHECK(detail.object_id == 1);
	CHECK_U64(detail.n_objects, 2);
	CHECK_NEAR(detail.regular, 150 / 180., 1e-12);
	CHECK_NEAR(detail.spatial, (400 + 240 + 640) / (90 * 64.), 1e-12);
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_FUNCTION); /* the inlined one for itself */
	CHECK_U64(blame->n_rows, 3);
	CHECK_STR(((const struct loci_function_row *)blame->row[0].owner)->name, "app::mul(int)");
	CHECK_NEAR(blame->row[0].misses, 100, 0);
	CHECK_STR(((const struct loci_function_row *)blame->row[1].owner)->name, "dot");
	CHECK_NEAR(blame->row[1].misses, 10, 0);
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_LOOP);
	CHECK_U64(blame->n_rows, 2);
	CHECK_NEAR(blame->row[0].misses, 100, 0);
	CHECK(blame->row[1].owner == NULL);
	CHECK_NEAR(blame->row[1].misses, 15, 0);
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_FILE);
	CHECK_U64(blame->n_rows, 2);
	CHECK_NEAR(blame->row[0].misses, 110, 0);
	CHECK(blame->row[1].owner == NULL);
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_MODULE);
	CHECK_NEAR(blame->row[0].misses, 110, 0);
	CHECK_STR(
		((const struct loci_module_row *)blame->row[1].owner)->path, "/usr/lib/libfoo.so");
	CHECK_NEAR(blame->row[1].misses, 5, 0);
	CHECK_NEAR(blame->row[0].writebacks, 4, 0);
	loci_blame_free(blame);
}

static void check_spots(void)
{
	struct loci_blame *spots = blame_of(LOCI_BLAME_SPOT);
	struct loci_blame_detail detail = look(spots, 0);

	CHECK_U64(spots->n_rows, 4);
	CHECK_NEAR(spots->row[0].misses, 90, 0);
	CHECK(detail.object_id == 1);
	CHECK_U64(detail.n_objects, 1);
	CHECK(detail.is_regular); /* 150 of 160 are 15 of 16 */
	CHECK(detail.stride_bytes == 64);
	CHECK_NEAR(detail.spatial, 0.125, 1e-12);
	/* by the pairs that end there: 50 at 20 and 30 at 40; the rest is cold */
	CHECK(detail.cause == LOCI_CAUSE_FAR);
	CHECK_U64(detail.far_blocks, 20);
	/* a, in mul or in dot: no pair has a histogram, the sites speak */
	CHECK_NEAR(spots->row[1].misses + spots->row[2].misses, 20, 0);
	loci_blame_free(spots);
}

static void check_data(void)
{
	struct loci_blame *blame = blame_of(LOCI_BLAME_OBJECT);
	struct loci_blame_detail detail = look(blame, 1);

	CHECK_U64(blame->n_rows, 2);
	CHECK_NEAR(blame->row[0].misses, 90, 0);
	CHECK_U64(loci_blame_cover(blame, 0.75), 1); /* 90 of 120, to the last */
	CHECK_NEAR(detail.spatial, (640 + 80) / (20 * 64.), 1e-12);
	CHECK(detail.cause == LOCI_CAUSE_NONE); /* objects have no histograms here */
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_FIELD);
	CHECK_U64(blame->n_rows, 1);
	CHECK_NEAR(blame->row[0].misses, 10, 0);
	CHECK_NEAR(blame->row[0].refs, 40, 0); /* its accesses' */
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_LINK);
	detail = look(blame, 0);
	CHECK_U64(blame->n_rows, 2); /* both pairs from line 14 to line 14 are one */
	CHECK_NEAR(blame->row[0].misses, 80, 0);
	CHECK_U64(detail.far_blocks, 20);
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_THREAD); /* the only one, whose misses nobody counted */
	CHECK_U64(blame->n_rows, 1);
	CHECK_NEAR(blame->row[0].misses, 120, 0);
	loci_blame_free(blame);

	blame = blame_of(LOCI_BLAME_PROCESS);
	CHECK(((const struct loci_process_row *)blame->row[0].owner)->pid == 42);
	loci_blame_free(blame);
}

static void check_contexts(void)
{
	struct loci_blame *blame = blame_of(LOCI_BLAME_CONTEXT);
	struct loci_context_tree tree;

	CHECK(loci_context_tree_new(blame, 0.1, SIZE_MAX, &tree, &err) == 0);
	CHECK_U64(tree.n_contexts, BLAME_CHAIN + 2);
	CHECK_U64(tree.n, 2);
	CHECK(tree.node[0].context->id == 6);
	CHECK_NEAR(tree.node[0].misses, 112, 0); /* 5 of its own, 100 and 7 */
	CHECK_NEAR(tree.node[0].refs, 210, 0);
	CHECK_NEAR(tree.node[0].row->misses, 5, 0);
	CHECK(tree.node[1].context->id == 2 && tree.node[1].depth == 1);
	CHECK_NEAR(tree.node[1].misses, 100, 0);
	loci_context_tree_fini(&tree);
	/* the chain has 7 of 120 misses at its far end, and all above have them too */
	CHECK(loci_context_tree_new(blame, 0.05, SIZE_MAX, &tree, &err) == 0);
	CHECK_U64(tree.n, BLAME_CHAIN + 2);
	CHECK_U64(tree.node[tree.n - 1].depth, BLAME_CHAIN);
	CHECK_NEAR(tree.node[2].misses, 7, 0);
	loci_context_tree_fini(&tree);
	CHECK(loci_context_tree_new(blame, 0, 3, &tree, &err) == 0);
	CHECK_U64(tree.n, 3);
	loci_context_tree_fini(&tree);
	loci_blame_free(blame);
}

/* A prediction from one owner's own histogram. */
static double predicted(int64_t site, const struct loci_cache *cache)
{
	const struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK,
		.block_bytes = 64,
		.owner = LOCI_OWNER_SITE,
		.owner_id = site };
	const struct loci_predict_options options = { .policy = LOCI_POLICY_LRU };
	struct loci_predict_input input = { 0 };
	struct loci_prediction prediction = { 0 };

	CHECK(loci_profile_hist(profile, &key, &input.stack, &err) == 0);
	CHECK(loci_predict_cache(&input, cache, &options, &prediction, &err) == 0);
	return prediction.misses;
}

static void check_estimates(void)
{
	struct loci_blame *blame;
	struct loci_subject given;

	CHECK(loci_subject_init(&given, profile, 64, "L1=2K,L2=8K/4", &err) == 0);
	CHECK(loci_blame_levels(&given, &catalogue, NULL, &levels, &err) == 0);
	CHECK(loci_blame_new(&catalogue, &given, &levels, LOCI_BLAME_SITE, &blame, &err) == 0);
	CHECK(blame->is_estimate);
	CHECK_STR(blame->basis, "interpolated");
	/* 32 blocks: 30 at 40 and what is cold */
	CHECK(((const struct loci_site_row *)blame->row[0].owner)->id == 2);
	CHECK_NEAR(blame->row[0].misses, 30, 1e-9);
	CHECK_NEAR(blame->owned_misses, 50, 1e-9);
	/* of the whole, 60; what the references without a site are likely to have of it */
	CHECK_NEAR(blame->misses, 50 + 60 * 10 / 260., 1e-9);
	loci_blame_free(blame);
	/* spots share their site's out by what they missed at the first level recorded: 60 to 10 */
	CHECK(loci_blame_new(&catalogue, &given, &levels, LOCI_BLAME_SPOT, &blame, &err) == 0);
	CHECK_NEAR(blame->row[0].misses, 30 + 10 * 60 / 70., 1e-9);
	loci_blame_free(blame);

	CHECK(loci_blame_levels(&given, &catalogue, "l2", &levels, &err) == 0);
	CHECK_U64(levels.chosen, 1);
	CHECK(loci_blame_new(&catalogue, &given, &levels, LOCI_BLAME_SITE, &blame, &err) == 0);
	CHECK_STR(blame->basis, "binomial model");
	for (size_t i = 0; i < blame->n_rows; i++) {
		const struct loci_site_row *site = blame->row[i].owner;

		CHECK_NEAR(blame->row[i].misses, predicted(site->id, &levels.level[1].cache), 1e-9);
	}
	loci_blame_free(blame);

	/* given, but one that was recorded: counted all the same */
	CHECK(loci_subject_init(&given, profile, 64, "X=1K/2", &err) == 0);
	CHECK(loci_blame_levels(&given, &catalogue, NULL, &levels, &err) == 0);
	CHECK(loci_blame_new(&catalogue, &given, &levels, LOCI_BLAME_SITE, &blame, &err) == 0);
	CHECK(!blame->is_estimate);
	CHECK_NEAR(blame->row[0].misses, 70, 0);
	loci_blame_free(blame);

	CHECK(loci_blame_levels(&subject, &catalogue, "L9", &levels, &err) < 0);
	CHECK_STR(err.text, "there is no level \"L9\" here, only L1, L2");
	err.text[0] = '\0';
	CHECK(loci_subject_init(&given, profile, 64, "T=64e@4K", &err) == 0);
	CHECK(loci_blame_levels(&given, &catalogue, NULL, &levels, &err) < 0);
	CHECK(strstr(err.text, "64-byte blocks"));
	err.text[0] = '\0';
	CHECK(loci_blame_levels(&subject, &catalogue, NULL, &levels, &err) == 0);
}

static void check_culprit(void)
{
	struct loci_culprit culprit;
	struct loci_unlined unlined;
	struct loci_blame *sites = blame_of(LOCI_BLAME_SITE);

	CHECK(loci_culprit_find(&subject, &culprit, &err) == 0);
	CHECK(culprit.is_known);
	CHECK_NEAR(culprit.ratio, 120 / 260., 1e-12);
	CHECK_NEAR(culprit.share, 0.75, 1e-12);
	CHECK_U64(culprit.site->line, 14);
	CHECK_STR(culprit.object->name, "b");
	CHECK_STR(culprit.cache.name, "L1");
	loci_unlined_find(sites, &unlined);
	CHECK_STR(unlined.module->path, "/usr/lib/libfoo.so");
	CHECK_NEAR(unlined.share, 5 / 120., 1e-12);
	CHECK_NEAR(unlined.all, 5 / 120., 1e-12);
	loci_blame_free(sites);
}

/* What was counted while recording is exact also where no histogram of sets is. */
static void check_counted(void)
{
	CHECK_U64(subject.n_levels, 2);
	CHECK(subject.level[0].basis == LOCI_BASIS_EXACT);
	CHECK_NEAR(subject.level[0].misses, 120, 0);
	CHECK(subject.level[0].has_writebacks);
	CHECK_NEAR(subject.level[0].writebacks, 30, 0);
	CHECK_NEAR(subject.level[0].moved_bytes, (120 + 30) * 64, 0);
	CHECK_NEAR(subject.level[1].misses, 40, 0);
}

int main(void)
{
	char path[] = "/tmp/blame_test.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	blame_make(path, 0, "mm.c", "2024-01-01T00:00:00Z");
	if (loci_profile_open(path, &profile, &err) < 0 ||
		loci_subject_init(&subject, profile, 0, NULL, &err) < 0 ||
		loci_catalogue_load(&catalogue, profile, &err) < 0 ||
		loci_blame_levels(&subject, &catalogue, NULL, &levels, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		return check_status();
	}
	check_sites();
	check_causes();
	check_code();
	check_spots();
	check_data();
	check_contexts();
	check_estimates();
	check_culprit();
	check_counted();
	loci_profile_close(profile);
	unlink(path);
	return check_status();
}
