/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types as debug information has them: what they are called, how large they are, what they hold. */
#ifndef LOCI_SYMBOL_TYPE_H
#define LOCI_SYMBOL_TYPE_H

#include "symbol/die.h"

/* The type an entry has (DW_AT_type), without const and its like; typedefs stay. */
bool loci_type_die_of(Dwarf_Die *die, Dwarf_Die *ret);
/* What lies behind typedefs and qualifiers. */
bool loci_type_peel(const Dwarf_Die *type, Dwarf_Die *ret);
/* 0: not known. */
uint64_t loci_type_size(struct loci_symbol_module *module, const Dwarf_Die *type);
/* Of an array: how many elements all its dimensions have (0: not known) and their type, which is no
 * array. Of anything else false. */
bool loci_type_array(struct loci_symbol_module *module, const Dwarf_Die *type,
	Dwarf_Die *ret_element, uint64_t *ret_elements);
/* Of an array of several dimensions: how many elements the one has in which they lie side by side,
 * the last in C and the first in Fortran. 0: it is none, or that is not known. */
uint64_t loci_type_inner(struct loci_symbol_module *module, const Dwarf_Die *type);
/* A struct whose last member is an array of no given size. */
bool loci_type_is_open(const struct loci_type *type);
/* Bytes of what a Fortran compiler keeps for an array whose elements lie elsewhere; 0: it is none.
 */
uint64_t loci_type_descriptor_bytes(const Dwarf_Die *type);

/* "(100,0:49)": of a Fortran array whose bounds are known before the program runs; else NULL. */
const char *loci_type_shape(struct loci_symbol_module *module, const Dwarf_Die *type);

/* type_name.c: NULL type is void. Interned; NULL: no memory. */
const char *loci_type_text(struct loci_symbol_module *module, const Dwarf_Die *type);

/* The one loci_type of an entry; NULL: no memory, or void. */
const struct loci_type *loci_type_intern(struct loci_symbol_module *module, const Dwarf_Die *type);

struct loci_type {
	const void *key;
	struct loci_symbol_module *module;
	Dwarf_Die die; /* peeled */
	const char *name;
	uint64_t bytes;
	struct loci_type_field *fields;
	size_t n_fields;
	bool fields_known;
};

#endif
