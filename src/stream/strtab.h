/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strings of a stream, by id. */
#ifndef LOCI_STREAM_STRTAB_H
#define LOCI_STREAM_STRTAB_H

#include "stream/idmap.h"

#include <stdbool.h>

struct loci_strtab_entry {
	char *text; /* always terminated */
	size_t len, cap;
	bool complete; /* a NUL has been seen */
};

struct loci_strtab {
	struct loci_strtab_entry *entry;
	size_t n, cap;
	struct loci_idmap ids;
};

/* A STRING marker's bytes: appends to an incomplete string, else sets it. 0 or -ENOMEM. */
int loci_strtab_add(struct loci_strtab *tab, uint64_t id, const char *bytes, size_t n);
const char *loci_strtab_get(const struct loci_strtab *tab, uint64_t id); /* NULL: none */
void loci_strtab_fini(struct loci_strtab *tab);

#endif
