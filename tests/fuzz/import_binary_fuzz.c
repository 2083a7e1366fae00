// SPDX-License-Identifier: GPL-2.0-or-later
/* The binary formats and compressed input. The first byte chooses: 1 and 2 force a format; 3 is
 * lcs, whose long header is put before the bytes, of the version the next byte gives; others let it
 * be recognised. */
#include "import_fuzz.h"

#define HEADER_BYTES 8192

static void lcs(const uint8_t *data, size_t size)
{
	static const unsigned char magic[] = { 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12 };
	unsigned char *bytes = calloc(1, HEADER_BYTES + size);

	if (!bytes)
		abort();
	memcpy(bytes, magic, 8);
	bytes[8] = data[0];
	memcpy(bytes + HEADER_BYTES - 8, magic, 8);
	memcpy(bytes + HEADER_BYTES, data + 1, size - 1);
	import_fuzz(bytes, HEADER_BYTES + size - 1, NULL, false);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1 && data[0] == 3)
		lcs(data + 1, size - 1);
	else if (size)
		import_fuzz(data + 1, size - 1,
			data[0] == 1           ? "oracleGeneral"
				: data[0] == 2 ? "lcs"
					       : NULL,
			false);
	return 0;
}
