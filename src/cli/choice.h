/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which collector a program is recorded by. */
#ifndef LOCI_CLI_CHOICE_H
#define LOCI_CLI_CHOICE_H

#include "base/err.h"
#include "stream/stream.h"

#include <stdbool.h>

struct loci_choice {
	enum loci_collector collector;
	bool unwatched;  /* the program itself was not built by `loci cc`, though that was asked for
			  */
	char words[256]; /* to be said: what was chosen and why; or "" */
};

struct loci_run_options;

/* named: --collector, NULL: the best that works for this program and what is asked of it. A program
 * that is not there is left to the runner to complain about. */
int loci_choose(const char *named, const struct loci_run_options *run, struct loci_choice *ret,
	struct loci_err *err);

#endif
