/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs did wrong when they marked regions and objects, as their collectors say it. */
#ifndef LOCI_ANALYSE_MISTAKE_H
#define LOCI_ANALYSE_MISTAKE_H

#include "profile/dimension.h"

struct loci_mistake {
	char *what;
	uint64_t times;
};

struct loci_mistakes {
	struct loci_mistake *mistake;
	size_t n, cap;
};

/* It has happened so often so far. 0 or -ENOMEM, as the next. */
int loci_mistakes_tell(struct loci_mistakes *mistakes, const char *what, uint64_t times);
int loci_mistakes_merge(struct loci_mistakes *into, const struct loci_mistakes *from);
void loci_mistakes_fini(struct loci_mistakes *mistakes);
int loci_mistakes_put(
	const struct loci_mistakes *mistakes, struct loci_profile *profile, struct loci_err *err);

#endif
