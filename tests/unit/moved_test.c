// SPDX-License-Identifier: GPL-2.0-or-later
/* What moved between a program and its rebuilt self (blame_profile.h). */
#include "check.h"

#include "blame_profile.h"
#include "model/moved.h"

#include <unistd.h>

static struct loci_err err;

static const struct loci_site_row *site_of(const struct loci_moved_row *move, unsigned side)
{
	return move->row[side] ? move->row[side]->owner : NULL;
}

static void check_lines(const struct loci_moved *moved)
{
	const struct loci_moved_row *move = moved->line;

	/* line 14 is 17 now: 100 before, 50 after; a new line with 25; foo's 5 are gone */
	CHECK_U64(moved->n_lines, 3);
	CHECK_U64(site_of(&move[0], 1)->line, 17);
	CHECK_U64(site_of(&move[0], 0)->line, 14);
	CHECK_NEAR(move[0].misses.before, 100, 0);
	CHECK_NEAR(move[0].misses.after, 50, 0);
	CHECK_U64(move[0].detail[0].far_blocks, 20);
	CHECK_U64(move[0].detail[1].far_blocks, 20);
	CHECK_U64(site_of(&move[1], 1)->line, 24);
	CHECK(!site_of(&move[1], 0));
	CHECK_NEAR(move[1].misses.before, 0, 0);
	CHECK_NEAR(move[1].misses.after, 25, 0);
	CHECK(!site_of(&move[2], 1));
	CHECK_U64(site_of(&move[2], 0)->code_offset, 0x40);
	CHECK_NEAR(move[2].misses.before, 5, 0);
	CHECK_NEAR(move[2].misses.after, 0, 0);
}

static void check_objects(const struct loci_moved *moved)
{
	CHECK_U64(moved->n_objects, 1); /* a did not move */
	CHECK_STR(((const struct loci_object_row *)moved->object[0].row[1]->owner)->name, "b");
	CHECK_NEAR(moved->object[0].misses.before, 90, 0);
	CHECK_NEAR(moved->object[0].misses.after, 50, 0);
}

int main(void)
{
	char path[2][32] = { "/tmp/moved_test.XXXXXX", "/tmp/moved_test.XXXXXX" };
	struct loci_profile *profile[2] = { NULL, NULL };
	struct loci_subject subject[2];
	struct loci_moved moved;

	for (int i = 0; i < 2; i++) {
		int fd = mkstemp(path[i]);

		CHECK(fd >= 0);
		close(fd);
		blame_make(path[i], i, "mm.c", "2024-01-01T00:00:00Z");
		if (loci_profile_open(path[i], &profile[i], &err) < 0 ||
			loci_subject_init(&subject[i], profile[i], 0, NULL, &err) < 0) {
			CHECK_FAIL("%s", err.text);
			return check_status();
		}
	}
	CHECK(loci_moved_new(&subject[0], &subject[1], 10, &moved, &err) == 0);
	CHECK_STR(moved.cache.name, "L1");
	CHECK(!moved.is_estimate);
	check_lines(&moved);
	check_objects(&moved);
	loci_moved_fini(&moved);
	/* at most so many; and nothing moves between a run and itself */
	CHECK(loci_moved_new(&subject[0], &subject[1], 1, &moved, &err) == 0);
	CHECK_U64(moved.n_lines, 1);
	loci_moved_fini(&moved);
	CHECK(loci_moved_new(&subject[1], &subject[1], 10, &moved, &err) == 0);
	CHECK_U64(moved.n_lines + moved.n_objects, 0);
	loci_moved_fini(&moved);
	for (int i = 0; i < 2; i++) {
		loci_profile_close(profile[i]);
		unlink(path[i]);
	}
	return check_status();
}
