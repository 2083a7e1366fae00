// SPDX-License-Identifier: GPL-2.0-or-later
/* The profile's dimensions: every member of every row comes back as it was put, also from files
 * that lack what was added since; damaged ones are refused with a message. */
#include "check.h"

#include "base/cleanup.h"
#include "profile/dimension.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/loci-dimension-XXXXXX";
static char path[64];

/* Rows with everything and with nothing but what must be, in the order in which they come back; put
 * in the opposite one. */
static const struct loci_process_row process_[] = {
	{ .id = 1 },
	{ 2, 1, 4711, "./child" },
};
static const struct loci_thread_group_row thread_group_[] = {
	{ 1, 4, 7, "7,0" },
	{ 5, 1, 0, "0" },
};
static const struct loci_module_row module_[] = {
	{ 1, "/usr/bin/mm", "0123abcd" },
	{ 7, "/lib/libc.so.6", NULL },
};
static const struct loci_source_row source_[] = {
	{ 9, "mm.c" },
	{ 10, "" },
};
static const struct loci_excerpt_row excerpt_[] = {
	{ 9, 3, "{" },
	{ 9, 4, "\tfor (;;)" },
	{ 10, 3, "" },
};
static const struct loci_function_row function_[] = {
	{ 3, 1, "mul(int)", "_Z3muli", 9, 12 },
	{ .id = 4, .name = "main" },
};
static const struct loci_inlined_row inlined_[] = {
	{ 1, 2, 3, 9, 20, 5 },
	{ .id = 2, .function_id = 4 },
};
static const struct loci_loop_row loop_[] = {
	{ 1, 0, 3, 9, 14, 18, 100 },
	{ 2, 1, 3, 9, 15, 17, 10000 },
	{ .id = 5 },
};
static const struct loci_site_row site_[] = {
	{ 1, "_Z3muli+4/0", 3, 1, 2, 9, 16, 7, "load", "vector modify", 8, 0x1234, 1000000, 0 },
	{ .id = 2, .site_key = "?", .op = "store", .module_id = 1 },
};
static const struct loci_context_row context_[] = {
	{ 1, 0, 4, 9, 30, 17 },
	{ 2, 1, 3, 9, 31, INT64_MAX },
	{ .id = 1000000000000 },
};
static const struct loci_object_row object_[] = {
	{ 1, "heap", "a", "double", 8192, 3, 1, 3, 9, 2, 40, 5, 6, true, 7, 16 },
	{ 2, "heap", "b", "double", 8192, 3, 1, 3, 9, 2, 40, 5, 0, true, 7, 0 },
	{ .id = 4, .kind = "other" },
};
static const struct loci_field_row field_[] = {
	{ 1, 1, "node.key[]", "int", 8, 4 },
	{ .id = 2, .object_id = 2, .name = "" },
};
static const struct loci_piece_row piece_[] = {
	{ 1, 1, "outer", 0, 3, 64, 10, 2, 8, 123456, 4 },
	{ 2, 1, "inner", 3, INT64_MAX, 64, 0, 0, 0, 0, 0 },
};
static const struct loci_access_row access_[] = {
	{ 1, 1, 1, 1, 100, -8, 90, 12, 600 },
	{ 2, 1, 2, 0, 100, INT64_MIN, 90, 12, 600 },
	{ .id = 3, .site_id = 2 },
};
static const struct loci_pair_row pair_[] = {
	{ 1, 1, 2, 4, "WAR", 1, 2, 1, 2, true, 55 },
	{ .id = 2, .kind = "RAR" },
};
static const struct loci_region_row region_[] = {
	{ 1, 2, "inner", 12, 345 },
	{ .id = 2, .name = "outer" },
};
static const struct loci_phase_row phase_[] = {
	{ 1, "solve", 77 },
	{ .id = 2 },
};
static const struct loci_stretch_row stretch_[] = {
	{ 0, 10, 2 },
	{ 10, 20, 1 },
	{ .first_refs = 30 },
};
static const struct loci_sampling_row sampling_[] = {
	{ .id = 1,
		.period = 1000,
		.last_period = 4000,
		.seed = 5,
		.samples = 100,
		.pruned = 3,
		.lost = 1,
		.analysed_refs = 20000,
		.refs = 400000,
		.effective = 99.5 },
};
static const struct loci_mistake_row mistake_[] = {
	{ 1, "region \"a\" ended that was not begun", 3 },
	{ .id = 2, .what = "" },
};
static const struct loci_level_row level_[] = {
	{ 1, "L1", 32768, 8, 64, "private" },
	{ 2, "L3", 32 << 20, 0, 64, "share4" },
};
static const struct loci_level_count_row level_count_[] = {
	{ 1, LOCI_OWNER_WHOLE, 0, 1, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_THREAD, 7, 1, 2, 3, 4, 5 },
	{ 1, LOCI_OWNER_SITE, 2, 0, 2, 0, 0, 0 },
	{ 2, LOCI_OWNER_SITE, 2, 1, 0, 0, 0, 0 },
	{ 1, LOCI_OWNER_CONTEXT, 1000000000000, 1, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_OBJECT, 1, INT64_MAX, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_OBJECT, 4, 0, 0, 1, 0, 0 },
	{ 1, LOCI_OWNER_FIELD, 1, 1, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_PAIR, 1, 1, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_PHASE, 2, 1, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_REGION, 1, 1, 2, 3, 0, 0 },
	{ 1, LOCI_OWNER_ACCESS, 3, 0, 0, 3, 0, 0 },
};
static const struct loci_block_row block_[] = {
	{ 1, 3, 2, 9, 16, true, INT64_MAX, 1000, 8192, 4096 },
	{ .id = 2 },
};
static const struct loci_operation_row operation_[] = {
	{ 1, 2, "float fma", "f64", 4, 3, 1024 },
	{ .id = 2, .block_id = 1, .kind = "branch" },
};
static const struct loci_invocation_row invocation_[] = {
	{ 1, 1, "_Z3muli", 2 },
	{ .id = 2, .block_id = 2, .callee = "puts" },
};
static const struct loci_execution_row execution_[] = {
	{ 1, 1, 2, 1, 999 },
	{ .id = 2, .block_id = 1 },
};
static const struct loci_footprint_row footprint_[] = {
	{ 1, LOCI_OWNER_WHOLE, 0, 0, 1e15, 2, 3 },
	{ 2, LOCI_OWNER_FUNCTION, 3, 0.03125, 100.5, 200.25, 300.125 },
};
static const struct loci_memory_use_row memory_use_[] = {
	{ 5, 8 },
	{ 100, 1 << 20 },
};
static const struct loci_coherence_row coherence_[] = {
	{ 1, LOCI_OWNER_WHOLE, 0, 64, INT64_MAX, 2, 3, 4 },
	{ 2, LOCI_OWNER_THREAD, 0, 64, 1, 2, 3, 4 },
	{ 3, LOCI_OWNER_THREAD_GROUP, 5, 64, 5, 6, 7, 8 },
	{ 4, LOCI_OWNER_SITE, 2, 64, 0, 0, 0, 0 },
	{ 5, LOCI_OWNER_OBJECT, 4, 8, 9, 10, 11, 12 },
};
static const struct loci_shared_blocks_row shared_blocks_[] = {
	{ 1, 64, 100, 20, 3 },
	{ 2, 8, 0, 0, 0 },
};
static const struct loci_sharing_row sharing_[] = {
	{ 1, 1, 2, 1, 2, 1, 2, "true", 1000, 3 },
	{ .id = 2, .kind = "false" },
};

/* A row in words. Every member, so that none can be lost. */
static char words[2][512];
#define SAY(...)   snprintf(words[at], sizeof(words[at]), __VA_ARGS__)
#define TEXT(text) (text) ? (text) : "NULL"

static void say_process(int at, const struct loci_process_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %s", row->id, row->parent_id, row->pid,
		TEXT(row->command));
}

static void say_thread_group(int at, const struct loci_thread_group_row *row)
{
	SAY("%" PRId64 " %" PRIu64 " %" PRIu32 " %s", row->id, row->share, row->thread,
		TEXT(row->threads));
}

static void say_module(int at, const struct loci_module_row *row)
{
	SAY("%" PRId64 " %s %s", row->id, TEXT(row->path), TEXT(row->build_id));
}

static void say_source(int at, const struct loci_source_row *row)
{
	SAY("%" PRId64 " %s", row->id, TEXT(row->path));
}

static void say_excerpt(int at, const struct loci_excerpt_row *row)
{
	SAY("%" PRId64 " %d %s", row->source_id, (int)row->line, TEXT(row->text));
}

static void say_function(int at, const struct loci_function_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %s %s %" PRId64 " %d", row->id, row->module_id,
		TEXT(row->name), TEXT(row->mangled), row->source_id, (int)row->line);
}

static void say_inlined(int at, const struct loci_inlined_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %d", row->id, row->parent_id,
		row->function_id, row->source_id, (int)row->line, (int)row->column);
}

static void say_loop(int at, const struct loci_loop_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %d %" PRIu64, row->id,
		row->parent_id, row->function_id, row->source_id, (int)row->line,
		(int)row->last_line, row->iterations);
}

static void say_site(int at, const struct loci_site_row *row)
{
	SAY("%" PRId64 " %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %d %s %s %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %" PRId64,
		row->id, TEXT(row->site_key), row->function_id, row->inlined_id, row->loop_id,
		row->source_id, (int)row->line, (int)row->column, TEXT(row->op), TEXT(row->flags),
		row->size_bytes, row->code_offset, row->refs, row->module_id);
}

static void say_context(int at, const struct loci_context_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %" PRIu64, row->id, row->parent_id,
		row->function_id, row->source_id, (int)row->line, row->refs);
}

static void say_object(int at, const struct loci_object_row *row)
{
	SAY("%" PRId64 " %s %s %s %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64
	    " %" PRId64 " %d %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64,
		row->id, TEXT(row->kind), TEXT(row->name), TEXT(row->type), row->size_bytes,
		row->allocations, row->module_id, row->function_id, row->source_id, row->context_id,
		(int)row->line, row->born_refs, row->died_refs, (int)row->released, row->refs,
		row->element_bytes);
}

static void say_field(int at, const struct loci_field_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %s %s %" PRIu64 " %" PRIu64, row->id, row->object_id,
		TEXT(row->name), TEXT(row->type), row->offset_bytes, row->size_bytes);
}

static void say_piece(int at, const struct loci_piece_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %" PRIu64,
		row->id, row->object_id, TEXT(row->axis), row->low, row->high, row->block_bytes,
		row->touches, row->cold, row->reuses, row->distance_blocks, row->misses);
}

static void say_access(int at, const struct loci_access_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRId64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64,
		row->id, row->site_id, row->object_id, row->field_id, row->refs, row->stride_bytes,
		row->regular_refs, row->fills, row->used_bytes);
}

static void say_pair(int at, const struct loci_pair_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s %" PRId64 " %" PRId64 " %" PRId64
	    " %" PRId64 " %d %" PRIu64,
		row->id, row->use_site_id, row->reuse_site_id, row->object_id, TEXT(row->kind),
		row->use_context_id, row->reuse_context_id, row->common_context_id, row->loop_id,
		(int)row->recycled, row->refs);
}

static void say_region(int at, const struct loci_region_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %s %" PRIu64 " %" PRIu64, row->id, row->parent_id,
		TEXT(row->name), row->entries, row->refs);
}

static void say_phase(int at, const struct loci_phase_row *row)
{
	SAY("%" PRId64 " %s %" PRIu64, row->id, TEXT(row->name), row->refs);
}

static void say_stretch(int at, const struct loci_stretch_row *row)
{
	SAY("%" PRIu64 " %" PRIu64 " %" PRId64, row->first_refs, row->refs, row->phase_id);
}

static void say_sampling(int at, const struct loci_sampling_row *row)
{
	SAY("%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %g",
		row->id, row->period, row->last_period, row->seed, row->samples, row->pruned,
		row->lost, row->analysed_refs, row->refs, row->effective);
}

static void say_mistake(int at, const struct loci_mistake_row *row)
{
	SAY("%" PRId64 " %s %" PRIu64, row->id, TEXT(row->what), row->times);
}

static void say_level(int at, const struct loci_level_row *row)
{
	SAY("%" PRId64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s", row->id, TEXT(row->name),
		row->size_bytes, row->ways, row->line_bytes, TEXT(row->share));
}

static void say_level_count(int at, const struct loci_level_count_row *row)
{
	SAY("%" PRId64 " %d %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		row->level_id, (int)row->owner, row->owner_id, row->first_hits, row->misses,
		row->writebacks, row->coherence, row->transfers);
}

static void say_block(int at, const struct loci_block_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %u %d %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64,
		row->id, row->function_id, row->loop_id, row->source_id, row->line, (int)row->entry,
		row->contents, row->executions, row->range_loaded_bytes, row->range_stored_bytes);
}

static void say_operation(int at, const struct loci_operation_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %s %s %" PRIu64 " %" PRIu64 " %" PRIu64, row->id,
		row->block_id, TEXT(row->kind), TEXT(row->type), row->lanes, row->count, row->bits);
}

static void say_invocation(int at, const struct loci_invocation_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %s %" PRIu64, row->id, row->block_id, TEXT(row->callee),
		row->count);
}

static void say_execution(int at, const struct loci_execution_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64, row->id, row->block_id,
		row->context_id, row->region_id, row->executions);
}

static void say_footprint(int at, const struct loci_footprint_row *row)
{
	SAY("%" PRId64 " %d %" PRId64 " %g %g %g %g", row->id, (int)row->owner, row->owner_id,
		row->error, row->loaded_bytes, row->stored_bytes, row->touched_bytes);
}

static void say_memory_use(int at, const struct loci_memory_use_row *row)
{
	SAY("%" PRId64 " %" PRIu64, row->percent, row->bytes);
}

static void say_coherence(int at, const struct loci_coherence_row *row)
{
	SAY("%" PRId64 " %d %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		row->id, (int)row->owner, row->owner_id, row->block_bytes, row->touches,
		row->true_sharing, row->false_sharing, row->remote);
}

static void say_shared_blocks(int at, const struct loci_shared_blocks_row *row)
{
	SAY("%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, row->id, row->block_bytes,
		row->alone, row->read_only, row->written);
}

static void say_sharing(int at, const struct loci_sharing_row *row)
{
	SAY("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
	    " %s %" PRIu64 " %" PRIu64,
		row->id, row->write_site_id, row->miss_site_id, row->object_id,
		row->write_object_id, row->field_id, row->write_field_id, TEXT(row->kind),
		row->misses, row->threads);
}

static struct loci_profile *begin(void)
{
	struct loci_run run = { .unit = "byte", .merged = 1 };
	struct loci_grain grain = { .block_bytes = 64 };
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	if (loci_profile_create(path, &profile, &err) < 0 ||
		loci_profile_put_run(profile, &run, &err) < 0 ||
		loci_profile_put_grain(profile, &grain, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		exit(1);
	}
	return profile;
}

static struct loci_profile *open_profile(void)
{
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	if (loci_profile_open(path, &profile, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		exit(1);
	}
	return profile;
}

static int sql(const char *statements)
{
	sqlite3 *db = NULL;
	char *message = NULL;
	int rc = sqlite3_open(path, &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, statements, NULL, NULL, &message);
	if (rc != SQLITE_OK)
		CHECK_FAIL("%s: %s", statements, message ? message : "?");
	sqlite3_free(message);
	sqlite3_close(db);
	return rc;
}

#define PUT(name, names)                                                     \
	for (size_t i = LOCI_ARRAY_SIZE(name##_); i-- > 0;)                  \
		if (loci_profile_put_##name(profile, &name##_[i], &err) < 0) \
			CHECK_FAIL("%s", err.text);

static void write_all(void)
{
	struct loci_profile *profile = begin();
	struct loci_err err = { "" };

	LOCI_DIMENSIONS(PUT)
	CHECK(loci_profile_put_thread(profile,
		      &(struct loci_thread_totals){ .thread = 7, .references = 1 }, &err) == 0);
	CHECK(loci_profile_put_thread(profile,
		      &(struct loci_thread_totals){ .thread = 0, .references = 1 }, &err) == 0);
	if (loci_profile_commit(profile, &err) < 0)
		CHECK_FAIL("%s", err.text);
	loci_profile_close(profile);
}

/* The rows above are in the order in which they must come back. */
#define COMPARE(name, names)                                                         \
	{                                                                            \
		const struct loci_##name##_row *got = NULL;                          \
		size_t n_got = 99;                                                   \
                                                                                     \
		if (loci_profile_##names(profile, &got, &n_got, &err) < 0)           \
			CHECK_FAIL("%s", err.text);                                  \
		CHECK_U64(n_got, LOCI_ARRAY_SIZE(name##_));                          \
		for (size_t i = 0; i < n_got && i < LOCI_ARRAY_SIZE(name##_); i++) { \
			say_##name(0, &got[i]);                                      \
			say_##name(1, &name##_[i]);                                  \
			CHECK_STR(words[0], words[1]);                               \
		}                                                                    \
	}

static void check_round_trip(void)
{
	struct loci_profile *profile;
	const struct loci_object_row *object;
	struct loci_err err = { "" };
	size_t n;

	write_all();
	profile = open_profile();
	LOCI_DIMENSIONS(COMPARE)
	CHECK(loci_profile_objects(profile, &object, &n, &err) == 0);
	CHECK(object[0].type == object[1].type); /* one string */
	for (size_t i = 0; i < n; i++)
		CHECK(loci_row_find(object, n, sizeof(*object), object[i].id) == &object[i]);
	CHECK(!loci_row_find(object, n, sizeof(*object), 0));
	CHECK(!loci_row_find(object, n, sizeof(*object), -1));
	CHECK(!loci_row_find(object, n, sizeof(*object), 3));
	CHECK(!loci_row_find(object, n, sizeof(*object), 99));
	loci_profile_close(profile);
}

/* Histograms of one kind, all at once: the same as one by one. */

#define HISTS 300

static void put_hist(struct loci_profile *profile, enum loci_owner owner, int64_t id,
	enum loci_distance distance, bool sampled)
{
	struct loci_hist_key key = { distance, 64, 0, owner, id };
	struct loci_err err = { "" };
	struct loci_hist hist;

	loci_hist_init(&hist, LOCI_SCHEME_COARSE);
	if (sampled)
		hist.square = calloc(1, sizeof(double));
	for (int64_t i = 0; i < id % 5; i++) /* every fifth has no bins */
		CHECK(loci_hist_add(&hist, (uint64_t)(id * i * i * i), (double)id) == 0);
	hist.cold = (double)id;
	if (loci_profile_put_hist(profile, &key, &hist, &err) < 0)
		CHECK_FAIL("%s", err.text);
	loci_hist_fini(&hist);
}

/* Sites' and objects' in turn, the largest ids first. */
static void write_hists(void)
{
	struct loci_profile *profile = begin();
	struct loci_err err = { "" };

	for (int64_t i = HISTS; i > 0; i--) {
		CHECK(loci_profile_put_site(profile,
			      &(struct loci_site_row){ .id = 3 * i, .site_key = "", .op = "load" },
			      &err) == 0);
		CHECK(loci_profile_put_object(profile,
			      &(struct loci_object_row){ .id = i, .kind = "heap" }, &err) == 0);
		put_hist(profile, LOCI_OWNER_SITE, 3 * i, LOCI_DISTANCE_STACK, i % 7 == 0);
		put_hist(profile, LOCI_OWNER_OBJECT, i, LOCI_DISTANCE_STACK, false);
		put_hist(profile, LOCI_OWNER_SITE, 3 * i, LOCI_DISTANCE_TIME, false);
	}
	CHECK(loci_profile_commit(profile, &err) == 0);
	CHECK_STR(err.text, "");
	loci_profile_close(profile);
}

static void compare_hists(const struct loci_hist *got, const struct loci_hist *want)
{
	CHECK(got->scheme == want->scheme && !got->square == !want->square);
	CHECK_NEAR(got->cold, want->cold, 0);
	CHECK_U64(got->n_bins, want->n_bins);
	for (uint32_t i = 0; i < got->n_bins && i < want->n_bins; i++) {
		CHECK_NEAR(got->weight[i], want->weight[i], 0);
		if (got->square && want->square)
			CHECK_NEAR(got->square[i], want->square[i], 0);
	}
}

static void check_hists(void)
{
	const struct loci_owner_hist *list, *again;
	struct loci_profile *profile, *single;
	const struct loci_hist *one;
	struct loci_err err = { "" };
	size_t n;

	write_hists();
	profile = open_profile();
	single = open_profile();
	/* one of them is loaded before */
	CHECK(loci_profile_hist(profile,
		      &(struct loci_hist_key){ LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_SITE, 33 },
		      &one, &err) == 0);
	CHECK(loci_profile_hists(
		      profile, LOCI_DISTANCE_STACK, LOCI_OWNER_SITE, 64, &list, &n, &err) == 0);
	CHECK_U64(n, HISTS);
	CHECK(list[10].hist == one);
	for (size_t i = 0; i < n; i++) {
		struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_SITE,
			list[i].owner_id };

		CHECK_U64((uint64_t)list[i].owner_id, 3 * (i + 1));
		CHECK(loci_profile_hist(single, &key, &one, &err) == 0);
		compare_hists(list[i].hist, one);
		CHECK(one->n_bins || key.owner_id % 5 < 1);
		CHECK(loci_profile_hist(profile, &key, &one, &err) == 0 && one == list[i].hist);
	}
	CHECK(loci_profile_hists(
		      profile, LOCI_DISTANCE_STACK, LOCI_OWNER_SITE, 64, &again, &n, &err) == 0);
	CHECK(again == list && n == HISTS);
	CHECK(loci_profile_hists(
		      profile, LOCI_DISTANCE_TIME, LOCI_OWNER_SITE, 64, &again, &n, &err) == 0);
	CHECK(again != list && n == HISTS);
	CHECK(loci_profile_hists(
		      profile, LOCI_DISTANCE_STACK, LOCI_OWNER_PAIR, 64, &again, &n, &err) == 0);
	CHECK_U64(n, 0);
	CHECK(loci_profile_hists(
		      profile, LOCI_DISTANCE_STACK, LOCI_OWNER_SITE, 4096, &again, &n, &err) == 0);
	CHECK_U64(n, 0);
	loci_profile_close(profile);
	loci_profile_close(single);
}

static void check_bad_hists(void)
{
	static const struct {
		const char *sql, *want;
	} bad[] = {
		{ "DELETE FROM site WHERE id = 30",
			"histogram.owner_id is 30, which site does not have" },
		{ "UPDATE bin SET weight = -1 WHERE histogram_id ="
		  " (SELECT id FROM histogram WHERE owner = 'site' AND owner_id = 33)",
			"a row of bin holds nonsense" },
		{ "UPDATE bin SET high = 4000 WHERE histogram_id ="
		  " (SELECT id FROM histogram WHERE owner = 'site' AND owner_id = 33)",
			"is no bin of a coarse histogram" },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(bad); i++) {
		const struct loci_owner_hist *list;
		const struct loci_hist *one;
		struct loci_profile *profile;
		size_t n;

		write_hists();
		sql(bad[i].sql);
		profile = open_profile();
		for (unsigned round = 0; round < 2; round++) { /* the error comes again */
			struct loci_err err = { "" };

			CHECK(loci_profile_hists(profile, LOCI_DISTANCE_STACK, LOCI_OWNER_SITE, 64,
				      &list, &n, &err) < 0);
			if (!strstr(err.text, bad[i].want))
				CHECK_FAIL("says \"%s\", want \"%s\"", err.text, bad[i].want);
		}
		/* one that was read before the bad one came is read once */
		CHECK(loci_profile_hist(profile,
			      &(struct loci_hist_key){
				      LOCI_DISTANCE_STACK, 64, 0, LOCI_OWNER_SITE, 3 },
			      &one, NULL) == 0);
		CHECK_NEAR(loci_hist_finite(one), 9, 0);
		loci_profile_close(profile);
	}
}

/* Reads everything there is. */
#define READ(name, names)                                                 \
	{                                                                 \
		const struct loci_##name##_row *got;                      \
		size_t n;                                                 \
                                                                          \
		if (r == 0)                                               \
			r = loci_profile_##names(profile, &got, &n, err); \
	}

static int read_all(struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	int r = loci_profile_open(path, &profile, err);

	LOCI_DIMENSIONS(READ)
	return r;
}

static const struct {
	const char *sql, *want;
} spoilt[] = {
	{ "UPDATE operation SET block_id = 9", "operation.block_id is 9, which block" },
	{ "UPDATE invocation SET block_id = 9", "invocation.block_id is 9, which block" },
	{ "UPDATE execution SET context_id = 9", "execution.context_id is 9, which context" },
	{ "UPDATE execution SET region_id = 9", "execution.region_id is 9, which region" },
	{ "UPDATE execution SET executions = -1", "execution.executions holds nonsense" },
	{ "UPDATE block SET loop_id = 9", "block.loop_id is 9, which loop" },
	{ "UPDATE block SET entry = 2", "block.entry holds nonsense" },
	{ "UPDATE footprint SET owner_id = 9 WHERE id = 2",
		"footprint.owner_id is 9, which function" },
	{ "UPDATE footprint SET error = -1", "footprint.error holds nonsense" },
	{ "UPDATE coherence SET owner_id = 9 WHERE id = 3",
		"coherence.owner_id is 9, which thread_group does" },
	{ "UPDATE coherence SET owner_id = 9 WHERE id = 2",
		"coherence.owner_id is 9, which thread does" },
	{ "UPDATE coherence SET remote = -1", "coherence.remote holds nonsense" },
	{ "UPDATE shared_blocks SET alone = 'all'", "shared_blocks.alone holds nonsense" },
	{ "UPDATE sharing SET write_object_id = 9 WHERE id = 1",
		"sharing.write_object_id is 9, which object" },
	{ "UPDATE sharing SET write_field_id = 9 WHERE id = 1",
		"sharing.write_field_id is 9, which field" },
	{ "UPDATE sharing SET kind = x'41'", "sharing.kind holds nonsense" },
	{ "UPDATE thread_group SET threads = '7,9' WHERE id = 1",
		"thread_group.threads is 9, which thread does" },
	{ "UPDATE thread_group SET threads = '0,7' WHERE id = 1", "thread_group.threads holds" },
	{ "UPDATE thread_group SET threads = '7,' WHERE id = 1", "thread_group.threads holds" },
	{ "UPDATE thread_group SET threads = '7,-0' WHERE id = 1", "thread_group.threads holds" },
	{ "UPDATE thread_group SET threads = '7, 0' WHERE id = 1", "thread_group.threads holds" },
	{ "UPDATE thread_group SET threads = '7,4294967296' WHERE id = 1",
		"thread_group.threads holds" },
	{ "UPDATE thread_group SET threads = '' WHERE id = 1", "thread_group.threads holds" },
	{ "UPDATE thread_group SET thread_id = 9 WHERE id = 1", "thread_group.threads holds" },
	{ "UPDATE operation SET kind = x'41'", "operation.kind holds nonsense" },
	{ "UPDATE memory_use SET bytes = 'many'", "memory_use.bytes holds nonsense" },
	{ "UPDATE site SET refs = -1 WHERE id = 1", "site.refs holds nonsense" },
	{ "UPDATE site SET refs = 1.5 WHERE id = 1", "site.refs holds nonsense" },
	{ "UPDATE site SET line = -1 WHERE id = 1", "site.line holds nonsense" },
	{ "UPDATE site SET line = 1 << 32 WHERE id = 1", "site.line holds nonsense" },
	{ "UPDATE site SET id = -5 WHERE id = 1", "site.id holds nonsense" },
	{ "UPDATE site SET id = 0 WHERE id = 1", "site.id holds nonsense" },
	{ "UPDATE site SET op = x'00' WHERE id = 1", "site.op holds nonsense" },
	{ "UPDATE site SET flags = CAST(x'610062' AS TEXT)", "site.flags holds nonsense" },
	{ "UPDATE site SET function_id = 99 WHERE id = 1",
		"site.function_id is 99, which function does not have" },
	{ "UPDATE site SET function_id = -1 WHERE id = 1", "site.function_id holds nonsense" },
	{ "DELETE FROM loop WHERE id = 2", "site.loop_id is 2, which loop does not have" },
	{ "UPDATE context SET parent_id = 2 WHERE id = 1", "context 1 is above itself" },
	{ "UPDATE context SET parent_id = 1 WHERE id = 1", "context 1 is above itself" },
	{ "UPDATE inlined SET parent_id = 1 WHERE id = 2", "inlined 1 is above itself" },
	{ "UPDATE loop SET parent_id = 2 WHERE id = 1", "loop 1 is above itself" },
	{ "UPDATE process SET parent_id = 2 WHERE id = 1", "process 1 is above itself" },
	{ "UPDATE context SET parent_id = 77 WHERE id = 1",
		"context.parent_id is 77, which context does not have" },
	{ "UPDATE excerpt SET source_id = 77 WHERE source_id = 10", "excerpt.source_id is 77" },
	{ "UPDATE pair SET recycled = 2 WHERE id = 1", "pair.recycled holds nonsense" },
	{ "UPDATE pair SET object_id = 2000000 WHERE id = 1", "pair.object_id is 2000000" },
	{ "UPDATE access SET stride_bytes = 'far' WHERE id = 1",
		"access.stride_bytes holds nonsense" },
	{ "UPDATE level_count SET owner = 'nobody' WHERE owner = 'site'",
		"level_count.owner holds nonsense" },
	{ "UPDATE level_count SET owner_id = 99 WHERE owner = 'field'",
		"level_count.owner_id is 99, which field does not have" },
	{ "UPDATE level_count SET owner_id = 8 WHERE owner = 'thread'",
		"level_count.owner_id is 8, which thread does not have" },
	{ "UPDATE level_count SET level_id = 3 WHERE owner = 'field'",
		"level_count.level_id is 3" },
	{ "DELETE FROM level", "level_count.level_id is 1, which level does not have" },
	{ "DELETE FROM object WHERE id = 1", "object does not have" },
	{ "UPDATE object SET died_refs = -1 WHERE id = 1", "object.died_refs holds nonsense" },
	{ "DROP TABLE module", "module does not have" },
	{ "ALTER TABLE module RENAME TO m; CREATE TABLE module (id, path, build_id);"
	  "INSERT INTO module SELECT * FROM m UNION ALL SELECT * FROM m",
		"module 1 is there twice" },
	{ "ALTER TABLE module RENAME TO m; CREATE TABLE module (id, path, build_id);"
	  "INSERT INTO module VALUES (1, NULL, NULL)",
		"module.path holds nonsense" },
	{ "DROP TABLE level; CREATE VIEW level AS SELECT 1 AS id", "no plain tables: level" },
	{ "DROP TABLE level; CREATE VIEW LEVEL AS SELECT 1 AS id", "no plain tables: LEVEL" },
	{ "DROP TABLE level; CREATE VIRTUAL TABLE level USING fts5(id)", "no plain tables: level" },
	{ "ALTER TABLE site RENAME COLUMN op TO operation", "no such column: op" },
	{ "UPDATE source SET path = printf('%.*c', 20000000, 'x')", "too big" },
};

static void check_spoilt(void)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(spoilt); i++) {
		struct loci_err err = { "" };

		write_all();
		if (sql(spoilt[i].sql) != SQLITE_OK)
			continue;
		check_count++;
		if (read_all(&err) == 0)
			CHECK_FAIL("accepted: %s", spoilt[i].sql);
		else if (!strstr(err.text, spoilt[i].want) || !strstr(err.text, "damaged profile"))
			CHECK_FAIL("%s: says \"%s\", want \"%s\"", spoilt[i].sql, err.text,
				spoilt[i].want);
	}
}

/* Profiles written before loops and accesses were known. */
static void check_older(void)
{
	const struct loci_access_row *access_row;
	const struct loci_pair_row *pair;
	const struct loci_site_row *site;
	struct loci_profile *profile;
	struct loci_err err = { "" };
	size_t n;

	write_all();
	sql("DELETE FROM level_count WHERE owner = 'access'; DROP TABLE access;"
	    "ALTER TABLE site DROP COLUMN module_id; ALTER TABLE site DROP COLUMN loop_id;"
	    "ALTER TABLE pair DROP COLUMN loop_id;"
	    "ALTER TABLE level_count DROP COLUMN coherence;"
	    "ALTER TABLE level_count DROP COLUMN transfers;"
	    "ALTER TABLE pair DROP COLUMN refs; DROP TABLE loop;"
	    "DROP TABLE block; DROP TABLE operation; DROP TABLE invocation; DROP TABLE execution;"
	    "DROP TABLE footprint; DROP TABLE memory_use; DROP TABLE thread_group;"
	    "DROP TABLE coherence; DROP TABLE shared_blocks; DROP TABLE sharing");
	CHECK(read_all(&err) == 0);
	CHECK_STR(err.text, "");
	profile = open_profile();
	CHECK(loci_profile_accesses(profile, &access_row, &n, &err) == 0 && n == 0);
	CHECK(loci_profile_sites(profile, &site, &n, &err) == 0 && n == 2);
	CHECK(site[0].loop_id == 0 && site[0].inlined_id == 1 && site[0].refs == 1000000);
	CHECK(site[1].module_id == 0);
	CHECK(loci_profile_pairs(profile, &pair, &n, &err) == 0 && n == 2);
	CHECK(pair[0].loop_id == 0 && pair[0].refs == 0 && pair[0].recycled);
	loci_profile_close(profile);
}

#define REFUSED(call, want)                                                     \
	do {                                                                    \
		err.text[0] = '\0';                                             \
		CHECK((call) < 0);                                              \
		if (!strstr(err.text, want))                                    \
			CHECK_FAIL("says \"%s\", want \"%s\"", err.text, want); \
	} while (0)

/* What a reader would refuse is not written, and the message speaks of writing. */
static void check_refusals(void)
{
	const struct loci_source_row nameless = { .id = 1 };
	const struct loci_source_row zero = { .id = 0, .path = "x" };
	const struct loci_context_row circle[] = { { .id = 1, .parent_id = 2 },
		{ .id = 2, .parent_id = 1 } };
	const struct loci_context_row vast = { .id = 1, .refs = UINT64_MAX };
	struct loci_profile *profile = begin();
	struct loci_err err = { "" };

	REFUSED(loci_profile_put_source(profile, &nameless, &err),
		"cannot write: NOT NULL constraint failed: source.path");
	REFUSED(loci_profile_put_source(profile, &zero, &err),
		"cannot write: source.id is out of range");
	REFUSED(loci_profile_put_context(profile, &vast, &err),
		"cannot write: context.refs is out of range");
	CHECK(loci_profile_put_source(profile, &source_[0], &err) == 0);
	REFUSED(loci_profile_put_source(profile, &source_[0], &err),
		"cannot write: UNIQUE constraint failed: source.id");
	CHECK(loci_profile_put_source(profile, &source_[1], &err) == 0);
	CHECK(loci_profile_put_context(profile, &circle[0], &err) == 0);
	REFUSED(loci_profile_commit(profile, &err), "cannot write: context.parent_id is 2");
	CHECK(loci_profile_put_context(profile, &circle[1], &err) == 0);
	REFUSED(loci_profile_commit(profile, &err), "cannot write: context 1 is above itself");
	loci_profile_close(profile);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/p.loci", directory);
	check_round_trip();
	check_hists();
	check_bad_hists();
	check_spoilt();
	check_older();
	check_refusals();
	unlink(path);
	CHECK(rmdir(directory) == 0);
	return check_status();
}
