// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects of all processes: what has one name is one. */
#include "analyse/ledger_state.h"
#include "analyse/object_state.h"

#include "base/cleanup.h"

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static uint32_t context_of(const struct loci_ledger_maps *maps, uint32_t context)
{
	return context < maps->process->walk.contexts.n ? maps->context[context] : UINT32_MAX;
}

/* whole: that of a part, in the ledger; NULL: it is none. */
int loci_ledger_add_object(struct loci_ledger *ledger, uint32_t context, const uint32_t *whole,
	const struct loci_object_info *info, uint32_t *ret)
{
	struct loci_digest key = { 1, 2 };
	struct loci_ledger_object *object;
	int r;

	key = loci_digest_text(key, info->kind);
	key = loci_digest_text(key, info->name);
	key = loci_digest_text(key, info->type);
	key = loci_digest_text(key, info->file);
	key = loci_digest_word(key, info->line);
	key = loci_digest_word(key, (uint64_t)info->symbol_module << 32 | context);
	key = loci_digest_word(key, info->code_address);
	if (whole)
		key = loci_digest_word(key, *whole);
	r = loci_ledger_intern(&ledger->object_ids, key, &ledger->object, &ledger->n_objects,
		&ledger->object_cap, sizeof(*ledger->object), ret);
	if (r < 0)
		return r;
	object = &ledger->object[*ret];
	if (r)
		*object = (struct loci_ledger_object){ .kind = copy_text(info->kind),
			.name = copy_text(info->name),
			.type = copy_text(info->type),
			.file = copy_text(info->file),
			.line = info->line,
			.element = info->element,
			.element_bytes = info->element_bytes,
			.whole = whole ? *whole : *ret,
			.part_offset = info->part_offset,
			.module = info->symbol_module,
			.code_address = info->code_address,
			.context = context,
			.born_refs = info->born_refs,
			.nameless = info->nameless,
			.released = true };
	if (object->size_bytes < info->size_bytes)
		object->size_bytes = info->size_bytes;
	object->allocations += info->allocations;
	if (object->born_refs > info->born_refs)
		object->born_refs = info->born_refs;
	if (object->died_refs < info->died_refs)
		object->died_refs = info->died_refs;
	object->released &= info->released;
	return 0;
}

/* Those that rows are of, and that are cut into pieces. */
static bool *touched_of(const struct loci_ledger_maps *maps, size_t n)
{
	const struct loci_rows *rows = &maps->process->rows;
	const struct loci_pieces *pieces = maps->process->pieces;
	bool *touched = calloc(n + 1, sizeof(*touched));

	if (!touched)
		return NULL;
	for (size_t i = 1; i < rows->n; i++)
		touched[rows->row[i].object] = true;
	for (size_t i = 0; pieces && i < pieces->object_cap && i < n; i++)
		touched[i] |= pieces->object[i].first != 0;
	return touched;
}

int loci_ledger_add_objects(
	struct loci_ledger *ledger, struct loci_ledger_maps *maps, struct loci_err *err)
{
	struct loci_objects *objects = maps->process->objects;
	size_t n = loci_objects_count(objects);
	loci_autofree bool *touched = touched_of(maps, n);

	if (!touched)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		struct loci_object_info info = { 0 };
		struct loci_object released;
		int r = 0;

		if (!touched[i] && loci_objects_release(objects, i, &released)) {
			if (loci_ledger_wait(
				    ledger, &released, context_of(maps, released.context)) < 0)
				return loci_err_nomem(err);
			continue;
		}
		r = loci_objects_info(objects, i, &info, err);
		/* wholes come before their parts */
		if (r == 0 &&
			loci_ledger_add_object(ledger, context_of(maps, info.context),
				info.whole != i ? &maps->object[info.whole] : NULL, &info,
				&maps->object[i]) < 0)
			r = loci_err_nomem(err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What the code calls an object, of a reference to part of it: "a" of "a[].x", "node->left" of
 * "node->left->key". */
static char *called(const char *variable)
{
	const char *arrow = NULL, *next = variable;

	while ((next = strstr(next, "->")))
		arrow = next++;
	return strndup(variable, arrow ? (size_t)(arrow - variable) : strcspn(variable, "[."));
}

int loci_ledger_name_by_code(struct loci_ledger *ledger, struct loci_row *row, struct loci_err *err)
{
	const struct loci_site *site = &ledger->site[row->site].site;
	struct loci_ledger_object holder = ledger->object[row->object];
	loci_autofree char *name = NULL;
	struct loci_symbol_site known = { 0 };
	struct loci_digest key = { 3, 4 };
	uint32_t number;
	int r = 0;

	if (!holder.nameless || site->module == LOCI_NO_MODULE)
		return 0;
	r = loci_symbols_site(ledger->symbols, site->module, site->offset, &known, err);
	if (r <= 0 || !known.variable)
		return r < 0 ? r : 0;
	name = called(known.variable);
	if (!name || !*name)
		return 0;
	key = loci_digest_word(loci_digest_text(key, name), row->object);
	r = loci_ledger_intern(&ledger->object_ids, key, &ledger->object, &ledger->n_objects,
		&ledger->object_cap, sizeof(*ledger->object), &number);
	if (r > 0)
		ledger->object[number] =
			(struct loci_ledger_object){ .kind = copy_text(holder.kind),
				.name = copy_text(name),
				.whole = number,
				.file = copy_text(holder.file),
				.line = holder.line,
				.module = holder.module,
				.code_address = holder.code_address,
				.context = holder.context };
	row->object = number;
	return r < 0 ? loci_err_nomem(err) : 0;
}
