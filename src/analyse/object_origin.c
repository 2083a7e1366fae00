// SPDX-License-Identifier: GPL-2.0-or-later
/* Where an allocation was made: the frame that called, and the calls around it. */
#include "analyse/object_state.h"

#include "base/cleanup.h"

enum {
	SEARCHED_FRAMES = 64,
	LONGEST_CALL = 15, /* bytes of an instruction */
};

/* How many frames are left with the calling one on top. The site is the call's address or the one
 * it returns to. The callee may have returned already, or still have its own and its callees'
 * frames there; these it has from the same module always (malloc's), or this one knows its call. */
static size_t calling_frames(
	const struct loci_objects *objects, uint64_t site, const struct loci_shadow *shadow)
{
	const struct loci_loaded *loaded =
		loci_modules_find((struct loci_modules *)&objects->modules, site);
	size_t least = shadow->n > SEARCHED_FRAMES ? shadow->n - SEARCHED_FRAMES : 0;

	for (size_t n = shadow->n; n > least; n--)
		if (shadow->frame[n - 1].call_site &&
			site - shadow->frame[n - 1].call_site <= LONGEST_CALL)
			return n - 1;
	for (size_t n = shadow->n; loaded && n > least; n--)
		if (shadow->frame[n - 1].module == loaded->id)
			return n;
	return shadow->n;
}

uint32_t loci_objects_context(
	const struct loci_objects *objects, uint64_t site, const struct loci_shadow *shadow)
{
	size_t n = calling_frames(objects, site, shadow);

	return n ? shadow->frame[n - 1].context : UINT32_MAX;
}

static bool add_call(struct loci_objects *objects, uint64_t address, struct loci_origin *origin)
{
	const struct loci_loaded *loaded = loci_modules_find(&objects->modules, address);

	if (!address || origin->n == LOCI_ORIGIN_MAX)
		return false;
	origin->call[origin->n++] = (struct loci_origin_call){
		.symbol_module = loaded ? loaded->symbol_module : UINT32_MAX,
		.address = address - (loaded ? loaded->bias : 0),
	};
	return true;
}

int loci_objects_origin(struct loci_objects *objects, uint64_t site,
	const struct loci_shadow *shadow, struct loci_origin **ret, struct loci_err *err)
{
	struct loci_origin *origin = calloc(1, sizeof(*origin));
	size_t n = calling_frames(objects, site, shadow);

	if (!origin)
		return loci_err_nomem(err);
	*ret = origin;
	if (site && add_call(objects, site - 1, origin))
		while (n && add_call(objects, shadow->frame[n - 1].call_site, origin))
			n--;
	return 0;
}
