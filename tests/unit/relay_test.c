// SPDX-License-Identifier: GPL-2.0-or-later
/* Every user gets every batch, in order, after the user before it, whoever is slow; faults come
 * back to the filler. */
#include "analyse/relay.h"
#include "check.h"

#include <errno.h>
#include <unistd.h>

#define USERS LOCI_RELAY_USERS

struct count {
	uint64_t wrong[USERS];              /* batches */
	uint64_t used[USERS], fails[USERS]; /* fails: at this one; 0: never */
	unsigned pace;                      /* how they dawdle; 0: not */
};

/* So that each finds any number of batches, wherever the others are. */
static void dawdle(const struct count *count, unsigned who, uint64_t n)
{
	uint64_t x = (n / 3 + 1) * (who + 3) * (count->pace + 5) * 0x9e3779b97f4a7c15u;

	if (count->pace && (x >> 40) % 5 == 0)
		usleep((x >> 50) % 64);
}

static int use(struct count *count, unsigned who, struct loci_batch *batch, struct loci_err *err)
{
	uint64_t n = count->used[who];

	if (count->fails[who] && n == count->fails[who])
		return loci_err_nomem(err);
	count->wrong[who] += batch->block[0] != n || (who && batch->use[0] != n + who - 1);
	batch->use[0] = n + who;
	count->used[who]++;
	dawdle(count, who, n);
	return 0;
}

static int first(void *data, struct loci_batch *batch, struct loci_err *err)
{
	return use(data, 0, batch, err);
}

static int second(void *data, struct loci_batch *batch, struct loci_err *err)
{
	return use(data, 1, batch, err);
}

static int third(void *data, struct loci_batch *batch, struct loci_err *err)
{
	return use(data, 2, batch, err);
}

/* fails: by user, as above. */
static void check_relay(unsigned n_users, uint64_t n, const uint64_t fails[USERS], unsigned pace)
{
	static const loci_relay_use uses[] = { first, second, third };
	struct count count = { .pace = pace };
	struct loci_err err = { "" };
	struct loci_relay *relay;
	uint64_t last = n + 1;
	int r = 0;

	memcpy(count.fails, fails, sizeof(count.fails));
	CHECK(loci_relay_new(uses, n_users, &count, &relay, &err) == 0);
	for (uint64_t i = 0; r == 0 && i <= n; i++) {
		loci_relay_batch(relay)->block[0] = i;
		dawdle(&count, USERS, i);
		r = i < n ? loci_relay_pass(relay, &err) : loci_relay_finish(relay, &err);
	}
	loci_relay_free(relay);
	for (unsigned i = 0; i < n_users; i++) {
		CHECK_U64(count.wrong[i], 0);
		if (fails[i] && fails[i] < last)
			last = fails[i];
		CHECK(count.used[i] >= last || r < 0);
	}
	CHECK(r == (last <= n ? -ENOMEM : 0));
	CHECK_U64(count.used[n_users - 1], last);
}

int main(void)
{
	static const uint64_t none[USERS];

	for (unsigned n_users = 1; n_users <= USERS; n_users++) {
		check_relay(n_users, 0, none, 0);
		check_relay(n_users, 3, none, 0);
		for (unsigned pace = 0; pace < 40; pace++)
			check_relay(n_users, 200, none, pace);
		for (unsigned i = 0; i < n_users; i++) {
			uint64_t fails[USERS] = { 0 };

			fails[i] = 100;
			check_relay(n_users, 1500, fails, 0);
			fails[i] = 1;
			check_relay(n_users, 1500, fails, 0);
		}
	}
	return check_status();
}
