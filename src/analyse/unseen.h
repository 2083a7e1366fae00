/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls into code that the collector does not see, by library. */
#ifndef LOCI_ANALYSE_UNSEEN_H
#define LOCI_ANALYSE_UNSEEN_H

#include "profile/profile.h"

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
int loci_unseen_put(
	const struct loci_unseen *unseen, struct loci_profile *profile, struct loci_err *err);

#endif
