/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a program was built by `loci cc` or `loci gcc`: a look at its file's sections. */
#ifndef LOCI_COLLECT_INSTRUMENTED_H
#define LOCI_COLLECT_INSTRUMENTED_H

#include "base/err.h"

#include <stdbool.h>

#define LOCI_RUNTIME_NAME "libloci-rt.so"

struct loci_instrumented {
	bool is_elf;
	bool found;         /* it has functions that tell their references */
	bool by_gcc;        /* all of them as gcc tells them, none of `loci cc` */
	bool needs_runtime; /* as a shared library */
	unsigned version;   /* of the definitions, as cc_abi.h has it; 0: not known */
};

/* A file that is no 64-bit ELF file of this machine's, or is damaged, is not instrumented. -EPROTO:
 * it is, by a loci of another version; else an error only where the file cannot be read. */
int loci_instrumented_look(const char *path, struct loci_instrumented *ret, struct loci_err *err);

#endif
