/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/type.h"
#include "symbol/type_lookup.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

/* Chains of types in a torn file may be rings. */
#define CHAIN_MAX 64

static bool is_qualifier(int tag)
{
	switch (tag) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
		return true;
	}
	return false;
}

static bool skip(const Dwarf_Die *type, bool typedefs, Dwarf_Die *ret)
{
	Dwarf_Die at = *type;

	for (int i = 0; i < CHAIN_MAX; i++) {
		int tag = dwarf_tag(&at);
		Dwarf_Die next;

		if (!is_qualifier(tag) && !(typedefs && tag == DW_TAG_typedef)) {
			/* Its definition may lie in a unit of its own. */
			if (!loci_die_ref(&at, DW_AT_signature, ret))
				*ret = at;
			return tag != DW_TAG_invalid;
		}
		if (!loci_die_ref(&at, DW_AT_type, &next))
			return false;
		at = next;
	}
	return false;
}

bool loci_type_die_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die type;

	return loci_die_ref(die, DW_AT_type, &type) && skip(&type, false, ret);
}

bool loci_type_peel(const Dwarf_Die *type, Dwarf_Die *ret)
{
	return skip(type, true, ret);
}

static bool signed_number(Dwarf_Die *die, unsigned attribute, int64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Sword value;

	if (!dwarf_attr_integrate(die, attribute, &attr) || dwarf_formsdata(&attr, &value) != 0)
		return false;
	*ret = value;
	return true;
}

/* How many elements one dimension has; 0: not known before the program runs. */
static uint64_t dimension(struct loci_symbol_module *module, Dwarf_Die *range)
{
	uint64_t count;
	int64_t low, high;

	if (loci_die_number(range, DW_AT_count, &count))
		return count;
	if (!signed_number(range, DW_AT_upper_bound, &high))
		return 0;
	if (!signed_number(range, DW_AT_lower_bound, &low))
		low = loci_language_fortran(loci_die_language(module, range));
	return high >= low ? (uint64_t)high - (uint64_t)low + 1 : 0;
}

/* false: does not fit, or one of them is not known. */
static bool multiply(uint64_t *product, uint64_t factor)
{
	return !__builtin_mul_overflow(*product, factor, product);
}

static uint64_t elements_of(struct loci_symbol_module *module, Dwarf_Die *array)
{
	uint64_t product = 1;
	Dwarf_Die child;
	int n = 0;

	if (dwarf_child(array, &child) != 0)
		return 0;
	for (void *before = NULL; child.addr > before && n < CHAIN_MAX; n++) {
		if (dwarf_tag(&child) == DW_TAG_subrange_type &&
			!multiply(&product, dimension(module, &child)))
			return 0;
		before = child.addr;
		if (dwarf_siblingof(&child, &child) != 0)
			break;
	}
	return product;
}

bool loci_type_array(struct loci_symbol_module *module, const Dwarf_Die *type,
	Dwarf_Die *ret_element, uint64_t *ret_elements)
{
	Dwarf_Die at;

	if (!loci_type_peel(type, &at) || dwarf_tag(&at) != DW_TAG_array_type)
		return false;
	*ret_elements = 1;
	for (int i = 0; i < CHAIN_MAX && dwarf_tag(&at) == DW_TAG_array_type; i++) {
		if (!multiply(ret_elements, elements_of(module, &at)))
			*ret_elements = 0;
		if (!loci_type_die_of(&at, ret_element) || !loci_type_peel(ret_element, &at))
			return false;
	}
	return dwarf_tag(&at) != DW_TAG_array_type;
}

uint64_t loci_type_inner(struct loci_symbol_module *module, const Dwarf_Die *type)
{
	Dwarf_Die at, element, child;
	uint64_t extent = 0;
	int dimensions = 0;

	if (!loci_type_peel(type, &at))
		return 0;
	for (int i = 0; i < CHAIN_MAX && dwarf_tag(&at) == DW_TAG_array_type; i++) {
		bool by_column = loci_language_fortran(loci_die_language(module, &at));
		int n = 0;

		if (dwarf_child(&at, &child) != 0)
			return 0;
		do {
			if (dwarf_tag(&child) != DW_TAG_subrange_type)
				continue;
			if (!by_column || !n++)
				extent = dimension(module, &child);
			dimensions++;
		} while (dimensions < CHAIN_MAX && dwarf_siblingof(&child, &child) == 0);
		if (!loci_type_die_of(&at, &element) || !loci_type_peel(&element, &at))
			return 0;
	}
	return dimensions > 1 ? extent : 0;
}

bool loci_type_is_open(const struct loci_type *type)
{
	Dwarf_Die record, child, last, element;
	uint64_t elements;
	bool any = false;

	if (!type)
		return false;
	record = type->die;
	if (dwarf_tag(&record) != DW_TAG_structure_type)
		return false;
	if (dwarf_child(&record, &child) == 0)
		do
			if (dwarf_tag(&child) == DW_TAG_member) {
				last = child;
				any = true;
			}
		while (dwarf_siblingof(&child, &child) == 0);
	return any && loci_type_die_of(&last, &child) &&
		loci_type_array(type->module, &child, &element, &elements) && !elements;
}

uint64_t loci_type_descriptor_bytes(const Dwarf_Die *type)
{
	Dwarf_Die at, child;
	uint64_t rank = 0;
	bool counts = false;

	if (!loci_type_peel(type, &at) || dwarf_tag(&at) != DW_TAG_array_type ||
		!dwarf_hasattr(&at, DW_AT_data_location))
		return 0;
	if (dwarf_child(&at, &child) == 0)
		do {
			rank += dwarf_tag(&child) == DW_TAG_subrange_type;
			counts |= dwarf_hasattr(&child, DW_AT_count) != 0;
		} while (rank < CHAIN_MAX && dwarf_siblingof(&child, &child) == 0);
	/* flang tells how many, gfortran which is the last. flang: address, bytes of an element, a
	 * word of small numbers; gfortran: address, offset, type (2 words), span. Both: 3 words for
	 * every dimension. */
	return (counts ? 24 : 40) + 24 * rank;
}

const char *loci_type_shape(struct loci_symbol_module *module, const Dwarf_Die *type)
{
	struct loci_pool *pool = &module->symbols->pool;
	const char *text = "";
	Dwarf_Die at, child;
	int n = 0;

	if (!loci_type_peel(type, &at) || dwarf_tag(&at) != DW_TAG_array_type ||
		!loci_language_fortran(loci_die_language(module, &at)) ||
		dwarf_child(&at, &child) != 0)
		return NULL;
	do {
		uint64_t count = dimension(module, &child);
		int64_t low = 1;

		if (dwarf_tag(&child) != DW_TAG_subrange_type || !count || count > INT32_MAX)
			return NULL;
		signed_number(&child, DW_AT_lower_bound, &low);
		if (low < INT32_MIN || low > INT32_MAX)
			return NULL;
		if (low == 1)
			text = loci_pool_format(pool, "%s%s%" PRIu64, text, n ? "," : "", count);
		else
			text = loci_pool_format(pool, "%s%s%" PRId64 ":%" PRId64, text,
				n ? "," : "", low, low + (int64_t)count - 1);
		if (!text)
			return NULL;
	} while (++n < CHAIN_MAX && dwarf_siblingof(&child, &child) == 0);
	return loci_pool_format(pool, "(%s)", text);
}

uint64_t loci_type_size(struct loci_symbol_module *module, const Dwarf_Die *type)
{
	Dwarf_Die at = *type, element;
	uint64_t bytes, elements;

	for (int i = 0; i < CHAIN_MAX; i++) {
		int tag = dwarf_tag(&at);

		if (tag == DW_TAG_array_type)
			break;
		if (loci_die_number(&at, DW_AT_byte_size, &bytes))
			return bytes;
		if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
			tag == DW_TAG_rvalue_reference_type)
			return 8;
		/* Typedefs and qualifiers, and an enumeration's integer. */
		if (!is_qualifier(tag) && tag != DW_TAG_typedef && tag != DW_TAG_enumeration_type)
			return 0;
		if (!loci_die_ref(&at, DW_AT_type, &at))
			return 0;
	}
	bytes = loci_type_descriptor_bytes(&at);
	if (bytes)
		return bytes;
	if (!loci_type_array(module, &at, &element, &elements))
		return 0;
	bytes = loci_type_size(module, &element); /* which is no array: no deeper */
	return multiply(&bytes, elements) ? bytes : 0;
}

static size_t place(const struct loci_symbols *symbols, const void *key)
{
	size_t at = (uintptr_t)key * 0x9e3779b97f4a7c15u >> 20 & (symbols->cap_types - 1);

	while (symbols->types[at] && symbols->types[at]->key != key)
		at = (at + 1) & (symbols->cap_types - 1);
	return at;
}

static int grow(struct loci_symbols *symbols)
{
	struct loci_symbols larger = { .cap_types =
					       symbols->cap_types ? symbols->cap_types * 2 : 64 };

	larger.types = calloc(larger.cap_types, sizeof(struct loci_type *));
	if (!larger.types)
		return -1;
	for (size_t i = 0; i < symbols->cap_types; i++)
		if (symbols->types[i])
			larger.types[place(&larger, symbols->types[i]->key)] = symbols->types[i];
	free(symbols->types);
	symbols->types = larger.types;
	symbols->cap_types = larger.cap_types;
	return 0;
}

const struct loci_type *loci_type_intern(struct loci_symbol_module *module, const Dwarf_Die *type)
{
	struct loci_symbols *symbols = module->symbols;
	struct loci_type *made;
	Dwarf_Die shown, peeled;
	size_t at;

	if (!skip(type, false, &shown) || !loci_type_peel(type, &peeled) ||
		dwarf_tag(&peeled) == DW_TAG_unspecified_type)
		return NULL;
	if (symbols->n_types * 2 >= symbols->cap_types && grow(symbols) < 0)
		return NULL;
	at = place(symbols, shown.addr);
	if (symbols->types[at])
		return symbols->types[at];
	made = loci_pool_alloc(&symbols->pool, sizeof(*made));
	if (!made)
		return NULL;
	loci_type_complete(module, &peeled);
	made->key = shown.addr;
	made->module = module;
	made->die = peeled;
	made->name = loci_type_text(module, &shown);
	made->bytes = loci_type_size(module, &peeled);
	if (!made->name)
		return NULL;
	symbols->n_types++;
	return symbols->types[at] = made;
}

const char *loci_type_name(const struct loci_type *type)
{
	return type ? type->name : NULL;
}

uint64_t loci_type_bytes(const struct loci_type *type)
{
	return type ? type->bytes : 0;
}
