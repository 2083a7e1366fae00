// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/by_table.h"

#include "base/cleanup.h"
#include "report/approximate_line.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/report_json.h"

#include <math.h>

const char *loci_by_cause(enum loci_blame_cause cause)
{
	static const char *const names[] = {
		[LOCI_CAUSE_NONE] = NULL,
		[LOCI_CAUSE_FAR] = "far",
		[LOCI_CAUSE_COLD] = "cold",
		[LOCI_CAUSE_SHARED] = "shared",
		[LOCI_CAUSE_CONFLICT] = "conflict",
	};

	return names[cause];
}

static void put_place(
	struct loci_json *json, const struct loci_catalogue *c, int64_t source_id, unsigned line)
{
	const struct loci_source_row *source = loci_catalogue_find_source(c, source_id);

	loci_pair_string(json, "file", source ? source->path : NULL);
	loci_pair_number(json, "line", line ? line : NAN);
}

static void put_function(struct loci_json *json, const struct loci_catalogue *c, int64_t id)
{
	const struct loci_function_row *function = loci_catalogue_find_function(c, id);

	loci_pair_string(json, "function", function ? function->name : NULL);
}

static void put_site(struct loci_json *json, const char *key, const struct loci_catalogue *c,
	const struct loci_site_row *site)
{
	const struct loci_module_row *module;

	loci_json_key(json, key);
	if (!site) {
		loci_json_string(json, NULL);
		return;
	}
	module = loci_catalogue_find_module(c, loci_catalogue_module_of(c, site));
	loci_json_object(json);
	loci_pair_string(json, "key", site->site_key);
	put_place(json, c, site->source_id, site->line);
	loci_pair_number(json, "column", site->column ? site->column : NAN);
	put_function(json, c, loci_catalogue_function_of(c, site));
	loci_pair_string(json, "module", module ? module->path : NULL);
	loci_pair_u64(json, "code_offset", site->code_offset);
	loci_pair_string(json, "op", site->op);
	loci_pair_u64(json, "size_bytes", site->size_bytes);
	loci_json_object_end(json);
}

static void put_object(struct loci_json *json, const struct loci_catalogue *c,
	const struct loci_object_row *object)
{
	loci_json_key(json, "object");
	if (!object) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_pair_string(json, "name", object->name);
	loci_pair_string(json, "kind", object->kind);
	loci_pair_string(json, "type", object->type);
	loci_pair_u64(json, "size_bytes", object->size_bytes);
	loci_pair_u64(json, "allocations", object->allocations);
	put_place(json, c, object->source_id, object->line);
	put_function(json, c, object->function_id);
	loci_json_object_end(json);
}

static void put_pair(
	struct loci_json *json, const struct loci_catalogue *c, const struct loci_pair_row *pair)
{
	const struct loci_loop_row *loop = loci_catalogue_find_loop(c, pair->loop_id);
	const struct loci_context_row *common =
		loci_catalogue_find_context(c, pair->common_context_id);

	loci_pair_string(json, "kind", pair->kind);
	loci_pair_bool(json, "recycled", pair->recycled);
	put_site(json, "use", c, loci_catalogue_find_site(c, pair->use_site_id));
	put_site(json, "reuse", c, loci_catalogue_find_site(c, pair->reuse_site_id));
	put_object(json, c, loci_catalogue_find_object(c, pair->object_id));
	loci_json_key(json, "loop");
	if (loop) {
		loci_json_object(json);
		put_place(json, c, loop->source_id, loop->line);
		put_function(json, c, loci_catalogue_loop_function(c, loop));
		loci_json_object_end(json);
	} else {
		loci_json_string(json, NULL);
	}
	loci_json_key(json, "common_context");
	if (common) {
		loci_json_object(json);
		put_place(json, c, common->source_id, common->line);
		put_function(json, c, common->function_id);
		loci_json_object_end(json);
	} else {
		loci_json_string(json, NULL);
	}
}

static void put_loop(
	struct loci_json *json, const struct loci_catalogue *c, const struct loci_loop_row *loop)
{
	put_place(json, c, loop->source_id, loop->line);
	loci_pair_number(json, "last_line", loop->last_line ? loop->last_line : NAN);
	put_function(json, c, loci_catalogue_loop_function(c, loop));
	loci_pair_u64(json, "iterations", loop->iterations);
}

/* What the row is, as far as there is more to say than its name. */
static void put_owner(
	struct loci_json *json, const struct loci_blame *blame, const struct loci_blame_row *row)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_context_row *context = row->owner;
	const struct loci_access_row *access = row->owner;
	const struct loci_function_row *function = row->owner;
	const struct loci_field_row *field = row->owner;
	const struct loci_region_row *region = row->owner;

	if (!row->owner)
		return;
	switch (blame->kind) {
	case LOCI_BLAME_SITE:
	case LOCI_BLAME_LINE:
		put_site(json, "site", c, row->owner);
		break;
	case LOCI_BLAME_SPOT:
		put_site(json, "site", c, loci_catalogue_find_site(c, access->site_id));
		break;
	case LOCI_BLAME_FUNCTION:
		put_place(json, c, function->source_id, function->line);
		put_function(json, c, function->id);
		break;
	case LOCI_BLAME_LOOP:
		put_loop(json, c, row->owner);
		break;
	case LOCI_BLAME_OBJECT:
		put_object(json, c, row->owner);
		break;
	case LOCI_BLAME_FIELD:
		put_object(json, c, loci_catalogue_find_object(c, field->object_id));
		loci_pair_u64(json, "offset_bytes", field->offset_bytes);
		loci_pair_u64(json, "size_bytes", field->size_bytes);
		break;
	case LOCI_BLAME_CONTEXT:
		loci_pair_u64(json, "id", (uint64_t)context->id);
		loci_pair_u64(json, "parent", (uint64_t)context->parent_id);
		put_place(json, c, context->source_id, context->line);
		put_function(json, c, context->function_id);
		break;
	case LOCI_BLAME_PAIR:
	case LOCI_BLAME_LINK:
		put_pair(json, c, row->owner);
		break;
	case LOCI_BLAME_REGION:
		loci_pair_u64(json, "id", (uint64_t)region->id);
		loci_pair_u64(json, "parent", (uint64_t)region->parent_id);
		loci_pair_u64(json, "entries", region->entries);
		loci_pair_number(json, "all_references", row->all_refs);
		loci_pair_number(json, "all_misses", blame->has_misses ? row->all_misses : NAN);
		break;
	default:
		break;
	}
}

static void put_size(
	struct loci_json *json, const char *key, const struct loci_blame *blame, uint64_t blocks)
{
	loci_pair_number(
		json, key, blocks ? (double)blocks * (double)blame->levels.block_bytes : NAN);
}

int loci_by_json_row(struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_json *json, struct loci_err *err)
{
	const struct loci_blame_levels *levels = &blame->levels;
	struct loci_blame_detail detail;
	char name[LOCI_NAME_MAX];
	bool has_object = blame->kind != LOCI_BLAME_OBJECT && blame->kind != LOCI_BLAME_FIELD &&
		blame->kind != LOCI_BLAME_PAIR && blame->kind != LOCI_BLAME_LINK &&
		blame->kind != LOCI_BLAME_REGION && blame->kind != LOCI_BLAME_PHASE;
	int r = loci_blame_look(blame, row, &detail, err);

	if (r < 0)
		return r;
	loci_pair_string(json, "name", loci_name_row(blame, row, "->", name, sizeof(name)));
	put_owner(json, blame, row);
	loci_pair_number(json, "references", row->refs);
	loci_pair_number(json, "touches", blame->has_touches ? row->touches : NAN);
	loci_pair_number(json, "misses", blame->has_misses ? row->misses : NAN);
	loci_pair_number(
		json, "share", blame->has_misses ? loci_blame_share(blame, row->misses) : NAN);
	loci_pair_number(json, "writebacks",
		blame->has_writebacks && blame->has_misses ? row->writebacks : NAN);
	if (blame->has_sharing) {
		loci_pair_number(json, "true_sharing", row->true_sharing);
		loci_pair_number(json, "false_sharing", row->false_sharing);
		loci_pair_number(json, "remote", row->remote);
	}
	loci_pair_object(json, "level_misses");
	for (unsigned i = 0; i < levels->n; i++)
		if (levels->level[i].level_id && blame->has_misses)
			loci_pair_number(json, levels->level[i].cache.name, row->level_misses[i]);
	loci_json_object_end(json);
	loci_pair_string(json, "cause", loci_by_cause(detail.cause));
	put_size(json, "distance_bytes", blame, detail.far_blocks);
	put_size(json, "effective_bytes", blame, detail.effective_blocks);
	loci_pair_number(
		json, "stride_bytes", detail.has_stride ? (double)detail.stride_bytes : NAN);
	loci_json_key(json, "regular");
	if (detail.has_stride)
		loci_json_bool(json, detail.is_regular);
	else
		loci_json_string(json, NULL);
	loci_pair_number(json, "spatial_use", detail.spatial < 0 ? NAN : detail.spatial);
	if (has_object) {
		put_object(json, blame->catalogue,
			loci_catalogue_find_object(blame->catalogue, detail.object_id));
		loci_pair_u64(json, "objects", detail.n_objects);
	}
	return 0;
}

static void put_head(const struct loci_by *by, struct loci_json *json)
{
	static const unsigned percents[] = { 75, 80, 90, 95 };
	const struct loci_blame *blame = by->blame;
	const struct loci_blame_level *level = &blame->levels.level[blame->levels.chosen];

	loci_pair_string(json, "path", loci_profile_path(by->subject->profile));
	loci_pair_string(json, "command", by->subject->run->command);
	loci_approximate_json(by->subject->run, json);
	loci_pair_string(json, "by", loci_blame_name(blame->kind));
	loci_pair_u64(json, "block_bytes", blame->levels.block_bytes);
	loci_pair_object(json, "level");
	loci_report_json_cache(json, &level->cache);
	loci_pair_string(json, "basis", blame->is_estimate ? blame->basis : "exact");
	loci_json_object_end(json);
	loci_pair_number(json, "references", blame->refs);
	loci_pair_number(json, "misses", blame->misses);
	loci_pair_number(json, "owned_misses", blame->owned_misses);
	loci_pair_u64(json, "owners", blame->n_rows);
	loci_pair_array(json, "coverage");
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(percents); i++) {
		size_t n = loci_blame_cover(blame, percents[i] / 100.);

		loci_json_object(json);
		loci_pair_u64(json, "percent", percents[i]);
		loci_pair_number(json, "owners", n ? (double)n : NAN);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

int loci_by_json(const struct loci_by *by, struct loci_json *json, struct loci_err *err)
{
	int r = 0;

	loci_json_object(json);
	put_head(by, json);
	loci_pair_array(json, "rows");
	if (by->blame->kind == LOCI_BLAME_CONTEXT)
		r = loci_by_contexts_json(by, json, err);
	else
		for (size_t i = 0; r == 0 && i < by->blame->n_rows && i < by->max_rows; i++) {
			loci_json_object(json);
			r = loci_by_json_row(by->blame, &by->blame->row[i], json, err);
			loci_json_object_end(json);
		}
	loci_json_array_end(json);
	loci_json_object_end(json);
	return r;
}
