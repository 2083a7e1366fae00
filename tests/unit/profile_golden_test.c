// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles of version 1 are read for ever: tests/golden/profile-v1.loci holds exactly what a plain
 * simulation, made here, says of one matrix product, computed by two threads one after the other;
 * profile-v1-dimensions.loci what matrix_profile.h says of the program in matrix_program.h.
 *
 *	profile_golden_test --write FILE   makes such a file with this build
 *
 * The golden file was made so once and is never made again: a reader that no longer understands it
 * is broken, not the file. */
#include "check.h"
#include "matrix_profile.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE     32
#define SET_BITS 6
#define WAYS     64

static const struct loci_run run = {
	.command = "./mm 32",
	.collector = "import",
	.origin = "lackey",
	.mode = "exact",
	.unit = "byte",
	.capabilities = "complete stores",
	.program_version = "0.1.0",
	.machine = "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
	.caches = "L1=48K/12,L2=1.25M/20,L3=54M/12:shared",
	.started = "2026-01-31T12:00:00Z",
	.seconds = 0.25,
	.complete = true,
	.references = 4ull * SIZE * SIZE * SIZE,
	.loads = 3ull * SIZE * SIZE * SIZE,
	.stores = 1ull * SIZE * SIZE * SIZE,
	.threads = 2,
	.merged = 1,
};

/* An LRU list, most recent first, of everything or of one set, searched from its top. */
struct list {
	size_t n;
	struct {
		uint64_t block, last, dirty; /* dirty: largest depth since the last write */
	} item[3 * SIZE * SIZE * 8 / 64 + 8];
};

struct grain {
	uint64_t block_bytes, touches, writes;
	struct list stack, set[SET_BITS + 1][1 << SET_BITS];
	struct loci_hist hist[3], position[SET_BITS + 1], position_dirty[SET_BITS + 1];
	struct loci_hist thread[2];
};

static void count(struct loci_hist *hist, uint64_t value, uint64_t limit)
{
	if (value >= limit)
		hist->cold++;
	else
		CHECK(loci_hist_add(hist, value, 1) == 0);
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the depth; *ret_dirty (of a write) and *ret_last from before the touch. */
static uint64_t touch(struct list *list, uint64_t block, uint64_t now, bool write,
	uint64_t *ret_dirty, uint64_t *ret_last)
{
	uint64_t depth = 0, dirty = LOCI_INFINITE, last = 0;

	while (depth < list->n && list->item[depth].block != block)
		depth++;
	if (depth < list->n) {
		dirty = max(list->item[depth].dirty, depth);
		last = list->item[depth].last;
	} else {
		list->n++;
	}
	memmove(&list->item[1], &list->item[0], depth * sizeof(list->item[0]));
	*ret_dirty = dirty;
	*ret_last = last;
	list->item[0].block = block;
	list->item[0].last = now;
	list->item[0].dirty = write ? 0 : dirty;
	return depth < list->n && last ? depth : LOCI_INFINITE;
}

static void reference(struct grain *grain, unsigned thread, uint64_t address, bool write)
{
	uint64_t block = address / grain->block_bytes, dirty, last, now = ++grain->touches;
	uint64_t depth = touch(&grain->stack, block, now, write, &dirty, &last);

	grain->writes += write;
	count(&grain->hist[LOCI_DISTANCE_STACK], depth, LOCI_INFINITE);
	count(&grain->thread[thread], depth, LOCI_INFINITE);
	count(&grain->hist[LOCI_DISTANCE_TIME], last ? now - last : LOCI_INFINITE, LOCI_INFINITE);
	if (write)
		count(&grain->hist[LOCI_DISTANCE_DIRTY], dirty, LOCI_INFINITE);
	for (unsigned bits = 0; bits <= SET_BITS; bits++) {
		struct list *set = &grain->set[bits][block & ((1u << bits) - 1)];

		depth = touch(set, block, now, write, &dirty, &last);
		count(&grain->position[bits], depth, WAYS);
		if (write)
			count(&grain->position_dirty[bits], dirty, WAYS);
	}
}

/* c[i][j] += a[i][k] * b[k][j], three matrices of doubles in a row; b is walked by column. The
 * first thread computes the upper half. */
static struct grain *simulate(uint64_t block_bytes)
{
	struct grain *grain = calloc(1, sizeof(*grain));

	grain->block_bytes = block_bytes;
	for (unsigned i = 0; i < 3; i++)
		loci_hist_init(&grain->hist[i], LOCI_SCHEME_FINE);
	for (unsigned i = 0; i < 2; i++)
		loci_hist_init(&grain->thread[i], LOCI_SCHEME_FINE);
	for (unsigned i = 0; i <= SET_BITS; i++) {
		loci_hist_init(&grain->position[i], LOCI_SCHEME_LINEAR);
		loci_hist_init(&grain->position_dirty[i], LOCI_SCHEME_LINEAR);
	}
	for (uint64_t i = 0; i < SIZE; i++)
		for (uint64_t j = 0; j < SIZE; j++)
			for (uint64_t k = 0; k < SIZE; k++) {
				uint64_t a = 0x10000, b = a + SIZE * SIZE * 8,
					 c = b + SIZE * SIZE * 8;
				unsigned thread = i >= SIZE / 2;

				reference(grain, thread, a + (i * SIZE + k) * 8, false);
				reference(grain, thread, b + (k * SIZE + j) * 8, false);
				reference(grain, thread, c + (i * SIZE + j) * 8, false);
				reference(grain, thread, c + (i * SIZE + j) * 8, true);
			}
	return grain;
}

static void grain_free(struct grain *grain)
{
	for (unsigned i = 0; i < 3; i++)
		loci_hist_fini(&grain->hist[i]);
	for (unsigned i = 0; i < 2; i++)
		loci_hist_fini(&grain->thread[i]);
	for (unsigned i = 0; i <= SET_BITS; i++) {
		loci_hist_fini(&grain->position[i]);
		loci_hist_fini(&grain->position_dirty[i]);
	}
	free(grain);
}

/* Calls visit for every histogram of the grain. */
static void each_hist(const struct grain *grain,
	void (*visit)(void *data, const struct loci_hist_key *key, const struct loci_hist *hist),
	void *data)
{
	struct loci_hist_key key = { .block_bytes = grain->block_bytes };

	for (unsigned i = 0; i < 3; i++) {
		key.distance = (enum loci_distance)i;
		visit(data, &key, &grain->hist[i]);
	}
	for (key.set_bits = 0; key.set_bits <= SET_BITS; key.set_bits++) {
		key.distance = LOCI_DISTANCE_SET;
		visit(data, &key, &grain->position[key.set_bits]);
		key.distance = LOCI_DISTANCE_SET_DIRTY;
		visit(data, &key, &grain->position_dirty[key.set_bits]);
	}
	key = (struct loci_hist_key){ .block_bytes = grain->block_bytes,
		.owner = LOCI_OWNER_THREAD };
	for (key.owner_id = 0; key.owner_id < 2; key.owner_id++)
		visit(data, &key, &grain->thread[key.owner_id]);
}

static void put_hist(void *data, const struct loci_hist_key *key, const struct loci_hist *hist)
{
	struct loci_err err = { "" };

	if (loci_profile_put_hist(data, key, hist, &err) < 0)
		CHECK_FAIL("%s", err.text);
}

static const uint64_t sizes[] = { 64, 4096 };

static void write_file(const char *path)
{
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	if (loci_profile_create(path, &profile, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK(loci_profile_put_run(profile, &run, &err) == 0);
	for (uint32_t i = 0; i < 2; i++)
		CHECK(loci_profile_put_thread(profile,
			      &(struct loci_thread_totals){
				      .thread = i, .references = run.references / 2 },
			      &err) == 0);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(sizes); i++) {
		struct grain *grain = simulate(sizes[i]);
		struct loci_grain totals = { .block_bytes = sizes[i],
			.touches = grain->touches,
			.writes = grain->writes,
			.blocks = (double)grain->stack.n,
			.sampling_rate = 1 };

		CHECK(loci_profile_put_grain(profile, &totals, &err) == 0);
		each_hist(grain, put_hist, profile);
		grain_free(grain);
	}
	CHECK(loci_profile_commit(profile, &err) == 0);
	CHECK_STR(err.text, "");
	loci_profile_close(profile);
}

static void compare_hist(void *data, const struct loci_hist_key *key, const struct loci_hist *want)
{
	const struct loci_hist *got;
	struct loci_err err = { "" };

	if (loci_profile_hist(data, key, &got, &err) < 0) {
		CHECK_FAIL("%s histogram missing: %s", loci_distance_name(key->distance), err.text);
		return;
	}
	CHECK(got->scheme == want->scheme && !got->square);
	CHECK_NEAR(got->cold, want->cold, 0);
	CHECK_NEAR(got->coherence, want->coherence, 0);
	CHECK_U64(got->n_bins, want->n_bins);
	for (uint32_t i = 0; i < want->n_bins && i < got->n_bins; i++)
		CHECK_NEAR(got->weight[i], want->weight[i], 0);
}

static void compare_run(const struct loci_run *got)
{
	CHECK_STR(got->command, run.command);
	CHECK_STR(got->collector, run.collector);
	CHECK_STR(got->origin, run.origin);
	CHECK_STR(got->mode, run.mode);
	CHECK_STR(got->unit, run.unit);
	CHECK_STR(got->capabilities, run.capabilities);
	CHECK_STR(got->program_version, run.program_version);
	CHECK_STR(got->machine, run.machine);
	CHECK_STR(got->caches, run.caches);
	CHECK_STR(got->started, run.started);
	CHECK(!got->note && got->complete);
	CHECK_NEAR(got->seconds, run.seconds, 0);
	CHECK_U64(got->references, run.references);
	CHECK_U64(got->loads, run.loads);
	CHECK_U64(got->stores, run.stores);
	CHECK_U64(got->fetches + got->bulk + got->lost, 0);
	CHECK_U64(got->threads, run.threads);
	CHECK_U64(got->merged, run.merged);
}

static void compare_file(const char *path)
{
	struct loci_profile *profile = NULL;
	const struct loci_thread_totals *thread;
	struct loci_err err = { "" };
	size_t n, hists = 0;

	if (loci_profile_open(path, &profile, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK_U64((uint64_t)loci_profile_version(profile), 1);
	compare_run(loci_profile_run(profile));
	thread = loci_profile_threads(profile, &n);
	CHECK_U64(n, 2);
	for (size_t i = 0; i < n; i++) {
		CHECK_U64(thread[i].thread, i);
		CHECK_U64(thread[i].references, run.references / 2);
	}
	loci_profile_grains(profile, &n);
	CHECK_U64(n, LOCI_ARRAY_SIZE(sizes));
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(sizes); i++) {
		struct grain *grain = simulate(sizes[i]);
		const struct loci_grain *got = loci_profile_grain(profile, sizes[i]);

		if (!got) {
			CHECK_FAIL("no blocks of %" PRIu64 " bytes", sizes[i]);
			continue;
		}
		CHECK_U64(got->touches, grain->touches);
		CHECK_U64(got->writes, grain->writes);
		CHECK_U64(got->straddles + got->sampled_from, 0);
		CHECK_NEAR(got->blocks, (double)grain->stack.n, 0);
		CHECK_NEAR(got->sampling_rate, 1, 0);
		CHECK_NEAR(got->error_points, 0, 0);
		each_hist(grain, compare_hist, profile);
		hists += 3 + 2 * (SET_BITS + 1) + 2;
		grain_free(grain);
	}
	loci_profile_hist_keys(profile, &n);
	CHECK_U64(n, hists);
	loci_profile_close(profile);
}

static void compare_count(const struct loci_level_count_row *got, const struct matrix_sum *want)
{
	size_t level = (size_t)got->level_id - 1;

	CHECK_U64(got->first_hits, want->first_hits[level]);
	CHECK_U64(got->misses, want->misses[level]);
	CHECK_U64(got->writebacks, want->writebacks[level]);
}

static void compare_sums(struct loci_profile *profile, const struct matrix_counts *counts)
{
	const struct matrix_sum *sums[] = {
		[LOCI_OWNER_WHOLE] = &counts->whole,
		[LOCI_OWNER_SITE] = counts->site,
		[LOCI_OWNER_CONTEXT] = counts->context,
		[LOCI_OWNER_OBJECT] = counts->object,
		[LOCI_OWNER_FIELD] = counts->field,
		[LOCI_OWNER_PAIR] = counts->by_pair,
		[LOCI_OWNER_ACCESS] = counts->by_access,
	};
	const struct loci_level_count_row *count;
	const struct loci_owner_hist *hists;
	size_t n;

	CHECK(loci_profile_level_counts(profile, &count, &n, NULL) == 0 && n == 134);
	for (size_t i = 0; i < n; i++)
		compare_count(&count[i],
			&sums[count[i].owner]
			     [count[i].owner_id - (count[i].owner == LOCI_OWNER_PAIR)]);
	for (enum loci_owner owner = LOCI_OWNER_SITE; owner <= LOCI_OWNER_PAIR; owner++) {
		CHECK(loci_profile_hists(
			      profile, LOCI_DISTANCE_STACK, owner, 64, &hists, &n, NULL) == 0);
		CHECK(n > 0 || !sums[owner]);
		for (size_t i = 0; i < n; i++) {
			struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, owner,
				hists[i].owner_id };

			compare_hist(profile, &key,
				&sums[owner][key.owner_id - (owner == LOCI_OWNER_PAIR)].hist);
		}
	}
}

static void compare_rows(struct loci_profile *profile, const struct matrix_counts *counts)
{
	const struct loci_site_row *site;
	const struct loci_object_row *object;
	const struct loci_access_row *by_access;
	const struct loci_pair_row *pair;
	const struct loci_excerpt_row *excerpt;
	const struct loci_loop_row *loop;
	size_t n;

	CHECK(loci_profile_sites(profile, &site, &n, NULL) == 0 && n == SITE_END - 1);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(site[i].site_key, matrix_sites[i].site_key);
		CHECK_STR(site[i].op, matrix_sites[i].op);
		CHECK_U64((uint64_t)site[i].function_id, (uint64_t)matrix_sites[i].function_id);
		CHECK_U64((uint64_t)site[i].inlined_id, (uint64_t)matrix_sites[i].inlined_id);
		CHECK_U64((uint64_t)site[i].loop_id, (uint64_t)matrix_sites[i].loop_id);
		CHECK_U64(site[i].line, matrix_sites[i].line);
		CHECK_U64(site[i].refs, counts->site[i + 1].refs);
	}
	CHECK(loci_profile_objects(profile, &object, &n, NULL) == 0 && n == OBJECT_STATS);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(object[i].kind, matrix_objects[i].kind);
		CHECK_STR(object[i].name, matrix_objects[i].name);
		CHECK_STR(object[i].type, matrix_objects[i].type);
		CHECK_U64(object[i].refs, counts->object[i + 1].refs);
		CHECK(object[i].released == matrix_objects[i].released);
	}
	CHECK(loci_profile_accesses(profile, &by_access, &n, NULL) == 0 && n == SITE_END - 1);
	for (size_t i = 0; i < n; i++) {
		CHECK_U64(by_access[i].fills, counts->access[i + 1].row.fills);
		CHECK_U64(by_access[i].used_bytes, counts->access[i + 1].row.used_bytes);
		CHECK_U64(by_access[i].refs, counts->site[i + 1].refs);
	}
	CHECK_U64((uint64_t)by_access[SITE_DOT_COLUMN - 1].stride_bytes, 8 * MATRIX_N);
	CHECK(loci_profile_pairs(profile, &pair, &n, NULL) == 0);
	CHECK_U64(n, counts->n_pairs);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(pair[i].kind, counts->pair[i].kind);
		CHECK_U64(pair[i].refs, counts->pair[i].refs);
		CHECK_U64((uint64_t)pair[i].loop_id, (uint64_t)counts->pair[i].loop_id);
	}
	CHECK(loci_profile_loops(profile, &loop, &n, NULL) == 0 && n == LOOP_STATS);
	CHECK_U64(loop[LOOP_K - 1].iterations, MATRIX_N * MATRIX_N * MATRIX_N);
	CHECK(loci_profile_excerpts(profile, &excerpt, &n, NULL) == 0);
	CHECK_U64(n, LOCI_ARRAY_SIZE(matrix_text));
	for (size_t i = 0; i < n; i++)
		CHECK_STR(excerpt[i].text, matrix_text[i]);
}

static void compare_dimensions(const char *path)
{
	struct matrix_counts *counts = malloc(sizeof(*counts));
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	if (loci_profile_open(path, &profile, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	matrix_counts_init(counts);
	matrix_run(matrix_visit_reference, counts);
	matrix_counts_end(counts);
	compare_rows(profile, counts);
	compare_sums(profile, counts);
	loci_profile_close(profile);
	matrix_counts_fini(counts);
	free(counts);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--write")) {
		write_file(argv[2]);
	} else {
		compare_file("golden/profile-v1.loci");
		compare_dimensions("golden/profile-v1-dimensions.loci");
	}
	return check_status();
}
