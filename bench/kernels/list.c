// SPDX-License-Identifier: GPL-2.0-or-later
/* A linked list of size nodes, summed: its nodes at random places, in order, and several to a node.
 */
#include "kernels.h"

enum { PACK = 7 };

struct node {
	struct node *next;
	uint64_t value[1];
};

struct packed {
	struct packed *next;
	uint64_t value[PACK];
};

static struct node *link_nodes(size_t n, const uint32_t *place)
{
	struct node *nodes = kernel_memory(n, sizeof(*nodes));

	for (size_t i = 0; i < n; i++) {
		nodes[place[i]].value[0] = i * 3 + 1;
		nodes[place[i]].next = i + 1 < n ? &nodes[place[i + 1]] : NULL;
	}
	return &nodes[place[0]];
}

static uint64_t walk(const struct node *first)
{
	uint64_t sum = 0;

	for (const struct node *node = first; node; node = node->next)
		sum += node->value[0];
	return sum;
}

static uint64_t walk_packed(const struct packed *first)
{
	uint64_t sum = 0;

	for (const struct packed *node = first; node; node = node->next)
		for (int i = 0; i < PACK; i++)
			sum += node->value[i];
	return sum;
}

static uint64_t walks(const struct node *first, unsigned rounds)
{
	uint64_t sum = 0;

	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		sum = sum * 31 + walk(first);
	kernel_stop();
	return sum;
}

static uint64_t run_random(size_t size, unsigned rounds)
{
	uint32_t *place = kernel_memory(size, sizeof(*place));

	kernel_shuffle(place, size);
	return walks(link_nodes(size, place), rounds);
}

static uint64_t run_in_order(size_t size, unsigned rounds)
{
	uint32_t *place = kernel_memory(size, sizeof(*place));

	for (size_t i = 0; i < size; i++)
		place[i] = (uint32_t)i;
	return walks(link_nodes(size, place), rounds);
}

static uint64_t run_packed(size_t size, unsigned rounds)
{
	size_t n = (size + PACK - 1) / PACK;
	struct packed *nodes = kernel_memory(n, sizeof(*nodes));
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		nodes[i / PACK].value[i % PACK] = i * 3 + 1;
	for (size_t i = 0; i + 1 < n; i++)
		nodes[i].next = &nodes[i + 1];
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		sum = sum * 31 + walk_packed(nodes);
	kernel_stop();
	return sum;
}

const struct kernel kernels_list[] = {
	{ "list", "random", 400000, 10, run_random },
	{ "list", "order", 400000, 10, run_in_order },
	{ "list", "packed", 400000, 10, run_packed },
	KERNEL_END,
};
