// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link_runtime.h"

#include "base/cleanup.h"
#include "collect/toolchain.h"

#include <stdio.h>
#include <string.h>

void loci_link_word(const struct loci_link *link, const char *word)
{
	if (link->joins) {
		loci_words_add(link->words, "-Wl,%s", word);
	} else {
		loci_words_add(link->words, "-Xlinker");
		loci_words_add(link->words, "%s", word);
	}
}

/* Whatever commas or spaces its path has, and whatever -x says of files. */
static void add_file(const struct loci_link *link, const char *path)
{
	if (!link->joins)
		loci_words_add(link->words, "-Xlinker");
	loci_words_add(link->words, "%s", path);
}

bool loci_link_wants_runtime(const struct loci_compile_line *line)
{
	if (!line->links || line->relocatable || (line->freestanding && line->without_libc))
		return false;
	return !(line->makes_static && line->makes_shared); /* leaves names open anyway */
}

int loci_link_wraps(const struct loci_link *link, const char *list, struct loci_err *err)
{
	char path[PATH_MAX], option[128];
	loci_autofree char *text = NULL;
	size_t size = 0;
	int r = loci_toolchain_file(link->dir, list, path, err);
	loci_autofclose FILE *file = r < 0 ? NULL : fopen(path, "re");

	while (file && getline(&text, &size, file) > 0) {
		text[strcspn(text, " \t\n#")] = 0;
		if (!text[0])
			continue;
		snprintf(option, sizeof(option), "--wrap=%s", text);
		loci_link_word(link, option);
	}
	return r;
}

static int add_shared(
	const struct loci_link *link, const struct loci_compile_line *line, struct loci_err *err)
{
	char path[PATH_MAX];
	int r = loci_toolchain_file(link->dir, "libloci-rt.so", path, err);

	loci_link_word(link, "--push-state");
	loci_link_word(link, line->without_libc ? "--as-needed" : "--no-as-needed");
	add_file(link, path);
	loci_link_word(link, "--pop-state");
	return r;
}

int loci_link_archive(
	const struct loci_link *link, const char *file, bool whole, struct loci_err *err)
{
	char path[PATH_MAX];
	int r = loci_toolchain_file(link->dir, file, path, err);

	loci_link_word(link, "--push-state");
	if (whole)
		loci_link_word(link, "--whole-archive");
	add_file(link, path);
	loci_link_word(link, "--pop-state");
	return r;
}

/* In a static program nothing stands before the C library's functions: the linker leads calls of
 * some of them to the runtime. */
static int add_static(
	const struct loci_link *link, const struct loci_compile_line *line, struct loci_err *err)
{
	int r = loci_link_archive(link, "libloci-rt.a", !line->without_libc, err);

	return r < 0 || line->without_libc ? r : loci_link_wraps(link, "wrapped.txt", err);
}

int loci_link_runtime(
	const struct loci_link *link, const struct loci_compile_line *line, struct loci_err *err)
{
	if (!loci_link_wants_runtime(line))
		return 0;
	return line->makes_static ? add_static(link, line, err) : add_shared(link, line, err);
}
