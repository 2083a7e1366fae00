/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables and parameters that lie in a function's frame. Made once per function, for all its
 * blocks and inlined calls, with the code in which each of them is alive. */
#include "symbol/frame_base.h"
#include "symbol/variable.h"

#include "base/cleanup.h"
#include "collect/runtime/cc_abi.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

/* A block in more pieces than this counts as one, from its first to its last address. */
#define PIECES_MAX 64
#define LOCALS_MAX 65536

struct pieces {
	struct {
		uint64_t low, high;
	} items[PIECES_MAX];
	size_t n;
	uint64_t low, high; /* all of them */
};

struct collecting {
	struct loci_symbol_module *module;
	struct loci_frame_base frame;
	struct loci_variables found;
};

static void read_pieces(Dwarf_Die *scope, struct pieces *ret)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	ret->n = 0;
	ret->low = UINT64_MAX;
	ret->high = 0;
	while ((at = dwarf_ranges(scope, at, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		if (ret->n < PIECES_MAX) {
			ret->items[ret->n].low = low;
			ret->items[ret->n].high = high;
		}
		ret->n++;
		ret->low = low < ret->low ? low : ret->low;
		ret->high = high > ret->high ? high : ret->high;
	}
}

static int add_at(struct collecting *to, struct loci_variable *variable,
	const struct loci_location_frame *location, uint64_t low, uint64_t high, bool everywhere)
{
	if (!loci_frame_base_resolve(&to->frame, location, low, high, &variable->low))
		return 0;
	variable->pc_low = everywhere ? 0 : low + to->module->dwarf_bias;
	variable->pc_high = everywhere ? 0 : high + to->module->dwarf_bias;
	return to->found.n < LOCALS_MAX ? loci_variables_add(&to->found, variable) : 0;
}

/* One place for as long as the scope lasts. */
static int add_throughout(struct collecting *to, struct loci_variable *variable,
	const struct loci_location_frame *location, const struct pieces *pieces, bool function)
{
	int r = 0;

	if (function || pieces->n > PIECES_MAX)
		return add_at(to, variable, location, pieces->low, pieces->high, function);
	for (size_t i = 0; i < pieces->n && r == 0; i++)
		r = add_at(
			to, variable, location, pieces->items[i].low, pieces->items[i].high, false);
	return r;
}

/* Where a location holds. */
struct validity {
	uint64_t low, high;
	bool always; /* as long as the scope lasts */
	const struct pieces *scope;
	bool function; /* the scope is the function */
};

static int add(struct collecting *to, struct loci_variable *variable,
	const struct loci_location_frame *location, const struct validity *where)
{
	if (where->always)
		return add_throughout(to, variable, location, where->scope, where->function);
	return where->low < where->high
		? add_at(to, variable, location, where->low, where->high, false)
		: 0;
}

/* A variable that the compiler parted, some of it in memory. */
static int add_pieces(struct collecting *to, const struct loci_variable *whole, const Dwarf_Op *ops,
	size_t n, const struct validity *where)
{
	struct loci_location_frame location;
	uint64_t bytes, done = 0;
	size_t pos = 0;
	int in_memory, r = 0;

	while (r == 0 && (in_memory = loci_location_piece(ops, n, &pos, &location, &bytes)) >= 0) {
		struct loci_variable piece = *whole;

		if (bytes > whole->bytes - done)
			break;
		done += bytes;
		piece.bytes = bytes;
		if (whole->elements == 1 && bytes < whole->bytes)
			piece.type = NULL; /* its members are not where they are in the whole */
		if (in_memory && bytes)
			r = add(to, &piece, &location, where);
	}
	return r;
}

static int take(struct collecting *to, Dwarf_Die *die, const struct pieces *pieces, bool function)
{
	struct loci_variable variable = { 0 };
	struct loci_location_frame location;
	Dwarf_Addr base, low, high;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t n;
	int r = 0;

	if (!dwarf_attr(die, DW_AT_location, &attr))
		return 0;
	variable.name =
		loci_pool_string(&to->module->symbols->pool, loci_die_string(die, DW_AT_name));
	loci_variable_describe(to->module, die, &variable);
	if (!variable.name || !variable.bytes || variable.bytes > INT64_MAX ||
		!strcmp(variable.name, LOCI_CC_BUDGET))
		return 0;
	while (r == 0 && (at = dwarf_getlocations(&attr, at, &base, &low, &high, &ops, &n)) > 0) {
		struct validity where = { low, high, low == 0 && high == (Dwarf_Addr)-1, pieces,
			function };

		if (loci_location_frame(ops, n, &location))
			r = add(to, &variable, &location, &where);
		else
			r = add_pieces(to, &variable, ops, n, &where);
	}
	return r;
}

static int take_scope(struct collecting *to, struct loci_scope *scope)
{
	struct pieces pieces;
	Dwarf_Die child;
	int r = 0;

	if (dwarf_child(&scope->die, &child) != 0)
		return 0;
	read_pieces(&scope->die, &pieces);
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			r = take(to, &child, &pieces, scope->kind == LOCI_SCOPE_FUNCTION);
	} while (r == 0 && dwarf_siblingof(&child, &child) == 0);
	return r;
}

static int by_low(const void *a, const void *b)
{
	const struct loci_variable *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->pc_low != y->pc_low)
		return x->pc_low < y->pc_low ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static uint32_t function_of(const struct loci_unit *unit, uint32_t scope)
{
	while (scope != LOCI_SCOPE_NONE && unit->scopes[scope].kind != LOCI_SCOPE_FUNCTION)
		scope = unit->scopes[scope].parent;
	return scope;
}

/* What lies in a function follows it, up to the first scope of another; functions nested in it have
 * frames of their own. */
static int collect(struct collecting *to, struct loci_unit *unit, uint32_t function)
{
	int r = loci_frame_base_init(&to->frame, to->module, &unit->scopes[function].die);

	for (size_t i = function; r == 0 && i < unit->n_scopes; i++) {
		struct loci_scope *scope = &unit->scopes[i];

		if (i > function && (scope->parent == LOCI_SCOPE_NONE || scope->parent < function))
			break;
		if (function_of(unit, (uint32_t)i) == function)
			r = take_scope(to, scope);
	}
	loci_frame_base_fini(&to->frame);
	if (r == 0 && to->found.n)
		qsort(to->found.items, to->found.n, sizeof(*to->found.items), by_low);
	return r;
}

int loci_symbols_locals(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err)
{
	struct collecting to = { 0 };
	const struct loci_interval *code;
	struct loci_scope *function;
	struct loci_unit *unit;
	uint32_t at;
	int r = loci_symbols_opened(symbols, number, &to.module, err);

	*ret = NULL;
	*ret_n = 0;
	if (r < 0)
		return r;
	r = loci_unit_find(to.module, address - to.module->dwarf_bias, &unit, err);
	if (r < 0 || !unit)
		return r;
	code = loci_intervals_find(&unit->code, address - to.module->dwarf_bias);
	at = code ? function_of(unit, code->id) : LOCI_SCOPE_NONE;
	if (at == LOCI_SCOPE_NONE)
		return 0;
	function = &unit->scopes[at];
	if (!function->locals) {
		r = collect(&to, unit, at);
		function->locals = r < 0 ? NULL
					 : loci_pool_copy(&symbols->pool, to.found.items,
						   to.found.n * sizeof(*to.found.items));
		free(to.found.items);
		if (!function->locals)
			return loci_err_nomem(err);
		function->n_locals = to.found.n;
	}
	*ret = function->locals;
	*ret_n = function->n_locals;
	return 0;
}
