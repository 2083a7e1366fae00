// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/moved.h"

#include "base/cleanup.h"
#include "model/blame_index.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 1e-3 /* of all misses: less has not moved */

/* A base row of either run by what it is matched by. */
struct item {
	char *key;
	const struct loci_blame_row *row;
	double misses;
};

struct items {
	struct item *item;
	size_t n;
};

static void items_free(struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		free(items->item[i].key);
	free(items->item);
}

static int compare_items(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->key, ((const struct item *)b)->key);
}

/* What an object is called in both runs. */
static char *object_key(const struct loci_catalogue *c, const struct loci_object_row *object)
{
	const struct loci_function_row *function =
		loci_catalogue_find_function(c, object->function_id);
	char *key;

	if (asprintf(&key, "%s\n%s\n%s", object->kind ? object->kind : "",
		    object->name ? object->name : "",
		    function && function->name ? function->name : "") < 0)
		return NULL;
	return key;
}

/* Names from the outermost on, each with its length: any name is told from any two. */
static char *region_key(const struct loci_catalogue *c, const struct loci_region_row *region)
{
	const struct loci_region_row *outer = loci_catalogue_find_region(c, region->parent_id);
	loci_autofree char *above = outer ? region_key(c, outer) : NULL;
	char *key;

	if ((outer && !above) ||
		asprintf(&key, "%s%zu:%s", above ? above : "", strlen(region->name), region->name) <
			0)
		return NULL;
	return key;
}

static char *key_of(const struct loci_blame *blame, size_t i)
{
	const struct loci_catalogue *c = blame->catalogue;

	switch (blame->kind) {
	case LOCI_BLAME_OBJECT:
		return object_key(c, &c->object[i]);
	case LOCI_BLAME_REGION:
		return region_key(c, &c->region[i]);
	default:
		return strdup(c->site[i].site_key ? c->site[i].site_key : "");
	}
}

/* Row of each serial: rows are sorted by misses. */
static int rows_by_serial(
	const struct loci_blame *blame, const struct loci_blame_row ***ret, struct loci_err *err)
{
	*ret = calloc(blame->n_rows + 1, sizeof(**ret));
	if (!*ret)
		return loci_err_nomem(err);
	for (size_t i = 0; i < blame->n_rows; i++)
		(*ret)[blame->row[i].serial] = &blame->row[i];
	return 0;
}

static int list_items(const struct loci_blame *blame, struct items *ret, struct loci_err *err)
{
	const struct loci_blame_index *index = blame->index;
	loci_autofree const struct loci_blame_row **of = NULL;

	*ret = (struct items){ .item = calloc(index->n + 1, sizeof(*ret->item)) };
	if (!ret->item)
		return loci_err_nomem(err);
	if (rows_by_serial(blame, &of, err) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < index->n; i++) {
		char *key = key_of(blame, i);

		if (!key)
			return loci_err_nomem(err);
		ret->item[ret->n++] =
			(struct item){ key, of[index->serial_of[i]], index->misses[i] };
	}
	qsort(ret->item, ret->n, sizeof(*ret->item), compare_items);
	return 0;
}

/* The moves of owners: those that are there after by their number there, the others follow. */
struct tally {
	struct loci_moved_row *move;
	double *most;   /* misses of the owner before that gave the most */
	size_t n_after; /* owners after */
};

/* before: of one site or object; after: its owner there, or NULL. */
static void count_before(
	struct tally *tally, const struct item *before, const struct loci_blame_row *after)
{
	size_t at = after ? after->serial : tally->n_after + before->row->serial;
	struct loci_moved_row *move = &tally->move[at];

	move->misses.before += before->misses;
	if (!move->row[0] || before->misses > tally->most[at]) {
		move->row[0] = before->row;
		tally->most[at] = before->misses;
	}
}

static int compare_moves(const void *a, const void *b)
{
	const struct loci_moved_row *p = a, *q = b;
	double x = fabs(p->misses.after - p->misses.before);
	double y = fabs(q->misses.after - q->misses.before);

	if (x != y)
		return x > y ? -1 : 1;
	if (p->misses.before != q->misses.before)
		return p->misses.before > q->misses.before ? -1 : 1;
	return 0;
}

static int match(struct loci_blame *const side[2], struct tally *tally, struct loci_err *err)
{
	loci_cleanup(items_free) struct items before = { 0 }, after = { 0 };
	int r = list_items(side[0], &before, err);

	if (r == 0)
		r = list_items(side[1], &after, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < side[1]->n_rows; i++) {
		struct loci_moved_row *move = &tally->move[side[1]->row[i].serial];

		move->row[1] = &side[1]->row[i];
		move->misses.after = side[1]->row[i].misses;
	}
	for (size_t i = 0; i < before.n; i++) {
		const struct item *found = bsearch(
			&before.item[i], after.item, after.n, sizeof(*after.item), compare_items);

		count_before(tally, &before.item[i], found ? found->row : NULL);
	}
	return 0;
}

static int find_moves(struct loci_blame *const side[2], size_t max_rows,
	struct loci_moved_row **ret, size_t *ret_n, struct loci_err *err)
{
	double whole = fmax(side[0]->misses, side[1]->misses);
	size_t n = side[0]->n_rows + side[1]->n_rows;
	loci_autofree double *most = calloc(n + 1, sizeof(double));
	struct tally tally = {
		.move = calloc(n + 1, sizeof(*tally.move)), .most = most, .n_after = side[1]->n_rows
	};
	int r;

	*ret = tally.move;
	*ret_n = 0;
	if (!most || !tally.move)
		return loci_err_nomem(err);
	r = match(side, &tally, err);
	if (r < 0)
		return r;
	qsort(tally.move, n, sizeof(*tally.move), compare_moves);
	for (size_t i = 0; i < n && i < max_rows; i++, (*ret_n)++) {
		struct loci_moved_row *move = &tally.move[i];

		if (!(fabs(move->misses.after - move->misses.before) > LEAST * whole))
			break;
		for (unsigned k = 0; k < 2; k++)
			if (move->row[k] &&
				(r = loci_blame_look(
					 side[k], move->row[k], &move->detail[k], err)) < 0)
				return r;
	}
	return 0;
}

static int blame_both(
	struct loci_moved *moved, const struct loci_subject *const subject[2], struct loci_err *err)
{
	for (unsigned i = 0; i < 2; i++) {
		struct loci_blame_levels levels;
		int r;

		loci_blame_level_of(subject[i], &moved->catalogue[i], &moved->cache, &levels);
		if ((r = loci_blame_new(&moved->catalogue[i], subject[i], &levels, LOCI_BLAME_LINE,
			     &moved->lines[i], err)) < 0 ||
			(r = loci_blame_new(&moved->catalogue[i], subject[i], &levels,
				 LOCI_BLAME_OBJECT, &moved->objects[i], err)) < 0 ||
			(r = loci_blame_new(&moved->catalogue[i], subject[i], &levels,
				 LOCI_BLAME_REGION, &moved->regions[i], err)) < 0)
			return r;
		moved->is_estimate |= moved->lines[i]->is_estimate;
	}
	return 0;
}

int loci_moved_new(const struct loci_subject *before, const struct loci_subject *after,
	size_t max_rows, struct loci_moved *ret, struct loci_err *err)
{
	const struct loci_subject *subject[2] = { before, after };
	struct loci_blame_levels levels;
	int r;

	*ret = (struct loci_moved){ 0 };
	for (unsigned i = 0; i < 2; i++) {
		r = loci_catalogue_load(&ret->catalogue[i], subject[i]->profile, err);
		if (r < 0 || !ret->catalogue[i].n_site)
			return r;
	}
	if (loci_blame_levels(after, &ret->catalogue[1], NULL, &levels, NULL) < 0)
		return 0;
	ret->cache = levels.level[levels.chosen].cache;
	if ((r = blame_both(ret, subject, err)) < 0 ||
		(r = find_moves(ret->lines, max_rows, &ret->line, &ret->n_lines, err)) < 0 ||
		(r = find_moves(ret->regions, max_rows, &ret->region, &ret->n_regions, err)) < 0)
		return r;
	return find_moves(ret->objects, max_rows, &ret->object, &ret->n_objects, err);
}

void loci_moved_fini(struct loci_moved *moved)
{
	for (unsigned i = 0; i < 2; i++) {
		loci_blame_free(moved->lines[i]);
		loci_blame_free(moved->objects[i]);
		loci_blame_free(moved->regions[i]);
	}
	free(moved->line);
	free(moved->object);
	free(moved->region);
	*moved = (struct loci_moved){ 0 };
}
