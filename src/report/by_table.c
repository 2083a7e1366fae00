// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/by_table.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/approximate_line.h"
#include "report/owner_name.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What the cells of a row are made from. */
struct source {
	const struct loci_text *text;
	struct loci_blame *blame;
	const struct loci_blame_row *row;
	struct loci_blame_detail detail;
};

const char *loci_by_distance(const struct loci_blame *blame, const struct loci_blame_detail *detail,
	char buf[LOCI_TEXT_NUMBER + 8])
{
	static const char *const words[] = {
		[LOCI_CAUSE_NONE] = "",
		[LOCI_CAUSE_COLD] = "cold",
		[LOCI_CAUSE_SHARED] = "shared",
		[LOCI_CAUSE_CONFLICT] = "conflict",
	};

	if (detail->cause == LOCI_CAUSE_FAR)
		return loci_units_bytes(
			buf, (double)detail->far_blocks * (double)blame->levels.block_bytes);
	return strcpy(buf, words[detail->cause]);
}

const char *loci_by_access(const struct loci_blame_detail *detail, char buf[LOCI_TEXT_NUMBER + 16])
{
	if (!detail->has_stride)
		return strcpy(buf, "");
	if (!detail->is_mostly_regular)
		return strcpy(buf, "irregular");
	if (!detail->is_regular && detail->stride_bytes)
		snprintf(buf, LOCI_TEXT_NUMBER + 16, "%.0f %% by %" PRId64 " B",
			floor(100 * detail->regular), detail->stride_bytes);
	else if (!detail->is_regular)
		snprintf(buf, LOCI_TEXT_NUMBER + 16, "%.0f %% in place",
			floor(100 * detail->regular));
	else if (detail->stride_bytes)
		snprintf(buf, LOCI_TEXT_NUMBER + 16, "stride %" PRId64 " B", detail->stride_bytes);
	else
		snprintf(buf, LOCI_TEXT_NUMBER + 16, "in place");
	return buf;
}

static void add_name(struct loci_table *table, const struct source *s)
{
	char name[LOCI_NAME_MAX];

	loci_table_add(table, LOCI_STYLE_BOLD, "%s",
		loci_name_row(s->blame, s->row, s->text->glyph->arrow, name, sizeof(name)));
}

static void add_op(struct loci_table *table, const struct source *s)
{
	const struct loci_site_row *site = s->row->owner;

	if (site->size_bytes)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s %" PRIu64, site->op, site->size_bytes);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", site->op);
}

/* An estimate's fractions mean nothing. */
static double rounded(const struct loci_blame *blame, double misses)
{
	return blame->is_estimate ? round(misses) : misses;
}

static void add_misses(struct loci_table *table, const struct source *s)
{
	char number[LOCI_UNITS_MAX];

	if (!s->blame->has_misses)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", "");
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s%s", s->blame->is_estimate ? "~" : "",
			loci_units_count(number, rounded(s->blame, s->row->misses)));
}

static void add_share(struct loci_table *table, const struct source *s)
{
	char number[LOCI_TEXT_NUMBER];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		s->blame->has_misses
			? loci_text_points(number, loci_blame_share(s->blame, s->row->misses))
			: "");
}

static void add_refs(struct loci_table *table, const struct source *s)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, s->row->refs));
}

static void add_writebacks(struct loci_table *table, const struct source *s)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		!s->blame->has_misses              ? ""
			: s->blame->has_writebacks ? loci_units_count(number, s->row->writebacks)
						   : "-");
}

static void add_distance(struct loci_table *table, const struct source *s)
{
	char number[LOCI_TEXT_NUMBER + 8];

	loci_table_add(
		table, LOCI_STYLE_PLAIN, "%s", loci_by_distance(s->blame, &s->detail, number));
}

static void add_access(struct loci_table *table, const struct source *s)
{
	char words[LOCI_TEXT_NUMBER + 16];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_by_access(&s->detail, words));
}

static void add_used(struct loci_table *table, const struct source *s)
{
	char number[LOCI_TEXT_NUMBER];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		s->detail.spatial < 0 ? "" : loci_text_percent(number, s->detail.spatial));
}

static void add_fits(struct loci_table *table, const struct source *s)
{
	char number[LOCI_UNITS_MAX];
	double bytes = (double)s->detail.effective_blocks * (double)s->blame->levels.block_bytes;

	loci_table_add(
		table, LOCI_STYLE_PLAIN, "%s", bytes > 0 ? loci_units_bytes(number, bytes) : "");
}

/* The object with the most misses: "b", and "+2" for others. */
static void add_object(struct loci_table *table, const struct source *s)
{
	const struct loci_object_row *object =
		loci_catalogue_find_object(s->blame->catalogue, s->detail.object_id);
	char name[LOCI_NAME_MAX];

	if (!object)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", "");
	else if (s->detail.n_objects > 1)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s +%zu",
			loci_name_object(s->blame->catalogue, object, name, sizeof(name)),
			s->detail.n_objects - 1);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
			loci_name_object(s->blame->catalogue, object, name, sizeof(name)));
}

/* "b (heap, mm.c:31 main)" */
static void add_object_origin(struct loci_table *table, const struct source *s)
{
	const struct loci_object_row *object =
		loci_catalogue_find_object(s->blame->catalogue, s->detail.object_id);
	char name[LOCI_NAME_MAX], origin[LOCI_NAME_MAX];

	if (!object) {
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", "");
		return;
	}
	loci_name_object(s->blame->catalogue, object, name, sizeof(name));
	if (loci_name_is_origin(object)) /* has told it */
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", name);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s (%s)", name,
			loci_name_origin(s->blame->catalogue, object, origin, sizeof(origin)));
}

static void add_origin(struct loci_table *table, const struct source *s)
{
	const struct loci_object_row *object = s->row->owner;
	char name[LOCI_NAME_MAX];

	loci_name_origin(s->blame->catalogue, object, name, sizeof(name));
	/* the name has told all but the function */
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_name_is_origin(object) && strrchr(name, ' ') ? strrchr(name, ' ') + 1 : name);
}

static void add_size(struct loci_table *table, const struct source *s)
{
	const struct loci_object_row *object = s->row->owner;
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		object->size_bytes ? loci_units_bytes(number, (double)object->size_bytes) : "");
}

static void add_allocations(struct loci_table *table, const struct source *s)
{
	const struct loci_object_row *object = s->row->owner;
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		object->allocations > 1 ? loci_units_count(number, (double)object->allocations)
					: "");
}

static void add_field_object(struct loci_table *table, const struct source *s)
{
	const struct loci_field_row *field = s->row->owner;
	char name[LOCI_NAME_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_name_object(s->blame->catalogue,
			loci_catalogue_find_object(s->blame->catalogue, field->object_id), name,
			sizeof(name)));
}

static void add_field_place(struct loci_table *table, const struct source *s)
{
	const struct loci_field_row *field = s->row->owner;

	loci_table_add(table, LOCI_STYLE_PLAIN, "%" PRIu64 "+%" PRIu64 " B", field->offset_bytes,
		field->size_bytes);
}

static void add_use(struct loci_table *table, const struct source *s)
{
	const struct loci_catalogue *c = s->blame->catalogue;
	const struct loci_pair_row *pair = s->row->owner;
	char name[LOCI_NAME_MAX];

	loci_table_add(table, LOCI_STYLE_BOLD, "%s",
		loci_name_place(
			c, loci_catalogue_find_site(c, pair->use_site_id), name, sizeof(name)));
}

static void add_reuse(struct loci_table *table, const struct source *s)
{
	const struct loci_catalogue *c = s->blame->catalogue;
	const struct loci_pair_row *pair = s->row->owner;
	char name[LOCI_NAME_MAX];

	loci_table_add(table, LOCI_STYLE_BOLD, "%s",
		loci_name_place(
			c, loci_catalogue_find_site(c, pair->reuse_site_id), name, sizeof(name)));
}

static void add_pair_kind(struct loci_table *table, const struct source *s)
{
	const struct loci_pair_row *pair = s->row->owner;

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s%s", pair->kind ? pair->kind : "",
		pair->recycled ? " recycled" : "");
}

static void add_pair_object(struct loci_table *table, const struct source *s)
{
	const struct loci_pair_row *pair = s->row->owner;
	char name[LOCI_NAME_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		pair->object_id
			? loci_name_object(s->blame->catalogue,
				  loci_catalogue_find_object(s->blame->catalogue, pair->object_id),
				  name, sizeof(name))
			: "");
}

static void add_carrier(struct loci_table *table, const struct source *s)
{
	char name[LOCI_NAME_MAX];

	loci_name_carrier(s->blame->catalogue, s->row->owner, name, sizeof(name));
	if (!strncmp(name, "loop at ", 8))
		loci_table_add(table, LOCI_STYLE_PLAIN, "loop %s", name + 8);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", name);
}

static void add_entries(struct loci_table *table, const struct source *s)
{
	const struct loci_region_row *region = s->row->owner;
	char number[LOCI_UNITS_MAX];

	loci_table_add(
		table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, (double)region->entries));
}

static bool has_inner(const struct source *s)
{
	return s->row->all_refs > s->row->refs;
}

static void add_all_misses(struct loci_table *table, const struct source *s)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		!s->blame->has_misses || !has_inner(s)
			? ""
			: loci_units_count(number, rounded(s->blame, s->row->all_misses)));
}

static void add_all_refs(struct loci_table *table, const struct source *s)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		has_inner(s) ? loci_units_count(number, s->row->all_refs) : "");
}

/* What a thread met of others; empty where no threads share memory. */
static void add_met(struct loci_table *table, const struct source *s, double count)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		s->blame->has_sharing ? loci_units_count(number, count) : "");
}

static void add_true(struct loci_table *table, const struct source *s)
{
	add_met(table, s, s->row->true_sharing);
}

static void add_false(struct loci_table *table, const struct source *s)
{
	add_met(table, s, s->row->false_sharing);
}

static void add_remote(struct loci_table *table, const struct source *s)
{
	add_met(table, s, s->row->remote);
}

enum column_id {
	NAME,
	PLACE,
	NAME_FRONT,
	OP,
	MISSES,
	SHARE,
	REFS,
	WRITEBACKS,
	DISTANCE,
	ACCESS,
	USED,
	FITS,
	OBJECT,
	OBJECT_ORIGIN,
	ORIGIN,
	SIZE,
	ALLOCATIONS,
	FIELD_OBJECT,
	FIELD_PLACE,
	USE,
	REUSE,
	PAIR_KIND,
	PAIR_OBJECT,
	CARRIER,
	ENTRIES,
	ALL_MISSES,
	ALL_REFS,
	TRUE_SHARING,
	FALSE_SHARING,
	REMOTE,
	END,
};

static const struct {
	const char *title; /* NULL: the kind's plural */
	enum loci_align align;
	enum loci_cut cut;
	unsigned least, rank; /* see loci_table_yield and loci_table_spare */
	void (*add)(struct loci_table *table, const struct source *source);
} columns[] = {
	[NAME] = { NULL, LOCI_ALIGN_LEFT, LOCI_CUT_MIDDLE, 14, 0, add_name },
	[PLACE] = { NULL, LOCI_ALIGN_LEFT, LOCI_CUT_PLACE, 13, 0, add_name },
	[NAME_FRONT] = { NULL, LOCI_ALIGN_LEFT, LOCI_CUT_FRONT, 16, 0, add_name },
	[OP] = { "", LOCI_ALIGN_LEFT, LOCI_CUT_NONE, 0, 5, add_op },
	[MISSES] = { "misses", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 0, add_misses },
	[SHARE] = { "%", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 0, add_share },
	[REFS] = { "refs", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 3, add_refs },
	[WRITEBACKS] = { "written", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 7, add_writebacks },
	[DISTANCE] = { "distance", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 0, add_distance },
	[ACCESS] = { "access", LOCI_ALIGN_LEFT, LOCI_CUT_END, 13, 1, add_access },
	[USED] = { "used", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 4, add_used },
	[FITS] = { "fits in", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 6, add_fits },
	[OBJECT] = { "object", LOCI_ALIGN_LEFT, LOCI_CUT_MIDDLE, 9, 0, add_object },
	[OBJECT_ORIGIN] = { "object", LOCI_ALIGN_LEFT, LOCI_CUT_END, 10, 0, add_object_origin },
	[ORIGIN] = { "from", LOCI_ALIGN_LEFT, LOCI_CUT_END, 10, 1, add_origin },
	[SIZE] = { "size", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 2, add_size },
	[ALLOCATIONS] = { "times", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 8, add_allocations },
	[FIELD_OBJECT] = { "object", LOCI_ALIGN_LEFT, LOCI_CUT_MIDDLE, 8, 0, add_field_object },
	[FIELD_PLACE] = { "at", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 5, add_field_place },
	[USE] = { "use", LOCI_ALIGN_LEFT, LOCI_CUT_FRONT, 10, 0, add_use },
	[REUSE] = { "reuse", LOCI_ALIGN_LEFT, LOCI_CUT_FRONT, 10, 0, add_reuse },
	[PAIR_KIND] = { "", LOCI_ALIGN_LEFT, LOCI_CUT_END, 3, 2, add_pair_kind },
	[PAIR_OBJECT] = { "object", LOCI_ALIGN_LEFT, LOCI_CUT_MIDDLE, 8, 0, add_pair_object },
	[CARRIER] = { "carried by", LOCI_ALIGN_LEFT, LOCI_CUT_FRONT, 11, 1, add_carrier },
	[ENTRIES] = { "entries", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 4, add_entries },
	[ALL_MISSES] = { "with inner", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 2, add_all_misses },
	[ALL_REFS] = { "with inner", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 3, add_all_refs },
	[TRUE_SHARING] = { "true", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 0, add_true },
	[FALSE_SHARING] = { "false", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 0, add_false },
	[REMOTE] = { "remote", LOCI_ALIGN_RIGHT, LOCI_CUT_NONE, 0, 2, add_remote },
};

#define COLUMNS_MAX 12
static const enum column_id layouts[LOCI_BLAME_KINDS][COLUMNS_MAX] = {
	[LOCI_BLAME_SITE] = { PLACE, OP, MISSES, SHARE, REFS, DISTANCE, OBJECT, ACCESS, END },
	[LOCI_BLAME_LINE] = { PLACE, MISSES, SHARE, REFS, DISTANCE, USED, OBJECT, ACCESS, END },
	[LOCI_BLAME_FUNCTION] = { NAME, MISSES, SHARE, REFS, WRITEBACKS, DISTANCE, FITS, USED,
		END },
	[LOCI_BLAME_LOOP] = { PLACE, MISSES, SHARE, REFS, WRITEBACKS, DISTANCE, FITS, USED, END },
	[LOCI_BLAME_FILE] = { NAME_FRONT, MISSES, SHARE, REFS, WRITEBACKS, DISTANCE, FITS, USED,
		END },
	[LOCI_BLAME_MODULE] = { NAME_FRONT, MISSES, SHARE, REFS, WRITEBACKS, DISTANCE, FITS, USED,
		END },
	[LOCI_BLAME_OBJECT] = { NAME, ORIGIN, SIZE, ALLOCATIONS, MISSES, SHARE, REFS, DISTANCE,
		USED, END },
	[LOCI_BLAME_FIELD] = { FIELD_OBJECT, NAME, FIELD_PLACE, MISSES, SHARE, REFS, DISTANCE, USED,
		END },
	[LOCI_BLAME_CONTEXT] = { NAME, MISSES, SHARE, REFS, DISTANCE, END },
	[LOCI_BLAME_PAIR] = { USE, REUSE, PAIR_KIND, PAIR_OBJECT, MISSES, SHARE, DISTANCE, CARRIER,
		END },
	[LOCI_BLAME_THREAD] = { NAME, MISSES, SHARE, REFS, WRITEBACKS, TRUE_SHARING, FALSE_SHARING,
		REMOTE, DISTANCE, FITS, END },
	[LOCI_BLAME_PROCESS] = { NAME, MISSES, SHARE, REFS, WRITEBACKS, DISTANCE, FITS, END },
	[LOCI_BLAME_REGION] = { NAME_FRONT, ENTRIES, MISSES, SHARE, ALL_MISSES, REFS, ALL_REFS,
		WRITEBACKS, DISTANCE, FITS, END },
	[LOCI_BLAME_PHASE] = { NAME, MISSES, SHARE, REFS, WRITEBACKS, DISTANCE, FITS, END },
	[LOCI_BLAME_SPOT] = { PLACE, MISSES, SHARE, DISTANCE, OBJECT_ORIGIN, ACCESS, END },
	[LOCI_BLAME_LINK] = { USE, REUSE, MISSES, SHARE, DISTANCE, PAIR_OBJECT, CARRIER, END },
};

void loci_by_head(const struct loci_by *by, const struct loci_text *text)
{
	const struct loci_blame *blame = by->blame;
	const struct loci_cache *cache = &blame->levels.level[blame->levels.chosen].cache;
	char line[1024], facts[256], label[64], misses[LOCI_UNITS_MAX], refs[LOCI_UNITS_MAX];
	const char *command = by->subject->run->command;

	snprintf(facts, sizeof(facts), "%s: %s%s misses, %s references",
		loci_cache_label(cache, label), blame->is_estimate ? "~" : "",
		loci_units_count(misses, blame->misses), loci_units_count(refs, blame->refs));
	snprintf(line, sizeof(line), "%.300s  %.200s  ", loci_profile_path(by->subject->profile),
		command ? command : "");
	loci_text_unbroken(line + strlen(line), sizeof(line) - strlen(line), facts);
	snprintf(line + strlen(line), sizeof(line) - strlen(line), ", %s%s",
		blame->is_estimate ? "estimated: " : loci_approximate_word(by->subject->run),
		blame->is_estimate ? blame->basis : "");
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 0, line);
	loci_approximate_text(by->subject->run, text);
}

void loci_by_coverage(const struct loci_blame *blame, const struct loci_text *text)
{
	static const unsigned percents[] = { 75, 80, 90, 95 };
	const char *level = blame->levels.level[blame->levels.chosen].cache.name;
	char line[256] = "", number[LOCI_TEXT_NUMBER];
	size_t used = 0;

	if (!blame->has_misses) {
		snprintf(line, sizeof(line), "misses were not counted by %s",
			loci_blame_name(blame->kind));
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
		return;
	}
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(percents) && blame->n_rows > 1; i++) {
		size_t n = loci_blame_cover(blame, percents[i] / 100.);

		if (n && !used)
			used = (size_t)snprintf(line, sizeof(line), "%u %% of %s misses at %zu %s",
				percents[i], level, n,
				n == 1 ? loci_blame_name(blame->kind)
				       : loci_blame_plural(blame->kind));
		else if (n)
			used += (size_t)snprintf(
				line + used, sizeof(line) - used, ", %u %% at %zu", percents[i], n);
	}
	if (used) {
		snprintf(line + used, sizeof(line) - used, " (of %zu)", blame->n_rows);
		loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, line);
	}
	if (blame->misses - blame->owned_misses >= 0.0005 * blame->misses && blame->misses > 0) {
		snprintf(line, sizeof(line), "%s of %s misses have no %s%s",
			loci_text_percent(number, 1 - blame->owned_misses / blame->misses), level,
			loci_blame_name(blame->kind),
			blame->kind == LOCI_BLAME_PAIR
				? ": first touches, and reuses too near to be followed"
				: "");
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
	}
}

/* What is not shown, in one row. */
static void add_rest(struct loci_table *table, const struct loci_blame *blame,
	const enum column_id *layout, size_t shown)
{
	char number[LOCI_UNITS_MAX], points[LOCI_TEXT_NUMBER];
	double misses = 0, refs = 0, writebacks = 0;

	for (size_t i = shown; i < blame->n_rows; i++) {
		misses += blame->row[i].misses;
		refs += blame->row[i].refs;
		writebacks += blame->row[i].writebacks;
	}
	for (unsigned i = 0; layout[i] != END; i++) {
		if (i == 0)
			loci_table_add(table, LOCI_STYLE_DIM, "%zu more", blame->n_rows - shown);
		else if (layout[i] == MISSES && blame->has_misses)
			loci_table_add(table, LOCI_STYLE_DIM, "%s%s", blame->is_estimate ? "~" : "",
				loci_units_count(number, misses));
		else if (layout[i] == SHARE && blame->has_misses)
			loci_table_add(table, LOCI_STYLE_DIM, "%s",
				loci_text_points(points, loci_blame_share(blame, misses)));
		else if (layout[i] == REFS)
			loci_table_add(table, LOCI_STYLE_DIM, "%s", loci_units_count(number, refs));
		else if (layout[i] == WRITEBACKS && blame->has_writebacks && blame->has_misses)
			loci_table_add(
				table, LOCI_STYLE_DIM, "%s", loci_units_count(number, writebacks));
		else
			loci_table_add(table, LOCI_STYLE_DIM, "%s", "");
	}
}

static void print_footnotes(
	const struct loci_blame *blame, const bool *is_shown, const struct loci_text *text)
{
	const char *level = blame->levels.level[blame->levels.chosen].cache.name;
	char line[256];

	if (is_shown[DISTANCE]) {
		snprintf(line, sizeof(line),
			"distance: median of what %s is too small for, at least; or the main cause",
			level);
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
	}
	if (is_shown[TRUE_SHARING])
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
			"true, false: misses of what another thread wrote, of bytes touched or of "
			"others of the block; remote: touches of what another touched last");
	if (is_shown[USED])
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
			"used: bytes touched, of those brought into the first level");
	if (is_shown[ACCESS])
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
			"stride: that of 15 of 16 references or more, which a prefetcher hides");
}

static size_t rows_shown(const struct loci_by *by)
{
	size_t n = by->blame->n_rows < by->max_rows ? by->blame->n_rows : by->max_rows;

	/* without misses there is nothing to blame; what the program names is of interest anyway */
	while (by->blame->has_misses && by->blame->kind != LOCI_BLAME_REGION &&
		by->blame->kind != LOCI_BLAME_PHASE && by->max_rows != SIZE_MAX &&
		by->sort == LOCI_BLAME_BY_MISSES && n > 0 && !(by->blame->row[n - 1].misses > 0))
		n--;
	return n;
}

static int fill(struct loci_table *table, struct loci_blame *blame, size_t n_rows,
	const struct loci_text *text, struct loci_err *err)
{
	const enum column_id *layout = layouts[blame->kind];
	struct source source = { .text = text, .blame = blame };

	for (size_t i = 0; i < n_rows; i++) {
		int r;

		source.row = &blame->row[i];
		r = loci_blame_look(blame, source.row, &source.detail, err);
		if (r < 0)
			return r;
		for (unsigned k = 0; layout[k] != END; k++)
			columns[layout[k]].add(table, &source);
	}
	return 0;
}

/* ret_shown[column]: the table has it, and not all of its cells are empty. */
static int print_rows(struct loci_blame *blame, const char *title, size_t n_rows, bool rest,
	const struct loci_text *text, bool ret_shown[END], struct loci_err *err)
{
	const enum column_id *layout = layouts[blame->kind];
	struct loci_table_column column[COLUMNS_MAX] = { 0 };
	char reuse[24];
	struct loci_table table;
	unsigned n = 0;
	int r;

	snprintf(reuse, sizeof(reuse), "%s reuse", text->glyph->arrow);

	for (; layout[n] != END; n++)
		column[n] = (struct loci_table_column){
			layout[n] == REUSE                 ? reuse
				: columns[layout[n]].title ? columns[layout[n]].title
				: title                    ? title
							   : loci_blame_plural(blame->kind),
			columns[layout[n]].align,
		};
	loci_table_init(&table, column, n);
	for (unsigned i = 0; i < n; i++) {
		loci_table_yield(&table, i, columns[layout[i]].cut, columns[layout[i]].least);
		loci_table_spare(&table, i, columns[layout[i]].rank);
	}
	r = fill(&table, blame, n_rows, text, err);
	if (r == 0)
		loci_table_drop_empty(&table);
	if (rest && n_rows < blame->n_rows)
		add_rest(&table, blame, layout, n_rows);
	if (r == 0 && loci_table_print(&table, text, 2) < 0)
		r = loci_err_nomem(err);
	for (unsigned i = 0; i < n; i++)
		ret_shown[layout[i]] = !table.hidden[i];
	loci_table_fini(&table);
	return r;
}

int loci_by_rows(struct loci_blame *blame, const char *title, size_t n_rows,
	const struct loci_text *text, struct loci_err *err)
{
	bool is_shown[END] = { 0 };

	return print_rows(blame, title, n_rows, false, text, is_shown, err);
}

int loci_by_table(const struct loci_by *by, const struct loci_text *text, struct loci_err *err)
{
	bool is_shown[END] = { 0 };
	int r;

	loci_by_head(by, text);
	fputc('\n', text->out);
	r = print_rows(by->blame, NULL, rows_shown(by), true, text, is_shown, err);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	loci_by_coverage(by->blame, text);
	print_footnotes(by->blame, is_shown, text);
	return 0;
}
