// SPDX-License-Identifier: GPL-2.0-or-later
/* Distinct bytes, and the smallest memories that hold shares of the accesses. */
#include "analyse/publish_state.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

/* Functions that begin at different sites may have one name. */
static int by_function(const void *left, const void *right)
{
	const struct loci_footprint_row *a = left, *b = right;

	return (a->owner_id > b->owner_id) - (a->owner_id < b->owner_id);
}

/* Until they are complete, the error is a variance. */
static size_t join(struct loci_footprint_row *row, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(row, n, sizeof(*row), by_function);
	for (size_t i = 0; i < n; i++) {
		struct loci_footprint_row *last = kept ? &row[kept - 1] : NULL;

		if (!last || last->owner_id != row[i].owner_id) {
			row[kept++] = row[i];
			continue;
		}
		last->loaded_bytes += row[i].loaded_bytes;
		last->stored_bytes += row[i].stored_bytes;
		last->touched_bytes += row[i].touched_bytes;
		last->error += row[i].error;
	}
	for (size_t i = 0; i < kept; i++)
		row[i].error = row[i].touched_bytes > 0
			? 1.96 * sqrt(row[i].error) / row[i].touched_bytes
			: 0;
	return kept;
}

static int put_functions(struct loci_publication *p, int64_t id, struct loci_err *err)
{
	const struct loci_footprint_sum *sum = &p->ledger->footprint;
	loci_autofree struct loci_footprint_row *row = calloc(sum->n_functions + 1, sizeof(*row));
	size_t n = 0;
	int r = 0;

	if (!row)
		return loci_err_nomem(err);
	for (size_t i = 0; r == 0 && i < sum->n_functions; i++) {
		const struct loci_footprint_bytes *from = &sum->function[i];

		row[n] = (struct loci_footprint_row){ .owner = LOCI_OWNER_FUNCTION,
			.loaded_bytes = from->loaded,
			.stored_bytes = from->stored,
			.touched_bytes = from->touched,
			.error = from->variance };
		r = loci_naming_entry(
			&p->naming, &p->ledger->site[from->function].site, &row[n].owner_id, err);
		n += row[n].owner_id != 0;
	}
	n = join(row, n);
	for (size_t i = 0; r == 0 && i < n; i++) {
		row[i].id = ++id;
		r = loci_profile_put_footprint(p->profile, &row[i], err);
	}
	return r;
}

int loci_publish_footprints(struct loci_publication *p, struct loci_err *err)
{
	struct loci_footprint_sum *sum = &p->ledger->footprint;
	int r;

	/* a sum over some processes would pass for one over all */
	if (!sum->recorded || sum->dropped)
		return 0;
	r = loci_profile_put_footprint(p->profile,
		&(struct loci_footprint_row){ .id = 1,
			.owner = LOCI_OWNER_WHOLE,
			.loaded_bytes = (double)sum->loaded_bytes,
			.stored_bytes = (double)sum->stored_bytes,
			.touched_bytes = (double)sum->touched_bytes },
		err);
	if (r == 0)
		r = put_functions(p, 1, err);
	for (unsigned percent = 5; r == 0 && percent <= 100; percent += 5)
		r = loci_profile_put_memory_use(p->profile,
			&(struct loci_memory_use_row){ .percent = percent,
				.bytes = 8 * loci_footprint_words(sum, percent) },
			err);
	return r;
}
