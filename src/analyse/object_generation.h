/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often each page has been unmapped, as a step function over addresses. */
#ifndef LOCI_ANALYSE_OBJECT_GENERATION_H
#define LOCI_ANALYSE_OBJECT_GENERATION_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct loci_generations {
	struct loci_generation_step {
		uint64_t low; /* up to the next step's */
		uint64_t generation;
	} * step; /* none: all 0. Else the first begins at 0 and neighbours differ */
	size_t n, cap;
	size_t last; /* where the last lookup was */
};

void loci_generations_fini(struct loci_generations *generations);
/* The pages from low to last, both included, are unmapped once more. */
int loci_generations_unmap(
	struct loci_generations *generations, uint64_t low, uint64_t last, struct loci_err *err);
/* Narrows low..last, which contains address, to where the generation is the address's. */
uint64_t loci_generations_find(
	struct loci_generations *generations, uint64_t address, uint64_t *low, uint64_t *last);
/* The highest within low..last. */
uint64_t loci_generations_highest(
	struct loci_generations *generations, uint64_t low, uint64_t last);

#endif
