// SPDX-License-Identifier: GPL-2.0-or-later
/* Where an allocation was made: the frame that called, and the calls around it. */
#include "analyse/object_state.h"

#include "base/cleanup.h"

enum {
	MOST_CALLS = 8, /* kept of an origin */
	SEARCHED_FRAMES = 64,
	MOST_LINGERING = 1024, /* frames above that of who calls */
	LONGEST_CALL = 15,     /* bytes of an instruction */
};
#define NO_FRAMES UINT64_MAX

/* How many frames are left with the calling one on top. The site is the call's address or the one
 * it returns to. The callee may have returned already, or still have its own and its callees'
 * frames there: then one of them knows this call, or they are of another module (malloc's). */
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

/* Whether a frame that may be the calling one is of a function of this module. */
static bool has_frame(const struct loci_loaded *loaded, const struct loci_shadow *shadow)
{
	for (size_t i = 0; i < MOST_LINGERING && i < shadow->n; i++) {
		uint64_t entry = shadow->frame[shadow->n - 1 - i].entry;

		if (entry >= loaded->low && entry <= loaded->last)
			return true;
	}
	return false;
}

/* The run-time address of the first instruction of the function that calls; 0: unknown, NO_FRAMES:
 * none of those that have frames, for which a library's debug information need not be opened. */
static int calling_function(struct loci_objects *objects, uint64_t site,
	const struct loci_shadow *shadow, uint64_t *ret, struct loci_err *err)
{
	struct loci_caller *memo =
		&objects->caller[(site * 0x9e3779b97f4a7c15) >> 54 & (LOCI_FUNCTION_MEMO - 1)];
	const struct loci_loaded *loaded = loci_modules_find(&objects->modules, site - 1);
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	size_t n = 0;
	int r = 0;

	*ret = memo->site == site ? memo->entry : 0;
	if (memo->site == site || !loaded)
		return 0;
	if (!has_frame(loaded, shadow)) {
		*ret = NO_FRAMES;
		return 0;
	}
	loci_objects_lock(objects);
	r = loci_symbols_frames(objects->symbols, loaded->symbol_module, site - 1 - loaded->bias,
		frames, LOCI_FRAMES_MAX, &n, err);
	loci_objects_unlock(objects);
	*ret = n ? frames[n - 1].entry + loaded->bias : 0;
	*memo = (struct loci_caller){ site, *ret };
	return r;
}

int loci_objects_caller(struct loci_objects *objects, uint64_t site,
	const struct loci_shadow *shadow, size_t *ret, struct loci_err *err)
{
	uint64_t entry;
	int r;

	if (!objects->frames_linger) {
		*ret = calling_frames(objects, site, shadow);
		return 0;
	}
	r = calling_function(objects, site, shadow, &entry, err);
	*ret = shadow->n;
	for (size_t i = 0; r == 0 && i < MOST_LINGERING && i < shadow->n; i++)
		if (shadow->frame[shadow->n - 1 - i].entry == entry) {
			*ret = shadow->n - i;
			break;
		}
	return r;
}

static struct loci_origin_call call_at(struct loci_objects *objects, uint64_t address)
{
	const struct loci_loaded *loaded = loci_modules_find(&objects->modules, address);

	return (struct loci_origin_call){
		.symbol_module = loaded ? loaded->symbol_module : UINT32_MAX,
		.address = address - (loaded ? loaded->bias : 0),
	};
}

int loci_objects_origin(struct loci_objects *objects, uint64_t site,
	const struct loci_shadow *shadow, size_t top, struct loci_origin **ret,
	struct loci_err *err)
{
	struct loci_origin *origin = malloc(sizeof(*origin) + MOST_CALLS * sizeof(origin->call[0]));
	uint64_t entry = 0;
	int r = 0;

	if (!origin)
		return loci_err_nomem(err);
	*ret = origin;
	origin->n = 0;
	if (!site)
		return 0;
	origin->call[origin->n++] = call_at(objects, site - 1);
	if (objects->frames_linger)
		r = calling_function(objects, site, shadow, &entry, err);
	/* Code that is not seen has no frame: somewhere in the frame below, it was called. */
	if (objects->frames_linger && top && shadow->frame[top - 1].entry != entry) {
		origin->call[origin->n] = call_at(objects, shadow->frame[top - 1].entry);
		origin->call[origin->n++].within = true;
	}
	for (size_t i = top; i && origin->n < MOST_CALLS && shadow->frame[i - 1].call_site; i--)
		origin->call[origin->n++] = call_at(objects, shadow->frame[i - 1].call_site);
	return r;
}
