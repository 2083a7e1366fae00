/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small program that never ran, as a profile knows it: its source, functions, loops, sites,
 * objects, and the references it would make, in order. A product of two matrices, of which one is
 * walked by column.
 *
 * matrix_text is the source; line numbers in the tables are lines of it. */
#ifndef LOCI_TESTS_MATRIX_PROGRAM_H
#define LOCI_TESTS_MATRIX_PROGRAM_H

#include "profile/dimension.h"

static const char *const matrix_text[] = {
	"#include <stdlib.h>", /* 1 */
	"",
	"#define N 24",
	"",
	"static struct stats {",
	"\tdouble total;",
	"\tlong rows;",
	"} stats;", /* 8 */
	"",
	"static double dot(const double *row, const double *column)", /* 10 */
	"{",
	"\tdouble sum = 0;",
	"",
	"\tfor (int k = 0; k < N; k++)",
	"\t\tsum += row[k] * column[k * N];", /* 15 */
	"\treturn sum;",
	"}",
	"",
	"static void mul(const double *a, const double *b, double *c)", /* 19 */
	"{",
	"\tfor (int i = 0; i < N; i++)",
	"\t\tfor (int j = 0; j < N; j++)",
	"\t\t\tc[i * N + j] = dot(&a[i * N], &b[j]);", /* 23 */
	"}",
	"",
	"int main(void)", /* 26 */
	"{",
	"\tdouble *a = malloc(N * N * sizeof(*a));", /* 28 */
	"\tdouble *b = malloc(N * N * sizeof(*b));",
	"\tdouble *c = malloc(N * N * sizeof(*c));",
	"\tdouble sum[N] = { 0 };", /* 31 */
	"",
	"\tfor (int i = 0; i < N * N; i++)",
	"\t\ta[i] = b[i] = i;", /* 34 */
	"\tmul(a, b, c);",
	"\tfor (int i = 0; i < N * N; i++)",
	"\t\tsum[i / N] += c[i];", /* 37 */
	"\tfor (int i = 0; i < N; i++) {",
	"\t\tstats.total += sum[i];",
	"\t\tstats.rows++;", /* 40 */
	"\t}",
	"\tfree(c);",
	"\treturn stats.total > 0;",
	"}",
};

#define MATRIX_N     24
#define MATRIX_BYTES (MATRIX_N * MATRIX_N * 8ull)
#define MATRIX_STATS 0x4000ull
#define MATRIX_A     0x10000ull
#define MATRIX_B     (MATRIX_A + MATRIX_BYTES + 64)
#define MATRIX_C     (MATRIX_B + MATRIX_BYTES + 64)
#define MATRIX_SUM   0x30000ull

/* ids */
enum { MATRIX_MAIN = 1, MATRIX_MUL, MATRIX_DOT };
enum { MATRIX_MODULE = 1, MATRIX_SOURCE = 1 };
enum { OBJECT_A = 1, OBJECT_B, OBJECT_C, OBJECT_SUM, OBJECT_STATS };

static const struct loci_function_row matrix_functions[] = {
	{ MATRIX_MAIN, MATRIX_MODULE, "main", NULL, MATRIX_SOURCE, 26 },
	{ MATRIX_MUL, MATRIX_MODULE, "mul", NULL, MATRIX_SOURCE, 19 },
	{ MATRIX_DOT, MATRIX_MODULE, "dot", NULL, MATRIX_SOURCE, 10 },
};

static const struct loci_inlined_row matrix_inlined[] = {
	{ 1, 0, MATRIX_DOT, MATRIX_SOURCE, 23, 18 },
};

static const struct loci_context_row matrix_contexts[] = {
	{ 1, 0, MATRIX_MAIN, 0, 0, 0 },
	{ 2, 1, MATRIX_MUL, MATRIX_SOURCE, 35, 0 },
};

enum { LOOP_FILL = 1, LOOP_I, LOOP_J, LOOP_K, LOOP_SUM, LOOP_STATS };
static const struct loci_loop_row matrix_loops[] = {
	{ LOOP_FILL, 0, MATRIX_MAIN, MATRIX_SOURCE, 33, 34, MATRIX_N *MATRIX_N },
	{ LOOP_I, 0, MATRIX_MUL, MATRIX_SOURCE, 21, 23, MATRIX_N },
	{ LOOP_J, LOOP_I, MATRIX_MUL, MATRIX_SOURCE, 22, 23, MATRIX_N *MATRIX_N },
	{ LOOP_K, LOOP_J, MATRIX_MUL, MATRIX_SOURCE, 14, 15, MATRIX_N *MATRIX_N *MATRIX_N },
	{ LOOP_SUM, 0, MATRIX_MAIN, MATRIX_SOURCE, 36, 37, MATRIX_N *MATRIX_N },
	{ LOOP_STATS, 0, MATRIX_MAIN, MATRIX_SOURCE, 38, 41, MATRIX_N },
};

static const struct loci_object_row matrix_objects[] = {
	{ OBJECT_A, "heap", "a", "double", MATRIX_BYTES, 1, MATRIX_MODULE, MATRIX_MAIN,
		MATRIX_SOURCE, 1, 28, 0, 0, false, 0, 0 },
	{ OBJECT_B, "heap", "b", "double", MATRIX_BYTES, 1, MATRIX_MODULE, MATRIX_MAIN,
		MATRIX_SOURCE, 1, 29, 0, 0, false, 0, 0 },
	{ OBJECT_C, "heap", "c", "double", MATRIX_BYTES, 1, MATRIX_MODULE, MATRIX_MAIN,
		MATRIX_SOURCE, 1, 30, 0, 0, true, 0, 0 }, /* released at the end */
	{ OBJECT_SUM, "stack", "sum", "double", MATRIX_N * 8, 0, MATRIX_MODULE, MATRIX_MAIN,
		MATRIX_SOURCE, 0, 31, 0, 0, false, 0, 0 },
	{ OBJECT_STATS, "global", "stats", "struct stats", 16, 0, MATRIX_MODULE, 0, MATRIX_SOURCE,
		0, 8, 0, 0, false, 0, 0 },
};

enum { FIELD_TOTAL = 1, FIELD_ROWS };
static const struct loci_field_row matrix_fields[] = {
	{ FIELD_TOTAL, OBJECT_STATS, "total", "double", 0, 8 },
	{ FIELD_ROWS, OBJECT_STATS, "rows", "long", 8, 8 },
};

enum {
	SITE_FILL_B = 1,
	SITE_FILL_A,
	SITE_DOT_ROW,
	SITE_DOT_COLUMN,
	SITE_MUL_C,
	SITE_SUM_CLEAR,
	SITE_SUM_C,
	SITE_SUM_LOAD,
	SITE_SUM_STORE,
	SITE_STATS_SUM,
	SITE_TOTAL_LOAD,
	SITE_TOTAL_STORE,
	SITE_ROWS_LOAD,
	SITE_ROWS_STORE,
	SITE_END,
};
static const struct loci_site_row matrix_sites[] = {
	{ SITE_FILL_B, "main+8.0", MATRIX_MAIN, 0, LOOP_FILL, MATRIX_SOURCE, 34, 15, "store", NULL,
		8, 0x11a0, 0, 0 },
	{ SITE_FILL_A, "main+8.1", MATRIX_MAIN, 0, LOOP_FILL, MATRIX_SOURCE, 34, 8, "store", NULL,
		8, 0x11a8, 0, 0 },
	{ SITE_DOT_ROW, "mul+4/dot+5.0", MATRIX_MUL, 1, LOOP_K, MATRIX_SOURCE, 15, 13, "load", NULL,
		8, 0x1160, 0, 0 },
	{ SITE_DOT_COLUMN, "mul+4/dot+5.1", MATRIX_MUL, 1, LOOP_K, MATRIX_SOURCE, 15, 28, "load",
		NULL, 8, 0x1164, 0, 0 },
	{ SITE_MUL_C, "mul+4.0", MATRIX_MUL, 0, LOOP_J, MATRIX_SOURCE, 23, 16, "store", NULL, 8,
		0x1180, 0, 0 },
	{ SITE_SUM_CLEAR, "main+5.0", MATRIX_MAIN, 0, 0, MATRIX_SOURCE, 31, 9, "store", "bulk", 0,
		0x1190, 0, 0 },
	{ SITE_SUM_C, "main+11.0", MATRIX_MAIN, 0, LOOP_SUM, MATRIX_SOURCE, 37, 18, "load", NULL, 8,
		0x11d0, 0, 0 },
	{ SITE_SUM_LOAD, "main+11.1", MATRIX_MAIN, 0, LOOP_SUM, MATRIX_SOURCE, 37, 14, "load",
		"modify", 8, 0x11d4, 0, 0 },
	{ SITE_SUM_STORE, "main+11.2", MATRIX_MAIN, 0, LOOP_SUM, MATRIX_SOURCE, 37, 14, "store",
		"modify", 8, 0x11d8, 0, 0 },
	{ SITE_STATS_SUM, "main+13.0", MATRIX_MAIN, 0, LOOP_STATS, MATRIX_SOURCE, 39, 21, "load",
		NULL, 8, 0x11f0, 0, 0 },
	{ SITE_TOTAL_LOAD, "main+13.1", MATRIX_MAIN, 0, LOOP_STATS, MATRIX_SOURCE, 39, 15, "load",
		"modify", 8, 0x11f4, 0, 0 },
	{ SITE_TOTAL_STORE, "main+13.2", MATRIX_MAIN, 0, LOOP_STATS, MATRIX_SOURCE, 39, 15, "store",
		"modify", 8, 0x11f8, 0, 0 },
	{ SITE_ROWS_LOAD, "main+14.0", MATRIX_MAIN, 0, LOOP_STATS, MATRIX_SOURCE, 40, 13, "load",
		"modify", 8, 0x11fc, 0, 0 },
	{ SITE_ROWS_STORE, "main+14.1", MATRIX_MAIN, 0, LOOP_STATS, MATRIX_SOURCE, 40, 13, "store",
		"modify", 8, 0x1200, 0, 0 },
};

static const struct loci_level_row matrix_levels[] = {
	{ 1, "L1", 1024, 2, 64, "private" },
	{ 2, "L2", 4096, 4, 64, "private" },
	{ 3, "L3", 32768, 8, 64, "shared" },
};
#define MATRIX_CACHES "L1=1K/2,L2=4K/4,L3=32K/8:shared"

/* Calls visit for each reference of the run, in order. */
typedef void matrix_visit(void *data, unsigned site, unsigned object, unsigned field,
	unsigned context, uint64_t address, int is_write);

static inline void matrix_run(matrix_visit *visit, void *data)
{
	for (unsigned i = 0; i < MATRIX_N; i += 8) /* a range: one reference per block */
		visit(data, SITE_SUM_CLEAR, OBJECT_SUM, 0, 1, MATRIX_SUM + 8 * i, 1);
	for (unsigned i = 0; i < MATRIX_N * MATRIX_N; i++) {
		visit(data, SITE_FILL_B, OBJECT_B, 0, 1, MATRIX_B + 8 * i, 1);
		visit(data, SITE_FILL_A, OBJECT_A, 0, 1, MATRIX_A + 8 * i, 1);
	}
	for (unsigned i = 0; i < MATRIX_N; i++)
		for (unsigned j = 0; j < MATRIX_N; j++) {
			for (unsigned k = 0; k < MATRIX_N; k++) {
				visit(data, SITE_DOT_ROW, OBJECT_A, 0, 2,
					MATRIX_A + 8 * (i * MATRIX_N + k), 0);
				visit(data, SITE_DOT_COLUMN, OBJECT_B, 0, 2,
					MATRIX_B + 8 * (k * MATRIX_N + j), 0);
			}
			visit(data, SITE_MUL_C, OBJECT_C, 0, 2, MATRIX_C + 8 * (i * MATRIX_N + j),
				1);
		}
	for (unsigned i = 0; i < MATRIX_N * MATRIX_N; i++) {
		uint64_t sum = MATRIX_SUM + i / MATRIX_N * 8;

		visit(data, SITE_SUM_C, OBJECT_C, 0, 1, MATRIX_C + 8 * i, 0);
		visit(data, SITE_SUM_LOAD, OBJECT_SUM, 0, 1, sum, 0);
		visit(data, SITE_SUM_STORE, OBJECT_SUM, 0, 1, sum, 1);
	}
	for (unsigned i = 0; i < MATRIX_N; i++) {
		visit(data, SITE_STATS_SUM, OBJECT_SUM, 0, 1, MATRIX_SUM + 8 * i, 0);
		visit(data, SITE_TOTAL_LOAD, OBJECT_STATS, FIELD_TOTAL, 1, MATRIX_STATS, 0);
		visit(data, SITE_TOTAL_STORE, OBJECT_STATS, FIELD_TOTAL, 1, MATRIX_STATS, 1);
		visit(data, SITE_ROWS_LOAD, OBJECT_STATS, FIELD_ROWS, 1, MATRIX_STATS + 8, 0);
		visit(data, SITE_ROWS_STORE, OBJECT_STATS, FIELD_ROWS, 1, MATRIX_STATS + 8, 1);
	}
}

#endif
