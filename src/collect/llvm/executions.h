/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting how often blocks execute in the counting copy, with few counters where little executes.
 *
 * The body is a graph: its nodes are stretches of basic blocks up to a call that need not return,
 * its edges the ways between them, and one more node stands for all that is outside. What comes
 * into a node leaves it, so counters on the edges beside a spanning tree tell the rest (Knuth and
 * Stevenson 1973; Ball and Larus 1994), and the tree takes the edges that execute most. A call that
 * does not come back (exit, longjmp, an exception) leaves for the outside uncounted: such edges are
 * all in the tree; coming back is an edge from outside. So nothing that is in the tables is ever
 * wrong but by a handler of a signal that jumps out of the middle of a node. */
#ifndef LOCI_COLLECT_LLVM_EXECUTIONS_H
#define LOCI_COLLECT_LLVM_EXECUTIONS_H

#include "collect/llvm/emit.h"
#include "collect/llvm/flow.h"

#define LOCI_EXECUTIONS_NONE UINT32_MAX

enum loci_execution_edge {
	LOCI_EDGE_FLOW,   /* from basic block `from` to `to` */
	LOCI_EDGE_ENTRY,  /* into the function */
	LOCI_EDGE_START,  /* a node begins: after a call, or where an exception lands */
	LOCI_EDGE_LEAVE,  /* from the gate `from` to the tracing copy */
	LOCI_EDGE_RETURN, /* from the tracing copy to the target `to` */
	LOCI_EDGE_END,    /* out of the function; never counted */
};

struct loci_executions_edge {
	enum loci_execution_edge kind;
	uint32_t from, to;  /* nodes */
	LLVMValueRef place; /* of START: counted before it */
	uint64_t weight;
	uint32_t counter; /* or LOCI_EXECUTIONS_NONE: it is in the tree */
};

struct loci_executions {
	uint32_t
		*first_node; /* of each basic block; first_node[i + 1] ends it. Node 0 is outside */
	uint32_t *home;      /* of each node: its basic block */
	uint32_t n_nodes;
	struct loci_executions_edge *edge;
	size_t n_edges;
	uint32_t n_counters;
	struct loci_cc_term *term; /* ascending by block */
	size_t n_terms;
};

/* Where blocks are tested piece by piece each has its own counter. */
void loci_executions_init(struct loci_executions *executions, const struct loci_plan *plan,
	const struct loci_flow *flow, bool by_piece);
void loci_executions_fini(struct loci_executions *executions);

/* The code, of the function at hand (increments.c). */
struct loci_increments;
struct loci_increments *loci_increments_new(struct loci_emit *emit,
	const struct loci_executions *executions, const struct loci_plan *plan,
	const struct loci_flow *flow);
void loci_increments_free(struct loci_increments *increments);
/* Counts on all edges of the counting copy but ENTRY, LEAVE and RETURN, when all else of it is
 * there.
 */
void loci_increments_make(struct loci_increments *increments);
/* The block to go to in place of this one when the function begins to count. */
LLVMBasicBlockRef loci_increments_enter(
	struct loci_increments *increments, LLVMBasicBlockRef counting);
/* At the end of a block from which the counting copy is left, and of one from which it is entered
 * again. Both are basic blocks of the flow. */
void loci_increments_leave(struct loci_increments *increments, uint32_t gate);
void loci_increments_return(struct loci_increments *increments, uint32_t target);
/* Where the plain copy of a run has ended: counts all its turns. */
void loci_increments_run(
	struct loci_increments *increments, const struct loci_plan_run *run, LLVMValueRef times);
/* Where each piece counts for itself. */
void loci_increments_piece(struct loci_increments *increments, uint32_t block);
/* Slots to be promoted. */
size_t loci_increments_slots(struct loci_increments *increments, LLVMValueRef **ret_slot);

#endif
