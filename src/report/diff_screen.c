// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/diff_screen.h"

#include "base/units.h"
#include "report/approximate_line.h"
#include "report/report_verdict.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

#define NAME_CELLS 22

static const struct {
	const char *word;
	enum loci_style style;
} trends[] = {
	[LOCI_TREND_SAME] = { "", LOCI_STYLE_PLAIN },
	[LOCI_TREND_BETTER] = { "better", LOCI_STYLE_GOOD },
	[LOCI_TREND_WORSE] = { "worse", LOCI_STYLE_BAD },
};

typedef const char *format_fn(char *buf, double value);

/* A row: what, before, after, change, word. */
static void add_row(struct loci_table *table, const char *what, struct loci_change change,
	format_fn *format, enum loci_style style, const char *word)
{
	char number[LOCI_UNITS_MAX], relative[LOCI_TEXT_NUMBER];
	const double value[] = { change.before, change.after };

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", what);
	for (unsigned i = 0; i < 2; i++)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
			isinf(value[i]) ? "no cache" : format(number, value[i]));
	loci_table_add(table, style, "%s", loci_text_change(relative, change.before, change.after));
	loci_table_add(table, style, "%s", word);
}

static void add_levels(struct loci_table *table, const struct loci_compare *c)
{
	char what[64], label[64];

	for (unsigned i = 0; i < c->n_levels; i++) {
		const struct loci_compare_level *level = &c->level[i];
		enum loci_trend trend = loci_change_trend(
			level->misses, level->accesses.after, level->error_points);
		bool is_within = trend == LOCI_TREND_SAME && level->error_points > 0 &&
			level->misses.before != level->misses.after;

		snprintf(what, sizeof(what), "%s misses",
			c->is_object ? loci_cache_label_objects(&level->cache, label)
				     : loci_cache_label(&level->cache, label));
		add_row(table, what, level->misses, loci_units_count, trends[trend].style,
			is_within ? "within the error" : trends[trend].word);
		if (c->is_object || level->cache.is_tlb)
			continue;
		/* misses and write-backs, each with an error of its own */
		trend = loci_change_trend(level->moved_bytes,
			level->accesses.after * (double)level->cache.line_bytes,
			2 * level->error_points);
		snprintf(what, sizeof(what), "%s moved", level->cache.name);
		add_row(table, what, level->moved_bytes, loci_units_bytes, trends[trend].style,
			trends[trend].word);
	}
}

static void add_sizes(struct loci_table *table, const struct loci_compare *c)
{
	double scale = c->is_object ? 1 : (double)c->block_bytes;
	format_fn *format = c->is_object ? loci_units_count : loci_units_bytes;
	char what[64];

	for (unsigned i = 0; i < LOCI_COMPARE_PERCENTILES; i++) {
		struct loci_change size = { c->percentile[i].before * scale,
			c->percentile[i].after * scale };
		enum loci_trend trend = loci_change_trend(size, 0, 0);

		if (loci_compare_percents[i] == 50 || loci_compare_percents[i] == 80)
			continue;
		snprintf(what, sizeof(what), "%u %% fit in", loci_compare_percents[i]);
		add_row(table, what, size, format, trends[trend].style,
			trend == LOCI_TREND_BETTER          ? "less"
				: trend == LOCI_TREND_WORSE ? "more"
							    : "");
	}
}

/* Long reuses should shrink, and short ones must not pay for it. */
static void add_groups(struct loci_table *table, const struct loci_compare *c)
{
	const struct {
		const char *what;
		const struct loci_compare_group *group;
	} rows[] = { { "short reuses, median", &c->near }, { "long reuses, median", &c->far } };
	double scale = c->is_object ? 1 : (double)c->block_bytes;

	for (unsigned i = 0; i < 2; i++) {
		struct loci_change size = { rows[i].group->median.before * scale,
			rows[i].group->median.after * scale };
		enum loci_trend trend = loci_change_trend(size, 0, 0);

		/* a group that sampling alone could have made says nothing */
		if (rows[i].group->share > 0 && 100 * rows[i].group->share >= c->error_points)
			add_row(table, rows[i].what, size,
				c->is_object ? loci_units_count : loci_units_bytes,
				trends[trend].style,
				trend == LOCI_TREND_BETTER          ? "shorter"
					: trend == LOCI_TREND_WORSE ? "longer"
					: i == 0                    ? "not longer"
								    : "");
	}
}

/* The file without its folders, and not too long to be a column's title. */
static const char *short_name(const struct loci_subject *subject, char buf[64])
{
	const char *path = loci_profile_path(subject->profile), *slash = strrchr(path, '/');

	if (slash)
		path = slash + 1;
	if (strlen(path) > NAME_CELLS)
		snprintf(buf, 64, "...%s", path + strlen(path) - NAME_CELLS + 3);
	else
		snprintf(buf, 64, "%s", path);
	return buf;
}

int loci_diff_screen(
	const struct loci_compare *c, const struct loci_text *text, struct loci_err *err)
{
	char name[2][64], words[1024], points[LOCI_UNITS_MAX];
	const struct loci_table_column columns[] = {
		{ "", LOCI_ALIGN_LEFT },
		{ short_name(c->subject[0], name[0]), LOCI_ALIGN_RIGHT },
		{ short_name(c->subject[1], name[1]), LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_LEFT },
	};
	struct loci_change touched = c->blocks;
	struct loci_table table;
	int r;

	loci_text_paragraph(text, LOCI_STYLE_BOLD, 2, loci_diff_verdict(c, words, sizeof(words)));
	if (c->error_points > 0) {
		snprintf(words, sizeof(words), "sampled: shares are known to %s %s points",
			text->glyph->plus_minus,
			loci_units_points(points, c->error_points < 100 ? c->error_points : 100));
		loci_text_paragraph(text, LOCI_STYLE_FAIR, 2, words);
	}
	loci_approximate_text(c->subject[!loci_run_is_approximate(c->subject[0]->run)]->run, text);
	fputc('\n', text->out);
	loci_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	add_row(&table, c->is_object ? "requests" : "references", c->references, loci_units_count,
		LOCI_STYLE_PLAIN, "");
	if (!c->is_object) {
		touched.before *= (double)c->block_bytes;
		touched.after *= (double)c->block_bytes;
	}
	add_row(&table, c->is_object ? "objects touched" : "touched", touched,
		c->is_object ? loci_units_count : loci_units_bytes, LOCI_STYLE_PLAIN, "");
	add_levels(&table, c);
	add_groups(&table, c);
	add_sizes(&table, c);
	r = loci_table_print(&table, text, 2);
	loci_table_fini(&table);
	if (r < 0)
		return loci_err_nomem(err);
	loci_diff_histogram(c, text);
	return 0;
}
