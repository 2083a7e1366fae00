// SPDX-License-Identifier: GPL-2.0-or-later
/* loci analyse --verify must notice. The naive stack of this program stands in for the library's
 * and lies about one touch: each kind of lie has to end the analysis, with a message and no
 * profile. */
#include "check.h"

#include "analyse/grain.h"
#include "base/cleanup.h"
#include "engine/naive.h"

#include <errno.h>
#include <stdlib.h>

enum lie { NO_LIE, LIE_STACK, LIE_TIME, LIE_DIRTY };

static enum lie lie;

#define LYING_TOUCH 3

struct loci_naive {
	unsigned touches;
};

int loci_naive_new(struct loci_naive **ret, struct loci_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : loci_err_nomem(err);
}

void loci_naive_free(struct loci_naive *naive)
{
	free(naive);
}

/* The truth for writes to one block over and over. */
int loci_naive_touch(struct loci_naive *naive, uint64_t block, int is_write,
	struct loci_naive_touch *ret, struct loci_err *err)
{
	bool first = naive->touches == 0, lies = naive->touches == LYING_TOUCH;

	ret->stack = (first ? LOCI_INFINITE : 0) + (lies && lie == LIE_STACK);
	ret->time = (first ? LOCI_INFINITE : 1) + (lies && lie == LIE_TIME);
	ret->dirty = (first ? LOCI_INFINITE : 0) + (lies && lie == LIE_DIRTY);
	naive->touches++;
	return 0;
}

static void analyse(enum lie told, uint64_t verify, const char *complaint)
{
	const struct loci_grain_options options = {
		.block_bytes = 64, .no_sets = true, .verify = verify
	};
	const struct loci_ref ref = { .address = 4096, .size_bytes = 8, .op = LOCI_OP_STORE };
	loci_cleanup(loci_grain_sum_fini) struct loci_grain_sum sum;
	struct loci_grain_engine *grain = NULL;
	struct loci_err err = { 0 };
	int r = 0;

	lie = told;
	CHECK(loci_grain_new(&options, &grain, &err) == 0);
	loci_grain_sum_init(&sum, options.block_bytes, false);
	for (int i = 0; i < 10 && r == 0; i++)
		r = loci_grain_feed(grain, &ref, 1, &err);
	if (r == 0)
		r = loci_grain_finish(grain, &sum, &err);
	CHECK(r == (complaint ? -EILSEQ : 0));
	if (complaint && !strstr(err.text, complaint))
		CHECK_FAIL("\"%s\" lacks \"%s\"", err.text, complaint);
	if (!complaint)
		CHECK_U64(loci_grain_verified(grain), verify ? 10 : 0);
	loci_grain_free(grain);
}

int main(void)
{
	char dir[] = "/tmp/verify_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	analyse(NO_LIE, 1000, NULL);
	analyse(LIE_STACK, 1000, "stack distance of touch 3 (64-byte blocks): the engine says 0");
	analyse(LIE_TIME, 1000, "touches at time distance");
	analyse(LIE_DIRTY, 1000, "writes at dirty level");
	analyse(LIE_TIME, 5, "touches at time distance");
	analyse(LIE_STACK, 0, NULL);
	rmdir(dir);
	return check_status();
}
