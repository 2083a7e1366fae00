// SPDX-License-Identifier: GPL-2.0-or-later
/* The page as the build made it, taken into the program, and the data put in its place: deflated,
 * in base64, which has no letter that could end the element it stands in. */
#include "report/view_page.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

__asm__(".pushsection .rodata\n"
	"loci_view_template:\n"
	".incbin \"web/page.html\"\n"
	".byte 0\n"
	".popsection\n");
extern const char loci_view_template[] __attribute__((visibility("hidden")));

static const char place[] = "@DATA@";

static void put_base64(const unsigned char *data, size_t n, FILE *out)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned bits = (unsigned)data[i] << 16 | (left > 1 ? data[i + 1] << 8 : 0) |
			(left > 2 ? data[i + 2] : 0);
		char four[4] = { letters[bits >> 18], letters[bits >> 12 & 63],
			left > 1 ? letters[bits >> 6 & 63] : '=',
			left > 2 ? letters[bits & 63] : '=' };

		fwrite(four, 1, sizeof(four), out);
	}
}

int loci_view_page(
	const struct loci_view_profile *profile, size_t n, FILE *out, struct loci_err *err)
{
	const char *at = strstr(loci_view_template, place);
	loci_autofree unsigned char *packed = NULL;
	loci_autofree char *text = NULL;
	size_t length = 0;
	uLongf packed_length;
	FILE *memory = open_memstream(&text, &length);
	int r;

	if (!memory)
		return loci_err_nomem(err);
	r = loci_view_json(profile, n, memory, err);
	if (fclose(memory) != 0 && r == 0)
		r = loci_err_nomem(err);
	if (r < 0)
		return r;
	packed_length = compressBound(length);
	packed = malloc(packed_length);
	if (!packed ||
		compress2(packed, &packed_length, (const Bytef *)text, length,
			Z_DEFAULT_COMPRESSION) != Z_OK)
		return loci_err_nomem(err);
	fwrite(loci_view_template, 1, (size_t)(at - loci_view_template), out);
	put_base64(packed, packed_length, out);
	fputs(at + sizeof(place) - 1, out);
	return 0;
}
