/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that allocate on behalf of their callers, told by their names: what they allocate is
 * named after the call outside them. */
#ifndef LOCI_ANALYSE_OBJECT_WRAPPER_H
#define LOCI_ANALYSE_OBJECT_WRAPPER_H

enum loci_wrapper {
	LOCI_WRAPPER_NONE,
	LOCI_WRAPPER_LIKELY, /* by a word in its name; a field assigned in it is telling enough */
	LOCI_WRAPPER_SURE,   /* known, or inside a library of containers */
};

/* function as in the source, demangled; NULL is none. */
enum loci_wrapper loci_wrapper_of(const char *function);

#endif
