/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what a thread says it executed is what arrived of it. */
#ifndef LOCI_ANALYSE_COUNT_CHECK_H
#define LOCI_ANALYSE_COUNT_CHECK_H

#include "stream/decode.h"

#include <stdbool.h>

struct loci_count_check {
	bool has_windows; /* then not all was to arrive */
	bool differs;
	uint64_t said, arrived; /* of the first thread where they differ */
};

/* arrived: the references of the event's thread so far. */
void loci_count_check_event(
	struct loci_count_check *check, const struct loci_event *event, uint64_t arrived);
/* What a reader must know, or "". lost: references that are known to be missing anyway. */
const char *loci_count_check_note(
	const struct loci_count_check *check, uint64_t lost, char *text, size_t size);

#endif
