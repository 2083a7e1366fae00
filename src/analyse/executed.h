/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often blocks of fixed code ran, each in every context and region: what operations are counted
 * from. Only blocks whose definition has operations are counted.
 *
 * Most executions of a block are in the context and region of the one before, so that is
 * remembered: they cost an addition. What threads tell of blocks that they ran without their words
 * (EXECUTED) belongs to no context. */
#ifndef LOCI_ANALYSE_EXECUTED_H
#define LOCI_ANALYSE_EXECUTED_H

#include "analyse/keymap.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* A block. */
struct loci_ran {
	uint32_t function, number; /* of the code, and in the function's definition */
	uint32_t context, region, cell;
	uint64_t times;                      /* there, and not in the cell yet */
	uint64_t told;                       /* in no context */
	uint64_t loaded_bytes, stored_bytes; /* by ranges */
};

struct loci_ran_cell {
	uint32_t ran, context, region;
	uint64_t times;
};

/* A definition of a block without references. */
struct loci_plain_block {
	uint32_t function; /* LOCI_NO_FUNCTION: nothing is known */
	uint32_t ran;
	bool asked;
};

struct loci_executed {
	struct loci_ran *ran; /* number 0 is nobody's */
	size_t n_ran, ran_cap;
	struct loci_keymap ran_ids; /* by function and number */
	struct loci_ran_cell *cell; /* cell 0 is nobody's */
	size_t n_cells, cell_cap;
	struct loci_keymap cell_ids;
	struct loci_plain_block *plain; /* by number of the definition */
	size_t plain_cap;
	uint64_t *told; /* last by thread and block */
	size_t n_told, told_cap;
	struct loci_keymap told_ids;
	uint32_t *lives; /* of a thread's number, which another thread may take */
	size_t lives_cap;
};

void loci_executed_fini(struct loci_executed *executed); /* all 0 to begin with */
/* Who counts a block, new if need be. 0 or -ENOMEM, as all below. */
int loci_executed_of(
	struct loci_executed *executed, uint32_t function, uint32_t number, uint32_t *ret);
/* The context or the region is another than it was. */
int loci_executed_move(
	struct loci_executed *executed, uint32_t ran, uint32_t context, uint32_t region);
/* A thread has run a block so often, altogether, without its words. */
int loci_executed_told(struct loci_executed *executed, uint32_t ran, uint32_t thread,
	uint64_t block, uint64_t times);
/* The thread has ended: what a new one of its number tells is told anew. */
int loci_executed_exit(struct loci_executed *executed, uint32_t thread);
/* All that was counted goes to the cells. */
void loci_executed_settle(struct loci_executed *executed);

static inline __attribute__((always_inline)) int loci_executed_count(struct loci_executed *executed,
	uint32_t number, uint32_t context, uint32_t region, uint64_t times)
{
	struct loci_ran *ran = &executed->ran[number];

	if (__builtin_expect(ran->context != context || ran->region != region, 0)) {
		if (loci_executed_move(executed, number, context, region) < 0)
			return -ENOMEM;
		ran = &executed->ran[number];
	}
	ran->times += times;
	return 0;
}

#endif
