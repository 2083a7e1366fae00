/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a line table (DWARF 2 to 5, as for this machine): its files, and how its program is
 * to be read. Everything points into the sections. */
#ifndef LOCI_SYMBOL_LINE_HEADER_H
#define LOCI_SYMBOL_LINE_HEADER_H

#include "symbol/debug_bytes.h"

struct loci_line_sections {
	struct loci_debug_bytes lines, line_strings, strings;
};

struct loci_line_file {
	const char *name;
	uint64_t folder;
};

struct loci_line_header {
	unsigned version, offset_bytes;
	unsigned step_bytes; /* of the program's smallest step */
	int line_base;
	unsigned line_range;
	unsigned opcode_base;
	const uint8_t *operands; /* numbers of them, by standard opcode less 1 */
	const char **folders;    /* [0]: of the unit; may be NULL */
	size_t n_folders;
	struct loci_line_file *files; /* [0] of versions before 5 has no name */
	size_t n_files;
	struct loci_debug_bytes program;
};

/* folder: of the unit, or NULL. 0, -ENOMEM, or -EPROTO: it is damaged, or has what compilers for
 * this machine do not write. */
int loci_line_header_read(struct loci_line_header *ret, const struct loci_line_sections *sections,
	uint64_t offset, const char *folder);
void loci_line_header_fini(struct loci_line_header *header);

#endif
