// SPDX-License-Identifier: BSD-2-Clause
/* How many bytes functions of the C library look at. Counted byte by byte where the library has no
 * function that tells: what vector instructions fetch beyond is not the program's business. */
#include "collect/runtime/cc_abi.h"
#include "collect/runtime/wrap.h"

#include <ctype.h>
#include <string.h>

RT_PUBLIC size_t __loci_span_string(const char *s)
{
	return strlen(s) + 1;
}

RT_PUBLIC size_t __loci_span_string_n(const char *s, size_t n)
{
	size_t length = strnlen(s, n);

	return length < n ? length + 1 : n;
}

RT_PUBLIC size_t __loci_span_compare_n(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (a[i] != b[i] || !a[i])
			return i + 1;
	return n;
}

RT_PUBLIC size_t __loci_span_compare(const char *a, const char *b)
{
	return __loci_span_compare_n(a, b, SIZE_MAX);
}

RT_PUBLIC size_t __loci_span_compare_case_n(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i]) || !a[i])
			return i + 1;
	return n;
}

RT_PUBLIC size_t __loci_span_compare_case(const char *a, const char *b)
{
	return __loci_span_compare_case_n(a, b, SIZE_MAX);
}

RT_PUBLIC size_t __loci_span_memory(const void *a, const void *b, size_t n)
{
	const unsigned char *left = a, *right = b;

	for (size_t i = 0; i < n; i++)
		if (left[i] != right[i])
			return i + 1;
	return n;
}

RT_PUBLIC size_t __loci_span_character(const char *s, int c)
{
	const char *found = strchr(s, c);

	return found ? (size_t)(found - s) + 1 : strlen(s) + 1;
}

RT_PUBLIC size_t __loci_span_byte(const void *s, int c, size_t n)
{
	const char *found = memchr(s, c, n);

	return found ? (size_t)(found - (const char *)s) + 1 : n;
}

RT_PUBLIC size_t __loci_span_any(const char *s, const char *accept)
{
	return strcspn(s, accept) + 1;
}

RT_PUBLIC size_t __loci_span_all(const char *s, const char *accept)
{
	return strspn(s, accept) + 1;
}
