/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects themselves: numbered from 0 ("other"), each found again by what makes it one. There
 * are at most LOCI_OBJECTS_MAX; what comes after that is "other", and counted. */
#ifndef LOCI_ANALYSE_OBJECT_TABLE_H
#define LOCI_ANALYSE_OBJECT_TABLE_H

#include "base/err.h"
#include "symbol/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCI_OBJECTS_MAX (1u << 20)

/* clang-format off */
enum loci_object_kind {      /* key */
	LOCI_OBJECT_OTHER,
	LOCI_OBJECT_HEAP,       /* site of the call, context */
	LOCI_OBJECT_HEAP_REST,  /* where the heap is, but no allocation: an allocator's own data */
	LOCI_OBJECT_GLOBAL,     /* the symbols' module, index of the variable */
	LOCI_OBJECT_DATA,       /* the symbols' module: what no variable is known for */
	LOCI_OBJECT_LOCAL,      /* function, index of the variable */
	LOCI_OBJECT_FRAME,      /* function: spills, saved registers, return addresses */
	LOCI_OBJECT_STACK,      /* of a frame nobody knows; arguments, thread-local data */
	LOCI_OBJECT_MAPPING,    /* site, context */
	LOCI_OBJECT_FILE,       /* text */
	LOCI_OBJECT_REGISTERED, /* text */
	LOCI_OBJECT_PART,       /* registered object, digest of the name */
	LOCI_OBJECT_KINDS,
};
/* clang-format on */

/* A call and the calls around it, innermost first: addresses within the calling instructions. */
struct loci_origin {
	size_t n;
	struct loci_origin_call {
		uint32_t symbol_module;
		uint64_t address; /* in the file */
		bool within; /* the address is where the function begins: where in it is not known
			      */
	} call[];
};

struct loci_object {
	enum loci_object_kind kind;
	uint64_t key[2];
	uint32_t symbol_module, context; /* UINT32_MAX: none */
	uint64_t entry;                  /* file address of the function whose stack it is */
	const struct loci_variable *variable;
	char *text;                 /* owned: path or name */
	struct loci_origin *origin; /* owned */
	uint64_t size_bytes, allocations, live;
	uint64_t born_refs, died_refs;
	uint64_t element_bytes; /* of a registered one; 0: not known, as are the next */
	uint32_t under;         /* what is known of its memory; 0: nothing */
	uint32_t whole;         /* of a part: the object */
	uint64_t part_offset;   /* in it */
	char *name, *type;      /* owned, made when asked for: object_name.c */
};

struct loci_object_table {
	struct loci_object *object;
	size_t n, cap;
	uint32_t *slot; /* open addressing; number + 1 */
	unsigned slot_bits;
	uint64_t dropped; /* times that an object found no place */
};

int loci_object_table_init(struct loci_object_table *table, struct loci_err *err);
void loci_object_table_fini(struct loci_object_table *table);

/* The object of a key, made where there is none: *ret_new. 0 when there are too many. */
int loci_object_table_get(struct loci_object_table *table, enum loci_object_kind kind,
	uint64_t first, uint64_t second, uint32_t *ret, bool *ret_new, struct loci_err *err);
/* The same by a text, which is copied. */
int loci_object_table_get_text(struct loci_object_table *table, enum loci_object_kind kind,
	const char *text, uint32_t *ret, struct loci_err *err);

/* One more of it lives; one less. */
void loci_object_begin(struct loci_object *object, uint64_t bytes, uint64_t refs);
void loci_object_end(struct loci_object *object, uint64_t refs);

#endif
