// SPDX-License-Identifier: GPL-2.0-or-later
/* Every user gets every batch, in order, after the user before it; faults come back to the filler.
 */
#include "analyse/relay.h"
#include "check.h"

#include <errno.h>

struct count {
	uint64_t wrong[LOCI_RELAY_USERS];                         /* batches */
	uint64_t used[LOCI_RELAY_USERS], fails[LOCI_RELAY_USERS]; /* fails: at this one; 0: never */
};

static int first(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct count *count = data;
	uint64_t n = count->used[0];

	if (count->fails[0] && n == count->fails[0])
		return loci_err_nomem(err);
	count->wrong[0] += batch->block[0] != n;
	batch->use[0] = 3 * n;
	count->used[0]++;
	return 0;
}

static int second(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct count *count = data;
	uint64_t n = count->used[1];

	if (count->fails[1] && n == count->fails[1])
		return loci_err_nomem(err);
	count->wrong[1] += batch->block[0] != n || batch->use[0] != 3 * n;
	count->used[1]++;
	return 0;
}

static void check_relay(uint64_t n, uint64_t first_fails, uint64_t second_fails)
{
	static const loci_relay_use use[] = { first, second };
	struct count count = { .fails = { first_fails, second_fails } };
	bool fails = first_fails || second_fails;
	struct loci_err err = { "" };
	struct loci_relay *relay;
	int r = 0;

	CHECK(loci_relay_new(use, 2, &count, &relay, &err) == 0);
	for (uint64_t i = 0; r == 0 && i <= n; i++) {
		loci_relay_batch(relay)->block[0] = i;
		r = i < n ? loci_relay_pass(relay, &err) : loci_relay_finish(relay, &err);
	}
	CHECK(r == (fails ? -ENOMEM : 0));
	loci_relay_free(relay);
	CHECK_U64(count.wrong[0] + count.wrong[1], 0);
	if (!fails)
		CHECK_U64(count.used[0], n + 1);
	CHECK_U64(count.used[1], second_fails ? second_fails : first_fails ? first_fails : n + 1);
}

int main(void)
{
	check_relay(0, 0, 0);
	check_relay(3, 0, 0);
	check_relay(2000, 0, 0);
	check_relay(2000, 100, 0);
	check_relay(2000, 0, 100);
	check_relay(2000, 0, 1);
	return check_status();
}
