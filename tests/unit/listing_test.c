// SPDX-License-Identifier: GPL-2.0-or-later
/* Annotated lines of blame_profile.h: which are listed, with what figures, and whose text. */
#include "check.h"

#include "blame_profile.h"
#include "model/listing.h"

#include <errno.h>
#include <unistd.h>

static char directory[] = "/tmp/listing_test.XXXXXX";
static char path[64], source[64];
static struct loci_err err;

static struct loci_profile *profile;
static struct loci_subject subject;
static struct loci_catalogue catalogue;
static struct loci_blame_levels levels;

static void open_profile(const char *started)
{
	blame_make(path, 0, source, started);
	if (loci_profile_open(path, &profile, &err) < 0 ||
		loci_subject_init(&subject, profile, 0, NULL, &err) < 0 ||
		loci_catalogue_load(&catalogue, profile, &err) < 0 ||
		loci_blame_levels(&subject, &catalogue, NULL, &levels, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		exit(1);
	}
}

static void write_source(void)
{
	FILE *file = fopen(source, "w");

	CHECK(file != NULL);
	for (unsigned i = 1; i <= 19; i++)
		fprintf(file, i == 8 ? "\r\n" : "line %u\r\n", i);
	fprintf(file, "the last"); /* 20, without an end */
	fclose(file);
}

static int list(const char *wanted, double min_share, struct loci_listings *ret)
{
	err.text[0] = '\0';
	return loci_listings_new(&catalogue, &subject, &levels, wanted, min_share, ret, &err);
}

static void check_without_text(void)
{
	struct loci_listings all;
	const struct loci_listing *mul;

	CHECK(list(NULL, 0.05, &all) == 0);
	CHECK_U64(all.n, 2); /* mul has 100 of 120, dot 10; foo's 5 are too few */
	mul = &all.listing[0];
	CHECK_STR(mul->function->name, "app::mul(int)");
	CHECK(mul->text == LOCI_LISTING_UNKNOWN);
	CHECK_U64(mul->n_lines, 1);
	CHECK_U64(mul->line[0].number, 14);
	CHECK(mul->line[0].text == NULL);
	CHECK_NEAR(mul->line[0].misses, 100, 0);
	CHECK_NEAR(mul->line[0].refs, 180, 0);
	CHECK_NEAR(mul->misses, 100, 0);
	CHECK_STR(all.listing[1].function->name, "dot");
	/* the worst reuse that ends in mul; in dot none does */
	CHECK(mul->link && mul->link->misses == 80);
	CHECK_U64(mul->link_detail.far_blocks, 20);
	CHECK(!all.listing[1].link);
	loci_listings_fini(&all);

	CHECK(list("foo", 0, &all) == 0); /* no line, and no file */
	CHECK_U64(all.n, 1);
	CHECK(!all.listing[0].source);
	CHECK_U64(all.listing[0].n_lines, 0);
	CHECK_NEAR(all.listing[0].unlined_refs, 30, 0);
	loci_listings_fini(&all);
}

static void check_names(void)
{
	static const char *const good[] = { "app::mul(int)", "mul", "app::mul", "_Zmul",
		"mul(int)" };
	static const char *const bad[] = { "mu", "app", "app::", "nul", "" };
	struct loci_listings all;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(list(good[i], 0, &all) == 0);
		CHECK_U64(all.n, 1);
		loci_listings_fini(&all);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(list(bad[i], 0, &all) == -ENOENT);
		CHECK(strstr(err.text, "--by function"));
		loci_listings_fini(&all);
	}
	CHECK(list("other.c:3", 0, &all) == -ENOENT);
	CHECK(strstr(err.text, "--by file"));
	loci_listings_fini(&all);
	CHECK(list("m.c:14", 0, &all) == -ENOENT); /* mm.c is not m.c */
	loci_listings_fini(&all);
	CHECK(list("mm.c:500", 0, &all) == -ENOENT);
	CHECK(strstr(err.text, "line 500"));
	loci_listings_fini(&all);
}

static void check_file(enum loci_listing_text text)
{
	struct loci_listings all;
	const struct loci_listing *listing;

	CHECK(list("mul", 0, &all) == 0);
	listing = &all.listing[0];
	CHECK(listing->text == text);
	/* declared at 9; 14 and three lines to each side; 10 alone is no gap */
	CHECK_U64(listing->n_lines, 9);
	for (size_t i = 0; i < 9 && i < listing->n_lines; i++) {
		CHECK_U64(listing->line[i].number, 9 + i);
		CHECK((listing->line[i].row != NULL) == (i == 5));
	}
	CHECK_STR(listing->line[0].text, "line 9");
	loci_listings_fini(&all);

	CHECK(list("mm.c:20", 0, &all) == 0);
	listing = &all.listing[0];
	CHECK(!listing->function);
	CHECK_U64(listing->line[0].number, 10);
	CHECK_U64(listing->line[listing->n_lines - 1].number, 20);
	CHECK_STR(listing->line[listing->n_lines - 1].text, "the last");
	CHECK_NEAR(listing->misses, 100, 0);
	loci_listings_fini(&all);

	CHECK(list("dot", 0, &all) == 0); /* 4 to 8, but 8 is blank; and 9 is another function's */
	CHECK_U64(all.listing[0].n_lines, 4);
	loci_listings_fini(&all);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/p.loci", directory);
	snprintf(source, sizeof(source), "%s/mm.c", directory);
	open_profile("2024-01-01T00:00:00Z");
	check_without_text();
	check_names();
	write_source();
	check_file(LOCI_LISTING_NEWER_FILE);
	loci_profile_close(profile);
	open_profile("2100-01-01T00:00:00Z");
	check_file(LOCI_LISTING_FILE);
	loci_profile_close(profile);
	unlink(path);
	unlink(source);
	rmdir(directory);
	return check_status();
}
