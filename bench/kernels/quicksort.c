// SPDX-License-Identifier: GPL-2.0-or-later
/* Quicksort (Hoare 1961) of size numbers. Breadth first, all parts of a level are divided before
 * those of the next; depth first, a part is finished while it is in the cache. */
#include "kernels.h"

#include <stdlib.h>

struct part {
	uint32_t from, to;
};

static uint32_t divide(uint32_t *v, uint32_t from, uint32_t to)
{
	uint32_t pivot = v[from + (to - from - 1) / 2], low = from, high = to - 1;

	for (;;) {
		while (v[low] < pivot)
			low++;
		while (v[high] > pivot)
			high--;
		if (low >= high)
			return high + 1;
		uint32_t swap = v[low];

		v[low++] = v[high];
		v[high--] = swap;
	}
}

static void depth_first(uint32_t *v, uint32_t from, uint32_t to)
{
	while (to - from > 1) {
		uint32_t middle = divide(v, from, to);

		depth_first(v, from, middle);
		from = middle;
	}
}

static void breadth_first(uint32_t *v, uint32_t from, uint32_t to)
{
	uint32_t room = to + 2, head = 0, waiting = 1;
	struct part *queue = kernel_memory(room, sizeof(*queue));

	queue[0] = (struct part){ from, to };
	while (waiting) {
		struct part part = queue[head];
		uint32_t middle;

		head = head + 1 == room ? 0 : head + 1;
		waiting--;
		if (part.to - part.from < 2)
			continue;
		middle = divide(v, part.from, part.to);
		queue[(head + waiting++) % room] = (struct part){ part.from, middle };
		queue[(head + waiting++) % room] = (struct part){ middle, part.to };
	}
	free(queue);
}

static uint64_t sorted(size_t n, unsigned rounds, void (*sort)(uint32_t *, uint32_t, uint32_t))
{
	uint32_t *v = kernel_memory(n, sizeof(*v));
	uint64_t sum = 0;

	for (unsigned r = 0; r < rounds; r++) {
		uint64_t state = r + 1;

		for (size_t i = 0; i < n; i++)
			v[i] = kernel_random(&state);
		kernel_start();
		sort(v, 0, (uint32_t)n);
		kernel_stop();
		for (size_t i = 0; i < n; i++)
			sum = sum * 0x100000001b3 + v[i] + (i && v[i] < v[i - 1]);
	}
	return sum;
}

static uint64_t run_breadth(size_t size, unsigned rounds)
{
	return sorted(size, rounds, breadth_first);
}

static uint64_t run_depth(size_t size, unsigned rounds)
{
	return sorted(size, rounds, depth_first);
}

const struct kernel kernels_quicksort[] = {
	{ "quicksort", "breadth", 1000000, 1, run_breadth },
	{ "quicksort", "depth", 1000000, 1, run_depth },
	KERNEL_END,
};
