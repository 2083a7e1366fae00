// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/criterion.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char grammar[] = "write METRIC OP [+-]NUMBER[%], such as llc-misses>+5%";

static const char *skip_blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Longer operators first. */
static const struct {
	const char *sign;
	enum loci_criterion_op op;
} operators[] = {
	{ ">=", LOCI_CRITERION_MORE_EQUAL },
	{ "<=", LOCI_CRITERION_LESS_EQUAL },
	{ ">", LOCI_CRITERION_MORE },
	{ "<", LOCI_CRITERION_LESS },
};

static const char *parse_operator(const char *s, enum loci_criterion_op *ret)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(operators); i++)
		if (!strncmp(s, operators[i].sign, strlen(operators[i].sign))) {
			*ret = operators[i].op;
			return s + strlen(operators[i].sign);
		}
	return NULL;
}

/* Digits with a fraction or an exponent, or a size with K, M or G. */
static int parse_number(const char *s, struct loci_criterion *c, struct loci_err *err)
{
	size_t length = strlen(s);
	char buf[64], *end;
	uint64_t bytes;

	while (length && isspace((unsigned char)s[length - 1]))
		length--;
	c->is_percent = length && s[length - 1] == '%';
	if (c->is_percent)
		length--;
	while (length && isspace((unsigned char)s[length - 1]))
		length--;
	snprintf(buf, sizeof(buf), "%.*s", (int)length, s);
	if (length == 0 || length >= sizeof(buf) || !isdigit((unsigned char)buf[0]) ||
		!strncasecmp(buf, "0x", 2))
		return loci_err_set(
			err, EINVAL, "\"%s\": \"%.40s\" is no number; %s", c->text, s, grammar);
	c->number = strtod(buf, &end);
	if (!*end && isfinite(c->number))
		return 0;
	if (!c->is_percent && loci_units_parse_bytes(buf, &bytes, NULL) == 0) {
		c->number = (double)bytes;
		return 0;
	}
	return loci_err_set(err, EINVAL, "\"%s\": \"%.40s\" is no number; %s", c->text, s, grammar);
}

int loci_criterion_parse(const char *text, struct loci_criterion *ret, struct loci_err *err)
{
	const char *s = skip_blanks(text);
	size_t length = strcspn(s, "<>= \t");
	double sign;
	int r;

	*ret = (struct loci_criterion){ 0 };
	snprintf(ret->text, sizeof(ret->text), "%s", text);
	if (strlen(text) >= sizeof(ret->text))
		return loci_err_set(err, EINVAL, "\"%.40s...\" is too long; %s", text, grammar);
	if (!length || length >= sizeof(ret->metric))
		return loci_err_set(err, EINVAL, "\"%s\" names no metric; %s", text, grammar);
	for (size_t i = 0; i < length; i++)
		ret->metric[i] = (char)tolower((unsigned char)s[i]);
	s = parse_operator(skip_blanks(s + length), &ret->op);
	if (!s)
		return loci_err_set(err, EINVAL, "\"%s\" has none of > >= < <= after \"%s\"; %s",
			text, ret->metric, grammar);
	s = skip_blanks(s);
	ret->is_change = *s == '+' || *s == '-';
	sign = *s == '-' ? -1 : 1;
	if (ret->is_change)
		s = skip_blanks(s + 1);
	r = parse_number(s, ret, err);
	ret->number *= sign;
	return r;
}

/* A metric found: its values, and the whole that an unsigned percentage is of. */
struct metric {
	struct loci_change change;
	double whole; /* after the change; 0: percentages of it make no sense */
	bool is_bytes;
};

static struct loci_change scaled(struct loci_change change, double by)
{
	return (struct loci_change){ change.before * by, change.after * by };
}

static bool find_total(const struct loci_compare *c, const char *name, struct metric *ret)
{
	const struct {
		const char *name;
		struct loci_change change;
		double whole;
	} totals[] = {
		{ "references", c->references, 0 },
		{ "touches", c->touches, 0 },
		{ "blocks", c->blocks, c->touches.after },
		{ "cold", c->cold, c->touches.after },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(totals); i++)
		if (!strcmp(name, totals[i].name)) {
			*ret = (struct metric){ totals[i].change, totals[i].whole, false };
			return true;
		}
	for (size_t i = 0; i < LOCI_COMPARE_PERCENTILES; i++) {
		char percentile[8];

		snprintf(percentile, sizeof(percentile), "p%u", loci_compare_percents[i]);
		if (strcmp(name, percentile))
			continue;
		*ret = (struct metric){ scaled(c->percentile[i], (double)c->block_bytes), 0,
			!c->is_object };
		return true;
	}
	return false;
}

static const struct loci_compare_level *find_level(
	const struct loci_compare *c, const char *name, size_t length)
{
	bool is_llc = length == 3 && !strncmp(name, "llc", 3);

	for (unsigned i = c->n_levels; i-- > 0;) {
		const struct loci_cache *cache = &c->level[i].cache;

		if (strlen(cache->name) == length && !strncasecmp(cache->name, name, length))
			return &c->level[i];
	}
	for (unsigned i = c->n_levels; is_llc && i-- > 0;)
		if (!c->level[i].cache.is_tlb)
			return &c->level[i];
	return NULL;
}

static int no_metric(
	const struct loci_criterion *criterion, const struct loci_compare *c, struct loci_err *err)
{
	char levels[160] = "";
	size_t used = 0;

	for (unsigned i = 0; i < c->n_levels && used + 20 < sizeof(levels); i++)
		used += (size_t)snprintf(
			levels + used, sizeof(levels) - used, " %s", c->level[i].cache.name);
	return loci_err_set(err, EINVAL,
		"\"%s\": there is no metric \"%s\"; there are references, touches, blocks, cold, "
		"p50, p70, p80, p90, p95, and LEVEL-misses, LEVEL-writebacks and LEVEL-moved with "
		"a level of%s%s",
		criterion->text, criterion->metric,
		c->n_levels ? levels : " a machine, which is not known here: --cache names one",
		c->n_levels ? " llc" : "");
}

static int find_metric(const struct loci_criterion *criterion, const struct loci_compare *c,
	struct metric *ret, struct loci_err *err)
{
	const char *name = criterion->metric, *dash = strrchr(name, '-');
	const struct loci_compare_level *level;

	if (find_total(c, name, ret))
		return 0;
	level = dash ? find_level(c, name, (size_t)(dash - name)) : NULL;
	if (!level)
		return no_metric(criterion, c, err);
	if (level->cache.is_tlb && strcmp(dash, "-misses"))
		return loci_err_set(err, EINVAL,
			"\"%s\": %s is a TLB: it moves and writes back nothing, and has misses "
			"only",
			criterion->text, level->cache.name);
	if (!strcmp(dash, "-misses")) {
		*ret = (struct metric){ level->misses, level->accesses.after, false };
	} else if (!strcmp(dash, "-moved")) {
		*ret = (struct metric){ level->moved_bytes, 0, !c->is_object };
	} else if (!strcmp(dash, "-writebacks")) {
		*ret = (struct metric){ level->writebacks, level->accesses.after, false };
		if (!level->has_writebacks)
			return loci_err_set(err, EINVAL,
				"\"%s\": not both profiles tell loads from stores, so write-backs "
				"are not known",
				criterion->text);
	} else {
		return no_metric(criterion, c, err);
	}
	return 0;
}

int loci_criterion_check(const struct loci_criterion *criterion, const struct loci_compare *compare,
	struct loci_criterion_result *ret, struct loci_err *err)
{
	struct metric metric = { 0 };
	double value;
	int r = find_metric(criterion, compare, &metric, err);

	if (r < 0)
		return r;
	if (criterion->is_change && criterion->is_percent)
		value = 100 * loci_change_relative(metric.change);
	else if (criterion->is_change)
		value = metric.change.before == metric.change.after
			? 0
			: metric.change.after - metric.change.before;
	else if (!criterion->is_percent)
		value = metric.change.after;
	else if (metric.whole > 0)
		value = 100 * metric.change.after / metric.whole;
	else
		return loci_err_set(err, EINVAL,
			"\"%s\": %s has no whole to be a percentage of; a sign (+%g%%) makes it a "
			"change",
			criterion->text, criterion->metric, criterion->number);
	*ret = (struct loci_criterion_result){
		.change = metric.change,
		.measured = value,
		.is_bytes = metric.is_bytes,
		.fired = criterion->op == LOCI_CRITERION_MORE        ? value > criterion->number
			: criterion->op == LOCI_CRITERION_MORE_EQUAL ? value >= criterion->number
			: criterion->op == LOCI_CRITERION_LESS       ? value < criterion->number
								     : value <= criterion->number,
	};
	return 0;
}
