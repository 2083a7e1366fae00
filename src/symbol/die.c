/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/die.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <string.h>

void loci_die_walk_init(struct loci_die_walk *walk, const Dwarf_Die *root)
{
	walk->path[0] = *root;
	walk->depth = 0;
	walk->skip = false;
	walk->begun = false;
}

static bool descend(struct loci_die_walk *walk)
{
	Dwarf_Die *present = &walk->path[walk->depth];

	if (walk->depth + 1 >= LOCI_DIE_DEPTH || dwarf_child(present, &present[1]) != 0 ||
		present[1].addr <= present->addr)
		return false;
	walk->depth++;
	return true;
}

/* libdw knows where the last of a list ends, which is where the entry after its parent begins:
 * no need to look for it from the parent again. A list ends with a zero byte. */
static bool follow(Dwarf_Die *die, Dwarf_Die *next, bool *ret_known)
{
	const void *after = next->addr;

	*ret_known = after && after > die->addr;
	if (!*ret_known || !*(const unsigned char *)after)
		return false;
	*next = (Dwarf_Die){ .addr = (void *)after, .cu = die->cu };
	return dwarf_tag(next) != DW_TAG_invalid;
}

bool loci_die_walk_next(struct loci_die_walk *walk)
{
	bool skip = walk->skip;

	walk->skip = false;
	if (!walk->begun) {
		walk->begun = true;
		return descend(walk);
	}
	if (!skip && descend(walk))
		return true;
	while (walk->depth > 0) {
		Dwarf_Die *present = &walk->path[walk->depth], next = { 0 };
		int r = dwarf_siblingof(present, &next);

		/* A torn file may lead backwards, and so round and round. */
		if (r == 0 && next.addr > present->addr) {
			*present = next;
			return true;
		}
		walk->depth--;
		if (r == 1 && walk->depth > 0) {
			bool known;

			if (follow(&walk->path[walk->depth], &next, &known)) {
				walk->path[walk->depth] = next;
				return true;
			}
			if (!known)
				return false;
		} else if (r != 1) {
			return false;
		}
	}
	return false;
}

bool loci_die_number(Dwarf_Die *die, unsigned attribute, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, attribute, &attr) || dwarf_formudata(&attr, &value) != 0)
		return false;
	*ret = value;
	return true;
}

bool loci_die_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;
	bool value = false;

	return dwarf_attr(die, attribute, &attr) && dwarf_formflag(&attr, &value) == 0 && value;
}

const char *loci_die_string(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, attribute, &attr) ? dwarf_formstring(&attr) : NULL;
}

bool loci_die_ref(Dwarf_Die *die, unsigned attribute, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, attribute, &attr) && dwarf_formref_die(&attr, ret);
}

static int language_of(const Dwarf_Die *die)
{
	Dwarf_Die copy = *die, unit;
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_diecu(&copy, &unit, NULL, NULL) ||
		!dwarf_attr_integrate(&unit, DW_AT_language, &attr) ||
		dwarf_formudata(&attr, &value) != 0)
		return 0;
	return (int)value;
}

int loci_die_language(const struct loci_symbol_module *module, const Dwarf_Die *die)
{
	int language = language_of(die);

	return language || !module->n_units ? language : language_of(&module->units[0].die);
}

bool loci_language_fortran(int language)
{
	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
		language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
		language == DW_LANG_Fortran08;
}

bool loci_die_by_flang(const Dwarf_Die *die)
{
	Dwarf_Die copy = *die, unit;
	const char *producer = dwarf_diecu(&copy, &unit, NULL, NULL)
		? loci_die_string(&unit, DW_AT_producer)
		: NULL;

	return producer && strstr(producer, "flang");
}

bool loci_language_scoped(int language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Go: /* its names have their packages in them */
	case DW_LANG_Mips_Assembler:
		return false;
	}
	return true;
}

const char *loci_die_file(struct loci_symbol_module *module, Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;
	Dwarf_Die unit;

	/* The number counts in the unit where the attribute stands, which an origin may be of. */
	if (!dwarf_attr_integrate(die, attribute, &attr) || dwarf_formudata(&attr, &number) != 0 ||
		!dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	return loci_unit_file(module, &unit, number);
}

static bool is_container(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_common_block:
		return true;
	}
	return false;
}

/* All containers of a unit in the order they stand in, which is that of a walk: the parents of an
 * entry are found by its address, from the last one that begins before it upwards. */
static int collect(struct loci_containers *containers, const Dwarf_Die *unit)
{
	loci_autofree struct loci_die_walk *walk = malloc(sizeof(*walk));
	uint32_t open[LOCI_DIE_DEPTH];
	int depths[LOCI_DIE_DEPTH], n_open = 0;
	size_t cap = 0;

	if (!walk)
		return -1;
	loci_die_walk_init(walk, unit);
	while (loci_die_walk_next(walk)) {
		Dwarf_Die *die = &walk->path[walk->depth];

		while (n_open && depths[n_open - 1] >= walk->depth)
			containers->items[open[--n_open]].end = die->addr;
		if (!is_container(dwarf_tag(die)) || dwarf_haschildren(die) != 1)
			continue;
		if (containers->n == cap) {
			void *items;

			cap = cap ? cap * 2 : 32;
			items = realloc(containers->items, cap * sizeof(*containers->items));
			if (!items)
				return -1;
			containers->items = items;
		}
		containers->items[containers->n] = (struct loci_container){ .die = *die,
			.parent = n_open ? open[n_open - 1] : LOCI_SCOPE_NONE };
		depths[n_open] = walk->depth;
		open[n_open++] = (uint32_t)containers->n++;
	}
	return 0;
}

static struct loci_containers *slot_of(struct loci_symbol_module *module, const void *unit)
{
	size_t at =
		((uintptr_t)unit >> 4) * 0x9e3779b97f4a7c15u >> 20 & (module->cap_containers - 1);

	while (module->containers[at].unit && module->containers[at].unit != unit)
		at = (at + 1) & (module->cap_containers - 1);
	return &module->containers[at];
}

static int grow_table(struct loci_symbol_module *module)
{
	struct loci_containers *old = module->containers;
	size_t old_cap = module->cap_containers, cap = old_cap ? old_cap * 2 : 64;
	struct loci_containers *table = calloc(cap, sizeof(*table));

	if (!table)
		return -1;
	module->containers = table;
	module->cap_containers = cap;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].unit)
			*slot_of(module, old[i].unit) = old[i];
	free(old);
	return 0;
}

static const struct loci_containers *containers_of(
	struct loci_symbol_module *module, const Dwarf_Die *die)
{
	struct loci_containers *slot;
	Dwarf_Die copy = *die, unit;

	if (module->n_containers * 2 >= module->cap_containers && grow_table(module) < 0)
		return NULL;
	slot = slot_of(module, die->cu);
	if (!slot->unit) {
		if (!dwarf_diecu(&copy, &unit, NULL, NULL) || collect(slot, &unit) < 0) {
			free(slot->items);
			memset(slot, 0, sizeof(*slot));
			return NULL;
		}
		slot->unit = die->cu;
		module->n_containers++;
	}
	return slot;
}

static uint32_t around(const struct loci_containers *containers, const void *addr)
{
	size_t low = 0, high = containers->n;
	uint32_t at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((const char *)containers->items[middle].die.addr < (const char *)addr)
			low = middle + 1;
		else
			high = middle;
	}
	at = low ? (uint32_t)(low - 1) : LOCI_SCOPE_NONE;
	while (at != LOCI_SCOPE_NONE && containers->items[at].end &&
		(const char *)containers->items[at].end <= (const char *)addr)
		at = containers->items[at].parent;
	return at;
}

bool loci_die_parent(struct loci_symbol_module *module, const Dwarf_Die *die, Dwarf_Die *ret)
{
	const struct loci_containers *containers = containers_of(module, die);
	uint32_t at = containers ? around(containers, die->addr) : LOCI_SCOPE_NONE;

	if (at == LOCI_SCOPE_NONE)
		return false;
	*ret = containers->items[at].die;
	return true;
}

/* Where an entry was declared: a definition outside of its class names it by reference. */
static Dwarf_Die declared(const Dwarf_Die *die)
{
	static const unsigned links[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Die at = *die, next;

	for (int steps = 0; steps < 8; steps++) {
		bool moved = false;

		for (size_t i = 0; i < LOCI_ARRAY_SIZE(links) && !moved; i++) {
			Dwarf_Attribute attr;

			moved = dwarf_attr(&at, links[i], &attr) && dwarf_formref_die(&attr, &next);
		}
		if (!moved)
			break;
		at = next;
	}
	return at;
}

static const char *scope_text(Dwarf_Die *die)
{
	const char *name = loci_die_string(die, DW_AT_name);

	if (name)
		return name;
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		return "(anonymous namespace)";
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return "{unnamed}"; /* of a lambda, mostly */
	}
	return NULL;
}

const char *loci_die_qualified(struct loci_symbol_module *module, Dwarf_Die *die, const char *name)
{
	struct loci_pool *pool = &module->symbols->pool;
	Dwarf_Die at = declared(die), parent;
	bool function = dwarf_tag(&at) == DW_TAG_subprogram;
	const char *text;

	text = loci_pool_string(pool, name ? name : loci_die_string(die, DW_AT_name));
	if (!text || !loci_language_scoped(loci_die_language(module, &at)))
		return text;
	for (int depth = 0; text && depth < 64 && loci_die_parent(module, &at, &parent); depth++) {
		const char *scope = scope_text(&parent);
		int tag = dwarf_tag(&parent);

		/* Types and variables that are local to a function are named as they are there. */
		if (tag == DW_TAG_subprogram && !function)
			break;
		if (scope && tag != DW_TAG_common_block)
			text = loci_pool_format(pool, "%s::%s", scope, text);
		at = declared(&parent);
	}
	return text;
}
