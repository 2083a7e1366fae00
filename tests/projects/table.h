/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of words and how often each was added. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
struct table;
struct table *table_new(void);
void table_add(struct table *table, const char *word);
/* By count, then by name. Words live as long as the table. */
size_t table_sorted(struct table *table, const char **word, unsigned *count, size_t max);
void table_free(struct table *table);
#ifdef __cplusplus
}
#endif

#endif
