/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the samples of several processes say, added up. */
#ifndef LOCI_ANALYSE_SAMPLE_SUM_H
#define LOCI_ANALYSE_SAMPLE_SUM_H

#include "base/err.h"
#include "hist/hist.h"
#include "profile/profile.h"

/* In the stack of all threads, or in the threads' own. */
struct loci_sample_hists {
	struct loci_hist distance; /* cold: also last touches and those given up */
	struct loci_hist at_least; /* of those given up: what is known */
};

struct loci_sample_thread {
	uint32_t thread; /* the stream's id */
	struct loci_sample_hists private_;
};

struct loci_sample_sum {
	uint64_t references; /* counted by threads */
	uint64_t analysed;   /* of these, in the stream */
	uint64_t samples, pruned, lost;
	uint64_t unseen;    /* references in windows that the stream does not have */
	uint64_t last_mean; /* the largest mean of a gap */
	/* Of samples that were watched: whose reuse came while they were followed, whose was met by
	 * a watch, and whose never came; and watches given up that no other sample took. Of those
	 * met by a watch: whose distance is known by time alone. */
	uint64_t in_burst, by_watch, never, abandoned, by_time;
	double weight, square; /* of samples: sums, and of their squares */
	double touches, writes, straddles;
	double stores;  /* of references, as is known of samples that were watched */
	double unknown; /* touches: of samples that were watched, those that stand for no outcome */
	bool threads;   /* some process had several */
	struct loci_sample_hists shared, private_; /* of windows around samples */
	struct loci_hist time, time_remote; /* of samples that were watched; by another thread */
	/* Of those, the ones whose stack distance was counted while they were followed, or is known
	 * by samples in between: it, and the same ones' time distances. */
	struct loci_hist near, near_time;
	struct loci_sample_thread *thread; /* of one process */
	size_t n_threads;
};

void loci_sample_sum_init(struct loci_sample_sum *sum);
void loci_sample_sum_fini(struct loci_sample_sum *sum);
/* Room for so many threads of one process. 0 or -ENOMEM, as the next. */
int loci_sample_sum_add_threads(struct loci_sample_sum *sum, size_t n);
/* All but threads. */
int loci_sample_sum_merge(struct loci_sample_sum *into, const struct loci_sample_sum *from);
/* Samples of one weight that would say as much. */
double loci_sample_sum_effective(const struct loci_sample_sum *sum);
/* No sample that was not reused while it was followed was seen to its end: of reuses further away,
 * which are not few, nothing is known. */
bool loci_sample_sum_is_blind(const struct loci_sample_sum *sum);
/* 95 % half-width of miss ratios at the worst size, in points: of chance, and what samples that
 * were given up leave open. */
double loci_sample_sum_error(const struct loci_sample_sum *sum);

struct loci_sampling_row;
/* The grain, its histograms, and how it was sampled. seed, period and the like are given. */
int loci_sample_sum_put(const struct loci_sample_sum *sum, uint64_t block_bytes,
	struct loci_sampling_row *sampling, struct loci_profile *profile, struct loci_err *err);
/* The threads' histograms, of several. first_id: their ids in the profile are the stream's and
 * this. */
int loci_sample_sum_put_threads(const struct loci_sample_sum *sum, uint64_t block_bytes,
	uint32_t first_id, struct loci_profile *profile, struct loci_err *err);

#endif
