// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects, their fields, and the sites' accesses to them. */
#include "analyse/publish_state.h"

#include "analyse/digest.h"
#include "base/cleanup.h"

#include <stdlib.h>

struct ordered_object {
	const struct loci_ledger_object *object;
	int64_t module_id, context_id;
	uint32_t number;
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *left, const void *right)
{
	const struct ordered_object *a = left, *b = right;
	const struct loci_ledger_object *x = a->object, *y = b->object;
	int order = compare_text(x->kind, y->kind);

	if (!order)
		order = compare_text(x->name, y->name);
	if (!order)
		order = compare_text(x->type, y->type);
	if (!order)
		order = compare_text(x->file, y->file);
	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	if (!order)
		order = (a->module_id > b->module_id) - (a->module_id < b->module_id);
	if (!order)
		order = (x->code_address > y->code_address) - (x->code_address < y->code_address);
	if (!order)
		order = (a->context_id > b->context_id) - (a->context_id < b->context_id);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int put_object(struct loci_publication *p, const struct ordered_object *from, int64_t id,
	struct loci_err *err)
{
	const struct loci_ledger_object *object = from->object;
	struct loci_object_row row = { .id = id,
		.kind = object->kind ? object->kind : "other",
		.name = object->name,
		.type = object->type,
		.size_bytes = object->size_bytes,
		.allocations = object->allocations,
		.element_bytes = object->element_bytes,
		.module_id = from->module_id,
		.context_id = from->context_id,
		.line = object->line,
		.born_refs = object->born_refs,
		.died_refs = object->died_refs,
		.released = object->released,
		.refs = object->refs };
	const struct loci_code_place *place = NULL;
	int r = loci_naming_source(&p->naming, object->file, &row.source_id, err);

	if (r == 0 && object->code_address && object->module != LOCI_NO_MODULE)
		r = loci_naming_place(
			&p->naming, object->module, object->code_address, &place, err);
	if (r < 0)
		return r;
	if (place) {
		row.function_id = place->function_id;
		if (!row.source_id) {
			row.source_id = place->source_id;
			row.line = place->line;
		}
	}
	p->object_id[from->number] = id;
	return loci_profile_put_object(p->profile, &row, err);
}

static int put_objects(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	loci_autofree struct ordered_object *order = calloc(ledger->n_objects + 1, sizeof(*order));
	size_t n = 0;
	int r = 0;

	if (!order)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < ledger->n_objects; i++) {
		const struct loci_ledger_object *part = &ledger->object[i];

		if (part->whole != i) {
			ledger->object[part->whole].refs += part->refs;
			ledger->object[part->whole].touched |= part->touched;
		}
	}
	for (uint32_t i = 0; i < ledger->n_objects; i++) {
		const struct loci_ledger_object *object = &ledger->object[i];

		if (object->touched && object->whole == i)
			order[n++] = (struct ordered_object){ object,
				loci_naming_module(&p->naming, object->module),
				object->context < ledger->n_contexts
					? p->context_id[object->context]
					: 0,
				i };
	}
	qsort(order, n, sizeof(*order), by_name);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = put_object(p, &order[i], (int64_t)i + 1, err);
	for (uint32_t i = 0; i < ledger->n_objects; i++)
		p->object_id[i] = p->object_id[ledger->object[i].whole];
	return r;
}

/* The field that all references of a row are to: its offsets are multiples of the element's size
 * apart, so they are to one member of every element. */
static int find_field(struct loci_publication *p, const struct loci_row *row,
	const struct loci_type_field **ret, struct loci_err *err)
{
	const struct loci_type *element = p->ledger->object[row->object].element;
	uint64_t bytes = element ? loci_type_bytes(element) : 0, offset;
	const struct loci_type_field *fields = NULL;
	size_t n = 0;
	int r;

	*ret = NULL;
	if (!bytes || row->divisor % bytes || row->divisor == 1)
		return 0;
	r = loci_type_fields(p->ledger->symbols, element, &fields, &n, err);
	offset = row->first_offset % bytes;
	for (size_t i = 0; r == 0 && i < n; i++)
		if (fields[i].offset_bytes <= offset &&
			offset - fields[i].offset_bytes < fields[i].size_bytes)
			*ret = &fields[i];
	return r;
}

/* The same as what is put; false: there is none. A part of a registered object is one of its
 * fields. */
static int describe_field(struct loci_publication *p, const struct loci_row *row, bool *ret_found,
	struct loci_field_row *ret, uint64_t *ret_key, struct loci_err *err)
{
	const struct loci_ledger_object *object = &p->ledger->object[row->object];
	const struct loci_type_field *field = NULL;
	int r = 0;

	*ret = (struct loci_field_row){ .object_id = p->object_id[row->object] };
	if (object->whole != row->object) {
		ret->name = object->name ? object->name : "?";
		ret->offset_bytes = object->part_offset;
		ret->size_bytes = object->size_bytes;
		*ret_key = 1ull << 63 | row->object;
	} else {
		r = find_field(p, row, &field, err);
	}
	if (field) {
		ret->name = field->name;
		ret->type = field->type;
		ret->offset_bytes = field->offset_bytes;
		ret->size_bytes = field->size_bytes;
		*ret_key = field->offset_bytes;
	}
	*ret_found = ret->name && ret->object_id;
	return r;
}

static int put_field(struct loci_publication *p, uint32_t row, struct loci_keymap *ids,
	int64_t *last, struct loci_err *err)
{
	struct loci_field_row put;
	uint64_t key = 0;
	uint32_t known;
	bool found;
	int r = describe_field(p, &p->ledger->row[row], &found, &put, &key, err);

	if (r < 0 || !found)
		return r;
	known = loci_keymap_get(ids, (uint64_t)put.object_id, key);
	if (known != LOCI_KEYMAP_NONE) {
		p->field_id[row] = known;
		return 0;
	}
	put.id = p->field_id[row] = ++*last;
	if (loci_keymap_put(ids, (uint64_t)put.object_id, key, (uint32_t)put.id) < 0)
		return loci_err_nomem(err);
	return loci_profile_put_field(p->profile, &put, err);
}

static int put_access(struct loci_publication *p, uint32_t row, int64_t id, struct loci_err *err)
{
	const struct loci_row *from = &p->ledger->row[row];
	struct loci_counts counts = { 0 };
	struct loci_access_row put = { .id = id,
		.site_id = p->site_id[from->site],
		.object_id = p->object_id[from->object],
		.field_id = p->field_id[row],
		.refs = from->refs,
		.stride_bytes = from->regular ? from->stride : 0,
		.regular_refs = from->regular,
		/* counted in 1/64 of a block */
		.used_bytes = from->used_bytes * p->options->block_bytes[0] / 64 };
	int r;

	loci_counts_add_row(&counts, p->ledger, row);
	put.fills = p->ledger->n_levels ? counts.level[0].misses : 0;
	p->site_misses[from->site] += counts.level[0].misses;
	p->access_id[row] = id;
	r = loci_profile_put_access(p->profile, &put, err);
	return r < 0 ? r : loci_publish_counts(p, LOCI_OWNER_ACCESS, id, &counts, false, err);
}

/* Rows with what they are sorted by. */
struct keyed_row {
	int64_t key, second;
	uint32_t row;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed_row *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The sum of rows at each further block size. */
static int put_sides(struct loci_publication *p, const struct keyed_row *rows, size_t n,
	enum loci_owner owner, struct loci_err *err)
{
	int r = 0;

	for (unsigned side = 0; r == 0 && side < p->ledger->n_sides; side++) {
		struct loci_counts counts = { 0 };

		for (size_t i = 0; i < n; i++)
			loci_spread_collect(&p->ledger->side_rows[side], rows[i].row, counts.bins);
		r = loci_publish_side(p, owner, rows->key, side, &counts, err);
	}
	return r;
}

/* The same in the stacks that threads have to themselves. */
static int put_private(struct loci_publication *p, const struct keyed_row *rows, size_t n,
	enum loci_owner owner, struct loci_err *err)
{
	struct loci_private_counts counts = { 0 };

	if (!p->ledger->threaded || owner == LOCI_OWNER_FIELD)
		return 0;
	for (size_t i = 0; i < n; i++)
		loci_private_add_row(&counts, p->ledger, rows[i].row);
	return loci_publish_private(p, owner, rows->key, &counts, err);
}

/* Sums of rows that are next to each other and have one key; key 0 is nobody's. */
static int put_sums(struct loci_publication *p, struct keyed_row *rows, size_t n,
	enum loci_owner owner, struct loci_err *err)
{
	int r = 0;

	qsort(rows, n, sizeof(*rows), by_key);
	for (size_t i = 0; r == 0 && i < n;) {
		struct loci_counts counts = { 0 };
		int64_t key = rows[i].key;
		size_t first = i;

		for (; i < n && rows[i].key == key; i++)
			loci_counts_add_row(&counts, p->ledger, rows[i].row);
		if (key)
			r = loci_publish_counts(p, owner, key, &counts, true, err);
		if (key && r == 0)
			r = put_sides(p, rows + first, i - first, owner, err);
		if (key && r == 0)
			r = put_private(p, rows + first, i - first, owner, err);
	}
	return r;
}

static int put_rows(struct loci_publication *p, struct keyed_row *rows, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	struct loci_keymap fields = { 0 };
	int64_t field = 0, access = 0;
	size_t n = ledger->n_rows;
	int r = 0;

	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct keyed_row){ p->site_id[ledger->row[i].site],
			i ? p->object_id[ledger->row[i].object] : 0, i };
	qsort(rows, n, sizeof(*rows), by_key);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (rows[i].row) {
			r = put_field(p, rows[i].row, &fields, &field, err);
			if (r == 0 && rows[i].key)
				r = put_access(p, rows[i].row, ++access, err);
		}
	loci_keymap_fini(&fields);
	if (r == 0)
		r = put_sums(p, rows, n, LOCI_OWNER_SITE, err);
	for (size_t i = 0; i < n; i++)
		rows[i].key = rows[i].second;
	if (r == 0)
		r = put_sums(p, rows, n, LOCI_OWNER_OBJECT, err);
	for (size_t i = 0; i < n; i++)
		rows[i].key = p->field_id[rows[i].row];
	return r < 0 ? r : put_sums(p, rows, n, LOCI_OWNER_FIELD, err);
}

int loci_publish_objects(struct loci_publication *p, struct loci_err *err)
{
	loci_autofree struct keyed_row *rows = calloc(p->ledger->n_rows, sizeof(*rows));
	int r = rows ? put_objects(p, err) : loci_err_nomem(err);

	return r < 0 ? r : put_rows(p, rows, err);
}
