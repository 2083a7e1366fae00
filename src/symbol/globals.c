/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Globals and statics: every variable of the debug information that has a fixed address, and
 * objects of the symbol table where that has nothing. Asked for once per module; all units are
 * walked, and nothing of them is kept. */
#include "symbol/location.h"
#include "symbol/variable.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* Above this the insides of functions are left out: their statics are then named by their symbols,
 * and a huge library costs seconds instead of a minute. */
#define UNIT_BYTES_MAX ((uint64_t)512 << 20)

static const char *function_text(struct loci_symbol_module *module, Dwarf_Die *function)
{
	struct loci_symbols *symbols = module->symbols;
	const char *name = loci_demangle(
		&symbols->demangler, &symbols->pool, loci_die_string(function, DW_AT_linkage_name));

	return name ? name : loci_die_qualified(module, function, NULL);
}

/* "name", "ns::name", "name (function)", "name (/block/)" */
static const char *name_of(struct loci_symbol_module *module, const struct loci_die_walk *walk)
{
	struct loci_pool *pool = &module->symbols->pool;
	Dwarf_Die variable = walk->path[walk->depth];
	const char *name = loci_die_string(&variable, DW_AT_name);

	if (!name || !*name)
		return NULL;
	for (int i = walk->depth - 1; i > 0; i--) {
		Dwarf_Die around = walk->path[i];
		int tag = dwarf_tag(&around);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			const char *function = function_text(module, &around);

			return function ? loci_pool_format(pool, "%s (%s)", name, function)
					: loci_pool_string(pool, name);
		}
		if (tag == DW_TAG_common_block) {
			const char *block = loci_die_string(&around, DW_AT_name);

			return loci_pool_format(pool, "%s (/%s/)", name, block ? block : "");
		}
	}
	return loci_die_qualified(module, &variable, name);
}

/* The linker knows the size of what the type leaves open: T a[], and structs whose last member is
 * such an array. Not so of members of a common block, whose symbol is the block's. */
static void size_from_symbol(
	struct loci_symbol_module *module, Dwarf_Die *die, struct loci_variable *variable)
{
	const struct loci_elf_symbol *symbol = loci_elf_object(module, (uint64_t)variable->low);
	uint64_t one = loci_type_bytes(variable->type);

	if (symbol && variable->bytes && symbol->low == (uint64_t)variable->low &&
		symbol->bytes > variable->bytes && loci_die_by_flang(die)) {
		variable->type = NULL;
		variable->shape = NULL;
		variable->elements = 1;
		variable->bytes = symbol->bytes;
	}
	if (symbol && !variable->bytes) {
		variable->elements = one ? symbol->bytes / one : 1;
		variable->bytes = symbol->bytes;
	} else if (symbol && variable->elements == 1 && symbol->bytes > variable->bytes &&
		loci_type_is_open(variable->type)) {
		variable->bytes = symbol->bytes;
	}
	if (!variable->elements)
		variable->elements = 1;
}

static int take(
	struct loci_symbol_module *module, struct loci_die_walk *walk, struct loci_variables *found)
{
	Dwarf_Die *die = &walk->path[walk->depth];
	struct loci_variable variable = { 0 };
	uint64_t address;

	if (!loci_location_address(die, &address))
		return 0;
	address += module->dwarf_bias;
	if (address > INT64_MAX || !loci_module_holds(module, address, false))
		return 0;
	variable.low = (int64_t)address;
	variable.name = name_of(module, walk);
	loci_variable_describe(module, die, &variable);
	size_from_symbol(module, die, &variable);
	if (!variable.name || !variable.bytes || variable.bytes > INT64_MAX - address)
		return 0;
	return loci_variables_add(found, &variable);
}

static int walk_unit(struct loci_symbol_module *module, const Dwarf_Die *unit, bool functions,
	struct loci_die_walk *walk, struct loci_variables *found)
{
	loci_die_walk_init(walk, unit);
	while (loci_die_walk_next(walk)) {
		switch (dwarf_tag(&walk->path[walk->depth])) {
		case DW_TAG_variable:
			walk->skip = true;
			if (take(module, walk, found) < 0)
				return -ENOMEM;
			break;
		case DW_TAG_subprogram:
			walk->skip = !functions;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_common_block:
			break;
		default: /* static members are defined outside of their classes */
			walk->skip = true;
		}
	}
	return 0;
}

static uint64_t debug_bytes(const struct loci_symbol_module *module)
{
	GElf_Ehdr header;
	Elf *elf = module->dwarf ? dwarf_getelf(module->dwarf) : NULL;
	size_t bytes = 0;

	return elf && gelf_getehdr(elf, &header) && elf_rawfile(elf, &bytes) ? bytes : 0;
}

static int by_low(const void *a, const void *b)
{
	const struct loci_variable *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sorts, and drops what begins inside of another. */
static void settle(struct loci_variables *found)
{
	size_t n = 0;

	if (!found->n)
		return;
	qsort(found->items, found->n, sizeof(*found->items), by_low);
	for (size_t i = 0; i < found->n; i++) {
		const struct loci_variable *last = n ? &found->items[n - 1] : NULL;

		if (!last || found->items[i].low >= last->low + (int64_t)last->bytes)
			found->items[n++] = found->items[i];
	}
	found->n = n;
}

static bool has_fortran(struct loci_symbol_module *module)
{
	for (size_t i = 0; i < module->n_units; i++)
		if (loci_language_fortran(loci_die_language(module, &module->units[i].die)))
			return true;
	return false;
}

/* Of a COMMON block flang says nothing: there is its symbol, "shared_", or "__BLNK__" if the block
 * has no name. */
static const char *symbol_text(struct loci_symbol_module *module, const char *symbol, bool fortran)
{
	struct loci_symbols *symbols = module->symbols;
	const char *name = loci_demangle(&symbols->demangler, &symbols->pool, symbol);
	size_t n = strlen(symbol);

	if (name || !fortran || n < 2 || symbol[n - 1] != '_')
		return name ? name : symbol;
	if (!strcmp(symbol, "__BLNK__"))
		return "//";
	return loci_pool_format(&symbols->pool, "/%.*s/", (int)n - 1, symbol);
}

/* Objects that touch no variable so far. Both are ascending. */
static int fill_from_symbols(struct loci_symbol_module *module, struct loci_variables *found)
{
	size_t n = found->n, at = 0;
	bool fortran = has_fortran(module);

	for (size_t i = 0; i < module->n_objects; i++) {
		const struct loci_elf_symbol *symbol = &module->objects[i];
		struct loci_variable variable = {
			.low = (int64_t)symbol->low,
			.bytes = symbol->bytes,
			.elements = 1,
		};

		if (symbol->bytes > INT64_MAX || symbol->low > INT64_MAX - symbol->bytes)
			continue;
		while (at < n &&
			found->items[at].low + (int64_t)found->items[at].bytes <= variable.low)
			at++;
		if ((at < n && found->items[at].low < variable.low + (int64_t)variable.bytes) ||
			!loci_module_holds(module, symbol->low, false))
			continue;
		variable.name = symbol_text(module, symbol->name, fortran);
		if (!variable.name || loci_variables_add(found, &variable) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int collect(struct loci_symbol_module *module, struct loci_variables *found)
{
	loci_autofree struct loci_die_walk *walk = malloc(sizeof(*walk));
	bool functions = debug_bytes(module) <= UNIT_BYTES_MAX;
	int r = 0;

	if (!walk)
		return -ENOMEM;
	for (size_t i = 0; i < module->n_units && r == 0; i++)
		r = walk_unit(module, &module->units[i].die, functions, walk, found);
	if (r == 0) {
		settle(found);
		r = fill_from_symbols(module, found);
	}
	if (r == 0)
		settle(found);
	return r;
}

int loci_symbols_globals(struct loci_symbols *symbols, uint32_t number,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err)
{
	struct loci_symbol_module *module;
	struct loci_variables found = { 0 };
	int r = loci_symbols_opened(symbols, number, &module, err);

	*ret = NULL;
	*ret_n = 0;
	if (r < 0)
		return r;
	if (!module->globals_known) {
		r = collect(module, &found);
		module->globals = r < 0 ? NULL
					: loci_pool_copy(&symbols->pool, found.items,
						  found.n * sizeof(*found.items));
		free(found.items);
		if (!module->globals)
			return loci_err_nomem(err);
		module->n_globals = found.n;
		module->globals_known = true;
	}
	*ret = module->globals;
	*ret_n = module->n_globals;
	return 0;
}
