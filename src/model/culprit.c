// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/culprit.h"

#include "base/cleanup.h"

#include <string.h>

#define WORTH_IT 0.005 /* misses of all touches */
#define MOST     0.9

int loci_culprit_find(
	const struct loci_subject *subject, struct loci_culprit *ret, struct loci_err *err)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *blame = NULL;
	const struct loci_catalogue *c = &ret->catalogue;
	const struct loci_grain *grain;
	struct loci_blame_levels levels;
	int r;

	*ret = (struct loci_culprit){ 0 };
	if (!subject->profile)
		return 0; /* a histogram alone */
	r = loci_catalogue_load(&ret->catalogue, subject->profile, err);
	if (r < 0 || !c->n_site || loci_blame_levels(subject, c, NULL, &levels, NULL) < 0)
		return r;
	r = loci_blame_new(
		c, subject, &levels, c->n_access ? LOCI_BLAME_SPOT : LOCI_BLAME_LINE, &blame, err);
	if (r < 0)
		return r;
	grain = loci_profile_grain(subject->profile, levels.block_bytes);
	if (!blame->n_rows || !grain || !grain->touches)
		return 0;
	ret->cache = levels.level[levels.chosen].cache;
	ret->of_elements = levels.of_elements;
	ret->ratio = blame->misses / (double)grain->touches;
	ret->share = loci_blame_share(blame, blame->row[0].misses);
	ret->n_most = loci_blame_cover(blame, MOST);
	r = loci_blame_look(blame, &blame->row[0], &ret->detail, err);
	if (r < 0)
		return r;
	ret->site = blame->kind == LOCI_BLAME_LINE
		? blame->row[0].owner
		: loci_catalogue_find_site(
			  c, ((const struct loci_access_row *)blame->row[0].owner)->site_id);
	ret->object = loci_catalogue_find_object(c, ret->detail.object_id);
	ret->is_known = ret->site && ret->ratio >= WORTH_IT;
	return 0;
}

void loci_unlined_find(const struct loci_blame *sites, struct loci_unlined *ret)
{
	const struct loci_catalogue *c = sites->catalogue;
	loci_autofree double *misses = calloc(c->n_module + 1, sizeof(double));
	size_t worst = 0;

	*ret = (struct loci_unlined){ 0 };
	if (!misses)
		return;
	for (size_t i = 0; i < sites->n_rows; i++) {
		const struct loci_site_row *site = sites->row[i].owner;
		const struct loci_module_row *module;

		if (site->line)
			continue;
		module = loci_catalogue_find_module(c, loci_catalogue_module_of(c, site));
		misses[module ? (size_t)(module - c->module) : c->n_module] += sites->row[i].misses;
		ret->all += sites->row[i].misses;
	}
	for (size_t i = 1; i <= c->n_module; i++)
		if (misses[i] > misses[worst])
			worst = i;
	ret->module = worst < c->n_module ? &c->module[worst] : NULL;
	ret->share = loci_blame_share(sites, misses[worst]);
	ret->all = loci_blame_share(sites, ret->all);
}
