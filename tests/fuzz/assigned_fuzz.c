/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any text as source: what is read in it is part of it, and ends. The first two bytes say where the
 * call stands, the lowest bit whether it is Fortran. */
#include "symbol/assigned_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The answer's characters stand in the text, in this order; Fortran's are lower case. */
static void check_part(const char *answer, const char *text, size_t length)
{
	size_t at = 0;

	if (strlen(answer) >= LOCI_ASSIGNED_MAX)
		abort();
	for (; *answer; answer++) {
		if (*answer == ' ')
			continue;
		while (at < length &&
			tolower((unsigned char)text[at]) != tolower((unsigned char)*answer))
			at++;
		if (at++ == length)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loci_assigned_text got;
	size_t place, length;
	bool fortran;
	char *text;

	if (size < 2)
		return 0;
	length = size - 2;
	text = malloc(length ? length : 1); /* no zero behind it: reading too far shows */
	if (!text)
		return 0;
	memcpy(text, data + 2, length);
	fortran = data[0] & 1;
	place = (size_t)(data[0] >> 1) | (size_t)data[1] << 7;
	if (data[1] == 255)
		place = SIZE_MAX;
	if (loci_assigned_read(text, length, place, fortran, &got) != (*got.target != '\0'))
		abort();
	check_part(got.target, text, length);
	check_part(got.type, text, length);
	free(text);
	return 0;
}
