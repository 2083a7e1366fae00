/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that counts and appends words: what cc_abi.h describes, as instructions. */
#ifndef LOCI_COLLECT_LLVM_EMIT_H
#define LOCI_COLLECT_LLVM_EMIT_H

#include "collect/llvm/ir.h"
#include "collect/llvm/plan.h"

/* An address of the tracing copy that stands in a register, for its word and its access. */
struct loci_emit_shared {
	LLVMValueRef address, value;
};
#define LOCI_EMIT_SHARED 8
#define LOCI_EMIT_BULK   3

/* Of a module. */
struct loci_emit {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMTypeRef word, pointer, members; /* i64, i64 *, struct loci_cc_thread */
	LLVMValueRef thread;                /* __loci_thread */
	LLVMValueRef cross, enter, ready;   /* functions: asking.h */
	LLVMValueRef bulk[LOCI_EMIT_BULK];  /* bulk.h; NULL: not needed yet */
	unsigned weights;                   /* kind of metadata */
	/* Of the function at hand: */
	LLVMValueRef function, record; /* its struct loci_cc_function */
	LLVMValueRef markers;          /* of its blocks: see struct loci_cc_definition */
	LLVMValueRef counters;         /* where its executions are counted: see __loci_counters */
	LLVMValueRef *counter;         /* by callee of the plan */
	LLVMValueRef budget, cursor, state; /* slots, until they are promoted */
	LLVMMetadataRef budget_variable;    /* budget_variable.h */
	LLVMMetadataRef left_variable;
	/* Of the basic block at hand, since control was elsewhere: */
	struct loci_emit_shared shared[LOCI_EMIT_SHARED];
	unsigned n_shared; /* so far, of which the last are there */
};

void loci_emit_init(struct loci_emit *emit, LLVMModuleRef module);
void loci_emit_fini(struct loci_emit *emit);

/* The slots of a function, at the start of its first block. */
void loci_emit_slots(struct loci_emit *emit, LLVMValueRef function);
LLVMValueRef loci_emit_slot(struct loci_emit *emit, LLVMTypeRef type);

void loci_emit_before(struct loci_emit *emit, LLVMValueRef instruction);
void loci_emit_at_end(struct loci_emit *emit, LLVMBasicBlockRef block);

/* Between slots and memory. */
void loci_emit_store_budget(struct loci_emit *emit);
void loci_emit_load_budget(struct loci_emit *emit);
void loci_emit_load_cursor(struct loci_emit *emit);

LLVMValueRef loci_emit_get_budget(struct loci_emit *emit);
void loci_emit_count(struct loci_emit *emit, uint32_t n_refs);
/* What so many, a word, leave of the budget; that it is what they leave. */
LLVMValueRef loci_emit_left(struct loci_emit *emit, LLVMValueRef n_refs);
void loci_emit_leave(struct loci_emit *emit, LLVMValueRef left);
/* The tracing copy has the budget in memory always: it needs the register for the cursor. */
void loci_emit_count_in_memory(struct loci_emit *emit, uint32_t n_refs);
void loci_emit_take_in_memory(struct loci_emit *emit, LLVMValueRef n_refs);
LLVMValueRef loci_emit_budget_in_memory(struct loci_emit *emit);
LLVMValueRef loci_emit_is_counting_in_memory(struct loci_emit *emit);
/* Conditions. */
LLVMValueRef loci_emit_is_tracing(struct loci_emit *emit);
LLVMValueRef loci_emit_is_full(struct loci_emit *emit);
LLVMValueRef loci_emit_is_undefined(struct loci_emit *emit);
/* A branch that is hardly ever taken. */
void loci_emit_branch_unlikely(struct loci_emit *emit, LLVMValueRef condition,
	LLVMBasicBlockRef unlikely, LLVMBasicBlockRef likely);
/* To the tracing copy or to the other. */
void loci_emit_branch_copy(
	struct loci_emit *emit, LLVMBasicBlockRef tracing, LLVMBasicBlockRef counting);
/* Asks the runtime for room, with all that comes before and after. */
void loci_emit_cross(struct loci_emit *emit);

/* The same with the budget in memory before. */
void loci_emit_enter(struct loci_emit *emit);
/* The same for a tracing copy: without the function's definition, which is there, and with the
 * budget in memory before. In place it is a call and nothing else: for places where the budget and
 * the cursor come from memory anyway. */
void loci_emit_ready(struct loci_emit *emit);

/* Where the return address stands. */
LLVMValueRef loci_emit_frame_address(struct loci_emit *emit);
/* For words: numbers, memory, functions of the runtime. */
LLVMValueRef loci_emit_number(const struct loci_emit *emit, uint64_t value);
LLVMValueRef loci_emit_away(struct loci_emit *emit, LLVMValueRef base, uint32_t n_words);
LLVMValueRef loci_emit_load_word(struct loci_emit *emit, LLVMValueRef address);
void loci_emit_store_word(struct loci_emit *emit, LLVMValueRef value, LLVMValueRef address);
LLVMValueRef loci_emit_call(struct loci_emit *emit, const char *name, LLVMTypeRef type,
	LLVMValueRef *argument, unsigned n);

/* .. that keeps registers (preserve_most) */
LLVMValueRef loci_emit_call_keeping(struct loci_emit *emit, const char *name, LLVMTypeRef type,
	LLVMValueRef *argument, unsigned n);
/* Address of a member of struct loci_cc_thread, by its number. */
LLVMValueRef loci_emit_thread_field(struct loci_emit *emit, unsigned number);

/* Words, from a cursor on whose place is a constant number of words away. */
LLVMValueRef loci_emit_get_cursor(struct loci_emit *emit);
/* The new end: in the slot and in memory. */
void loci_emit_set_cursor(struct loci_emit *emit, LLVMValueRef cursor, uint32_t n_words);
/* The new end in memory alone, where memory has what is in the slot. */
void loci_emit_move_cursor_in_memory(struct loci_emit *emit, uint32_t n_words);
void loci_emit_marker(struct loci_emit *emit, LLVMValueRef cursor, uint32_t at, uint32_t block);
/* The marker of the function's first block, and so much more. */
void loci_emit_marker_beyond(
	struct loci_emit *emit, LLVMValueRef cursor, uint32_t at, uint64_t beyond);
/* Appends a reference's one or two words and returns how many. `copy` says where the values are,
 * NULL: where the plan has them. */
uint32_t loci_emit_ref(struct loci_emit *emit, LLVMValueRef cursor, uint32_t at,
	const struct loci_plan_ref *ref, const struct loci_ir_copy *copy);
/* Before another basic block, and where control goes elsewhere. */
void loci_emit_forget_shared(struct loci_emit *emit);

/* Appends the words of an atomic operation, both references of one that modifies, and returns the
 * new end, which is in memory. */
LLVMValueRef loci_emit_atomic(struct loci_emit *emit, LLVMValueRef cursor, uint32_t at,
	const struct loci_plan_ref *ref, const struct loci_ir_copy *copy);
/* Right after the operation. */
void loci_emit_atomic_end(struct loci_emit *emit);

/* state = __loci_mark() before a call that may return twice, __loci_landed(state) after it. */
LLVMValueRef loci_emit_mark(struct loci_emit *emit);
void loci_emit_landed(struct loci_emit *emit, LLVMValueRef slot);

#endif
