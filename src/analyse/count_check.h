/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what the threads of a process say they executed is what arrived of them. A handler's
 * words may come after those of the thread that it interrupted, so that only the sums are compared,
 * at the end; a thread that was killed has said nothing. */
#ifndef LOCI_ANALYSE_COUNT_CHECK_H
#define LOCI_ANALYSE_COUNT_CHECK_H

#include "stream/decode.h"

#include <stdbool.h>

struct loci_count_said {
	uint64_t references; /* so far */
	uint32_t thread;
};

struct loci_count_check {
	bool has_windows; /* then not all was to arrive */
	struct loci_count_said *said;
	size_t n, cap;
};

void loci_count_check_event(struct loci_count_check *check, const struct loci_event *event);
void loci_count_check_fini(struct loci_count_check *check);
/* What a reader must know, or "". arrived: all references of the process; lost: those that are
 * known to be missing anyway. */
const char *loci_count_check_note(const struct loci_count_check *check, uint64_t arrived,
	uint64_t lost, char *text, size_t size);

#endif
