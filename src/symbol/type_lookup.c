/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/type_lookup.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <dwarf.h>
#include <string.h>

#define TEXT_MAX    256
#define IMPORTS_MAX 64

/* A definition by its name with scopes, interned, so that pointers compare. */
struct loci_type_definition {
	const char *name;
	Dwarf_Die die;
};

static bool is_named_type(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_base_type:
	case DW_TAG_typedef:
		return true;
	}
	return false;
}

static struct loci_type_definition *place(const struct loci_symbol_module *module, const char *name)
{
	size_t mask = module->cap_definitions - 1;
	size_t at = (uintptr_t)name * 0x9e3779b97f4a7c15u >> 20 & mask;

	while (module->definitions[at].name && module->definitions[at].name != name)
		at = (at + 1) & mask;
	return &module->definitions[at];
}

static int grow(struct loci_symbol_module *module)
{
	struct loci_type_definition *old = module->definitions;
	size_t old_cap = module->cap_definitions, cap = old_cap ? old_cap * 2 : 256;
	struct loci_type_definition *table = calloc(cap, sizeof(*table));

	if (!table)
		return -1;
	module->definitions = table;
	module->cap_definitions = cap;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].name)
			*place(module, old[i].name) = old[i];
	free(old);
	return 0;
}

static int define(struct loci_symbol_module *module, const char *name, const Dwarf_Die *die)
{
	struct loci_type_definition *slot;

	if (!name || (module->n_definitions * 2 >= module->cap_definitions && grow(module) < 0))
		return -1;
	slot = place(module, name);
	if (!slot->name) {
		slot->name = name;
		slot->die = *die;
		module->n_definitions++;
	}
	return 0;
}

/* Where one unit's walk is: names of the namespaces around. */
static const char *with_scopes(
	struct loci_symbol_module *module, const char *const *scopes, int depth, const char *name)
{
	const char *scope = depth > 0 ? scopes[depth - 1] : NULL;

	return scope ? loci_pool_format(&module->symbols->pool, "%s::%s", scope, name)
		     : loci_pool_string(&module->symbols->pool, name);
}

static int define_unit(
	struct loci_symbol_module *module, const Dwarf_Die *unit, struct loci_die_walk *walk)
{
	const char *scopes[LOCI_DIE_DEPTH] = { NULL };

	loci_die_walk_init(walk, unit);
	while (loci_die_walk_next(walk)) {
		Dwarf_Die *die = &walk->path[walk->depth];
		int tag = dwarf_tag(die);
		const char *name;

		walk->skip = tag != DW_TAG_namespace && tag != DW_TAG_module;
		scopes[walk->depth] = scopes[walk->depth - 1];
		if (walk->skip &&
			(tag == DW_TAG_base_type || tag == DW_TAG_typedef || !is_named_type(tag)))
			continue;
		name = loci_die_string(die, DW_AT_name);
		if (!name && tag == DW_TAG_namespace)
			name = "(anonymous namespace)";
		if (!name)
			continue;
		name = with_scopes(module, scopes, walk->depth, name);
		if (!walk->skip)
			scopes[walk->depth] = name;
		else if (!loci_die_flag(die, DW_AT_declaration) && define(module, name, die) < 0)
			return -1;
	}
	return 0;
}

static void read_definitions(struct loci_symbol_module *module)
{
	loci_autofree struct loci_die_walk *walk = malloc(sizeof(*walk));

	module->definitions_known = true;
	for (size_t i = 0; walk && i < module->n_units; i++)
		if (define_unit(module, &module->units[i].die, walk) < 0)
			return;
}

void loci_type_definitions_fini(struct loci_symbol_module *module)
{
	free(module->definitions);
	module->definitions = NULL;
	module->n_definitions = module->cap_definitions = 0;
}

void loci_type_complete(struct loci_symbol_module *module, Dwarf_Die *type)
{
	struct loci_type_definition *found;
	const char *name;

	if (!loci_die_flag(type, DW_AT_declaration))
		return;
	name = loci_die_qualified(module, type, NULL);
	if (!module->definitions_known)
		read_definitions(module);
	if (!name || !module->n_definitions)
		return;
	found = place(module, name);
	if (found->name)
		*type = found->die;
}

/* What compilers call the types that C has several words for. */
static const char *canonical(const char *text)
{
	static const char *const synonyms[][2] = {
		{ "unsigned", "unsigned int" },
		{ "long", "long int" },
		{ "unsigned long", "long unsigned int" },
		{ "long unsigned", "long unsigned int" },
		{ "unsigned long int", "long unsigned int" },
		{ "long long", "long long int" },
		{ "unsigned long long", "long long unsigned int" },
		{ "short", "short int" },
		{ "unsigned short", "short unsigned int" },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(synonyms); i++)
		if (!strcmp(text, synonyms[i][0]))
			return synonyms[i][1];
	return text;
}

/* Without "const", "struct" and their like; false: too long. */
static bool plain(const char *text, char ret[TEXT_MAX])
{
	static const char *const words[] = { "const ", "volatile ", "struct ", "class ", "union ",
		"enum ", "typename ", "::" };
	bool again = true;

	while (again) {
		again = false;
		while (isspace((unsigned char)*text))
			text++;
		for (size_t i = 0; i < LOCI_ARRAY_SIZE(words); i++)
			if (!strncmp(text, words[i], strlen(words[i]))) {
				text += strlen(words[i]);
				again = true;
			}
	}
	if (!*text || strlen(text) >= TEXT_MAX)
		return false;
	memcpy(ret, text, strlen(text) + 1);
	return true;
}

static const char *last_part(const char *text)
{
	const char *angle = strchr(text, '<'), *part = text;

	for (const char *at = strstr(text, "::"); at && (!angle || at < angle);
		at = strstr(at + 2, "::"))
		part = at + 2;
	return part;
}

/* As written, or "Node" for "Node<int>" where only one of them can be meant. */
static bool names(const char *name, const char *wanted)
{
	return !strcmp(name, wanted) || !strcmp(name, canonical(wanted));
}

struct search {
	const char *wanted; /* its last part */
	bool pointer;       /* the type whose target has that name */
	Dwarf_Die found;
	bool any, defined;
	int imports;
};

static void consider(struct search *search, Dwarf_Die *die, int tag)
{
	Dwarf_Die named = *die;
	const char *name;

	if (search->pointer) {
		if (tag != DW_TAG_pointer_type || !loci_type_die_of(die, &named))
			return;
	} else if (!is_named_type(tag)) {
		return;
	}
	name = loci_die_string(&named, DW_AT_name);
	if (!name || !names(name, search->wanted) || search->defined)
		return;
	search->found = *die;
	search->any = true;
	search->defined = !loci_die_flag(die, DW_AT_declaration);
}

static void search_unit(struct search *search, const Dwarf_Die *unit)
{
	loci_autofree struct loci_die_walk *walk = malloc(sizeof(*walk));
	Dwarf_Die import;

	if (!walk)
		return;
	loci_die_walk_init(walk, unit);
	while (!search->defined && loci_die_walk_next(walk)) {
		Dwarf_Die *die = &walk->path[walk->depth];
		int tag = dwarf_tag(die);

		consider(search, die, tag);
		walk->skip = tag != DW_TAG_namespace && tag != DW_TAG_module &&
			tag != DW_TAG_structure_type && tag != DW_TAG_class_type;
		if (tag == DW_TAG_imported_unit && search->imports < IMPORTS_MAX &&
			loci_die_ref(die, DW_AT_import, &import)) {
			search->imports++;
			search_unit(search, &import);
		}
	}
}

/* T of template <class T>, of the function or of the class it is a member of. */
static bool template_parameter(
	struct loci_symbol_module *module, Dwarf_Die *scope, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die at = *scope, child, origin;

	for (int level = 0; level < 4; level++) {
		if (dwarf_child(&at, &child) == 0)
			do {
				const char *own;

				if (dwarf_tag(&child) != DW_TAG_template_type_parameter)
					continue;
				own = loci_die_string(&child, DW_AT_name);
				if (own && !strcmp(own, name))
					return loci_type_die_of(&child, ret);
			} while (dwarf_siblingof(&child, &child) == 0);
		if (loci_die_ref(&at, DW_AT_abstract_origin, &origin) ||
			loci_die_ref(&at, DW_AT_specification, &origin))
			at = origin;
		else if (!loci_die_parent(module, &at, &at))
			return false;
	}
	return false;
}

bool loci_type_lookup(struct loci_symbol_module *module, const Dwarf_Die *unit, Dwarf_Die *scope,
	const char *text, Dwarf_Die *ret)
{
	struct search search = { 0 };
	char wanted[TEXT_MAX];
	size_t length;

	if (!plain(text, wanted))
		return false;
	length = strlen(wanted);
	if (wanted[length - 1] == '*') {
		search.pointer = true;
		while (length && (wanted[length - 1] == '*' || wanted[length - 1] == ' '))
			wanted[--length] = '\0';
	}
	search.wanted = last_part(wanted);
	if (!*search.wanted || !strcmp(wanted, "void") || !strcmp(wanted, "auto"))
		return false;
	if (scope && !search.pointer && template_parameter(module, scope, wanted, ret))
		return true;
	search_unit(&search, unit);
	*ret = search.found;
	return search.any;
}
