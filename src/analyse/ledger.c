// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/ledger_state.h"

#include "analyse/grow.h"
#include "base/cleanup.h"

static void maps_fini(struct loci_ledger_maps *maps)
{
	free(maps->site);
	free(maps->context);
	free(maps->object);
	free(maps->row);
	free(maps->loop);
	free(maps->region);
}

int loci_ledger_init(struct loci_ledger *ledger, unsigned n_levels, struct loci_err *err)
{
	*ledger = (struct loci_ledger){
		.n_levels = n_levels, .n_sites = 1, .n_contexts = 1, .n_rows = 1, .n_loops = 1
	};
	if (loci_grow(&ledger->site, &ledger->site_cap, 1, sizeof(*ledger->site)) < 0 ||
		loci_grow(&ledger->context, &ledger->context_cap, 1, sizeof(*ledger->context)) <
			0 ||
		loci_grow(&ledger->row, &ledger->row_cap, 1, sizeof(*ledger->row)) < 0 ||
		loci_grow(&ledger->loop, &ledger->loop_cap, 1, sizeof(*ledger->loop)) < 0 ||
		loci_ledger_init_stages(ledger) < 0)
		return loci_err_nomem(err);
	ledger->site[0].site.module = LOCI_NO_MODULE;
	return loci_symbols_new(&ledger->symbols, err);
}

void loci_ledger_fini(struct loci_ledger *ledger)
{
	for (size_t i = 0; i < ledger->n_objects; i++) {
		free(ledger->object[i].kind);
		free(ledger->object[i].name);
		free(ledger->object[i].type);
		free(ledger->object[i].file);
		free(ledger->object[i].cell);
	}
	for (size_t i = 0; i < ledger->n_modules; i++) {
		free(ledger->module[i].path);
		free(ledger->module[i].build_id);
	}
	free(ledger->module);
	loci_ledger_fini_waiting(ledger);
	for (size_t i = 0; i < ledger->n_pairs; i++)
		loci_spread_far_fini(&ledger->pair[i].distance);
	free(ledger->site);
	free(ledger->context);
	free(ledger->object);
	free(ledger->row);
	free(ledger->loop);
	free(ledger->pair);
	free(ledger->pair_level);
	free(ledger->row_levels.tally);
	free(ledger->context_levels.tally);
	loci_keymap_fini(&ledger->site_ids);
	loci_keymap_fini(&ledger->context_ids);
	loci_keymap_fini(&ledger->object_ids);
	loci_keymap_fini(&ledger->row_ids);
	loci_keymap_fini(&ledger->loop_ids);
	loci_keymap_fini(&ledger->pair_ids);
	free(ledger->ran);
	free(ledger->cell);
	loci_keymap_fini(&ledger->ran_ids);
	loci_keymap_fini(&ledger->cell_ids);
	loci_footprint_sum_fini(&ledger->footprint);
	loci_spread_fini(&ledger->rows);
	loci_spread_fini(&ledger->contexts);
	loci_spread_fini(&ledger->time_rows);
	loci_spread_fini(&ledger->time_contexts);
	for (unsigned i = 0; i < ledger->n_sides; i++)
		loci_spread_fini(&ledger->side_rows[i]);
	loci_ledger_fini_share(ledger);
	loci_ledger_fini_stages(ledger);
	loci_symbols_free(ledger->symbols);
}

int loci_ledger_intern(struct loci_keymap *map, struct loci_digest key, void *array, size_t *n,
	size_t *cap, size_t element, uint32_t *ret)
{
	*ret = loci_keymap_get(map, key.a, key.b);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)*n;
	if (loci_grow(array, cap, *n + 1, element) < 0 ||
		loci_keymap_put(map, key.a, key.b, *ret) < 0)
		return -ENOMEM;
	++*n;
	return 1;
}

static int add_modules(struct loci_ledger *ledger, const struct loci_code *code)
{
	for (size_t i = 0; i < code->n_names; i++) {
		const struct loci_code_name *name = &code->name[i];
		struct loci_code_name *to;

		if (loci_grow(&ledger->module, &ledger->module_cap, name->symbol_module + 1,
			    sizeof(*ledger->module)) < 0)
			return -ENOMEM;
		if (ledger->n_modules <= name->symbol_module)
			ledger->n_modules = name->symbol_module + 1;
		to = &ledger->module[name->symbol_module];
		if (to->path)
			continue;
		to->path = strdup(name->path);
		to->build_id = name->build_id ? strdup(name->build_id) : NULL;
		if (!to->path || (name->build_id && !to->build_id))
			return -ENOMEM;
	}
	return 0;
}

static int add_sites(struct loci_ledger *ledger, struct loci_ledger_maps *maps)
{
	const struct loci_code *code = &maps->process->code;

	for (size_t i = 1; i < code->n_sites; i++) {
		const struct loci_site *site = &code->site[i];
		struct loci_digest key = { site->offset,
			(uint64_t)site->module << 32 ^ (uint64_t)site->size_bytes << 24 ^
				(uint64_t)site->flags << 8 ^ site->op };
		int r = loci_ledger_intern(&ledger->site_ids, key, &ledger->site, &ledger->n_sites,
			&ledger->site_cap, sizeof(*ledger->site), &maps->site[i]);

		if (r < 0)
			return r;
		if (r)
			ledger->site[maps->site[i]] = (struct loci_ledger_site){ .site = *site };
	}
	return 0;
}

int loci_ledger_add_spread(struct loci_spread *into, uint32_t id, const struct loci_spread *from,
	uint32_t number, const uint64_t near[LOCI_RECENT])
{
	uint64_t bins[UINT8_MAX + 1] = { 0 }, any = 0;

	for (unsigned k = 0; near && k < LOCI_RECENT; k++)
		bins[k] = near[k]; /* near distances are bins */
	loci_spread_collect(from, number, bins);
	for (unsigned k = 0; k <= UINT8_MAX; k++) {
		if (loci_spread_add(into, id, k, bins[k]) < 0)
			return -ENOMEM;
		any |= bins[k];
	}
	return any > 0;
}

/* Of an owner that has this number in the ledger, of n. */
static int add_times(struct loci_spread *into, size_t n, uint32_t id,
	const struct loci_spread *from, size_t number)
{
	if (loci_spread_reserve(into, n) < 0)
		return -ENOMEM;
	return loci_ledger_add_spread(into, id, from, (uint32_t)number, NULL);
}

static int add_contexts(struct loci_ledger *ledger, struct loci_ledger_maps *maps)
{
	const struct loci_attribution *process = maps->process;
	const struct loci_contexts *contexts = &process->walk.contexts;
	unsigned n_levels = ledger->n_levels;

	ledger->contexts_full |= contexts->full;
	for (size_t i = 0; i < contexts->n; i++) {
		const struct loci_context *node = &contexts->node[i];
		struct loci_context copy = *node;
		uint32_t *id = &maps->context[i];
		int r = 0;

		if (i) { /* a parent comes before its children */
			struct loci_digest key;

			copy.parent = maps->context[node->parent];
			copy.entry = maps->site[node->entry];
			copy.call = maps->site[node->call];
			key = (struct loci_digest){ (uint64_t)copy.parent << 32 | copy.entry,
				copy.call };
			r = loci_ledger_intern(&ledger->context_ids, key, &ledger->context,
				&ledger->n_contexts, &ledger->context_cap, sizeof(*ledger->context),
				id);
		}
		if (r < 0)
			return r;
		copy.refs = 0;
		copy.depth = *id ? ledger->context[copy.parent].depth + 1 : 0;
		if (r)
			ledger->context[*id] = copy;
		ledger->context[*id].refs += node->refs;
		if (loci_spread_reserve(&ledger->contexts, ledger->n_contexts) < 0 ||
			loci_grow(&ledger->context_levels.tally, &ledger->context_levels.cap,
				ledger->n_contexts * n_levels,
				sizeof(*ledger->context_levels.tally)) < 0)
			return -ENOMEM;
		if (loci_ledger_add_spread(&ledger->contexts, *id, &process->measure.contexts,
			    (uint32_t)i, node->near) < 0)
			return -ENOMEM;
		if (process->times &&
			add_times(&ledger->time_contexts, ledger->n_contexts, *id,
				&process->times->contexts, i) < 0)
			return -ENOMEM;
		for (unsigned k = 0; k < n_levels; k++) {
			struct loci_level_tally *to =
				&ledger->context_levels.tally[*id * n_levels + k];
			const struct loci_level_tally *from;

			if ((i + 1) * n_levels > process->measure.context_levels.cap)
				break;
			from = &process->measure.context_levels.tally[i * n_levels + k];
			loci_level_tally_add(to, from);
		}
	}
	return 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void join_rows(struct loci_row *into, const struct loci_row *from)
{
	uint64_t difference = into->first_offset > from->first_offset
		? into->first_offset - from->first_offset
		: from->first_offset - into->first_offset;

	into->refs += from->refs;
	into->regular += from->regular;
	into->used_bytes += from->used_bytes;
	into->divisor = gcd(gcd(into->divisor, from->divisor), difference);
	if (into->stride == from->stride) {
		into->votes += from->votes;
	} else if (from->votes > into->votes) {
		into->stride = from->stride;
		into->votes = from->votes - into->votes;
	} else {
		into->votes -= from->votes;
	}
}

static int add_row_sides(struct loci_ledger *ledger, const struct loci_ledger_maps *maps, size_t i)
{
	for (unsigned k = 0; k < ledger->n_sides; k++)
		if (loci_spread_reserve(&ledger->side_rows[k], ledger->n_rows) < 0 ||
			loci_ledger_add_spread(&ledger->side_rows[k], maps->row[i],
				&maps->process->side[k]->rows, (uint32_t)i, NULL) < 0)
			return -ENOMEM;
	return 0;
}

static int add_row_counts(struct loci_ledger *ledger, const struct loci_ledger_maps *maps, size_t i)
{
	const struct loci_attribution *process = maps->process;
	unsigned n_levels = ledger->n_levels;
	uint32_t id = maps->row[i];
	int any;

	if (loci_spread_reserve(&ledger->rows, ledger->n_rows) < 0 ||
		loci_grow(&ledger->row_levels.tally, &ledger->row_levels.cap,
			ledger->n_rows * n_levels, sizeof(*ledger->row_levels.tally)) < 0)
		return -ENOMEM;
	any = loci_ledger_add_spread(
		&ledger->rows, id, &process->measure.rows, (uint32_t)i, process->rows.row[i].near);
	if (any < 0 || add_row_sides(ledger, maps, i) < 0)
		return -ENOMEM;
	if (process->times &&
		add_times(&ledger->time_rows, ledger->n_rows, id, &process->times->rows, i) < 0)
		return -ENOMEM;
	if (any && id) {
		ledger->object[ledger->row[id].object].touched = true;
		ledger->site[ledger->row[id].site].touched = true;
	}
	for (unsigned k = 0; k < n_levels && (i + 1) * n_levels <= process->measure.row_levels.cap;
		k++) {
		struct loci_level_tally *to = &ledger->row_levels.tally[id * n_levels + k];
		const struct loci_level_tally *from =
			&process->measure.row_levels.tally[i * n_levels + k];

		loci_level_tally_add(to, from);
	}
	return 0;
}

static int add_rows(struct loci_ledger *ledger, struct loci_ledger_maps *maps, struct loci_err *err)
{
	const struct loci_rows *rows = &maps->process->rows;

	ledger->rows_full |= rows->full;
	for (size_t i = 0; i < rows->n; i++) {
		struct loci_row row = rows->row[i];
		struct loci_digest key;
		int r = 0;

		if (i) {
			row.site = maps->site[row.site];
			row.object = maps->object[row.object];
			r = loci_ledger_name_by_code(ledger, &row, err);
			if (r < 0)
				return r;
			key = (struct loci_digest){ row.site, row.object };
			r = loci_ledger_intern(&ledger->row_ids, key, &ledger->row, &ledger->n_rows,
				&ledger->row_cap, sizeof(*ledger->row), &maps->row[i]);
			ledger->site[row.site].refs += row.refs;
			ledger->object[row.object].refs += row.refs;
			ledger->object[row.object].touched |= row.refs > 0;
		}
		if (r < 0)
			return loci_err_nomem(err);
		if (r)
			ledger->row[maps->row[i]] = row;
		else
			join_rows(&ledger->row[maps->row[i]], &row);
		if (add_row_counts(ledger, maps, i) < 0)
			return loci_err_nomem(err);
	}
	return 0;
}

static int add_loops(struct loci_ledger *ledger, struct loci_ledger_maps *maps)
{
	const struct loci_walk *walk = &maps->process->walk;

	for (size_t i = 1; i < walk->n_loops; i++) {
		const struct loci_loop *from = &walk->loop[i];
		uint64_t end = from->offset + (from->end - from->address);
		struct loci_digest key = { from->offset, from->module };
		struct loci_ledger_loop *loop;
		int r;

		if (!from->proven)
			continue;
		r = loci_ledger_intern(&ledger->loop_ids, key, &ledger->loop, &ledger->n_loops,
			&ledger->loop_cap, sizeof(*ledger->loop), &maps->loop[i]);
		if (r < 0)
			return r;
		loop = &ledger->loop[maps->loop[i]];
		if (r)
			*loop = (struct loci_ledger_loop){ .module = from->module,
				.offset = from->offset,
				.fixed = from->fixed,
				.function = from->function == LOCI_NO_FUNCTION || from->fixed
					? LOCI_NO_SITE
					: maps->site[from->function] };
		loop->iterations += from->iterations;
		if (loop->end_offset < end && !from->fixed)
			loop->end_offset = end;
	}
	return 0;
}

static int add_pair(struct loci_ledger *ledger, const struct loci_ledger_maps *maps, size_t i)
{
	const struct loci_pairs *pairs = &maps->process->measure.pairs;
	const struct loci_pair *from = &pairs->pair[i];
	const struct loci_row *use = &ledger->row[maps->row[loci_use_row(from->use)]];
	const struct loci_row *reuse = &ledger->row[maps->row[loci_use_row(from->reuse)]];
	struct loci_ledger_pair pair = { .use_site = use->site,
		.reuse_site = reuse->site,
		.object = reuse->object,
		.use_context = maps->context[loci_use_context(from->use)],
		.reuse_context = maps->context[loci_use_context(from->reuse)],
		.loop = maps->loop[from->loop],
		.kind = 2 * loci_use_write(from->use) + loci_use_write(from->reuse),
		.recycled = from->recycled };
	struct loci_digest key = { 0 };
	uint64_t bins[UINT8_MAX + 1] = { 0 };
	unsigned n_levels = ledger->n_levels;
	uint32_t id;
	int r;

	key = loci_digest_word(key, (uint64_t)pair.use_site << 32 | pair.reuse_site);
	key = loci_digest_word(key, (uint64_t)pair.object << 32 | pair.loop);
	key = loci_digest_word(key, (uint64_t)pair.use_context << 32 | pair.reuse_context);
	key = loci_digest_word(key, pair.kind << 1 | pair.recycled);
	r = loci_ledger_intern(&ledger->pair_ids, key, &ledger->pair, &ledger->n_pairs,
		&ledger->pair_cap, sizeof(*ledger->pair), &id);
	if (r < 0 ||
		loci_grow(&ledger->pair_level, &ledger->pair_level_cap, ledger->n_pairs * n_levels,
			sizeof(*ledger->pair_level)) < 0)
		return -ENOMEM;
	if (r)
		ledger->pair[id] = pair;
	ledger->pair[id].refs += from->refs;
	loci_spread_far_collect(&from->distance, bins);
	for (unsigned k = 0; k <= UINT8_MAX; k++)
		if (bins[k] && loci_spread_far_add(&ledger->pair[id].distance, k, bins[k]) < 0)
			return -ENOMEM;
	for (unsigned k = 0; k < n_levels; k++) {
		ledger->pair_level[id * n_levels + k].first_hits +=
			pairs->level[i * n_levels + k].first_hits;
		ledger->pair_level[id * n_levels + k].misses +=
			pairs->level[i * n_levels + k].misses;
	}
	return 0;
}

static int new_maps(struct loci_ledger_maps *maps)
{
	const struct loci_attribution *process = maps->process;

	maps->site = calloc(process->code.n_sites, sizeof(*maps->site));
	maps->context = calloc(process->walk.contexts.n, sizeof(*maps->context));
	maps->object = calloc(loci_objects_count(process->objects) + 1, sizeof(*maps->object));
	maps->row = calloc(process->rows.n, sizeof(*maps->row));
	maps->loop = calloc(process->walk.n_loops, sizeof(*maps->loop));
	return maps->site && maps->context && maps->object && maps->row && maps->loop ? 0 : -ENOMEM;
}

int loci_ledger_add(
	struct loci_ledger *ledger, struct loci_attribution *process, struct loci_err *err)
{
	loci_cleanup(maps_fini) struct loci_ledger_maps maps = { .process = process };
	const struct loci_pairs *pairs = &process->measure.pairs;
	int r = 0;

	if (new_maps(&maps) < 0 || add_modules(ledger, &process->code) < 0 ||
		add_sites(ledger, &maps) < 0 || add_contexts(ledger, &maps) < 0)
		return loci_err_nomem(err);
	r = loci_ledger_add_objects(ledger, &maps, err);
	if (r < 0)
		return r;
	if (loci_ledger_begin_share(ledger, process) < 0)
		return loci_err_nomem(err);
	r = add_rows(ledger, &maps, err);
	if (r < 0)
		return r;
	if (loci_ledger_add_share(ledger, &maps) < 0)
		return loci_err_nomem(err);
	if (loci_ledger_add_pieces(ledger, &maps) < 0 || add_loops(ledger, &maps) < 0 ||
		loci_ledger_add_stages(ledger, &maps) < 0 || loci_ledger_add_ran(ledger, &maps) < 0)
		return loci_err_nomem(err);
	if (process->footprint &&
		loci_footprint_add(&ledger->footprint, process->footprint, maps.site) < 0)
		return loci_err_nomem(err);
	ledger->pairs_full |= pairs->full;
	for (size_t i = 0; i < pairs->n; i++)
		if (add_pair(ledger, &maps, i) < 0)
			return loci_err_nomem(err);
	return 0;
}
