// SPDX-License-Identifier: GPL-2.0-or-later
/* Several block sizes of one run: the histograms of every site and object at each of them, against
 * a list searched from the top. Objects lie side by side and no block is theirs alone, references
 * straddle them, and ranges cover several. */
#include "attribution.h"

#define N_SITES   5
#define N_OBJECTS 4
#define OWNERS    (N_SITES + N_OBJECTS + 1) /* and memory between objects */
#define BYTES_OF  200                       /* an object */
#define LIST      4096                      /* blocks there are, of any size, at most */
#define REFS      3000
#define BASE      0x500010

static const uint64_t sizes[] = { 64, 8, 1, 4096 };
#define N_SIZES (sizeof(sizes) / sizeof(*sizes))

static uint64_t state;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 33) % n);
}

struct tally {
	double cold, at[LOCI_COARSE_BINS];
};

struct truth {
	uint64_t list[N_SIZES][LIST]; /* most recent first */
	size_t n[N_SIZES];
	uint64_t touches[N_SIZES], straddles[N_SIZES];
	struct tally tally[N_SIZES][OWNERS];
};

static const struct {
	uint64_t code;
	uint32_t bytes; /* 0: a range */
	enum loci_op op;
	unsigned flags;
} code[N_SITES] = {
	{ 0x1000, 8, LOCI_OP_LOAD, 0 },
	{ 0x1010, 4, LOCI_OP_STORE, 0 },
	{ 0x1020, 16, LOCI_OP_LOAD, 0 },
	{ 0x1030, 1, LOCI_OP_LOAD, 0 },
	{ 0x1040, 0, LOCI_OP_STORE, LOCI_REF_BULK },
};

static unsigned object_of(uint64_t address)
{
	uint64_t i = (address - BASE) / BYTES_OF;

	return address >= BASE && i < N_OBJECTS ? (unsigned)i : N_OBJECTS;
}

static void touch(struct truth *t, unsigned size, uint64_t address, unsigned site)
{
	uint64_t block = address / sizes[size], *list = t->list[size];
	struct tally *to[] = { &t->tally[size][site],
		&t->tally[size][N_SITES + object_of(address)] };
	size_t d = 0;

	while (d < t->n[size] && list[d] != block)
		d++;
	for (unsigned i = 0; i < 2; i++)
		if (d == t->n[size])
			to[i]->cold++;
		else
			to[i]->at[loci_bin_coarse(d)]++;
	if (d == t->n[size] && ++t->n[size] > LIST)
		abort();
	memmove(list + 1, list, d * sizeof(*list));
	list[0] = block;
	t->touches[size]++;
}

static void refer(struct truth *t, uint64_t address, uint64_t bytes, unsigned site)
{
	for (unsigned size = 0; size < N_SIZES; size++) {
		uint64_t first = address / sizes[size], last = (address + bytes - 1) / sizes[size];

		t->straddles[size] += first != last && code[site].bytes;
		for (uint64_t block = first; block <= last; block++)
			touch(t, size, block == first ? address : block * sizes[size], site);
	}
}

static void generate(struct words *w, struct truth *t, uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
	memset(t, 0, sizeof(*t));
	for (unsigned i = 0; i < N_SITES; i++)
		DEFINE(w, i + 1, 0, { code[i].bytes, code[i].op, code[i].code, code[i].flags });
	for (unsigned i = 0; i < N_OBJECTS; i++) {
		char text[8];

		snprintf(text, sizeof(text), "o%u", i);
		object(w, BASE + i * BYTES_OF, BYTES_OF, text);
	}
	for (unsigned i = 0; i < REFS; i++) {
		/* mostly those of fixed size: a range is worth hundreds of the smallest touches */
		unsigned site = below(60) ? below(N_SITES - 1) : N_SITES - 1;
		uint64_t address = BASE - 20 + below(N_OBJECTS * BYTES_OF + 40);

		put(w, loci_mark_word(LOCI_MARK_BLOCK, 0, site + 1));
		put(w, address);
		if (code[site].bytes) {
			refer(t, address, code[site].bytes, site);
		} else {
			uint64_t bytes = 1 + below(300);

			put(w, bytes);
			refer(t, address, bytes, site);
		}
	}
}

static void check_hist(struct loci_profile *profile, unsigned size, enum loci_owner owner,
	int64_t id, const struct tally *want)
{
	const struct loci_hist_key key = {
		.block_bytes = sizes[size], .owner = owner, .owner_id = id
	};
	const struct loci_hist *hist = NULL;

	if (loci_profile_hist(profile, &key, &hist, NULL) < 0) {
		CHECK_FAIL("owner %d %" PRId64 " has no histogram of %" PRIu64 "-byte blocks",
			(int)owner, id, sizes[size]);
		return;
	}
	CHECK_NEAR(hist->cold, want->cold, 0);
	for (uint32_t bin = 0; bin < LOCI_COARSE_BINS; bin++)
		CHECK_NEAR(bin < hist->n_bins ? hist->weight[bin] : 0, want->at[bin], 0);
}

static void check_sizes(uint64_t seed, bool no_sets)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_options options = { .attribute = true,
		.no_sets = no_sets,
		.pairs = LOCI_PAIRS_NONE,
		.verify = UINT64_MAX,
		.n_block_bytes = N_SIZES };
	static struct truth truth;
	struct words w = { 0 };

	memcpy(options.block_bytes, sizes, sizeof(sizes));
	generate(&w, &truth, seed);
	profile = attributed(&w, &options);
	free(w.word);
	if (!profile)
		return;
	for (unsigned size = 0; size < N_SIZES; size++) {
		const struct loci_grain *grain = loci_profile_grain(profile, sizes[size]);

		CHECK_U64(grain->touches, truth.touches[size]);
		CHECK_U64(grain->straddles, truth.straddles[size]);
		for (unsigned i = 0; i < N_SITES; i++)
			check_hist(profile, size, LOCI_OWNER_SITE,
				site_id(profile, code[i].code,
					code[i].op == LOCI_OP_LOAD ? "load" : "store"),
				&truth.tally[size][i]);
		for (unsigned i = 0; i < N_OBJECTS; i++) {
			char text[8];

			snprintf(text, sizeof(text), "o%u", i);
			check_hist(profile, size, LOCI_OWNER_OBJECT, object_named(profile, text),
				&truth.tally[size][N_SITES + i]);
		}
	}
}

/* A process that comes second adds to what the first has counted. */
static void check_two_processes(void)
{
	static struct truth truth[2];
	struct words w[2] = { 0 };
	struct loci_analyse_options options = { .attribute = true,
		.no_sets = true,
		.pairs = LOCI_PAIRS_NONE,
		.n_block_bytes = N_SIZES };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_summary summary;
	struct loci_analysis *analysis = NULL;

	memcpy(options.block_bytes, sizes, sizeof(sizes));
	CHECK(loci_analysis_new(&options, &analysis, NULL) == 0);
	for (unsigned i = 0; i < 2; i++) {
		struct words_source source;

		generate(&w[i], &truth[i], 77 + i);
		source = words_source(&w[i]);
		CHECK(loci_analysis_read(analysis, &source.source, NULL) == 0);
		free(w[i].word);
	}
	CHECK(loci_analysis_write(analysis, "two.loci", &summary, NULL) == 0);
	CHECK(loci_profile_open("two.loci", &profile, NULL) == 0);
	loci_analysis_free(analysis);
	remove("two.loci");
	for (unsigned size = 0; profile && size < N_SIZES; size++) {
		struct tally *sum = &truth[0].tally[size][0];

		sum->cold += truth[1].tally[size][0].cold;
		for (uint32_t bin = 0; bin < LOCI_COARSE_BINS; bin++)
			sum->at[bin] += truth[1].tally[size][0].at[bin];
		check_hist(profile, size, LOCI_OWNER_SITE, site_id(profile, code[0].code, "load"),
			sum);
	}
}

int main(void)
{
	char dir[] = "/tmp/block_sizes_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	for (uint64_t seed = 1; seed <= 4; seed++)
		check_sizes(seed, seed % 2);
	check_two_processes();
	rmdir(dir);
	return check_status();
}
