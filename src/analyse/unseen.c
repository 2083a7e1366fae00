// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/unseen.h"

#include "analyse/grow.h"

#include <stdio.h>

#define SHOWN 5 /* libraries */

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

static int by_calls(const void *left, const void *right)
{
	const struct loci_unseen_library *a = left, *b = right;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* 1,204,331 */
static const char *grouped(char text[32], uint64_t number)
{
	char *at = text + 31;
	unsigned digits = 0;

	*at = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + number % 10);
		number /= 10;
		digits++;
	} while (number);
	return at;
}

const char *loci_unseen_text(struct loci_unseen *unseen, char *text, size_t size)
{
	size_t used = 0, i;
	char number[32];

	text[0] = '\0';
	if (unseen->n)
		qsort(unseen->library, unseen->n, sizeof(*unseen->library), by_calls);
	for (i = 0; i < unseen->n && i < SHOWN && unseen->library[i].calls; i++) {
		char part[160];
		int n = snprintf(part, sizeof(part), "%s%.100s %s",
			i ? ", " : "calls into unseen code: ", unseen->library[i].name,
			grouped(number, unseen->library[i].calls));

		if (used + (size_t)n >= size)
			break;
		memcpy(text + used, part, (size_t)n + 1);
		used += (size_t)n;
	}
	if (i && i < unseen->n && used + 8 < size)
		strcpy(text + used, ", ..");
	return text;
}
