/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the result of a call goes to: the line table says where the call stands, the source text
 * what stands on the left of it, the debug information what that is. Where the call was inlined,
 * from the innermost level outwards until one gives a name and a type: so an inlined wrapper, whose
 * own variable says nothing, gives way to the one its result is assigned to. */
#include "symbol/assigned_text.h"
#include "symbol/name_lookup.h"
#include "symbol/statement.h"
#include "symbol/type_lookup.h"

#include <dwarf.h>
#include <string.h>

struct level {
	struct loci_symbol_module *module;
	struct loci_unit *unit;
	uint32_t scope;
	struct loci_frame_name place;
};

/* The function or inlined call that a scope is part of. */
static uint32_t owner_of(const struct loci_unit *unit, uint32_t scope)
{
	while (scope != LOCI_SCOPE_NONE && unit->scopes[scope].kind == LOCI_SCOPE_BLOCK)
		scope = unit->scopes[scope].parent;
	return scope;
}

/* What may be integers, or anything else: see loci_die_by_flang(). */
static bool is_stand_in(const struct loci_type *type)
{
	return !strcmp(loci_type_name(type), "integer(kind=4)") && loci_die_by_flang(&type->die);
}

static const struct loci_type *type_of(
	const struct level *at, const struct loci_assigned_text *text, bool fortran)
{
	uint32_t owner = owner_of(at->unit, at->scope);
	Dwarf_Die *function = owner == LOCI_SCOPE_NONE ? NULL : &at->unit->scopes[owner].die;
	Dwarf_Die type, target;

	if (*text->target &&
		loci_name_type(at->module, at->unit, at->scope, text->target, fortran, &type) &&
		loci_name_target(at->module, &type, &target)) {
		const struct loci_type *known = loci_type_intern(at->module, &target);

		if (known)
			return is_stand_in(known) ? NULL : known;
	}
	if (*text->type &&
		loci_type_lookup(at->module, &at->unit->die, function, text->type, &type))
		return loci_type_intern(at->module, &type);
	return NULL;
}

/* Fortran: an assignment to a variable that lies where it is allocates no more than a temporary. */
static bool cannot_be(const struct level *at, const struct loci_assigned_text *text)
{
	Dwarf_Die type, array;

	return text->perhaps &&
		loci_name_type(at->module, at->unit, at->scope, text->target, true, &type) &&
		loci_type_peel(&type, &array) && dwarf_tag(&array) == DW_TAG_array_type &&
		!loci_type_descriptor_bytes(&array);
}

static int read_level(const struct level *at, const char **name, const struct loci_type **type,
	struct loci_err *err)
{
	struct loci_symbols *symbols = at->module->symbols;
	struct loci_assigned_text text;
	struct loci_statement statement;
	bool fortran = loci_language_fortran(loci_die_language(at->module, &at->unit->die));

	*name = NULL;
	*type = NULL;
	if (!at->place.file || !at->place.line ||
		!loci_statement_read(&symbols->sources, at->place.file, at->place.line,
			at->place.column, fortran, &statement))
		return 0;
	if (loci_assigned_read(statement.text, statement.length, statement.place, fortran, &text)) {
		if (cannot_be(at, &text))
			return 0;
		*name = loci_pool_string(&symbols->pool, text.target);
		if (!*name)
			return loci_err_nomem(err);
	}
	*type = type_of(at, &text, fortran);
	return 0;
}

/* Outwards to where the inlined call stands; false: this is the function itself. */
static bool outwards(struct level *at)
{
	uint32_t owner = owner_of(at->unit, at->scope);
	const struct loci_scope_name *name;

	if (owner == LOCI_SCOPE_NONE || at->unit->scopes[owner].kind != LOCI_SCOPE_INLINED)
		return false;
	name = loci_scope_named(at->module, &at->unit->scopes[owner]);
	if (!name)
		return false;
	at->place = (struct loci_frame_name){
		.file = name->call_file, .line = name->call_line, .column = name->call_column
	};
	at->scope = at->unit->scopes[owner].parent;
	return true;
}

/* The names in there are not the user's. */
static bool is_library_header(const char *file)
{
	return file && (strstr(file, "/include/c++/") || strstr(file, "/include/x86_64"));
}

int loci_symbols_assigned(struct loci_symbols *symbols, uint32_t number, uint64_t return_address,
	const char **ret_name, const struct loci_type **ret_type, struct loci_err *err)
{
	const struct loci_interval *code;
	const char *name;
	const struct loci_type *type;
	struct level at = { 0 };
	uint64_t pc;
	int r = loci_symbols_opened(symbols, number, &at.module, err);

	*ret_name = NULL;
	*ret_type = NULL;
	if (r < 0)
		return r;
	/* The call itself lies before the address it returns to. */
	pc = return_address - 1 - at.module->dwarf_bias;
	r = loci_unit_find(at.module, pc, &at.unit, err);
	if (r < 0 || !at.unit)
		return r;
	code = loci_intervals_find(&at.unit->code, pc);
	at.scope = code ? code->id : LOCI_SCOPE_NONE;
	loci_unit_line(at.module, at.unit, pc, &at.place);
	do {
		r = read_level(&at, &name, &type, err);
		if (r < 0)
			return r;
		if (is_library_header(at.place.file))
			name = NULL;
		/* The innermost type is that of what is allocated, the first name the user's. */
		if (!*ret_type)
			*ret_type = type;
		if (name && (!*ret_name || type))
			*ret_name = name;
	} while (!(*ret_name && type) && outwards(&at));
	return 0;
}
