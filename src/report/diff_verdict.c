// SPDX-License-Identifier: GPL-2.0-or-later
/* A comparison in words. */
#include "report/diff_screen.h"

#include "base/units.h"
#include "report/report_verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOTABLE 0.005 /* share of a group of reuses that is worth a clause */

struct words {
	const struct loci_compare *c;
	char *buf;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *fmt, ...)
{
	size_t used = strlen(w->buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->buf + used, w->size - used, fmt, args);
	va_end(args);
}

static enum loci_trend trend_of(const struct loci_compare_level *level)
{
	return loci_change_trend(level->misses, level->accesses.after, level->error_points);
}

/* "L1 misses fall by 87 %" */
static void say_level(struct words *w, const struct loci_compare_level *level)
{
	double relative = loci_change_relative(level->misses);
	char number[LOCI_TEXT_NUMBER];

	say(w, "%s misses ", level->cache.name);
	if (isinf(relative))
		say(w, "appear");
	else if (level->misses.after == 0)
		say(w, "disappear");
	else if (relative > 1)
		say(w, "grow %.1f-fold", 1 + relative);
	else
		say(w, "%s by %s", relative < 0 ? "fall" : "rise",
			loci_text_percent(number, fabs(relative)));
}

static unsigned say_levels(struct words *w, enum loci_trend trend)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->c->n_levels; i++)
		if (trend_of(&w->c->level[i]) == trend) {
			say(w, "%s", n++ ? ", " : "");
			say_level(w, &w->c->level[i]);
		}
	return n;
}

static void say_machine(struct words *w)
{
	unsigned n[3] = { 0 };

	for (unsigned i = 0; i < w->c->n_levels; i++)
		n[trend_of(&w->c->level[i])]++;
	if (!n[LOCI_TREND_BETTER] && !n[LOCI_TREND_WORSE]) {
		say(w, "No level of the machine misses more or less than before.");
		return;
	}
	say(w, "%s: ", !n[LOCI_TREND_WORSE] ? "Better" : !n[LOCI_TREND_BETTER] ? "Worse" : "Mixed");
	say_levels(w, LOCI_TREND_BETTER);
	if (n[LOCI_TREND_BETTER] && n[LOCI_TREND_WORSE])
		say(w, "; but ");
	say_levels(w, LOCI_TREND_WORSE);
	say(w, ".");
}

/* "of the long reuses (beyond L1) 63 % are at most half as long, none twice as long" */
static void say_group(struct words *w, const struct loci_compare_group *group)
{
	char number[LOCI_TEXT_NUMBER];
	bool is_shorter = group->shorter >= NOTABLE, is_longer = group->longer >= NOTABLE;

	if (is_shorter)
		say(w, "%s are shorter", loci_text_percent(number, group->shorter));
	if (is_longer)
		say(w, "%s%s are longer", is_shorter ? ", " : "",
			loci_text_percent(number, group->longer));
	if (!is_shorter && !is_longer)
		say(w, "hardly any changed");
}

static bool is_changed(const struct loci_compare_group *group)
{
	return group->shorter >= NOTABLE || group->longer >= NOTABLE;
}

static void say_groups(struct words *w)
{
	const struct loci_compare *c = w->c;
	char size[LOCI_UNITS_MAX + 16], where[96];
	bool has_near = c->near.share >= NOTABLE, has_far = c->far.share >= NOTABLE;

	if (!has_near && !has_far)
		return;
	if (w->buf[0])
		say(w, " ");
	if (!is_changed(&c->near) && !is_changed(&c->far)) {
		say(w, "Hardly a reuse is shorter or longer.");
		return;
	}
	loci_report_size(size, c->subject[0], (double)c->boundary_blocks);
	snprintf(where, sizeof(where), c->boundary_name[0] ? "%s\u00a0(%s)" : "%s%s",
		c->boundary_name, size);
	say(w, "Of the reuses that ");
	if (has_far) {
		say(w, "reached beyond %s, ", where);
		say_group(w, &c->far);
	}
	if (has_near) {
		if (has_far)
			say(w, "; of the others, ");
		else
			say(w, "fitted in %s, ", where);
		say_group(w, &c->near);
	}
	say(w, ".");
}

const char *loci_diff_verdict(const struct loci_compare *compare, char *buf, size_t size)
{
	struct words w = { compare, buf, size };

	buf[0] = '\0';
	if (compare->n_levels)
		say_machine(&w);
	say_groups(&w);
	if (!buf[0])
		say(&w, "Neither run uses anything twice: there is nothing to compare.");
	return buf;
}

const char *loci_diff_reason(const struct loci_criterion *criterion,
	const struct loci_criterion_result *result, char *buf, size_t size)
{
	char before[LOCI_UNITS_MAX], after[LOCI_UNITS_MAX], change[LOCI_TEXT_NUMBER];
	const char *(*format)(char *, double) =
		result->is_bytes ? loci_units_bytes : loci_units_count;

	if (isinf(result->change.before))
		snprintf(before, sizeof(before), "no size");
	else
		format(before, result->change.before);
	if (isinf(result->change.after))
		snprintf(after, sizeof(after), "no size");
	else
		format(after, result->change.after);
	loci_text_change(change, result->change.before, result->change.after);
	if (!criterion->is_change && criterion->is_percent)
		snprintf(buf, size, "%s is %s, %.3g %% of all touches (it was %s)",
			criterion->metric, after, result->measured, before);
	else if (criterion->is_change)
		snprintf(buf, size, "%s went from %s to %s%s%s", criterion->metric, before, after,
			change[0] ? ", " : "", change);
	else
		snprintf(buf, size, "%s is %s (it was %s)", criterion->metric, after, before);
	return buf;
}
