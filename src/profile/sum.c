// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/sum.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR "; "
#define MAX_LIST  4096 /* longer lists end in ".." */

static bool in_list(const char *list, const char *text)
{
	size_t length = strlen(text), gap = strlen(SEPARATOR);

	for (const char *at = list; (at = strstr(at, text)); at++) {
		bool starts = at == list ||
			((size_t)(at - list) >= gap && !memcmp(at - gap, SEPARATOR, gap));

		if (starts && (!at[length] || !strncmp(at + length, SEPARATOR, gap)))
			return true;
		if (!*at)
			break;
	}
	return false;
}

void *loci_sum_append(void *array, size_t *n, size_t size)
{
	void **start = array;

	if ((*n & (*n - 1)) == 0) {
		void *moved = realloc(*start, (*n ? 2 * *n : 1) * size);

		if (!moved)
			return NULL;
		*start = moved;
	}
	return memset((char *)*start + (*n)++ * size, 0, size);
}

int loci_sum_text(char **list, const char *text)
{
	char *longer;

	if (!text || !text[0] || (*list && in_list(*list, text)))
		return 0;
	if (*list && strlen(*list) + strlen(text) > MAX_LIST)
		text = "..";
	if (*list && in_list(*list, text))
		return 0;
	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? SEPARATOR : "", text) < 0)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

static int set_text(char **member, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free(*member);
	*member = copy;
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* How the texts of two runs become one. */

static int join(char **sum, const char *text)
{
	return loci_sum_text(sum, text);
}

static int same_or_mixed(char **sum, const char *text)
{
	return same_text(*sum, text) ? 0 : set_text(sum, "mixed");
}

static int same_or_unknown(char **sum, const char *text)
{
	return same_text(*sum, text) ? 0 : set_text(sum, NULL);
}

/* A sum that includes a sample is a sample. */
static int least_exact(char **sum, const char *text)
{
	return *sum && !strcmp(*sum, "exact") && !same_text(*sum, text) ? set_text(sum, text) : 0;
}

/* UTC in ISO 8601 sorts as text. */
static int earliest(char **sum, const char *text)
{
	return text && (!*sum || strcmp(text, *sum) < 0) ? set_text(sum, text) : 0;
}

static bool has_word(const char *text, const char *word, size_t length)
{
	for (const char *at = text; (at = strstr(at, word)); at += length)
		if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

/* The words that both have; of what is wrong with them, those that either has. */
static int common_words(char **sum, const char *text)
{
	static const char *const faults[] = { "partial", LOCI_RUN_APPROXIMATE };
	char *word, *rest, *save = NULL, *out;
	loci_autofree char *old = *sum;

	*sum = NULL;
	if (!old || !text)
		return 0;
	rest = out = calloc(1, strlen(old) + sizeof(" partial " LOCI_RUN_APPROXIMATE));
	if (!out)
		return -ENOMEM;
	for (word = strtok_r(old, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		bool is_fault = false;

		for (size_t i = 0; i < LOCI_ARRAY_SIZE(faults); i++)
			is_fault |= !strcmp(word, faults[i]);
		if (is_fault || has_word(text, word, strlen(word)))
			rest = stpcpy(stpcpy(rest, rest == out ? "" : " "), word);
	}
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(faults); i++)
		if (has_word(text, faults[i], strlen(faults[i])) &&
			!has_word(out, faults[i], strlen(faults[i])))
			rest = stpcpy(stpcpy(rest, rest == out ? "" : " "), faults[i]);
	*sum = out;
	return 0;
}

static const struct {
	size_t offset;
	int (*add)(char **sum, const char *text);
} texts[] = {
	{ offsetof(struct loci_run, command), join },
	{ offsetof(struct loci_run, collector), same_or_mixed },
	{ offsetof(struct loci_run, origin), same_or_mixed },
	{ offsetof(struct loci_run, mode), least_exact },
	{ offsetof(struct loci_run, unit), same_or_mixed },
	{ offsetof(struct loci_run, capabilities), common_words },
	{ offsetof(struct loci_run, machine), same_or_unknown },
	{ offsetof(struct loci_run, caches), same_or_unknown },
	{ offsetof(struct loci_run, started), earliest },
	{ offsetof(struct loci_run, note), join },
};

static const size_t counts[] = {
	offsetof(struct loci_run, references),
	offsetof(struct loci_run, loads),
	offsetof(struct loci_run, stores),
	offsetof(struct loci_run, fetches),
	offsetof(struct loci_run, bulk),
	offsetof(struct loci_run, lost),
	offsetof(struct loci_run, threads),
	offsetof(struct loci_run, merged),
};

static bool counts_statements(const struct loci_run *run)
{
	return run->capabilities && strstr(run->capabilities, "statement");
}

int loci_sum_run(struct loci_run *sum, const struct loci_run *run, bool first, const char *path,
	struct loci_err *err)
{
	if (!first && !same_text(sum->unit, run->unit))
		return loci_err_set(err, EINVAL,
			"%s: cannot be merged: its unit is %s, that of the profiles before it %s",
			path, run->unit, sum->unit);
	if (!first && counts_statements(sum) != counts_statements(run))
		return loci_err_set(err, EINVAL,
			"%s: cannot be merged: it counts %s (--statement), and those before it do "
			"not",
			path,
			counts_statements(run) ? "elements once per statement" : "every reference");
	if (!first && sum->machine && run->machine && !same_text(sum->machine, run->machine) &&
		loci_sum_text(&sum->note, "recorded on different machines") < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(texts); i++) {
		char **to = (char **)((char *)sum + texts[i].offset);
		const char *from = *(char *const *)((const char *)run + texts[i].offset);

		if ((first ? set_text(to, from) : texts[i].add(to, from)) < 0)
			return loci_err_nomem(err);
	}
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(counts); i++) {
		uint64_t *to = (uint64_t *)((char *)sum + counts[i]);

		*to = loci_sum_u64(*to, *(const uint64_t *)((const char *)run + counts[i]));
	}
	sum->seconds += run->seconds;
	sum->complete = first ? run->complete : sum->complete && run->complete;
	return 0;
}
