/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for addresses: functions, lines, inlined calls, variables, types, from ELF symbol tables
 * and DWARF (elfutils). Addresses are given as they stand in the file: run-time address less the
 * load bias. Whatever is missing degrades: without debug information a function is its symbol,
 * without symbols it is nothing, and a caller shows module + offset.
 *
 * Strings and arrays that are returned live as long as the symbols. One thread at a time. */
#ifndef LOCI_SYMBOL_H
#define LOCI_SYMBOL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loci_symbols;

int loci_symbols_new(struct loci_symbols **ret, struct loci_err *err);
void loci_symbols_free(struct loci_symbols *symbols);

/* The number of a module, for the calls below; the same path and build-id give the same number.
 * Nothing is read yet. A file that cannot be read, or whose build-id is another (it was rebuilt
 * since), gives a module without names; loci_symbols_trouble says why. build_id may be NULL. Debug
 * information is also looked for where distributions put it (/usr/lib/debug, by build-id and by
 * link). */
int loci_symbols_module(struct loci_symbols *symbols, const char *path, const uint8_t *build_id,
	size_t build_id_bytes, uint32_t *ret_module, struct loci_err *err);
/* Why names of a module are poor ("no debug information", "rebuilt since it ran"), or NULL. */
const char *loci_symbols_trouble(struct loci_symbols *symbols, uint32_t module);

/* One level of code at an address: the innermost inlined function first, the function itself last.
 */
struct loci_frame_name {
	const char *function; /* as in the source, demangled: "std::sort<int*>(int*, int*)" */
	const char *mangled;  /* as in the symbol table; equal to function in C */
	const char *file; /* where control is: of frame 0 the site, of others the inlined call */
	unsigned line, column;
	const char *decl_file; /* of the function */
	unsigned decl_line;
	uint64_t entry; /* of the outermost function: its first address. Of others 0 */
	bool fortran;   /* of code, not of sites */
};
#define LOCI_FRAMES_MAX 32
/* *ret_n 0: nothing is known. The address may be one of code, or that of a site (below). */
int loci_symbols_frames(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err);
/* The same of code that is known only to call what was recorded. What the C library starts main and
 * threads from has no place then, only its name and entry: all programs are called from there, and
 * the library's debug information may take longer to unpack than all else of a short recording. */
int loci_symbols_caller(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err);

/* Code compiled by `loci cc` numbers its references by the addresses of their definitions, which
 * stand in a section of the module (collect/runtime/cc_abi.h). Such an address is a site; it is no
 * address of code. */
struct loci_symbol_site {
	uint64_t code;        /* its function's first instruction, as frames have it in entry */
	const char *variable; /* what is referred to, as far as it is known ("a[]", "node->next") */
	uint64_t loop;        /* the innermost around it, for loci_symbols_loop(); 0: none */
};
/* 1: it is a site; 0: it is none, and *ret is all zero. */
int loci_symbols_site(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	struct loci_symbol_site *ret, struct loci_err *err);
/* The first instruction of the function of a site; of an address that is no site the address
 * itself, so that what holds an address of code or of a site can ask for locals. */
int loci_symbols_code(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	uint64_t *ret_code, struct loci_err *err);

/* The site that an address of code stands for which is just behind a reference, as far as lines
 * tell: of the sites of its function that stand in the same line, the first of those that fit best.
 * What is of the preferred kind fits better than others, better yet what stands at the same column,
 * and best what refers to the variable given; what refers to another one fits least. */
struct loci_symbol_reference {
	uint64_t site, code; /* code: as of a site */
	uint32_t size_bytes;
	uint16_t flags;
	uint8_t op;
};
struct loci_reference_hint {
	bool stores;          /* are preferred; else loads */
	bool is_bulk;         /* and whether it is a copy or a fill */
	const char *variable; /* where the memory is; NULL: not known */
};
/* 1: found; 0: not, and *ret is all zero but code, which is 0 only where the function is not of
 * `loci cc`. */
int loci_symbols_reference(struct loci_symbols *symbols, uint32_t module, uint64_t behind,
	const struct loci_reference_hint *hint, struct loci_symbol_reference *ret,
	struct loci_err *err);
/* 1: a function that was compiled by `loci cc` begins at the address; 0: none. */
int loci_symbols_is_defined(
	struct loci_symbols *symbols, uint32_t module, uint64_t code, struct loci_err *err);

/* What was in a thread: DWARF's registers, and words of memory below where the frame pointer
 * points, from the top. */
struct loci_symbol_machine {
	uint64_t reg[16];
	const uint64_t *memory;
	size_t n_memory;
};
/* What code of `loci cc` that is about to execute the address has left of its budget. 1: it is
 * known; 0: it is not, as where it is in memory. */
int loci_symbols_budget(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	const struct loci_symbol_machine *machine, int64_t *ret, struct loci_err *err);

/* A loop as the compiler had it. Its number is an address, the same for all its sites. */
struct loci_loop_name {
	const char *function;  /* whose statement it is: the inlined one, demangled */
	const char *file;      /* NULL: not known */
	unsigned line, column; /* of the statement; 0: not known */
	unsigned depth;        /* from 1, within the function that was compiled */
	uint64_t parent;       /* the loop around it; 0: none */
	uint64_t first, end;   /* its sites lie from first to before end */
};
/* 1: there is such a loop; 0: there is none, and *ret is all zero. */
int loci_symbols_loop(struct loci_symbols *symbols, uint32_t module, uint64_t loop,
	struct loci_loop_name *ret, struct loci_err *err);

/* A block of a function that was compiled to have its operations counted, by the address of one of
 * the function's sites and its number there. */
struct loci_symbol_block {
	const char *file; /* of its first instruction; NULL: not known */
	unsigned line;    /* 0: not known */
	uint64_t loop;    /* as of a site */
	bool entry;
	uint32_t n_ops, n_invocations;
};
struct loci_symbol_op {
	const char *kind, *type; /* "int add", "f64"; type NULL: none */
	uint32_t lanes, count, bits;
};
struct loci_symbol_invocation {
	const char *callee; /* in the symbol table */
	uint32_t count;
};
/* 1: there is such a block; 0: there is none, or its operations are not counted. */
int loci_symbols_block(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	uint32_t block, struct loci_symbol_block *ret, struct loci_err *err);
/* Of a block that there is, the i-th. */
int loci_symbols_op(struct loci_symbols *symbols, uint32_t module, uint64_t address, uint32_t block,
	uint32_t i, struct loci_symbol_op *ret, struct loci_err *err);
int loci_symbols_invocation(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	uint32_t block, uint32_t i, struct loci_symbol_invocation *ret, struct loci_err *err);

/* A type as data sees it: element of an array, target of a pointer. NULL type: unknown. */
struct loci_type;
const char *loci_type_name(const struct loci_type *type); /* "struct node", "double" */
uint64_t loci_type_bytes(const struct loci_type *type);
struct loci_type_field {
	const char *name; /* with its path: "key", "child[]", "pos.x" */
	const char *type;
	uint64_t offset_bytes, size_bytes;
};
/* Members, those of nested structs one by one, arrays as one; ascending. None for a scalar. */
int loci_type_fields(struct loci_symbols *symbols, const struct loci_type *type,
	const struct loci_type_field **ret, size_t *ret_n, struct loci_err *err);

struct loci_variable {
	const char *name;
	const char *file;
	unsigned line;
	int64_t low; /* globals: address. Locals: offset from the frame address, which is where
			the return address stands (the canonical frame address less 8) */
	uint64_t bytes;
	uint64_t pc_low, pc_high;     /* locals: where the variable lives; 0, 0: all the function */
	const struct loci_type *type; /* of an array: its element's; of a piece of a struct: none */
	uint64_t elements;            /* 1: no array */
	uint64_t inner; /* of an array of several dimensions: elements of the one in which they lie
			   side by side; else 0 */
	const char *shape; /* of a Fortran array, "(100,50)"; NULL: none, not known */
	/* Locals: of all the pieces into which a compiler may part a variable, each of which is
	 * here by itself; else as bytes, or 0. */
	uint64_t whole_bytes;
};
/* Globals and statics, also those of functions ("counter (f)"), ascending and without overlap. From
 * DWARF, and from the symbol table what DWARF lacks. */
int loci_symbols_globals(struct loci_symbols *symbols, uint32_t module,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err);
/* Variables and parameters that the function around address keeps in its frame, by low. Those of
 * inlined functions are among them. */
int loci_symbols_locals(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err);

/* What the result of an allocation goes to: the variable (or expression: "node->next") assigned
 * where the call that returns to this address stands, and its pointer's target type, both where
 * they can be told. 0 with *ret_name NULL where not. */
int loci_symbols_assigned(struct loci_symbols *symbols, uint32_t module, uint64_t return_address,
	const char **ret_name, const struct loci_type **ret_type, struct loci_err *err);

/* A line of a source file as it stands on disk, without its newline; NULL where there is none. */
const char *loci_symbols_source_line(struct loci_symbols *symbols, const char *file, unsigned line);

#endif
