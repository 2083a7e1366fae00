/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program computes and moves, independent of the processor (Anger et al. 2014, Byfl's tables
 * 1 and 2): how often its blocks ran, times what stands in each. Counted are instructions of the
 * compiler's intermediate code, of what was compiled to have them counted and nothing else.
 *
 * An operation on a vector is one instruction and as many integer or floating-point operations as
 * the vector has elements; a fused multiply-add is two floating-point operations for each. All are
 * exact. */
#ifndef LOCI_MODEL_OP_COUNTS_H
#define LOCI_MODEL_OP_COUNTS_H

#include "model/catalogue.h"

#include <stdbool.h>

/* X(name, word of schema.sql's operation.kind, what it is) */
#define LOCI_OPS_KINDS(X)                              \
	X(LOAD, "load", MEMORY)                        \
	X(STORE, "store", MEMORY)                      \
	X(INT_ADD, "int add", INT)                     \
	X(INT_SUB, "int sub", INT)                     \
	X(INT_MUL, "int mul", INT)                     \
	X(INT_DIV, "int div", INT)                     \
	X(INT_LOGIC, "int logic", INT)                 \
	X(INT_SHIFT, "int shift", INT)                 \
	X(INT_COMPARE, "int compare", INT)             \
	X(INT_OTHER, "int other", INT)                 \
	X(FLOAT_ADD, "float add", FLOAT)               \
	X(FLOAT_MUL, "float mul", FLOAT)               \
	X(FLOAT_DIV, "float div", FLOAT)               \
	X(FLOAT_FMA, "float fma", FLOAT)               \
	X(FLOAT_SQRT, "float sqrt", FLOAT)             \
	X(FLOAT_COMPARE, "float compare", FLOAT)       \
	X(FLOAT_OTHER, "float other", FLOAT)           \
	X(CONVERT, "convert", SHAPE)                   \
	X(SELECT, "select", SHAPE)                     \
	X(ADDRESS, "address", SHAPE)                   \
	X(LANES, "lanes", SHAPE)                       \
	X(BRANCH, "branch", CONTROL)                   \
	X(BRANCH_COND, "branch cond", CONTROL)         \
	X(BRANCH_INDIRECT, "branch indirect", CONTROL) \
	X(SWITCH, "switch", CONTROL)                   \
	X(RETURN, "return", CONTROL)                   \
	X(CALL, "call", CONTROL)                       \
	X(CALL_INDIRECT, "call indirect", CONTROL)     \
	X(MEMSET, "memset", BULK)                      \
	X(MEMCPY, "memcpy", BULK)                      \
	X(ALLOCA, "alloca", SHAPE)                     \
	X(FENCE, "fence", SHAPE)                       \
	X(ASM, "asm", SHAPE)                           \
	X(OTHER, "other", SHAPE) /* and what is not known */

#define LOCI_OPS_ENUM(name, word, class) LOCI_OPS_##name,
enum loci_ops_kind { LOCI_OPS_KINDS(LOCI_OPS_ENUM) LOCI_OPS_N_KINDS };
#undef LOCI_OPS_ENUM
const char *loci_ops_kind_name(enum loci_ops_kind kind);

/* Sums; all of them words, and but for the last two of one execution times their number. */
struct loci_ops_sum {
	uint64_t executions;  /* of blocks */
	uint64_t invocations; /* of functions */
	uint64_t instructions;
	uint64_t kind[LOCI_OPS_N_KINDS]; /* of these */
	uint64_t flops, int_ops;
	uint64_t loaded_bytes, stored_bytes; /* by loads and stores */
	uint64_t op_bits;         /* operands and results of all but memory and control .. */
	uint64_t flop_bits;       /* .. and of floating point */
	uint64_t vector_ops;      /* integer and floating-point instructions on vectors .. */
	uint64_t vector_elements; /* .. and the elements of these */
	uint64_t sized_elements;  /* of those: whose width is known .. */
	uint64_t element_bits;    /* .. and the sum of their widths */
	uint64_t vector_flops, vector_int_ops; /* of flops and int_ops: on vectors */
	/* Known of whole blocks only. */
	uint64_t memset_bytes, memcpy_bytes;
};

uint64_t loci_ops_loads(const struct loci_ops_sum *sum);
uint64_t loci_ops_stores(const struct loci_ops_sum *sum);
uint64_t loci_ops_calls(const struct loci_ops_sum *sum);
/* Conditional or to a computed place; all others but plain jumps: switches and returns. */
uint64_t loci_ops_conditional(const struct loci_ops_sum *sum);
uint64_t loci_ops_other_branches(const struct loci_ops_sum *sum);
/* Each NAN where it divides by nothing. */
double loci_ops_bytes_per_flop(const struct loci_ops_sum *sum);
double loci_ops_flops_per_byte(const struct loci_ops_sum *sum);
/* Share of the integer and floating-point operations made on vectors. */
double loci_ops_vectorised(const struct loci_ops_sum *sum);
double loci_ops_elements_per_vector(const struct loci_ops_sum *sum);
double loci_ops_bits_per_element(const struct loci_ops_sum *sum);

enum loci_ops_level {
	LOCI_OPS_FUNCTION,
	LOCI_OPS_CONTEXT,
	LOCI_OPS_REGION,
	LOCI_OPS_BLOCK,
	LOCI_OPS_CALLEE,
	LOCI_OPS_TYPE,
	LOCI_OPS_LEVELS,
};
const char *loci_ops_level_name(enum loci_ops_level level);

struct loci_ops_row {
	const void *owner; /* a row of function, context, region or block; NULL: of none of them */
	unsigned depth;    /* contexts: of the tree */
	struct loci_ops_sum sum;
	struct loci_ops_sum own; /* contexts: without those below */
};

struct loci_ops_callee {
	const char *name;   /* in the symbol table */
	const char *source; /* as the source has it; NULL: the same, or it cannot be told */
	uint64_t calls;
	const struct loci_function_row *function; /* if it was compiled to be counted, else NULL */
};

/* Loads, stores, integer and floating-point operations by type. */
struct loci_ops_type {
	const char *what; /* load, store, int, float */
	const char *type; /* NULL: none */
	uint64_t lanes;
	uint64_t instructions, elements;
	uint64_t bytes; /* of loads and stores */
};

struct loci_ops {
	struct loci_catalogue catalogue;
	struct loci_ops_sum whole;
	bool has_contexts;                          /* executions are known by context */
	bool has_ranges;                            /* bytes of memset and memcpy are known */
	struct loci_ops_sum *one;                   /* of one execution, by block */
	const struct loci_footprint_row *footprint; /* of the whole; NULL: not recorded */
	/* Whoever can spell names of symbol tables as their source does, may. */
	const char *(*spell)(void *data, const char *symbol);
	void *spell_data;
};

/* -ENOENT, with what to do, where the profile has no operations. */
int loci_ops_new(struct loci_ops *ret, struct loci_profile *profile, struct loci_err *err);
void loci_ops_fini(struct loci_ops *ops);

/* Rows of a level, the most instructions first (contexts as a tree); malloc'ed. */
int loci_ops_rows(const struct loci_ops *ops, enum loci_ops_level level, struct loci_ops_row **ret,
	size_t *ret_n, struct loci_err *err);
/* The most calls first. */
int loci_ops_callees(const struct loci_ops *ops, struct loci_ops_callee **ret, size_t *ret_n,
	struct loci_err *err);
/* The most instructions first. */
int loci_ops_types(const struct loci_ops *ops, struct loci_ops_type **ret, size_t *ret_n,
	struct loci_err *err);
/* Distinct bytes of a function; NULL: not known. */
const struct loci_footprint_row *loci_ops_footprint(
	const struct loci_ops *ops, const struct loci_function_row *function);

/* Median of the finite stack distances of the run, and the median of how far they are from it
 * (MAD), in bytes; each within the error beside it, the width of a bin. */
struct loci_ops_distance {
	bool known;
	double median_bytes, median_error_bytes;
	double mad_bytes, mad_error_bytes;
};
int loci_ops_distance(
	const struct loci_ops *ops, struct loci_ops_distance *ret, struct loci_err *err);

/* op_counts.c, for ops_rows.c: to += what, times times. */
void loci_ops_add(struct loci_ops_sum *to, const struct loci_ops_sum *what, uint64_t times);
/* .. and all executions of a block, by its place in the catalogue. */
void loci_ops_add_block(const struct loci_ops *ops, struct loci_ops_sum *to, size_t block);
/* op_counts.c: the kind of a word, and what it is. */
enum loci_ops_class {
	LOCI_OPS_CLASS_MEMORY,
	LOCI_OPS_CLASS_INT,
	LOCI_OPS_CLASS_FLOAT,
	LOCI_OPS_CLASS_SHAPE,
	LOCI_OPS_CLASS_CONTROL,
	LOCI_OPS_CLASS_BULK,
};
enum loci_ops_kind loci_ops_kind_of(const char *word, enum loci_ops_class *ret_class);

#endif
