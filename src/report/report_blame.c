// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen's tables of who misses the first cache: lines with their objects, and the ways from
 * use to reuse. */
#include "report/report_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/by_table.h"
#include "report/owner_name.h"

#include <string.h>

#define SPOTS   6
#define EASY    30 /* to type */
#define LINKS   3
#define NOTABLE 0.005 /* of the misses: worth a row */
#define UNLINED 0.01  /* of the misses: worth a word */

static bool is_printable(const char *name)
{
	for (; *name; name++)
		if (*name <= ' ' || *name > '~')
			return false;
	return true;
}

static size_t notable(const struct loci_blame *blame, size_t most)
{
	size_t n = 0;

	while (n < blame->n_rows && n < most &&
		loci_blame_share(blame, blame->row[n].misses) >= NOTABLE)
		n++;
	return n;
}

/* "no debug information in libfoo.so (12 % of L1 misses): .." */
static void print_unlined(const struct loci_screen *screen, const struct loci_blame *sites)
{
	const char *level = sites->levels.level[sites->levels.chosen].cache.name;
	struct loci_unlined unlined;
	char line[512], share[LOCI_TEXT_NUMBER];

	loci_unlined_find(sites, &unlined);
	if (unlined.all < UNLINED)
		return;
	if (unlined.module)
		snprintf(line, sizeof(line),
			"no lines are known in %.200s (%s of %s misses): build it with -g or "
			"install its debug symbols",
			loci_name_file(unlined.module->path),
			loci_text_percent(share, unlined.share), level);
	else
		snprintf(line, sizeof(line),
			"no lines are known for %s of %s misses: build with -g or install debug "
			"symbols",
			loci_text_percent(share, unlined.all), level);
	loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2, line);
}

static void print_few(const struct loci_screen *screen, const struct loci_blame *sites)
{
	const char *level = sites->levels.level[sites->levels.chosen].cache.name;
	size_t n = loci_blame_cover(sites, 0.9);
	char line[160];

	if (!n)
		return;
	snprintf(line, sizeof(line), "%zu of %zu sites make%s 90 %% of %s misses%s%s", n,
		sites->n_rows, n == 1 ? "s" : "", level, sites->is_estimate ? ", estimated: " : "",
		sites->is_estimate ? sites->basis : "");
	loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2, line);
}

/* A function that is easy to type, else its line. */
static void name_wanted(
	const struct loci_catalogue *c, const struct loci_site_row *site, char *ret_wanted)
{
	const struct loci_function_row *function =
		loci_catalogue_find_function(c, loci_catalogue_function_of(c, site));
	const char *name = function && function->name ? function->name : "";
	char line[LOCI_NAME_MAX];

	if (!name[0] || strlen(name) > EASY || strpbrk(name, "'<>()") || !is_printable(name))
		name = loci_name_line(c, site->source_id, site->line, line, sizeof(line));
	if (strlen(name) < LOCI_SCREEN_WANTED && is_printable(name))
		strcpy(ret_wanted, name);
}

static int print_spots(const struct loci_screen *screen, const struct loci_catalogue *c,
	const struct loci_blame_levels *levels, char *ret_wanted, struct loci_err *err)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *spots = NULL, *sites = NULL;
	const struct loci_site_row *worst;
	char title[64], element[LOCI_UNITS_MAX];
	size_t n;
	int r = loci_blame_new(c, screen->subject, levels,
		c->n_access ? LOCI_BLAME_SPOT : LOCI_BLAME_LINE, &spots, err);

	if (r == 0)
		r = loci_blame_new(c, screen->subject, levels, LOCI_BLAME_SITE, &sites, err);
	if (r < 0)
		return r;
	n = notable(spots, SPOTS);
	if (!n)
		return 0;
	worst = c->n_access
		? loci_catalogue_find_site(
			  c, ((const struct loci_access_row *)spots->row[0].owner)->site_id)
		: spots->row[0].owner;
	if (worst)
		name_wanted(c, worst, ret_wanted);
	fputc('\n', screen->text->out);
	snprintf(title, sizeof(title), "who misses %s%s%s",
		levels->level[levels->chosen].cache.name, levels->of_elements ? "@" : "",
		levels->of_elements ? loci_units_size(element, levels->block_bytes) : "");
	r = loci_by_rows(spots, title, n, screen->text, err);
	if (r < 0)
		return r;
	print_few(screen, sites);
	print_unlined(screen, sites);
	return 0;
}

static int print_links(const struct loci_screen *screen, const struct loci_catalogue *c,
	const struct loci_blame_levels *levels, struct loci_err *err)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *links = NULL;
	size_t n;
	int r = loci_blame_new(c, screen->subject, levels, LOCI_BLAME_LINK, &links, err);

	if (r < 0)
		return r;
	n = notable(links, LINKS);
	if (!n)
		return 0;
	fputc('\n', screen->text->out);
	return loci_by_rows(links, NULL, n, screen->text, err);
}

int loci_screen_blame(const struct loci_screen *screen, char *ret_wanted, struct loci_err *err)
{
	struct loci_blame_levels levels;
	struct loci_catalogue c;
	int r = loci_catalogue_load(&c, screen->subject->profile, err);

	ret_wanted[0] = '\0';
	if (r < 0 || !c.n_site || loci_blame_levels(screen->subject, &c, NULL, &levels, NULL) < 0)
		return r;
	r = print_spots(screen, &c, &levels, ret_wanted, err);
	if (r < 0 || !c.n_pair ||
		!loci_blame_is_recorded(screen->subject, LOCI_BLAME_LINK, &levels))
		return r;
	return print_links(screen, &c, &levels, err);
}
