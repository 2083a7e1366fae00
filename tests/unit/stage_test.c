// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions, phases and pauses, against a plain count over random streams of several threads, and
 * what a program must not get wrong by marking wrongly. */
#include "attribution.h"

static const struct loci_level_row one_level[] = {
	{ .name = "L1", .size_bytes = 8 * 64, .ways = 0, .line_bytes = 64, .share = "shared" },
};

#define BLOCKS  40
#define THREADS 3
#define NAMES   3
#define PLACES  400 /* regions by their paths */
#define DEPTH   4

/* What is counted of a region, or a phase. */
struct tally {
	uint64_t refs, entries, cold, misses;
	uint64_t at[BLOCKS];
};

struct naive {
	uint64_t recent[BLOCKS]; /* blocks, the last first */
	size_t n;
	unsigned open[THREADS][DEPTH], depth[THREADS], thread, phase;
	bool paused;
	uint64_t left_out;
	struct tally region[PLACES], phases[NAMES + 1];
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* A path as a number: digits are names, from 1. */
static unsigned place(const struct naive *naive)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < naive->depth[naive->thread]; i++)
		sum = sum * (NAMES + 1) + naive->open[naive->thread][i] + 1;
	return sum;
}

static void count(struct tally *tally, size_t distance, bool cold)
{
	tally->refs++;
	tally->cold += cold;
	tally->misses += cold || distance >= 8;
	if (!cold)
		tally->at[distance]++;
}

static void refer(struct naive *naive, uint64_t block)
{
	size_t i = 0;
	bool cold;

	if (naive->paused) {
		naive->left_out++;
		return;
	}
	while (i < naive->n && naive->recent[i] != block)
		i++;
	cold = i == naive->n;
	naive->n += cold;
	memmove(naive->recent + 1, naive->recent, i * sizeof(naive->recent[0]));
	naive->recent[0] = block;
	count(&naive->region[place(naive)], i, cold);
	count(&naive->phases[naive->phase], i, cold);
}

static void begin_or_end(struct words *w, struct naive *naive, uint64_t random)
{
	unsigned *depth = &naive->depth[naive->thread];
	unsigned *open = naive->open[naive->thread];

	if (random % 2 && *depth < DEPTH) {
		unsigned name = (unsigned)(random / 2 % NAMES);

		open[(*depth)++] = name;
		naive->region[place(naive)].entries++;
		mark(w, LOCI_MARK_REGION_BEGIN, 1 + name, 0);
	} else if (*depth) {
		mark(w, LOCI_MARK_REGION_END, 1 + open[--*depth], 0);
	} else {
		mark(w, LOCI_MARK_REGION_END, 1 + random / 2 % NAMES, 0); /* is not open */
	}
}

/* The number of a region of the profile, as above. */
static unsigned place_of(const struct loci_region_row *region, size_t n, int64_t id)
{
	const struct loci_region_row *row = loci_row_find(region, n, sizeof(*row), id);

	return row ? place_of(region, n, row->parent_id) * (NAMES + 1) +
			(unsigned)(row->name[0] - 'a') + 1
		   : 0;
}

static void compare(
	struct loci_profile *profile, enum loci_owner owner, int64_t id, const struct tally *tally)
{
	uint64_t bins[64] = { 0 };

	CHECK_U64((uint64_t)touches_at(profile, owner, id, LOCI_INFINITE), tally->cold);
	for (unsigned i = 0; i < BLOCKS; i++)
		bins[loci_bin_of(LOCI_SCHEME_COARSE, i)] += tally->at[i];
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK_U64((uint64_t)touches_at(profile, owner, id, i),
			bins[loci_bin_of(LOCI_SCHEME_COARSE, i)]);
	CHECK_U64(level_count(profile, 1, owner, id).misses, tally->misses);
	CHECK_U64(level_count(profile, 1, owner, id).first_hits, tally->refs - tally->misses);
}

static void check_regions(struct loci_profile *profile, const struct naive *naive)
{
	size_t n_expected = 0;

	GET(profile, region, regions);
	for (size_t i = 0; i < n_region; i++) {
		const struct tally *tally =
			&naive->region[place_of(region, n_region, region[i].id)];

		CHECK_U64(region[i].refs, tally->refs);
		CHECK_U64(region[i].entries, tally->entries);
		compare(profile, LOCI_OWNER_REGION, region[i].id, tally);
	}
	for (size_t i = 1; i < PLACES; i++)
		n_expected += naive->region[i].entries > 0;
	CHECK_U64(n_region, n_expected);
}

static void check_phases(struct loci_profile *profile, const struct naive *naive)
{
	uint64_t sum = 0, in[NAMES + 1] = { 0 };

	GET(profile, phase, phases);
	GET(profile, stretch, stretches);
	for (size_t i = 0; i < n_phase; i++) {
		const struct tally *tally =
			&naive->phases[phase[i].name ? phase[i].name[0] - 'a' + 1 : 0];

		CHECK_U64(phase[i].refs, tally->refs);
		compare(profile, LOCI_OWNER_PHASE, phase[i].id, tally);
	}
	for (size_t i = 0; i < n_stretch; i++) {
		const struct loci_phase_row *of =
			loci_row_find(phase, n_phase, sizeof(*phase), stretch[i].phase_id);

		CHECK_U64(stretch[i].first_refs, sum);
		sum += stretch[i].refs;
		CHECK(of != NULL);
		if (of)
			in[of->name ? of->name[0] - 'a' + 1 : 0] += stretch[i].refs;
	}
	for (size_t i = 0; i <= NAMES && n_stretch; i++)
		CHECK_U64(in[i], naive->phases[i].refs);
	if (naive->phase)
		CHECK_U64(sum, loci_profile_run(profile)->references);
}

/* marks: how many of a hundred steps are no reference. */
static void check_random(uint64_t seed, unsigned marks, bool joins, bool pauses)
{
	struct loci_analyse_options options = { .attribute = true,
		.no_sets = true,
		.pairs = joins ? LOCI_PAIRS_FAR : LOCI_PAIRS_ALL,
		.levels = one_level,
		.n_levels = 1 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct naive *naive = calloc(1, sizeof(*naive));
	struct words w = { 0 };
	uint64_t random = seed;

	for (unsigned i = 0; i < NAMES; i++)
		name(&w, 1 + i, (char[]){ (char)('a' + i), 0 });
	DEFINE(&w, 1, 0, LOAD(0x1000));
	DEFINE(&w, 2, 0, STORE(0x1010));
	mark(&w, LOCI_MARK_SWITCH, 1, 0);
	for (unsigned i = 0; i < 30000; i++) {
		uint64_t what = next_random(&random) % 100, block;

		if (what >= marks) {
			block = next_random(&random) % (next_random(&random) % 3 ? 4 : BLOCKS);
			RUN(&w, 1 + what % 2, 0x10000 + 64 * block + 8 * (what % 8));
			refer(naive, block);
		} else if (what % 16 == 0) {
			naive->thread = (unsigned)(next_random(&random) % THREADS);
			mark(&w, LOCI_MARK_SWITCH, 1 + naive->thread, 0);
		} else if (what % 16 == 1) {
			naive->phase = 1 + (unsigned)(next_random(&random) % NAMES);
			mark(&w, LOCI_MARK_PHASE, naive->phase, 1, (uint64_t)i);
		} else if (what % 16 == 2 && pauses) {
			naive->paused = !naive->paused;
			mark(&w, LOCI_MARK_PAUSE, naive->paused, 1, (uint64_t)i);
		} else if (what % 16 == 3) {
			naive->depth[naive->thread] = 0;
			mark(&w, LOCI_MARK_THREAD_EXIT, 1 + naive->thread, 2, (uint64_t)i,
				(uint64_t)i);
		} else {
			begin_or_end(&w, naive, next_random(&random));
		}
	}
	profile = attributed(&w, &options);
	check_regions(profile, naive);
	check_phases(profile, naive);
	CHECK(!!strstr(loci_profile_run(profile)->capabilities, "windows") == pauses);
	CHECK(!strstr(loci_profile_run(profile)->capabilities, "complete") == pauses);
	if (pauses) {
		char text[64];

		snprintf(
			text, sizeof(text), "%" PRIu64 " references are left out", naive->left_out);
		CHECK(strstr(loci_profile_run(profile)->note, text) != NULL);
	}
	free(naive);
	free(w.word);
}

/* A pause hides references, not where control goes. */
static void check_pause_flow(void)
{
	static const struct loci_analyse_options options = { .attribute = true, .no_sets = true };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };

	DEFINE(&w, 1, LOCI_BLOCK_ENTRY, FRAME(0x1000), LOAD(0x1002));
	DEFINE(&w, 2, LOCI_BLOCK_ENTRY, FRAME(0x2000), LOAD(0x2002));
	RUN(&w, 1, 0x7ff000, 0x100000);
	mark(&w, LOCI_MARK_PAUSE, 1, 1, (uint64_t)1);
	RUN(&w, 2, 0x7fe000, 0x100000);
	mark(&w, LOCI_MARK_PAUSE, 0, 1, (uint64_t)2);
	put(&w, loci_mark_word(LOCI_MARK_DEFINE, 4, 3));
	put(&w, 0);
	put(&w, 0x2010);
	put(&w, loci_ref_word(8, LOCI_OP_LOAD, 0));
	put(&w, 0x2010);
	RUN(&w, 3, 0x100040);
	profile = attributed(&w, &options);
	CHECK_U64(loci_profile_run(profile)->references, 2);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 1);
	CHECK(strstr(loci_profile_run(profile)->note, ": 1 references are left out") != NULL);
	free(w.word);
}

/* More regions in more phases than are told apart: said, and nothing is lost. */
static void check_many(void)
{
	static const struct loci_analyse_options options = { .attribute = true, .no_sets = true };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };
	uint64_t sum = 0;

	DEFINE(&w, 1, 0, LOAD(0x1000));
	for (uint64_t i = 1; i <= 300; i++)
		name(&w, i, (char[]){ (char)('a' + i / 20), (char)('a' + i % 20), 0 });
	for (uint64_t phase = 1; phase <= 300; phase++) {
		mark(&w, LOCI_MARK_PHASE, phase, 1, phase);
		for (uint64_t region = 1; region <= 300; region++) {
			mark(&w, LOCI_MARK_REGION_BEGIN, region, 0);
			RUN(&w, 1, 0x10000);
			mark(&w, LOCI_MARK_REGION_END, region, 0);
		}
	}
	profile = attributed(&w, &options);
	{
		GET(profile, region, regions);
		GET(profile, phase, phases);

		CHECK_U64(n_region, 300);
		CHECK_U64(n_phase, 300);
		for (size_t i = 0; i < n_phase; i++)
			sum += phase[i].refs;
		CHECK_U64(sum, 300 * 300);
		CHECK(strstr(loci_profile_run(profile)->note, "counted with others") != NULL);
	}
	free(w.word);
}

/* What the collector says was wrong: the last count of each. */
static void check_mistakes(void)
{
	static const struct loci_analyse_options options = { .attribute = true, .no_sets = true };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct words w = { 0 };

	name(&w, 1, "one");
	name(&w, 2, "other");
	DEFINE(&w, 1, 0, LOAD(0x1000));
	RUN(&w, 1, 0x10000);
	mark(&w, LOCI_MARK_MISTAKE, 1, 1, (uint64_t)1);
	mark(&w, LOCI_MARK_MISTAKE, 2, 1, (uint64_t)1);
	mark(&w, LOCI_MARK_MISTAKE, 1, 1, (uint64_t)5);
	profile = attributed(&w, &options);
	{
		GET(profile, mistake, mistakes);
		GET(profile, region, regions);
		GET(profile, phase, phases);
		GET(profile, stretch, stretches);

		CHECK_U64(n_region + n_phase + n_stretch, 0);
		CHECK_U64(n_mistake, 2);
		if (n_mistake == 2) {
			CHECK_STR(mistake[0].what, "one");
			CHECK_U64(mistake[0].times, 5);
			CHECK_U64(mistake[1].times, 1);
		}
	}
	free(w.word);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		check_random(seed, 5, true, false);
		check_random(seed, 60, true, true);
		check_random(seed, 60, false, false);
		check_random(seed, 95, true, true);
	}
	check_pause_flow();
	check_many();
	check_mistakes();
	return check_status();
}
