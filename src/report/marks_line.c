// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/marks_line.h"

#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>

#define REGIONS  4 /* in a line */
#define MISTAKES 3

/* Whether a stands before b: the most references first. */
static bool is_before(const struct loci_region_row *a, const struct loci_region_row *b)
{
	return a->refs > b->refs || (a->refs == b->refs && a < b);
}

static const struct loci_region_row *next_most(
	const struct loci_catalogue *c, const struct loci_region_row *last)
{
	const struct loci_region_row *most = NULL;

	for (size_t i = 0; i < c->n_region; i++)
		if ((!last || is_before(last, &c->region[i])) &&
			(!most || is_before(&c->region[i], most)))
			most = &c->region[i];
	return most;
}

const char *loci_regions_line(struct loci_profile *profile, char *buf, size_t size)
{
	double all = (double)loci_profile_run(profile)->references;
	const struct loci_region_row *at = NULL;
	char name[LOCI_NAME_MAX], number[LOCI_TEXT_NUMBER];
	struct loci_catalogue c = { .profile = profile };
	size_t used = 0, shown = 0;

	buf[0] = '\0';
	if (loci_profile_regions(profile, &c.region, &c.n_region, NULL) < 0)
		return buf;
	while (shown < REGIONS && used < size && (at = next_most(&c, at))) {
		used += (size_t)snprintf(buf + used, size - used, "%s%.100s %s", used ? ", " : "",
			loci_name_region(&c, at, name, sizeof(name)),
			loci_text_percent(number, all > 0 ? (double)at->refs / all : 0));
		shown++;
	}
	if (shown < c.n_region && used < size)
		snprintf(buf + used, size - used, ", %zu more", c.n_region - shown);
	return buf;
}

const char *loci_mistakes_line(struct loci_profile *profile, char *buf, size_t size)
{
	const struct loci_mistake_row *mistake;
	size_t n, used = 0;

	buf[0] = '\0';
	if (loci_profile_mistakes(profile, &mistake, &n, NULL) < 0)
		return buf;
	for (size_t i = 0; i < n && i < MISTAKES && used < size; i++) {
		used += (size_t)snprintf(
			buf + used, size - used, "%s%.160s", used ? "; " : "", mistake[i].what);
		if (mistake[i].times > 1 && used < size)
			used += (size_t)snprintf(
				buf + used, size - used, " (%" PRIu64 " times)", mistake[i].times);
	}
	if (n > MISTAKES && used < size)
		snprintf(buf + used, size - used, "; %zu more", n - MISTAKES);
	return buf;
}

void loci_marks_json(struct loci_profile *profile, struct loci_json *json)
{
	const struct loci_mistake_row *mistake;
	const struct loci_region_row *region;
	size_t n = 0;

	if (loci_profile_regions(profile, &region, &n, NULL) < 0)
		n = 0;
	loci_pair_u64(json, "regions", n);
	loci_pair_array(json, "mistakes");
	if (loci_profile_mistakes(profile, &mistake, &n, NULL) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_string(json, "what", mistake[i].what);
		loci_pair_u64(json, "times", mistake[i].times);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}
