// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sharing.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 4 /* file, line (or site), object, field */

/* A row of the table with its two sides in an order that does not depend on who wrote. */
struct half {
	int64_t key[2 * KEYS];
	bool is_false, is_swapped;
	const struct loci_sharing_row *row;
};

static void put_side(const struct loci_catalogue *c, int64_t site_id, int64_t object_id,
	int64_t field_id, int64_t key[KEYS])
{
	const struct loci_site_row *site = loci_catalogue_find_site(c, site_id);

	key[0] = site && site->line ? site->source_id : -1;
	key[1] = site && site->line ? (int64_t)site->line : site_id;
	key[2] = object_id;
	key[3] = field_id;
}

static int compare_keys(const int64_t *a, const int64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static struct half half_of(const struct loci_catalogue *c, const struct loci_sharing_row *row)
{
	struct half half = { .is_false = row->kind && !strcmp(row->kind, "false"), .row = row };
	int64_t writer[KEYS], misser[KEYS];

	put_side(c, row->write_site_id, row->write_object_id, row->write_field_id, writer);
	put_side(c, row->miss_site_id, row->object_id, row->field_id, misser);
	half.is_swapped = compare_keys(writer, misser, KEYS) > 0;
	memcpy(half.key, half.is_swapped ? misser : writer, sizeof(writer));
	memcpy(half.key + KEYS, half.is_swapped ? writer : misser, sizeof(writer));
	return half;
}

/* Those of one case side by side, the one with the most misses first. */
static int compare_halves(const void *a, const void *b)
{
	const struct half *x = a, *y = b;
	int r = compare_keys(x->key, y->key, 2 * KEYS);

	if (r || x->is_false != y->is_false)
		return r ? r : x->is_false - y->is_false;
	if (x->row->misses != y->row->misses)
		return x->row->misses > y->row->misses ? -1 : 1;
	return x->row->id < y->row->id ? -1 : x->row->id > y->row->id;
}

static int compare_cases(const void *a, const void *b)
{
	const struct loci_sharing_case *x = a, *y = b;

	if (x->misses != y->misses)
		return x->misses > y->misses ? -1 : 1;
	/* false sharing is the one that padding cures */
	return y->is_false - x->is_false;
}

static struct loci_sharing_case case_of(const struct loci_catalogue *c, const struct half *half)
{
	const struct loci_sharing_row *row = half->row;

	return (struct loci_sharing_case){
		.is_false = half->is_false,
		.writer = { loci_catalogue_find_site(c, row->write_site_id),
			loci_catalogue_find_object(c, row->write_object_id),
			loci_catalogue_find_field(c, row->write_field_id) },
		.misser = { loci_catalogue_find_site(c, row->miss_site_id),
			loci_catalogue_find_object(c, row->object_id),
			loci_catalogue_find_field(c, row->field_id) },
	};
}

static void add_up(struct loci_sharing *sharing, const struct half *half, size_t n)
{
	struct loci_sharing_case *now = NULL;

	for (size_t i = 0; i < n; i++) {
		bool is_new = !i || half[i].is_false != half[i - 1].is_false ||
			compare_keys(half[i].key, half[i - 1].key, 2 * KEYS);

		if (is_new) {
			now = &sharing->row[sharing->n_rows++];
			*now = case_of(&sharing->catalogue, &half[i]);
		} else {
			now->is_mutual |= half[i].is_swapped != half[i - 1].is_swapped;
		}
		now->misses += half[i].row->misses;
		if (half[i].row->threads > now->threads)
			now->threads = half[i].row->threads;
	}
	qsort(sharing->row, sharing->n_rows, sizeof(*sharing->row), compare_cases);
}

int loci_sharing_new(struct loci_profile *profile, uint64_t block_bytes, struct loci_sharing *ret,
	struct loci_err *err)
{
	const struct loci_catalogue *c = &ret->catalogue;
	struct half *half;
	int r;

	*ret = (struct loci_sharing){ .block_bytes = block_bytes };
	r = loci_catalogue_load(&ret->catalogue, profile, err);
	if (r < 0)
		return r;
	ret->whole = loci_sharing_of(c, LOCI_OWNER_WHOLE, 0, block_bytes);
	for (size_t i = 0; i < c->n_shared_blocks; i++)
		if (c->shared_blocks[i].block_bytes == block_bytes)
			ret->blocks = &c->shared_blocks[i];
	if (!ret->whole)
		return 0;
	half = calloc(c->n_sharing + 1, sizeof(*half));
	ret->row = calloc(c->n_sharing + 1, sizeof(*ret->row));
	if (!half || !ret->row) {
		free(half);
		loci_sharing_fini(ret);
		return loci_err_nomem(err);
	}
	for (size_t i = 0; i < c->n_sharing; i++)
		half[i] = half_of(c, &c->sharing[i]);
	qsort(half, c->n_sharing, sizeof(*half), compare_halves);
	add_up(ret, half, c->n_sharing);
	free(half);
	return 0;
}

void loci_sharing_fini(struct loci_sharing *sharing)
{
	free(sharing->row);
	sharing->row = NULL;
	sharing->n_rows = 0;
}

const struct loci_coherence_row *loci_sharing_of(const struct loci_catalogue *catalogue,
	enum loci_owner owner, int64_t owner_id, uint64_t block_bytes)
{
	for (size_t i = 0; i < catalogue->n_coherence; i++) {
		const struct loci_coherence_row *row = &catalogue->coherence[i];

		if (row->owner == owner && row->owner_id == owner_id &&
			row->block_bytes == block_bytes)
			return row;
	}
	return NULL;
}

bool loci_sharing_is_one(const struct loci_sharing_case *c)
{
	return c->writer.object == c->misser.object && c->writer.field == c->misser.field;
}
