/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tally of words and how often each was added. */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
struct tally;
struct tally *tally_new(void);
void tally_add(struct tally *tally, const char *word);
/* By count, then by name. Words live as long as the tally. */
size_t tally_sorted(struct tally *tally, const char **word, unsigned *count, size_t max);
void tally_free(struct tally *tally);
#ifdef __cplusplus
}
#endif

#endif
