// SPDX-License-Identifier: GPL-2.0-or-later
/* The words that stand in the file for enumerations. They never change. */
#include "profile/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static const char *const distances[] = {
	[LOCI_DISTANCE_STACK] = "stack",
	[LOCI_DISTANCE_TIME] = "time",
	[LOCI_DISTANCE_DIRTY] = "dirty",
	[LOCI_DISTANCE_SET] = "set",
	[LOCI_DISTANCE_SET_DIRTY] = "set_dirty",
	[LOCI_DISTANCE_SET_BOTH] = "set_both",
	[LOCI_DISTANCE_PRIVATE] = "private",
	[LOCI_DISTANCE_AT_LEAST] = "at_least",
	[LOCI_DISTANCE_PRIVATE_AT_LEAST] = "private_at_least",
	[LOCI_DISTANCE_ALONE] = "alone",
	[LOCI_DISTANCE_ALONE_REMOTE] = "alone_remote",
	[LOCI_DISTANCE_REMOTE] = "remote",
	[LOCI_DISTANCE_TIME_REMOTE] = "time_remote",
	[LOCI_DISTANCE_NEAR] = "near",
	[LOCI_DISTANCE_NEAR_TIME] = "near_time",
};

static const char *const owners[] = {
	[LOCI_OWNER_WHOLE] = "whole",
	[LOCI_OWNER_THREAD] = "thread",
	[LOCI_OWNER_SITE] = "site",
	[LOCI_OWNER_SITE_THREAD] = "site_thread",
	[LOCI_OWNER_CONTEXT] = "context",
	[LOCI_OWNER_OBJECT] = "object",
	[LOCI_OWNER_FIELD] = "field",
	[LOCI_OWNER_PAIR] = "pair",
	[LOCI_OWNER_PHASE] = "phase",
	[LOCI_OWNER_REGION] = "region",
	[LOCI_OWNER_LOOP] = "loop",
	[LOCI_OWNER_ACCESS] = "access",
	[LOCI_OWNER_FUNCTION] = "function",
	[LOCI_OWNER_THREAD_GROUP] = "thread_group",
};

static int find(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -EINVAL;
}

const char *loci_distance_name(enum loci_distance distance)
{
	return distances[distance];
}

const char *loci_owner_name(enum loci_owner owner)
{
	return owners[owner];
}

int loci_distance_from_name(const char *name, enum loci_distance *ret)
{
	int found = find(distances, LOCI_ARRAY_SIZE(distances), name);

	if (found >= 0)
		*ret = (enum loci_distance)found;
	return found < 0 ? found : 0;
}

int loci_owner_from_name(const char *name, enum loci_owner *ret)
{
	int found = find(owners, LOCI_ARRAY_SIZE(owners), name);

	if (found >= 0)
		*ret = (enum loci_owner)found;
	return found < 0 ? found : 0;
}

void loci_run_fini(struct loci_run *run)
{
	free(run->command);
	free(run->collector);
	free(run->origin);
	free(run->mode);
	free(run->unit);
	free(run->capabilities);
	free(run->program_version);
	free(run->machine);
	free(run->caches);
	free(run->started);
	free(run->note);
	*run = (struct loci_run){ 0 };
}
