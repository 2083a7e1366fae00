// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link_runtime.h"

#include "base/cleanup.h"
#include "collect/toolchain.h"

#include <stdio.h>
#include <string.h>

void loci_link_word(struct loci_words *words, const char *word)
{
	loci_words_add(words, "-Xlinker");
	loci_words_add(words, "%s", word);
}

bool loci_link_wants_runtime(const struct loci_compile_line *line)
{
	if (!line->links || line->relocatable || (line->freestanding && line->without_libc))
		return false;
	return !(line->makes_static && line->makes_shared); /* leaves names open anyway */
}

int loci_link_wraps(
	struct loci_words *words, const char *dir, const char *list, struct loci_err *err)
{
	char path[PATH_MAX];
	loci_autofree char *text = NULL;
	size_t size = 0;
	int r = loci_toolchain_file(dir, list, path, err);
	loci_autofclose FILE *file = r < 0 ? NULL : fopen(path, "re");

	while (file && getline(&text, &size, file) > 0) {
		text[strcspn(text, " \t\n#")] = 0;
		if (!text[0])
			continue;
		loci_words_add(words, "-Xlinker");
		loci_words_add(words, "--wrap=%s", text);
	}
	return r;
}

static int add_shared(struct loci_words *words, const char *dir,
	const struct loci_compile_line *line, struct loci_err *err)
{
	char path[PATH_MAX];
	int r = loci_toolchain_file(dir, "libloci-rt.so", path, err);

	loci_link_word(words, "--push-state");
	loci_link_word(words, line->without_libc ? "--as-needed" : "--no-as-needed");
	loci_link_word(words, path);
	loci_link_word(words, "--pop-state");
	return r;
}

int loci_link_archive(struct loci_words *words, const char *dir, const char *file, bool whole,
	struct loci_err *err)
{
	char path[PATH_MAX];
	int r = loci_toolchain_file(dir, file, path, err);

	loci_link_word(words, "--push-state");
	if (whole)
		loci_link_word(words, "--whole-archive");
	loci_link_word(words, path);
	loci_link_word(words, "--pop-state");
	return r;
}

/* In a static program nothing stands before the C library's functions: the linker leads calls of
 * some of them to the runtime. */
static int add_static(struct loci_words *words, const char *dir,
	const struct loci_compile_line *line, struct loci_err *err)
{
	int r = loci_link_archive(words, dir, "libloci-rt.a", !line->without_libc, err);

	return r < 0 || line->without_libc ? r : loci_link_wraps(words, dir, "wrapped.txt", err);
}

int loci_link_runtime(struct loci_words *words, const char *dir,
	const struct loci_compile_line *line, struct loci_err *err)
{
	if (!loci_link_wants_runtime(line))
		return 0;
	return line->makes_static ? add_static(words, dir, line, err)
				  : add_shared(words, dir, line, err);
}
