/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of distances: log-linear bins, so that every power of two is an edge (exact
 * below 256, then 128 equal bins per power of two; coarse: exact below 16, then 4).
 *
 * Weights are doubles. An exact histogram holds whole numbers, which a double keeps exactly up to
 * 2^53 (14 years of references at 20 million a second); a sampled one holds weights and, in
 * square, their sums of squares. Infinite distances are counters beside the bins, never a bin.
 * Engines count in arrays of their own and hand over here. */
#ifndef LOCI_HIST_H
#define LOCI_HIST_H

#include <stdbool.h>
#include <stdint.h>

enum loci_scheme {
	LOCI_SCHEME_FINE,   /* exact below 256, then 128 bins per power of two */
	LOCI_SCHEME_COARSE, /* exact below 16, then 4 */
	LOCI_SCHEME_LINEAR, /* bin = value, 0..63: positions in a set's LRU list */
};

#define LOCI_FINE_BITS     7 /* log2 of bins per power of two */
#define LOCI_COARSE_BITS   2
#define LOCI_FINE_LINEAR   256 /* values below have a bin each */
#define LOCI_COARSE_LINEAR 16
/* Bins needed for any 64-bit value. */
#define LOCI_FINE_BINS     (LOCI_FINE_LINEAR + (64 - 8) * 128)
#define LOCI_COARSE_BINS   (LOCI_COARSE_LINEAR + (64 - 4) * 4)
#define LOCI_LINEAR_BINS   64

/* An infinite distance: cold, or lost to another thread's write. */
#define LOCI_INFINITE UINT64_MAX

/* Above the linear part the power of two and the next bits of the value name the bin. */
static inline uint32_t loci_bin_fine(uint64_t value)
{
	unsigned log2;

	if (value < LOCI_FINE_LINEAR)
		return (uint32_t)value;
	log2 = 63u - (unsigned)__builtin_clzll(value);
	return LOCI_FINE_LINEAR + ((log2 - 8) << LOCI_FINE_BITS) +
		(uint32_t)((value >> (log2 - LOCI_FINE_BITS)) & 127);
}

static inline uint32_t loci_bin_coarse(uint64_t value)
{
	unsigned log2;

	if (value < LOCI_COARSE_LINEAR)
		return (uint32_t)value;
	log2 = 63u - (unsigned)__builtin_clzll(value);
	return LOCI_COARSE_LINEAR + ((log2 - 4) << LOCI_COARSE_BITS) +
		(uint32_t)((value >> (log2 - LOCI_COARSE_BITS)) & 3);
}

uint32_t loci_bin_of(enum loci_scheme scheme, uint64_t value);
/* The bin holds low <= value < high; high of a logarithmic scheme's last bin is LOCI_INFINITE. */
uint64_t loci_bin_low(enum loci_scheme scheme, uint32_t bin);
uint64_t loci_bin_high(enum loci_scheme scheme, uint32_t bin);

const char *loci_scheme_name(enum loci_scheme scheme); /* "fine", "coarse", "linear" */
int loci_scheme_from_name(const char *name, enum loci_scheme *ret);

struct loci_hist {
	enum loci_scheme scheme;
	uint32_t n_bins; /* bins stored; those beyond are zero */
	double *weight;
	double *square;   /* sums of squared weights; NULL in an exact histogram */
	double cold;      /* first touches */
	double coherence; /* lost to another thread's write */
};

void loci_hist_init(struct loci_hist *hist, enum loci_scheme scheme);
void loci_hist_fini(struct loci_hist *hist);
/* Room for bins 0..n_bins-1, zeroed. 0 or -ENOMEM. */
int loci_hist_reserve(struct loci_hist *hist, uint32_t n_bins);
int loci_hist_add(struct loci_hist *hist, uint64_t value, double weight);
/* Several of one value: their weights' sum, and that of the squares. */
int loci_hist_add_several(struct loci_hist *hist, uint64_t value, double weight, double square);
/* From an engine's counters, trailing zeros dropped. hist must be initialised. */
int loci_hist_from_counts(struct loci_hist *hist, const uint64_t *count, uint32_t n_bins);
int loci_hist_copy(struct loci_hist *to, const struct loci_hist *from);    /* to: uninitialised */
int loci_hist_merge(struct loci_hist *into, const struct loci_hist *from); /* same scheme */

/* Sum of the finite bins. */
double loci_hist_finite(const struct loci_hist *hist);
/* Finite plus infinite: every touch. */
double loci_hist_total(const struct loci_hist *hist);
/* Weight of values >= value, infinite ones not included. A value inside a bin takes its share of
 * the bin (values spread evenly); then *ret_uncertain, if not NULL, is the bin's whole weight, the
 * most the answer can be off, and 0 where value is an edge. */
double loci_hist_at_least(const struct loci_hist *hist, uint64_t value, double *ret_uncertain);
/* The smallest bin edge (exclusive high) below which at least fraction of all touches, infinite
 * ones included, lie; LOCI_INFINITE if the finite ones do not reach it. */
uint64_t loci_hist_percentile(const struct loci_hist *hist, double fraction);

#endif
