// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/shown.h"

#include "base/cleanup.h"
#include "model/blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A table while it is looked through. */
struct owners {
	enum loci_owner owner;
	const char *rows;
	size_t n, row_bytes;
	double *refs;
	struct loci_shown_table *table;
	struct loci_met *met;
	struct loci_shown_rest *rest;
};

static size_t row_of(const void *rows, size_t n, size_t row_bytes, int64_t id)
{
	const char *found = id ? loci_row_find(rows, n, row_bytes, id) : NULL;

	return found ? (size_t)(found - (const char *)rows) / row_bytes : SIZE_MAX;
}

uint32_t loci_shown_at(
	const struct loci_shown_table *table, const void *rows, size_t row_bytes, int64_t id)
{
	size_t at = row_of(rows, table->n, row_bytes, id);

	return at == SIZE_MAX ? LOCI_HIDDEN : table->place[at];
}

static int gather(const struct loci_catalogue *c, struct owners *o, struct loci_err *err)
{
	unsigned n_levels = c->n_level < LOCI_LEVELS_MAX ? (unsigned)c->n_level : LOCI_LEVELS_MAX;

	o->met->n_levels = n_levels;
	o->met->misses = calloc(o->n * n_levels + 1, sizeof(double));
	o->met->writebacks = calloc(o->n * n_levels + 1, sizeof(double));
	o->met->touches = calloc(o->n + 1, sizeof(double));
	if (!o->met->misses || !o->met->writebacks || !o->met->touches)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_level_count; i++) {
		const struct loci_level_count_row *count = &c->level_count[i];
		size_t level, at;

		if (count->owner != o->owner)
			continue;
		level = row_of(c->level, n_levels, sizeof(*c->level), count->level_id);
		at = row_of(o->rows, o->n, o->row_bytes, count->owner_id);
		if (level == SIZE_MAX || at == SIZE_MAX)
			continue;
		o->met->misses[at * n_levels + level] += (double)count->misses;
		o->met->writebacks[at * n_levels + level] += (double)count->writebacks;
		if (!level) /* every touch hits the first level or misses it */
			o->met->touches[at] += (double)(count->first_hits + count->misses);
	}
	return 0;
}

struct weighted {
	double weight;
	uint32_t row;
};

static int compare_weighted(const void *a, const void *b)
{
	const struct weighted *p = a, *q = b;

	return p->weight != q->weight ? (p->weight > q->weight ? -1 : 1)
				      : (p->row > q->row) - (p->row < q->row);
}

/* Marks the fewest rows that have most of a weight: value[i * step]. */
static void cover(struct owners *o, struct weighted *order, const double *value, size_t step)
{
	double sum = 0, goal;

	for (size_t i = 0; i < o->n; i++) {
		order[i] = (struct weighted){ value[i * step], (uint32_t)i };
		sum += value[i * step];
	}
	qsort(order, o->n, sizeof(*order), compare_weighted);
	goal = LOCI_SHOWN_COVER * sum;
	sum = 0;
	for (size_t i = 0; i < o->n && order[i].weight > 0 && sum < goal; i++) {
		o->table->place[order[i].row] = 0;
		sum += order[i].weight;
	}
}

static int choose(struct owners *o, struct loci_err *err)
{
	loci_autofree struct weighted *order = calloc(o->n + 1, sizeof(*order));

	if (!order)
		return loci_err_nomem(err);
	for (size_t i = 0; i < o->n; i++)
		o->table->place[i] = o->n <= LOCI_SHOWN_FEW ? 0 : LOCI_HIDDEN;
	if (o->n <= LOCI_SHOWN_FEW)
		return 0;
	cover(o, order, o->refs, 1);
	for (unsigned k = 0; k < o->met->n_levels; k++)
		cover(o, order, o->met->misses + k, o->met->n_levels);
	return 0;
}

/* Marked rows are numbered in their order. */
static void number(struct loci_shown_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->place[i] != LOCI_HIDDEN)
			table->place[i] = table->n_shown++;
}

static int sum_rest(const struct loci_shown *shown, const struct owners *o, struct loci_err *err)
{
	struct loci_shown_rest *rest = o->rest;
	const struct loci_owner_hist *hist;
	size_t n;
	int r;

	for (size_t i = 0; i < o->n; i++) {
		if (o->table->place[i] != LOCI_HIDDEN)
			continue;
		rest->n++;
		rest->refs += o->refs[i];
		rest->touches += o->met->touches[i];
		for (unsigned k = 0; k < o->met->n_levels; k++) {
			rest->misses[k] += o->met->misses[i * o->met->n_levels + k];
			rest->writebacks[k] += o->met->writebacks[i * o->met->n_levels + k];
		}
	}
	loci_hist_init(&rest->hist, LOCI_SCHEME_COARSE);
	if (!rest->n || o->owner == LOCI_OWNER_ACCESS)
		return 0;
	r = loci_profile_hists(shown->catalogue.profile, LOCI_DISTANCE_STACK, o->owner,
		shown->block_bytes, &hist, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t at = row_of(o->rows, o->n, o->row_bytes, hist[i].owner_id);

		if (at != SIZE_MAX && o->table->place[at] == LOCI_HIDDEN &&
			hist[i].hist->scheme == LOCI_SCHEME_COARSE &&
			loci_hist_merge(&rest->hist, hist[i].hist) < 0)
			r = loci_err_nomem(err);
	}
	return r;
}

/* Those that make most of what threads take from each other. */
static int choose_sharing(struct loci_shown *s, struct loci_err *err)
{
	const struct loci_catalogue *c = &s->catalogue;
	struct loci_met none = { 0 };
	loci_autofree double *misses = calloc(c->n_sharing + 1, sizeof(double));
	struct owners o = { .n = c->n_sharing, .refs = misses, .table = &s->sharing, .met = &none };

	if (!misses)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_sharing; i++)
		misses[i] = (double)c->sharing[i].misses;
	return choose(&o, err);
}

static void mark(struct loci_shown_table *table, const void *rows, size_t row_bytes, int64_t id)
{
	size_t at = row_of(rows, table->n, row_bytes, id);

	if (at != SIZE_MAX)
		table->place[at] = 0;
}
#define MARK(shown, name, id) \
	mark(&(shown)->name, (shown)->catalogue.name, sizeof(*(shown)->catalogue.name), id)

/* With the contexts around it. */
static void mark_context(struct loci_shown *s, int64_t id)
{
	const struct loci_context_row *row;

	for (; (row = loci_catalogue_find_context(&s->catalogue, id)); id = row->parent_id) {
		uint32_t *place = &s->context.place[row - s->catalogue.context];

		if (*place == 1)
			return;
		*place = 1; /* and all around it are marked */
	}
}

/* What a pair or an access that is shown speaks of is shown, too; fields with their objects. */
static void mark_owners(struct loci_shown *s)
{
	const struct loci_catalogue *c = &s->catalogue;

	for (size_t i = 0; i < c->n_pair; i++) {
		const struct loci_pair_row *pair = &c->pair[i];

		if (s->pair.place[i] == LOCI_HIDDEN)
			continue;
		MARK(s, site, pair->use_site_id);
		MARK(s, site, pair->reuse_site_id);
		MARK(s, object, pair->object_id);
		MARK(s, loop, pair->loop_id);
		mark_context(s, pair->use_context_id);
		mark_context(s, pair->reuse_context_id);
	}
	for (size_t i = 0; i < c->n_access; i++)
		if (s->access.place[i] != LOCI_HIDDEN) {
			MARK(s, site, c->access[i].site_id);
			MARK(s, object, c->access[i].object_id);
			MARK(s, field, c->access[i].field_id);
		}
	for (size_t i = 0; i < c->n_sharing; i++) {
		const struct loci_sharing_row *row = &c->sharing[i];

		if (s->sharing.place[i] == LOCI_HIDDEN)
			continue;
		MARK(s, site, row->write_site_id);
		MARK(s, site, row->miss_site_id);
		MARK(s, object, row->object_id);
		MARK(s, object, row->write_object_id);
		MARK(s, field, row->field_id);
		MARK(s, field, row->write_field_id);
	}
	for (size_t i = 0; i < c->n_field; i++)
		if (s->field.place[i] != LOCI_HIDDEN)
			MARK(s, object, c->field[i].object_id);
	for (size_t i = 0; i < c->n_object; i++)
		if (s->object.place[i] != LOCI_HIDDEN)
			mark_context(s, c->object[i].context_id);
	for (size_t i = 0; i < c->n_context; i++)
		if (s->context.place[i] == 0)
			mark_context(s, c->context[i].id);
}

static void mark_loop(struct loci_shown *s, int64_t id)
{
	const struct loci_loop_row *row;

	for (; (row = loci_catalogue_find_loop(&s->catalogue, id)); id = row->parent_id) {
		s->loop.place[row - s->catalogue.loop] = 0;
		MARK(s, function, row->function_id);
		MARK(s, source, row->source_id);
	}
}

static void mark_names(struct loci_shown *s)
{
	const struct loci_catalogue *c = &s->catalogue;

	for (size_t i = 0; i < c->n_site; i++) {
		const struct loci_site_row *site = &c->site[i];

		if (s->site.place[i] == LOCI_HIDDEN)
			continue;
		MARK(s, function, site->function_id);
		MARK(s, function, loci_catalogue_function_of(c, site));
		MARK(s, module, loci_catalogue_module_of(c, site));
		MARK(s, source, site->source_id);
		mark_loop(s, site->loop_id);
	}
	for (size_t i = 0; i < c->n_loop; i++)
		if (s->loop.place[i] != LOCI_HIDDEN)
			mark_loop(s, c->loop[i].id);
	for (size_t i = 0; i < c->n_object; i++)
		if (s->object.place[i] != LOCI_HIDDEN) {
			MARK(s, source, c->object[i].source_id);
			MARK(s, function, c->object[i].function_id);
		}
	for (size_t i = 0; i < c->n_context; i++)
		if (s->context.place[i] != LOCI_HIDDEN) {
			MARK(s, function, c->context[i].function_id);
			MARK(s, source, c->context[i].source_id);
		}
	for (size_t i = 0; i < c->n_function; i++)
		if (s->function.place[i] != LOCI_HIDDEN) {
			MARK(s, source, c->function[i].source_id);
			MARK(s, module, c->function[i].module_id);
		}
}

static int table_init(struct loci_shown_table *table, size_t n, struct loci_err *err)
{
	table->n = n;
	table->place = malloc((n + 1) * sizeof(*table->place));
	if (!table->place)
		return loci_err_nomem(err);
	memset(table->place, 0xff, (n + 1) * sizeof(*table->place));
	return 0;
}

/* The references of fields are known by their accesses alone. */
static void count_fields(const struct loci_catalogue *c, double *refs)
{
	for (size_t i = 0; i < c->n_access; i++) {
		size_t at = row_of(c->field, c->n_field, sizeof(*c->field), c->access[i].field_id);

		if (at != SIZE_MAX)
			refs[at] += (double)c->access[i].refs;
	}
}

static double refs_of(const struct loci_catalogue *c, enum loci_owner owner, size_t i)
{
	switch (owner) {
	case LOCI_OWNER_SITE:
		return (double)c->site[i].refs;
	case LOCI_OWNER_OBJECT:
		return (double)c->object[i].refs;
	case LOCI_OWNER_ACCESS:
		return (double)c->access[i].refs;
	case LOCI_OWNER_CONTEXT:
		return (double)c->context[i].refs;
	case LOCI_OWNER_PAIR:
		return (double)c->pair[i].refs;
	default:
		return 0;
	}
}

static int fill_refs(const struct loci_catalogue *c, struct owners *o, struct loci_err *err)
{
	o->refs = calloc(o->n + 1, sizeof(double));
	if (!o->refs)
		return loci_err_nomem(err);
	if (o->owner == LOCI_OWNER_FIELD)
		count_fields(c, o->refs);
	for (size_t i = 0; o->owner != LOCI_OWNER_FIELD && i < o->n; i++)
		o->refs[i] = refs_of(c, o->owner, i);
	return 0;
}

#define N_OWNERS 6

static int look_through(struct loci_shown *s, struct owners owners[N_OWNERS], struct loci_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < N_OWNERS; i++) {
		r = fill_refs(&s->catalogue, &owners[i], err);
		if (r == 0)
			r = gather(&s->catalogue, &owners[i], err);
		if (r == 0)
			r = choose(&owners[i], err);
	}
	if (r == 0)
		r = choose_sharing(s, err);
	if (r < 0)
		return r;
	mark_owners(s);
	mark_names(s);
	for (unsigned i = 0; i < N_OWNERS; i++)
		number(owners[i].table);
	number(&s->sharing);
#define NUMBER(name) number(&s->name);
	LOCI_SHOWN_NAMED(NUMBER)
#undef NUMBER
	for (unsigned i = 0; r == 0 && i < N_OWNERS; i++)
		r = sum_rest(s, &owners[i], err);
	return r;
}

int loci_shown_init(
	struct loci_shown *shown, const struct loci_subject *subject, struct loci_err *err)
{
	struct loci_catalogue *c = &shown->catalogue;
	struct loci_blame_levels levels;
	int r;

	*shown = (struct loci_shown){ .block_bytes = subject->grain->block_bytes };
	r = loci_catalogue_load(c, subject->profile, err);
	if (r < 0)
		return r;
	if (loci_blame_levels(subject, c, NULL, &levels, NULL) == 0)
		shown->block_bytes = levels.block_bytes;
#define INIT(name, ...) \
	if (r == 0)     \
		r = table_init(&shown->name, c->n_##name, err);
	LOCI_SHOWN_OWNERS(INIT)
	LOCI_SHOWN_NAMED(INIT)
	INIT(sharing)
#undef INIT
#define OWNERS(name, OWNER)                                                               \
	{ LOCI_OWNER_##OWNER, (const char *)c->name, c->n_##name, sizeof(*c->name), NULL, \
		&shown->name, &shown->name##_met, &shown->name##_rest },
	struct owners owners[N_OWNERS] = { LOCI_SHOWN_OWNERS(OWNERS) };
#undef OWNERS
	if (r == 0)
		r = look_through(shown, owners, err);
	for (unsigned i = 0; i < N_OWNERS; i++)
		free(owners[i].refs);
	return r;
}

void loci_shown_fini(struct loci_shown *shown)
{
#define FINI_OWNER(name, ...)               \
	free(shown->name.place);            \
	free(shown->name##_met.misses);     \
	free(shown->name##_met.writebacks); \
	free(shown->name##_met.touches);    \
	loci_hist_fini(&shown->name##_rest.hist);
#define FINI(name) free(shown->name.place);
	LOCI_SHOWN_OWNERS(FINI_OWNER)
	LOCI_SHOWN_NAMED(FINI)
	FINI(sharing)
#undef FINI_OWNER
#undef FINI
	*shown = (struct loci_shown){ 0 };
}
