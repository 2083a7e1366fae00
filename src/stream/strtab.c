// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/strtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct loci_strtab_entry *find(struct loci_strtab *tab, uint64_t id)
{
	uint32_t i = loci_idmap_get(&tab->ids, id);

	if (i != LOCI_IDMAP_NONE)
		return &tab->entry[i];
	if (tab->n == tab->cap) {
		size_t cap = tab->cap ? 2 * tab->cap : 16;
		void *moved = realloc(tab->entry, cap * sizeof(*tab->entry));

		if (!moved)
			return NULL;
		tab->entry = moved;
		tab->cap = cap;
	}
	if (loci_idmap_put(&tab->ids, id, (uint32_t)tab->n) < 0)
		return NULL;
	tab->entry[tab->n] = (struct loci_strtab_entry){ 0 };
	return &tab->entry[tab->n++];
}

int loci_strtab_add(struct loci_strtab *tab, uint64_t id, const char *bytes, size_t n)
{
	struct loci_strtab_entry *e = find(tab, id);
	size_t used = strnlen(bytes, n);

	if (!e)
		return -ENOMEM;
	if (e->complete)
		e->len = 0;
	if (e->len + used + 1 > e->cap) {
		size_t cap = 2 * (e->len + used) + 1;
		char *moved = realloc(e->text, cap);

		if (!moved)
			return -ENOMEM;
		e->text = moved;
		e->cap = cap;
	}
	if (used)
		memcpy(e->text + e->len, bytes, used);
	e->len += used;
	e->text[e->len] = 0;
	e->complete = used < n;
	return 0;
}

const char *loci_strtab_get(const struct loci_strtab *tab, uint64_t id)
{
	uint32_t i = loci_idmap_get(&tab->ids, id);

	return i == LOCI_IDMAP_NONE ? NULL : tab->entry[i].text;
}

void loci_strtab_fini(struct loci_strtab *tab)
{
	for (size_t i = 0; i < tab->n; i++)
		free(tab->entry[i].text);
	free(tab->entry);
	loci_idmap_fini(&tab->ids);
	*tab = (struct loci_strtab){ 0 };
}
