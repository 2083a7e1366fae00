// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/naive.h"

#include "hist/hist.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t block;
	uint64_t last;  /* time of the last touch */
	uint64_t dirty; /* largest stack distance since the last write */
};

struct loci_naive {
	struct entry *list; /* most recent first */
	size_t n, room;
	uint64_t now;
};

int loci_naive_new(struct loci_naive **ret, struct loci_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : loci_err_nomem(err);
}

void loci_naive_free(struct loci_naive *naive)
{
	if (!naive)
		return;
	free(naive->list);
	free(naive);
}

static int append(struct loci_naive *naive, uint64_t block, struct loci_err *err)
{
	if (naive->n == naive->room) {
		size_t room = naive->room ? 2 * naive->room : 64;
		struct entry *list = realloc(naive->list, room * sizeof(*list));

		if (!list)
			return loci_err_nomem(err);
		naive->list = list;
		naive->room = room;
	}
	naive->list[naive->n++] = (struct entry){ .block = block, .dirty = LOCI_INFINITE };
	return 0;
}

int loci_naive_touch(struct loci_naive *naive, uint64_t block, int is_write,
	struct loci_naive_touch *ret, struct loci_err *err)
{
	struct entry found;
	size_t at = 0;

	while (at < naive->n && naive->list[at].block != block)
		at++;
	if (at < naive->n) {
		ret->stack = at;
		ret->time = naive->now - naive->list[at].last;
	} else {
		int r = append(naive, block, err);

		if (r < 0)
			return r;
		ret->stack = ret->time = LOCI_INFINITE;
	}
	found = naive->list[at];
	if (found.dirty < ret->stack)
		found.dirty = ret->stack;
	ret->dirty = found.dirty;
	if (is_write)
		found.dirty = 0;
	found.last = naive->now++;
	memmove(naive->list + 1, naive->list, at * sizeof(found));
	naive->list[0] = found;
	return 0;
}
