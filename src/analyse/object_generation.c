// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_generation.h"

#include "base/cleanup.h"

#include <string.h>

enum { PAGE_BYTES = 4096 };

void loci_generations_fini(struct loci_generations *generations)
{
	free(generations->step);
}

/* The step that address is in; there is one. */
static size_t step_of(struct loci_generations *generations, uint64_t address)
{
	const struct loci_generation_step *step = generations->step;
	size_t i = generations->last, n = generations->n, base = 0;

	if (i < n && step[i].low <= address && (i + 1 == n || address < step[i + 1].low))
		return i;
	while (n > 1) {
		size_t half = n / 2;

		if (step[base + half].low <= address)
			base += half;
		n -= half;
	}
	generations->last = base;
	return base;
}

uint64_t loci_generations_find(
	struct loci_generations *generations, uint64_t address, uint64_t *low, uint64_t *last)
{
	const struct loci_generation_step *step;
	size_t i;

	if (!generations->n)
		return 0;
	i = step_of(generations, address);
	step = &generations->step[i];
	if (*low < step->low)
		*low = step->low;
	if (i + 1 < generations->n && *last >= step[1].low)
		*last = step[1].low - 1;
	return step->generation;
}

uint64_t loci_generations_highest(struct loci_generations *generations, uint64_t low, uint64_t last)
{
	uint64_t highest = 0;

	if (!generations->n)
		return 0;
	for (size_t i = step_of(generations, low);
		i < generations->n && generations->step[i].low <= last; i++)
		if (generations->step[i].generation > highest)
			highest = generations->step[i].generation;
	return highest;
}

/* Lets a step begin at low; there is room. */
static size_t split(struct loci_generations *generations, uint64_t low)
{
	size_t i = step_of(generations, low);
	struct loci_generation_step *step = generations->step;

	if (step[i].low == low)
		return i;
	memmove(step + i + 2, step + i + 1, (generations->n - i - 1) * sizeof(*step));
	generations->n++;
	step[i + 1] = (struct loci_generation_step){ low, step[i].generation };
	return i + 1;
}

static void join(struct loci_generations *generations, size_t i)
{
	struct loci_generation_step *step = generations->step;

	if (!i || i >= generations->n || step[i].generation != step[i - 1].generation)
		return;
	memmove(step + i, step + i + 1, (generations->n - i - 1) * sizeof(*step));
	generations->n--;
}

static int reserve(struct loci_generations *generations, size_t more, struct loci_err *err)
{
	size_t cap = generations->cap ? generations->cap : 16;
	struct loci_generation_step *step;

	while (generations->n + more > cap)
		cap *= 2;
	if (cap == generations->cap)
		return 0;
	step = realloc(generations->step, cap * sizeof(*step));
	if (!step)
		return loci_err_nomem(err);
	generations->step = step;
	generations->cap = cap;
	return 0;
}

int loci_generations_unmap(
	struct loci_generations *generations, uint64_t low, uint64_t last, struct loci_err *err)
{
	size_t first, end;
	int r = reserve(generations, 3, err);

	if (r < 0)
		return r;
	low &= -(uint64_t)PAGE_BYTES;
	last |= PAGE_BYTES - 1;
	if (!generations->n)
		generations->step[generations->n++] = (struct loci_generation_step){ 0, 0 };
	first = split(generations, low);
	end = last == UINT64_MAX ? generations->n : split(generations, last + 1);
	for (size_t i = first; i < end; i++)
		generations->step[i].generation++;
	join(generations, end);
	join(generations, first);
	return 0;
}
