/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types by what the source calls them, and the definitions of those that a unit only declares. */
#ifndef LOCI_SYMBOL_TYPE_LOOKUP_H
#define LOCI_SYMBOL_TYPE_LOOKUP_H

#include "symbol/type.h"

/* "struct node", "unsigned long", "ns::Node", "char*"; scope: the function it is said in, whose
 * template parameters count; may be NULL. */
bool loci_type_lookup(struct loci_symbol_module *module, const Dwarf_Die *unit, Dwarf_Die *scope,
	const char *text, Dwarf_Die *ret);
/* The definition of a type that may be declared only; itself where there is none other. */
void loci_type_complete(struct loci_symbol_module *module, Dwarf_Die *type);
void loci_type_definitions_fini(struct loci_symbol_module *module);

#endif
