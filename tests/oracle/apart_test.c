// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads apart against plain lists, on random touches by random threads: every distance alone,
 * those of what another touched last, and those in the stack of all. */
#include "check.h"

#include "analyse/apart.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS 5
#define BLOCKS  40
#define ROUNDS  200
#define TOUCHES 300

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

struct list {
	uint64_t block[BLOCKS];
	size_t n;
};

/* Distance before this touch, or LOCI_INFINITE. */
static uint64_t list_touch(struct list *list, uint64_t block)
{
	size_t at = 0;
	uint64_t found;

	while (at < list->n && list->block[at] != block)
		at++;
	found = at < list->n ? at : LOCI_INFINITE;
	if (at == list->n)
		list->n++;
	memmove(list->block + 1, list->block, at * sizeof(uint64_t));
	list->block[0] = block;
	return found;
}

struct want {
	struct list own[MEMBERS], all;
	int last[BLOCKS]; /* member + 1 */
	uint64_t alone[MEMBERS][BLOCKS + 1], lost[MEMBERS][BLOCKS + 1], remote[BLOCKS + 1];
};

static uint64_t bin_of(uint64_t distance)
{
	return distance == LOCI_INFINITE ? BLOCKS : distance;
}

static void want_touch(struct want *w, uint32_t member, uint64_t block, bool is_counted)
{
	uint64_t own = list_touch(&w->own[member], block), all = list_touch(&w->all, block);
	int last = w->last[block];

	w->last[block] = (int)member + 1;
	w->alone[member][bin_of(own)]++; /* engines count what they hear */
	if (!is_counted || !last || last == (int)member + 1)
		return;
	w->lost[member][bin_of(own)]++;
	w->remote[bin_of(all)]++;
}

static void same(const struct loci_hist *hist, const uint64_t want[BLOCKS + 1])
{
	for (uint32_t i = 0; i < BLOCKS; i++)
		CHECK_NEAR(i < hist->n_bins ? hist->weight[i] : 0, (double)want[i], 0);
	CHECK_NEAR(hist->cold, (double)want[BLOCKS], 0);
	CHECK_NEAR(hist->coherence, 0, 0);
}

static void feed(struct loci_apart *apart, struct want *want)
{
	static uint64_t block[TOUCHES], bytes[TOUCHES], distance[TOUCHES];
	static uint8_t is_write[TOUCHES], kind[TOUCHES];
	static bool is_counted[TOUCHES];
	static uint32_t turn_touch[TOUCHES], turn_member[TOUCHES];
	struct loci_coherent_touches touches = { .block = block,
		.is_write = is_write,
		.bytes = bytes,
		.n = 1 + draw(TOUCHES),
		.turn_touch = turn_touch,
		.turn_member = turn_member,
		.ret_distance = distance,
		.ret_kind = kind };
	struct loci_err err = { "" };

	for (size_t i = 0; i < touches.n; i++) {
		if (!i || draw(4) == 0) {
			turn_touch[touches.n_turns] = (uint32_t)i;
			turn_member[touches.n_turns++] = (uint32_t)draw(MEMBERS);
		}
		block[i] = draw(2) ? draw(BLOCKS) : draw(BLOCKS / 8);
		bytes[i] = 1ull << draw(64);
		is_write[i] = draw(3) == 0; /* takes nothing away here */
		is_counted[i] = draw(10) != 0;
		want_touch(want, turn_member[touches.n_turns - 1], block[i], is_counted[i]);
	}
	CHECK(loci_apart_use(apart, &touches, is_counted, &err) == 0);
}

int main(void)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct want *want = calloc(1, sizeof(*want));
		uint64_t held[BLOCKS];
		size_t n = draw(BLOCKS / 2);
		struct loci_apart *apart;
		struct loci_err err = { "" };

		CHECK(want != NULL);
		for (size_t i = 0; i < n; i++) { /* of the first member, before there were others */
			held[i] = i;
			want_touch(want, 0, i, true);
		}
		memset(want->alone, 0, sizeof(want->alone)); /* not heard of */
		CHECK(loci_apart_new(held, n, &apart, &err) == 0);
		for (unsigned i = 0; i < 5; i++)
			feed(apart, want);
		for (uint32_t m = 0; m < MEMBERS; m++) {
			struct loci_coherent_result result;

			CHECK(loci_coherent_result(apart->alone, m, &result, &err) == 0);
			same(&result.stack, want->alone[m]);
			loci_coherent_result_fini(&result);
			if (m < apart->n_lost)
				same(&apart->lost[m], want->lost[m]);
		}
		same(&apart->remote, want->remote);
		loci_apart_free(apart);
		free(want);
	}
	return check_status();
}
