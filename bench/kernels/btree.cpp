// SPDX-License-Identifier: GPL-2.0-or-later
/* Look-ups among size keys: in a binary tree whose nodes lie where they were allocated, in random
 * order, and in a B-tree (Bayer and McCreight 1972) with a few lines of keys to a node. Both are
 * built balanced from sorted keys; a look-up finds the greatest key that is not above the one asked
 * for. */
#include "kernels.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace
{

const size_t ASKED = 200000;

class binary_tree
{
	struct node {
		uint32_t key, value;
		node *below[2];
	};
	std::vector<node> nodes;
	node *root;

	node *make(uint32_t from, uint32_t to, const std::vector<uint32_t> &place)
	{
		if (from == to)
			return nullptr;
		uint32_t middle = from + (to - from) / 2;
		node &made = nodes[place[middle]];

		made.key = middle * 4;
		made.value = middle % 1009;
		made.below[0] = make(from, middle, place);
		made.below[1] = make(middle + 1, to, place);
		return &made;
	}

      public:
	explicit binary_tree(size_t n) : nodes(n)
	{
		std::vector<uint32_t> place(n);

		kernel_shuffle(place.data(), n);
		root = make(0, uint32_t(n), place);
	}

	uint32_t find(uint32_t key) const
	{
		uint32_t found = 0;

		for (const node *at = root; at; at = at->below[key >= at->key])
			if (key >= at->key)
				found = at->value;
		return found;
	}
};

template <unsigned KEYS> class b_tree
{
	struct node {
		uint32_t n;
		uint32_t key[KEYS], value[KEYS];
		std::unique_ptr<node> below[KEYS + 1];
	};
	std::unique_ptr<node> root;

	static std::unique_ptr<node> make(uint32_t from, uint32_t to)
	{
		if (from == to)
			return nullptr;
		auto made = std::make_unique<node>();
		uint32_t n = to - from < KEYS ? to - from : KEYS, next = from;

		made->n = n;
		for (uint32_t k = 0; k <= n; k++) {
			uint32_t end = k == n
				? to
				: from + uint32_t(uint64_t(to - from - n) * (k + 1) / (n + 1)) + k;

			made->below[k] = make(next, end);
			if (k < n) {
				made->key[k] = end * 4;
				made->value[k] = end % 1009;
			}
			next = end + 1;
		}
		return made;
	}

      public:
	explicit b_tree(size_t n) : root(make(0, uint32_t(n)))
	{
	}

	uint32_t find(uint32_t key) const
	{
		uint32_t found = 0;

		for (const node *at = root.get(); at;) {
			uint32_t k = 0;

			while (k < at->n && key >= at->key[k])
				k++;
			if (k)
				found = at->value[k - 1];
			at = at->below[k].get();
		}
		return found;
	}
};

template <class tree> uint64_t look_up(size_t size, unsigned rounds)
{
	tree t(size);
	uint64_t sum = 0;

	kernel_start();
	for (unsigned r = 0; r < rounds; r++) {
		uint64_t state = 5;

		for (size_t i = 0; i < ASKED; i++)
			sum += t.find(kernel_random(&state) % uint32_t(size * 4));
	}
	kernel_stop();
	return sum;
}

} // namespace

extern "C" const struct kernel kernels_btree[] = {
	{ "btree", "binary", 300000, 2, look_up<binary_tree> },
	{ "btree", "wide", 300000, 2, look_up<b_tree<15>> },
	KERNEL_END,
};
