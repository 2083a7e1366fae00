/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that stand for a compiler share: loci's own options among the compiler's, and
 * the command line that is made of them. */
#ifndef LOCI_CLI_WRAPPER_H
#define LOCI_CLI_WRAPPER_H

#include "collect/toolchain.h"

#include <stdbool.h>
#include <stddef.h>

struct loci_wrapper {
	const char *command; /* "cc" */
	/* borrowed from argv; NULL: not given */
	const char *compiler, *only, *skip, *mpi;
	bool ops;
	char **argv; /* the compiler's part, without a name at its head */
	int argc;
};

/* Takes loci's own options out of argv, which is changed. -1: go on; otherwise the exit status,
 * after help or a mistake. --loci-clang, --loci-flang or --loci-gcc names the compiler, whichever
 * it is; --loci-mpi is taken if `mpi`. gcc cannot be told what to leave out. */
int loci_wrapper_read(struct loci_wrapper *ret, const char *help, enum loci_compiler compiler,
	bool mpi, int argc, char **argv);

/* A command line that is being made. All zero: empty. */
struct loci_words {
	char **at; /* NULL at its end */
	size_t n;
	bool failed; /* memory is short; nothing was added since */
};
void loci_words_add(struct loci_words *words, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void loci_words_free(struct loci_words *words);

/* Becomes the program, and returns only if that failed, with the exit status. */
int loci_words_execute(struct loci_words *words, const char *command);

#endif
