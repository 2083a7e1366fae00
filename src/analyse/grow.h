/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow: doubling, new elements zeroed. */
#ifndef LOCI_ANALYSE_GROW_H
#define LOCI_ANALYSE_GROW_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static inline int loci_grow_to(void *array, size_t *cap, size_t larger, size_t element)
{
	char *moved = realloc(*(void **)array, larger * element);

	if (!moved)
		return -ENOMEM;
	memset(moved + *cap * element, 0, (larger - *cap) * element);
	*(void **)array = moved;
	*cap = larger;
	return 0;
}

/* Room for want elements in *(T **)array, of which *cap have room now. 0 or -ENOMEM. */
static inline int loci_grow(void *array, size_t *cap, size_t want, size_t element)
{
	size_t larger = *cap ? *cap : 16;

	if (want <= *cap)
		return 0;
	while (larger < want)
		larger *= 2;
	return loci_grow_to(array, cap, larger, element);
}

/* The same by a quarter, for what is kept beside a program that runs: room that is zeroed is memory
 * that is used. */
static inline int loci_grow_little(void *array, size_t *cap, size_t want, size_t element)
{
	size_t larger = *cap ? *cap + *cap / 4 : 16;

	if (want <= *cap)
		return 0;
	return loci_grow_to(array, cap, larger > want ? larger : want, element);
}

/* The same with elements of whole cache lines, which stay aligned. */
static inline int loci_grow_lines(void *array, size_t *cap, size_t want, size_t element)
{
	size_t larger = *cap ? *cap : 64;
	char *moved;

	if (want <= *cap)
		return 0;
	while (larger < want)
		larger *= 2;
	moved = aligned_alloc(64, larger * element);
	if (!moved)
		return -ENOMEM;
	if (*cap)
		memcpy(moved, *(void **)array, *cap * element);
	memset(moved + *cap * element, 0, (larger - *cap) * element);
	free(*(void **)array);
	*(void **)array = moved;
	*cap = larger;
	return 0;
}

#endif
