// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/alike.h"

static int count(struct loci_spread *spread, uint32_t owner, unsigned bin, uint32_t n)
{
	if (bin >= LOCI_SPREAD_NEAR)
		return loci_spread_far_count(&spread->far[owner], bin, n);
	spread->near[owner][bin] += n;
	return 0;
}

static int tell(struct loci_alikes *alikes, struct loci_alike *alike)
{
	unsigned bin = alike->what & UINT8_MAX;
	uint32_t n = alike->n;

	alike->n = 0;
	if (count(alikes->rows, loci_use_row(alike->reuse), bin, n) < 0 ||
		count(alikes->contexts, loci_use_context(alike->reuse), bin, n) < 0)
		return -ENOMEM;
	if (!(alike->what & LOCI_ALIKE_PAIR))
		return 0;
	return loci_pairs_count(alikes->pairs, alike->pair, bin, (uint8_t)(alike->what >> 8), n);
}

int loci_alikes_replace(struct loci_alikes *alikes, unsigned place, uint64_t use, uint64_t reuse,
	uint32_t loop, uint32_t what)
{
	struct loci_alike *alike = &alikes->alike[place];

	if (alike->n && tell(alikes, alike) < 0)
		return -ENOMEM;
	alike->use = use;
	alike->reuse = reuse;
	alike->what = what;
	if (!(what & LOCI_ALIKE_PAIR))
		return 0;
	return loci_pairs_find(alikes->pairs, use, reuse, loop, reuse >> 63, &alike->pair);
}

int loci_alikes_tell(struct loci_alikes *alikes)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < 1 << LOCI_ALIKE_BITS; i++)
		if (alikes->alike[i].n)
			r = tell(alikes, &alikes->alike[i]);
	return r;
}
