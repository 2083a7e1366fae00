// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen's miss-ratio curve: a handful of sizes in numbers and, where eighths can be drawn, a
 * plot above them. */
#include "report/report_screen.h"

#include "report/report_verdict.h"

#include <math.h>

#define POINTS       9     /* columns at most */
#define START        0.995 /* sizes that miss nearly all are not worth a column */
#define PLOT_ROWS    3
#define LABEL_CELLS  12
#define COLUMN_CELLS 9 /* of a column at most */
#define LOG2_MAX     40

struct curve {
	const struct loci_screen *screen;
	const struct loci_hist *stack;
	unsigned low, step, n; /* column i is the size 2^(low + i * step) blocks */
	unsigned cells;        /* of a column */
};

/* Powers of two from the first that helps to the one that holds all, evenly thinned out. */
static void choose_sizes(struct curve *c)
{
	unsigned high;

	while (c->low < LOG2_MAX && loci_curve_ratio(c->stack, 1ull << c->low) > START)
		c->low++;
	if (c->low)
		c->low--; /* from where nothing is gained yet */
	high = c->low;
	while (high < LOG2_MAX && loci_hist_at_least(c->stack, 1ull << high, NULL) > 0)
		high++;
	c->step = (high - c->low + POINTS - 2) / (POINTS - 1);
	if (!c->step)
		c->step = 1;
	c->n = (high - c->low + c->step - 1) / c->step + 1;
}

/* "256K": columns are narrow. */
static const char *short_size(const struct curve *c, unsigned log2, char buf[LOCI_UNITS_MAX])
{
	if (c->screen->subject->is_object)
		return loci_units_count(buf, ldexp(1, (int)log2));
	return loci_units_size(buf, c->screen->subject->grain->block_bytes << log2);
}

/* The ratio at a cell of the plot; the last cell of a column is its size. */
static double ratio_at(const struct curve *c, unsigned cell)
{
	double log2 = c->low + c->step * ((cell + 1.) / c->cells - 1);

	return loci_curve_ratio(c->stack, (uint64_t)llround(exp2(log2 > 0 ? log2 : 0)));
}

static void print_plot(const struct curve *c)
{
	static const char *const eighth[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	const struct loci_text *text = c->screen->text;
	double top = ratio_at(c, 0);
	char line[3 * POINTS * COLUMN_CELLS + 4], number[LOCI_TEXT_NUMBER];

	for (int row = PLOT_ROWS - 1; row >= 0; row--) {
		size_t used = 0;

		for (unsigned i = 0; i < c->n * c->cells && used + 4 < sizeof(line); i++) {
			long parts = lround(ratio_at(c, i) / top * PLOT_ROWS * 8) - row * 8;

			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s",
				eighth[parts < 0            ? 0
						: parts > 8 ? 8
							    : parts]);
		}
		while (used && line[used - 1] == ' ')
			line[--used] = '\0';
		loci_text_spaces(text, 2);
		loci_text_print(text, LOCI_STYLE_DIM, "%*s ", LABEL_CELLS - 1,
			row == PLOT_ROWS - 1 ? loci_text_percent(number, top) : "");
		loci_text_print(text, LOCI_STYLE_NEUTRAL, "%s", line);
		fputc('\n', text->out);
	}
}

void loci_screen_curve(const struct loci_screen *screen)
{
	struct curve c = { .screen = screen, .stack = screen->subject->stack };
	const struct loci_text *text = screen->text;
	char size[LOCI_UNITS_MAX];

	if (screen->verdict.kind <= LOCI_VERDICT_ONE_BLOCK)
		return;
	choose_sizes(&c);
	c.cells = (text->columns - 2 - LABEL_CELLS) / c.n;
	if (c.cells > COLUMN_CELLS)
		c.cells = COLUMN_CELLS;
	fputc('\n', text->out);
	if (text->has_unicode && ratio_at(&c, 0) > 0)
		print_plot(&c);
	loci_text_print(text, LOCI_STYLE_DIM, "  %-*s", LABEL_CELLS, "cache size");
	for (unsigned i = 0; i < c.n; i++)
		loci_text_print(text, LOCI_STYLE_DIM, "%*s", (int)c.cells,
			short_size(&c, c.low + i * c.step, size));
	fprintf(text->out, "\n  %-*s", LABEL_CELLS, "misses %");
	for (unsigned i = 0; i < c.n; i++) {
		double percent = 100 * loci_curve_ratio(c.stack, 1ull << (c.low + i * c.step));

		fprintf(text->out, "%*.*f", (int)c.cells, percent < 0.095 && percent > 0 ? 2 : 1,
			percent);
	}
	fputc('\n', text->out);
}
