/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From time distances to caches: StatStack (Eklov and Hagersten 2010), Shen et al. (2007),
 * StatCache (Berg and Hagersten 2004). All take binned, weighted input, in which the values of a
 * bin are spread evenly. */
#ifndef LOCI_MODEL_CONVERT_H
#define LOCI_MODEL_CONVERT_H

#include "hist/hist.h"

enum loci_conversion { LOCI_CONVERT_NONE, LOCI_CONVERT_STATSTACK, LOCI_CONVERT_SHEN };
const char *loci_conversion_name(enum loci_conversion conversion); /* "StatStack", "Shen" */

/* time: cold counts as never reused. ret_stack is initialised by the callee, fine bins, and holds
 * nothing to free on failure (-ENOMEM). */
int loci_convert_statstack(const struct loci_hist *time, struct loci_hist *ret_stack);
/* The same, where stack distances are known of some of these reuses: near, and near_time, the time
 * distances of the same. NULL: of none. */
int loci_convert_statstack_near(const struct loci_hist *time, const struct loci_hist *near,
	const struct loci_hist *near_time, struct loci_hist *ret_stack);
int loci_convert_shen(
	const struct loci_hist *time, double distinct_blocks, struct loci_hist *ret_stack);
/* By the conversion named; NONE is -EINVAL. */
int loci_convert(enum loci_conversion conversion, const struct loci_hist *time,
	double distinct_blocks, struct loci_hist *ret_stack);
/* Miss ratio of a random-replacement cache of this many lines. With distinct_blocks the run is
 * taken to start on an empty cache, whose first misses evict nothing (Berg and Hagersten let them
 * evict, which costs several points on short runs); 0 is a window of a longer run, on a full one.
 */
double loci_convert_statcache(const struct loci_hist *time, double distinct_blocks, uint64_t lines);

#endif
