/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes and counts as people write and read them. Bytes use powers of 1024 ("48 KiB"), counts
 * powers of 1000 ("1.03 G"). */
#ifndef LOCI_BASE_UNITS_H
#define LOCI_BASE_UNITS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define LOCI_UNITS_MAX 32

/* "64", "32K", "1.25M", "2G", "512KiB", "4KB" (all powers of 1024), in bytes. The whole text must
 * be a size; fractions must come out as whole bytes. */
int loci_units_parse_bytes(const char *text, uint64_t *ret, struct loci_err *err);

/* A plain whole number, decimal or 0x hexadecimal. */
int loci_units_parse_u64(const char *text, uint64_t *ret, struct loci_err *err);

/* Three significant digits: "64 B", "1.25 MiB". Returns buf. */
const char *loci_units_bytes(char buf[LOCI_UNITS_MAX], double bytes);

/* The compact form of the cache grammar: "64", "48K", "1.25M"; exact, or plain bytes. */
const char *loci_units_size(char buf[LOCI_UNITS_MAX], uint64_t bytes);

/* "712", "1.03 G". Returns buf. */
const char *loci_units_count(char buf[LOCI_UNITS_MAX], double count);

/* Of errors: "0.35", "2.2", "16", "100". */
const char *loci_units_points(char buf[LOCI_UNITS_MAX], double points);

/* "850 ms", "16.8 s", "2 min 05 s". */
const char *loci_units_seconds(char buf[LOCI_UNITS_MAX], double seconds);

static inline bool loci_is_power_of_2(uint64_t n)
{
	return n && !(n & (n - 1));
}

#endif
