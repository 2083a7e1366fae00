/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a type, flat: those of nested structs one by one under their path, arrays as one,
 * those of unions side by side, those of base classes as the class's own. */
#include "symbol/type.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#define DEPTH_MAX  16
#define FIELDS_MAX 4096

struct fields {
	struct loci_symbol_module *module;
	struct loci_type_field *items;
	size_t n, cap;
};

static int add(struct fields *fields, const struct loci_type_field *field)
{
	if (fields->n == fields->cap) {
		size_t cap = fields->cap ? fields->cap * 2 : 16;
		void *items = realloc(fields->items, cap * sizeof(*fields->items));

		if (!items)
			return -ENOMEM;
		fields->items = items;
		fields->cap = cap;
	}
	fields->items[fields->n++] = *field;
	return 0;
}

static bool is_record(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* A constant, or an expression that adds one. A virtual base class lies where only the program
 * knows. */
static bool member_offset(Dwarf_Die *member, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	Dwarf_Op *ops;
	size_t n;

	*ret = 0;
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attr))
		return true;
	if (dwarf_formudata(&attr, &value) == 0) {
		*ret = value;
		return true;
	}
	if (dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

/* The bytes that a bit field lies in. DW_AT_bit_offset counts from the high end of its storage
 * unit, DW_AT_data_bit_offset from the low end of the struct. */
static void place_bits(struct loci_symbol_module *module, Dwarf_Die *member, const Dwarf_Die *type,
	struct loci_type_field *field)
{
	uint64_t bits, at, unit;

	if (!loci_die_number(member, DW_AT_bit_size, &bits) || !bits || bits > 1024)
		return;
	if (loci_die_number(member, DW_AT_data_bit_offset, &at)) {
		field->offset_bytes += at / 8;
	} else if (loci_die_number(member, DW_AT_bit_offset, &at)) {
		if (!loci_die_number(member, DW_AT_byte_size, &unit))
			unit = loci_type_size(module, type);
		if (at + bits > unit * 8)
			return;
		at = unit * 8 - at - bits;
		field->offset_bytes += at / 8;
	} else {
		at = 0;
	}
	field->size_bytes = (at % 8 + bits + 7) / 8;
}

static int flatten(struct fields *fields, const Dwarf_Die *record, const char *path,
	uint64_t offset, int depth);

static const char *join(struct loci_pool *pool, const char *path, const char *name)
{
	return *path ? loci_pool_format(pool, "%s.%s", path, name) : loci_pool_string(pool, name);
}

static int take_member(
	struct fields *fields, Dwarf_Die *member, const char *path, uint64_t offset, int depth)
{
	struct loci_symbol_module *module = fields->module;
	struct loci_pool *pool = &module->symbols->pool;
	const char *name = loci_die_string(member, DW_AT_name);
	struct loci_type_field field = { 0 };
	Dwarf_Die type, peeled, element;
	uint64_t at, elements;
	bool array;

	if (loci_die_flag(member, DW_AT_external) || loci_die_flag(member, DW_AT_declaration) ||
		!member_offset(member, &at) || !loci_type_die_of(member, &type) ||
		!loci_type_peel(&type, &peeled))
		return 0;
	field.offset_bytes = offset + at;
	if (is_record(dwarf_tag(&peeled)) && depth < DEPTH_MAX) {
		bool named = name && dwarf_tag(member) == DW_TAG_member;
		/* The members of one without a name are used like those around it. */
		const char *inner = named ? join(pool, path, name) : path;
		size_t before = fields->n;
		int r = inner ? flatten(fields, &peeled, inner, field.offset_bytes, depth + 1)
			      : -ENOMEM;

		/* One that has no members, or is only declared here, stands for itself. */
		if (r < 0 || !named || fields->n > before)
			return r;
	}
	field.size_bytes = loci_type_size(module, &type);
	place_bits(module, member, &type, &field);
	array = !loci_type_descriptor_bytes(&type) &&
		loci_type_array(module, &type, &element, &elements);
	field.name = join(pool, path, name ? name : "?");
	if (field.name && array)
		field.name = loci_pool_format(pool, "%s[]", field.name);
	field.type = loci_type_text(module, &type);
	return field.name && field.type ? add(fields, &field) : -ENOMEM;
}

static int flatten(struct fields *fields, const Dwarf_Die *record, const char *path,
	uint64_t offset, int depth)
{
	Dwarf_Die copy = *record, child;
	int r = 0;

	if (dwarf_child(&copy, &child) == 0)
		do {
			int tag = dwarf_tag(&child);

			if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
				r = take_member(fields, &child, path, offset, depth);
		} while (r == 0 && fields->n < FIELDS_MAX && dwarf_siblingof(&child, &child) == 0);
	return r;
}

static void sort(struct loci_type_field *items, size_t n)
{
	/* Nearly sorted already, and members of a union keep their order. */
	for (size_t i = 1; i < n; i++) {
		struct loci_type_field one = items[i];
		size_t at = i;

		for (; at && items[at - 1].offset_bytes > one.offset_bytes; at--)
			items[at] = items[at - 1];
		items[at] = one;
	}
}

static bool definition(struct loci_type *type, Dwarf_Die *ret)
{
	*ret = type->die;
	return is_record(dwarf_tag(ret)) && !loci_die_flag(ret, DW_AT_declaration);
}

int loci_type_fields(struct loci_symbols *symbols, const struct loci_type *type,
	const struct loci_type_field **ret, size_t *ret_n, struct loci_err *err)
{
	struct loci_type *known = (struct loci_type *)type;
	struct fields fields = { 0 };
	Dwarf_Die record;

	*ret = NULL;
	*ret_n = 0;
	if (!type)
		return 0;
	if (!known->fields_known && definition(known, &record)) {
		int r;

		fields.module = known->module;
		r = flatten(&fields, &record, "", 0, 0);
		sort(fields.items, fields.n);
		known->fields = r < 0 ? NULL
				      : loci_pool_copy(&symbols->pool, fields.items,
						fields.n * sizeof(*fields.items));
		free(fields.items);
		if (!known->fields)
			return loci_err_nomem(err);
		known->n_fields = fields.n;
	}
	known->fields_known = true;
	*ret = known->fields;
	*ret_n = known->n_fields;
	return 0;
}
