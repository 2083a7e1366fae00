// SPDX-License-Identifier: GPL-2.0-or-later
/* Predictions from histograms against simulating the very cache. */
#include "check.h"
#include "oracle/locality.h"

#include "model/binomial.h"
#include "model/predict.h"

static const struct loci_predict_options lru;

static void make_streams(struct stream s[6])
{
	stream_init(&s[0], "cyclic");
	stream_cyclic(&s[0], 700, 6);
	stream_init(&s[1], "sawtooth");
	stream_sawtooth(&s[1], 500, 8);
	stream_init(&s[2], "uniform");
	stream_uniform(&s[2], 700, 6000);
	stream_init(&s[3], "skewed");
	stream_skewed(&s[3], 1500, 6000);
	stream_init(&s[4], "tiled");
	stream_tiled(&s[4], 20, 60, 5, 3);
	stream_init(&s[5], "columns");
	stream_columns(&s[5], 150, 64, 4);
}

static struct loci_predict_input input_of(const struct stream *s, const struct histograms *h)
{
	return (struct loci_predict_input){
		.touches = (double)s->n,
		.blocks = h->distinct,
		.stores_known = true,
		.stack = &h->stack,
		.time = &h->time,
		.dirty = &h->dirty,
	};
}

static struct loci_cache cache_of(uint64_t sets, uint32_t ways)
{
	return (struct loci_cache){ .name = "L1",
		.size_bytes = sets * ways * 64,
		.ways = sets == 1 ? 0 : ways,
		.line_bytes = 64 };
}

static void fully_associative(const struct stream *s, const struct histograms *h)
{
	struct loci_predict_input input = input_of(s, h);

	for (uint32_t blocks = 1; blocks < h->distinct + 3; blocks += blocks < 130 ? 1 : 23) {
		struct loci_cache cache = cache_of(1, blocks);
		struct loci_prediction p;
		struct simulated sim;
		uint32_t bin = loci_bin_fine(blocks);
		int is_edge = loci_bin_low(LOCI_SCHEME_FINE, bin) == blocks;

		simulate_lru(s, 1, blocks, &sim);
		CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
		if (is_edge) {
			CHECK(p.basis == LOCI_BASIS_EXACT && p.error_points == 0);
			CHECK_U64((uint64_t)p.misses, sim.misses);
			CHECK_U64((uint64_t)p.writebacks, sim.writebacks);
		} else {
			CHECK(p.basis == LOCI_BASIS_EXACT || p.error_points > 0);
			CHECK(fabs(p.misses - (double)sim.misses) * 100 <=
				p.error_points * (double)s->n + 1e-6);
		}
		CHECK(p.has_writebacks && p.has_split);
		CHECK_NEAR(p.conflict, 0, 0);
		CHECK_NEAR(p.cold + p.capacity, p.misses, 1e-6);
		CHECK_NEAR(p.moved_bytes, (p.misses + p.writebacks) * 64, 1e-6);
	}
}

static void set_associative(const struct stream *s, const struct histograms *h)
{
	static const uint32_t ways[] = { 1, 2, 3, 4, 8, 16, 63, 64 };

	for (uint32_t sets = 2; sets <= 256; sets *= 2) {
		struct loci_predict_input input = input_of(s, h);
		struct histograms per_set;

		histograms_make(s, sets, &per_set);
		input.set = &per_set.stack;
		input.set_dirty = &per_set.dirty;
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			struct loci_cache cache = cache_of(sets, ways[i]);
			struct loci_prediction p;
			struct simulated sim;

			simulate_lru(s, sets, ways[i], &sim);
			CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
			CHECK(p.basis == LOCI_BASIS_EXACT && !p.why && p.error_points == 0);
			CHECK_U64((uint64_t)p.misses, sim.misses);
			CHECK_U64((uint64_t)p.writebacks, sim.writebacks);
			CHECK_NEAR(p.cold + p.capacity + p.conflict, p.misses, 1e-6);
			CHECK_NEAR(p.cold, h->distinct, 0);
		}
		histograms_fini(&per_set);
	}
}

/* Unstructured numbers into a number of sets that is no power of two. The worst of these is 2.1
 * points, a skewed stream in 96 sets of 2 ways. */
static void binomial(void)
{
	static const struct {
		uint32_t sets, ways;
	} shapes[] = { { 3, 8 }, { 7, 4 }, { 12, 16 }, { 48, 11 }, { 96, 2 }, { 100, 1 },
		{ 5, 100 } };
	struct stream s[2];

	stream_init(&s[0], "uniform");
	stream_uniform(&s[0], 1500, 60000);
	stream_init(&s[1], "skewed");
	stream_skewed(&s[1], 3001, 60000);
	for (int k = 0; k < 2; k++) {
		struct histograms h;
		struct loci_predict_input input;

		histograms_make(&s[k], 1, &h);
		input = input_of(&s[k], &h);
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
			struct loci_cache cache = cache_of(shapes[i].sets, shapes[i].ways);
			struct loci_prediction p;
			struct simulated sim;
			double n = (double)s[k].n, writes = loci_hist_total(&h.dirty);

			simulate_lru(&s[k], shapes[i].sets, shapes[i].ways, &sim);
			CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
			CHECK(p.basis == LOCI_BASIS_BINOMIAL && p.why);
			CHECK_NEAR(100 * p.misses / n, 100 * (double)sim.misses / n, 2.2);
			CHECK_NEAR(100 * p.writebacks / writes,
				100 * (double)sim.writebacks / writes, 2);
		}
		histograms_fini(&h);
		stream_fini(&s[k]);
	}
}

/* What the documentation says of its weakness: a loop over contiguous blocks that just fits fills
 * the sets evenly, and random sets would overflow here and there. */
static void binomial_weakness(void)
{
	struct stream s;
	struct histograms h;
	struct loci_predict_input input;
	struct loci_cache cache = cache_of(96, 5);
	struct loci_prediction p;
	struct simulated sim;
	double off;

	stream_init(&s, "loop");
	stream_cyclic(&s, 400, 60);
	histograms_make(&s, 1, &h);
	input = input_of(&s, &h);
	simulate_lru(&s, 96, 5, &sim);
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	off = 100 * (p.misses - (double)sim.misses) / (double)s.n;
	CHECK(off > 35 && off < 40 && off < p.error_points);
	histograms_fini(&h);
	stream_fini(&s);
}

/* A wide bin stands for all its values: the mean of the tail over every one of them. */
static void wide_bins(void)
{
	struct loci_cache cache = cache_of(12, 100);
	struct loci_hist hist;

	for (uint64_t value = 700; value < 2000; value = value * 5 / 4) {
		uint32_t bin = loci_bin_coarse(value);
		uint64_t low = loci_bin_low(LOCI_SCHEME_COARSE, bin);
		uint64_t high = loci_bin_high(LOCI_SCHEME_COARSE, bin);
		struct loci_predict_input input = { .touches = 1000, .stack = &hist };
		struct loci_prediction p;
		double sum = 0;

		loci_hist_init(&hist, LOCI_SCHEME_COARSE);
		CHECK(loci_hist_add(&hist, value, 1000) == 0);
		CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
		for (uint64_t d = low; d < high; d++)
			sum += loci_binomial_at_least((double)d, 1.0 / 12, 100);
		CHECK_NEAR(p.misses / 1000, sum / (double)(high - low), 0.002);
		loci_hist_fini(&hist);
	}
}

/* Why a set-associative cache falls back on the model. */
static void reasons(void)
{
	struct stream s;
	struct histograms h, per_set;
	struct loci_predict_input input;
	struct loci_prediction p;
	struct loci_cache cache = cache_of(64, 8);

	stream_init(&s, "uniform");
	stream_uniform(&s, 3000, 9000);
	histograms_make(&s, 1, &h);
	histograms_make(&s, 64, &per_set);
	input = input_of(&s, &h);
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(strstr(p.why, "no per-set"));
	input.set = &per_set.stack;
	input.set_dirty = &per_set.dirty;
	cache = cache_of(64, 65);
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(strstr(p.why, "64 ways"));
	cache = cache_of(131072, 8);
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(strstr(p.why, "65536"));
	cache = cache_of(64, 8);
	input.sampled = true;
	input.sampling_points = 1.5;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	/* the lists of sets see every touch, sampled or not */
	CHECK(p.basis == LOCI_BASIS_EXACT && p.error_points == 0);
	input.set = NULL;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(p.basis == LOCI_BASIS_BINOMIAL);
	CHECK_NEAR(p.chance_points, 1.5, 1e-12);
	CHECK(p.error_points > 1.5);
	cache = cache_of(1, 256);
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(p.basis == LOCI_BASIS_SAMPLED);
	CHECK_NEAR(p.error_points, 1.5, 1e-12);
	/* a sample's weights stand for all touches */
	input.touches *= 10;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK_NEAR(p.misses / p.accesses,
		(h.stack.cold + loci_hist_at_least(&h.stack, 256, NULL)) / (double)s.n, 1e-12);
	input = input_of(&s, &h);
	input.stores_known = false;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(!p.has_writebacks && p.writebacks == 0);
	/* time distances alone are enough, nothing at all is not */
	input.stack = NULL;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK(p.basis == LOCI_BASIS_STATSTACK && !p.has_writebacks);
	input.time = NULL;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) < 0);
	histograms_fini(&h);
	histograms_fini(&per_set);
	stream_fini(&s);
}

/* A loop just over the size: LRU keeps nothing of it fully associative, something in sets. */
static void anomaly(void)
{
	struct stream s;
	struct histograms h, per_set;
	struct loci_predict_input input;
	struct loci_cache cache = cache_of(64, 8);
	struct loci_prediction p;

	stream_init(&s, "loop");
	stream_cyclic(&s, 512 + 16, 10);
	histograms_make(&s, 1, &h);
	histograms_make(&s, 64, &per_set);
	input = input_of(&s, &h);
	input.set = &per_set.stack;
	input.set_dirty = &per_set.dirty;
	CHECK(loci_predict_cache(&input, &cache, &lru, &p, NULL) == 0);
	CHECK_NEAR(p.cold, 528, 0);
	CHECK_NEAR(p.capacity, 9 * 528, 0); /* all of it misses */
	/* 16 sets have 9 blocks for 8 ways and lose all, 48 sets have 8 and hit ever after */
	CHECK_NEAR(p.conflict, -9 * 48 * 8, 0);
	histograms_fini(&h);
	histograms_fini(&per_set);
	stream_fini(&s);
}

static void hierarchy(void)
{
	struct loci_hierarchy machine = {
		.level = { { .name = "L1", .latency_cycles = 4 }, { .name = "DTLB" },
			{ .name = "L2", .latency_cycles = 14 },
			{ .name = "L3", .latency_cycles = 50 } },
		.n_levels = 4,
		.memory_cycles = 200,
	};
	struct loci_prediction p[4] = {
		{ .cache = cache_of(64, 8), .accesses = 1000, .misses = 400 },
		{ .cache = { .is_tlb = true, .line_bytes = 4096 }, .accesses = 900, .misses = 30 },
		{ .cache = cache_of(1024, 16), .accesses = 1000, .misses = 100 },
		{ .cache = cache_of(4096, 16), .accesses = 1000, .misses = 10 },
	};

	loci_predict_hits(p, 4, LOCI_POLICY_LRU);
	CHECK_NEAR(p[0].hits, 600, 0);
	CHECK_NEAR(p[1].hits, 870, 0);
	CHECK_NEAR(p[2].hits, 300, 0);
	CHECK_NEAR(p[3].hits, 90, 0);
	for (int i = 0; i < 4; i++)
		CHECK(!p[i].hits_estimated);
	CHECK_NEAR(loci_predict_cycles(&machine, p), .6 * 4 + .3 * 14 + .09 * 50 + .01 * 200, 1e-9);
	machine.level[3].latency_cycles = 0;
	CHECK_NEAR(loci_predict_cycles(&machine, p), 0, 0);
	/* an outer level that misses more than an inner one satisfies nothing */
	p[2].misses = 500;
	p[2].cache = cache_of(1, 1024); /* fully associative after 64 sets: no inclusion */
	loci_predict_hits(p, 4, LOCI_POLICY_LRU);
	CHECK(p[2].hits_estimated);
	CHECK_NEAR(p[2].hits, 0, 0);
	CHECK_NEAR(p[3].hits, 390, 0);
	p[2].cache = cache_of(1024, 4); /* fewer ways */
	loci_predict_hits(p, 4, LOCI_POLICY_LRU);
	CHECK(p[2].hits_estimated && !p[3].hits_estimated);
	loci_predict_hits(p, 4, LOCI_POLICY_RANDOM);
	CHECK(!p[0].hits_estimated && p[3].hits_estimated);
}

/* Where sets and ways grow outwards, hits are those of the first level that holds the block. */
static void first_hits(const struct stream *s, const struct histograms *h)
{
	static const struct {
		uint32_t sets, ways;
	} shape[3] = { { 4, 2 }, { 16, 2 }, { 16, 8 } };
	struct loci_prediction p[3];
	struct simulated sim[3];
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		struct loci_predict_input input = input_of(s, h);
		struct loci_cache cache = cache_of(shape[i].sets, shape[i].ways);
		struct histograms per_set;

		histograms_make(s, shape[i].sets, &per_set);
		input.set = &per_set.stack;
		input.set_dirty = &per_set.dirty;
		CHECK(loci_predict_cache(&input, &cache, &lru, &p[i], NULL) == 0);
		simulate_lru(s, shape[i].sets, shape[i].ways, &sim[i]);
		histograms_fini(&per_set);
	}
	loci_predict_hits(p, 3, LOCI_POLICY_LRU);
	for (int i = 0; i < 3; i++) {
		CHECK(!p[i].hits_estimated);
		CHECK_NEAR(p[i].hits, (double)((i ? sim[i - 1].misses : s->n) - sim[i].misses), 0);
		sum += p[i].hits;
	}
	CHECK_NEAR(sum + p[2].misses, (double)s->n, 0);
}

/* Misses of an outer level that sees only what the inner one misses. */
static uint64_t simulate_outer(const struct stream *s, uint32_t sets, uint32_t ways,
	uint32_t outer_sets, uint32_t outer_ways)
{
	uint32_t *list = calloc((size_t)sets * (ways + 1), sizeof(*list));
	uint32_t *length = calloc(sets, sizeof(*length));
	struct stream missed;
	struct simulated sim;

	if (!list || !length)
		abort();
	stream_init(&missed, "missed");
	for (size_t i = 0; i < s->n; i++) {
		uint32_t set = s->block[i] % sets;

		if (list_touch(list + (size_t)set * (ways + 1), &length[set], s->block[i]) ==
			LOCI_INFINITE)
			stream_touch(&missed, s->block[i], 0);
		if (length[set] > ways)
			length[set] = ways;
	}
	simulate_lru(&missed, outer_sets, outer_ways, &sim);
	stream_fini(&missed);
	free(list);
	free(length);
	return sim.misses;
}

/* How far real hierarchies are from levels that see every touch: the documentation's figures. */
static void filtered(void)
{
	static const struct {
		uint32_t sets, ways, outer_sets, outer_ways;
		double least, most; /* percent of the outer level's hits */
	} shapes[] = { { 32, 8, 64, 8, 5, 8 }, { 16, 4, 64, 8, 0, .2 }, { 64, 8, 256, 16, 0, .2 } };
	struct stream s;

	stream_init(&s, "skewed");
	stream_skewed(&s, 4000, 60000);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct simulated inner, outer;
		double hits, all_seen;

		simulate_lru(&s, shapes[i].sets, shapes[i].ways, &inner);
		simulate_lru(&s, shapes[i].outer_sets, shapes[i].outer_ways, &outer);
		all_seen = (double)inner.misses - (double)outer.misses;
		hits = (double)inner.misses -
			(double)simulate_outer(&s, shapes[i].sets, shapes[i].ways,
				shapes[i].outer_sets, shapes[i].outer_ways);
		CHECK(100 * fabs(all_seen - hits) / hits >= shapes[i].least);
		CHECK(100 * fabs(all_seen - hits) / hits <= shapes[i].most);
	}
	stream_fini(&s);
}

int main(void)
{
	struct stream s[6];

	make_streams(s);
	for (int i = 0; i < 6; i++) {
		struct histograms h;

		histograms_make(&s[i], 1, &h);
		fully_associative(&s[i], &h);
		set_associative(&s[i], &h);
		first_hits(&s[i], &h);
		histograms_fini(&h);
		stream_fini(&s[i]);
	}
	binomial();
	binomial_weakness();
	wide_bins();
	reasons();
	anomaly();
	hierarchy();
	filtered();
	return check_status();
}
