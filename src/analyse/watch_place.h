/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of watched samples: sites and calling contexts, by what the collector tells of them. */
#ifndef LOCI_ANALYSE_WATCH_PLACE_H
#define LOCI_ANALYSE_WATCH_PLACE_H

#include "analyse/attribute.h"

struct loci_watch_places;

int loci_watch_places_new(struct loci_watch_places **ret);     /* 0 or -ENOMEM */
void loci_watch_places_free(struct loci_watch_places *places); /* NULL allowed */

struct loci_watch_site {
	uint32_t number;  /* in the code */
	uint8_t op;       /* enum loci_op */
	uint32_t module;  /* the stream's id; LOCI_NO_MODULE: not known */
	uint64_t address; /* run-time: the site, or the code */
	uint64_t code;    /* run-time: its function's first instruction; 0: not known */
};
/* What the collector tells of code: a site, or, where there is no descriptor, the address behind a
 * reference to an object, of which it depends which of the sites in that line is meant. */
struct loci_watch_code {
	uint64_t address, descriptor;
	uint32_t object; /* 0: not known */
	bool writes_only;
};
/* The site, or, if none is in that line, one that is an address of code: a load, or a store if only
 * these are watched. */
int loci_watch_site(struct loci_watch_places *places, struct loci_attribution *a,
	const struct loci_watch_code *code, struct loci_watch_site *ret, struct loci_err *err);

/* The context of code at a site, called by code that it returns to, innermost first. */
int loci_watch_context(struct loci_watch_places *places, struct loci_attribution *a,
	const struct loci_watch_site *site, const uint64_t *back, size_t n, uint32_t *ret,
	struct loci_err *err);

#endif
