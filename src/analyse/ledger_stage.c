// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions and phases of all processes: those of one name, and regions within the same ones, are
 * one.
 */
#include "analyse/ledger_state.h"

#include "analyse/grow.h"

static int reserve(struct loci_ledger_marked *marked, size_t n, unsigned n_levels)
{
	if (loci_spread_reserve(&marked->distances, n) < 0 ||
		loci_grow(&marked->levels.tally, &marked->levels.cap, n * n_levels,
			sizeof(*marked->levels.tally)) < 0)
		return -ENOMEM;
	return loci_grow(&marked->refs, &marked->refs_cap, n, sizeof(*marked->refs));
}

/* What was counted in a stage of the process is a region's, or a phase's, too. */
static int add_counts(struct loci_ledger_marked *marked, uint32_t id,
	const struct loci_attribution *process, size_t stage, unsigned n_levels)
{
	const struct loci_stage *from = &process->stages.stage[stage];
	const struct loci_level_tallies *levels = &process->measure.stage_levels;
	uint64_t bins[UINT8_MAX + 1] = { 0 };

	marked->refs[id] += from->refs;
	/* a stage that never had a touch may be unknown there */
	if (stage < process->measure.stages.near_cap)
		loci_spread_collect(&process->measure.stages, (uint32_t)stage, bins);
	for (unsigned k = 0; k < LOCI_RECENT; k++)
		bins[k] += from->near[k]; /* near distances are bins */
	for (unsigned k = 0; k <= UINT8_MAX; k++)
		if (bins[k] && loci_spread_add(&marked->distances, id, k, bins[k]) < 0)
			return -ENOMEM;
	for (unsigned k = 0; k < n_levels && (stage + 1) * n_levels <= levels->cap; k++) {
		const struct loci_level_tally *level = &levels->tally[stage * n_levels + k];
		struct loci_level_tally *to = &marked->levels.tally[(size_t)id * n_levels + k];

		loci_level_tally_add(to, level);
	}
	return 0;
}

static int add_regions(struct loci_ledger *ledger, const struct loci_stages *stages, uint32_t *map)
{
	for (size_t i = 1; i < stages->n_regions; i++) { /* a parent comes before its children */
		const struct loci_marked_region *from = &stages->region[i];
		uint32_t parent = map[from->parent];
		struct loci_digest key = loci_digest_text(
			loci_digest_word((struct loci_digest){ 0 }, parent), from->name);
		int r = loci_ledger_intern(&ledger->region_ids, key, &ledger->region,
			&ledger->n_regions, &ledger->region_cap, sizeof(*ledger->region), &map[i]);

		if (r < 0)
			return r;
		if (r)
			ledger->region[map[i]] = (struct loci_marked_region){ .parent = parent,
				.name = strdup(from->name) };
		if (!ledger->region[map[i]].name)
			return -ENOMEM;
		ledger->region[map[i]].entries += from->entries;
	}
	return 0;
}

static int add_phases(struct loci_ledger *ledger, const struct loci_stages *stages, uint32_t *map)
{
	for (size_t i = 1; i < stages->n_phases; i++) {
		struct loci_digest key =
			loci_digest_text((struct loci_digest){ 0 }, stages->phase[i]);
		int r = loci_ledger_intern(&ledger->phase_ids, key, &ledger->phase,
			&ledger->n_phases, &ledger->phase_cap, sizeof(*ledger->phase), &map[i]);

		if (r < 0)
			return r;
		if (r)
			ledger->phase[map[i]] = strdup(stages->phase[i]);
		if (!ledger->phase[map[i]])
			return -ENOMEM;
	}
	return 0;
}

/* Of one process only: those of several have no common time. */
static int add_stretches(
	struct loci_ledger *ledger, const struct loci_attribution *process, const uint32_t *phases)
{
	const struct loci_stages *stages = &process->stages;

	if (!process->references)
		return 0;
	ledger->n_stretches = 0;
	if (ledger->n_running++)
		return 0;
	if (loci_grow(&ledger->stretch, &ledger->stretch_cap, stages->n_stretches,
		    sizeof(*ledger->stretch)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < stages->n_stretches; i++)
		ledger->stretch[i] =
			(struct loci_phase_stretch){ .first_refs = stages->stretch[i].first_refs,
				.phase = phases[stages->stretch[i].phase] };
	ledger->n_stretches = stages->n_stretches;
	ledger->stretches_full = stages->stretches_full;
	return 0;
}

static int add_all(struct loci_ledger *ledger, const struct loci_attribution *process,
	uint32_t *regions, uint32_t *phases)
{
	const struct loci_stages *stages = &process->stages;
	unsigned n_levels = ledger->n_levels;

	if (add_regions(ledger, stages, regions) < 0 || add_phases(ledger, stages, phases) < 0 ||
		add_stretches(ledger, process, phases) < 0 ||
		reserve(&ledger->in_region, ledger->n_regions, n_levels) < 0 ||
		reserve(&ledger->in_phase, ledger->n_phases, n_levels) < 0)
		return -ENOMEM;
	ledger->regions_full |= stages->regions_full;
	ledger->stages_full |= stages->stages_full;
	for (size_t i = 1; i < stages->n; i++) {
		uint32_t region = regions[stages->stage[i].region];
		uint32_t phase = phases[stages->stage[i].phase];

		/* who is in none is what is left of the whole */
		if ((region && add_counts(&ledger->in_region, region, process, i, n_levels) < 0) ||
			(phase && add_counts(&ledger->in_phase, phase, process, i, n_levels) < 0))
			return -ENOMEM;
	}
	return 0;
}

int loci_ledger_add_stages(struct loci_ledger *ledger, struct loci_ledger_maps *maps)
{
	const struct loci_attribution *process = maps->process;
	uint32_t *phases = calloc(process->stages.n_phases, sizeof(*phases));
	int r;

	maps->region = calloc(process->stages.n_regions, sizeof(*maps->region));
	r = maps->region && phases ? add_all(ledger, process, maps->region, phases) : -ENOMEM;
	free(phases);
	return r;
}

int loci_ledger_init_stages(struct loci_ledger *ledger)
{
	ledger->n_regions = ledger->n_phases = 1;
	if (loci_grow(&ledger->region, &ledger->region_cap, 1, sizeof(*ledger->region)) < 0)
		return -ENOMEM;
	return loci_grow(&ledger->phase, &ledger->phase_cap, 1, sizeof(*ledger->phase));
}

static void marked_fini(struct loci_ledger_marked *marked)
{
	loci_spread_fini(&marked->distances);
	free(marked->levels.tally);
	free(marked->refs);
}

void loci_ledger_fini_stages(struct loci_ledger *ledger)
{
	for (size_t i = 0; ledger->region && i < ledger->n_regions; i++)
		free(ledger->region[i].name);
	for (size_t i = 0; ledger->phase && i < ledger->n_phases; i++)
		free(ledger->phase[i]);
	free(ledger->region);
	free(ledger->phase);
	free(ledger->stretch);
	loci_keymap_fini(&ledger->region_ids);
	loci_keymap_fini(&ledger->phase_ids);
	marked_fini(&ledger->in_region);
	marked_fini(&ledger->in_phase);
}
