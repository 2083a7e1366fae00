// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/row.h"

#include "analyse/batch.h"
#include "analyse/grow.h"

static const uint32_t never;

int loci_rows_init(struct loci_rows *rows)
{
	*rows = (struct loci_rows){ .n = 1 };
	return loci_grow(&rows->row, &rows->cap, 1, sizeof(*rows->row));
}

void loci_rows_fini(struct loci_rows *rows)
{
	free(rows->row);
	free(rows->site);
	loci_keymap_fini(&rows->ids);
	*rows = (struct loci_rows){ 0 };
}

int loci_rows_reserve(struct loci_rows *rows, size_t n_sites)
{
	size_t from = rows->site_cap;

	if (loci_grow_lines(&rows->site, &rows->site_cap, n_sites, sizeof(*rows->site)) < 0)
		return -ENOMEM;
	for (; from < rows->site_cap; from++)
		rows->site[from].serial = &never;
	return 0;
}

/* A majority vote (Boyer and Moore 1981), by runs of one stride. */
static void vote(struct loci_row *row, int64_t stride, uint64_t n)
{
	if (row->stride == stride) {
		row->votes += n;
	} else if (n > row->votes) {
		row->stride = stride;
		row->votes = n - row->votes;
	} else {
		row->votes -= n;
	}
}

void loci_rows_settle_near(struct loci_rows *rows, struct loci_row_site *site)
{
	struct loci_row *row = &rows->row[site->row];

	for (unsigned i = 0; i < LOCI_RECENT; i++) {
		row->near[i] += site->near[i];
		site->near[i] = 0;
	}
}

void loci_rows_settle(struct loci_rows *rows, struct loci_row_site *site)
{
	struct loci_row *row = &rows->row[site->row];
	uint64_t regular = site->refs - site->irregular;

	row->refs += site->refs;
	row->regular += regular;
	if (regular)
		vote(row, site->stride, regular);
	site->refs = site->irregular = 0;
	loci_rows_settle_near(rows, site);
}

void loci_rows_near(
	struct loci_rows *rows, struct loci_row_site *site, unsigned distance, uint64_t n)
{
	rows->row[site->row].near[distance] += n;
}

/* What n steps of the site's stride change, but for where it is: after 16 at most they are regular
 * and nothing is new. */
static void agree(struct loci_row_site *site, uint64_t n)
{
	uint16_t history = site->history;

	if (history == LOCI_ROW_HISTORY)
		return;
	site->previous = site->stride;
	for (; n && history != LOCI_ROW_HISTORY; n--) {
		history = (uint16_t)(history << 1 | 1);
		site->irregular += (uint16_t)(history | (history + 1)) != UINT16_MAX;
	}
	site->history = history;
}

void loci_rows_steps(
	struct loci_rows *rows, struct loci_row_site *site, uint64_t step, uint64_t n, uint64_t low)
{
	for (; n && (int64_t)step != site->stride; n--)
		loci_rows_step(rows, site, site->last + step, low);
	if (!n)
		return;
	site->last += n * step;
	if (n >= LOCI_ROW_MOST - site->refs)
		loci_rows_settle(rows, site);
	agree(site, n);
	site->refs += (uint32_t)n;
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

static void locate(struct loci_row *row, uint64_t offset)
{
	uint64_t difference;

	if (offset == LOCI_NO_OFFSET || row->divisor == 1) {
		row->divisor = 1;
		return;
	}
	difference = offset > row->first_offset ? offset - row->first_offset
						: row->first_offset - offset;

	if (!(row->divisor & (row->divisor - 1)) && !(difference & (row->divisor - 1)))
		return; /* most are powers of two, or none yet */
	/* a short division where the numbers are short: it is several times faster */
	if (row->divisor && (difference | row->divisor) >> 32 == 0 &&
		(uint32_t)difference % (uint32_t)row->divisor == 0)
		return;
	row->divisor = gcd(row->divisor, difference);
}

/* Which offsets will tell the row something: its divisor is mostly a power of two. */
static void watch(struct loci_row_site *site, const struct loci_row *row)
{
	uint64_t mask = row->divisor - 1;

	site->first_offset = row->first_offset;
	site->offset_mask = row->divisor & mask ? UINT64_MAX : mask;
}

static int find_row(
	struct loci_rows *rows, uint32_t site, uint32_t object, uint64_t offset, uint32_t *ret)
{
	uint64_t key = (uint64_t)site << 32 | object;

	*ret = loci_keymap_get(&rows->ids, key, 0);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	if (rows->n == (size_t)1 << LOCI_ROW_BITS) {
		rows->full = true;
		*ret = LOCI_NO_ROW;
		return 0;
	}
	*ret = (uint32_t)rows->n;
	if (loci_grow(&rows->row, &rows->cap, rows->n + 1, sizeof(*rows->row)) < 0 ||
		loci_keymap_put(&rows->ids, key, 0, *ret) < 0)
		return -ENOMEM;
	rows->row[rows->n++] =
		(struct loci_row){ .site = site, .object = object, .first_offset = offset };
	return 0;
}

int loci_rows_move(struct loci_rows *rows, uint32_t number, const struct loci_object_hit *hit,
	uint64_t offset, uint32_t born)
{
	struct loci_row_site *site = &rows->site[number];
	uint32_t row = site->row;

	if (row == LOCI_NO_ROW || rows->row[row].object != hit->object) {
		if (find_row(rows, number, hit->object, offset, &row) < 0)
			return -ENOMEM;
		if (row != site->row)
			loci_rows_settle(rows, site);
		site->row = row;
	}
	site->low = hit->low;
	site->bytes = hit->bytes;
	site->serial = hit->serial ? hit->serial : &never;
	site->seen = hit->serial ? hit->seen : 0;
	site->framed = hit->framed;
	site->generation = (uint16_t)hit->generation;
	site->born = born;
	locate(&rows->row[row], offset);
	watch(site, &rows->row[row]);
	return 0;
}

void loci_rows_start(struct loci_row_site *site, uint64_t address)
{
	site->started = true;
	site->last = address;
	site->refs++;
	site->irregular++; /* it has no stride */
}

void loci_rows_stray(
	struct loci_rows *rows, struct loci_row_site *site, int64_t stride, uint64_t offset)
{
	struct loci_row *row = &rows->row[site->row];

	if (stride == site->previous) {
		loci_rows_settle(rows, site);
		site->stride = stride;
		site->history = 3;
	}
	locate(row, offset);
	watch(site, row);
}
