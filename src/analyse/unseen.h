/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into code that the collector does not see, by library. */
#ifndef LOCI_ANALYSE_UNSEEN_H
#define LOCI_ANALYSE_UNSEEN_H

#include <stddef.h>
#include <stdint.h>

struct loci_unseen_library {
	char *name;
	uint64_t calls;
};

struct loci_unseen {
	struct loci_unseen_library *library;
	size_t n, cap;
};

int loci_unseen_add(struct loci_unseen *unseen, const char *library, uint64_t calls); /* -ENOMEM */
int loci_unseen_merge(struct loci_unseen *into, const struct loci_unseen *from);
void loci_unseen_fini(struct loci_unseen *unseen);
/* "calls into unseen code: libm.so.6 1,204,331, libz.so.1 17", the most first, as many as there is
 * room for. Returns text; "" where there are none. */
const char *loci_unseen_text(struct loci_unseen *unseen, char *text, size_t size);

#endif
