/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of debug information: which one an address belongs to, and inside of it which function,
 * inlined call or block. Which unit is known from their heads alone (compilers may leave
 * .debug_aranges out); the inside is indexed when an address of a unit is first met. */
#include "symbol/die.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

static int add_unit(struct loci_symbol_module *module, size_t *cap, const Dwarf_Die *skeleton,
	const Dwarf_Die *die)
{
	if (module->n_units == *cap) {
		size_t larger = *cap ? *cap * 2 : 64;
		void *units = realloc(module->units, larger * sizeof(*module->units));

		if (!units)
			return -ENOMEM;
		module->units = units;
		*cap = larger;
	}
	module->units[module->n_units++] = (struct loci_unit){ .skeleton = *skeleton, .die = *die };
	return 0;
}

/* Ranges of what the linker threw away begin at 0 or at the very end. */
static bool is_code(const struct loci_symbol_module *module, uint64_t low, uint64_t high)
{
	return low < high && loci_module_holds(module, low + module->dwarf_bias, true);
}

static int map_ranges(struct loci_symbol_module *module, Dwarf_Die *die, struct loci_intervals *map,
	uint32_t id, uint32_t depth, size_t *ret_n)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	*ret_n = 0;
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (!is_code(module, low, high))
			continue;
		if (loci_intervals_add(map, low, high, id, depth) < 0)
			return -ENOMEM;
		(*ret_n)++;
	}
	return 0;
}

int loci_units_read(struct loci_symbol_module *module, struct loci_err *err)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	size_t cap = 0, ranges;

	if (!module->dwarf)
		return 0;
	while (dwarf_get_units(module->dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (add_unit(module, &cap, &die,
			    type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid
				    ? &split
				    : &die) < 0)
			return loci_err_nomem(err);
	}
	for (size_t i = 0; i < module->n_units && i < UINT32_MAX; i++) {
		struct loci_unit *unit = &module->units[i];

		if (map_ranges(module, &unit->skeleton, &module->unit_map, (uint32_t)i, 0,
			    &ranges) < 0)
			return loci_err_nomem(err);
		unit->ranged = ranges > 0;
	}
	return loci_intervals_flatten(&module->unit_map) < 0 ? loci_err_nomem(err) : 0;
}

void loci_units_fini(struct loci_symbol_module *module)
{
	for (size_t i = 0; i < module->n_units; i++) {
		free(module->units[i].scopes);
		loci_intervals_fini(&module->units[i].code);
	}
	free(module->units);
	module->units = NULL;
	module->n_units = 0;
	loci_intervals_fini(&module->unit_map);
	loci_intervals_fini(&module->stray_map);
}

static bool scope_kind(int tag, enum loci_scope_kind *ret)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
		*ret = LOCI_SCOPE_FUNCTION;
		return true;
	case DW_TAG_inlined_subroutine:
		*ret = LOCI_SCOPE_INLINED;
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		*ret = LOCI_SCOPE_BLOCK;
		return true;
	}
	return false;
}

static int add_scope(struct loci_unit *unit, size_t *cap, const struct loci_scope *scope)
{
	if (unit->n_scopes == *cap) {
		size_t larger = *cap ? *cap * 2 : 32;
		void *scopes = realloc(unit->scopes, larger * sizeof(*unit->scopes));

		if (!scopes)
			return -ENOMEM;
		unit->scopes = scopes;
		*cap = larger;
	}
	unit->scopes[unit->n_scopes++] = *scope;
	return 0;
}

/* A walk over the whole unit. What has no code is no scope, and neither is what lies in it, but for
 * functions nested in it. */
static int index_unit(struct loci_symbol_module *module, struct loci_unit *unit)
{
	loci_autofree struct loci_die_walk *walk = malloc(sizeof(*walk));
	uint32_t open[LOCI_DIE_DEPTH];
	size_t cap = 0, ranges;

	if (!walk)
		return -ENOMEM;
	unit->indexed = true;
	open[0] = LOCI_SCOPE_NONE;
	loci_die_walk_init(walk, &unit->die);
	while (loci_die_walk_next(walk)) {
		struct loci_scope scope = { .die = walk->path[walk->depth],
			.parent = open[walk->depth - 1] };

		open[walk->depth] = scope.parent;
		if (unit->n_scopes >= LOCI_SCOPE_NONE - 1 ||
			!scope_kind(dwarf_tag(&scope.die), &scope.kind) ||
			(scope.parent == LOCI_SCOPE_NONE && scope.kind != LOCI_SCOPE_FUNCTION))
			continue;
		if (map_ranges(module, &scope.die, &unit->code, (uint32_t)unit->n_scopes,
			    (uint32_t)walk->depth, &ranges) < 0)
			return -ENOMEM;
		if (!ranges) {
			/* An abstract function: its inlined calls stand elsewhere. */
			if (scope.kind == LOCI_SCOPE_FUNCTION)
				open[walk->depth] = LOCI_SCOPE_NONE;
			continue;
		}
		open[walk->depth] = (uint32_t)unit->n_scopes;
		if (add_scope(unit, &cap, &scope) < 0)
			return -ENOMEM;
	}
	return loci_intervals_flatten(&unit->code);
}

/* Units that do not say where their code lies are rare; they are all looked into when an address
 * belongs to no other. */
static int map_strays(struct loci_symbol_module *module)
{
	module->strays_known = true;
	for (size_t i = 0; i < module->n_units && i < UINT32_MAX; i++) {
		struct loci_unit *unit = &module->units[i];

		if (unit->ranged)
			continue;
		if (!unit->indexed && index_unit(module, unit) < 0)
			return -ENOMEM;
		for (size_t k = 0; k < unit->code.n; k++)
			if (loci_intervals_add(&module->stray_map, unit->code.items[k].low,
				    unit->code.items[k].high, (uint32_t)i, 0) < 0)
				return -ENOMEM;
	}
	return loci_intervals_flatten(&module->stray_map);
}

int loci_unit_find(struct loci_symbol_module *module, uint64_t pc, struct loci_unit **ret,
	struct loci_err *err)
{
	const struct loci_interval *found = loci_intervals_find(&module->unit_map, pc);

	*ret = NULL;
	if (!found) {
		if (!module->strays_known && map_strays(module) < 0)
			return loci_err_nomem(err);
		found = loci_intervals_find(&module->stray_map, pc);
	}
	if (!found)
		return 0;
	*ret = &module->units[found->id];
	if (!(*ret)->indexed && index_unit(module, *ret) < 0)
		return loci_err_nomem(err);
	return 0;
}
