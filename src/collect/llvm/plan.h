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
};

struct loci_plan_ref {
	LLVMValueRef instruction; /* the access or call; of the FRAME the function's first */
	LLVMValueRef address;     /* pointer; of the FRAME NULL */
	LLVMValueRef mask;        /* of a masked access: lanes; NULL: unconditional */
	uint32_t lane;            /* of a gather or scatter: which */
	enum loci_plan_length length_kind;
	LLVMValueRef length;
	const char *span;
	LLVMValueRef span_argument[3];
	unsigned n_span_arguments;
	uint32_t size_bytes; /* 0: a range */
	uint8_t op;          /* enum loci_op */
	uint16_t flags;      /* enum loci_ref_flag */
};

#define LOCI_PLAN_NONE UINT32_MAX

/* A block of the stream: references that stand one after the other whenever the first executes, up
 * to where control leaves. It may reach over several blocks of the function (side exits). */
struct loci_plan_block {
	uint32_t first_ref, n_refs;
	uint32_t loop; /* the innermost, or LOCI_PLAN_NONE */
	uint8_t flags; /* enum loci_block_flag */
	uint8_t depth;
};

struct loci_plan_loop {
	LLVMBasicBlockRef header;
	LLVMValueRef place; /* an instruction whose debug location is the loop's; may be NULL */
	uint32_t parent;    /* or LOCI_PLAN_NONE */
	uint16_t depth;     /* from 1 */
};

struct loci_plan {
	LLVMModuleRef module;
	LLVMValueRef function;
	struct loci_plan_ref *ref;
	size_t n_refs;
	struct loci_plan_block *block; /* in the order of cc_abi.h */
	size_t n_blocks;
	struct loci_plan_loop *loop; /* parents first */
	size_t n_loops;
	/* External functions called, each once. */
	LLVMValueRef *callee;
	size_t n_callees;
};

/* Writes the definition of a function into its sections and returns its struct loci_cc_function, a
 * global variable of the module. counter[i] is the variable that counts calls of callee[i], may be
 * NULL. Nothing of the function is changed, and it has not been changed since the plan was made. */
LLVMValueRef loci_describe(const struct loci_plan *plan, const LLVMValueRef *counter);

#endif
