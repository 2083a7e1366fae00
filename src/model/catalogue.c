// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/catalogue.h"

int loci_catalogue_load(
	struct loci_catalogue *ret, struct loci_profile *profile, struct loci_err *err)
{
	int r;

	*ret = (struct loci_catalogue){ .profile = profile };
#define LOAD(name, ...)                                                       \
	r = loci_profile_##name##s(profile, &ret->name, &ret->n_##name, err); \
	if (r < 0)                                                            \
		return r;
	LOCI_DIMENSIONS(LOAD)
#undef LOAD
	return 0;
}

int64_t loci_catalogue_function_of(
	const struct loci_catalogue *catalogue, const struct loci_site_row *site)
{
	const struct loci_inlined_row *inlined =
		loci_catalogue_find_inlined(catalogue, site->inlined_id);

	return inlined ? inlined->function_id : site->function_id;
}

static bool is_within(const struct loci_catalogue *c, int64_t id, const struct loci_loop_row *loop)
{
	const struct loci_loop_row *row = loci_catalogue_find_loop(c, id);

	while (row && row != loop)
		row = loci_catalogue_find_loop(c, row->parent_id);
	return row;
}

/* The line a function begins at, 0 where the loop does not lie below it. */
static unsigned begins_above(
	const struct loci_catalogue *c, int64_t function_id, const struct loci_loop_row *loop)
{
	const struct loci_function_row *function = loci_catalogue_find_function(c, function_id);

	return function && function->source_id == loop->source_id && function->line <= loop->line
		? function->line
		: 0;
}

int64_t loci_catalogue_loop_function(
	const struct loci_catalogue *catalogue, const struct loci_loop_row *loop)
{
	int64_t own = loop->function_id;

	for (size_t i = 0; i < catalogue->n_site; i++) {
		const struct loci_site_row *site = &catalogue->site[i];
		int64_t other;

		if (site->source_id != loop->source_id || site->line < loop->line ||
			site->line > loop->last_line || !is_within(catalogue, site->loop_id, loop))
			continue;
		other = loci_catalogue_function_of(catalogue, site);
		if (begins_above(catalogue, other, loop) > begins_above(catalogue, own, loop))
			own = other;
	}
	return own;
}

int64_t loci_catalogue_module_of(
	const struct loci_catalogue *catalogue, const struct loci_site_row *site)
{
	const struct loci_function_row *function =
		loci_catalogue_find_function(catalogue, site->function_id);

	return function ? function->module_id : site->module_id;
}

const char *loci_catalogue_excerpt(
	const struct loci_catalogue *catalogue, int64_t source_id, unsigned line)
{
	size_t low = 0, high = catalogue->n_excerpt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct loci_excerpt_row *row = &catalogue->excerpt[middle];

		if (row->source_id == source_id && row->line == line)
			return row->text;
		if (row->source_id < source_id || (row->source_id == source_id && row->line < line))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
