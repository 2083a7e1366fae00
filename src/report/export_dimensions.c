// SPDX-License-Identifier: GPL-2.0-or-later
/* The dimensions of an export: each table an array, each row an object, what is unknown null. */
#include "report/export_dimensions.h"

#include "base/cleanup.h"
#include "profile/dimension.h"

enum member_type {
	MEMBER_TEXT,
	MEMBER_COUNT,
	MEMBER_COUNT_0, /* 0: unknown */
	MEMBER_SIGNED,
	MEMBER_LINE, /* unsigned; 0: unknown */
	MEMBER_THREAD,
	MEMBER_BOOL,
	MEMBER_OWNER,
	MEMBER_REAL,
	MEMBER_RELEASED, /* unknown unless the object was released */
};

struct member {
	const char *key;
	enum member_type type;
	size_t offset;
};

#define MEMBER(row, key, type, member)                                        \
	{                                                                     \
		key, MEMBER_##type, offsetof(struct loci_##row##_row, member) \
	}

/* clang-format off */
static const struct member process_members[] = {
	MEMBER(process, "id", COUNT, id),
	MEMBER(process, "parent_id", COUNT_0, parent_id),
	MEMBER(process, "pid", COUNT_0, pid),
	MEMBER(process, "command", TEXT, command),
};

static const struct member thread_group_members[] = {
	MEMBER(thread_group, "id", COUNT, id),
	MEMBER(thread_group, "share", COUNT, share),
	MEMBER(thread_group, "thread_id", THREAD, thread),
	MEMBER(thread_group, "threads", TEXT, threads),
};

static const struct member module_members[] = {
	MEMBER(module, "id", COUNT, id),
	MEMBER(module, "path", TEXT, path),
	MEMBER(module, "build_id", TEXT, build_id),
};

static const struct member source_members[] = {
	MEMBER(source, "id", COUNT, id),
	MEMBER(source, "path", TEXT, path),
};

static const struct member excerpt_members[] = {
	MEMBER(excerpt, "source_id", COUNT, source_id),
	MEMBER(excerpt, "line", LINE, line),
	MEMBER(excerpt, "text", TEXT, text),
};

static const struct member function_members[] = {
	MEMBER(function, "id", COUNT, id),
	MEMBER(function, "module_id", COUNT_0, module_id),
	MEMBER(function, "name", TEXT, name),
	MEMBER(function, "mangled", TEXT, mangled),
	MEMBER(function, "source_id", COUNT_0, source_id),
	MEMBER(function, "line", LINE, line),
};

static const struct member inlined_members[] = {
	MEMBER(inlined, "id", COUNT, id),
	MEMBER(inlined, "parent_id", COUNT_0, parent_id),
	MEMBER(inlined, "function_id", COUNT, function_id),
	MEMBER(inlined, "source_id", COUNT_0, source_id),
	MEMBER(inlined, "line", LINE, line),
	MEMBER(inlined, "column", LINE, column),
};

static const struct member loop_members[] = {
	MEMBER(loop, "id", COUNT, id),
	MEMBER(loop, "parent_id", COUNT_0, parent_id),
	MEMBER(loop, "function_id", COUNT_0, function_id),
	MEMBER(loop, "source_id", COUNT_0, source_id),
	MEMBER(loop, "line", LINE, line),
	MEMBER(loop, "last_line", LINE, last_line),
	MEMBER(loop, "iterations", COUNT, iterations),
};

static const struct member site_members[] = {
	MEMBER(site, "id", COUNT, id),
	MEMBER(site, "site_key", TEXT, site_key),
	MEMBER(site, "function_id", COUNT_0, function_id),
	MEMBER(site, "module_id", COUNT_0, module_id),
	MEMBER(site, "inlined_id", COUNT_0, inlined_id),
	MEMBER(site, "loop_id", COUNT_0, loop_id),
	MEMBER(site, "source_id", COUNT_0, source_id),
	MEMBER(site, "line", LINE, line),
	MEMBER(site, "column", LINE, column),
	MEMBER(site, "op", TEXT, op),
	MEMBER(site, "flags", TEXT, flags),
	MEMBER(site, "size_bytes", COUNT, size_bytes),
	MEMBER(site, "code_offset", COUNT, code_offset),
	MEMBER(site, "references", COUNT, refs),
};

static const struct member context_members[] = {
	MEMBER(context, "id", COUNT, id),
	MEMBER(context, "parent_id", COUNT_0, parent_id),
	MEMBER(context, "function_id", COUNT_0, function_id),
	MEMBER(context, "source_id", COUNT_0, source_id),
	MEMBER(context, "line", LINE, line),
	MEMBER(context, "references", COUNT, refs),
};

static const struct member object_members[] = {
	MEMBER(object, "id", COUNT, id),
	MEMBER(object, "kind", TEXT, kind),
	MEMBER(object, "name", TEXT, name),
	MEMBER(object, "type", TEXT, type),
	MEMBER(object, "size_bytes", COUNT_0, size_bytes),
	MEMBER(object, "allocations", COUNT, allocations),
	MEMBER(object, "module_id", COUNT_0, module_id),
	MEMBER(object, "function_id", COUNT_0, function_id),
	MEMBER(object, "source_id", COUNT_0, source_id),
	MEMBER(object, "line", LINE, line),
	MEMBER(object, "context_id", COUNT_0, context_id),
	MEMBER(object, "born_references", COUNT, born_refs),
	MEMBER(object, "died_references", RELEASED, died_refs),
	MEMBER(object, "references", COUNT, refs),
	MEMBER(object, "element_bytes", COUNT_0, element_bytes),
};

static const struct member field_members[] = {
	MEMBER(field, "id", COUNT, id),
	MEMBER(field, "object_id", COUNT, object_id),
	MEMBER(field, "name", TEXT, name),
	MEMBER(field, "type", TEXT, type),
	MEMBER(field, "offset_bytes", COUNT, offset_bytes),
	MEMBER(field, "size_bytes", COUNT_0, size_bytes),
};

static const struct member piece_members[] = {
	MEMBER(piece, "id", COUNT, id),
	MEMBER(piece, "object_id", COUNT, object_id),
	MEMBER(piece, "axis", TEXT, axis),
	MEMBER(piece, "low", COUNT, low),
	MEMBER(piece, "high", COUNT, high),
	MEMBER(piece, "block_bytes", COUNT, block_bytes),
	MEMBER(piece, "touches", COUNT, touches),
	MEMBER(piece, "cold", COUNT, cold),
	MEMBER(piece, "reuses", COUNT, reuses),
	MEMBER(piece, "distance_blocks", COUNT, distance_blocks),
	MEMBER(piece, "misses", COUNT, misses),
};

static const struct member access_members[] = {
	MEMBER(access, "id", COUNT, id),
	MEMBER(access, "site_id", COUNT, site_id),
	MEMBER(access, "object_id", COUNT_0, object_id),
	MEMBER(access, "field_id", COUNT_0, field_id),
	MEMBER(access, "references", COUNT, refs),
	MEMBER(access, "stride_bytes", SIGNED, stride_bytes),
	MEMBER(access, "regular_references", COUNT, regular_refs),
	MEMBER(access, "fills", COUNT, fills),
	MEMBER(access, "used_bytes", COUNT, used_bytes),
};

static const struct member pair_members[] = {
	MEMBER(pair, "id", COUNT, id),
	MEMBER(pair, "use_site_id", COUNT_0, use_site_id),
	MEMBER(pair, "reuse_site_id", COUNT_0, reuse_site_id),
	MEMBER(pair, "object_id", COUNT_0, object_id),
	MEMBER(pair, "kind", TEXT, kind),
	MEMBER(pair, "use_context_id", COUNT_0, use_context_id),
	MEMBER(pair, "reuse_context_id", COUNT_0, reuse_context_id),
	MEMBER(pair, "common_context_id", COUNT_0, common_context_id),
	MEMBER(pair, "loop_id", COUNT_0, loop_id),
	MEMBER(pair, "recycled", BOOL, recycled),
	MEMBER(pair, "references", COUNT, refs),
};

static const struct member region_members[] = {
	MEMBER(region, "id", COUNT, id),
	MEMBER(region, "parent_id", COUNT_0, parent_id),
	MEMBER(region, "name", TEXT, name),
	MEMBER(region, "entries", COUNT, entries),
	MEMBER(region, "references", COUNT, refs),
};

static const struct member phase_members[] = {
	MEMBER(phase, "id", COUNT, id),
	MEMBER(phase, "name", TEXT, name),
	MEMBER(phase, "references", COUNT, refs),
};

static const struct member stretch_members[] = {
	MEMBER(stretch, "first_references", COUNT, first_refs),
	MEMBER(stretch, "references", COUNT, refs),
	MEMBER(stretch, "phase_id", COUNT_0, phase_id),
};

static const struct member mistake_members[] = {
	MEMBER(mistake, "id", COUNT, id),
	MEMBER(mistake, "what", TEXT, what),
	MEMBER(mistake, "times", COUNT, times),
};

static const struct member sampling_members[] = {
	MEMBER(sampling, "id", COUNT, id),
	MEMBER(sampling, "period", COUNT, period),
	MEMBER(sampling, "last_period", COUNT, last_period),
	MEMBER(sampling, "seed", COUNT, seed),
	MEMBER(sampling, "samples", COUNT, samples),
	MEMBER(sampling, "pruned", COUNT, pruned),
	MEMBER(sampling, "lost", COUNT, lost),
	MEMBER(sampling, "analysed_references", COUNT, analysed_refs),
	MEMBER(sampling, "references", COUNT, refs),
	MEMBER(sampling, "effective", REAL, effective),
	MEMBER(sampling, "watched_by", TEXT, watched_by),
	MEMBER(sampling, "in_burst", COUNT, in_burst),
	MEMBER(sampling, "by_watch", COUNT, by_watch),
	MEMBER(sampling, "never", COUNT, never),
	MEMBER(sampling, "abandoned", COUNT, abandoned),
	MEMBER(sampling, "traps", COUNT, traps),
	MEMBER(sampling, "false_faults", COUNT, false_faults),
	MEMBER(sampling, "steps", COUNT, steps),
	MEMBER(sampling, "syscalls", COUNT, syscalls),
	MEMBER(sampling, "burst_ns", COUNT, burst_ns),
	MEMBER(sampling, "trap_ns", COUNT, trap_ns),
	MEMBER(sampling, "by_time", COUNT, by_time),
	MEMBER(sampling, "unknown", REAL, unknown),
};

static const struct member level_members[] = {
	MEMBER(level, "id", COUNT, id),
	MEMBER(level, "name", TEXT, name),
	MEMBER(level, "size_bytes", COUNT, size_bytes),
	MEMBER(level, "ways", COUNT, ways),
	MEMBER(level, "line_bytes", COUNT, line_bytes),
	MEMBER(level, "share", TEXT, share),
};

static const struct member level_count_members[] = {
	MEMBER(level_count, "level_id", COUNT, level_id),
	MEMBER(level_count, "owner", OWNER, owner),
	MEMBER(level_count, "owner_id", COUNT, owner_id),
	MEMBER(level_count, "first_hits", COUNT, first_hits),
	MEMBER(level_count, "misses", COUNT, misses),
	MEMBER(level_count, "writebacks", COUNT, writebacks),
	MEMBER(level_count, "coherence", COUNT, coherence),
	MEMBER(level_count, "transfers", COUNT, transfers),
};

static const struct member block_members[] = {
	MEMBER(block, "id", COUNT, id),
	MEMBER(block, "function_id", COUNT_0, function_id),
	MEMBER(block, "loop_id", COUNT_0, loop_id),
	MEMBER(block, "source_id", COUNT_0, source_id),
	MEMBER(block, "line", LINE, line),
	MEMBER(block, "entry", BOOL, entry),
	MEMBER(block, "contents", COUNT, contents),
	MEMBER(block, "executions", COUNT, executions),
	MEMBER(block, "range_loaded_bytes", COUNT, range_loaded_bytes),
	MEMBER(block, "range_stored_bytes", COUNT, range_stored_bytes),
};

static const struct member operation_members[] = {
	MEMBER(operation, "id", COUNT, id),
	MEMBER(operation, "block_id", COUNT, block_id),
	MEMBER(operation, "kind", TEXT, kind),
	MEMBER(operation, "type", TEXT, type),
	MEMBER(operation, "lanes", COUNT, lanes),
	MEMBER(operation, "count", COUNT, count),
	MEMBER(operation, "bits", COUNT, bits),
};

static const struct member invocation_members[] = {
	MEMBER(invocation, "id", COUNT, id),
	MEMBER(invocation, "block_id", COUNT, block_id),
	MEMBER(invocation, "callee", TEXT, callee),
	MEMBER(invocation, "count", COUNT, count),
};

static const struct member execution_members[] = {
	MEMBER(execution, "id", COUNT, id),
	MEMBER(execution, "block_id", COUNT, block_id),
	MEMBER(execution, "context_id", COUNT_0, context_id),
	MEMBER(execution, "region_id", COUNT_0, region_id),
	MEMBER(execution, "executions", COUNT, executions),
};

static const struct member footprint_members[] = {
	MEMBER(footprint, "id", COUNT, id),
	MEMBER(footprint, "owner", OWNER, owner),
	MEMBER(footprint, "owner_id", COUNT, owner_id),
	MEMBER(footprint, "loaded_bytes", REAL, loaded_bytes),
	MEMBER(footprint, "stored_bytes", REAL, stored_bytes),
	MEMBER(footprint, "touched_bytes", REAL, touched_bytes),
	MEMBER(footprint, "error", REAL, error),
};

static const struct member memory_use_members[] = {
	MEMBER(memory_use, "percent", COUNT, percent),
	MEMBER(memory_use, "bytes", COUNT, bytes),
};

static const struct member coherence_members[] = {
	MEMBER(coherence, "id", COUNT, id),
	MEMBER(coherence, "owner", OWNER, owner),
	MEMBER(coherence, "owner_id", COUNT, owner_id),
	MEMBER(coherence, "block_bytes", COUNT, block_bytes),
	MEMBER(coherence, "touches", COUNT, touches),
	MEMBER(coherence, "true_sharing", COUNT, true_sharing),
	MEMBER(coherence, "false_sharing", COUNT, false_sharing),
	MEMBER(coherence, "remote", COUNT, remote),
};

static const struct member shared_blocks_members[] = {
	MEMBER(shared_blocks, "id", COUNT, id),
	MEMBER(shared_blocks, "block_bytes", COUNT, block_bytes),
	MEMBER(shared_blocks, "alone", COUNT, alone),
	MEMBER(shared_blocks, "read_only", COUNT, read_only),
	MEMBER(shared_blocks, "written", COUNT, written),
};

static const struct member sharing_members[] = {
	MEMBER(sharing, "id", COUNT, id),
	MEMBER(sharing, "write_site_id", COUNT_0, write_site_id),
	MEMBER(sharing, "miss_site_id", COUNT_0, miss_site_id),
	MEMBER(sharing, "object_id", COUNT_0, object_id),
	MEMBER(sharing, "write_object_id", COUNT_0, write_object_id),
	MEMBER(sharing, "field_id", COUNT_0, field_id),
	MEMBER(sharing, "write_field_id", COUNT_0, write_field_id),
	MEMBER(sharing, "kind", TEXT, kind),
	MEMBER(sharing, "misses", COUNT, misses),
	MEMBER(sharing, "threads", COUNT, threads),
};
/* clang-format on */

static void put_member(struct loci_json *json, const struct member *member, const void *row)
{
	const void *at = (const char *)row + member->offset;
	const struct loci_object_row *object = row;

	loci_json_key(json, member->key);
	switch (member->type) {
	case MEMBER_TEXT:
		loci_json_string(json, *(const char *const *)at);
		break;
	case MEMBER_RELEASED:
		if (object->released)
			loci_json_u64(json, object->died_refs);
		else
			loci_json_string(json, NULL);
		break;
	case MEMBER_COUNT:
		loci_json_u64(json, *(const uint64_t *)at);
		break;
	case MEMBER_COUNT_0:
		if (*(const uint64_t *)at)
			loci_json_u64(json, *(const uint64_t *)at);
		else
			loci_json_string(json, NULL);
		break;
	case MEMBER_SIGNED:
		loci_json_number(json, (double)*(const int64_t *)at);
		break;
	case MEMBER_LINE:
		if (*(const unsigned *)at)
			loci_json_u64(json, *(const unsigned *)at);
		else
			loci_json_string(json, NULL);
		break;
	case MEMBER_THREAD:
		loci_json_u64(json, *(const uint32_t *)at);
		break;
	case MEMBER_BOOL:
		loci_json_bool(json, *(const bool *)at);
		break;
	case MEMBER_REAL:
		loci_json_number(json, *(const double *)at);
		break;
	case MEMBER_OWNER:
		loci_json_string(json, loci_owner_name(*(const enum loci_owner *)at));
		break;
	}
}

static void put_rows(struct loci_json *json, const char *key, const struct member *member,
	size_t n_members, const void *rows, size_t n, size_t row_bytes)
{
	loci_json_key(json, key);
	loci_json_array(json);
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		for (size_t k = 0; k < n_members; k++)
			put_member(json, &member[k], (const char *)rows + i * row_bytes);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

/* The JSON array has the name of the getter. */
#define EXPORT(name, names)                                                                     \
	static int export_##name(                                                               \
		struct loci_json *json, struct loci_profile *profile, struct loci_err *err)     \
	{                                                                                       \
		const struct loci_##name##_row *row;                                            \
		size_t n;                                                                       \
		int r = loci_profile_##names(profile, &row, &n, err);                           \
                                                                                                \
		if (r == 0)                                                                     \
			put_rows(json, #names, name##_members, LOCI_ARRAY_SIZE(name##_members), \
				row, n, sizeof(*row));                                          \
		return r;                                                                       \
	}
LOCI_DIMENSIONS(EXPORT)

#define ENTRY(name, names) export_##name,

int loci_export_dimensions(
	struct loci_json *json, struct loci_profile *profile, struct loci_err *err)
{
	static int (*const exports[])(struct loci_json *, struct loci_profile *,
		struct loci_err *) = { LOCI_DIMENSIONS(ENTRY) };
	int r = 0;

	for (size_t i = 0; r == 0 && i < LOCI_ARRAY_SIZE(exports); i++)
		r = exports[i](json, profile, err);
	return r;
}
