// SPDX-License-Identifier: GPL-2.0-or-later
#include "textbook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Node 0 is no node; its size stays 0. */
struct textbook_node {
	uint32_t parent, child[2], size; /* children: older, newer */
};

struct textbook_entry {
	uint64_t block;
	uint32_t node; /* 0: empty */
};

int textbook_init(struct textbook *t, enum textbook_tree tree)
{
	memset(t, 0, sizeof(*t));
	t->tree = tree;
	t->mask = 1023;
	t->node_room = 1024;
	t->n_nodes = 1;
	t->entry = calloc(t->mask + 1, sizeof(*t->entry));
	t->node = calloc(t->node_room, sizeof(*t->node));
	return t->entry && t->node ? 0 : -ENOMEM;
}

void textbook_fini(struct textbook *t)
{
	free(t->entry);
	free(t->node);
}

static void measure(struct textbook_node *node, uint32_t at)
{
	node[at].size = node[node[at].child[0]].size + node[node[at].child[1]].size + 1;
}

static void attach(struct textbook_node *node, uint32_t parent, unsigned side, uint32_t child)
{
	node[parent].child[side] = child;
	if (child)
		node[child].parent = parent;
}

/* x takes the place of its parent. */
static void rotate(struct textbook_node *node, uint32_t x)
{
	uint32_t p = node[x].parent, g = node[p].parent;
	unsigned side = node[p].child[1] == x;

	attach(node, p, side, node[x].child[!side]);
	node[x].parent = g;
	if (g)
		node[g].child[node[g].child[1] == p] = x;
	node[x].child[!side] = p;
	node[p].parent = x;
	measure(node, p);
}

/* x becomes the root of its tree. */
static void splay(struct textbook_node *node, uint32_t x)
{
	uint32_t p, g;

	while ((p = node[x].parent)) {
		g = node[p].parent;
		if (g)
			rotate(node, (node[g].child[1] == p) == (node[p].child[1] == x) ? p : x);
		rotate(node, x);
	}
	measure(node, x);
}

/* Moves a node to the newest end of a splay tree; returns how many were newer. */
static uint32_t refresh_splay(struct textbook *t, uint32_t x)
{
	struct textbook_node *node = t->node;
	uint32_t older, newer, distance, first;

	splay(node, x);
	older = node[x].child[0];
	newer = node[x].child[1];
	distance = node[newer].size;
	t->root = x;
	if (!newer)
		return 0;
	node[newer].parent = 0;
	for (first = newer; node[first].child[0];)
		first = node[first].child[0];
	splay(node, first);
	attach(node, first, 0, older);
	measure(node, first);
	node[x].child[1] = 0;
	attach(node, x, 0, first);
	measure(node, x);
	return distance;
}

/* One side must not weigh more than three times the other; returns the root of the subtree. */
static uint32_t balance(struct textbook_node *node, uint32_t at)
{
	uint32_t weight[2] = { node[node[at].child[0]].size + 1, node[node[at].child[1]].size + 1 };
	uint32_t heavy, inner;
	unsigned side;

	if (weight[0] <= 3 * weight[1] && weight[1] <= 3 * weight[0])
		return at;
	side = weight[1] > weight[0];
	heavy = node[at].child[side];
	inner = node[heavy].child[!side];
	if (node[inner].size + 1 >= 2 * (node[node[heavy].child[side]].size + 1)) {
		rotate(node, inner);
		heavy = inner;
	}
	rotate(node, heavy);
	measure(node, node[heavy].child[side]);
	measure(node, heavy);
	return heavy;
}

/* From a node whose subtree has changed up to the root. */
static void repair(struct textbook *t, uint32_t at)
{
	while (at) {
		measure(t->node, at);
		at = balance(t->node, at);
		t->root = at;
		at = t->node[at].parent;
	}
}

static void add_newest(struct textbook *t, uint32_t x)
{
	t->node[x] = (struct textbook_node){ .size = 1 };
	if (t->newest)
		attach(t->node, t->newest, 1, x);
	repair(t, x);
	t->newest = x;
}

static void replace(struct textbook *t, uint32_t old, uint32_t new)
{
	struct textbook_node *node = t->node;
	uint32_t parent = node[old].parent;

	if (parent)
		node[parent].child[node[parent].child[1] == old] = new;
	else
		t->root = new;
	if (new)
		node[new].parent = parent;
}

/* Takes out a node that is not the newest. */
static void take_out(struct textbook *t, uint32_t x)
{
	struct textbook_node *node = t->node;
	uint32_t next = node[x].child[1], changed = node[x].parent;

	if (!node[x].child[0] || !next) {
		replace(t, x, node[x].child[!node[x].child[0]]);
		repair(t, changed);
		return;
	}
	while (node[next].child[0])
		next = node[next].child[0];
	changed = node[next].parent == x ? next : node[next].parent;
	replace(t, next, node[next].child[1]);
	replace(t, x, next);
	attach(node, next, 0, node[x].child[0]);
	attach(node, next, 1, node[x].child[1]);
	repair(t, changed);
}

static uint32_t refresh_balanced(struct textbook *t, uint32_t x)
{
	const struct textbook_node *node = t->node;
	uint32_t distance = node[node[x].child[1]].size;

	if (x == t->newest)
		return 0;
	for (uint32_t at = x, parent; (parent = node[at].parent); at = parent)
		if (node[parent].child[0] == at)
			distance += node[node[parent].child[1]].size + 1;
	take_out(t, x);
	add_newest(t, x);
	return distance;
}

static uint32_t refresh(struct textbook *t, uint32_t x)
{
	return t->tree == TEXTBOOK_SPLAY ? refresh_splay(t, x) : refresh_balanced(t, x);
}

static int add_node(struct textbook *t)
{
	uint32_t x = t->n_nodes;

	if (x == t->node_room) {
		struct textbook_node *larger = realloc(t->node, 2ull * x * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		t->node = larger;
		t->node_room = 2 * x;
	}
	t->n_nodes++;
	if (t->tree == TEXTBOOK_BALANCED) {
		add_newest(t, x);
		return 0;
	}
	t->node[x] = (struct textbook_node){ 0 };
	attach(t->node, x, 0, t->root);
	measure(t->node, x);
	t->root = x;
	return 0;
}

static uint64_t home(const struct textbook *t, uint64_t block)
{
	return (block * 0x9e3779b97f4a7c15u >> 20) & t->mask;
}

static struct textbook_entry *find(const struct textbook *t, uint64_t block)
{
	uint64_t at = home(t, block);

	while (t->entry[at].node && t->entry[at].block != block)
		at = (at + 1) & t->mask;
	return &t->entry[at];
}

static int grow_map(struct textbook *t)
{
	struct textbook_entry *old = t->entry;
	uint64_t n_old = t->mask + 1;

	t->mask = 2 * n_old - 1;
	t->entry = calloc(t->mask + 1, sizeof(*t->entry));
	if (!t->entry) {
		t->entry = old;
		t->mask = n_old - 1;
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n_old; i++)
		if (old[i].node)
			*find(t, old[i].block) = old[i];
	free(old);
	return 0;
}

int textbook_feed(struct textbook *t, const uint64_t *block, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct textbook_entry *entry = find(t, block[i]);

		if (entry->node) {
			t->count[loci_bin_fine(refresh(t, entry->node))]++;
			continue;
		}
		*entry = (struct textbook_entry){ block[i], t->n_nodes };
		t->cold++;
		if (add_node(t) < 0 || (2 * ++t->n_entries > t->mask && grow_map(t) < 0))
			return -ENOMEM;
	}
	return 0;
}
