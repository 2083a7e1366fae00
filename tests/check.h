/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks for test programs. A failed check prints where and what, and the program goes on; return
 * check_status() from main. */
#ifndef LOCI_TESTS_CHECK_H
#define LOCI_TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int check_failures; /* tests have threads too */
static _Atomic unsigned long check_count;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_SANITISED 1
#else
#define CHECK_SANITISED 0
#endif

/* Of n turns of something random: all in make check-long, else some; fewer under sanitizers, which
 * look for other faults than wrong numbers. */
static inline size_t check_amount(size_t n)
{
	return getenv("LONG") ? n : 1 + n / (CHECK_SANITISED ? 10 : 3);
}

/* Of n turns that are all wanted: some under sanitizers, unless in make check-long. */
static inline size_t check_turns(size_t n)
{
	return CHECK_SANITISED && !getenv("LONG") ? 1 + n / 10 : n;
}

/* A function, since a test has hundreds of checks, each of which would be compiled with all of it.
 */
__attribute__((cold, noinline, unused, format(printf, 3, 4))) static void check_fail(
	const char *file, int line, const char *format, ...)
{
	va_list values;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
	check_failures++;
}

#define CHECK_FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)                                      \
	do {                                                  \
		check_count++;                                \
		if (!(condition))                             \
			CHECK_FAIL("failed: %s", #condition); \
	} while (0)

#define CHECK_U64(got, want)                                                               \
	do {                                                                               \
		uint64_t got_ = (got), want_ = (want);                                     \
		check_count++;                                                             \
		if (got_ != want_)                                                         \
			CHECK_FAIL("%s is %" PRIu64 ", want %" PRIu64, #got, got_, want_); \
	} while (0)

#define CHECK_NEAR(got, want, tolerance)                                          \
	do {                                                                      \
		double got_ = (got), want_ = (want);                              \
		check_count++;                                                    \
		if (!(fabs(got_ - want_) <= (tolerance)))                         \
			CHECK_FAIL("%s is %.12g, want %.12g", #got, got_, want_); \
	} while (0)

#define CHECK_STR(got, want)                                                        \
	do {                                                                        \
		const char *got_ = (got), *want_ = (want);                          \
		check_count++;                                                      \
		if (strcmp(got_, want_))                                            \
			CHECK_FAIL("%s is \"%s\", want \"%s\"", #got, got_, want_); \
	} while (0)

static inline int check_status(void)
{
	if (!check_failures)
		printf("%lu checks passed\n", check_count);
	else
		fprintf(stderr, "%d of %lu checks failed\n", check_failures, check_count);
	return check_failures != 0;
}

#endif
