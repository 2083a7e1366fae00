// SPDX-License-Identifier: GPL-2.0-or-later
/* The text formats: the first byte chooses one of them, or to recognise it, and whether
 * instructions are wanted. */
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { NULL, "lackey", "din", "xdin", "drmemtrace", "csv",
		"plain", "hex", "decimal" };

	if (size)
		import_fuzz(data + 1, size - 1, formats[(data[0] & 0x7f) % 9], data[0] >> 7);
	return 0;
}
