// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU time and bytes of a profile with dimensions, about as a database engine's run has them: per
 * site an access, one and a half pairs, coarse histograms of 8 bins, and counts at the levels that
 * it met. The file's bytes go by table, where SQLite was built to tell (sqlite3 has dbstat).
 *
 *   profile_bench [-n SITES] [FILE] */
#include "base/cleanup.h"
#include "profile/dimension.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct loci_err err;
static double began;
static uint64_t rows, bins;

static void check(int r)
{
	rows++;
	if (r < 0) {
		fprintf(stderr, "profile_bench: %s\n", err.text);
		exit(1);
	}
}

static void lap(const char *what)
{
	double took = seconds() - began;

	printf("%-28s %8.1f ms", what, 1e3 * took);
	if (rows)
		printf("  %8" PRIu64 " rows  %6.2f million/s", rows, 1e-6 * (double)rows / took);
	putchar('\n');
	rows = 0;
	began = seconds();
}

static void put_code(struct loci_profile *profile, int64_t n)
{
	char text[64];

	check(loci_profile_put_module(profile,
		&(struct loci_module_row){ 1, "/usr/bin/prog", "5c6a0f1e9b0d4c7f" }, &err));
	check(loci_profile_put_source(profile, &(struct loci_source_row){ 1, "prog.c" }, &err));
	for (int64_t i = 1; i <= n / 20 + 1; i++) {
		snprintf(text, sizeof(text), "function_%" PRId64, i);
		check(loci_profile_put_function(profile,
			&(struct loci_function_row){ i, 1, text, NULL, 1, (unsigned)i * 20 },
			&err));
		check(loci_profile_put_context(profile,
			&(struct loci_context_row){ i, i / 2, i, 1, (unsigned)i, draw(10000) },
			&err));
		check(loci_profile_put_object(profile,
			&(struct loci_object_row){ .id = i,
				.kind = "heap",
				.name = text,
				.size_bytes = 4096,
				.refs = draw(10000) },
			&err));
	}
	for (int64_t i = 1; i <= n; i++) {
		snprintf(text, sizeof(text), "function_%" PRId64 "+%d.%d", i / 20, (int)draw(40),
			(int)draw(3));
		check(loci_profile_put_site(profile,
			&(struct loci_site_row){ i, text, i / 20 + 1, 0, 0, 1, (unsigned)i,
				(unsigned)draw(80), draw(3) ? "load" : "store", NULL, 8,
				(uint64_t)i * 5, draw(100000), 0 },
			&err));
		check(loci_profile_put_access(profile,
			&(struct loci_access_row){ i, i, i / 20 + 1, 0, draw(100000),
				8 * (int64_t)draw(10), draw(1000), draw(1000), draw(60000) },
			&err));
	}
	for (int64_t i = 1; i <= n * 3 / 2; i++)
		check(loci_profile_put_pair(profile,
			&(struct loci_pair_row){ i, 1 + (int64_t)draw((uint64_t)n),
				1 + (int64_t)draw((uint64_t)n), i / 40 + 1, "RAR", i / 40 + 1,
				i / 40 + 1, i / 40 + 1, 0, false, draw(10000) },
			&err));
}

static void put_hists(struct loci_profile *profile, enum loci_owner owner, int64_t n, unsigned each)
{
	for (int64_t i = 1; i <= n; i++) {
		struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, owner, i };
		struct loci_hist hist;

		loci_hist_init(&hist, LOCI_SCHEME_COARSE);
		for (unsigned k = 0; k < each; k++)
			check(loci_hist_add(
				&hist, 1ull << draw(18), (double)draw(1ull << draw(16)) + 1));
		for (uint32_t k = 0; k < hist.n_bins; k++)
			bins += hist.weight[k] != 0;
		rows -= each;
		check(loci_profile_put_hist(profile, &key, &hist, &err));
		loci_hist_fini(&hist);
	}
}

static void put_counts(struct loci_profile *profile, enum loci_owner owner, int64_t n)
{
	for (int64_t i = 1; i <= n; i++)
		for (int64_t level = 1; level <= 1 + (int64_t)draw(3); level++)
			check(loci_profile_put_level_count(profile,
				&(struct loci_level_count_row){ level, owner, i, draw(100000),
					draw(10000), draw(100), 0, 0 },
				&err));
}

static void write_profile(const char *path, int64_t n)
{
	static const char *const names[] = { "L1", "L2", "L3" };
	struct loci_run run = { .unit = "byte", .merged = 1 };
	struct loci_grain grain = { .block_bytes = 64 };
	struct loci_profile *profile;

	check(loci_profile_create(path, &profile, &err));
	check(loci_profile_put_run(profile, &run, &err));
	check(loci_profile_put_grain(profile, &grain, &err));
	put_code(profile, n);
	lap("put code, data, pairs");
	for (int64_t i = 0; i < 3; i++)
		check(loci_profile_put_level(profile,
			&(struct loci_level_row){
				i + 1, names[i], 32768ull << 4 * i, 8, 64, "private" },
			&err));
	put_counts(profile, LOCI_OWNER_SITE, n);
	put_counts(profile, LOCI_OWNER_ACCESS, n);
	put_counts(profile, LOCI_OWNER_OBJECT, n / 20 + 1);
	put_counts(profile, LOCI_OWNER_PAIR, n * 3 / 2);
	lap("put level counts");
	put_hists(profile, LOCI_OWNER_SITE, n, 10);
	put_hists(profile, LOCI_OWNER_OBJECT, n / 20 + 1, 20);
	put_hists(profile, LOCI_OWNER_PAIR, n * 3 / 2, 4);
	lap("put histograms");
	printf("%28s %8" PRIu64 " bins\n", "", bins);
	check(loci_profile_commit(profile, &err));
	loci_profile_close(profile);
	rows = 0;
	lap("commit");
}

static void read_profile(const char *path)
{
	struct loci_profile *profile;
	const struct loci_level_count_row *count;
	const struct loci_access_row *access_row;
	const struct loci_owner_hist *hist;
	const struct loci_pair_row *pair;
	size_t n;

	check(loci_profile_open(path, &profile, &err));
	rows = 0;
	lap("open");
	check(loci_profile_pairs(profile, &pair, &n, &err));
	check(loci_profile_accesses(profile, &access_row, &n, &err));
	check(loci_profile_level_counts(profile, &count, &n, &err));
	rows = 0;
	lap("get everything");
	check(loci_profile_hists(
		profile, LOCI_DISTANCE_STACK, LOCI_OWNER_SITE, 64, &hist, &n, &err));
	rows = n;
	lap("get histograms of sites");
	check(loci_profile_hists(
		profile, LOCI_DISTANCE_STACK, LOCI_OWNER_PAIR, 64, &hist, &n, &err));
	rows = n;
	lap("get histograms of pairs");
	loci_profile_close(profile);
}

int main(int argc, char **argv)
{
	const char *path = "/tmp/profile-bench.loci";
	int64_t n = 30000;
	struct stat st;

	for (int option; (option = getopt(argc, argv, "n:")) != -1;)
		if (option == 'n')
			n = atoll(optarg);
	if (optind < argc)
		path = argv[optind];
	began = seconds();
	write_profile(path, n);
	read_profile(path);
	if (stat(path, &st) < 0)
		return 1;
	printf("%.1f MB, %.0f bytes a site\n", 1e-6 * (double)st.st_size,
		(double)st.st_size / (double)n);
	return 0;
}
