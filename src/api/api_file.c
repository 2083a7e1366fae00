// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles through the public interface: a handle around a profile, its numbers copied out. */
#include "api/answer.h"

#include "base/units.h"
#include "model/curve.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct loci_file {
	struct loci_profile *profile;
};

int loci_file_open(const char *path, struct loci_file **ret, struct loci_error *error)
{
	struct loci_err err = { "" };
	struct loci_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return loci_api_result(loci_err_nomem(&err), &err, error);
	r = loci_profile_open(path, &file->profile, &err);
	if (r < 0)
		free(file);
	else
		*ret = file;
	return loci_api_result(r, &err, error);
}

void loci_file_close(struct loci_file *file)
{
	if (!file)
		return;
	loci_profile_close(file->profile);
	free(file);
}

size_t loci_file_block_sizes(const struct loci_file *file, uint64_t *ret, size_t n)
{
	size_t has;
	const struct loci_grain *grain = loci_profile_grains(file->profile, &has);

	for (size_t i = 0; i < has && i < n; i++)
		ret[i] = grain[i].block_bytes;
	return has;
}

static int find_grain(const struct loci_file *file, uint64_t block_bytes,
	const struct loci_grain **ret, struct loci_err *err)
{
	*ret = loci_profile_grain(file->profile, block_bytes);
	if (*ret)
		return 0;
	return loci_err_set(err, ENOENT, "%s has no blocks of %" PRIu64 " bytes",
		loci_profile_path(file->profile), block_bytes);
}

int loci_file_totals(const struct loci_file *file, uint64_t block_bytes, struct loci_totals *ret,
	struct loci_error *error)
{
	const struct loci_run *run = loci_profile_run(file->profile);
	const struct loci_grain *grain;
	struct loci_err err = { "" };
	int r = find_grain(file, block_bytes, &grain, &err);

	if (r == 0)
		*ret = (struct loci_totals){
			.references = run->references,
			.loads = run->loads,
			.stores = run->stores,
			.block_bytes = grain->block_bytes,
			.touches = grain->touches,
			.writes = grain->writes,
			.blocks = grain->blocks,
			.sampling_rate = grain->sampling_rate,
			.error_points = grain->error_points,
		};
	return loci_api_result(r, &err, error);
}

int loci_file_miss_ratio(struct loci_file *file, uint64_t block_bytes, uint64_t cache_bytes,
	double *ret, struct loci_error *error)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_STACK,
		.block_bytes = block_bytes,
		.owner = LOCI_OWNER_WHOLE };
	const struct loci_grain *grain;
	const struct loci_hist *stack;
	struct loci_err err = { "" };
	int r = find_grain(file, block_bytes, &grain, &err);

	if (r == 0)
		r = loci_profile_hist(file->profile, &key, &stack, &err);
	if (r == -ENOENT)
		loci_err_set(&err, ENOENT, "%s has no stack distances at %" PRIu64 "-byte blocks",
			loci_profile_path(file->profile), block_bytes);
	if (r == 0)
		*ret = loci_curve_ratio(stack, cache_bytes / block_bytes);
	return loci_api_result(r, &err, error);
}

static int ask(struct loci_file *file, const char *caches, unsigned flags, struct loci_answer *ret,
	size_t n, struct loci_err *err)
{
	const char *unit = loci_profile_run(file->profile)->unit;
	bool objects = unit && !strcmp(unit, "object");
	struct loci_prediction prediction[LOCI_LEVELS_MAX];
	struct loci_predict_options options;
	struct loci_hierarchy hierarchy;
	int r = objects ? loci_hierarchy_parse_objects(caches, &hierarchy, err)
			: loci_hierarchy_parse(caches, &hierarchy, err);

	if (r == 0)
		r = loci_api_room(&hierarchy, n, err);
	if (r == 0)
		r = loci_api_options(flags, &options, err);
	if (r == 0)
		r = loci_predict(file->profile, &hierarchy, &options, prediction, err);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < hierarchy.n_levels; i++)
		loci_api_answer(&prediction[i], &ret[i]);
	return (int)hierarchy.n_levels;
}

int loci_file_ask(struct loci_file *file, const char *caches, unsigned flags,
	struct loci_answer *ret, size_t n, struct loci_error *error)
{
	struct loci_err err = { "" };

	return loci_api_result(ask(file, caches, flags, ret, n, &err), &err, error);
}
