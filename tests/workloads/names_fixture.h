/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types and probes shared by the programs whose names the tests of src/symbol look up, and by the
 * tests, which compare what the debug information says with what the compiler says.
 *
 * The programs print what is true of them, a line each:
 *	local FUNCTION NAME OFFSET BYTES PC	a variable of a frame; PC lies in its scope
 *	alloc PC				a return address of an allocation
 * Addresses are those of the file. */
#ifndef LOCI_TESTS_NAMES_FIXTURE_H
#define LOCI_TESTS_NAMES_FIXTURE_H

#include <stdint.h>

struct point {
	int x, y;
};

struct tree_node {
	long key;
	struct tree_node *child[2];
	struct point pos;
	union {
		double real;
		uint8_t raw[8];
	};
	unsigned low : 3, high : 9;
	const char *name;
	struct {
		short a;
		struct point corner;
	} box;
	int (*compare)(const void *, const void *);
	char tail[5];
};

typedef struct {
	float r, g, b;
} colour_t;

#endif
