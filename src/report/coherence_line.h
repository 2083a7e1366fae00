/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a run met of each other, in a line. */
#ifndef LOCI_REPORT_COHERENCE_LINE_H
#define LOCI_REPORT_COHERENCE_LINE_H

#include "profile/dimension.h"
#include "report/json.h"

/* "1.2 K misses (900 true, 300 false sharing) of 3.4 M touches, blocks of 64 B; groups of 2, 4";
 * "": no process had threads. A profile whose tables cannot be read has none here. */
const char *loci_coherence_line(struct loci_profile *profile, char *buf, size_t size);
/* Members "coherence" (of the whole run, by block size) and "thread_groups" (how many). */
void loci_coherence_json(struct loci_profile *profile, struct loci_json *json);

#endif
