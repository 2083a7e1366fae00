// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/mistake.h"

#include "analyse/grow.h"

static struct loci_mistake *find(struct loci_mistakes *mistakes, const char *what)
{
	struct loci_mistake *new;

	for (size_t i = 0; i < mistakes->n; i++)
		if (!strcmp(mistakes->mistake[i].what, what))
			return &mistakes->mistake[i];
	if (loci_grow(&mistakes->mistake, &mistakes->cap, mistakes->n + 1,
		    sizeof(*mistakes->mistake)) < 0)
		return NULL;
	new = &mistakes->mistake[mistakes->n];
	*new = (struct loci_mistake){ .what = strdup(what) };
	if (!new->what)
		return NULL;
	mistakes->n++;
	return new;
}

int loci_mistakes_tell(struct loci_mistakes *mistakes, const char *what, uint64_t times)
{
	struct loci_mistake *mistake = find(mistakes, what);

	if (!mistake)
		return -ENOMEM;
	if (mistake->times < times) /* threads may tell it out of order */
		mistake->times = times;
	return 0;
}

int loci_mistakes_merge(struct loci_mistakes *into, const struct loci_mistakes *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct loci_mistake *mistake = find(into, from->mistake[i].what);

		if (!mistake)
			return -ENOMEM;
		mistake->times += from->mistake[i].times;
	}
	return 0;
}

void loci_mistakes_fini(struct loci_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->n; i++)
		free(mistakes->mistake[i].what);
	free(mistakes->mistake);
	*mistakes = (struct loci_mistakes){ 0 };
}

int loci_mistakes_put(
	const struct loci_mistakes *mistakes, struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < mistakes->n; i++)
		r = loci_profile_put_mistake(profile,
			&(struct loci_mistake_row){ .id = (int64_t)i + 1,
				.what = mistakes->mistake[i].what,
				.times = mistakes->mistake[i].times },
			err);
	return r;
}
