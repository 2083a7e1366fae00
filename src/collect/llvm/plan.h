/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is to be recorded of a function: its references in the order they execute, the blocks of
 * the stream they make up, its loops. Made before anything is changed; the copies and the
 * definitions follow it. */
#ifndef LOCI_COLLECT_LLVM_PLAN_H
#define LOCI_COLLECT_LLVM_PLAN_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long a range is. */
enum loci_plan_length {
	LOCI_LENGTH_FIXED, /* size_bytes */
	LOCI_LENGTH_VALUE, /* of the value `length` */
	LOCI_LENGTH_SPAN,  /* what the runtime's function `span` says of the values span_argument */
	/* Of `mask`, whose lanes are lane_bytes long: */
	LOCI_LENGTH_LANES,  /* from the first active lane to the last */
	LOCI_LENGTH_PACKED, /* as many as are active, from the address on */
	LOCI_LENGTH_LANE,   /* `lane` if it is active, otherwise 0 */
};

struct loci_plan_ref {
	LLVMValueRef instruction; /* the access or call; of the FRAME the function's first */
	LLVMValueRef address;     /* pointer, or vector of pointers; of the FRAME NULL */
	LLVMValueRef mask;        /* of a masked access: lanes; NULL: unconditional */
	uint32_t lane;            /* of a gather or scatter: which */
	uint32_t lane_bytes;
	LLVMValueRef index; /* vector: the address is of lane 0 with index 0; NULL: none */
	uint32_t index_bytes;
	bool is_at_end; /* the address is that of a string, its end is meant */
	enum loci_plan_length length_kind;
	LLVMValueRef length;
	const char *span;
	LLVMValueRef span_argument[3];
	unsigned n_span_arguments;
	uint32_t size_bytes; /* 0: a range */
	uint8_t op;          /* enum loci_op */
	uint16_t flags;      /* enum loci_ref_flag */
	bool may_be_large;   /* bulk.h */
	uint8_t atomic;      /* enum loci_cc_atomic; 0: none, or the second half of one */
	LLVMValueRef step;   /* of a run: what is added each turn; NULL: not known yet */
};

#define LOCI_PLAN_NONE UINT32_MAX

/* A block of the stream: references that stand one after the other whenever the first executes, up
 * to where control leaves. It may reach over several blocks of the function (side exits). */
struct loci_plan_block {
	uint32_t first_ref, n_refs;
	uint32_t n_words; /* of its references */
	uint32_t loop;    /* the innermost, or LOCI_PLAN_NONE */
	uint8_t flags;    /* enum loci_block_flag */
	uint8_t depth;
};

/* A stretch of a basic block, whose references execute together; blocks consist of pieces. */
struct loci_plan_piece {
	LLVMValueRef place; /* words are appended from before this instruction on */
	uint32_t first_ref, n_refs;
	uint32_t first_action, n_actions; /* in `action` of the plan */
	uint32_t n_counted;               /* references that are accesses */
	uint32_t n_words;                 /* of its references */
	uint32_t home;     /* number of the basic block, as struct loci_flow has it */
	uint32_t sequence; /* pieces and syncs of a basic block execute in this order */
	uint32_t block;
	bool is_marked;        /* words begin with the block's marker .. */
	bool is_hoisted;       /* .. which is appended where the loop is entered instead */
	bool is_checked;       /* there may be no room for the block; this is its first piece .. */
	bool is_hoist_checked; /* .. and its marker is hoisted */
	bool is_after_sync; /* control was elsewhere since the piece before it in the basic block */
};

/* Where the budget, and in the tracing copy the cursor, must be in memory. */
struct loci_plan_sync {
	LLVMValueRef instruction;
	uint32_t home, sequence;
	bool leaves;   /* control leaves: memory must be right before it */
	bool returns;  /* control comes back after it, or comes with it */
	bool is_twice; /* .. and may do so more than once */
};

/* A call of a function that the module does not define. */
struct loci_plan_outside {
	LLVMValueRef instruction;
	uint32_t callee;
};

struct loci_plan_loop {
	LLVMBasicBlockRef header;
	LLVMValueRef place; /* an instruction whose debug location is the loop's; may be NULL */
	uint32_t parent;    /* or LOCI_PLAN_NONE */
	uint16_t depth;     /* from 1 */
};

/* A loop that may be told by a RUN: all its references are one block, whose addresses go in equal
 * steps, and how often it goes round is known when it begins. */
struct loci_plan_run {
	uint32_t loop, block;
	/* Basic blocks: from where the loop is entered, where each turn ends, to where it is left.
	 */
	uint32_t entry, exiting, exit;
	/* References of the block from where it is entered: the counting copy takes them from the
	 * budget with those of the loop. */
	uint32_t owed;
};

/* A loop that goes round at most so many times as is known when it begins, and makes as many
 * references each turn: see bounds.h. */
struct loci_plan_bound {
	uint32_t loop, entry;
	uint32_t each;        /* references of a turn */
	LLVMValueRef counter; /* changes each turn by a step, of which .. */
	int64_t factor;       /* .. so many make `each` */
};

struct loci_ir_loops;
struct loci_plan {
	LLVMModuleRef module;
	LLVMValueRef function;
	struct loci_plan_ref *ref;
	size_t n_refs;
	struct loci_plan_block *block; /* in the order of cc_abi.h */
	size_t n_blocks;
	struct loci_plan_piece *piece; /* in the order of blocks */
	size_t n_pieces;
	/* Instructions that are operations, where these are counted. There may then be pieces
	 * without references, and every piece is a block of its own: what a block does is the same
	 * each time. */
	bool has_ops;
	LLVMValueRef *action;
	size_t n_actions;
	struct loci_plan_sync *sync;
	size_t n_syncs;
	uint32_t n_sequence;
	struct loci_plan_loop *loop; /* parents first */
	size_t n_loops;
	/* Of basic blocks: whether control goes elsewhere after the last piece; of loops: whether
	 * pieces or such places are within; whether such places are; whether the budget is lowered;
	 * whether it has a copy for itself (rests.h). */
	bool *ends_synced, *is_active, *is_synced, *is_lowering, *is_resting;
	/* External functions called, each once. */
	LLVMValueRef *callee;
	size_t n_callees;
	struct loci_plan_outside *outside;
	size_t n_outside;
	struct loci_plan_run *run;
	size_t n_runs;
	struct loci_plan_bound *bound;
	size_t n_bounds;
	struct loci_ir_loops *evolution; /* what is known of runs and bounds */
};

struct loci_flow;
/* A plan whose pieces are each a block of their own, and all of whose addresses are there when its
 * last reference executes, serves where each piece is tested by itself. */
void loci_plan_init(struct loci_plan *plan, LLVMValueRef function, const struct loci_flow *flow,
	bool by_piece, bool has_ops);
void loci_plan_fini(struct loci_plan *plan);

/* Writes the definition of a function into its sections and returns its struct loci_cc_function, a
 * global variable of the module. counter[i] is the variable that counts calls of callee[i], may be
 * NULL; markers may be, too; executions NULL: operations are not counted. Nothing of the function
 * is changed, and it has not been changed since the plan was made. */
struct loci_executions;
LLVMValueRef loci_describe(const struct loci_plan *plan, const LLVMValueRef *counter,
	LLVMValueRef markers, const struct loci_executions *executions);
/* The variable that says where the counters of its executions are: see __loci_counters. */
LLVMValueRef loci_describe_counters(const struct loci_plan *plan);
/* The variable that has the markers of its blocks: see struct loci_cc_definition. */
LLVMValueRef loci_describe_markers(const struct loci_plan *plan);

#endif
