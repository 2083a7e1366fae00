// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/annotate_screen.h"

#include "base/units.h"
#include "report/approximate_line.h"
#include "report/by_table.h"
#include "report/owner_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN      0.01 /* share of the misses that is worth a word */
#define TAB_CELLS    8
#define NARROW       120 /* columns of a terminal below which indentation is the first to give way */
#define NARROW_TAB   2
#define OBJECT_CELLS 12
#define HOT          0.1 /* of the misses */
#define WARM         0.01

/* Cells of the margin; what it holds is made of these columns. */
struct margin {
	unsigned number; /* width of line numbers */
	unsigned object;
};

/* Tabs become spaces, since a margin stands before them; the rest text.c disarms. */
static const char *expand(const char *source, unsigned tab_cells, char *buf, size_t size)
{
	unsigned column = 0;
	size_t used = 0;

	for (; *source && used + 1 < size; source++) {
		if (*source == '\t') {
			do {
				buf[used++] = ' ';
			} while (++column % tab_cells && used + 1 < size);
		} else {
			buf[used++] = *source;
			column += ((unsigned char)*source & 0xc0) != 0x80;
		}
	}
	while (used && buf[used - 1] == ' ')
		used--;
	buf[used] = '\0';
	return buf;
}

static const char *object_cell(const struct loci_blame *blame, const struct loci_listing_line *line,
	char *buf, size_t size)
{
	const struct loci_object_row *object =
		loci_catalogue_find_object(blame->catalogue, line->detail.object_id);
	char name[LOCI_NAME_MAX];

	if (!object)
		return strcpy(buf, "");
	loci_name_object(blame->catalogue, object, name, sizeof(name));
	if (line->detail.n_objects > 1)
		snprintf(buf, size, "%s +%zu", name, line->detail.n_objects - 1);
	else
		snprintf(buf, size, "%s", name);
	return buf;
}

static enum loci_style heat(double share)
{
	return share >= HOT ? LOCI_STYLE_BAD : share >= WARM ? LOCI_STYLE_FAIR : LOCI_STYLE_PLAIN;
}

static void print_cell(
	const struct loci_text *text, enum loci_style style, unsigned cells, const char *string)
{
	unsigned width = loci_text_width(string);

	loci_text_spaces(text, cells > width ? cells - width : 0);
	loci_text_print(text, style, "%s", string);
	loci_text_spaces(text, 1);
}

static void print_figures(const struct loci_text *text, const struct margin *margin,
	const struct loci_blame *lines, const struct loci_listing_line *line)
{
	double share = loci_blame_share(lines, line->misses);
	char number[LOCI_UNITS_MAX], misses[LOCI_UNITS_MAX + 1], points[LOCI_TEXT_NUMBER];
	char distance[LOCI_TEXT_NUMBER + 8], object[LOCI_NAME_MAX + 24], cut[LOCI_NAME_MAX];
	unsigned width;

	snprintf(misses, sizeof(misses), "%s%s", lines->is_estimate && line->misses > 0 ? "~" : "",
		loci_units_count(number, lines->is_estimate ? round(line->misses) : line->misses));
	loci_text_points(points, share);
	if (!(line->misses > 0))
		points[0] = distance[0] = '\0';
	else
		loci_by_distance(lines, &line->detail, distance);
	print_cell(text, LOCI_STYLE_PLAIN, 6, loci_units_count(number, line->refs));
	print_cell(text, heat(share), 7, misses);
	print_cell(text, heat(share), 6, points);
	print_cell(text, LOCI_STYLE_PLAIN, 8, distance);
	loci_text_shorten(text, object_cell(lines, line, object, sizeof(object)), margin->object,
		LOCI_CUT_MIDDLE, cut, sizeof(cut));
	width = loci_text_width(cut);
	loci_text_print(text, LOCI_STYLE_NEUTRAL, "%s", cut);
	loci_text_spaces(text, margin->object - width + 1);
}

/* refs misses % distance object, one space between */
#define FIGURES (6 + 1 + 7 + 1 + 6 + 1 + 8 + 1)

static void print_line(const struct loci_text *text, const struct margin *margin,
	const struct loci_blame *lines, const struct loci_listing_line *line)
{
	unsigned left = FIGURES + margin->object + 1 + margin->number + 3;
	char source[4096], cut[4096];
	int length;

	if (!line->number) {
		loci_text_spaces(text,
			FIGURES + margin->object + 1 + margin->number -
				loci_text_width(text->glyph->ellipsis));
		loci_text_print(text, LOCI_STYLE_DIM, "%s\n", text->glyph->ellipsis);
		return;
	}
	if (line->row)
		print_figures(text, margin, lines, line);
	else
		loci_text_spaces(text, FIGURES + margin->object + 1);
	expand(line->text ? line->text : "",
		text->is_terminal && text->columns < NARROW ? NARROW_TAB : TAB_CELLS, source,
		sizeof(source));
	/* a pipe has no right margin */
	if (text->is_terminal && text->columns > left)
		loci_text_shorten(
			text, source, text->columns - left, LOCI_CUT_END, cut, sizeof(cut));
	else
		memcpy(cut, source, sizeof(cut));
	length = snprintf(NULL, 0, "%u", line->number);
	loci_text_spaces(text, margin->number - (unsigned)length);
	loci_text_print(text, LOCI_STYLE_DIM, "%u %s", line->number, text->glyph->axis);
	if (cut[0])
		loci_text_print(text, line->row ? LOCI_STYLE_BOLD : LOCI_STYLE_PLAIN, " %s", cut);
	fputc('\n', text->out);
}

static void print_head(const struct loci_text *text, const struct loci_listing *listing,
	const struct loci_blame *lines)
{
	const char *level = lines->levels.level[lines->levels.chosen].cache.name;
	char line[2048], facts[256], name[LOCI_NAME_MAX] = "", share[LOCI_TEXT_NUMBER],
				     refs[LOCI_UNITS_MAX];
	char misses[LOCI_UNITS_MAX];

	if (listing->function && listing->function->name)
		loci_name_function(listing->function->name, name, sizeof(name));
	snprintf(line, sizeof(line), "%s%s%s  ", name, name[0] && listing->source ? "  " : "",
		listing->source ? listing->source->path : "");
	snprintf(facts, sizeof(facts), "%s%s %s misses, %s of all", lines->is_estimate ? "~" : "",
		loci_units_count(misses, listing->misses), level,
		loci_text_percent(share, loci_blame_share(lines, listing->misses)));
	loci_text_unbroken(line + strlen(line), sizeof(line) - strlen(line), facts);
	snprintf(facts, sizeof(facts), "%s references", loci_units_count(refs, listing->refs));
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "  ");
	loci_text_unbroken(line + strlen(line), sizeof(line) - strlen(line), facts);
	loci_text_paragraph(text, LOCI_STYLE_BOLD, 0, line);
}

/* What a reader of the listing must know. */
static void print_notes(const struct loci_text *text, const struct loci_listing *listing,
	const struct loci_blame *lines)
{
	const struct loci_function_row *function = listing->function;
	const struct loci_module_row *module =
		function ? loci_catalogue_find_module(lines->catalogue, function->module_id) : NULL;
	char line[640], number[LOCI_UNITS_MAX];

	line[0] = '\0';
	if (!listing->source)
		snprintf(line, sizeof(line),
			"no lines are known in %.300s: build it with -g or install its debug "
			"symbols",
			module ? loci_name_file(module->path) : "this code");
	else if (listing->text == LOCI_LISTING_NEWER_FILE)
		snprintf(line, sizeof(line),
			"%.300s has changed since the run: its lines may not be those that ran",
			loci_name_file(listing->source->path));
	else if (listing->text == LOCI_LISTING_UNKNOWN)
		snprintf(line, sizeof(line),
			"the text of %.300s is neither in the profile nor on this disk",
			loci_name_file(listing->source->path));
	if (line[0])
		loci_text_paragraph(text, LOCI_STYLE_FAIR, 2, line);
	if (listing->source && listing->unlined_refs > 0) {
		snprintf(line, sizeof(line), "%s references are not on these lines",
			loci_units_count(number, listing->unlined_refs));
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
	}
}

/* "reuse of b: mm.c:14 -> mm.c:14, 51 KiB, carried by the loop at mm.c:12" */
static void print_link(const struct loci_text *text, const struct loci_listing *listing,
	const struct loci_blame *links)
{
	const struct loci_catalogue *c = links->catalogue;
	const struct loci_pair_row *pair;
	char line[2048], name[LOCI_NAME_MAX] = "", way[2 * LOCI_NAME_MAX], carrier[LOCI_NAME_MAX];
	char distance[LOCI_TEXT_NUMBER + 8], share[LOCI_TEXT_NUMBER];
	int used;

	if (!listing->link)
		return;
	pair = listing->link->owner;
	if (pair->object_id)
		loci_name_object(
			c, loci_catalogue_find_object(c, pair->object_id), name, sizeof(name));
	loci_by_distance(links, &listing->link_detail, distance);
	loci_name_carrier(c, pair, carrier, sizeof(carrier));
	used = snprintf(line, sizeof(line), "reuse%s%s: %s, %s%s%s of the misses",
		name[0] ? " of " : "", name,
		loci_name_pair(c, pair, text->glyph->arrow, way, sizeof(way)), distance,
		distance[0] ? ", " : "",
		loci_text_percent(share, loci_blame_share(links, listing->link->misses)));
	if (carrier[0] && used > 0 && (size_t)used < sizeof(line))
		snprintf(line + used, sizeof(line) - (size_t)used, ", %s%s",
			pair->loop_id ? "carried by the " : "", carrier);
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, line);
}

static void print_titles(
	const struct loci_text *text, const struct margin *margin, const struct loci_blame *lines)
{
	char title[40];

	print_cell(text, LOCI_STYLE_DIM, 6, "refs");
	snprintf(title, sizeof(title), "%.3s miss",
		lines->levels.level[lines->levels.chosen].cache.name);
	print_cell(text, LOCI_STYLE_DIM, 7, title);
	print_cell(text, LOCI_STYLE_DIM, 6, "% ");
	print_cell(text, LOCI_STYLE_DIM, 8, "distance");
	loci_text_print(text, LOCI_STYLE_DIM, "%s\n", margin->object ? "object" : "");
}

static void print_listing(const struct loci_text *text, const struct loci_listings *all,
	const struct loci_listing *listing)
{
	struct margin margin = { 1, 0 };

	for (size_t i = 0; i < listing->n_lines; i++) {
		const struct loci_listing_line *line = &listing->line[i];
		char object[LOCI_NAME_MAX + 24];
		unsigned digits = (unsigned)snprintf(NULL, 0, "%u", line->number);
		unsigned width = 0;

		if (line->row) {
			object_cell(all->lines, line, object, sizeof(object));
			width = loci_text_width(loci_text_disarm(object));
		}
		margin.number = digits > margin.number ? digits : margin.number;
		margin.object = width > margin.object ? width : margin.object;
	}
	if (margin.object && margin.object < strlen("object"))
		margin.object = strlen("object");
	if (margin.object > OBJECT_CELLS)
		margin.object = OBJECT_CELLS;
	print_head(text, listing, all->lines);
	print_notes(text, listing, all->lines);
	if (listing->n_lines) {
		fputc('\n', text->out);
		print_titles(text, &margin, all->lines);
	}
	for (size_t i = 0; i < listing->n_lines; i++)
		print_line(text, &margin, all->lines, &listing->line[i]);
	if (listing->link) {
		fputc('\n', text->out);
		print_link(text, listing, all->links);
	}
}

/* Of the misses, those of code whose function is not known. */
static double share_unknown(const struct loci_blame *functions)
{
	for (size_t i = 0; functions && i < functions->n_rows; i++)
		if (!functions->row[i].owner)
			return loci_blame_share(functions, functions->row[i].misses);
	return 0;
}

int loci_annotate_screen(const struct loci_subject *subject, const struct loci_listings *listings,
	const struct loci_text *text, struct loci_err *err)
{
	const struct loci_blame *lines = listings->lines;
	const struct loci_blame_level *level = &lines->levels.level[lines->levels.chosen];
	char line[1024], facts[256], label[64], misses[LOCI_UNITS_MAX];

	double unknown = listings->is_all ? share_unknown(listings->functions) : 0;

	(void)err;
	snprintf(line, sizeof(line), "%.300s  %.300s  ", loci_profile_path(subject->profile),
		subject->run->command ? subject->run->command : "");
	snprintf(facts, sizeof(facts), "%s: %s%s misses, %s%s",
		loci_cache_label(&level->cache, label), lines->is_estimate ? "~" : "",
		loci_units_count(misses, lines->misses),
		lines->is_estimate ? "estimated: " : loci_approximate_word(subject->run),
		lines->is_estimate ? lines->basis : "");
	loci_text_unbroken(line + strlen(line), sizeof(line) - strlen(line), facts);
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 0, line);
	loci_approximate_text(subject->run, text);
	for (size_t i = 0; i < listings->n; i++) {
		fputc('\n', text->out);
		print_listing(text, listings, &listings->listing[i]);
	}
	if (unknown >= UNKNOWN) {
		snprintf(line, sizeof(line),
			"%s of the misses are in no function that is known: build with -g, or "
			"install debug symbols (loci report --by module tells of what)",
			loci_text_percent(facts, unknown));
		fputc('\n', text->out);
		loci_text_paragraph(text, LOCI_STYLE_FAIR, 2, line);
	} else if (!listings->n) {
		loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2,
			"no function makes as much as 1 % of the misses; name one, or FILE:LINE");
	}
	return 0;
}
