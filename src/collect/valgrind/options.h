/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder asked for on the tool's command line. */
#ifndef LOCI_COLLECT_VALGRIND_OPTIONS_H
#define LOCI_COLLECT_VALGRIND_OPTIONS_H

#include "collect/valgrind/core.h"

struct options {
	const HChar *run_dir; /* NULL: nobody listens */
	Bool kernel;          /* system calls' references too */
	Bool windows;         /* look at the run's control file */
	Bool start;           /* record from the beginning on */
	const HChar *only;    /* function names, comma separated, * and ? allowed; NULL: all */
	const HChar *skip;
};

extern struct options options;

Bool options_process(const HChar *arg);
void options_print(void);
void options_print_debug(void);

#endif
