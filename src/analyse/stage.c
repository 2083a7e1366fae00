// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/stage.h"

#include "analyse/digest.h"
#include "analyse/grow.h"

#define MAX_REGIONS   65536u /* beyond, a region is counted with the one around it */
#define MAX_STAGES    65536u
#define MAX_STRETCHES 65536u

int loci_stages_init(struct loci_stages *stages)
{
	*stages = (struct loci_stages){ .n_regions = 1, .n_phases = 1, .n = 1 };
	if (loci_grow(&stages->region, &stages->region_cap, 1, sizeof(*stages->region)) < 0 ||
		loci_grow(&stages->phase, &stages->phase_cap, 1, sizeof(*stages->phase)) < 0 ||
		loci_grow(&stages->stage, &stages->cap, 1, sizeof(*stages->stage)) < 0)
		return -ENOMEM;
	return loci_keymap_put(&stages->ids, LOCI_NO_REGION, LOCI_NO_PHASE, 0);
}

void loci_stages_fini(struct loci_stages *stages)
{
	for (size_t i = 0; i < stages->n_regions && stages->region; i++)
		free(stages->region[i].name);
	for (size_t i = 0; i < stages->n_phases && stages->phase; i++)
		free(stages->phase[i]);
	free(stages->region);
	free(stages->phase);
	free(stages->stage);
	free(stages->open);
	free(stages->stretch);
	loci_keymap_fini(&stages->region_ids);
	loci_keymap_fini(&stages->phase_ids);
	loci_keymap_fini(&stages->ids);
	*stages = (struct loci_stages){ 0 };
}

/* The stage of the current region and phase. */
static int enter(struct loci_stages *stages)
{
	uint32_t region = stages->region_now, phase = stages->phase_now;
	uint32_t found = loci_keymap_get(&stages->ids, region, phase);

	if (found == LOCI_KEYMAP_NONE && stages->n == MAX_STAGES) {
		stages->stages_full = true; /* the one before goes on */
		return 0;
	}
	if (found == LOCI_KEYMAP_NONE) {
		found = (uint32_t)stages->n;
		if (loci_grow(&stages->stage, &stages->cap, stages->n + 1, sizeof(*stages->stage)) <
				0 ||
			loci_keymap_put(&stages->ids, region, phase, found) < 0)
			return -ENOMEM;
		stages->stage[stages->n++] =
			(struct loci_stage){ .region = region, .phase = phase };
	}
	stages->now = found;
	return 0;
}

static int set_open(struct loci_stages *stages, size_t thread, uint32_t region)
{
	if (loci_grow(&stages->open, &stages->open_cap, thread + 1, sizeof(*stages->open)) < 0)
		return -ENOMEM;
	stages->open[thread] = region;
	stages->region_now = region;
	return enter(stages);
}

static uint32_t open_of(const struct loci_stages *stages, size_t thread)
{
	return thread < stages->open_cap ? stages->open[thread] : LOCI_NO_REGION;
}

int loci_stages_switch(struct loci_stages *stages, size_t thread)
{
	uint32_t region = open_of(stages, thread);

	if (region == stages->region_now)
		return 0;
	stages->region_now = region;
	return enter(stages);
}

static int child(struct loci_stages *stages, uint32_t parent, const char *name, uint32_t *ret)
{
	struct loci_digest key =
		loci_digest_text(loci_digest_word((struct loci_digest){ 0 }, parent), name);
	char *copy;

	*ret = loci_keymap_get(&stages->region_ids, key.a, key.b);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	if (stages->n_regions == MAX_REGIONS) {
		stages->regions_full = true;
		*ret = parent;
		return 0;
	}
	*ret = (uint32_t)stages->n_regions;
	if (loci_grow(&stages->region, &stages->region_cap, *ret + 1, sizeof(*stages->region)) < 0)
		return -ENOMEM;
	copy = strdup(name);
	if (!copy || loci_keymap_put(&stages->region_ids, key.a, key.b, *ret) < 0) {
		free(copy);
		return -ENOMEM;
	}
	stages->region[stages->n_regions++] =
		(struct loci_marked_region){ .parent = parent, .name = copy };
	return 0;
}

int loci_stages_begin(struct loci_stages *stages, size_t thread, const char *name)
{
	uint32_t region;

	if (child(stages, open_of(stages, thread), name, &region) < 0)
		return -ENOMEM;
	stages->region[region].entries++;
	return set_open(stages, thread, region);
}

int loci_stages_end(struct loci_stages *stages, size_t thread, const char *name)
{
	uint32_t region = open_of(stages, thread);

	while (region != LOCI_NO_REGION && strcmp(stages->region[region].name, name) != 0)
		region = stages->region[region].parent;
	if (region == LOCI_NO_REGION)
		return 0;
	return set_open(stages, thread, stages->region[region].parent);
}

int loci_stages_leave(struct loci_stages *stages, size_t thread, size_t current)
{
	if (open_of(stages, thread) != LOCI_NO_REGION)
		stages->open[thread] = LOCI_NO_REGION;
	return loci_stages_switch(stages, current);
}

static int phase_number(struct loci_stages *stages, const char *name, uint32_t *ret)
{
	struct loci_digest key = loci_digest_text((struct loci_digest){ 0 }, name);
	char *copy;

	*ret = loci_keymap_get(&stages->phase_ids, key.a, key.b);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)stages->n_phases;
	if (loci_grow(&stages->phase, &stages->phase_cap, *ret + 1, sizeof(*stages->phase)) < 0)
		return -ENOMEM;
	copy = strdup(name);
	if (!copy || loci_keymap_put(&stages->phase_ids, key.a, key.b, *ret) < 0) {
		free(copy);
		return -ENOMEM;
	}
	stages->phase[stages->n_phases++] = copy;
	return 0;
}

/* One without references is none. */
static int begin_stretch(struct loci_stages *stages, uint64_t refs)
{
	struct loci_phase_stretch *last;

	if (stages->n_stretches && stages->stretch[stages->n_stretches - 1].first_refs == refs)
		stages->n_stretches--;
	last = stages->n_stretches ? &stages->stretch[stages->n_stretches - 1] : NULL;
	if ((last ? last->phase : LOCI_NO_PHASE) == stages->phase_now)
		return 0;
	if (stages->n_stretches == MAX_STRETCHES) {
		stages->stretches_full = true;
		return 0;
	}
	if (loci_grow(&stages->stretch, &stages->stretch_cap, stages->n_stretches + 1,
		    sizeof(*stages->stretch)) < 0)
		return -ENOMEM;
	stages->stretch[stages->n_stretches++] =
		(struct loci_phase_stretch){ .first_refs = refs, .phase = stages->phase_now };
	return 0;
}

int loci_stages_phase(struct loci_stages *stages, const char *name, uint64_t refs)
{
	if (phase_number(stages, name, &stages->phase_now) < 0 || begin_stretch(stages, refs) < 0)
		return -ENOMEM;
	return enter(stages);
}
