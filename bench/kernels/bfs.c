// SPDX-License-Identifier: GPL-2.0-or-later
/* Breadth-first search in a graph of size vertices, on a ring with chords of near and a few far
 * neighbours, from vertex 0. Its vertices are numbered at random, or in the order of the ring. The
 * result is how many vertices lie at each depth. */
#include "kernels.h"

enum { DEGREE = 8, DEPTHS = 4096, FAR_AWAY = UINT32_MAX };

struct graph {
	size_t n;
	uint32_t *edge; /* DEGREE of each vertex */
};

static void search(const struct graph *g, uint32_t start, uint32_t *depth, uint32_t *queue)
{
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < g->n; i++)
		depth[i] = FAR_AWAY;
	depth[start] = 0;
	queue[tail++] = start;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (int k = 0; k < DEGREE; k++) {
			uint32_t to = g->edge[(size_t)at * DEGREE + (size_t)k];

			if (depth[to] == FAR_AWAY) {
				depth[to] = depth[at] + 1;
				queue[tail++] = to;
			}
		}
	}
}

static void connect(const struct graph *g, const uint32_t *number)
{
	uint64_t state = 7;

	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < DEGREE; k++) {
			uint32_t random = kernel_random(&state);
			size_t reach = k ? 1 + random % 200 : 1, to;

			if (k == 1 && random % 64 == 0)
				reach = random % 20000;
			to = k & 1 ? (i + reach) % g->n : (i + g->n - reach % g->n) % g->n;
			g->edge[(size_t)number[i] * DEGREE + k] = number[to];
		}
}

static uint64_t breadth(size_t n, unsigned rounds, const uint32_t *number)
{
	struct graph g = { n, kernel_memory(n * DEGREE, sizeof(uint32_t)) };
	uint32_t *depth = kernel_memory(n, sizeof(*depth));
	uint32_t *queue = kernel_memory(n, sizeof(*queue));
	double *count = kernel_memory(DEPTHS, sizeof(*count));

	connect(&g, number);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		search(&g, number[0], depth, queue);
	kernel_stop();
	for (size_t i = 0; i < n; i++)
		count[depth[i] < DEPTHS ? depth[i] : DEPTHS - 1]++;
	return kernel_checksum(count, DEPTHS);
}

static uint64_t run_random(size_t size, unsigned rounds)
{
	uint32_t *number = kernel_memory(size, sizeof(*number));

	kernel_shuffle(number, size);
	return breadth(size, rounds, number);
}

static uint64_t run_ring(size_t size, unsigned rounds)
{
	uint32_t *number = kernel_memory(size, sizeof(*number));

	for (size_t i = 0; i < size; i++)
		number[i] = (uint32_t)i;
	return breadth(size, rounds, number);
}

const struct kernel kernels_bfs[] = {
	{ "bfs", "random", 300000, 4, run_random },
	{ "bfs", "near", 300000, 4, run_ring },
	KERNEL_END,
};
