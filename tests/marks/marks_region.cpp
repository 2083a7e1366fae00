// SPDX-License-Identifier: GPL-2.0-or-later
// Regions as objects: ended by the end of a block, and by what is thrown.
#include <loci/mark.h>

static volatile long cells[64];

static inline __attribute__((always_inline)) void store(int n)
{
	for (int i = 0; i < n; i++)
		cells[i] = 1;
}

static void fail(int n)
{
	loci::region r("inner");
	store(n);
	if (n)
		throw n;
}

int main()
{
	{
		loci::region r("block");
		store(10);
	}
	try {
		loci::region r("thrown");
		store(30);
		fail(20);
	} catch (int) {
	}
	return 0;
}
