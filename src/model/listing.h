/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source with what each line costs. Inlined code is listed where it stands, under its own function.
 * The text is what the profile holds, else that of the file on disk, which may have changed. */
#ifndef LOCI_MODEL_LISTING_H
#define LOCI_MODEL_LISTING_H

#include "base/lines.h"
#include "model/blame.h"

struct loci_listing_line {
	unsigned number;  /* 0: lines are left out here */
	const char *text; /* NULL: unknown */
	/* What the line does, of all functions that share it; NULL: nothing. */
	const struct loci_blame_row *row;
	double refs, misses;
	struct loci_blame_detail detail;
};

enum loci_listing_text {
	LOCI_LISTING_UNKNOWN,
	LOCI_LISTING_RECORDED,
	LOCI_LISTING_FILE,
	LOCI_LISTING_NEWER_FILE, /* changed after the run: lines may not be those that ran */
};

struct loci_listing {
	const struct loci_function_row *function; /* NULL: a place was asked for */
	const struct loci_source_row *source;     /* NULL: no line is known */
	double refs, misses;                      /* of the function, or of the lines listed */
	double unlined_refs, unlined_misses;      /* of these, what is on no line listed */
	enum loci_listing_text text;
	struct loci_listing_line *line;
	size_t n_lines;
	const struct loci_blame_row *link; /* the worst reuse that ends here, or NULL */
	struct loci_blame_detail link_detail;
	struct loci_lines file;
};

struct loci_listings {
	struct loci_blame *functions, *lines, *links;
	struct loci_listing *listing;
	size_t n;
	bool is_all; /* nothing was asked for by name */
};

/* wanted NULL: functions with at least min_share of the misses, worst first. Else a function by its
 * name, whole or the part after the last "::", or FILE:LINE, FILE whole or the end of a path. What
 * is not there is explained. subject, catalogue and levels are borrowed. */
int loci_listings_new(const struct loci_catalogue *catalogue, const struct loci_subject *subject,
	const struct loci_blame_levels *levels, const char *wanted, double min_share,
	struct loci_listings *ret, struct loci_err *err);
void loci_listings_fini(struct loci_listings *listings);

#endif
