// SPDX-License-Identifier: GPL-2.0-or-later
/* Merging adds dimensions up: two halves of a program's profile make the whole, in either order and
 * whatever their ids; a profile and itself make twice the profile, with one row for each thing.
 *
 * Profiles are compared by what they say: every row in words, with names in place of ids, sorted.
 */
#include "check.h"
#include "matrix_program.h"

#include "base/cleanup.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#define PAIRS  40
#define IDS    (PAIRS + 1)
#define BINS   6
#define LEVELS 3

static char directory[] = "/tmp/loci-fold-XXXXXX";
static char path[4][64];
static uint64_t random_state = 4711;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % below;
}

static const enum loci_owner owners[] = { LOCI_OWNER_SITE, LOCI_OWNER_CONTEXT, LOCI_OWNER_OBJECT,
	LOCI_OWNER_FIELD, LOCI_OWNER_PAIR, LOCI_OWNER_LOOP, LOCI_OWNER_ACCESS, LOCI_OWNER_WHOLE };
#define OWNERS 16

/* What one run counted. */
struct part {
	bool has_site[SITE_END], has_pair[IDS];
	uint64_t refs[OWNERS][IDS], levels[OWNERS][IDS][LEVELS][3], bins[OWNERS][IDS][BINS];
	uint64_t cold[OWNERS][IDS], regular[SITE_END], fills[SITE_END], used[SITE_END];
	int64_t stride[SITE_END], mul_loop;
	uint64_t size, born, died, allocations;
	unsigned last_line;
	bool released;
	const char *first_line, *type;
	bool backwards; /* its ids descend, with gaps */
};

static void random_part(struct part *part)
{
	memset(part, 0, sizeof(*part));
	for (unsigned o = 0; o < OWNERS; o++)
		for (unsigned id = 0; id < IDS; id++) {
			part->refs[o][id] = draw(1000);
			part->cold[o][id] = draw(10);
			for (unsigned i = 0; i < 3 * LEVELS; i++)
				part->levels[o][id][i / 3][i % 3] = draw(4) ? draw(1000) : 0;
			for (unsigned i = 0; i < BINS; i++)
				part->bins[o][id][i] = draw(3);
		}
	for (unsigned i = 1; i < SITE_END; i++) {
		part->has_site[i] = draw(4) != 0;
		part->regular[i] = draw(100);
		part->fills[i] = draw(100);
		part->used[i] = draw(100);
		part->stride[i] = 8 * (int64_t)draw(10) - 40;
	}
	part->has_site[SITE_MUL_C] = true;
	part->mul_loop = LOOP_J;
	part->size = 1 + draw(1000);
	part->born = draw(1000);
	part->died = draw(1000);
	part->allocations = draw(10);
	part->last_line = 23 + (unsigned)draw(5);
	part->released = true;
	part->first_line = "#include <stdlib.h>";
	part->type = "double";
}

/* What a and b counted together. */
static void add_parts(struct part *sum, const struct part *a, const struct part *b)
{
	*sum = *a;
	sum->backwards = false;
	for (unsigned o = 0; o < OWNERS; o++)
		for (unsigned id = 0; id < IDS; id++) {
			sum->refs[o][id] += b->refs[o][id];
			sum->cold[o][id] += b->cold[o][id];
			for (unsigned i = 0; i < 3 * LEVELS; i++)
				sum->levels[o][id][i / 3][i % 3] += b->levels[o][id][i / 3][i % 3];
			for (unsigned i = 0; i < BINS; i++)
				sum->bins[o][id][i] += b->bins[o][id][i];
		}
	for (unsigned i = 1; i < SITE_END; i++) {
		const struct part *most = a->regular[i] > b->regular[i] ? a
			: a->regular[i] < b->regular[i]                 ? b
			: a->stride[i] < b->stride[i]                   ? a
									: b;

		if (a->has_site[i] != b->has_site[i])
			most = a->has_site[i] ? a : b;
		sum->stride[i] = most->stride[i];
		sum->regular[i] += b->regular[i];
		sum->fills[i] += b->fills[i];
		sum->used[i] += b->used[i];
		sum->has_site[i] |= b->has_site[i];
	}
	for (unsigned i = 1; i <= PAIRS; i++)
		sum->has_pair[i] |= b->has_pair[i];
	sum->mul_loop = LOOP_J;
	sum->size = a->size > b->size ? a->size : b->size;
	sum->born = a->born < b->born ? a->born : b->born;
	sum->died = a->died > b->died ? a->died : b->died;
	sum->released = a->released && b->released;
	sum->allocations += b->allocations;
	sum->last_line = a->last_line > b->last_line ? a->last_line : b->last_line;
	sum->first_line = strcmp(a->first_line, b->first_line) < 0 ? a->first_line : b->first_line;
	sum->type = a->type && (!b->type || strcmp(a->type, b->type) < 0) ? a->type : b->type;
}

static const struct loci_pair_row *pair_row(unsigned id)
{
	static const char *const kinds[] = { "RAR", "RAW", "WAR", "WAW" };
	static struct loci_pair_row row;

	row = (struct loci_pair_row){ .id = id,
		.use_site_id = 1 + id % (SITE_END - 1),
		.reuse_site_id = 1 + id * 5 % (SITE_END - 1),
		.object_id = 1 + id % 5,
		.kind = kinds[id / 14],
		.use_context_id = 1 + id % 2,
		.reuse_context_id = 1 + id / 2 % 2,
		.common_context_id = 1,
		.loop_id = id % 7,
		.recycled = id % 3 == 0 };
	return &row;
}

/* What a run does not have counts nothing. */
static void clear_missing(struct part *part)
{
	for (unsigned i = 1; i < SITE_END; i++)
		for (unsigned o = 0; o < OWNERS && !part->has_site[i]; o++) {
			if (o != LOCI_OWNER_SITE && o != LOCI_OWNER_ACCESS)
				continue;
			part->refs[o][i] = part->cold[o][i] = 0;
			memset(part->levels[o][i], 0, sizeof(part->levels[o][i]));
			memset(part->bins[o][i], 0, sizeof(part->bins[o][i]));
			part->regular[i] = part->fills[i] = part->used[i] = 0;
		}
	for (unsigned i = 1; i <= PAIRS; i++) {
		const struct loci_pair_row *pair = pair_row(i);

		part->has_pair[i] =
			part->has_site[pair->use_site_id] && part->has_site[pair->reuse_site_id];
		if (part->has_pair[i])
			continue;
		part->refs[LOCI_OWNER_PAIR][i] = part->cold[LOCI_OWNER_PAIR][i] = 0;
		memset(part->levels[LOCI_OWNER_PAIR][i], 0, sizeof(part->levels[0][0]));
		memset(part->bins[LOCI_OWNER_PAIR][i], 0, sizeof(part->bins[0][0]));
	}
}

static bool has_owner(const struct part *part, enum loci_owner owner, unsigned id)
{
	switch (owner) {
	case LOCI_OWNER_WHOLE:
		return id == 0;
	case LOCI_OWNER_SITE:
	case LOCI_OWNER_ACCESS:
		return id > 0 && id < SITE_END && part->has_site[id];
	case LOCI_OWNER_CONTEXT:
	case LOCI_OWNER_FIELD:
		return id > 0 && id <= 2;
	case LOCI_OWNER_OBJECT:
		return id > 0 && id <= 5;
	case LOCI_OWNER_LOOP:
		return id > 0 && id <= 6;
	case LOCI_OWNER_PAIR:
		return part->has_pair[id];
	default:
		return false;
	}
}

static int64_t name(const struct part *part, int64_t id)
{
	return !id || !part->backwards ? id : 1000 - 7 * id;
}

/* From the processor outwards. */
static int64_t level_name(const struct part *part, unsigned i)
{
	return part->backwards ? 10 * (i + 1) : i + 1;
}

#define NAME(member) row.member = name(part, row.member)
#define MUST(call)                                  \
	do {                                        \
		if ((call) < 0)                     \
			CHECK_FAIL("%s", err.text); \
	} while (0)

static void put_code(struct loci_profile *profile, const struct part *part)
{
	struct loci_err err = { "" };

	MUST(loci_profile_put_process(
		profile, &(struct loci_process_row){ name(part, 1), 0, 1, "./mm" }, &err));
	MUST(loci_profile_put_module(
		profile, &(struct loci_module_row){ name(part, 1), "mm", "01ab" }, &err));
	MUST(loci_profile_put_source(
		profile, &(struct loci_source_row){ name(part, 1), "mm.c" }, &err));
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_text); i++)
		MUST(loci_profile_put_excerpt(profile,
			&(struct loci_excerpt_row){
				name(part, 1), i + 1, i ? matrix_text[i] : part->first_line },
			&err));
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_functions); i++) {
		struct loci_function_row row = matrix_functions[i];

		NAME(id), NAME(module_id), NAME(source_id);
		MUST(loci_profile_put_function(profile, &row, &err));
	}
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_inlined); i++) {
		struct loci_inlined_row row = matrix_inlined[i];

		NAME(id), NAME(parent_id), NAME(function_id), NAME(source_id);
		MUST(loci_profile_put_inlined(profile, &row, &err));
	}
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_loops); i++) {
		struct loci_loop_row row = matrix_loops[i];

		row.iterations = part->refs[LOCI_OWNER_LOOP][row.id];
		row.last_line = row.id == LOOP_J ? part->last_line : row.last_line;
		NAME(id), NAME(parent_id), NAME(function_id), NAME(source_id);
		MUST(loci_profile_put_loop(profile, &row, &err));
	}
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_contexts); i++) {
		struct loci_context_row row = matrix_contexts[i];

		row.refs = part->refs[LOCI_OWNER_CONTEXT][row.id];
		NAME(id), NAME(parent_id), NAME(function_id), NAME(source_id);
		MUST(loci_profile_put_context(profile, &row, &err));
	}
	for (unsigned i = 1; i < SITE_END; i++) {
		struct loci_site_row row = matrix_sites[i - 1];

		row.refs = part->refs[LOCI_OWNER_SITE][i];
		row.loop_id = i == SITE_MUL_C ? part->mul_loop : row.loop_id;
		NAME(id), NAME(function_id), NAME(inlined_id), NAME(loop_id), NAME(source_id);
		if (part->has_site[i])
			MUST(loci_profile_put_site(profile, &row, &err));
	}
}

static void put_data(struct loci_profile *profile, const struct part *part)
{
	struct loci_err err = { "" };

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_objects); i++) {
		struct loci_object_row row = matrix_objects[i];

		row.refs = part->refs[LOCI_OWNER_OBJECT][row.id];
		if (row.id == OBJECT_C) {
			row.size_bytes = part->size;
			row.born_refs = part->born;
			row.died_refs = part->died;
			row.released = part->released;
			row.allocations = part->allocations;
			row.type = part->type;
		} else {
			row.released = false;
			row.allocations = 0;
		}
		NAME(id), NAME(module_id), NAME(function_id), NAME(source_id), NAME(context_id);
		MUST(loci_profile_put_object(profile, &row, &err));
	}
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(matrix_fields); i++) {
		struct loci_field_row row = matrix_fields[i];

		NAME(id), NAME(object_id);
		MUST(loci_profile_put_field(profile, &row, &err));
	}
	for (unsigned i = 1; i < SITE_END; i++) {
		struct loci_access_row row = { i, i, 1 + i % 5, i == SITE_TOTAL_LOAD,
			part->refs[LOCI_OWNER_ACCESS][i], part->stride[i], part->regular[i],
			part->fills[i], part->used[i] };

		NAME(id), NAME(site_id), NAME(object_id), NAME(field_id);
		if (part->has_site[i])
			MUST(loci_profile_put_access(profile, &row, &err));
	}
	for (unsigned i = 1; i <= PAIRS; i++) {
		struct loci_pair_row row = *pair_row(i);

		row.refs = part->refs[LOCI_OWNER_PAIR][i];
		NAME(id), NAME(use_site_id), NAME(reuse_site_id), NAME(object_id);
		NAME(use_context_id), NAME(reuse_context_id), NAME(common_context_id);
		NAME(loop_id);
		if (has_owner(part, LOCI_OWNER_PAIR, i))
			MUST(loci_profile_put_pair(profile, &row, &err));
	}
}

static void put_counts(
	struct loci_profile *profile, const struct part *part, enum loci_owner owner, unsigned id)
{
	struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, owner, name(part, id) };
	struct loci_err err = { "" };
	struct loci_hist hist;

	for (unsigned i = 0; i < LEVELS; i++) {
		const uint64_t *count = part->levels[owner][id][i];

		MUST(loci_profile_put_level_count(profile,
			&(struct loci_level_count_row){ level_name(part, i), owner, name(part, id),
				count[0], count[1], count[2], 0, 0 },
			&err));
	}
	loci_hist_init(&hist, owner == LOCI_OWNER_WHOLE ? LOCI_SCHEME_FINE : LOCI_SCHEME_COARSE);
	hist.cold = (double)part->cold[owner][id];
	for (unsigned i = 0; i < BINS; i++)
		CHECK(loci_hist_add(&hist, 3ull << 3 * i, (double)part->bins[owner][id][i]) == 0);
	if (owner != LOCI_OWNER_ACCESS)
		MUST(loci_profile_put_hist(profile, &key, &hist, &err));
	loci_hist_fini(&hist);
}

static void write_part(const char *file, const struct part *part)
{
	struct loci_run run = { .unit = "byte", .references = 1, .complete = true, .merged = 1 };
	struct loci_grain grain = { .block_bytes = 64 };
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	MUST(loci_profile_create(file, &profile, &err));
	MUST(loci_profile_put_run(profile, &run, &err));
	MUST(loci_profile_put_grain(profile, &grain, &err));
	put_code(profile, part);
	put_data(profile, part);
	for (unsigned i = 0; i < LEVELS; i++) {
		struct loci_level_row row = matrix_levels[i];

		row.id = level_name(part, i);
		MUST(loci_profile_put_level(profile, &row, &err));
	}
	for (unsigned o = 0; o < LOCI_ARRAY_SIZE(owners); o++)
		for (unsigned id = 0; id < IDS; id++)
			if (has_owner(part, owners[o], id))
				put_counts(profile, part, owners[o], id);
	MUST(loci_profile_commit(profile, &err));
	loci_profile_close(profile);
}

/* Everything the getters give. */
#define ROWS(name, names)                     \
	const struct loci_##name##_row *name; \
	size_t n_##names;
struct view {
	struct loci_profile *profile;
	LOCI_DIMENSIONS(ROWS)
};

#define GET(name, names)                                                                  \
	if (loci_profile_##names(view->profile, &view->name, &view->n_##names, &err) < 0) \
		CHECK_FAIL("%s", err.text);

static void view_open(struct view *view, const char *file)
{
	struct loci_err err = { "" };

	memset(view, 0, sizeof(*view));
	if (loci_profile_open(file, &view->profile, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		exit(1);
	}
	LOCI_DIMENSIONS(GET)
}

#define FIND(name, names, wanted)                         \
	((const struct loci_##name##_row *)loci_row_find( \
		view->name, view->n_##names, sizeof(*view->name), wanted))

static const char *text(const char *t)
{
	return t ? t : "-";
}

static void say_source(FILE *out, const struct view *view, int64_t id, unsigned line)
{
	const struct loci_source_row *row = FIND(source, sources, id);

	fprintf(out, " %s:%u", row ? row->path : "-", line);
}

static void say_function(FILE *out, const struct view *view, int64_t id)
{
	const struct loci_function_row *row = FIND(function, functions, id);
	const struct loci_module_row *module;

	fputs(" (", out);
	if (row) {
		module = FIND(module, modules, row->module_id);
		fprintf(out, "%s %s", row->name, text(row->mangled));
		fprintf(out, " of %s %s", module ? module->path : "-",
			module ? text(module->build_id) : "-");
		say_source(out, view, row->source_id, row->line);
	}
	fputs(")", out);
}

static void say_inlined(FILE *out, const struct view *view, int64_t id)
{
	for (const struct loci_inlined_row *row; (row = FIND(inlined, inlined_calls, id));
		id = row->parent_id) {
		fprintf(out, " inlined %u", row->column);
		say_function(out, view, row->function_id);
		say_source(out, view, row->source_id, row->line);
	}
}

static void say_loop(FILE *out, const struct view *view, int64_t id)
{
	for (const struct loci_loop_row *row; (row = FIND(loop, loops, id)); id = row->parent_id) {
		fprintf(out, " loop to %u %" PRIu64, row->last_line, row->iterations);
		say_function(out, view, row->function_id);
		say_source(out, view, row->source_id, row->line);
	}
}

static void say_context(FILE *out, const struct view *view, int64_t id)
{
	for (const struct loci_context_row *row; (row = FIND(context, contexts, id));
		id = row->parent_id) {
		fprintf(out, " context %" PRIu64, row->refs);
		say_function(out, view, row->function_id);
		say_source(out, view, row->source_id, row->line);
	}
}

static void say_site(FILE *out, const struct view *view, int64_t id)
{
	const struct loci_site_row *row = FIND(site, sites, id);

	if (!row)
		return;
	fprintf(out, " site %s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " column %u", row->site_key,
		row->op, text(row->flags), row->size_bytes, row->code_offset, row->refs,
		row->column);
	say_function(out, view, row->function_id);
	say_source(out, view, row->source_id, row->line);
	say_inlined(out, view, row->inlined_id);
	say_loop(out, view, row->loop_id);
}

static void say_object(FILE *out, const struct view *view, int64_t id)
{
	const struct loci_object_row *row = FIND(object, objects, id);
	const struct loci_module_row *module = row ? FIND(module, modules, row->module_id) : NULL;

	if (!row)
		return;
	fprintf(out, " object %s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "-%" PRIu64 " %d %" PRIu64,
		row->kind, text(row->name), text(row->type), row->size_bytes, row->allocations,
		row->born_refs, row->died_refs, row->released, row->refs);
	fputs(module ? module->path : "-", out);
	say_function(out, view, row->function_id);
	say_source(out, view, row->source_id, row->line);
	say_context(out, view, row->context_id);
}

static void say_field(FILE *out, const struct view *view, int64_t id)
{
	const struct loci_field_row *row = FIND(field, fields, id);

	if (!row)
		return;
	fprintf(out, " field %s %s %" PRIu64 " %" PRIu64, row->name, text(row->type),
		row->offset_bytes, row->size_bytes);
	say_object(out, view, row->object_id);
}

static void say_access(FILE *out, const struct view *view, int64_t id)
{
	const struct loci_access_row *row = FIND(access, accesses, id);

	fprintf(out, " access %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64, row->refs,
		row->stride_bytes, row->regular_refs, row->fills, row->used_bytes);
	say_site(out, view, row->site_id);
	say_object(out, view, row->object_id);
	say_field(out, view, row->field_id);
}

static void say_pair(FILE *out, const struct view *view, int64_t id)
{
	const struct loci_pair_row *row = FIND(pair, pairs, id);

	fprintf(out, " pair %s %d %" PRIu64, row->kind, row->recycled, row->refs);
	say_site(out, view, row->use_site_id);
	say_site(out, view, row->reuse_site_id);
	say_object(out, view, row->object_id);
	say_context(out, view, row->use_context_id);
	say_context(out, view, row->reuse_context_id);
	say_context(out, view, row->common_context_id);
	say_loop(out, view, row->loop_id);
}

static void (*const say[])(FILE *out, const struct view *view, int64_t id) = {
	[LOCI_OWNER_SITE] = say_site,
	[LOCI_OWNER_CONTEXT] = say_context,
	[LOCI_OWNER_OBJECT] = say_object,
	[LOCI_OWNER_FIELD] = say_field,
	[LOCI_OWNER_PAIR] = say_pair,
	[LOCI_OWNER_LOOP] = say_loop,
	[LOCI_OWNER_ACCESS] = say_access,
};

static void say_owner(FILE *out, const struct view *view, enum loci_owner owner, int64_t id)
{
	if (owner != LOCI_OWNER_WHOLE)
		say[owner](out, view, id);
}

static void say_counts(FILE *out, const struct view *view)
{
	const struct loci_hist_key *key;
	const struct loci_hist *hist = NULL;
	size_t n;

	for (size_t i = 0; i < view->n_level_counts; i++) {
		const struct loci_level_count_row *row = &view->level_count[i];
		const struct loci_level_row *level = FIND(level, levels, row->level_id);

		fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s:",
			level->name, level->size_bytes, level->ways, row->first_hits, row->misses,
			row->writebacks, level->share);
		say_owner(out, view, row->owner, row->owner_id);
		fputc('\n', out);
	}
	key = loci_profile_hist_keys(view->profile, &n);
	for (size_t i = 0; i < n; i++) {
		CHECK(loci_profile_hist(view->profile, &key[i], &hist, NULL) == 0);
		fprintf(out,
			"%s of %" PRIu64 ", %s, %g and %g:", loci_distance_name(key[i].distance),
			key[i].block_bytes, loci_scheme_name(hist->scheme), hist->cold,
			hist->coherence);
		for (uint32_t bin = 0; bin < hist->n_bins; bin++)
			if (hist->weight[bin])
				fprintf(out, " %u:%g", bin, hist->weight[bin]);
		say_owner(out, view, key[i].owner, key[i].owner_id);
		fputc('\n', out);
	}
}

#define SAY_ALL(name, names)                                          \
	for (size_t i = 0; i < view.n_##names; i++, fputc('\n', out)) \
		say_##name(out, &view, view.name[i].id);

/* In a line each, unsorted. *ret_rows: without processes. */
static char *describe(const char *file, size_t *ret_rows)
{
	struct view view;
	char *words = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&words, &length);

	view_open(&view, file);
	SAY_ALL(inlined, inlined_calls)
	SAY_ALL(loop, loops)
	SAY_ALL(context, contexts)
	SAY_ALL(site, sites)
	SAY_ALL(object, objects)
	SAY_ALL(field, fields)
	SAY_ALL(access, accesses)
	SAY_ALL(pair, pairs)
	for (size_t i = 0; i < view.n_functions; i++, fputc('\n', out))
		say_function(out, &view, view.function[i].id);
	for (size_t i = 0; i < view.n_excerpts; i++, fputc('\n', out)) {
		say_source(out, &view, view.excerpt[i].source_id, view.excerpt[i].line);
		fputs(view.excerpt[i].text, out);
	}
	say_counts(out, &view);
	*ret_rows = view.n_modules + view.n_sources + view.n_levels;
	fclose(out);
	loci_profile_close(view.profile);
	return words;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **split(char *words, size_t *ret_n)
{
	size_t n = 0;
	char **line = malloc((strlen(words) + 1) * sizeof(*line)), *save = NULL;

	for (char *at = strtok_r(words, "\n", &save); at; at = strtok_r(NULL, "\n", &save))
		line[n++] = at;
	qsort(line, n, sizeof(*line), compare_lines);
	*ret_n = n;
	return line;
}

static void expect_same(const char *got_file, const char *want_file)
{
	size_t got_rows, want_rows, n_got, n_want;
	char *got = describe(got_file, &got_rows), *want = describe(want_file, &want_rows);
	char **got_line = split(got, &n_got), **want_line = split(want, &n_want);

	CHECK_U64(got_rows, want_rows);
	CHECK_U64(n_got, n_want);
	CHECK(n_want > 300);
	for (size_t i = 0; i < n_got && i < n_want; i++) {
		CHECK_STR(got_line[i], want_line[i]);
		if (strcmp(got_line[i], want_line[i]))
			break; /* the rest differs by being shifted */
	}
	free(got_line);
	free(want_line);
	free(got);
	free(want);
}

static void merge(const char *out, const char *a, const char *b)
{
	char *inputs[] = { (char *)a, (char *)b };
	struct loci_err err = { "" };

	if (loci_profile_merge(out, inputs, b ? 2 : 1, &err) < 0)
		CHECK_FAIL("%s", err.text);
}

static void expect_note(const char *file, const char *want)
{
	struct loci_profile *profile = NULL;
	const char *note;

	CHECK(loci_profile_open(file, &profile, NULL) == 0);
	note = loci_profile_run(profile)->note;
	if (want ? !note || !strstr(note, want) : note != NULL)
		CHECK_FAIL("the note is \"%s\", want \"%s\"", text(note), text(want));
	loci_profile_close(profile);
}

static struct part a, b, sum;

static void check_halves(void)
{
	struct view view;

	for (unsigned round = 0; round < 8; round++) {
		random_part(&a);
		random_part(&b);
		clear_missing(&a);
		clear_missing(&b);
		b.mul_loop = LOOP_I; /* it did not find the inner one */
		b.backwards = round & 1;
		a.released = round & 2;
		a.first_line = round & 4 ? "a" : "z";
		a.type = round & 4 ? NULL : "z";
		add_parts(&sum, &a, &b);
		write_part(path[0], &a);
		write_part(path[1], &b);
		write_part(path[2], &sum);
		merge(path[3], path[0], path[1]);
		expect_same(path[3], path[2]);
		expect_note(path[3], NULL);
		merge(path[3], path[1], path[0]);
		expect_same(path[3], path[2]);
	}
	view_open(&view, path[3]);
	CHECK_U64(view.n_processes, 2);
	loci_profile_close(view.profile);
}

/* A alone is A, and A twice is twice A: one row for each thing. */
static void check_self(void)
{
	random_part(&a);
	clear_missing(&a);
	a.backwards = true;
	write_part(path[0], &a);
	merge(path[3], path[0], NULL);
	expect_same(path[3], path[0]);
	add_parts(&sum, &a, &a);
	write_part(path[2], &sum);
	merge(path[3], path[0], path[0]);
	expect_same(path[3], path[2]);
}

static void sql(const char *file, const char *statements)
{
	sqlite3 *db = NULL;

	CHECK(sqlite3_open(file, &db) == SQLITE_OK);
	if (sqlite3_exec(db, statements, NULL, NULL, NULL) != SQLITE_OK)
		CHECK_FAIL("%s: %s", statements, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* What not all inputs know is left out and noted, whichever comes first. */
static const struct {
	const char *sql, *note;
	size_t sites, pairs, levels, counts_of_pairs, hists_of_sites, hists_of_pairs;
} left_out[] = {
	{ "UPDATE level SET ways = 16 WHERE name = 'L2'",
		"recorded with different caches: hits and misses", 1, 1, 0, 0, 1, 1 },
	{ "DELETE FROM level_count; DELETE FROM level", "with different caches", 1, 1, 0, 0, 1, 1 },
	{ "DELETE FROM level_count WHERE owner = 'pair'; DELETE FROM pair;"
	  "DELETE FROM histogram WHERE owner = 'pair'",
		"left out because not all of the merged profiles have them: pairs", 1, 0, 1, 0, 1,
		0 },
	{ "DELETE FROM level_count WHERE owner IN ('pair', 'site', 'access');"
	  "DELETE FROM pair; DELETE FROM access; DELETE FROM site;"
	  "DELETE FROM histogram WHERE owner IN ('pair', 'site')",
		"have it: what is known of code and data", 0, 0, 1, 0, 0, 0 },
	{ "DELETE FROM histogram WHERE owner = 'site'",
		"have them: stack distances of 64-byte blocks by site", 1, 1, 1, 1, 0, 1 },
	{ "DELETE FROM bin WHERE histogram_id IN (SELECT id FROM histogram WHERE owner = 'site');"
	  "UPDATE histogram SET scheme = 'fine' WHERE owner = 'site'",
		"have them: stack distances of 64-byte blocks by site", 1, 1, 1, 1, 0, 1 },
};

static void check_left_out(void)
{
	random_part(&a);
	random_part(&b);
	clear_missing(&a);
	clear_missing(&b);
	for (unsigned i = 0; i < 2 * LOCI_ARRAY_SIZE(left_out); i++) {
		const struct loci_owner_hist *hists;
		size_t n, pair_counts = 0;
		struct view view;

		write_part(path[0], &a);
		write_part(path[1], &b);
		sql(path[i % 2], left_out[i / 2].sql);
		merge(path[3], path[0], path[1]);
		expect_note(path[3], left_out[i / 2].note);
		view_open(&view, path[3]);
		CHECK_U64(view.n_sites > 0, left_out[i / 2].sites);
		CHECK_U64(view.n_pairs > 0, left_out[i / 2].pairs);
		CHECK_U64(view.n_levels > 0, left_out[i / 2].levels);
		for (size_t k = 0; k < view.n_level_counts; k++)
			pair_counts += view.level_count[k].owner == LOCI_OWNER_PAIR;
		CHECK_U64(pair_counts > 0, left_out[i / 2].counts_of_pairs);
		CHECK(loci_profile_hists(view.profile, LOCI_DISTANCE_STACK, LOCI_OWNER_SITE, 64,
			      &hists, &n, NULL) == 0);
		CHECK_U64(n > 0, left_out[i / 2].hists_of_sites);
		CHECK(loci_profile_hists(view.profile, LOCI_DISTANCE_STACK, LOCI_OWNER_PAIR, 64,
			      &hists, &n, NULL) == 0);
		CHECK_U64(n > 0, left_out[i / 2].hists_of_pairs);
		loci_profile_close(view.profile);
	}
}

/* Rows that nothing tells apart stay as many as they are, the first added to the first. */
static void check_twins(void)
{
	const struct loci_context_row *context;
	struct loci_profile *profile = NULL;
	size_t n;

	write_part(path[0], &a);
	sql(path[0],
		"INSERT INTO context VALUES (101, NULL, NULL, NULL, NULL, 5),"
		"(102, 101, NULL, NULL, NULL, 6), (103, 101, NULL, NULL, NULL, 7),"
		"(104, NULL, NULL, NULL, NULL, 8)");
	write_part(path[1], &b);
	sql(path[1],
		"INSERT INTO context VALUES (101, 102, NULL, NULL, NULL, 100),"
		"(102, NULL, NULL, NULL, NULL, 200)");
	merge(path[3], path[0], path[1]);
	CHECK(loci_profile_open(path[3], &profile, NULL) == 0);
	CHECK(loci_profile_contexts(profile, &context, &n, NULL) == 0);
	CHECK_U64(n, 6);
	CHECK_U64(context[2].refs, 205);
	CHECK_U64(context[3].refs, 106);
	CHECK_U64(context[4].refs, 7);
	CHECK_U64(context[5].refs, 8);
	CHECK_U64((uint64_t)context[3].parent_id, 3);
	CHECK_U64((uint64_t)context[5].parent_id, 0);
	loci_profile_close(profile);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	for (unsigned i = 0; i < 4; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%u.loci", directory, i);
	check_halves();
	check_self();
	check_left_out();
	check_twins();
	for (unsigned i = 0; i < 4; i++)
		unlink(path[i]);
	CHECK(rmdir(directory) == 0);
	return check_status();
}
