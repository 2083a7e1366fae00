/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/variable.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

int loci_variables_add(struct loci_variables *variables, const struct loci_variable *variable)
{
	if (variables->n == variables->cap) {
		size_t cap = variables->cap ? variables->cap * 2 : 64;
		void *items = realloc(variables->items, cap * sizeof(*variables->items));

		if (!items)
			return -ENOMEM;
		variables->items = items;
		variables->cap = cap;
	}
	variables->items[variables->n++] = *variable;
	return 0;
}

void loci_variable_describe(
	struct loci_symbol_module *module, Dwarf_Die *die, struct loci_variable *ret)
{
	Dwarf_Die type, element;
	uint64_t line;

	ret->elements = 1;
	if (loci_type_die_of(die, &type)) {
		ret->bytes = loci_type_size(module, &type);
		if (loci_type_descriptor_bytes(&type))
			ret->type = NULL; /* its elements lie elsewhere */
		else if (loci_type_array(module, &type, &element, &ret->elements)) {
			ret->type = loci_type_intern(module, &element);
			ret->inner = loci_type_inner(module, &type);
			ret->shape = loci_type_shape(module, &type);
		} else
			ret->type = loci_type_intern(module, &type);
	}
	ret->whole_bytes = ret->bytes;
	ret->file = loci_die_file(module, die, DW_AT_decl_file);
	if (loci_die_number(die, DW_AT_decl_line, &line) && line <= UINT32_MAX)
		ret->line = (unsigned)line;
}
