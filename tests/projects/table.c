// SPDX-License-Identifier: GPL-2.0-or-later
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	char *word;
	unsigned count;
};

struct table {
	struct entry *entry;
	size_t room, used;
};

static size_t hash(const char *word)
{
	size_t h = 5381;

	while (*word)
		h = h * 33 + (unsigned char)*word++;
	return h;
}

static struct entry *find(const struct table *table, const char *word)
{
	size_t at = hash(word) % table->room;

	while (table->entry[at].word && strcmp(table->entry[at].word, word) != 0)
		at = (at + 1) % table->room;
	return &table->entry[at];
}

static void grow(struct table *table)
{
	struct table old = *table;

	table->room = old.room * 2;
	table->entry = calloc(table->room, sizeof(*table->entry));
	if (!table->entry)
		abort();
	for (size_t i = 0; i < old.room; i++)
		if (old.entry[i].word)
			*find(table, old.entry[i].word) = old.entry[i];
	free(old.entry);
}

struct table *table_new(void)
{
	struct table *table = malloc(sizeof(*table));

	if (!table)
		abort();
	*table = (struct table){ calloc(8, sizeof(struct entry)), 8, 0 };
	return table;
}

void table_add(struct table *table, const char *word)
{
	struct entry *entry = find(table, word);

	if (!entry->word) {
		if (++table->used * 2 > table->room) {
			grow(table);
			entry = find(table, word);
		}
		entry->word = strdup(word);
	}
	entry->count++;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->word, y->word);
}

size_t table_sorted(struct table *table, const char **word, unsigned *count, size_t max)
{
	struct entry *sorted = calloc(table->used + 1, sizeof(*sorted));
	size_t n = 0;

	for (size_t i = 0; sorted && i < table->room; i++)
		if (table->entry[i].word)
			sorted[n++] = table->entry[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	for (size_t i = 0; i < n && i < max; i++) {
		word[i] = sorted[i].word;
		count[i] = sorted[i].count;
	}
	free(sorted);
	return n < max ? n : max;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->room; i++)
		free(table->entry[i].word);
	free(table->entry);
	free(table);
}
