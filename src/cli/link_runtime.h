/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a compiler that links is told to link the runtime, too. */
#ifndef LOCI_CLI_LINK_RUNTIME_H
#define LOCI_CLI_LINK_RUNTIME_H

#include "base/err.h"
#include "cli/compile_line.h"
#include "cli/wrapper.h"

/* As it is, whatever commas or spaces it has, and whatever -x says of files. */
void loci_link_word(struct loci_words *words, const char *word);

/* A static library of that directory; whole: all of it. */
int loci_link_archive(struct loci_words *words, const char *dir, const char *file, bool whole,
	struct loci_err *err);

/* Adds the words of the runtime in that directory, if the line links anything that can have it. */
bool loci_link_wants_runtime(const struct loci_compile_line *line);
int loci_link_runtime(struct loci_words *words, const char *dir,
	const struct loci_compile_line *line, struct loci_err *err);

/* Has the linker lead calls of the functions that a file of the directory lists to the runtime. */
int loci_link_wraps(
	struct loci_words *words, const char *dir, const char *list, struct loci_err *err);

#endif
