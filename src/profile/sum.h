/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding up what runs say of themselves. Private to this room. */
#ifndef LOCI_PROFILE_SUM_H
#define LOCI_PROFILE_SUM_H

#include "profile/file.h"

/* Saturates at UINT64_MAX, which a profile refuses. */
static inline uint64_t loci_sum_u64(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* A zeroed element more at the end of *array, whose capacity is its length's next power of two, or
 * NULL. */
void *loci_sum_append(void *array, size_t *n, size_t size);

/* Appends text to *list after "; " unless it stands there already. 0 or -ENOMEM. */
int loci_sum_text(char **list, const char *text);

/* path is the file that run comes from, for the message when the units differ. */
int loci_sum_run(struct loci_run *sum, const struct loci_run *run, bool first, const char *path,
	struct loci_err *err);

#endif
