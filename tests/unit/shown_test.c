// SPDX-License-Identifier: GPL-2.0-or-later
/* What a page shows of a large profile: enough of every figure, no row too many, all that is named,
 * and the rest as a sum. */
#include "check.h"
#include "model/shown.h"

#include <stdlib.h>
#include <unistd.h>

#define SITES   3000
#define LEVELS  2
#define OBJECTS 700

static struct {
	double refs, misses[LEVELS];
} site[SITES + 1];
static char directory[] = "/tmp/loci-shown-XXXXXX", path[64];

static void put_site(struct loci_profile *profile, int64_t id, struct loci_err *err)
{
	struct loci_hist hist;
	const struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK,
		.block_bytes = 64,
		.owner = LOCI_OWNER_SITE,
		.owner_id = id };

	/* a few sites have almost everything */
	site[id].refs = (double)(id % 100 ? 1 + id % 7 : 10000000 + id);
	site[id].misses[0] = (double)(id % 50 == 1 ? 500000 >> id / 500 : id % 3 / 2);
	site[id].misses[1] = (double)(id == 77 ? 90000 : 0);
	CHECK(loci_profile_put_site(profile,
		      &(struct loci_site_row){ .id = id,
			      .site_key = "key",
			      .function_id = 1 + id % 40,
			      .source_id = 1 + id % 3,
			      .line = (unsigned)id,
			      .op = "load",
			      .size_bytes = 8,
			      .refs = (uint64_t)site[id].refs },
		      err) == 0);
	for (int64_t k = 0; k < LEVELS; k++)
		CHECK(loci_profile_put_level_count(profile,
			      &(struct loci_level_count_row){ .level_id = k + 1,
				      .owner = LOCI_OWNER_SITE,
				      .owner_id = id,
				      .misses = (uint64_t)site[id].misses[k],
				      .writebacks = 1 },
			      err) == 0);
	loci_hist_init(&hist, LOCI_SCHEME_COARSE);
	CHECK(loci_hist_add(&hist, (uint64_t)id % 30, site[id].refs) == 0);
	hist.cold = 1;
	CHECK(loci_profile_put_hist(profile, &key, &hist, err) == 0);
	loci_hist_fini(&hist);
}

static void put_names(struct loci_profile *profile, struct loci_err *err)
{
	for (int64_t i = 1; i <= 3; i++)
		CHECK(loci_profile_put_source(
			      profile, &(struct loci_source_row){ i, "a.c" }, err) == 0);
	for (int64_t i = 1; i <= 41; i++)
		CHECK(loci_profile_put_function(profile,
			      &(struct loci_function_row){ .id = i, .name = "f", .source_id = 1 },
			      err) == 0);
	for (int64_t k = 1; k <= LEVELS; k++)
		CHECK(loci_profile_put_level(profile,
			      &(struct loci_level_row){ k, k == 1 ? "L1" : "L2", (uint64_t)k << 12,
				      4, 64, "private" },
			      err) == 0);
	for (int64_t i = 1; i <= OBJECTS; i++)
		CHECK(loci_profile_put_object(profile,
			      &(struct loci_object_row){ .id = i,
				      .kind = "heap",
				      .name = "o",
				      .refs = i == 1 ? 1000000 : 1 },
			      err) == 0);
	/* a chain of contexts, of which the last has the references */
	for (int64_t i = 1; i <= 600; i++)
		CHECK(loci_profile_put_context(profile,
			      &(struct loci_context_row){ .id = i,
				      .parent_id = i <= 5 ? i - 1 : 1,
				      .function_id = 41,
				      .refs = i == 5 ? 1000000 : i > 5 },
			      err) == 0);
	/* of sites and an object that have nothing themselves */
	CHECK(loci_profile_put_pair(profile,
		      &(struct loci_pair_row){ .id = 1,
			      .use_site_id = 2,
			      .reuse_site_id = 3,
			      .object_id = 600,
			      .use_context_id = 300,
			      .reuse_context_id = 301,
			      .kind = "RAR",
			      .refs = 5 },
		      err) == 0);
}

static void make(void)
{
	struct loci_err err = { "" };
	struct loci_profile *profile;
	struct loci_hist whole;
	const struct loci_run run = { .command = (char *)"./p",
		.unit = (char *)"byte",
		.mode = (char *)"exact",
		.complete = true };

	CHECK(loci_profile_create(path, &profile, &err) == 0);
	CHECK(loci_profile_put_run(profile, &run, &err) == 0);
	CHECK(loci_profile_put_grain(profile,
		      &(struct loci_grain){
			      .block_bytes = 64, .touches = 10, .blocks = 1, .sampling_rate = 1 },
		      &err) == 0);
	loci_hist_init(&whole, LOCI_SCHEME_FINE);
	CHECK(loci_hist_add(&whole, 1, 10) == 0);
	CHECK(loci_profile_put_hist(profile,
		      &(struct loci_hist_key){ .distance = LOCI_DISTANCE_STACK,
			      .block_bytes = 64,
			      .owner = LOCI_OWNER_WHOLE },
		      &whole, &err) == 0);
	loci_hist_fini(&whole);
	put_names(profile, &err);
	for (int64_t id = 1; id <= SITES; id++)
		put_site(profile, id, &err);
	if (loci_profile_commit(profile, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	loci_profile_close(profile);
}

static double value(size_t i, unsigned what)
{
	return what ? site[i].misses[what - 1] : site[i].refs;
}

static int descending(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p < q) - (p > q);
}

/* The value of the last row that 99.9 % of the whole needs. */
static double least_needed(unsigned what)
{
	static double sorted[SITES];
	double sum = 0, all = 0;

	for (size_t i = 0; i < SITES; i++)
		all += sorted[i] = value(i + 1, what);
	qsort(sorted, SITES, sizeof(double), descending);
	for (size_t i = 0; i < SITES; i++)
		if ((sum += sorted[i]) >= LOCI_SHOWN_COVER * all)
			return sorted[i];
	return 0;
}

static void check_sites(const struct loci_shown *shown)
{
	double least[LEVELS + 1], all[LEVELS + 1] = { 0 }, part[LEVELS + 1] = { 0 };
	uint32_t next = 0;

	for (unsigned what = 0; what <= LEVELS; what++)
		least[what] = least_needed(what);
	for (size_t i = 1; i <= SITES; i++) {
		bool is_shown = shown->site.place[i - 1] != LOCI_HIDDEN;
		bool is_needed = i == 2 || i == 3, may_be = is_needed;

		for (unsigned what = 0; what <= LEVELS; what++) {
			is_needed |= value(i, what) > least[what];
			may_be |= value(i, what) >= least[what] && value(i, what) > 0;
			all[what] += value(i, what);
			part[what] += is_shown ? value(i, what) : 0;
		}
		CHECK(is_shown || !is_needed);
		CHECK(!is_shown || may_be);
		if (is_shown)
			CHECK(shown->site.place[i - 1] == next++);
	}
	CHECK(next == shown->site.n_shown && next > 60 && next < SITES / 4);
	CHECK(shown->site_rest.n == SITES - next);
	for (unsigned what = 0; what <= LEVELS; what++)
		CHECK(part[what] >= LOCI_SHOWN_COVER * all[what]);
	CHECK(shown->site_rest.refs == all[0] - part[0]);
	CHECK(shown->site_rest.misses[0] == all[1] - part[1]);
	CHECK(shown->site_rest.misses[1] == all[2] - part[2]);
	CHECK(shown->site_rest.writebacks[1] == (double)shown->site_rest.n);
	CHECK(loci_hist_finite(&shown->site_rest.hist) == shown->site_rest.refs);
	CHECK(shown->site_rest.hist.cold == (double)shown->site_rest.n);
	CHECK(shown->site_met.misses[76 * LEVELS + 1] == 90000);
}

int main(void)
{
	struct loci_err err = { "" };
	struct loci_profile *profile;
	struct loci_subject subject;
	struct loci_shown shown;

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/a.loci", directory);
	make();
	CHECK(loci_profile_open(path, &profile, &err) == 0);
	CHECK(loci_subject_init(&subject, profile, 0, NULL, &err) == 0);
	CHECK(loci_shown_init(&shown, &subject, &err) == 0);
	CHECK(shown.block_bytes == 64);
	check_sites(&shown);
	/* what a pair names, with its context's callers; nothing else of no weight */
	CHECK(loci_shown_place(&shown, object, 1) == 0);
	CHECK(loci_shown_place(&shown, object, 600) != LOCI_HIDDEN);
	CHECK(shown.object.n_shown >= 2 && shown.object.n_shown < OBJECTS);
	for (int64_t id = 1; id <= 5; id++)
		CHECK(loci_shown_place(&shown, context, id) != LOCI_HIDDEN);
	CHECK(loci_shown_place(&shown, context, 300) != LOCI_HIDDEN);
	CHECK(loci_shown_place(&shown, context, 301) != LOCI_HIDDEN);
	CHECK(shown.context.n_shown < 20);
	CHECK(loci_shown_place(&shown, function, 41) != LOCI_HIDDEN);
	CHECK(shown.source.n_shown == 3 && shown.module.n_shown == 0 && shown.pair.n_shown == 1);
	CHECK(loci_shown_place(&shown, site, 0) == LOCI_HIDDEN);
	loci_shown_fini(&shown);
	loci_shown_fini(&shown);
	loci_profile_close(profile);
	unlink(path);
	rmdir(directory);
	return check_status();
}
