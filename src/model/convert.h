/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From time distances to caches (METHODS 7): StatStack (Eklov and Hagersten 2010), Shen et al.
 * (2007), StatCache (Berg and Hagersten 2004). All take binned, weighted input. */
#ifndef LOCI_MODEL_CONVERT_H
#define LOCI_MODEL_CONVERT_H

#include "hist/hist.h"

/* time: cold counts as never reused. ret_stack is initialised by the callee. */
int loci_convert_statstack(const struct loci_hist *time, struct loci_hist *ret_stack);
int loci_convert_shen(const struct loci_hist *time, double distinct_blocks,
	struct loci_hist *ret_stack);
/* Miss ratio of a random-replacement cache of this many lines. */
double loci_convert_statcache(const struct loci_hist *time, double distinct_blocks, uint64_t lines);

#endif
