/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where one process says it is: regions, which nest per thread and so are a tree, and phases of the
 * whole process. A *stage* is a region in a phase: what touches are counted by. Programs that mark
 * nothing have stage 0 alone. */
#ifndef LOCI_ANALYSE_STAGE_H
#define LOCI_ANALYSE_STAGE_H

#include "analyse/keymap.h"
#include "engine/recent.h"

#include <stdbool.h>
#include <stddef.h>

#define LOCI_NO_REGION 0u
#define LOCI_NO_PHASE  0u /* before the first */

struct loci_marked_region {
	uint32_t parent; /* before it, or LOCI_NO_REGION */
	char *name;
	uint64_t entries;
};

struct loci_stage {
	uint32_t region, phase;
	uint64_t refs, near[LOCI_RECENT]; /* as a context's */
};

/* A part of the run in one phase. */
struct loci_phase_stretch {
	uint64_t first_refs; /* executed before it */
	uint32_t phase;
};

/* In a batch: from this touch on. */
struct loci_stage_event {
	uint32_t touch, stage;
};

struct loci_stages {
	struct loci_marked_region *region; /* region 0 is none */
	size_t n_regions, region_cap;
	struct loci_keymap region_ids; /* by parent and name */
	char **phase;                  /* names; 0 has none */
	size_t n_phases, phase_cap;
	struct loci_keymap phase_ids;
	struct loci_stage *stage;
	size_t n, cap;
	struct loci_keymap ids;
	uint32_t *open; /* the innermost region, by number of the thread */
	size_t open_cap;
	struct loci_phase_stretch *stretch;
	size_t n_stretches, stretch_cap;
	bool regions_full, stages_full, stretches_full;
	uint32_t region_now, phase_now;
	uint32_t now; /* the current stage */
};

int loci_stages_init(struct loci_stages *stages); /* 0 or -ENOMEM, as all below */
void loci_stages_fini(struct loci_stages *stages);

/* The thread, by its number in the walk, is current. */
int loci_stages_switch(struct loci_stages *stages, size_t thread);
/* The current thread begins or ends a region. One that is not open does not end; those within it
 * end with it. */
int loci_stages_begin(struct loci_stages *stages, size_t thread, const char *name);
int loci_stages_end(struct loci_stages *stages, size_t thread, const char *name);
/* The thread, current or not, ends all it has begun. */
int loci_stages_leave(struct loci_stages *stages, size_t thread, size_t current);
/* refs: executed before. */
int loci_stages_phase(struct loci_stages *stages, const char *name, uint64_t refs);

#endif
