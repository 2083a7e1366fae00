// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/unseen.h"

#include "analyse/grow.h"

int loci_unseen_add(struct loci_unseen *unseen, const char *library, uint64_t calls)
{
	const char *slash = strrchr(library, '/');
	const char *name = slash ? slash + 1 : library;
	struct loci_unseen_library *new;

	for (size_t i = 0; i < unseen->n; i++)
		if (!strcmp(unseen->library[i].name, name)) {
			unseen->library[i].calls += calls;
			return 0;
		}
	if (loci_grow(&unseen->library, &unseen->cap, unseen->n + 1, sizeof(*unseen->library)) < 0)
		return -ENOMEM;
	new = &unseen->library[unseen->n];
	*new = (struct loci_unseen_library){ .name = strdup(name), .calls = calls };
	if (!new->name)
		return -ENOMEM;
	unseen->n++;
	return 0;
}

int loci_unseen_merge(struct loci_unseen *into, const struct loci_unseen *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (loci_unseen_add(into, from->library[i].name, from->library[i].calls) < 0)
			return -ENOMEM;
	return 0;
}

void loci_unseen_fini(struct loci_unseen *unseen)
{
	for (size_t i = 0; i < unseen->n; i++)
		free(unseen->library[i].name);
	free(unseen->library);
	*unseen = (struct loci_unseen){ 0 };
}

int loci_unseen_put(
	const struct loci_unseen *unseen, struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < unseen->n; i++)
		if (unseen->library[i].calls)
			r = loci_profile_put_unseen(profile,
				&(struct loci_unseen_calls){
					unseen->library[i].name, unseen->library[i].calls },
				err);
	return r;
}
