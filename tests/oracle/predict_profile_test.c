// SPDX-License-Identifier: GPL-2.0-or-later
/* From a profile on disk to predictions of hierarchies and sweeps, against simulation. Called with
 * a file name it only writes such a profile there, for the command's own test: `byte`, `object`,
 * `loads` (stores not told apart), `watch` (time distances alone), `sampled`. */
#include "check.h"
#include "oracle/locality.h"

#include "model/accuracy.h"
#include "model/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_BITS 10

static const uint64_t block_sizes[] = { 64, 128, 4096 };

/* A matrix walked by column, then a hash table: something for sets, sizes and pages. */
static void make_stream(struct stream *s)
{
	stream_init(s, "columns and table");
	stream_columns(s, 120, 64, 8);
	stream_skewed(s, 3000, 12000);
}

static void at_block_size(const struct stream *from, uint64_t block_bytes, struct stream *ret)
{
	stream_init(ret, from->name);
	for (size_t i = 0; i < from->n; i++)
		stream_touch(
			ret, (uint32_t)(from->block[i] * 64ull / block_bytes), from->is_write[i]);
}

static void put_hist(struct loci_profile *profile, enum loci_distance distance,
	uint64_t block_bytes, unsigned set_bits, const struct loci_hist *hist)
{
	struct loci_hist_key key = { .distance = distance,
		.block_bytes = block_bytes,
		.set_bits = set_bits,
		.owner = LOCI_OWNER_WHOLE };
	struct loci_err err = { "" };

	CHECK(loci_profile_put_hist(profile, &key, hist, &err) == 0);
	CHECK_STR(err.text, "");
}

static void put_grain(struct loci_profile *profile, const struct stream *s, uint64_t block_bytes,
	const char *kind)
{
	bool only_time = !strcmp(kind, "watch");
	struct loci_grain grain = {
		.block_bytes = block_bytes, .touches = s->n, .sampling_rate = 1
	};
	struct histograms h;

	for (unsigned bits = 0; bits <= MAX_BITS; bits++) {
		histograms_make(s, 1u << bits, &h);
		if (!bits) {
			grain.blocks = h.distinct;
			grain.writes = (uint64_t)loci_hist_total(&h.dirty);
			put_hist(profile, LOCI_DISTANCE_TIME, block_bytes, 0, &h.time);
		}
		if (!bits && !only_time) {
			put_hist(profile, LOCI_DISTANCE_STACK, block_bytes, 0, &h.stack);
			put_hist(profile, LOCI_DISTANCE_DIRTY, block_bytes, 0, &h.dirty);
		} else if (!only_time) {
			put_hist(profile, LOCI_DISTANCE_SET, block_bytes, bits, &h.stack);
			put_hist(profile, LOCI_DISTANCE_SET_DIRTY, block_bytes, bits, &h.dirty);
		}
		histograms_fini(&h);
	}
	if (!strcmp(kind, "sampled")) {
		grain.sampling_rate = 0.1;
		grain.error_points = 1.25;
		grain.sampled_from = 100;
	}
	CHECK(loci_profile_put_grain(profile, &grain, NULL) == 0);
}

static void write_profile(const char *path, const char *kind, const struct stream *s)
{
	bool is_object = !strcmp(kind, "object");
	struct loci_run run = {
		.command = "columns",
		.collector = "import",
		.origin = "test",
		.mode = "exact",
		.unit = is_object ? "object" : "byte",
		.capabilities = strcmp(kind, "loads") ? "complete stores" : "complete",
		.caches = "L1=4K/4,L2=16K/8",
		.complete = true,
		.references = s->n,
		.threads = 1,
		.merged = 1,
	};
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	CHECK(loci_profile_create(path, &profile, &err) == 0);
	if (!profile) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	for (size_t i = 0; i < (is_object ? 1 : 3); i++) {
		struct stream at;

		at_block_size(s, block_sizes[i], &at);
		put_grain(profile, &at, is_object ? 1 : block_sizes[i], kind);
		stream_fini(&at);
	}
	CHECK(loci_profile_put_run(profile, &run, &err) == 0);
	CHECK(loci_profile_commit(profile, &err) == 0);
	CHECK_STR(err.text, "");
	loci_profile_close(profile);
}

static void simulate(const struct stream *s, const struct loci_cache *cache, struct simulated *ret)
{
	struct stream at;

	at_block_size(s, cache->line_bytes, &at);
	simulate_lru(&at, (uint32_t)loci_cache_sets(cache),
		cache->ways ? cache->ways : (uint32_t)loci_cache_blocks(cache), ret);
	stream_fini(&at);
}

static void levels(struct loci_profile *profile, const struct stream *s)
{
	static const struct loci_predict_options lru;
	struct loci_hierarchy h;
	struct loci_prediction p[LOCI_LEVELS_MAX];
	struct loci_err err = { "" };

	CHECK(loci_hierarchy_parse(
		      "L1=4K/4,DTLB=16e/4@4K,L2=32K/8,L3=128K/16@128,L4=256K", &h, &err) == 0);
	CHECK(loci_predict(profile, &h, &lru, p, &err) == 0);
	CHECK_STR(err.text, "");
	for (unsigned i = 0; i < h.n_levels; i++) {
		struct simulated sim;

		simulate(s, &h.level[i], &sim);
		CHECK(p[i].basis == LOCI_BASIS_EXACT);
		CHECK_U64((uint64_t)p[i].misses, sim.misses);
		CHECK(p[i].has_writebacks == !h.level[i].is_tlb);
		CHECK_U64((uint64_t)p[i].writebacks, h.level[i].is_tlb ? 0 : sim.writebacks);
		CHECK(h.level[i].is_tlb == (p[i].moved_bytes == 0));
	}
	CHECK(!p[2].hits_estimated && p[3].hits_estimated && p[4].hits_estimated);
	CHECK_NEAR(p[1].hits + p[1].misses, (double)s->n, 0);

	CHECK(loci_hierarchy_parse("L1=4K/4@32", &h, &err) == 0);
	CHECK(loci_predict(profile, &h, &lru, p, &err) == -ENOENT);
	CHECK(strstr(err.text, "64, 128, 4K") && strstr(err.text, "-b 32,64,128,4K"));
	err.text[0] = '\0';
	CHECK(loci_hierarchy_parse("L1=4K/4@256", &h, &err) == 0);
	CHECK(loci_predict(profile, &h, &lru, p, &err) == -ENOENT);
	CHECK(strstr(err.text, "-b 64,128,256,4K"));
}

static void sweeps(struct loci_profile *profile, const struct stream *s)
{
	static const struct loci_predict_options lru;
	struct loci_hierarchy h;
	struct loci_sweep sweep;
	struct simulated sim;

	CHECK(loci_hierarchy_parse("L1=4K/4,L2=16K/8", &h, NULL) == 0);
	CHECK(loci_sweep_size(profile, &h, 1, 8192, 100000, &lru, &sweep, NULL) == 0);
	CHECK_U64(sweep.n, 4); /* 8K 16K 32K 64K */
	for (size_t i = 0; i < sweep.n; i++) {
		CHECK_U64(sweep.row[i].cache.size_bytes, 8192ull << i);
		CHECK_U64(sweep.row[i].cache.ways, 8);
		simulate(s, &sweep.row[i].cache, &sim);
		CHECK_U64((uint64_t)sweep.row[i].misses, sim.misses);
		simulate(s, &h.level[0], &sim);
		CHECK_NEAR(sweep.row[i].hits, (double)sim.misses - sweep.row[i].misses, 0);
	}
	CHECK(!sweep.lost_ways && !sweep.n_missing);
	loci_sweep_fini(&sweep);
	/* 320 bytes are 5 lines: not whole sets of 8 */
	CHECK(loci_sweep_size(profile, &h, 1, 320, 700, &lru, &sweep, NULL) == 0);
	CHECK(sweep.lost_ways && sweep.n == 2 && !sweep.row[0].cache.ways);
	loci_sweep_fini(&sweep);
	CHECK(loci_sweep_size(profile, &h, 1, 100, 700, &lru, &sweep, NULL) < 0);

	CHECK(loci_sweep_line(profile, &h, 16, 512, &lru, &sweep, NULL) == 0);
	CHECK_U64(sweep.n, 4); /* two levels at 64 and 128 */
	CHECK_U64(sweep.row[1].cache.line_bytes, 128);
	for (size_t i = 0; i < sweep.n; i++) {
		simulate(s, &sweep.row[i].cache, &sim);
		CHECK_U64((uint64_t)sweep.row[i].misses, sim.misses);
	}
	CHECK_U64(sweep.n_missing, 4);
	CHECK_U64(sweep.missing[3], 512);
	loci_sweep_fini(&sweep);
}

static void conversions(struct loci_profile *profile)
{
	struct loci_accuracy_row row[LOCI_ACCURACY_ROWS];
	struct loci_err err = { "" };
	size_t n = 0;

	CHECK(loci_accuracy_profile(profile, 64, row, &n, &err) == 0);
	CHECK_U64(n, 2);
	CHECK(row[0].conversion == LOCI_CONVERT_STATSTACK && row[0].accuracy.s_log2 > .5);
	CHECK(row[0].accuracy.worst_points > 0 && row[0].accuracy.worst_points < 50);
	CHECK(loci_accuracy_profile(profile, 32, row, &n, &err) < 0);
	CHECK(strstr(err.text, "32"));
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/loci-predict-XXXXXX";
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };
	struct stream s;

	make_stream(&s);
	if (argc > 1) {
		write_profile(argv[1], argc > 2 ? argv[2] : "byte", &s);
		stream_fini(&s);
		return check_failures != 0;
	}
	close(mkstemp(path));
	write_profile(path, "byte", &s);
	CHECK(loci_profile_open(path, &profile, &err) == 0);
	CHECK_STR(err.text, "");
	if (profile) {
		levels(profile, &s);
		sweeps(profile, &s);
		conversions(profile);
	}
	loci_profile_close(profile);
	unlink(path);
	stream_fini(&s);
	return check_status();
}
