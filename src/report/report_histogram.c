// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen's picture: shares of references by the cache that would hold them, with the machine's
 * caches as rules in between. A row's label is its upper end; it holds everything from the label
 * before. */
#include "report/report_screen.h"

#include "model/bins.h"
#include "report/report_verdict.h"

#include <string.h>

#define ROWS_MAX    14 /* so that all fits on one screen */
#define INDENT      2
#define LABEL_CELLS 15
#define SHARE_CELLS 8

struct picture {
	const struct loci_screen *screen;
	struct loci_bins bins;
	double cold, loudest;
	unsigned n_rules; /* printed so far */
	bool is_first;
};

/* A row is as good as the level that serves it. */
static enum loci_style row_style(const struct picture *p)
{
	unsigned n = p->screen->verdict.n_levels;

	if (!n)
		return LOCI_STYLE_NEUTRAL;
	return p->n_rules == 0   ? LOCI_STYLE_GOOD
		: p->n_rules < n ? LOCI_STYLE_FAIR
				 : LOCI_STYLE_BAD;
}

static void print_row(struct picture *p, const char *label, double share, enum loci_style style)
{
	const struct loci_text *text = p->screen->text;
	unsigned cells = text->columns - INDENT - LABEL_CELLS - SHARE_CELLS - 2, width;
	char bar[512], number[LOCI_TEXT_NUMBER];
	char *end;

	loci_text_spaces(text, INDENT);
	loci_text_print(text, LOCI_STYLE_DIM, "%-6s", p->is_first ? "up to" : "");
	fprintf(text->out, "%*s  ", LABEL_CELLS - 6, label);
	loci_text_bar(
		text, p->loudest > 0 ? share / p->loudest : 0, cells, bar, sizeof(bar), &width);
	loci_text_print(text, style, "%s", bar);
	loci_text_points(number, share);
	for (end = number + strlen(number); end > number && end[-1] == ' ';)
		*--end = '\0'; /* at the line's end the point is aligned by width alone */
	loci_text_spaces(text, cells - width);
	fprintf(text->out, "%*s\n", SHARE_CELLS - (strchr(number, '.') == end - 2), number);
	p->is_first = false;
}

void loci_screen_rule(const struct loci_text *text, const struct loci_subject *subject,
	const struct loci_cache *level, unsigned label_cells)
{
	char size[LOCI_UNITS_MAX];
	unsigned name = loci_text_width(level->name) + 1, used = label_cells + 1;

	loci_report_cell(size, subject, (double)loci_cache_blocks(level));
	loci_text_spaces(text, INDENT);
	loci_text_print(text, LOCI_STYLE_BOLD, "%s ", level->name);
	if (name + strlen(size) + 1 < label_cells)
		loci_text_rule(text, label_cells - name - (unsigned)strlen(size) - 1);
	else
		used = name + (unsigned)strlen(size) + 2;
	loci_text_print(text, LOCI_STYLE_BOLD, " %s ", size);
	loci_text_rule(text, text->columns - INDENT - used);
	fputc('\n', text->out);
}

static void print_rule(struct picture *p)
{
	loci_screen_rule(p->screen->text, p->screen->subject,
		&p->screen->verdict.level[p->n_rules++], LABEL_CELLS);
}

static void print_title(const struct loci_screen *screen)
{
	const struct loci_subject *subject = screen->subject;
	const struct loci_text *text = screen->text;
	char title[96], right[48], blocks[LOCI_UNITS_MAX + 16];

	snprintf(title, sizeof(title), "stack distance, %s%s", loci_report_blocks(blocks, subject),
		subject->own ? ", all threads in one stack" : "");
	snprintf(right, sizeof(right), "%% of %s", loci_report_noun(subject));
	loci_text_spaces(text, INDENT);
	loci_text_print(text, LOCI_STYLE_DIM, "%s%*s\n", title,
		(int)(text->columns - INDENT - strlen(title)), right);
}

void loci_screen_histogram(const struct loci_screen *screen)
{
	const struct loci_hist *stack = screen->subject->stack;
	struct picture p = { .screen = screen, .is_first = true };
	uint64_t edge[LOCI_LEVELS_MAX];
	unsigned n = loci_subject_edges(screen->subject, edge, NULL);
	char label[LOCI_UNITS_MAX];

	if (screen->verdict.kind == LOCI_VERDICT_ALL_NEW)
		n = 0; /* no row for the rules to stand between */
	loci_bins_cut(stack, NULL, edge, n, ROWS_MAX, &p.bins);
	p.loudest = p.cold = screen->verdict.cold;
	for (unsigned i = 0; i < p.bins.n_rows; i++)
		if (p.bins.row[i].share[0] > p.loudest)
			p.loudest = p.bins.row[i].share[0];
	print_title(screen);
	for (unsigned i = 0; i < p.bins.n_rows; i++) {
		const struct loci_bins_row *row = &p.bins.row[i];

		while (p.n_rules < n && edge[p.n_rules] <= row->low)
			print_rule(&p);
		loci_report_cell(label, screen->subject, (double)row->high);
		print_row(&p, label, row->share[0], row_style(&p));
	}
	if (p.n_rules < n) /* the first level that holds everything; larger ones say nothing new */
		print_rule(&p);
	p.is_first = false;
	print_row(&p, "cold", p.cold, LOCI_STYLE_NEUTRAL);
}
