/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a compiler that links is told to link the runtime, too. */
#ifndef LOCI_CLI_LINK_RUNTIME_H
#define LOCI_CLI_LINK_RUNTIME_H

#include "base/err.h"
#include "cli/compile_line.h"
#include "cli/wrapper.h"

struct loci_link {
	struct loci_words *words; /* where the words go */
	const char *dir;          /* of the runtime */
	bool joins; /* the compiler hands on by -Wl, only, and has no -Xlinker: flang */
};

/* One of the linker's options. */
void loci_link_word(const struct loci_link *link, const char *word);
/* A static library of the runtime's; whole: all of it. */
int loci_link_archive(
	const struct loci_link *link, const char *file, bool whole, struct loci_err *err);
/* Has the linker lead calls of the functions that a file of the directory lists to the runtime. */
int loci_link_wraps(const struct loci_link *link, const char *list, struct loci_err *err);

/* Adds the words of the runtime, if the line links anything that can have it. */
bool loci_link_wants_runtime(const struct loci_compile_line *line);
int loci_link_runtime(
	const struct loci_link *link, const struct loci_compile_line *line, struct loci_err *err);

#endif
