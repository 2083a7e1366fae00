/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a profile is worth showing: the rows that together have 99.9 % of the references and of
 * every level's misses, whatever these need in other tables, and the totals of the rest. */
#ifndef LOCI_MODEL_SHOWN_H
#define LOCI_MODEL_SHOWN_H

#include "model/catalogue.h"
#include "model/subject.h"

#define LOCI_SHOWN_COVER 0.999
#define LOCI_SHOWN_FEW   512 /* a table of no more rows is shown whole */
#define LOCI_HIDDEN      UINT32_MAX

/* Which rows of one table are shown, and where. */
struct loci_shown_table {
	uint32_t *place; /* by row: its number among those shown, or LOCI_HIDDEN */
	size_t n;        /* rows of the table */
	uint32_t n_shown;
};

/* What the rows of a table met at the caches named at record time. */
struct loci_met {
	unsigned n_levels;
	double *misses, *writebacks; /* n_levels of each row */
	double *touches;             /* of the first level's blocks */
};

struct loci_shown_rest { /* of the rows that are not shown */
	size_t n;
	double refs, touches;
	double misses[LOCI_LEVELS_MAX], writebacks[LOCI_LEVELS_MAX];
	struct loci_hist hist; /* stack distances of their own, where they have any */
};

/* X(table): by what they met; Y(table): because others name them */
#define LOCI_SHOWN_OWNERS(X) \
	X(site, SITE)        \
	X(object, OBJECT)    \
	X(field, FIELD)      \
	X(access, ACCESS)    \
	X(context, CONTEXT)  \
	X(pair, PAIR)
#define LOCI_SHOWN_NAMED(Y) \
	Y(function)         \
	Y(source)           \
	Y(module)           \
	Y(loop)

#define LOCI_SHOWN_OWNER(name, ...)   \
	struct loci_shown_table name; \
	struct loci_met name##_met;   \
	struct loci_shown_rest name##_rest;
#define LOCI_SHOWN_TABLE(name) struct loci_shown_table name;
struct loci_shown {
	struct loci_catalogue catalogue;
	uint64_t block_bytes; /* of owners' histograms */
	LOCI_SHOWN_OWNERS(LOCI_SHOWN_OWNER)
	LOCI_SHOWN_NAMED(LOCI_SHOWN_TABLE)
	struct loci_shown_table sharing; /* by its own misses */
};

int loci_shown_init(
	struct loci_shown *shown, const struct loci_subject *subject, struct loci_err *err);
void loci_shown_fini(struct loci_shown *shown); /* zeroes allowed */

/* Where the row with this id is shown, or LOCI_HIDDEN: loci_shown_place(shown, site, id). */
#define loci_shown_place(shown, name, id) \
	loci_shown_at(&(shown)->name, (shown)->catalogue.name, sizeof(*(shown)->catalogue.name), id)
uint32_t loci_shown_at(
	const struct loci_shown_table *table, const void *rows, size_t row_bytes, int64_t id);

#endif
