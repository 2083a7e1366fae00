// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/replay_calls.h"

#include <errno.h>
#include <stdlib.h>

void loci_replay_calls_fini(struct loci_replay_calls *calls)
{
	free(calls->call);
	*calls = (struct loci_replay_calls){ 0 };
}

int loci_replay_calls_enter(struct loci_replay_calls *calls, uint64_t frame, uint64_t code)
{
	while (calls->n && calls->call[calls->n - 1].frame <= frame)
		calls->n--;
	if (calls->n == calls->cap) {
		size_t cap = calls->cap ? 2 * calls->cap : 16;
		void *larger = realloc(calls->call, cap * sizeof(*calls->call));

		if (!larger)
			return -ENOMEM;
		calls->call = larger;
		calls->cap = cap;
	}
	calls->call[calls->n++] = (struct loci_replay_call){ .frame = frame, .code = code };
	return 0;
}

void loci_replay_calls_called(struct loci_replay_calls *calls, uint64_t back)
{
	if (calls->n)
		calls->call[calls->n - 1].back = back;
}

void loci_replay_calls_return(struct loci_replay_calls *calls, uint64_t code)
{
	size_t n = calls->n;

	while (n && calls->call[n - 1].code != code)
		n--;
	if (n)
		calls->n = n;
}

uint64_t loci_replay_calls_list(const struct loci_replay_calls *calls, uint64_t code,
	uint64_t back[LOCI_REPLAY_CALLS], unsigned *ret)
{
	size_t n = calls->n;

	*ret = 0;
	if (!loci_replay_calls_are_at(calls, code))
		return 0;
	for (; n && *ret < LOCI_REPLAY_CALLS && calls->call[n - 1].back; n--)
		back[(*ret)++] = calls->call[n - 1].back;
	return calls->call[calls->n - 1].frame;
}
