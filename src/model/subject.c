// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/subject.h"

#include "base/units.h"
#include "model/time_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define USUAL_BLOCK 64

static const struct loci_grain *usual_grain(const struct loci_profile *profile)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n), *best = grain;

	for (size_t i = 0; i < n; i++)
		if (grain[i].block_bytes <= USUAL_BLOCK)
			best = &grain[i];
	return best;
}

static int no_grain(const struct loci_profile *profile, uint64_t block_bytes, struct loci_err *err)
{
	const char *path = loci_profile_path(profile);
	char list[256] = "", size[LOCI_UNITS_MAX];
	size_t n, used = 0;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	for (size_t i = 0; i < n && used + LOCI_UNITS_MAX + 2 < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			loci_units_size(size, grain[i].block_bytes));
	return loci_err_set(err, ENOENT,
		"%s was not recorded with %s-byte blocks, only with %s; "
		"loci analyse -b SIZE[,SIZE..] chooses",
		path, loci_units_size(size, block_bytes), list);
}

/* Keeps the levels whose line size the profile has, and predicts them. One that it lacks shall not
 * cost the reader the others. */
static int judge(struct loci_subject *subject, struct loci_err *err)
{
	const struct loci_predict_options options = { .policy = LOCI_POLICY_LRU };
	struct loci_hierarchy known = subject->hierarchy;
	size_t used = 0;

	known.n_levels = 0;
	for (unsigned i = 0; i < subject->hierarchy.n_levels; i++) {
		const struct loci_cache *cache = &subject->hierarchy.level[i];

		if (subject->is_object || loci_profile_grain(subject->profile, cache->line_bytes)) {
			known.level[known.n_levels++] = *cache;
			continue;
		}
		used += (size_t)snprintf(subject->unjudged + used, sizeof(subject->unjudged) - used,
			"%s%s", used ? " " : "", cache->name);
		subject->unjudged_bytes = cache->line_bytes;
	}
	if (!known.n_levels)
		return 0;
	subject->n_levels = known.n_levels;
	return loci_predict(subject->profile, &known, &options, subject->level, err);
}

static int find_machine(struct loci_subject *subject, const char *machine, struct loci_err *err)
{
	subject->is_given = machine != NULL;
	if (machine && subject->is_object)
		return loci_hierarchy_parse_objects(machine, &subject->hierarchy, err);
	if (machine)
		return loci_hierarchy_parse(machine, &subject->hierarchy, err);
	if (subject->is_object || !subject->run->caches ||
		loci_hierarchy_parse(subject->run->caches, &subject->hierarchy, NULL) < 0)
		subject->hierarchy.n_levels = 0; /* an unknown machine is no error */
	return 0;
}

/* Samples that were watched have time distances only. */
static int convert(struct loci_subject *subject, struct loci_err *err)
{
	const struct loci_hist_key key = { .block_bytes = subject->grain->block_bytes };
	int r = loci_time_stack(subject->profile, &key, &subject->made, err);

	if (r < 0)
		return r;
	subject->stack = &subject->made;
	subject->conversion = LOCI_CONVERT_STATSTACK;
	return 0;
}

void loci_subject_fini(struct loci_subject *subject)
{
	loci_hist_fini(&subject->made);
}

void loci_subjects_fini(struct loci_subject (*subject)[2])
{
	loci_subject_fini(&(*subject)[0]);
	loci_subject_fini(&(*subject)[1]);
}

int loci_subject_init(struct loci_subject *subject, struct loci_profile *profile,
	uint64_t block_bytes, const char *machine, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK, .owner = LOCI_OWNER_WHOLE };
	int r;

	*subject = (struct loci_subject){ .profile = profile, .run = loci_profile_run(profile) };
	subject->is_object = subject->run->unit && !strcmp(subject->run->unit, "object");
	if (subject->is_object && block_bytes > 1)
		return loci_err_set(err, EINVAL, "%s counts whole objects: it has no block sizes",
			loci_profile_path(profile));
	subject->grain =
		block_bytes ? loci_profile_grain(profile, block_bytes) : usual_grain(profile);
	if (!subject->grain)
		return no_grain(profile, block_bytes, err);
	key.block_bytes = subject->grain->block_bytes;
	r = loci_profile_hist(profile, &key, &subject->stack, err);
	if (r == -ENOENT)
		r = convert(subject, err);
	if (r == -ENOENT && subject->run->mode && !strcmp(subject->run->mode, "count"))
		return loci_err_set(err, ENOENT,
			"%.300s was recorded by -m count and holds no distances, but operations: "
			"see "
			"loci ops",
			loci_profile_path(profile));
	if (r == -ENOENT)
		return loci_err_set(
			err, ENOENT, "%s holds no stack distances", loci_profile_path(profile));
	if (r < 0)
		return r;
	key.distance = LOCI_DISTANCE_PRIVATE;
	r = loci_profile_hist(profile, &key, &subject->own, err);
	if (r < 0 && r != -ENOENT)
		return r;
	r = find_machine(subject, machine, err);
	if (r < 0)
		return r;
	return judge(subject, err);
}

unsigned loci_subject_edges(
	const struct loci_subject *subject, uint64_t *ret_blocks, unsigned *ret_level)
{
	unsigned n = 0;

	for (unsigned i = 0; i < subject->n_levels; i++) {
		const struct loci_cache *cache = &subject->level[i].cache;
		uint64_t blocks = loci_cache_blocks(cache);
		unsigned at = n;

		if (!subject->is_object && cache->line_bytes != subject->grain->block_bytes)
			continue;
		for (; at > 0 && ret_blocks[at - 1] > blocks; at--) {
			ret_blocks[at] = ret_blocks[at - 1];
			if (ret_level)
				ret_level[at] = ret_level[at - 1];
		}
		ret_blocks[at] = blocks;
		if (ret_level)
			ret_level[at] = i;
		n++;
	}
	return n;
}

const struct loci_prediction *loci_subject_first(const struct loci_subject *subject)
{
	for (unsigned i = 0; i < subject->n_levels; i++)
		if (!subject->level[i].cache.is_tlb)
			return &subject->level[i];
	return NULL;
}

const struct loci_prediction *loci_subject_llc(const struct loci_subject *subject)
{
	for (unsigned i = subject->n_levels; i-- > 0;)
		if (!subject->level[i].cache.is_tlb)
			return &subject->level[i];
	return NULL;
}
