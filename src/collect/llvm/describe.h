/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of loci_describe(): the parts that a definition is made of. */
#ifndef LOCI_COLLECT_LLVM_DESCRIBE_H
#define LOCI_COLLECT_LLVM_DESCRIBE_H

#include "collect/llvm/debug.h"
#include "collect/llvm/plan.h"
#include "collect/runtime/cc_abi.h"

/* Bytes that grow, with fields of 32 bits that are to hold the distance to something else in the
 * module. When there is no memory it stays as it is and says so. */
struct loci_blob {
	uint8_t *bytes;
	size_t n, cap;
	struct loci_blob_field {
		size_t at;
		LLVMValueRef target;
	} * fields; /* ascending */
	size_t n_fields, cap_fields;
	bool failed;
};

void loci_blob_fini(struct loci_blob *blob);
void loci_blob_add(struct loci_blob *blob, const void *bytes, size_t n);
/* The field at a place that was added last or lies behind the others. NULL: it stays 0. */
void loci_blob_refer(struct loci_blob *blob, size_t at, LLVMValueRef target);
void loci_blob_join(struct loci_blob *blob, const struct loci_blob *other);
/* A global variable of the module that holds the bytes; NULL: no memory. */
LLVMValueRef loci_blob_global(
	const struct loci_blob *blob, LLVMModuleRef module, const char *name, const char *section);
/* target less the address of element `index` of a global variable of this type, as 32 bits. */
LLVMValueRef loci_distance(
	LLVMTypeRef type, LLVMValueRef global, uint64_t index, bool array, LLVMValueRef target);

/* A text, once in the module; NULL for an empty one. */
LLVMValueRef loci_text(LLVMModuleRef module, const char *text, size_t n);

/* The function and the inlined calls that its instructions come from. */
struct loci_scopes {
	LLVMModuleRef module;
	LLVMMetadataRef subprogram;
	struct loci_blob table; /* struct loci_cc_scope */
	size_t n;
	struct loci_scope_key {
		LLVMMetadataRef subprogram, inlined_at, file;
		uint32_t index;
	} * keys; /* a hash table */
	size_t n_keys, cap_keys;
};
/* 0 or -1: no memory. The function itself is there. */
int loci_scopes_init(struct loci_scopes *scopes, LLVMModuleRef module, LLVMValueRef function);
void loci_scopes_fini(struct loci_scopes *scopes);

/* Where something stands in the source. */
struct loci_place {
	unsigned line, column; /* 0: not known */
	uint16_t scope;
};
/* false: the location is not one of this function. */
bool loci_scopes_place(
	struct loci_scopes *scopes, LLVMMetadataRef location, struct loci_place *ret);
/* Of an instruction; what has no line of its own has that of its neighbours, and no column. */
void loci_place_of(struct loci_scopes *scopes, LLVMValueRef instruction, struct loci_place *ret);
void loci_place_of_function(struct loci_scopes *scopes, struct loci_place *ret);
/* Of a loop's statement. */
void loci_place_of_loop(struct loci_scopes *scopes, struct loci_debug_loops *loops,
	const struct loci_plan_loop *loop, struct loci_place *ret);

/* A name as the symbol table has it. */
LLVMValueRef loci_symbol_text(LLVMModuleRef module, LLVMValueRef value);

/* What a function compiled with operations has beside the rest. All zero: nothing. */
struct loci_ops_tables {
	struct loci_blob blocks, ops, invocations, terms;
	uint32_t n_ops, n_invocations, n_terms, n_counters;
};
void loci_ops_tables_fill(struct loci_ops_tables *to, struct loci_scopes *scopes,
	const struct loci_plan *plan, const struct loci_executions *executions);
void loci_ops_tables_fini(struct loci_ops_tables *tables);

/* What a reference refers to, as the source calls it; false: not known. */
#define LOCI_VARIABLE_MAX 128
bool loci_variable_of(
	const struct loci_plan *plan, const struct loci_plan_ref *ref, char ret[LOCI_VARIABLE_MAX]);

#endif
