// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables by column: an array for each, so that a page with a hundred thousand rows parses them in
 * no time and keeps them in typed arrays. */
#include "report/view_tables.h"

#include "base/cleanup.h"
#include "report/owner_name.h"
#include "report/pairs.h"

#include <string.h>

/* COLUMN(function, "line", loci_json_u64(json, row->line)): an array of what is put for each row
 * shown. Wants shown, c and json. */
#define COLUMN(name, key, put)                                             \
	do {                                                               \
		loci_pair_array(json, key);                                \
		for (size_t i = 0; i < c->n_##name; i++) {                 \
			const struct loci_##name##_row *row = &c->name[i]; \
			if (shown->name.place[i] == LOCI_HIDDEN)           \
				continue;                                  \
			put;                                               \
		}                                                          \
		loci_json_array_end(json);                                 \
	} while (0)
#define TEXTS(name, member)   COLUMN(name, #member, loci_json_string(json, row->member))
#define NUMBERS(name, member) COLUMN(name, #member, loci_json_u64(json, (uint64_t)row->member))
#define PLACES(name, key, other, id) \
	COLUMN(name, key, put_place(json, loci_shown_place(shown, other, id)))

static void put_place(struct loci_json *json, uint32_t place)
{
	loci_json_number(json, place == LOCI_HIDDEN ? -1 : (double)place);
}

/* "misses" and "writebacks", an array for each level, and "touches". */
static void put_met(
	const struct loci_shown_table *table, const struct loci_met *met, struct loci_json *json)
{
	const struct {
		const char *key;
		const double *value;
	} columns[] = { { "misses", met->misses }, { "writebacks", met->writebacks } };

	for (unsigned m = 0; m < 2; m++) {
		loci_pair_array(json, columns[m].key);
		for (unsigned k = 0; k < met->n_levels; k++) {
			loci_json_array(json);
			for (size_t i = 0; i < table->n; i++)
				if (table->place[i] != LOCI_HIDDEN)
					loci_json_number(
						json, columns[m].value[i * met->n_levels + k]);
			loci_json_array_end(json);
		}
		loci_json_array_end(json);
	}
	loci_pair_array(json, "touches");
	for (size_t i = 0; i < table->n; i++)
		if (table->place[i] != LOCI_HIDDEN)
			loci_json_number(json, met->touches[i]);
	loci_json_array_end(json);
}

/* "true_sharing" and "false_sharing": misses of blocks that other threads took. Nothing where there
 * were no others. */
static int put_coherence(const struct loci_shown *shown, enum loci_owner owner,
	const struct loci_shown_table *table, const void *rows, size_t row_bytes,
	struct loci_json *json, struct loci_err *err)
{
	static const char *const keys[] = { "true_sharing", "false_sharing" };
	const struct loci_catalogue *c = &shown->catalogue;
	loci_autofree uint64_t *taken = calloc(2 * (size_t)table->n_shown + 1, sizeof(*taken));

	if (!taken)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_coherence; i++) {
		const struct loci_coherence_row *row = &c->coherence[i];
		uint32_t at = row->owner == owner && row->block_bytes == shown->block_bytes
			? loci_shown_at(table, rows, row_bytes, row->owner_id)
			: LOCI_HIDDEN;

		if (at == LOCI_HIDDEN)
			continue;
		taken[at] = row->true_sharing;
		taken[table->n_shown + at] = row->false_sharing;
	}
	for (unsigned k = 0; c->n_coherence && k < 2; k++) {
		loci_pair_array(json, keys[k]);
		for (uint32_t i = 0; i < table->n_shown; i++)
			loci_json_u64(json, taken[k * (size_t)table->n_shown + i]);
		loci_json_array_end(json);
	}
	return 0;
}

static void put_rest(
	const struct loci_shown_rest *rest, const struct loci_met *met, struct loci_json *json)
{
	loci_pair_object(json, "rest");
	loci_pair_u64(json, "n", rest->n);
	loci_pair_number(json, "refs", rest->refs);
	loci_pair_number(json, "touches", rest->touches);
	loci_pair_array(json, "misses");
	for (unsigned k = 0; k < met->n_levels; k++)
		loci_json_number(json, rest->misses[k]);
	loci_json_array_end(json);
	loci_pair_array(json, "writebacks");
	for (unsigned k = 0; k < met->n_levels; k++)
		loci_json_number(json, rest->writebacks[k]);
	loci_json_array_end(json);
	loci_json_key(json, "histogram");
	loci_view_hist(&rest->hist, json);
	loci_json_object_end(json);
}

static void put_function_name(const char *name, struct loci_json *json)
{
	char buf[LOCI_NAME_MAX];

	loci_json_string(json, loci_name_function(name ? name : "", buf, sizeof(buf)));
}

static void put_code(const struct loci_shown *shown, struct loci_json *json)
{
	const struct loci_catalogue *c = &shown->catalogue;

	loci_pair_object(json, "modules");
	TEXTS(module, path);
	loci_json_object_end(json);

	loci_pair_object(json, "sources");
	TEXTS(source, path);
	loci_json_object_end(json);

	loci_pair_object(json, "functions");
	COLUMN(function, "name", put_function_name(row->name, json));
	COLUMN(function, "whole_name", /* where that says more */
		loci_json_string(json, row->name && strpbrk(row->name, "<(") ? row->name : NULL));
	PLACES(function, "module", module, row->module_id);
	PLACES(function, "source", source, row->source_id);
	NUMBERS(function, line);
	loci_json_object_end(json);

	loci_pair_object(json, "loops");
	PLACES(loop, "parent", loop, row->parent_id);
	PLACES(loop, "function", function, row->function_id);
	PLACES(loop, "source", source, row->source_id);
	NUMBERS(loop, line);
	NUMBERS(loop, last_line);
	NUMBERS(loop, iterations);
	loci_json_object_end(json);
}

static int put_sites(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r;

	loci_pair_object(json, "sites");
	PLACES(site, "function", function, loci_catalogue_function_of(c, row));
	PLACES(site, "outer", function, row->function_id);
	PLACES(site, "module", module, loci_catalogue_module_of(c, row));
	PLACES(site, "loop", loop, row->loop_id);
	PLACES(site, "source", source, row->source_id);
	NUMBERS(site, line);
	NUMBERS(site, column);
	TEXTS(site, op);
	NUMBERS(site, size_bytes);
	TEXTS(site, flags);
	NUMBERS(site, code_offset);
	NUMBERS(site, refs);
	put_met(&shown->site, &shown->site_met, json);
	put_rest(&shown->site_rest, &shown->site_met, json);
	r = put_coherence(
		shown, LOCI_OWNER_SITE, &shown->site, c->site, sizeof(*c->site), json, err);
	if (r == 0)
		r = loci_view_owner_hists(
			shown, LOCI_OWNER_SITE, &shown->site, c->site, sizeof(*c->site), json, err);
	loci_json_object_end(json);
	return r;
}

static int put_contexts(
	const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r;

	loci_pair_object(json, "contexts");
	PLACES(context, "parent", context, row->parent_id);
	PLACES(context, "function", function, row->function_id);
	PLACES(context, "source", source, row->source_id);
	NUMBERS(context, line);
	NUMBERS(context, refs);
	put_met(&shown->context, &shown->context_met, json);
	put_rest(&shown->context_rest, &shown->context_met, json);
	r = loci_view_owner_hists(shown, LOCI_OWNER_CONTEXT, &shown->context, c->context,
		sizeof(*c->context), json, err);
	loci_json_object_end(json);
	return r;
}

static void put_object_name(const struct loci_catalogue *c, const struct loci_object_row *object,
	struct loci_json *json)
{
	char buf[LOCI_NAME_MAX];

	loci_json_string(json, loci_name_object(c, object, buf, sizeof(buf)));
}

static void put_origin(const struct loci_catalogue *c, const struct loci_object_row *object,
	struct loci_json *json)
{
	char buf[LOCI_NAME_MAX];

	loci_json_string(json, loci_name_origin(c, object, buf, sizeof(buf)));
}

static int put_objects(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r;

	loci_pair_object(json, "objects");
	COLUMN(object, "name", put_object_name(c, row, json));
	COLUMN(object, "origin", put_origin(c, row, json));
	TEXTS(object, kind);
	TEXTS(object, type);
	NUMBERS(object, size_bytes);
	NUMBERS(object, allocations);
	NUMBERS(object, element_bytes);
	PLACES(object, "source", source, row->source_id);
	PLACES(object, "function", function, row->function_id);
	PLACES(object, "context", context, row->context_id);
	NUMBERS(object, line);
	NUMBERS(object, refs);
	put_met(&shown->object, &shown->object_met, json);
	put_rest(&shown->object_rest, &shown->object_met, json);
	r = put_coherence(
		shown, LOCI_OWNER_OBJECT, &shown->object, c->object, sizeof(*c->object), json, err);
	if (r == 0)
		r = loci_view_owner_hists(shown, LOCI_OWNER_OBJECT, &shown->object, c->object,
			sizeof(*c->object), json, err);
	loci_json_object_end(json);
	return r;
}

static int put_fields(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r;

	loci_pair_object(json, "fields");
	PLACES(field, "object", object, row->object_id);
	TEXTS(field, name);
	TEXTS(field, type);
	NUMBERS(field, offset_bytes);
	NUMBERS(field, size_bytes);
	put_met(&shown->field, &shown->field_met, json);
	r = loci_view_owner_hists(
		shown, LOCI_OWNER_FIELD, &shown->field, c->field, sizeof(*c->field), json, err);
	loci_json_object_end(json);
	return r;
}

static void put_accesses(const struct loci_shown *shown, struct loci_json *json)
{
	const struct loci_catalogue *c = &shown->catalogue;

	loci_pair_object(json, "accesses");
	PLACES(access, "site", site, row->site_id);
	PLACES(access, "object", object, row->object_id);
	PLACES(access, "field", field, row->field_id);
	NUMBERS(access, refs);
	COLUMN(access, "stride_bytes", loci_json_number(json, (double)row->stride_bytes));
	NUMBERS(access, regular_refs);
	NUMBERS(access, fills);
	NUMBERS(access, used_bytes);
	put_met(&shown->access, &shown->access_met, json);
	put_rest(&shown->access_rest, &shown->access_met, json);
	loci_json_object_end(json);
}

static int put_pairs(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r;

	loci_pair_object(json, "pairs");
	PLACES(pair, "use", site, row->use_site_id);
	PLACES(pair, "reuse", site, row->reuse_site_id);
	PLACES(pair, "object", object, row->object_id);
	TEXTS(pair, kind);
	PLACES(pair, "use_context", context, row->use_context_id);
	PLACES(pair, "reuse_context", context, row->reuse_context_id);
	PLACES(pair, "common_context", context, row->common_context_id);
	PLACES(pair, "loop", loop, row->loop_id);
	NUMBERS(pair, recycled);
	NUMBERS(pair, refs);
	put_met(&shown->pair, &shown->pair_met, json);
	put_rest(&shown->pair_rest, &shown->pair_met, json);
	r = loci_view_owner_hists(
		shown, LOCI_OWNER_PAIR, &shown->pair, c->pair, sizeof(*c->pair), json, err);
	loci_json_object_end(json);
	return r;
}

/* Source lines, of the files that are shown. */
static void put_excerpts(const struct loci_shown *shown, struct loci_json *json)
{
	const struct loci_catalogue *c = &shown->catalogue;
	static const char *const keys[] = { "source", "line", "text" };

	loci_pair_object(json, "excerpts");
	for (unsigned k = 0; k < 3; k++) {
		loci_pair_array(json, keys[k]);
		for (size_t i = 0; i < c->n_excerpt; i++) {
			const struct loci_excerpt_row *row = &c->excerpt[i];
			uint32_t place = loci_shown_place(shown, source, row->source_id);

			if (place == LOCI_HIDDEN)
				continue;
			if (k == 2)
				loci_json_string(json, row->text);
			else
				loci_json_u64(json, k ? row->line : place);
		}
		loci_json_array_end(json);
	}
	loci_json_object_end(json);
}

/* Parts of arrays, of the objects that are shown. */
static void put_pieces(const struct loci_shown *shown, struct loci_json *json)
{
	const struct loci_catalogue *c = &shown->catalogue;
	static const char *const keys[] = { "object", "axis", "low", "high", "block_bytes",
		"touches", "cold", "reuses", "distance_blocks", "misses" };

	loci_pair_object(json, "pieces");
	for (unsigned k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		loci_pair_array(json, keys[k]);
		for (size_t i = 0; i < c->n_piece; i++) {
			const struct loci_piece_row *p = &c->piece[i];
			uint32_t place = loci_shown_place(shown, object, p->object_id);
			const uint64_t value[] = { place, 0, p->low, p->high, p->block_bytes,
				p->touches, p->cold, p->reuses, p->distance_blocks, p->misses };

			if (place == LOCI_HIDDEN)
				continue;
			if (k == 1)
				loci_json_string(json, p->axis);
			else
				loci_json_u64(json, value[k]);
		}
		loci_json_array_end(json);
	}
	loci_json_object_end(json);
}

int loci_view_tables(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	int r;

	loci_pair_u64(json, "owner_block_bytes", shown->block_bytes);
	put_code(shown, json);
	put_excerpts(shown, json);
	r = put_sites(shown, json, err);
	if (r == 0)
		r = put_contexts(shown, json, err);
	if (r == 0)
		r = put_objects(shown, json, err);
	if (r == 0)
		r = put_fields(shown, json, err);
	if (r < 0)
		return r;
	put_accesses(shown, json);
	put_pieces(shown, json);
	return put_pairs(shown, json, err);
}
