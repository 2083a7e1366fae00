/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes JSON: commas, escapes and indentation kept right, numbers in full. */
#ifndef LOCI_REPORT_JSON_H
#define LOCI_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LOCI_JSON_DEPTH 16

struct loci_json {
	FILE *out;
	unsigned depth;
	bool has_member[LOCI_JSON_DEPTH];
	bool after_key;
	bool is_compact; /* no spaces and new lines: for programs alone */
};

void loci_json_begin(struct loci_json *json, FILE *out);
void loci_json_end(struct loci_json *json); /* a newline; asserts that everything is closed */

void loci_json_object(struct loci_json *json);
void loci_json_object_end(struct loci_json *json);
void loci_json_array(struct loci_json *json);
void loci_json_array_end(struct loci_json *json);
void loci_json_key(struct loci_json *json, const char *key);

void loci_json_string(struct loci_json *json, const char *text); /* NULL: null */
void loci_json_bool(struct loci_json *json, bool value);
/* Whole numbers without a point, others with up to 17 digits as needed; not finite: null. */
void loci_json_number(struct loci_json *json, double value);
void loci_json_u64(struct loci_json *json, uint64_t value);

#endif
