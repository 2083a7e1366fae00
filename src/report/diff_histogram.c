// SPDX-License-Identifier: GPL-2.0-or-later
/* The bins of two runs: shares before and after, and the change as a bar to the left (fewer) or to
 * the right (more) of an axis. */
#include "report/diff_screen.h"

#include "report/report_screen.h"
#include "report/report_verdict.h"

#include <math.h>
#include <string.h>

#define INDENT      2
#define LABEL_CELLS 12
#define SHARE_CELLS 8
#define SILENT      5e-5 /* a change that rounds to nothing */

struct picture {
	const struct loci_compare *c;
	const struct loci_text *text;
	double loudest;
	unsigned cells; /* on either side of the axis */
};

/* Whole cells and, where Unicode is there, half a one at the tip, which is on the left or on the
 * right. Returns the width. */
static unsigned draw(const struct picture *p, double fraction, bool is_left, char *buf, size_t size)
{
	unsigned halves = (unsigned)lround(fraction * p->cells * 2), used = 0;
	const char *full = p->text->has_unicode ? "█" : is_left ? "-" : "+";

	if (!halves)
		halves = 1;
	if (!p->text->has_unicode)
		halves += halves % 2;
	if (halves % 2 && is_left)
		used += (unsigned)snprintf(buf + used, size - used, "▐");
	for (unsigned i = 0; i < halves / 2; i++)
		used += (unsigned)snprintf(buf + used, size - used, "%s", full);
	if (halves % 2 && !is_left)
		snprintf(buf + used, size - used, "▌");
	return (halves + 1) / 2;
}

/* Fewer beyond the first level is good news, more is bad; within it neither is news. */
static void print_row(
	const struct picture *p, const char *label, double before, double after, bool is_judged)
{
	double change = after - before;
	const struct loci_text *text = p->text;
	enum loci_style style = !is_judged ? LOCI_STYLE_NEUTRAL
		: change < 0               ? LOCI_STYLE_GOOD
					   : LOCI_STYLE_BAD;
	bool is_silent = fabs(change) < SILENT;
	char number[LOCI_TEXT_NUMBER + 1], bar[256] = "";
	unsigned width = 0;

	loci_text_spaces(text, INDENT);
	fprintf(text->out, "%*s", LABEL_CELLS, label);
	fprintf(text->out, "%*s", SHARE_CELLS, loci_text_points(number, before));
	fprintf(text->out, "%*s", SHARE_CELLS, loci_text_points(number, after));
	loci_text_points(number + 1, change);
	number[0] = change > 0 ? '+' : ' ';
	fprintf(text->out, "%*s  ", SHARE_CELLS, is_silent ? "" : number);
	if (!is_silent)
		width = draw(p, fabs(change) / p->loudest, change < 0, bar, sizeof(bar));
	loci_text_spaces(text, p->cells - (change < 0 ? width : 0));
	if (change < 0)
		loci_text_print(text, style, "%s", bar);
	loci_text_print(text, LOCI_STYLE_DIM, "%s", text->glyph->axis);
	if (change > 0)
		loci_text_print(text, style, "%s", bar);
	fputc('\n', text->out);
}

static void print_title(const struct picture *p)
{
	char blocks[LOCI_UNITS_MAX + 16];

	fputc('\n', p->text->out);
	loci_text_print(p->text, LOCI_STYLE_DIM, "  stack distance, %s, %% of %s\n",
		loci_report_blocks(blocks, p->c->subject[0]), loci_report_noun(p->c->subject[0]));
	loci_text_print(p->text, LOCI_STYLE_DIM, "  %*s%*s%*s%*s\n", LABEL_CELLS, "up to",
		SHARE_CELLS, "before ", SHARE_CELLS, "after ", SHARE_CELLS - 1, "change");
}

void loci_diff_histogram(const struct loci_compare *c, const struct loci_text *text)
{
	struct picture p = { .c = c, .text = text };
	double cold[2];
	uint64_t edge[LOCI_LEVELS_MAX];
	unsigned level[LOCI_LEVELS_MAX], n_rules = 0;
	unsigned n = loci_subject_edges(c->subject[1], edge, level);
	char label[LOCI_UNITS_MAX];

	for (unsigned i = 0; i < 2; i++) {
		const struct loci_hist *stack = c->subject[i]->stack;
		double total = loci_hist_total(stack);

		cold[i] = total > 0 ? stack->cold / total : 0;
	}
	p.loudest = fabs(cold[1] - cold[0]);
	for (unsigned i = 0; i < c->bins.n_rows; i++)
		p.loudest =
			fmax(p.loudest, fabs(c->bins.row[i].share[1] - c->bins.row[i].share[0]));
	p.cells = (text->columns - INDENT - LABEL_CELLS - 3 * SHARE_CELLS - 3) / 2;
	print_title(&p);
	for (unsigned i = 0; i < c->bins.n_rows; i++) {
		const struct loci_bins_row *row = &c->bins.row[i];

		for (; n_rules < n && edge[n_rules] <= row->low; n_rules++)
			loci_screen_rule(text, c->subject[1],
				&c->subject[1]->level[level[n_rules]].cache, LABEL_CELLS);
		loci_report_cell(label, c->subject[1], (double)row->high);
		print_row(&p, label, row->share[0], row->share[1], n_rules > 0);
	}
	if (n_rules < n && c->bins.n_rows)
		loci_screen_rule(text, c->subject[1], &c->subject[1]->level[level[n_rules]].cache,
			LABEL_CELLS);
	print_row(&p, "cold", cold[0], cold[1], true);
}
