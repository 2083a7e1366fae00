/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of debug information: walking them in bounds, whatever a torn file says, their parents,
 * and their names with the scopes they lie in. */
#ifndef LOCI_SYMBOL_DIE_H
#define LOCI_SYMBOL_DIE_H

#include "symbol/module.h"

#define LOCI_DIE_DEPTH 200

/* Every entry below a root, parents before children. Linear in their number also where compilers
 * leave DW_AT_sibling out. */
struct loci_die_walk {
	Dwarf_Die path[LOCI_DIE_DEPTH]; /* path[0] is the root, path[depth] the present one */
	int depth;
	bool skip; /* set it: not what lies below the present entry */
	bool begun;
};
void loci_die_walk_init(struct loci_die_walk *walk, const Dwarf_Die *root);
bool loci_die_walk_next(struct loci_die_walk *walk);

/* The value of an attribute, also through DW_AT_abstract_origin and DW_AT_specification. */
bool loci_die_number(Dwarf_Die *die, unsigned attribute, uint64_t *ret);
bool loci_die_flag(Dwarf_Die *die, unsigned attribute);
const char *loci_die_string(Dwarf_Die *die, unsigned attribute);
bool loci_die_ref(Dwarf_Die *die, unsigned attribute, Dwarf_Die *ret);
/* The language of its unit, DW_LANG_*; of one that does not say, as pieces shared by several units
 * may not, that of the module's first. 0: not known. */
int loci_die_language(const struct loci_symbol_module *module, const Dwarf_Die *die);
bool loci_language_scoped(int language); /* has namespaces, modules or classes */
bool loci_language_fortran(int language);
/* flang 19 knows no derived types: an entry of one has the type integer, and its size. */
bool loci_die_by_flang(const Dwarf_Die *die);

/* The name of the file that an attribute of an entry gives by number (DW_AT_decl_file ..). */
const char *loci_die_file(struct loci_symbol_module *module, Dwarf_Die *die, unsigned attribute);

/* "ns::Class::name" of an entry, its own name given or NULL. Interned; NULL: no memory or no name.
 */
const char *loci_die_qualified(struct loci_symbol_module *module, Dwarf_Die *die, const char *name);
/* The entry around an entry. */
bool loci_die_parent(struct loci_symbol_module *module, const Dwarf_Die *die, Dwarf_Die *ret);

#endif
