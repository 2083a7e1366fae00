/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/name_lookup.h"
#include "symbol/source_token.h"
#include "symbol/type_lookup.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH_MAX 8

static bool called(Dwarf_Die *die, const char *name)
{
	const char *own = loci_die_string(die, DW_AT_name);

	return own && !strcmp(own, name);
}

static bool is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool child_called(Dwarf_Die *parent, const char *name, Dwarf_Die *ret)
{
	if (dwarf_child(parent, ret) != 0)
		return false;
	do
		if (is_variable(ret) && called(ret, name))
			return true;
	while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* Anywhere in a function, or among a unit's globals; whole says how deep to look. */
static bool inside_called(const Dwarf_Die *root, const char *name, bool whole, Dwarf_Die *ret)
{
	loci_autofree struct loci_die_walk *walk = malloc(sizeof(*walk));

	if (!walk)
		return false;
	loci_die_walk_init(walk, root);
	while (loci_die_walk_next(walk)) {
		Dwarf_Die *die = &walk->path[walk->depth];
		int tag = dwarf_tag(die);

		if (is_variable(die) && called(die, name)) {
			*ret = *die;
			return true;
		}
		walk->skip = tag != DW_TAG_namespace && tag != DW_TAG_module &&
			!(whole && tag == DW_TAG_lexical_block);
	}
	return false;
}

/* A member, also one of a nameless or of a base. */
static bool member_called(struct loci_symbol_module *module, const Dwarf_Die *record,
	const char *name, int depth, Dwarf_Die *ret)
{
	Dwarf_Die at, child, type;

	if (depth > DEPTH_MAX || !loci_type_peel(record, &at))
		return false;
	loci_type_complete(module, &at);
	if (dwarf_child(&at, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance && tag != DW_TAG_variable)
			continue;
		if (tag != DW_TAG_inheritance && called(&child, name))
			return loci_type_die_of(&child, ret);
		if ((tag == DW_TAG_inheritance || !loci_die_string(&child, DW_AT_name)) &&
			loci_type_die_of(&child, &type) &&
			member_called(module, &type, name, depth + 1, ret))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool pointed_to(const Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die at;
	int tag;

	if (!loci_type_peel(type, &at))
		return false;
	tag = dwarf_tag(&at);
	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
		       tag == DW_TAG_rvalue_reference_type) &&
		loci_type_die_of(&at, ret);
}

/* Classes that own or hold what their first template parameter says. */
static bool held(struct loci_symbol_module *module, const Dwarf_Die *type, Dwarf_Die *ret)
{
	static const char *const classes[] = { "vector<", "unique_ptr<", "shared_ptr<", "weak_ptr<",
		"basic_string<", "valarray<", "deque<", "array<", "__normal_iterator<",
		"allocator<", "__new_allocator<", "new_allocator<" };
	Dwarf_Die at, child;
	const char *name;

	if (!loci_type_peel(type, &at))
		return false;
	loci_type_complete(module, &at);
	name = loci_die_string(&at, DW_AT_name);
	for (size_t i = 0; name && i < LOCI_ARRAY_SIZE(classes); i++) {
		if (strncmp(name, classes[i], strlen(classes[i])) != 0 ||
			dwarf_child(&at, &child) != 0)
			continue;
		do
			if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
				return loci_type_die_of(&child, ret);
		while (dwarf_siblingof(&child, &child) == 0);
	}
	return false;
}

bool loci_name_target(struct loci_symbol_module *module, const Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die element;
	uint64_t elements;

	if (!pointed_to(type, ret) && !held(module, type, ret) &&
		!loci_type_array(module, type, ret, &elements))
		return false;
	if (loci_type_array(module, ret, &element, &elements))
		*ret = element; /* T[] of an owner, a Fortran pointer's array */
	return true;
}

/* Members of the object whose method this is. */
static bool own_member(
	struct loci_symbol_module *module, Dwarf_Die *function, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die self, type, record;

	return child_called(function, "this", &self) && loci_type_die_of(&self, &type) &&
		pointed_to(&type, &record) && member_called(module, &record, name, 0, ret);
}

static bool variable_type(struct loci_symbol_module *module, struct loci_unit *unit, uint32_t scope,
	const char *name, Dwarf_Die *ret)
{
	Dwarf_Die found, origin;

	for (; scope != LOCI_SCOPE_NONE; scope = unit->scopes[scope].parent) {
		Dwarf_Die *die = &unit->scopes[scope].die;

		if (child_called(die, name, &found))
			return loci_type_die_of(&found, ret);
		if (unit->scopes[scope].kind == LOCI_SCOPE_BLOCK)
			continue;
		/* Optimisers leave variables out of what they inline; its origin has them all. */
		if ((loci_die_ref(die, DW_AT_abstract_origin, &origin) &&
			    inside_called(&origin, name, true, &found)) ||
			inside_called(die, name, true, &found))
			return loci_type_die_of(&found, ret);
		if (own_member(module, die, name, ret))
			return true;
		if (unit->scopes[scope].kind == LOCI_SCOPE_INLINED)
			break;
		/* A function nested in another sees its variables: go on. */
	}
	return inside_called(&unit->die, name, false, &found) && loci_type_die_of(&found, ret);
}

static bool name_of(const struct loci_token *token, char ret[256])
{
	if (token->kind != LOCI_TOKEN_WORD || token->length >= 256)
		return false;
	memcpy(ret, token->text, token->length);
	ret[token->length] = '\0';
	return true;
}

/* Applies ->f, .f, %f and [..] from token i on. */
static bool follow(struct loci_symbol_module *module, const struct loci_token *tokens, size_t n,
	size_t i, Dwarf_Die *type)
{
	Dwarf_Die next;
	char name[256];

	while (i < n) {
		uint64_t elements;

		if (loci_token_is(&tokens[i], "[") || loci_token_is(&tokens[i], "(")) {
			i = loci_tokens_closing(tokens, n, i);
			if (loci_type_array(module, type, &next, &elements) ||
				pointed_to(type, &next) || held(module, type, &next))
				*type = next;
			else
				return false;
			i++;
			/* The further dimensions of an array went with the first. */
			while (i < n && loci_token_is(&tokens[i], "[") && !pointed_to(type, &next))
				i = loci_tokens_closing(tokens, n, i) + 1;
			continue;
		}
		if (loci_token_is(&tokens[i], "->")) {
			if (!pointed_to(type, &next) && !held(module, type, &next))
				return false;
			*type = next;
		} else if (loci_token_is(&tokens[i], "%") || loci_token_is(&tokens[i], ".")) {
			if (pointed_to(type, &next)) /* references, Fortran's pointers */
				*type = next;
		} else {
			return false;
		}
		if (i + 1 >= n || !name_of(&tokens[i + 1], name) ||
			!member_called(module, type, name, 0, &next))
			return false;
		*type = next;
		i += 2;
	}
	return true;
}

bool loci_name_type(struct loci_symbol_module *module, struct loci_unit *unit, uint32_t scope,
	const char *expression, bool fortran, Dwarf_Die *ret)
{
	struct loci_token tokens[LOCI_TOKENS_MAX];
	size_t n = loci_tokens_split(expression, strlen(expression), fortran, tokens);
	size_t i = 0, stars = 0;
	Dwarf_Die next, self;
	char name[256];

	for (; i < n && loci_token_is(&tokens[i], "*"); i++)
		stars++;
	if (n - i >= 3 && loci_token_is(&tokens[i], "(") && loci_token_is(&tokens[i + 1], "*")) {
		/* (*p)->f, (*p).f */
		size_t close = loci_tokens_closing(tokens, n, i);

		if (close != i + 3 || !name_of(&tokens[i + 2], name) ||
			!variable_type(module, unit, scope, name, &self) || !pointed_to(&self, ret))
			return false;
		i = close + 1;
	} else {
		while (n - i >= 3 && loci_token_is(&tokens[i + 1], "::"))
			i += 2;
		if (i >= n || !name_of(&tokens[i], name) ||
			!variable_type(module, unit, scope, name, ret))
			return false;
		i++;
	}
	if (!follow(module, tokens, n, i, ret))
		return false;
	for (; stars; stars--) {
		if (!pointed_to(ret, &next))
			return false;
		*ret = next;
	}
	return true;
}
