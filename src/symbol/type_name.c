/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How types are written: "struct node", "const char *", "int (*)(void *)", "ns::Node<int>". */
#include "symbol/type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 16

static const char *text_of(struct loci_symbol_module *module, const Dwarf_Die *type, int depth);

static const char *target_text(struct loci_symbol_module *module, Dwarf_Die *type, int depth)
{
	Dwarf_Die target;

	if (depth >= DEPTH_MAX)
		return "...";
	return loci_die_ref(type, DW_AT_type, &target) ? text_of(module, &target, depth + 1)
						       : "void";
}

/* "char *" and "const" give "char *const"; "int" gives "const int". */
static const char *qualified_text(
	struct loci_symbol_module *module, Dwarf_Die *type, const char *word, int depth)
{
	struct loci_pool *pool = &module->symbols->pool;
	const char *target = target_text(module, type, depth);

	if (!target)
		return NULL;
	if (*target && target[strlen(target) - 1] == '*')
		return loci_pool_format(pool, "%s%s", target, word);
	return loci_pool_format(pool, "%s %s", word, target);
}

static const char *parameters(struct loci_symbol_module *module, Dwarf_Die *function, int depth)
{
	struct loci_pool *pool = &module->symbols->pool;
	const char *text = NULL;
	Dwarf_Die child;

	if (dwarf_child(function, &child) != 0)
		return loci_die_flag(function, DW_AT_prototyped) ? "void" : "";
	for (int n = 0; n < DEPTH_MAX; n++) {
		int tag = dwarf_tag(&child);
		const char *one = tag == DW_TAG_unspecified_parameters ? "..."
			: tag == DW_TAG_formal_parameter ? target_text(module, &child, depth)
							 : NULL;

		if (one)
			text = text ? loci_pool_format(pool, "%s, %s", text, one) : one;
		if (dwarf_siblingof(&child, &child) != 0)
			break;
	}
	return text ? text : "";
}

static const char *function_text(
	struct loci_symbol_module *module, Dwarf_Die *function, const char *middle, int depth)
{
	const char *result, *arguments;

	if (depth >= DEPTH_MAX)
		return "...";
	result = target_text(module, function, depth);
	arguments = parameters(module, function, depth);
	if (!result || !arguments)
		return NULL;
	return loci_pool_format(&module->symbols->pool, "%s %s(%s)", result, middle, arguments);
}

static const char *pointer_text(
	struct loci_symbol_module *module, Dwarf_Die *type, const char *sign, int depth)
{
	struct loci_pool *pool = &module->symbols->pool;
	const char *target, *stars;
	Dwarf_Die to;
	char last;

	if (loci_die_ref(type, DW_AT_type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type) {
		const char *middle = loci_pool_format(pool, "(%s)", sign);

		return middle ? function_text(module, &to, middle, depth + 1) : NULL;
	}
	target = target_text(module, type, depth);
	if (!target)
		return NULL;
	stars = strstr(target, "(*"); /* a function's pointer again: "int (**)(void)" */
	if (stars && strcmp(sign, "*") == 0 && stars[1 + strspn(stars + 1, "*")] == ')')
		return loci_pool_format(
			pool, "%.*s*%s", (int)(stars + 1 - target), target, stars + 1);
	last = *target ? target[strlen(target) - 1] : '\0';
	return loci_pool_format(
		pool, "%s%s%s", target, last == '*' || last == '&' ? "" : " ", sign);
}

static const char *array_text(struct loci_symbol_module *module, Dwarf_Die *type, int depth)
{
	struct loci_pool *pool = &module->symbols->pool;
	Dwarf_Die element;
	uint64_t elements;
	const char *text;

	if (!loci_type_array(module, type, &element, &elements))
		return "array";
	text = depth < DEPTH_MAX ? text_of(module, &element, depth + 1) : "...";
	if (!text)
		return NULL;
	return elements ? loci_pool_format(pool, "%s[%" PRIu64 "]", text, elements)
			: loci_pool_format(pool, "%s[]", text);
}

/* C keeps a word in front of the tags of its types; other languages do not. */
static const char *tagged_text(struct loci_symbol_module *module, Dwarf_Die *type, const char *word)
{
	const char *name = loci_die_qualified(module, type, NULL);

	if (!name)
		return loci_pool_format(&module->symbols->pool, "%s {...}", word);
	if (loci_language_scoped(loci_die_language(module, type)))
		return name;
	return loci_pool_format(&module->symbols->pool, "%s %s", word, name);
}

/* Fortran's own types have their kind in their name, "real(kind=8)", where gfortran named them;
 * flang leaves it to the size, which for complex numbers is that of both parts. */
static const char *base_text(struct loci_symbol_module *module, Dwarf_Die *type)
{
	const char *name = loci_die_qualified(module, type, NULL);
	uint64_t bytes;

	if (!name || strchr(name, '(') || !loci_language_fortran(loci_die_language(module, type)) ||
		!loci_die_number(type, DW_AT_byte_size, &bytes))
		return name ? name : "?";
	return loci_pool_format(&module->symbols->pool, "%s(kind=%" PRIu64 ")", name,
		strcmp(name, "complex") == 0 ? bytes / 2 : bytes);
}

static const char *text_of(struct loci_symbol_module *module, const Dwarf_Die *type, int depth)
{
	Dwarf_Die at = *type, definition;
	const char *name;

	/* What stands for a type in a unit of its own has no name. */
	if (loci_die_ref(&at, DW_AT_signature, &definition))
		at = definition;
	switch (dwarf_tag(&at)) {
	case DW_TAG_const_type:
		return qualified_text(module, &at, "const", depth);
	case DW_TAG_volatile_type:
		return qualified_text(module, &at, "volatile", depth);
	case DW_TAG_atomic_type:
		return qualified_text(module, &at, "_Atomic", depth);
	case DW_TAG_restrict_type:
		return target_text(module, &at, depth);
	case DW_TAG_pointer_type:
		return pointer_text(module, &at, "*", depth);
	case DW_TAG_reference_type:
		return pointer_text(module, &at, "&", depth);
	case DW_TAG_rvalue_reference_type:
		return pointer_text(module, &at, "&&", depth);
	case DW_TAG_ptr_to_member_type:
		return pointer_text(module, &at, "::*", depth);
	case DW_TAG_subroutine_type:
		return function_text(module, &at, "", depth);
	case DW_TAG_array_type:
		return array_text(module, &at, depth);
	case DW_TAG_structure_type:
		return tagged_text(module, &at, "struct");
	case DW_TAG_class_type:
		return tagged_text(module, &at, "class");
	case DW_TAG_union_type:
		return tagged_text(module, &at, "union");
	case DW_TAG_enumeration_type:
		return tagged_text(module, &at, "enum");
	case DW_TAG_string_type:
		return "character";
	case DW_TAG_base_type:
		return base_text(module, &at);
	}
	name = loci_die_qualified(module, &at, NULL);
	return name ? name : "?";
}

const char *loci_type_text(struct loci_symbol_module *module, const Dwarf_Die *type)
{
	return type ? text_of(module, type, 0) : "void";
}
