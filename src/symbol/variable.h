/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What globals and locals have in common. */
#ifndef LOCI_SYMBOL_VARIABLE_H
#define LOCI_SYMBOL_VARIABLE_H

#include "symbol/type.h"

struct loci_variables {
	struct loci_variable *items;
	size_t n, cap;
};

/* 0 or -ENOMEM. */
int loci_variables_add(struct loci_variables *variables, const struct loci_variable *variable);
/* Fills type, elements and bytes (0: not known), file and line. */
void loci_variable_describe(
	struct loci_symbol_module *module, Dwarf_Die *die, struct loci_variable *ret);

#endif
