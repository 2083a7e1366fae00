// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/replay_threads.h"

#include <errno.h>
#include <stdlib.h>

void loci_replay_threads_fini(struct loci_replay_threads *threads)
{
	for (size_t i = 0; i < threads->n; i++) {
		loci_replay_calls_fini(&threads->thread[i].calls);
		free(threads->thread[i].passed);
	}
	free(threads->thread);
	*threads = (struct loci_replay_threads){ 0 };
}

static bool is(const struct loci_replay_threads *threads, size_t i, uint32_t id)
{
	return i < threads->n && threads->thread[i].id == id && !threads->thread[i].ended;
}

int loci_replay_threads_switch(struct loci_replay_threads *threads, uint32_t id)
{
	size_t i = 0;

	if (is(threads, threads->at, id))
		return 0;
	while (i < threads->n && !is(threads, i, id))
		i++;
	if (i == threads->cap) {
		size_t cap = i ? 2 * i : 4;
		void *larger = realloc(threads->thread, cap * sizeof(*threads->thread));

		if (!larger)
			return -ENOMEM;
		threads->thread = larger;
		threads->cap = cap;
	}
	if (i == threads->n) {
		struct loci_passed *passed = calloc(1, sizeof(*passed));

		if (!passed)
			return -ENOMEM;
		threads->thread[threads->n++] =
			(struct loci_replay_thread){ .id = id, .passed = passed };
	}
	threads->at = i;
	return 0;
}
