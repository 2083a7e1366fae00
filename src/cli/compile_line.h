/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a compiler's command line asks for, as far as it decides what `loci cc` adds. */
#ifndef LOCI_CLI_COMPILE_LINE_H
#define LOCI_CLI_COMPILE_LINE_H

#include <stdbool.h>

struct loci_compile_line {
	bool has_input; /* a file that is there, or - */
	bool links;     /* such a file that is no header, and nothing says that it stops before */
	bool makes_shared, makes_static, relocatable;
	bool without_libc; /* the libraries are named by the caller: -nostdlib and its like */
	bool freestanding; /* code that must not depend on a library */
	bool foreign;      /* code for another machine, or for 32 bits */
	bool internal;     /* clang's own interior (-cc1): nothing may be added */
	bool lto;          /* of the whole program: not -flto=thin */
	bool lld;
	int end; /* index in argv: from here on all are files ("--"); argc if there is no such place
		  */
};

/* argv without the program's name. Response files (@file) are looked into. */
void loci_compile_line_read(struct loci_compile_line *ret, int argc, char **argv);

#endif
