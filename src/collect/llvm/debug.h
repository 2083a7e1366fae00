/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the C interface of LLVM does not say of debug information. All that is given out belongs to
 * the module. Whatever has an unexpected shape is answered as unknown. */
#ifndef LOCI_COLLECT_LLVM_DEBUG_H
#define LOCI_COLLECT_LLVM_DEBUG_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct loci_debug_text {
	const char *text; /* not ended by NUL */
	size_t n;         /* 0: none */
};

struct loci_debug_function {
	struct loci_debug_text name, linkage;
	unsigned line, body_line; /* of its declaration, of its opening brace */
};

/* The function that a scope is part of; NULL: none. */
LLVMMetadataRef loci_debug_subprogram(LLVMMetadataRef scope);
void loci_debug_function_of(LLVMMetadataRef subprogram, struct loci_debug_function *ret);
/* The compiler, as it calls itself. */
struct loci_debug_text loci_debug_producer(LLVMModuleRef module, LLVMMetadataRef subprogram);

/* The loops of a function as LLVM sees them. */
struct loci_debug_loops;
struct loci_debug_loops *loci_debug_loops_new(LLVMValueRef function);
void loci_debug_loops_free(struct loci_debug_loops *loops);
/* The location of the statement of the loop with this header, exact if the source gave it; NULL:
 * none. */
LLVMMetadataRef loci_debug_loop(
	struct loci_debug_loops *loops, LLVMBasicBlockRef header, bool *ret_exact);

struct loci_debug_variable {
	struct loci_debug_text name;
	LLVMMetadataRef type;
	LLVMMetadataRef subprogram, inlined_at; /* whose it is */
	unsigned argument;                      /* from 1; 0: none */
	unsigned line;
	uint64_t offset_bytes; /* of the part that is meant */
};
/* The variables whose memory begins at a value (address), or that have it as their value. */
typedef void loci_debug_visit(void *context, const struct loci_debug_variable *variable);
void loci_debug_variables(LLVMValueRef value, bool address, loci_debug_visit *visit, void *context);
bool loci_debug_global(LLVMValueRef global, struct loci_debug_text *ret_name,
	LLVMMetadataRef *ret_type, uint64_t *ret_offset_bytes);
/* The name of a symbol as the source has it, from malloc; NULL: it is not mangled. */
char *loci_debug_demangle(const char *symbol);

enum loci_debug_kind {
	LOCI_DEBUG_UNKNOWN,
	LOCI_DEBUG_SCALAR,
	LOCI_DEBUG_POINTER,
	LOCI_DEBUG_REFERENCE, /* of C++ */
	LOCI_DEBUG_RECORD,    /* struct, class, union */
	LOCI_DEBUG_ARRAY,
};
struct loci_debug_type {
	enum loci_debug_kind kind;
	uint64_t bytes;         /* 0: not known */
	LLVMMetadataRef node;   /* without qualifiers and other names */
	LLVMMetadataRef target; /* of a pointer, of a reference; of an array the element */
	unsigned dimensions;    /* of an array */
	unsigned n_members;     /* of a record */
};
void loci_debug_type_of(LLVMMetadataRef type, struct loci_debug_type *ret);

struct loci_debug_member {
	struct loci_debug_text name;
	LLVMMetadataRef type;
	uint64_t offset_bits, bits;
	bool base; /* what it inherits */
	bool bit_field;
};
/* false: it is no data of the record. */
bool loci_debug_member_at(LLVMMetadataRef record, unsigned index, struct loci_debug_member *ret);

#ifdef __cplusplus
}
#endif

#endif
