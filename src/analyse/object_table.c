// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_table.h"

#include "base/cleanup.h"

#include <string.h>

enum { FIRST_SLOT_BITS = 10 };

static uint64_t mix(enum loci_object_kind kind, uint64_t first, uint64_t second)
{
	uint64_t x = (first ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15;

	x = (x ^ x >> 29 ^ second) * 0xbf58476d1ce4e5b9;
	return x ^ x >> 32;
}

static size_t slot_of(const struct loci_object_table *table, uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15 >> (64 - table->slot_bits);
}

static int grow_slots(struct loci_object_table *table, struct loci_err *err)
{
	unsigned bits = table->slot_bits ? table->slot_bits + 1 : FIRST_SLOT_BITS;
	size_t mask = ((size_t)1 << bits) - 1;
	uint32_t *slot = calloc(mask + 1, sizeof(*slot));

	if (!slot)
		return loci_err_nomem(err);
	free(table->slot);
	table->slot = slot;
	table->slot_bits = bits;
	for (size_t number = 0; number < table->n; number++) {
		const struct loci_object *object = &table->object[number];
		size_t i = slot_of(table, mix(object->kind, object->key[0], object->key[1]));

		while (slot[i])
			i = (i + 1) & mask;
		slot[i] = (uint32_t)number + 1;
	}
	return 0;
}

static int grow_objects(struct loci_object_table *table, struct loci_err *err)
{
	size_t cap = table->cap ? table->cap * 2 : 256;
	struct loci_object *object;

	if (table->n < table->cap)
		return 0;
	object = realloc(table->object, cap * sizeof(*object));
	if (!object)
		return loci_err_nomem(err);
	table->object = object;
	table->cap = cap;
	return 0;
}

int loci_object_table_get(struct loci_object_table *table, enum loci_object_kind kind,
	uint64_t first, uint64_t second, uint32_t *ret, bool *ret_new, struct loci_err *err)
{
	size_t mask = ((size_t)1 << table->slot_bits) - 1,
	       i = slot_of(table, mix(kind, first, second));
	int r;

	*ret_new = false;
	for (; table->slot[i]; i = (i + 1) & mask) {
		const struct loci_object *object = &table->object[table->slot[i] - 1];

		if (object->kind == kind && object->key[0] == first && object->key[1] == second) {
			*ret = table->slot[i] - 1;
			return 0;
		}
	}
	if (table->n == LOCI_OBJECTS_MAX) {
		table->dropped++;
		*ret = 0;
		return 0;
	}
	r = grow_objects(table, err);
	if (r < 0)
		return r;
	table->object[table->n] = (struct loci_object){ .kind = kind,
		.key = { first, second },
		.symbol_module = UINT32_MAX,
		.context = UINT32_MAX };
	*ret = (uint32_t)table->n++;
	*ret_new = true;
	table->slot[i] = *ret + 1;
	return table->n * 2 > mask ? grow_slots(table, err) : 0;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325; /* Fowler, Noll, Vo: FNV-1a */

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3;
	return hash;
}

int loci_object_table_get_text(struct loci_object_table *table, enum loci_object_kind kind,
	const char *text, uint32_t *ret, struct loci_err *err)
{
	/* Another text with the same hash has the next key. */
	for (uint64_t hash = hash_text(text), again = 0;; again++) {
		struct loci_object *object;
		bool is_new;
		int r = loci_object_table_get(table, kind, hash, again, ret, &is_new, err);

		if (r < 0 || !*ret)
			return r;
		object = &table->object[*ret];
		if (is_new) {
			object->text = strdup(text);
			return object->text ? 0 : loci_err_nomem(err);
		}
		if (object->text && !strcmp(object->text, text))
			return 0;
	}
}

void loci_object_begin(struct loci_object *object, uint64_t bytes, uint64_t refs)
{
	if (!object->allocations++)
		object->born_refs = refs;
	object->live++;
	if (bytes > object->size_bytes)
		object->size_bytes = bytes;
}

void loci_object_end(struct loci_object *object, uint64_t refs)
{
	if (object->live)
		object->live--;
	object->died_refs = refs;
}

int loci_object_table_init(struct loci_object_table *table, struct loci_err *err)
{
	uint32_t other;
	bool is_new;
	int r = grow_slots(table, err);

	return r < 0 ? r
		     : loci_object_table_get(table, LOCI_OBJECT_OTHER, 0, 0, &other, &is_new, err);
}

void loci_object_table_fini(struct loci_object_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->object[i].text);
		free(table->object[i].origin);
		free(table->object[i].name);
		free(table->object[i].type);
	}
	free(table->object);
	free(table->slot);
}
