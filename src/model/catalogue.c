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
