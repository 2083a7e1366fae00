// SPDX-License-Identifier: GPL-2.0-or-later
#include "tally.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	char *word;
	unsigned count;
};

struct tally {
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

static struct entry *find(const struct tally *tally, const char *word)
{
	size_t at = hash(word) % tally->room;

	while (tally->entry[at].word && strcmp(tally->entry[at].word, word) != 0)
		at = (at + 1) % tally->room;
	return &tally->entry[at];
}

static void grow(struct tally *tally)
{
	struct tally old = *tally;

	tally->room = old.room * 2;
	tally->entry = calloc(tally->room, sizeof(*tally->entry));
	if (!tally->entry)
		abort();
	for (size_t i = 0; i < old.room; i++)
		if (old.entry[i].word)
			*find(tally, old.entry[i].word) = old.entry[i];
	free(old.entry);
}

struct tally *tally_new(void)
{
	struct tally *tally = malloc(sizeof(*tally));

	if (!tally)
		abort();
	*tally = (struct tally){ calloc(8, sizeof(struct entry)), 8, 0 };
	return tally;
}

void tally_add(struct tally *tally, const char *word)
{
	struct entry *entry = find(tally, word);

	if (!entry->word) {
		if (++tally->used * 2 > tally->room) {
			grow(tally);
			entry = find(tally, word);
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

size_t tally_sorted(struct tally *tally, const char **word, unsigned *count, size_t max)
{
	struct entry *sorted = calloc(tally->used + 1, sizeof(*sorted));
	size_t n = 0;

	for (size_t i = 0; sorted && i < tally->room; i++)
		if (tally->entry[i].word)
			sorted[n++] = tally->entry[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	for (size_t i = 0; i < n && i < max; i++) {
		word[i] = sorted[i].word;
		count[i] = sorted[i].count;
	}
	free(sorted);
	return n < max ? n : max;
}

void tally_free(struct tally *tally)
{
	for (size_t i = 0; i < tally->room; i++)
		free(tally->entry[i].word);
	free(tally->entry);
	free(tally);
}
