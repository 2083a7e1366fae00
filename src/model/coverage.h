/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Poor-locality code (Schuff et al. 2010): the fewest sites that cover a share of the reuses that
 * miss a cache, fully associative, of a size given or chosen where a tenth of all reuses miss; and
 * how well another profile finds them (Wall's weight and key matching).
 *
 * A site's misses are here its reuses from the cache's size or more and those lost to another
 * thread's write. First touches, which no size saves and which a sampled profile knows as last
 * touches of other sites, are left out. */
#ifndef LOCI_MODEL_COVERAGE_H
#define LOCI_MODEL_COVERAGE_H

#include "model/catalogue.h"

#define LOCI_COVERAGE_MISS 0.1 /* of the reuses, where the size is chosen by them */
#define LOCI_COVERAGES     4
extern const unsigned loci_coverage_percents[LOCI_COVERAGES]; /* 75, 80, 90, 95 */

struct loci_coverage_options {
	uint64_t block_bytes;
	bool is_private; /* each thread in its own stack; else all in one */
	uint64_t blocks; /* the cache's size; 0: chosen .. */
	double miss;     /* .. the largest at which so much of the reuses miss */
};

struct loci_coverage_site {
	const struct loci_site_row *site;
	double misses;
};

struct loci_coverage {
	struct loci_catalogue catalogue;
	enum loci_distance distance; /* by which sites are judged: STACK or PRIVATE */
	uint64_t block_bytes, blocks;
	bool is_chosen;
	bool is_interpolated;            /* the size lies within bins of the sites' histograms */
	double reuses;                   /* of the whole run, those lost to a write included */
	double missing;                  /* of them, that miss */
	double cold;                     /* first touches, left out */
	struct loci_coverage_site *site; /* the most misses first; none without */
	size_t n_sites;
	double misses; /* of all sites */
};

/* Private distances of a run without threads are the stack's. An error where sites have no
 * distances of the kind. */
int loci_coverage_new(struct loci_profile *profile, const struct loci_coverage_options *options,
	struct loci_coverage *ret, struct loci_err *err);
void loci_coverage_fini(struct loci_coverage *coverage);

/* The fewest sites that have this share of the sites' misses; 0: there are none. */
size_t loci_coverage_sites(const struct loci_coverage *coverage, double share);

/* How well the other's worst sites are the truth's. */
struct loci_rank_row {
	enum loci_distance distance;
	uint64_t blocks;
	unsigned percent;
	size_t sites;        /* n: the fewest of the truth that cover so much */
	double weight_match; /* true misses of the other's first n, of those of the truth's */
	double key_match;    /* share of the truth's first n that are among the other's */
};
#define LOCI_RANK_ROWS (2 * LOCI_COVERAGES)
/* Of stack distances, and of private ones where both profiles know them; sites are matched by key.
 * options->is_private is not looked at; the size is the truth's. ret has room for LOCI_RANK_ROWS.
 */
int loci_rank(struct loci_profile *truth, struct loci_profile *other,
	const struct loci_coverage_options *options, struct loci_rank_row *ret, size_t *ret_n,
	struct loci_err *err);

#endif
