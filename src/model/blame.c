// SPDX-License-Identifier: GPL-2.0-or-later
/* Owners are made of the rows of one table, the base: sites make lines and functions, accesses make
 * spots, pairs make links. Rows of the base that share a key are one owner. */
#include "model/blame_index.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 8 /* parts of a key, at most */

typedef void key_fn(const struct loci_catalogue *c, const void *row, int64_t key[KEYS]);
typedef const void *owner_fn(const struct loci_catalogue *c, const int64_t key[KEYS]);

static void key_of_id(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	(void)c;
	memcpy(key, row, sizeof(*key));
}

static void put_line(
	const struct loci_catalogue *c, const struct loci_site_row *site, int64_t key[3])
{
	key[0] = site ? loci_catalogue_function_of(c, site) : 0;
	key[1] = site ? site->source_id : 0;
	key[2] = site ? site->line : 0;
}

static void key_of_line(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	put_line(c, row, key);
}

static void key_of_function(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	key[0] = loci_catalogue_function_of(c, row);
}

static void key_of_loop(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	(void)c;
	key[0] = ((const struct loci_site_row *)row)->loop_id;
}

static void key_of_file(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	(void)c;
	key[0] = ((const struct loci_site_row *)row)->source_id;
}

static void key_of_module(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	key[0] = loci_catalogue_module_of(c, row);
}

static void key_of_spot(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	const struct loci_access_row *access = row;

	put_line(c, loci_catalogue_find_site(c, access->site_id), key);
	key[3] = access->object_id;
}

static void key_of_link(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	const struct loci_pair_row *pair = row;

	put_line(c, loci_catalogue_find_site(c, pair->use_site_id), key);
	put_line(c, loci_catalogue_find_site(c, pair->reuse_site_id), key + 3);
	key[6] = pair->object_id;
	key[7] = pair->loop_id;
}

static void key_of_process(const struct loci_catalogue *c, const void *row, int64_t key[KEYS])
{
	(void)c;
	key[0] = ((const struct loci_blame_thread *)row)->process_id;
}

#define OWNER(name)                                                                              \
	static const void *owner_##name(const struct loci_catalogue *c, const int64_t key[KEYS]) \
	{                                                                                        \
		return loci_catalogue_find_##name(c, key[0]);                                    \
	}
OWNER(function)
OWNER(loop)
OWNER(source)
OWNER(module)
OWNER(process)

static const struct kind {
	const char *name, *plural;
	enum loci_owner base;
	unsigned n_keys;
	key_fn *key;
	owner_fn *owner; /* NULL: the base's row with the most misses */
} kinds[LOCI_BLAME_KINDS] = {
	[LOCI_BLAME_SITE] = { "site", "sites", LOCI_OWNER_SITE, 1, key_of_id, NULL },
	[LOCI_BLAME_LINE] = { "line", "lines", LOCI_OWNER_SITE, 3, key_of_line, NULL },
	[LOCI_BLAME_FUNCTION] = { "function", "functions", LOCI_OWNER_SITE, 1, key_of_function,
		owner_function },
	[LOCI_BLAME_LOOP] = { "loop", "loops", LOCI_OWNER_SITE, 1, key_of_loop, owner_loop },
	[LOCI_BLAME_FILE] = { "file", "files", LOCI_OWNER_SITE, 1, key_of_file, owner_source },
	[LOCI_BLAME_MODULE] = { "module", "modules", LOCI_OWNER_SITE, 1, key_of_module,
		owner_module },
	[LOCI_BLAME_OBJECT] = { "object", "objects", LOCI_OWNER_OBJECT, 1, key_of_id, NULL },
	[LOCI_BLAME_FIELD] = { "field", "fields", LOCI_OWNER_FIELD, 1, key_of_id, NULL },
	[LOCI_BLAME_CONTEXT] = { "context", "contexts", LOCI_OWNER_CONTEXT, 1, key_of_id, NULL },
	[LOCI_BLAME_PAIR] = { "pair", "pairs", LOCI_OWNER_PAIR, 1, key_of_id, NULL },
	[LOCI_BLAME_THREAD] = { "thread", "threads", LOCI_OWNER_THREAD, 1, key_of_id, NULL },
	[LOCI_BLAME_PROCESS] = { "process", "processes", LOCI_OWNER_THREAD, 1, key_of_process,
		owner_process },
	[LOCI_BLAME_REGION] = { "region", "regions", LOCI_OWNER_REGION, 1, key_of_id, NULL },
	[LOCI_BLAME_PHASE] = { "phase", "phases", LOCI_OWNER_PHASE, 1, key_of_id, NULL },
	[LOCI_BLAME_SPOT] = { "spot", "spots", LOCI_OWNER_ACCESS, 4, key_of_spot, NULL },
	[LOCI_BLAME_LINK] = { "link", "links", LOCI_OWNER_PAIR, 8, key_of_link, NULL },
};

const char *loci_blame_name(enum loci_blame_kind kind)
{
	return kinds[kind].name;
}

const char *loci_blame_plural(enum loci_blame_kind kind)
{
	return kinds[kind].plural;
}

int loci_blame_from_name(const char *name, enum loci_blame_kind *ret)
{
	for (unsigned i = 0; i < LOCI_BLAME_SPOT; i++) /* what follows has no name of its own */
		if (!strcmp(kinds[i].name, name)) {
			*ret = (enum loci_blame_kind)i;
			return 0;
		}
	return -EINVAL;
}

bool loci_blame_is_recorded(const struct loci_subject *subject, enum loci_blame_kind kind,
	const struct loci_blame_levels *levels)
{
	switch (kinds[kind].base) {
	case LOCI_OWNER_SITE:
	case LOCI_OWNER_ACCESS:
	case LOCI_OWNER_OBJECT:
	case LOCI_OWNER_FIELD:
	case LOCI_OWNER_THREAD:
		return true;
	default:
		return levels->level[levels->chosen].level_id ||
			loci_blame_has_hists(
				subject->profile, kinds[kind].base, levels->block_bytes) ||
			!levels->of_elements;
	}
}

static int load_threads(struct loci_blame *blame, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	struct loci_blame_index *index = blame->index;
	size_t n;
	const struct loci_thread_totals *threads =
		loci_profile_threads(blame->catalogue->profile, &n);
	int64_t only = c->n_process == 1 ? c->process[0].id : 0;

	index->thread = calloc(n + 1, sizeof(*index->thread));
	if (!index->thread)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		index->thread[i] = (struct loci_blame_thread){
			.id = threads[i].thread,
			.process_id = threads[i].process_id ? threads[i].process_id : only,
			.refs = threads[i].references,
		};
	index->rows = (const char *)index->thread;
	index->n = n;
	index->row_bytes = sizeof(*index->thread);
	return 0;
}

static int load_base(struct loci_blame *blame, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	struct loci_blame_index *index = blame->index;

#define BASE(OWNER, name)                            \
	case LOCI_OWNER_##OWNER:                     \
		index->rows = (const char *)c->name; \
		index->n = c->n_##name;              \
		index->row_bytes = sizeof(*c->name); \
		return 0
	switch (index->base) {
		BASE(SITE, site);
		BASE(ACCESS, access);
		BASE(OBJECT, object);
		BASE(FIELD, field);
		BASE(CONTEXT, context);
		BASE(PAIR, pair);
		BASE(REGION, region);
		BASE(PHASE, phase);
	default:
		return load_threads(blame, err);
	}
#undef BASE
}

size_t loci_blame_base_find(const struct loci_blame_index *index, int64_t id)
{
	const char *found = id ? loci_row_find(index->rows, index->n, index->row_bytes, id) : NULL;

	return found ? (size_t)(found - index->rows) / index->row_bytes : SIZE_MAX;
}

static uint64_t refs_of(enum loci_owner base, const void *row)
{
	switch (base) {
	case LOCI_OWNER_SITE:
		return ((const struct loci_site_row *)row)->refs;
	case LOCI_OWNER_ACCESS:
		return ((const struct loci_access_row *)row)->refs;
	case LOCI_OWNER_OBJECT:
		return ((const struct loci_object_row *)row)->refs;
	case LOCI_OWNER_CONTEXT:
		return ((const struct loci_context_row *)row)->refs;
	case LOCI_OWNER_PAIR:
		return ((const struct loci_pair_row *)row)->refs;
	case LOCI_OWNER_THREAD:
		return ((const struct loci_blame_thread *)row)->refs;
	case LOCI_OWNER_REGION:
		return ((const struct loci_region_row *)row)->refs;
	case LOCI_OWNER_PHASE:
		return ((const struct loci_phase_row *)row)->refs;
	default:
		return 0; /* a field's are its accesses' */
	}
}

/* The keys of the base's rows, n_keys each. */
struct keys {
	int64_t *key;
	unsigned n_keys;
};

static int compare_keys(const void *a, const void *b, void *data)
{
	const struct keys *keys = data;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const int64_t *p = keys->key + (size_t)i * keys->n_keys;
	const int64_t *q = keys->key + (size_t)k * keys->n_keys;

	for (unsigned n = 0; n < keys->n_keys; n++)
		if (p[n] != q[n])
			return p[n] < q[n] ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The rows of the base, those of one key side by side. */
static int sort_by_key(const struct loci_blame *blame, struct keys *keys, uint32_t *order)
{
	const struct kind *kind = &kinds[blame->kind];
	const struct loci_blame_index *index = blame->index;

	keys->n_keys = kind->n_keys;
	keys->key = calloc(index->n * keys->n_keys + 1, sizeof(*keys->key));
	if (!keys->key)
		return -ENOMEM;
	for (size_t i = 0; i < index->n; i++) {
		int64_t key[KEYS] = { 0 };

		kind->key(blame->catalogue, index->rows + i * index->row_bytes, key);
		memcpy(keys->key + i * keys->n_keys, key, keys->n_keys * sizeof(*key));
		order[i] = (uint32_t)i;
	}
	if (kind->key != key_of_id) /* ids ascend as they are */
		qsort_r(order, index->n, sizeof(*order), compare_keys, keys);
	return 0;
}

/* Sums of the base's rows, so that a sort of owners need not know them. */
struct sums {
	double *touches, *writebacks, *level_misses;
};

static void sums_free(struct sums *sums)
{
	free(sums->touches);
	free(sums->writebacks);
	free(sums->level_misses);
}

static void add_member(
	struct loci_blame *blame, struct loci_blame_row *row, uint32_t at, const struct sums *sums)
{
	const struct loci_blame_index *index = blame->index;
	const void *base = index->rows + at * index->row_bytes;

	if (!kinds[blame->kind].owner &&
		(!row->owner || index->misses[at] > index->misses[index->member[row->first]])) {
		/* the foremost member stands for all */
		index->member[row->first + row->n_members] = index->member[row->first];
		index->member[row->first] = at;
		row->owner = base;
	} else {
		index->member[row->first + row->n_members] = at;
	}
	row->n_members++;
	index->serial_of[at] = row->serial;
	row->refs += (double)refs_of(index->base, base);
	row->touches += sums->touches[at];
	row->misses += index->misses[at];
	row->writebacks += sums->writebacks[at];
	for (unsigned i = 0; i < LOCI_LEVELS_MAX; i++)
		row->level_misses[i] += sums->level_misses[(size_t)at * LOCI_LEVELS_MAX + i];
}

static int group(struct loci_blame *blame, const struct sums *sums, struct loci_err *err)
{
	const struct kind *kind = &kinds[blame->kind];
	struct loci_blame_index *index = blame->index;
	loci_autofree uint32_t *order = calloc(index->n + 1, sizeof(*order));
	struct loci_blame_row *row = NULL;
	struct keys keys = { 0 };
	size_t key_bytes = kind->n_keys * sizeof(*keys.key);

	index->member = calloc(index->n + 1, sizeof(*index->member));
	index->serial_of = calloc(index->n + 1, sizeof(*index->serial_of));
	blame->row = calloc(index->n + 1, sizeof(*blame->row));
	if (!order || !index->member || !index->serial_of || !blame->row ||
		sort_by_key(blame, &keys, order) < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; i < index->n; i++) {
		const int64_t *key = keys.key + (size_t)order[i] * kind->n_keys;

		if (!i || memcmp(key, keys.key + (size_t)order[i - 1] * kind->n_keys, key_bytes)) {
			row = &blame->row[blame->n_rows];
			row->serial = (uint32_t)blame->n_rows++;
			row->first = (uint32_t)i;
			if (kind->owner)
				row->owner = kind->owner(blame->catalogue, key);
		}
		add_member(blame, row, order[i], sums);
	}
	free(keys.key);
	return 0;
}

/* The references of fields are known by their accesses alone. */
static void count_fields(struct loci_blame *blame)
{
	const struct loci_catalogue *c = blame->catalogue;

	for (size_t i = 0; i < c->n_access; i++) {
		size_t at = loci_blame_base_find(blame->index, c->access[i].field_id);

		if (at != SIZE_MAX)
			blame->row[blame->index->serial_of[at]].refs += (double)c->access[i].refs;
	}
}

/* A region's references are those of all regions around it, too. A row is a region. */
static void add_inner(struct loci_blame *blame)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_blame_index *index = blame->index;

	for (size_t i = 0; i < c->n_region; i++) {
		const struct loci_blame_row *own = &blame->row[index->serial_of[i]];

		for (size_t at = i; at != SIZE_MAX;
			at = loci_blame_base_find(index, c->region[at].parent_id)) {
			blame->row[index->serial_of[at]].all_refs += own->refs;
			blame->row[index->serial_of[at]].all_misses += own->misses;
		}
	}
}

/* Accesses have no histograms: a site's estimate is shared out as its misses were at the first
 * level recorded, or its references where none was. */
static int estimate_accesses(struct loci_blame *blame, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	struct loci_blame_index *index = blame->index;
	struct loci_blame first = *blame;
	loci_autofree double *site = calloc(c->n_site + 1, sizeof(double));
	loci_autofree double *sum = calloc(c->n_site + 1, sizeof(double));
	loci_autofree double *part = calloc(c->n_access + 1, sizeof(double));
	int r;

	if (!site || !sum || !part)
		return loci_err_nomem(err);
	r = loci_blame_count(blame, LOCI_OWNER_SITE, (const char *)c->site, c->n_site,
		sizeof(*c->site), &(struct loci_blame_counts){ .misses = site }, err);
	if (r < 0)
		return r;
	first.is_estimate = false;
	first.levels.chosen = 0;
	first.levels.level[0].level_id = c->n_level ? c->level[0].id : 0;
	r = loci_blame_count(&first, LOCI_OWNER_ACCESS, (const char *)c->access, c->n_access,
		sizeof(*c->access), &(struct loci_blame_counts){ .misses = part }, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->n_access; i++) {
		const struct loci_site_row *of = loci_catalogue_find_site(c, c->access[i].site_id);

		if (!c->n_level)
			part[i] = (double)c->access[i].refs;
		if (of)
			sum[of - c->site] += part[i];
	}
	for (size_t i = 0; i < c->n_access; i++) {
		const struct loci_site_row *of = loci_catalogue_find_site(c, c->access[i].site_id);

		if (of && sum[of - c->site] > 0)
			index->misses[i] = site[of - c->site] * part[i] / sum[of - c->site];
	}
	return 0;
}

static int count_base(struct loci_blame *blame, struct sums *sums, struct loci_err *err)
{
	struct loci_blame_index *index = blame->index;

	index->misses = calloc(index->n + 1, sizeof(double));
	sums->touches = calloc(index->n + 1, sizeof(double));
	sums->writebacks = calloc(index->n + 1, sizeof(double));
	sums->level_misses = calloc((index->n + 1) * LOCI_LEVELS_MAX, sizeof(double));
	if (!index->misses || !sums->touches || !sums->writebacks || !sums->level_misses)
		return loci_err_nomem(err);
	if (blame->is_estimate && index->base == LOCI_OWNER_ACCESS)
		return estimate_accesses(blame, err);
	return loci_blame_count(blame, index->base, index->rows, index->n, index->row_bytes,
		&(struct loci_blame_counts){
			index->misses, sums->touches, sums->writebacks, sums->level_misses },
		err);
}

/* All misses there were: counted, or estimated as the owners' are. */
static int count_whole(
	struct loci_blame *blame, const struct loci_subject *subject, struct loci_err *err)
{
	static const int64_t whole = 0;
	const struct loci_blame_level *level = &blame->levels.level[blame->levels.chosen];
	const struct kind *kind = &kinds[blame->kind];
	double misses = 0, writebacks = 0, refs = 0;
	struct loci_blame_counts counts = { .misses = &misses, .writebacks = &writebacks };
	int r = loci_blame_count(
		blame, LOCI_OWNER_WHOLE, (const char *)&whole, 1, sizeof(whole), &counts, err);

	if (r < 0)
		return r;
	if (kind->base == LOCI_OWNER_THREAD && blame->n_rows == 1 && !(blame->row[0].misses > 0)) {
		blame->row[0].misses = misses; /* the only one has it all */
		blame->row[0].writebacks = writebacks;
	}
	blame->refs = (double)subject->run->references;
	blame->has_misses = kind->base != LOCI_OWNER_THREAD || !(misses > 0);
	for (size_t i = 0; i < blame->n_rows; i++)
		blame->has_misses |= blame->row[i].misses > 0;
	for (size_t i = 0; i < blame->n_rows; i++) {
		blame->owned_misses += blame->row[i].misses;
		refs += blame->row[i].refs;
	}
	/* Estimates of the parts do not add up to that of the whole: what the owners' references
	 * leave is what it adds, if they are meant to have them all. */
	if (blame->is_estimate && kind->base != LOCI_OWNER_PAIR && kind->base != LOCI_OWNER_FIELD)
		misses = blame->owned_misses +
			(refs < blame->refs ? misses * (1 - refs / blame->refs) : 0);
	blame->misses = misses > blame->owned_misses ? misses : blame->owned_misses;
	blame->writebacks = writebacks;
	if (blame->is_estimate)
		blame->basis = loci_basis_name(subject->conversion == LOCI_CONVERT_STATSTACK
				? LOCI_BASIS_STATSTACK
				: loci_cache_sets(&level->cache) > 1 ? LOCI_BASIS_BINOMIAL
								     : LOCI_BASIS_INTERPOLATED);
	return 0;
}

int loci_blame_new(const struct loci_catalogue *catalogue, const struct loci_subject *subject,
	const struct loci_blame_levels *levels, enum loci_blame_kind kind, struct loci_blame **ret,
	struct loci_err *err)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *blame = calloc(1, sizeof(*blame));
	loci_cleanup(sums_free) struct sums sums = { 0 };
	const char *capabilities = subject->run->capabilities;
	int r;

	*ret = NULL;
	if (!blame || !(blame->index = calloc(1, sizeof(*blame->index))))
		return loci_err_nomem(err);
	blame->catalogue = catalogue;
	blame->kind = kind;
	blame->levels = *levels;
	blame->index->base = kinds[kind].base;
	blame->index->private_owners = loci_blame_private_owners(catalogue->profile, levels);
	blame->is_estimate = !levels->level[levels->chosen].level_id;
	blame->has_writebacks =
		!blame->is_estimate && capabilities && strstr(capabilities, "stores");
	blame->has_touches = catalogue->n_level > 0;
	if ((r = load_base(blame, err)) < 0 || (r = count_base(blame, &sums, err)) < 0 ||
		(r = group(blame, &sums, err)) < 0 || (r = count_whole(blame, subject, err)) < 0)
		return r;
	loci_blame_count_sharing(blame);
	if (kind == LOCI_BLAME_FIELD)
		count_fields(blame);
	if (kind == LOCI_BLAME_REGION)
		add_inner(blame);
	r = loci_blame_sort(blame, LOCI_BLAME_BY_MISSES, err);
	if (r < 0)
		return r;
	blame->sum = calloc(blame->n_rows + 1, sizeof(double));
	if (!blame->sum)
		return loci_err_nomem(err);
	for (size_t i = 0; i < blame->n_rows; i++)
		blame->sum[i] = (i ? blame->sum[i - 1] : 0) + blame->row[i].misses;
	*ret = blame;
	blame = NULL;
	return 0;
}

void loci_blame_free(struct loci_blame *blame)
{
	if (!blame)
		return;
	if (blame->index) {
		free(blame->index->misses);
		free(blame->index->member);
		free(blame->index->serial_of);
		free(blame->index->thread);
		free(blame->index->access);
		free(blame->index->access_first);
		free(blame->index->access_misses);
	}
	free(blame->index);
	free(blame->row);
	free(blame->sum);
	free(blame);
}

double loci_blame_share(const struct loci_blame *blame, double misses)
{
	return blame->misses > 0 ? misses / blame->misses : 0;
}

size_t loci_blame_cover(const struct loci_blame *blame, double share)
{
	for (size_t i = 0; i < blame->n_rows && blame->misses > 0; i++)
		if (blame->sum[i] >= share * blame->misses)
			return i + 1;
	return 0;
}

/* A row by what it is sorted by; ties by references, then as they were made. */
struct ranked {
	double value, refs;
	uint32_t serial, at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;

	if (p->value != q->value)
		return p->value > q->value ? -1 : 1;
	if (p->refs != q->refs)
		return p->refs > q->refs ? -1 : 1;
	return p->serial < q->serial ? -1 : p->serial > q->serial;
}

static int value_of(struct loci_blame *blame, const struct loci_blame_row *row,
	enum loci_blame_sort by, double *ret, struct loci_err *err)
{
	struct loci_blame_detail detail;
	int r;

	if (by != LOCI_BLAME_BY_DISTANCE) {
		*ret = by == LOCI_BLAME_BY_MISSES  ? row->misses
			: by == LOCI_BLAME_BY_REFS ? row->refs
						   : row->writebacks;
		return 0;
	}
	r = loci_blame_look(blame, row, &detail, err);
	*ret = (double)detail.far_blocks;
	return r;
}

int loci_blame_sort(struct loci_blame *blame, enum loci_blame_sort by, struct loci_err *err)
{
	loci_autofree struct ranked *ranked = calloc(blame->n_rows + 1, sizeof(*ranked));
	struct loci_blame_row *sorted;

	if (!ranked)
		return loci_err_nomem(err);
	for (size_t i = 0; i < blame->n_rows; i++) {
		const struct loci_blame_row *row = &blame->row[i];
		int r = value_of(blame, row, by, &ranked[i].value, err);

		if (r < 0)
			return r;
		ranked[i].refs = row->refs;
		ranked[i].serial = row->serial;
		ranked[i].at = (uint32_t)i;
	}
	sorted = calloc(blame->n_rows + 1, sizeof(*sorted));
	if (!sorted)
		return loci_err_nomem(err);
	qsort(ranked, blame->n_rows, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < blame->n_rows; i++)
		sorted[i] = blame->row[ranked[i].at];
	free(blame->row);
	blame->row = sorted;
	return 0;
}
