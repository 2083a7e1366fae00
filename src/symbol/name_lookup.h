/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names of the source mean at a place in the code, and the types of simple expressions. */
#ifndef LOCI_SYMBOL_NAME_LOOKUP_H
#define LOCI_SYMBOL_NAME_LOOKUP_H

#include "symbol/type.h"

/* The type of "x", "x->f[i].g", "*x", "x%f" at a scope of a unit (LOCI_SCOPE_NONE: globals only).
 */
bool loci_name_type(struct loci_symbol_module *module, struct loci_unit *unit, uint32_t scope,
	const char *expression, bool fortran, Dwarf_Die *ret);
/* What a type leads to, if it is a pointer or one of the standard owners and containers: the type
 * of what it points to, holds or owns. */
bool loci_name_target(struct loci_symbol_module *module, const Dwarf_Die *type, Dwarf_Die *ret);

#endif
