/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of C++ (and older Rust) and Fortran symbols as their source spells them. For C++ the C++
 * run-time library does it; it is loaded when the first such name is met, since most programs need
 * none. Where it is not installed names stay as they are. */
#ifndef LOCI_SYMBOL_DEMANGLE_H
#define LOCI_SYMBOL_DEMANGLE_H

#include "symbol/pool.h"

#include <stdbool.h>

struct loci_demangler {
	void *library;
	char *(*demangle)(const char *, char *, size_t *, int *);
	bool tried;
};

void loci_demangler_fini(struct loci_demangler *demangler);
/* NULL: not mangled, or it cannot be told. */
const char *loci_demangle(
	struct loci_demangler *demangler, struct loci_pool *pool, const char *mangled);

/* demangle_fortran.c */
#define LOCI_FORTRAN_MAIN "main program" /* whose name compilers may not tell */
const char *loci_demangle_fortran(struct loci_pool *pool, const char *mangled);

#endif
