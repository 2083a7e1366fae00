/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block that ran many times in equal steps (stream's RUN). For the attribution's own files. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_REPEAT_H
#define LOCI_ANALYSE_ATTRIBUTE_REPEAT_H

#include "analyse/attribute.h"
#include "stream/decode_runs.h"
#include "stream/repeat.h"

/* Of the current thread; its definitions have been learnt. */
int loci_attribution_repeat(
	struct loci_attribution *a, const struct loci_repeat *repeat, struct loci_err *err);

/* attribute.c: the executions of blocks from the words, the first of which has been found; and a
 * reference by itself. */
int loci_attribution_runs(struct loci_attribution *a, struct loci_runs *runs, struct loci_err *err);
int loci_attribution_alone(
	struct loci_attribution *a, const struct loci_ref *ref, struct loci_err *err);

#endif
