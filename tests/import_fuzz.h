/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzz targets of imports share: bytes through an importer, twice, in reads of different
 * lengths. Whatever the bytes, the words must be well formed, both times the same, and a failure
 * must say something. */
#ifndef LOCI_TESTS_IMPORT_FUZZ_H
#define LOCI_TESTS_IMPORT_FUZZ_H

#include "import_words.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import_fuzz(const uint8_t *data, size_t size, const char *format, bool instructions)
{
	struct import_result first, second;
	int fd = memfd_create("input", 0);
	char path[40];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	first = import_path(path, format, instructions, 1024);
	second = import_path(path, format, instructions, 8192);
	CHECK_STR(first.refs.text, second.refs.text);
	CHECK_STR(first.error, second.error);
	CHECK_STR(first.note, second.note);
	CHECK(first.n_refs || first.error[0] || first.info.origin[0]);
	if (check_failures)
		abort();
	free(first.refs.text);
	free(second.refs.text);
	close(fd);
}

#endif
