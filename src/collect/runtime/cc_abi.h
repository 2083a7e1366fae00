/* SPDX-License-Identifier: BSD-2-Clause */
/* What code compiled by `loci cc`, the runtime that is linked to it, and the reader of symbols know
 * of each other. Programs and recorders of different versions meet here: what stands in an object
 * file is fixed for a version, and grows by another.
 *
 * Code. Every instrumented function holds its body twice: a counting copy and a tracing copy.
 * Control crosses between them where the budget is tested: at the entry and at loop back edges; of
 * loops within others mostly only from the counting to the tracing copy, so that the former's loops
 * keep the one way in that the compiler expects of loops. An innermost loop without calls
 *that is known to go round at most some hundred times is left at its end only. Where control
 *crosses at the entry alone the tracing copy is a function of its own, named with LOCI_CC_TWIN,
 *that the function jumps to.
 *
 *	counting	in every block that has references	budget -= references
 *			and, with operations, counts executions (see Operations)
 *	tracing		the same, and appends words at the cursor
 *	test		budget < 0: to the tracing copy; otherwise, where it can, to the counting
 *copy
 *
 * In a counting copy the budget lives in a register, and in loci_cc_thread.budget across calls
 *(that may run instrumented code), returns and unwinding. A tracing copy has it in memory always,
 *right wherever the runtime may be asked. What it counts may wait on the way there, so between
 *calls and back edges it may be behind. Where a function has debug information, DWARF's variable
 *LOCI_CC_BUDGET says where a counting copy has it, or another one of that name does.
 *
 * The cursor lives in a register of the tracing copy and is stored to loci_cc_state.cursor where
 * control goes elsewhere, the runtime may be asked, loops go round, and ways join on which not as
 * many words were appended; between these it may be behind, and so may what a signal handler finds
 * there. The state is found anew (from
 * loci_cc_thread.state) at the entry and after every call. Before a block's marker is appended a
 * tracing copy makes sure that cursor <= limit, which is room for LOCI_CC_ROOM_WORDS words; there
 *is one check on every way that appends no more than that. If there is no room it calls __loci_room
 * and finds state, cursor and budget anew. Whatever is appended next begins with a marker, so the
 * runtime may change rings and begin or end windows there; but a copy that goes on appending does
 *so until it comes to an entry or an outer loop's back edge, so there must be
 *room after
 *__loci_room, wanted or not. The check of an entry or a back edge is also how a thread comes to the
 *runtime for the first time: unless words are wanted, cursor > limit.
 *
 * Words. A block's marker is loci_cc_function.base + its number in the function
 * (loci_cc_definition.markers has them all), so that ids of a
 * function's blocks follow one another, the first of them that of its ENTRY; blocks without
 * references have no number, unless operations are counted. If base is 0 when a function is entered
 *(tracing copy), __loci_define is called first. A function's first block is flagged ENTRY, exists
 *even without references, and begins with a FRAME reference, the address where the return address
 *stands, and a CALLER, what stands there. Both are written but not counted, and so is TURN: a loop
 *that holds other loops or calls, and whose header has no references, has a block flagged LOOP for
 *the header all the same, of one reference TURN, so that it shows in the stream when it goes round.
 *
 * A loop that is left at its end only, all of whose references are one block, whose
 * addresses go in equal steps, and that is known when it begins to go round some 4 to
 * LOCI_CC_RUN_TIMES times, stands twice more. Where __loci_runs is not 0 the tracing copy runs it
 * without appending, and appends one RUN when it has ended, after a check of its own, and takes all
 * its references from the budget. So it is all or nothing: of such a loop that a signal handler
 * leaves for good, or in which the process dies, nothing is appended. Where there are windows
 * __loci_runs is 0; where they are those of samples, within them. The counting copy takes all its
 *references before it begins where the budget is no less, and tests nothing within.
 *
 * Atomic operations. In the tracing copy the words of an atomic operation, a load, a store or one
 *that does both, are appended by __loci_atomic_begin, which stores the cursor too and returns it:
 *where threads are to be ordered that is with a SYNC before what it reads and one after what it
 *writes, six words at most beside the references, and until __loci_atomic_end, right after the
 *operation, nobody else does one on that memory. So the numbers are in the order of the operations.
 *
 * Sites. The number of a reference in the stream is the run-time address of its struct loci_cc_site
 * in the section of definitions; less the module's load bias it is an address in the file, from
 * which the reader of symbols takes file, line and all else. The code address of a block (DEFINE's
 * second raw word) is the run-time address of its function's first instruction, the same for all
 * blocks of the function. Blocks of a function stand in its definition in an order in which loops
 * are contiguous and begin with their header, so that going back to a lower site is a loop.
 *
 * Freestanding C: part of what ends up in users' programs. */
#ifndef LOCI_COLLECT_RUNTIME_CC_ABI_H
#define LOCI_COLLECT_RUNTIME_CC_ABI_H

#include <stddef.h>
#include <stdint.h>

#define LOCI_CC_VERSION     2 /* 1 has no markers, and is read all the same */
#define LOCI_CC_ROOM_WORDS  256
#define LOCI_CC_RUN_TIMES   (1u << 24)
#define LOCI_CC_LARGE_BYTES 4096 /* in text, too: a plain number */

/* Of a thread, or of the signal handler that interrupted it. */
struct loci_cc_state {
	uint64_t *cursor; /* where the next word goes */
	uint64_t *limit;  /* the last place from which LOCI_CC_ROOM_WORDS words can be written */
			  /* What follows is the runtime's. */
};

/* Thread-local, model initial-exec: extern __thread struct loci_cc_thread __loci_thread. */
struct loci_cc_thread {
	int64_t budget;              /* references until the next event; from -1 */
	struct loci_cc_state *state; /* from one that has no room */
	uint64_t counters; /* address of its counters of executions; LOCI_CC_COUNTERS_UNKNOWN */
};

/* Section LOCI_CC_FUNCTIONS: one for each function, writable, 8-aligned. Comdat and --gc-sections
 * keep or drop it with its function. */
#define LOCI_CC_FUNCTIONS "loci_fn"
struct loci_cc_function {
	uint64_t base;      /* the marker word of block 0; 0: not defined yet */
	int32_t code;       /* the function's first instruction, and .. */
	int32_t definition; /* .. its struct loci_cc_definition, each less the address of this field
			     */
};
_Static_assert(sizeof(struct loci_cc_function) == 16, "layout is fixed");

/* Section LOCI_CC_DEFINITIONS: read-only, no relocations at run time, one for each function, each
 * 8-aligned; zeros may stand between them. A text is given as its address less the address of the
 * field that gives it; 0: none. Texts end with NUL and may stand in any section of the file that is
 * loaded.
 *
 * A definition is this header, then n_blocks blocks, n_sites sites, n_scopes scopes, n_loops loops,
 * n_calls calls, each table 8-aligned. If n_ops is not 0, the function was compiled to have its
 * operations counted: n_blocks struct loci_cc_block_ops follow, one beside each block, then n_ops
 * operations, n_invocations invocations and n_terms terms. */
#define LOCI_CC_DEFINITIONS      "loci_def"
#define LOCI_CC_DEFINITION_MAGIC 0x4346434cu /* "LCFC" */
struct loci_cc_definition {
	uint32_t magic;
	uint16_t version;
	uint16_t flags;
	uint32_t bytes; /* of all, this header included */
	uint32_t n_blocks, n_sites, n_scopes, n_loops, n_calls;
	int32_t code; /* the function's first instruction less the address of this field */
	int32_t name; /* as in the symbol table */
	int32_t unit; /* text: the compiler ("clang 14.0.6 -O2") */
	/* 0 in what was compiled before there were any: */
	uint32_t n_ops, n_invocations;
	uint32_t n_counters, n_terms; /* of the counting copy: see struct loci_cc_term */
	/* n_blocks uint64_t, writable, zeros that take no place in the file, less the address of
	 * this field; 0: none. They have the marker words of the function's blocks once its base is
	 * not 0, so that code need not add up any. */
	int32_t markers;
};
_Static_assert(sizeof(struct loci_cc_definition) == 64, "layout is fixed");

static inline int loci_cc_is_known(unsigned version)
{
	return version == 1 || version == LOCI_CC_VERSION;
}

/* Section LOCI_CC_RUNTIME is in a static program that has the runtime in it. Code of gcc's is not
 * instrumented by the pass, has no definitions, and calls LOCI_CC_ENTRY and its like. */
#define LOCI_CC_RUNTIME "loci_runtime"
#define LOCI_CC_ENTRY   "__tsan_func_entry"

#define LOCI_CC_NONE UINT32_MAX

#define LOCI_CC_BUDGET "loci.budget"
/* Behind the name of a function in that of the one that has its tracing copy, if that is another:
 * then it stands right behind it in the text. */
#define LOCI_CC_TWIN   ".loci"

struct loci_cc_block {
	uint32_t first_site;
	uint16_t n_sites; /* with FRAME, CALLER, TURN */
	uint8_t flags;    /* enum loci_block_flag */
	uint8_t depth;    /* loops around it */
	uint32_t loop;    /* the innermost, or LOCI_CC_NONE */
	uint32_t reserved;
};
_Static_assert(sizeof(struct loci_cc_block) == 16, "layout is fixed");

struct loci_cc_site {
	uint32_t size_bytes;  /* 0: a range */
	uint8_t op;           /* enum loci_op */
	uint8_t may_be_large; /* LOCI_CC_LARGE_BYTES or more go by __loci_memcpy and its like */
	uint16_t flags;       /* enum loci_ref_flag */
	uint32_t line;        /* 0: not known */
	uint16_t column;
	uint16_t scope;   /* the innermost */
	int32_t variable; /* text: what is referred to, as the code has it ("a", "node->next") */
	uint32_t reserved2;
};
_Static_assert(sizeof(struct loci_cc_site) == 24, "layout is fixed");

/* The function itself is scope 0; the others are inlined calls, each behind the scope it is called
 * in. Code of one function that stands in several files has a scope for each, alike but for file
 * and line: so there may be more than one without a parent. */
struct loci_cc_scope {
	int32_t name;    /* as in the source */
	int32_t linkage; /* as in the symbol table; 0: the same */
	int32_t file;    /* of its code: absolute, or relative to nothing */
	uint32_t line;   /* of its declaration; 0: not known, or in another file */
	uint32_t call_line;
	uint16_t call_column;
	uint16_t parent; /* scope that it is called in; of the function itself UINT16_MAX */
};
_Static_assert(sizeof(struct loci_cc_scope) == 24, "layout is fixed");

/* Outer loops stand before those in them. */
struct loci_cc_loop {
	uint32_t line; /* of its statement; 0: not known */
	uint16_t column;
	uint16_t scope;
	uint32_t parent; /* LOCI_CC_NONE: outermost */
	uint16_t depth;  /* from 1 */
	uint16_t reserved;
};
_Static_assert(sizeof(struct loci_cc_loop) == 16, "layout is fixed");

/* A function that is called here and not defined in this module of the compiler. */
struct loci_cc_call {
	int32_t callee; /* text: its name in the symbol table */
	int32_t count;  /* an uint64_t that the tracing copy counts up, less this field's address;
			   0: not counted */
};
_Static_assert(sizeof(struct loci_cc_call) == 8, "layout is fixed");

/* Operations. What a block does is the same each time it runs to its end, so that operations are
 * block executions times what stands here. A function compiled with operations numbers every block
 * that has any, with references or not, and all of them stand in the stream. What runs in counting
 * copies is counted by block (see LOCI_MARK_EXECUTED).
 *
 * Counted are the instructions of the compiler's intermediate code after optimising, before what
 * loci puts there: architecture-independent, as Byfl counts. Debug and lifetime intrinsics, PHIs
 * and casts that make no code (bitcast, ptrtoint, inttoptr, freeze) are none. No more are parts of
 * aggregates (extractvalue, insertvalue), landing pads, allocas of constant size, constant
 * expressions, and the return behind a call that must be the last (musttail), for the callee
 * returns. An invoke is its call alone. Intrinsics are what they compute: those that are not in the
 * list below are INT_OTHER, FLOAT_OTHER or OTHER by what they give. A masked load or store counts
 * as one, all its lanes moved, whichever are active: a bound from above. Calls, memset, memcpy,
 * fences, assembly and the like have no type and no bits; branches have those of what they depend
 * on. */
enum loci_cc_op_kind {
	LOCI_CC_OP_LOAD = 1,
	LOCI_CC_OP_STORE = 2, /* a read-modify-write is a load, a store and what it computes */
	LOCI_CC_OP_INT_ADD = 3,
	LOCI_CC_OP_INT_SUB = 4,
	LOCI_CC_OP_INT_MUL = 5,
	LOCI_CC_OP_INT_DIV = 6, /* and remainder */
	LOCI_CC_OP_INT_LOGIC = 7,
	LOCI_CC_OP_INT_SHIFT = 8,
	LOCI_CC_OP_INT_COMPARE = 9, /* pointers too */
	LOCI_CC_OP_INT_OTHER = 10,  /* min, max, abs, bit counts, saturating, reductions */
	LOCI_CC_OP_FLOAT_ADD = 11,  /* and subtract */
	LOCI_CC_OP_FLOAT_MUL = 12,
	LOCI_CC_OP_FLOAT_DIV = 13, /* and remainder */
	LOCI_CC_OP_FLOAT_FMA = 14, /* two floating-point operations a lane */
	LOCI_CC_OP_FLOAT_SQRT = 15,
	LOCI_CC_OP_FLOAT_COMPARE = 16,
	LOCI_CC_OP_FLOAT_OTHER = 17, /* negate, abs, min, max, round, reductions, and the library's
				      intrinsics (sin, exp, pow), one each */
	LOCI_CC_OP_CONVERT = 18,     /* between types; type is the result's */
	LOCI_CC_OP_SELECT = 19,
	LOCI_CC_OP_ADDRESS = 20, /* getelementptr with an offset that is not all zero */
	LOCI_CC_OP_LANES = 21,   /* insert, extract, shuffle */
	LOCI_CC_OP_BRANCH = 22,  /* unconditional */
	LOCI_CC_OP_BRANCH_COND = 23,
	LOCI_CC_OP_BRANCH_INDIRECT = 24, /* computed goto */
	LOCI_CC_OP_SWITCH = 25,
	LOCI_CC_OP_RETURN = 26, /* and resume of unwinding */
	LOCI_CC_OP_CALL = 27,   /* direct; of functions, not intrinsics */
	LOCI_CC_OP_CALL_INDIRECT = 28,
	LOCI_CC_OP_MEMSET = 29, /* calls; the bytes are those of the range reference */
	LOCI_CC_OP_MEMCPY = 30, /* and memmove */
	LOCI_CC_OP_ALLOCA = 31, /* of variable size, when the program runs */
	LOCI_CC_OP_FENCE = 32,
	LOCI_CC_OP_ASM = 33,
	LOCI_CC_OP_OTHER = 34,
};

enum loci_cc_type {
	LOCI_CC_TYPE_NONE = 0,
	LOCI_CC_TYPE_I1 = 1,
	LOCI_CC_TYPE_I8 = 2,
	LOCI_CC_TYPE_I16 = 3,
	LOCI_CC_TYPE_I32 = 4,
	LOCI_CC_TYPE_I64 = 5,
	LOCI_CC_TYPE_I128 = 6,
	LOCI_CC_TYPE_INT = 7, /* any other width */
	LOCI_CC_TYPE_F16 = 8, /* bfloat too */
	LOCI_CC_TYPE_F32 = 9,
	LOCI_CC_TYPE_F64 = 10,
	LOCI_CC_TYPE_F80 = 11,
	LOCI_CC_TYPE_F128 = 12,
	LOCI_CC_TYPE_POINTER = 13,
	LOCI_CC_TYPE_OTHER = 14, /* aggregates */
};

struct loci_cc_block_ops {
	uint32_t first_op;
	uint32_t n_ops;
	uint32_t line; /* of its first instruction that has one; 0: not known */
	uint16_t column;
	uint16_t scope;
};
_Static_assert(sizeof(struct loci_cc_block_ops) == 16, "layout is fixed");

struct loci_cc_op {
	uint8_t kind;   /* enum loci_cc_op_kind */
	uint8_t type;   /* enum loci_cc_type: of an operand, which a comparison's result is not */
	uint16_t lanes; /* of a vector; 1: scalar */
	uint32_t count; /* of these in the block */
	uint32_t bits; /* of the operands and the result of one of them, all lanes (Byfl's op bits);
			loads and stores: of what is moved */
	uint32_t reserved;
};
_Static_assert(sizeof(struct loci_cc_op) == 16, "layout is fixed");

/* The direct calls of one callee in a block, instrumented or not. */
struct loci_cc_invocation {
	uint32_t block;
	uint32_t count;
	int32_t callee; /* text: its name in the symbol table */
	uint32_t reserved;
};
_Static_assert(sizeof(struct loci_cc_invocation) == 16, "layout is fixed");

/* Executions in the counting copy are counted on some edges of the flow, in counters that the
 * thread has to itself, and add up to those of blocks. They are right whenever control is outside
 * of the function, or in something that it called.
 *
 * How often a block ran in the counting copy: the sum of its terms, modulo 2^64. A counter may
 * serve several blocks, and a block may have none of its own. Ascending by block. */
#define LOCI_CC_TERM_MINUS (1u << 31)
struct loci_cc_term {
	uint32_t block;
	uint32_t counter; /* its number; with LOCI_CC_TERM_MINUS it is subtracted */
};
_Static_assert(sizeof(struct loci_cc_term) == 8, "layout is fixed");

/* Section LOCI_CC_COUNTERS: an uint64_t for each function compiled with operations, writable: the
 * place of its n_counters counters among those of every thread, in bytes. An address of a counter
 * is loci_cc_thread.counters + that + 8 * its number, and negative while either is not known yet.
 */
#define LOCI_CC_COUNTERS         "loci_cnt"
#define LOCI_CC_COUNTERS_UNKNOWN 0xc000000000000000u

enum loci_cc_atomic {
	LOCI_CC_ATOMIC_LOAD = 1,
	LOCI_CC_ATOMIC_STORE = 2,
	LOCI_CC_ATOMIC_MODIFY = 3, /* a load and a store of the same memory */
};
#define LOCI_CC_ATOMIC_WORDS 3 /* beside those of each reference, at most */

/* Functions of the runtime that the code calls. Those marked keep all registers but the flags, r11
 * and vectors (LLVM's preserve_most). They must be bound before they are called (nonlazybind): the
 * loader's lazy way does not keep r10. */
#ifdef __cplusplus
extern "C" {
#endif
extern __thread struct loci_cc_thread __loci_thread __attribute__((tls_model("initial-exec")));
/* Not 0: threads may count calls (struct loci_cc_call) at the same time. */
extern uint32_t __loci_shared;
/* Not 0: a loop may be told by a RUN. */
extern uint32_t __loci_runs;
/* preserve_most: there is no room at state->cursor. */
void __loci_room(void);
/* preserve_most: gives the function its base and the recorder its blocks. Its argument is in rdi.
 */
void __loci_define(struct loci_cc_function *function);
/* preserve_most: makes known where the function's and this thread's counters are. Arguments are in
 * rdi and rsi. */
void __loci_counters(struct loci_cc_function *function, uint64_t *counters);
/* preserve_most, but for rax: `at` is where the next word goes, in the room that is there.
 * Arguments are in rdi, rsi and rdx; kind is an enum loci_cc_atomic. */
uint64_t *__loci_atomic_begin(uint64_t *at, uint64_t address, uint64_t kind);
/* preserve_most: may be called without the other. */
void __loci_atomic_end(void);
/* Before a call that may return twice, and after it: the state that was current comes back, when a
 * signal handler was left by longjmp. */
struct loci_cc_state *__loci_mark(void);
void __loci_landed(struct loci_cc_state *state);
/* Around a call of a library that allocates for the program (begins 1, then 0): the first
 * allocation in between is this place's. */
void __loci_allocating(uint32_t begins);
/* Bytes that a function of the C library touches, for the tracing copy: asked before the call with
 * the call's own arguments. A range of n bytes counts as one reference. */
size_t __loci_span_string(const char *s);                             /* strlen + 1 */
size_t __loci_span_string_n(const char *s, size_t n);                 /* at most n */
size_t __loci_span_compare(const char *a, const char *b);             /* strcmp: of each */
size_t __loci_span_compare_n(const char *a, const char *b, size_t n); /* strncmp */
size_t __loci_span_compare_case(const char *a, const char *b);        /* strcasecmp */
size_t __loci_span_compare_case_n(const char *a, const char *b, size_t n);
size_t __loci_span_memory(const void *a, const void *b, size_t n); /* memcmp: of each */
size_t __loci_span_character(const char *s, int c);                /* strchr */
size_t __loci_span_byte(const void *s, int c, size_t n);           /* memchr */
size_t __loci_span_any(const char *s, const char *accept);         /* strpbrk, strcspn */
size_t __loci_span_all(const char *s, const char *accept);         /* strspn */
/* What the C library's functions of these names do, for LOCI_CC_LARGE_BYTES and more. The budget is
 * what the code that calls has of it, in whichever copy. */
void *__loci_memcpy(void *to, const void *from, size_t n, int64_t budget);
void *__loci_memmove(void *to, const void *from, size_t n, int64_t budget);
void *__loci_memset(void *to, int value, size_t n, int64_t budget);
#ifdef __cplusplus
}
#endif

#endif
