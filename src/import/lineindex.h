/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the lines of a buffer end. Found for many lines at a time, so that parsing one line does
 * not wait for the end of the line before it. */
#ifndef LOCI_IMPORT_LINEINDEX_H
#define LOCI_IMPORT_LINEINDEX_H

#include <stddef.h>
#include <stdint.h>

#define LOCI_LINE_INDEX_SLACK 64 /* entries that may be written past those returned */

/* Finds the newlines of data[from..to), stops early when fewer than LOCI_LINE_INDEX_SLACK of cap
 * entries are left. Returns their number and in *ret_scanned how far it got. Reads, but does not
 * use, up to 63 bytes after to. */
size_t loci_line_index(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned);

/* The variants, which agree. */
size_t loci_line_index_scalar(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned);
size_t loci_line_index_avx2(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned);

#endif
