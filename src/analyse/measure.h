/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second stage: touches through the stack engine, and what it says of each to the rows,
 * contexts and pairs it belongs to. */
#ifndef LOCI_ANALYSE_MEASURE_H
#define LOCI_ANALYSE_MEASURE_H

#include "analyse/analyse.h"
#include "analyse/batch.h"
#include "analyse/grain.h"
#include "analyse/pair.h"
#include "analyse/spread.h"

struct loci_measure_stack {
	struct loci_loop_entry *entry;
	size_t n, cap;
};

struct loci_measure {
	struct loci_grain_engine *grain; /* borrowed */
	enum loci_analyse_pairs pair_kind;
	struct loci_spread rows, contexts;
	struct loci_pairs pairs;
	struct loci_measure_stack *stack; /* of running loops, by number */
	size_t n_stacks, stack_cap;
	uint32_t current; /* of them */
	uint64_t clock;   /* at a touch not long ago */
	uint64_t distance[LOCI_BATCH];
	uint64_t last_use[LOCI_BATCH];
	uint8_t bin[LOCI_BATCH];
	uint16_t listed[LOCI_BATCH]; /* touches that are far, or of a pair */
};

void loci_measure_init(struct loci_measure *measure, struct loci_grain_engine *grain,
	enum loci_analyse_pairs pairs, unsigned n_levels);
void loci_measure_fini(struct loci_measure *measure);
/* A loci_relay_use. */
int loci_measure_use(void *measure, struct loci_batch *batch, struct loci_err *err);

#endif
