// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen's table of the machine's levels. */
#include "report/report_screen.h"

#include "base/units.h"
#include "report/report_verdict.h"
#include "report/table.h"

#define ANOMALY 0.005 /* share of the touches that needs a word */

static void add_share(struct loci_table *table, double part, double whole)
{
	char number[LOCI_TEXT_NUMBER];

	loci_text_points(number, whole > 0 ? part / whole : 0);
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", number);
}

static const char *label_of(const struct loci_prediction *p, bool is_object, char buf[64])
{
	if (is_object)
		return loci_cache_label_objects(&p->cache, buf);
	return p->is_threaded ? loci_cache_label_shared(&p->cache, buf)
			      : loci_cache_label(&p->cache, buf);
}

static void add_level(struct loci_table *table, const struct loci_prediction *p, bool is_object)
{
	char label[64], number[LOCI_UNITS_MAX];
	const char *mark = p->basis == LOCI_BASIS_EXACT ? "" : "~";

	loci_table_add(table, LOCI_STYLE_BOLD, "%s", label_of(p, is_object, label));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s%s", mark, loci_units_count(number, p->misses));
	add_share(table, p->misses, p->accesses);
	add_share(table, p->cold, p->accesses);
	add_share(table, p->capacity, p->accesses);
	add_share(table, p->conflict, p->accesses);
	if (p->coherence > 0)
		add_share(table, p->coherence, p->accesses);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", "");
	if (p->cache.is_tlb)
		loci_table_add(table, LOCI_STYLE_DIM, "-");
	else if (is_object)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
			loci_units_count(number, p->moved_bytes / (double)p->cache.line_bytes));
	else
		loci_table_add(
			table, LOCI_STYLE_PLAIN, "%s", loci_units_bytes(number, p->moved_bytes));
}

static bool same_basis(const struct loci_prediction *p, const struct loci_prediction *q)
{
	return p->basis == q->basis && p->error_points == q->error_points && p->why == q->why;
}

/* "~ L1, L2: interpolated, may be off by 0.4 points", from level i on if no level before has said
 * it. */
static void print_basis(const struct loci_screen *screen, unsigned i)
{
	const struct loci_prediction *level = screen->subject->level, *p = &level[i];
	char line[512] = "~ ", points[LOCI_UNITS_MAX];
	size_t used = 2;

	for (unsigned j = 0; j < i; j++)
		if (same_basis(&level[j], p))
			return;
	for (unsigned j = i; j < screen->subject->n_levels; j++)
		if (same_basis(&level[j], p))
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
				j > i ? ", " : "", level[j].cache.name);
	used += (size_t)snprintf(line + used, sizeof(line) - used, ": %s%s%s",
		loci_basis_name(p->basis), p->why ? ", since " : "", p->why ? p->why : "");
	if (p->error_points > p->chance_points)
		snprintf(line + used, sizeof(line) - used, ": %s", loci_basis_note(p->basis));
	else
		snprintf(line + used, sizeof(line) - used, ", may be off by %s points",
			loci_units_points(points, p->error_points));
	loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2, line);
}

/* What the numbers of the table rest on, where it is not plain counting. */
static void print_footnotes(const struct loci_screen *screen)
{
	const struct loci_subject *subject = screen->subject;
	char line[512], size[LOCI_UNITS_MAX];
	bool lacks_writebacks = false, has_anomaly = false, is_threaded = false;

	for (unsigned i = 0; i < subject->n_levels; i++) {
		const struct loci_prediction *p = &subject->level[i];

		lacks_writebacks |= !p->has_writebacks && !p->cache.is_tlb;
		is_threaded |= p->is_threaded;
		has_anomaly |= p->conflict < -ANOMALY * p->accesses;
		if (subject->level[i].basis != LOCI_BASIS_EXACT)
			print_basis(screen, i);
	}
	if (has_anomaly)
		loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2,
			"conflict below 0: the sets keep part of a loop that LRU loses whole");
	if (lacks_writebacks && !subject->is_object)
		loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2,
			is_threaded ? "moved: without the write-backs of caches not named at "
				      "record time"
				: loci_run_is_watched(subject->run)
				? "moved: without write-backs, which samples that are watched do "
				  "not tell"
				: "moved: without write-backs, since loads and stores were not "
				  "told apart");
	if (subject->unjudged[0]) {
		snprintf(line, sizeof(line),
			"%s: not judged, the profile has no %s-byte blocks (loci analyse -b)",
			subject->unjudged, loci_units_size(size, subject->unjudged_bytes));
		loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2, line);
	}
}

int loci_screen_levels(const struct loci_screen *screen)
{
	static const struct loci_table_column columns[] = {
		{ "level", LOCI_ALIGN_LEFT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "cold", LOCI_ALIGN_RIGHT },
		{ "capacity", LOCI_ALIGN_RIGHT },
		{ "conflict", LOCI_ALIGN_RIGHT },
		{ "coherence", LOCI_ALIGN_RIGHT },
		{ "moved", LOCI_ALIGN_RIGHT },
	};
	const struct loci_subject *subject = screen->subject;
	struct loci_table table;
	int r = 0;

	if (!subject->hierarchy.n_levels)
		return 0;
	fputc('\n', screen->text->out);
	loci_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned i = 0; i < subject->n_levels; i++)
		add_level(&table, &subject->level[i], subject->is_object);
	loci_table_drop_empty(&table);
	if (subject->n_levels)
		r = loci_table_print(&table, screen->text, 2);
	loci_table_fini(&table);
	print_footnotes(screen);
	return r;
}
