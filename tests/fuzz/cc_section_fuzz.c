// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a section of definitions and the texts behind it: what is believed of it leads
 * nowhere else. The first byte says where the section ends and the texts begin, in sixteenths, and
 * whether the head of the first definition is made right, to come further. */
#include "cc_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(uint8_t *bytes, size_t n)
{
	struct loci_cc_definition header;
	uint64_t need;

	if (n < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	header.magic = LOCI_CC_DEFINITION_MAGIC;
	header.version = LOCI_CC_VERSION;
	need = sizeof(header) + 16ull * header.n_blocks + 24ull * header.n_sites +
		24ull * header.n_scopes + 16ull * header.n_loops + 8ull * header.n_calls;
	header.bytes = (uint32_t)need;
	memcpy(bytes, &header, sizeof(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loci_cc_section section;
	struct loci_cc_part parts[2];
	uint8_t *first, *second;
	size_t n_first, n_second;

	if (!size)
		return 0;
	n_first = (size - 1) * (data[0] & 15) / 15;
	n_second = size - 1 - n_first;
	first = malloc(n_first ? n_first : 1); /* of their own size: reading too far shows */
	second = malloc(n_second ? n_second : 1);
	if (!first || !second)
		abort();
	memcpy(first, data + 1, n_first);
	memcpy(second, data + 1 + n_first, n_second);
	if (data[0] & 16)
		repair(first, n_first);
	parts[0] = (struct loci_cc_part){ CC_IMAGE_LOW, first, n_first };
	parts[1] = (struct loci_cc_part){ CC_IMAGE_TEXTS, second, n_second };
	if (loci_cc_section_read(&section, parts, 2, CC_IMAGE_LOW, CC_IMAGE_LOW + n_first) < 0)
		abort();
	cc_image_ask(&section);
	loci_cc_section_fini(&section);
	free(first);
	free(second);
	return 0;
}
