// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_calls.h"

#include "analyse/digest.h"
#include "analyse/grow.h"

void loci_watch_calls_fini(struct loci_watch_calls *calls)
{
	free(calls->back);
	free(calls->begin);
	loci_keymap_fini(&calls->ids);
}

/* Where the list begins that grows. */
static size_t last_end(const struct loci_watch_calls *calls)
{
	return calls->n ? calls->begin[calls->n] : 0;
}

int loci_watch_calls_add(struct loci_watch_calls *calls, const struct loci_event *event)
{
	if (loci_grow(&calls->back, &calls->back_cap, calls->n_back + event->n_raw,
		    sizeof(*calls->back)) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < event->n_raw; i++)
		calls->back[calls->n_back++] = event->raw[i];
	return 0;
}

int loci_watch_calls_end(struct loci_watch_calls *calls, uint32_t *ret)
{
	size_t from = last_end(calls);
	struct loci_digest key = { calls->n_back - from, 0 };
	uint32_t list;

	*ret = 0;
	if (calls->n_back == from)
		return 0;
	for (size_t i = from; i < calls->n_back; i++)
		key = loci_digest_word(key, calls->back[i]);
	list = loci_keymap_get(&calls->ids, key.a, key.b);
	if (list != LOCI_KEYMAP_NONE) {
		calls->n_back = from;
		*ret = list + 1;
		return 0;
	}
	list = (uint32_t)calls->n;
	if (loci_grow(&calls->begin, &calls->cap, calls->n + 2, sizeof(*calls->begin)) < 0 ||
		loci_keymap_put(&calls->ids, key.a, key.b, list) < 0)
		return -ENOMEM;
	calls->begin[++calls->n] = calls->n_back;
	*ret = list + 1;
	return 0;
}

const uint64_t *loci_watch_calls_list(
	const struct loci_watch_calls *calls, uint32_t list, size_t *ret_n)
{
	*ret_n = list ? calls->begin[list] - calls->begin[list - 1] : 0;
	return list ? calls->back + calls->begin[list - 1] : NULL;
}
