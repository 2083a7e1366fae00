// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of code, data, contexts, pairs and levels, and how rows of several profiles add up. */
#include "profile/column.h"

#include "base/cleanup.h"

#define COLUMN(row, column, type, member, ...)                                            \
	{                                                                                 \
		.name = column, COLUMN_##type, offsetof(struct loci_##row##_row, member), \
		__VA_ARGS__                                                               \
	}
#define OF(table) .of = TABLE_##table
#define LATER     .later = true
#define FOLD(how) .fold = FOLD_##how

/* clang-format off */
static const struct column process_columns[] = {
	COLUMN(process, "id", ID, id),
	COLUMN(process, "parent_id", ID_0, parent_id, OF(process)),
	COLUMN(process, "pid", U64_0, pid),
	COLUMN(process, "command", WORD_0, command),
};

static const struct column thread_group_columns[] = {
	COLUMN(thread_group, "id", ID, id),
	COLUMN(thread_group, "share", U64, share),
	COLUMN(thread_group, "thread_id", U32, thread),
	COLUMN(thread_group, "threads", WORD, threads),
};

static const struct column module_columns[] = {
	COLUMN(module, "id", ID, id),
	COLUMN(module, "path", WORD, path),
	COLUMN(module, "build_id", WORD_0, build_id),
};

static const struct column source_columns[] = {
	COLUMN(source, "id", ID, id),
	COLUMN(source, "path", WORD, path),
};

static const struct column excerpt_columns[] = {
	COLUMN(excerpt, "source_id", ID, source_id, OF(source)),
	COLUMN(excerpt, "line", U32, line),
	COLUMN(excerpt, "text", WORD, text, FOLD(TEXT)),
};

static const struct column function_columns[] = {
	COLUMN(function, "id", ID, id),
	COLUMN(function, "module_id", ID_0, module_id, OF(module)),
	COLUMN(function, "name", WORD, name),
	COLUMN(function, "mangled", WORD_0, mangled),
	COLUMN(function, "source_id", ID_0, source_id, OF(source)),
	COLUMN(function, "line", U32_0, line),
};

static const struct column inlined_columns[] = {
	COLUMN(inlined, "id", ID, id),
	COLUMN(inlined, "parent_id", ID_0, parent_id, OF(inlined)),
	COLUMN(inlined, "function_id", ID, function_id, OF(function)),
	COLUMN(inlined, "source_id", ID_0, source_id, OF(source)),
	COLUMN(inlined, "line", U32_0, line),
	COLUMN(inlined, "column_number", U32_0, column),
};

static const struct column loop_columns[] = {
	COLUMN(loop, "id", ID, id),
	COLUMN(loop, "parent_id", ID_0, parent_id, OF(loop)),
	COLUMN(loop, "function_id", ID_0, function_id, OF(function)),
	COLUMN(loop, "source_id", ID_0, source_id, OF(source)),
	COLUMN(loop, "line", U32_0, line),
	COLUMN(loop, "last_line", U32_0, last_line, FOLD(MOST_LINE)),
	COLUMN(loop, "iterations", U64, iterations, FOLD(SUM)),
};

static const struct column site_columns[] = {
	COLUMN(site, "id", ID, id),
	COLUMN(site, "site_key", WORD, site_key),
	COLUMN(site, "function_id", ID_0, function_id, OF(function)),
	COLUMN(site, "module_id", ID_0, module_id, OF(module), LATER),
	COLUMN(site, "inlined_id", ID_0, inlined_id, OF(inlined)),
	COLUMN(site, "loop_id", ID_0, loop_id, OF(loop), LATER, FOLD(LOOP)),
	COLUMN(site, "source_id", ID_0, source_id, OF(source)),
	COLUMN(site, "line", U32_0, line),
	COLUMN(site, "column_number", U32_0, column),
	COLUMN(site, "op", WORD, op),
	COLUMN(site, "size_bytes", U64_NULL, size_bytes),
	COLUMN(site, "flags", WORD_0, flags),
	COLUMN(site, "code_offset", U64_NULL, code_offset),
	COLUMN(site, "refs", U64, refs, FOLD(SUM)),
};

static const struct column context_columns[] = {
	COLUMN(context, "id", ID, id),
	COLUMN(context, "parent_id", ID_0, parent_id, OF(context)),
	COLUMN(context, "function_id", ID_0, function_id, OF(function)),
	COLUMN(context, "source_id", ID_0, source_id, OF(source)),
	COLUMN(context, "line", U32_0, line),
	COLUMN(context, "refs", U64, refs, FOLD(SUM)),
};

static const struct column object_columns[] = {
	COLUMN(object, "id", ID, id),
	COLUMN(object, "kind", WORD, kind),
	COLUMN(object, "name", WORD_0, name),
	COLUMN(object, "type", WORD_0, type, FOLD(TEXT)),
	COLUMN(object, "size_bytes", U64_0, size_bytes, FOLD(MOST)),
	COLUMN(object, "allocations", U64_NULL, allocations, FOLD(SUM)),
	COLUMN(object, "module_id", ID_0, module_id, OF(module)),
	COLUMN(object, "function_id", ID_0, function_id, OF(function)),
	COLUMN(object, "source_id", ID_0, source_id, OF(source)),
	COLUMN(object, "line", U32_0, line),
	COLUMN(object, "context_id", ID_0, context_id, OF(context)),
	COLUMN(object, "born_refs", U64_NULL, born_refs, FOLD(LEAST)),
	COLUMN(object, "died_refs", U64_IF, died_refs,
		.flag = offsetof(struct loci_object_row, released), FOLD(LAST)),
	COLUMN(object, "refs", U64, refs, FOLD(SUM)),
	COLUMN(object, "element_bytes", U64_0, element_bytes, LATER, FOLD(MOST)),
};

static const struct column field_columns[] = {
	COLUMN(field, "id", ID, id),
	COLUMN(field, "object_id", ID, object_id, OF(object)),
	COLUMN(field, "name", WORD, name),
	COLUMN(field, "type", WORD_0, type),
	COLUMN(field, "offset_bytes", U64, offset_bytes),
	COLUMN(field, "size_bytes", U64_0, size_bytes),
};

static const struct column piece_columns[] = {
	COLUMN(piece, "id", ID, id),
	COLUMN(piece, "object_id", ID, object_id, OF(object)),
	COLUMN(piece, "axis", WORD, axis),
	COLUMN(piece, "low", U64, low),
	COLUMN(piece, "high", U64, high),
	COLUMN(piece, "block_bytes", U64, block_bytes),
	COLUMN(piece, "touches", U64, touches, FOLD(SUM)),
	COLUMN(piece, "cold", U64, cold, FOLD(SUM)),
	COLUMN(piece, "reuses", U64, reuses, FOLD(SUM)),
	COLUMN(piece, "distance_blocks", U64, distance_blocks, FOLD(SUM)),
	COLUMN(piece, "misses", U64, misses, FOLD(SUM)),
};

static const struct column access_columns[] = {
	COLUMN(access, "id", ID, id),
	COLUMN(access, "site_id", ID, site_id, OF(site)),
	COLUMN(access, "object_id", ID_0, object_id, OF(object)),
	COLUMN(access, "field_id", ID_0, field_id, OF(field)),
	COLUMN(access, "refs", U64, refs, FOLD(SUM)),
	COLUMN(access, "stride_bytes", I64, stride_bytes, FOLD(STRIDE)),
	COLUMN(access, "regular_refs", U64, regular_refs, FOLD(SUM)),
	COLUMN(access, "fills", U64, fills, FOLD(SUM)),
	COLUMN(access, "used_bytes", U64, used_bytes, FOLD(SUM)),
};

static const struct column pair_columns[] = {
	COLUMN(pair, "id", ID, id),
	COLUMN(pair, "use_site_id", ID_0, use_site_id, OF(site)),
	COLUMN(pair, "reuse_site_id", ID_0, reuse_site_id, OF(site)),
	COLUMN(pair, "object_id", ID_0, object_id, OF(object)),
	COLUMN(pair, "kind", WORD, kind),
	COLUMN(pair, "use_context_id", ID_0, use_context_id, OF(context)),
	COLUMN(pair, "reuse_context_id", ID_0, reuse_context_id, OF(context)),
	COLUMN(pair, "common_context_id", ID_0, common_context_id, OF(context)),
	COLUMN(pair, "loop_id", ID_0, loop_id, OF(loop), LATER),
	COLUMN(pair, "recycled", BOOL, recycled),
	COLUMN(pair, "refs", U64, refs, LATER, FOLD(SUM)),
};

static const struct column region_columns[] = {
	COLUMN(region, "id", ID, id),
	COLUMN(region, "parent_id", ID_0, parent_id, OF(region)),
	COLUMN(region, "name", WORD, name),
	COLUMN(region, "entries", U64, entries, FOLD(SUM)),
	COLUMN(region, "refs", U64, refs, FOLD(SUM)),
};

static const struct column phase_columns[] = {
	COLUMN(phase, "id", ID, id),
	COLUMN(phase, "name", WORD_0, name),
	COLUMN(phase, "refs", U64, refs, FOLD(SUM)),
};

static const struct column stretch_columns[] = {
	COLUMN(stretch, "first_refs", U64, first_refs),
	COLUMN(stretch, "refs", U64, refs),
	COLUMN(stretch, "phase_id", ID_0, phase_id, OF(phase)),
};

static const struct column mistake_columns[] = {
	COLUMN(mistake, "id", ID, id),
	COLUMN(mistake, "what", WORD, what),
	COLUMN(mistake, "times", U64, times, FOLD(SUM)),
};

static const struct column sampling_columns[] = {
	COLUMN(sampling, "id", ID, id),
	COLUMN(sampling, "period", U64, period),
	COLUMN(sampling, "last_period", U64, last_period),
	COLUMN(sampling, "seed", U64, seed),
	COLUMN(sampling, "samples", U64, samples),
	COLUMN(sampling, "pruned", U64, pruned),
	COLUMN(sampling, "lost", U64, lost),
	COLUMN(sampling, "analysed_refs", U64, analysed_refs),
	COLUMN(sampling, "refs", U64, refs),
	COLUMN(sampling, "effective", REAL, effective),
	COLUMN(sampling, "watched_by", WORD_0, watched_by, LATER),
	COLUMN(sampling, "in_burst", U64_NULL, in_burst, LATER),
	COLUMN(sampling, "by_watch", U64_NULL, by_watch, LATER),
	COLUMN(sampling, "never", U64_NULL, never, LATER),
	COLUMN(sampling, "abandoned", U64_NULL, abandoned, LATER),
	COLUMN(sampling, "traps", U64_NULL, traps, LATER),
	COLUMN(sampling, "false_faults", U64_NULL, false_faults, LATER),
	COLUMN(sampling, "steps", U64_NULL, steps, LATER),
	COLUMN(sampling, "syscalls", U64_NULL, syscalls, LATER),
	COLUMN(sampling, "burst_ns", U64_NULL, burst_ns, LATER),
	COLUMN(sampling, "trap_ns", U64_NULL, trap_ns, LATER),
	COLUMN(sampling, "by_time", U64_NULL, by_time, LATER),
	COLUMN(sampling, "unknown", REAL, unknown, LATER),
};

static const struct column level_columns[] = {
	COLUMN(level, "id", ID, id),
	COLUMN(level, "name", WORD, name),
	COLUMN(level, "size_bytes", U64, size_bytes),
	COLUMN(level, "ways", U64, ways),
	COLUMN(level, "line_bytes", U64, line_bytes),
	COLUMN(level, "share", WORD, share),
};

static const struct column level_count_columns[] = {
	COLUMN(level_count, "level_id", ID, level_id, OF(level)),
	COLUMN(level_count, "owner", OWNER, owner),
	COLUMN(level_count, "owner_id", U64, owner_id),
	COLUMN(level_count, "first_hits", U64, first_hits, FOLD(SUM)),
	COLUMN(level_count, "misses", U64, misses, FOLD(SUM)),
	COLUMN(level_count, "writebacks", U64_NULL, writebacks, FOLD(SUM)),
	COLUMN(level_count, "coherence", U64_NULL, coherence, LATER, FOLD(SUM)),
	COLUMN(level_count, "transfers", U64_NULL, transfers, LATER, FOLD(SUM)),
};

static const struct column block_columns[] = {
	COLUMN(block, "id", ID, id),
	COLUMN(block, "function_id", ID_0, function_id, OF(function)),
	COLUMN(block, "loop_id", ID_0, loop_id, OF(loop), FOLD(LOOP)),
	COLUMN(block, "source_id", ID_0, source_id, OF(source)),
	COLUMN(block, "line", U32_0, line),
	COLUMN(block, "entry", BOOL, entry),
	COLUMN(block, "contents", U64, contents),
	COLUMN(block, "executions", U64, executions, FOLD(SUM)),
	COLUMN(block, "range_loaded_bytes", U64, range_loaded_bytes, FOLD(SUM)),
	COLUMN(block, "range_stored_bytes", U64, range_stored_bytes, FOLD(SUM)),
};

/* What a block does is the same in all profiles. */
static const struct column operation_columns[] = {
	COLUMN(operation, "id", ID, id),
	COLUMN(operation, "block_id", ID, block_id, OF(block)),
	COLUMN(operation, "kind", WORD, kind),
	COLUMN(operation, "type", WORD_0, type),
	COLUMN(operation, "lanes", U64, lanes),
	COLUMN(operation, "count", U64, count),
	COLUMN(operation, "bits", U64, bits),
};

static const struct column invocation_columns[] = {
	COLUMN(invocation, "id", ID, id),
	COLUMN(invocation, "block_id", ID, block_id, OF(block)),
	COLUMN(invocation, "callee", WORD, callee),
	COLUMN(invocation, "count", U64, count),
};

static const struct column execution_columns[] = {
	COLUMN(execution, "id", ID, id),
	COLUMN(execution, "block_id", ID, block_id, OF(block)),
	COLUMN(execution, "context_id", ID_0, context_id, OF(context)),
	COLUMN(execution, "region_id", ID_0, region_id, OF(region)),
	COLUMN(execution, "executions", U64, executions, FOLD(SUM)),
};

/* The error is folded before the bytes, which it is weighed by. */
static const struct column footprint_columns[] = {
	COLUMN(footprint, "id", ID, id),
	COLUMN(footprint, "owner", OWNER, owner),
	COLUMN(footprint, "owner_id", U64, owner_id),
	COLUMN(footprint, "error", REAL, error, FOLD(ERROR)),
	COLUMN(footprint, "loaded_bytes", REAL, loaded_bytes, FOLD(REAL)),
	COLUMN(footprint, "stored_bytes", REAL, stored_bytes, FOLD(REAL)),
	COLUMN(footprint, "touched_bytes", REAL, touched_bytes, FOLD(REAL)),
};

static const struct column memory_use_columns[] = {
	COLUMN(memory_use, "percent", ID, percent),
	COLUMN(memory_use, "bytes", U64, bytes),
};

static const struct column coherence_columns[] = {
	COLUMN(coherence, "id", ID, id),
	COLUMN(coherence, "owner", OWNER, owner),
	COLUMN(coherence, "owner_id", U64, owner_id),
	COLUMN(coherence, "block_bytes", U64, block_bytes),
	COLUMN(coherence, "touches", U64, touches, FOLD(SUM)),
	COLUMN(coherence, "true_sharing", U64, true_sharing, FOLD(SUM)),
	COLUMN(coherence, "false_sharing", U64, false_sharing, FOLD(SUM)),
	COLUMN(coherence, "remote", U64, remote, FOLD(SUM)),
};

static const struct column shared_blocks_columns[] = {
	COLUMN(shared_blocks, "id", ID, id),
	COLUMN(shared_blocks, "block_bytes", U64, block_bytes),
	COLUMN(shared_blocks, "alone", U64, alone, FOLD(SUM)),
	COLUMN(shared_blocks, "read_only", U64, read_only, FOLD(SUM)),
	COLUMN(shared_blocks, "written", U64, written, FOLD(SUM)),
};

/* Threads of different runs are different threads. */
static const struct column sharing_columns[] = {
	COLUMN(sharing, "id", ID, id),
	COLUMN(sharing, "write_site_id", ID_0, write_site_id, OF(site)),
	COLUMN(sharing, "miss_site_id", ID_0, miss_site_id, OF(site)),
	COLUMN(sharing, "object_id", ID_0, object_id, OF(object)),
	COLUMN(sharing, "write_object_id", ID_0, write_object_id, OF(object)),
	COLUMN(sharing, "field_id", ID_0, field_id, OF(field)),
	COLUMN(sharing, "write_field_id", ID_0, write_field_id, OF(field)),
	COLUMN(sharing, "kind", WORD, kind),
	COLUMN(sharing, "misses", U64, misses, FOLD(SUM)),
	COLUMN(sharing, "threads", U64, threads, FOLD(SUM)),
};
/* clang-format on */

#define TABLE(name, names)                                                                       \
	[TABLE_##name] = { TABLE_##name, #name, name##_columns, LOCI_ARRAY_SIZE(name##_columns), \
		sizeof(struct loci_##name##_row) },

static const struct table tables[TABLE_END] = { LOCI_DIMENSIONS(TABLE) };

/* The table whose rows an owner's ids are of; those that no getter reads have none. */
static const enum table_id owner_tables[] = {
	[LOCI_OWNER_SITE] = TABLE_site,
	[LOCI_OWNER_CONTEXT] = TABLE_context,
	[LOCI_OWNER_OBJECT] = TABLE_object,
	[LOCI_OWNER_FIELD] = TABLE_field,
	[LOCI_OWNER_PAIR] = TABLE_pair,
	[LOCI_OWNER_LOOP] = TABLE_loop,
	[LOCI_OWNER_ACCESS] = TABLE_access,
	[LOCI_OWNER_REGION] = TABLE_region,
	[LOCI_OWNER_PHASE] = TABLE_phase,
	[LOCI_OWNER_FUNCTION] = TABLE_function,
	[LOCI_OWNER_THREAD_GROUP] = TABLE_thread_group,
};

const struct table *loci_dimension_table(enum table_id id)
{
	return &tables[id];
}

enum table_id loci_owner_table(enum loci_owner owner)
{
	return owner < LOCI_ARRAY_SIZE(owner_tables) ? owner_tables[owner] : TABLE_NONE;
}

static bool is_nothing(enum table_id id, const void *row)
{
	const struct loci_level_count_row *count = row;

	return id == TABLE_level_count && !count->first_hits && !count->misses &&
		!count->writebacks && !count->transfers;
}

static int put(
	struct loci_profile *profile, enum table_id id, const void *row, struct loci_err *err)
{
	return is_nothing(id, row) ? 0 : loci_table_insert(profile, &tables[id], row, err);
}

#define PUT(name, names)                                                   \
	int loci_profile_put_##name(struct loci_profile *profile,          \
		const struct loci_##name##_row *row, struct loci_err *err) \
	{                                                                  \
		return put(profile, TABLE_##name, row, err);               \
	}
LOCI_DIMENSIONS(PUT)

#define GET(name, names)                                                                   \
	int loci_profile_##names(struct loci_profile *profile,                             \
		const struct loci_##name##_row **ret, size_t *ret_n, struct loci_err *err) \
	{                                                                                  \
		int r = loci_rows_load(profile, TABLE_##name, err);                        \
                                                                                           \
		*ret = profile->rows[TABLE_##name].row;                                    \
		*ret_n = profile->rows[TABLE_##name].n;                                    \
		return r;                                                                  \
	}
LOCI_DIMENSIONS(GET)
