/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's dimensions at hand: every table loaded, every id one search away. Borrowed from the
 * profile; nothing to free. */
#ifndef LOCI_MODEL_CATALOGUE_H
#define LOCI_MODEL_CATALOGUE_H

#include "profile/dimension.h"

/* site and n_sites, object and n_objects, .. */
#define LOCI_CATALOGUE_TABLE(name, ...)       \
	const struct loci_##name##_row *name; \
	size_t n_##name;
struct loci_catalogue {
	struct loci_profile *profile;
	LOCI_DIMENSIONS(LOCI_CATALOGUE_TABLE)
};

int loci_catalogue_load(
	struct loci_catalogue *ret, struct loci_profile *profile, struct loci_err *err);

/* The row of an id, or NULL: loci_catalogue_find_site(catalogue, id), and so on. */
#define LOCI_CATALOGUE_FINDERS(X) \
	X(process)                \
	X(module)                 \
	X(source)                 \
	X(function)               \
	X(inlined)                \
	X(loop)                   \
	X(site)                   \
	X(context)                \
	X(object)                 \
	X(field)                  \
	X(access)                 \
	X(pair)                   \
	X(region)                 \
	X(phase)                  \
	X(block)                  \
	X(level)
#define LOCI_CATALOGUE_FIND(name)                                                             \
	static inline const struct loci_##name##_row *loci_catalogue_find_##name(             \
		const struct loci_catalogue *c, int64_t id)                                   \
	{                                                                                     \
		return id ? loci_row_find(c->name, c->n_##name, sizeof(*c->name), id) : NULL; \
	}
LOCI_CATALOGUE_FINDERS(LOCI_CATALOGUE_FIND)

/* The function whose source a loop stands in: its function_id is that of the machine code, into
 * which it may have been inlined. Of the functions that references within its lines belong to, the
 * last one that begins above it. */
int64_t loci_catalogue_loop_function(
	const struct loci_catalogue *catalogue, const struct loci_loop_row *loop);

/* The function whose text holds the site: the innermost inlined one. 0: unknown. */
int64_t loci_catalogue_function_of(
	const struct loci_catalogue *catalogue, const struct loci_site_row *site);
/* The module whose code the site is part of. 0: unknown. */
int64_t loci_catalogue_module_of(
	const struct loci_catalogue *catalogue, const struct loci_site_row *site);
/* The text of a source line that the profile holds, or NULL. */
const char *loci_catalogue_excerpt(
	const struct loci_catalogue *catalogue, int64_t source_id, unsigned line);

#endif
