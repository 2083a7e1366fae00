// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen's head: what was run, how it was watched, on what, and what to mind. */
#include "report/report_screen.h"

#include "base/units.h"
#include "report/approximate_line.h"
#include "report/report_verdict.h"
#include "report/marks_line.h"
#include "report/unseen_line.h"

#include <string.h>

/* Items stand two spaces apart and are not broken inside. */
static void add_item(char *line, size_t size, const char *item)
{
	size_t used = strlen(line);

	if (!item || !item[0])
		return;
	used += (size_t)snprintf(line + used, size - used, "%s", used ? "  " : "");
	for (; *item && used + 3 < size; item++) {
		if (*item == ' ') {
			memcpy(line + used, "\u00a0", 2);
			used += 2;
		} else {
			line[used++] = *item;
		}
	}
	line[used] = '\0';
}

static const char *how_measured(const struct loci_screen *screen, char *buf, size_t size)
{
	char points[LOCI_UNITS_MAX];
	const struct loci_grain *grain = screen->subject->grain;
	const char *noun = loci_report_noun(screen->subject);
	const char *mode = screen->subject->run->mode;

	if (screen->verdict.kind == LOCI_VERDICT_UNKNOWN)
		snprintf(buf, size, "sampled, short reuses only");
	else if (grain->error_points > 0)
		snprintf(buf, size, "sampled, %s %s points", screen->text->glyph->plus_minus,
			loci_units_points(points, grain->error_points));
	else if (mode && strcmp(mode, "exact"))
		snprintf(buf, size, "%s", mode);
	else if (loci_run_is_part(screen->subject->run))
		snprintf(buf, size, "%s, a part of the run",
			loci_approximate_word(screen->subject->run));
	else if (loci_run_is_approximate(screen->subject->run))
		snprintf(buf, size, "approximate, every %.*s that gcc tells", (int)strlen(noun) - 1,
			noun);
	else
		snprintf(buf, size, "exact, every %.*s", (int)strlen(noun) - 1, noun);
	return buf;
}

/* "(host: L1 48K/12, L2 1.25M/20)" */
static void machine(const struct loci_screen *screen, char *buf, size_t size)
{
	const struct loci_hierarchy *h = &screen->subject->hierarchy;
	const char *name = screen->subject->is_given ? h->name : "host";
	char label[64];
	size_t used;

	buf[0] = '\0';
	if (!h->n_levels)
		return;
	/* a specification given by hand has no name, or is its own */
	if (!name[0] || strchr(name, '='))
		name = "caches";
	used = (size_t)snprintf(buf, size, "(%s:", name);
	for (unsigned i = 0; i < h->n_levels && used + 80 < size; i++)
		used += (size_t)snprintf(buf + used, size - used, " %s%s",
			screen->subject->is_object ? loci_cache_label_objects(&h->level[i], label)
						   : loci_cache_label(&h->level[i], label),
			i + 1 < h->n_levels ? "," : ")");
}

/* What a reader of the numbers must know. */
static void print_notes(const struct loci_screen *screen)
{
	const struct loci_run *run = screen->subject->run;
	char number[LOCI_UNITS_MAX], line[1100];

	if (run->note && run->note[0])
		snprintf(line, sizeof(line), "note: %.1000s", run->note);
	else if (!run->complete)
		snprintf(line, sizeof(line), "note: the run was not seen to its end");
	else
		line[0] = '\0';
	if (line[0])
		loci_text_paragraph(screen->text, LOCI_STYLE_FAIR, 2, line);
	if (run->lost) {
		snprintf(line, sizeof(line), "note: %s %s were lost and are not counted",
			loci_units_count(number, (double)run->lost),
			loci_report_noun(screen->subject));
		loci_text_paragraph(screen->text, LOCI_STYLE_FAIR, 2, line);
	}
}

static void print_unseen(const struct loci_screen *screen)
{
	char line[800], list[700];

	if (!loci_unseen_line(screen->subject->profile, list, sizeof(list))[0])
		return;
	snprintf(line, sizeof(line), "calls into unseen code: %s", list);
	loci_text_paragraph(screen->text, LOCI_STYLE_FAIR, 2, line);
}

static void print_marks(const struct loci_screen *screen)
{
	char line[800], list[700];

	if (loci_regions_line(screen->subject->profile, list, sizeof(list))[0]) {
		snprintf(line, sizeof(line), "regions, of the references: %s (--by region)", list);
		loci_text_paragraph(screen->text, LOCI_STYLE_PLAIN, 2, line);
	}
	if (loci_mistakes_line(screen->subject->profile, list, sizeof(list))[0]) {
		snprintf(line, sizeof(line), "marks used wrongly: %s", list);
		loci_text_paragraph(screen->text, LOCI_STYLE_FAIR, 2, line);
	}
}

void loci_screen_header(const struct loci_screen *screen)
{
	const struct loci_subject *subject = screen->subject;
	char line[2048] = "", item[640], number[LOCI_UNITS_MAX + 16];

	add_item(line, sizeof(line), loci_profile_path(subject->profile));
	if (subject->run->command &&
		strcmp(subject->run->command, loci_profile_path(subject->profile))) {
		snprintf(item, sizeof(item), "%.200s", subject->run->command);
		add_item(line, sizeof(line), item);
	}
	add_item(line, sizeof(line), how_measured(screen, item, sizeof(item)));
	snprintf(item, sizeof(item), "%s %.*s",
		loci_units_count(number, (double)subject->run->references),
		(int)strlen(loci_report_noun(subject)) - (subject->run->references == 1),
		loci_report_noun(subject));
	add_item(line, sizeof(line), item);
	/* samples may not have met the last touch of any */
	if (subject->grain->blocks || !subject->run->references) {
		snprintf(item, sizeof(item), "%s touched",
			loci_report_size(number, subject, subject->grain->blocks));
		add_item(line, sizeof(line), item);
	}
	machine(screen, item, sizeof(item));
	add_item(line, sizeof(line), item);
	loci_text_paragraph(screen->text, LOCI_STYLE_PLAIN, 0, line);
	print_notes(screen);
	print_unseen(screen);
	print_marks(screen);
}
