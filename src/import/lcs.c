// SPDX-License-Identifier: GPL-2.0-or-later
/* libCacheSim's lcs, versions 1 to 8: a header of 8192 bytes
 *
 *	0     uint64 magic           8     uint64 version
 *	16    int64  version of the statistics that follow
 *	24    int64  number of requests, and much that is not used here
 *	8184  uint64 magic again
 *
 * and records of one size. Version 1 is oracleGeneral's; 2 adds an operation (1 byte, and a tenant
 * of 3); 3 widens the size to 64 bits and adds a time to live; 4 to 8 append 1, 2, 4, 8 and 16
 * features of 4 bytes. Files of before that had a header of 1024 bytes are refused. */
#include "base/cleanup.h"
#include "import/records.h"

#include <errno.h>
#include <inttypes.h>

#define LCS_MAGIC        0x123456789abcdef0ull
#define LCS_HEADER_BYTES 8192

/* record_bytes, id, size, size_bytes, op; the first entry is unused. */
static const struct loci_record_layout layouts[] = {
	{ 0, 0, 0, 0, 0 },
	{ 24, 4, 12, 4, 0 },
	{ 28, 4, 12, 4, 16 },
	{ 36, 4, 12, 8, 20 },
	{ 40, 4, 12, 8, 20 },
	{ 44, 4, 12, 8, 20 },
	{ 52, 4, 12, 8, 20 },
	{ 68, 4, 12, 8, 20 },
	{ 100, 4, 12, 8, 20 },
};

static bool lcs_recognise(const struct loci_input *input)
{
	return input->end - input->pos >= 8 && loci_le(input->data + input->pos, 8) == LCS_MAGIC;
}

static int check_header(const struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_err *err)
{
	const char *header = input->data + input->pos;
	char chosen[LOCI_CHOICE_TEXT_MAX];
	uint64_t version;

	if (!lcs_recognise(input))
		return loci_err_set(err, EBADMSG, "%s does not begin with lcs's magic number %s",
			input->name, loci_import_choice_text(choice, chosen));
	if (input->end - input->pos < LCS_HEADER_BYTES)
		return loci_err_set(err, EBADMSG,
			"%s: the lcs header has %zu of %u bytes: truncated, or of before version 1",
			input->name, input->end - input->pos, LCS_HEADER_BYTES);
	if (loci_le(header + LCS_HEADER_BYTES - 8, 8) != LCS_MAGIC)
		return loci_err_set(err, EBADMSG,
			"%s: the lcs header of %u bytes does not end with the magic number: "
			"damaged, or "
			"of before version 1",
			input->name, LCS_HEADER_BYTES);
	version = loci_le(header + 8, 8);
	if (version < 1 || version >= LOCI_ARRAY_SIZE(layouts))
		return loci_err_set(err, EBADMSG,
			"%s is lcs of version %" PRIu64 "; I read versions 1 to %zu", input->name,
			version, LOCI_ARRAY_SIZE(layouts) - 1);
	return 0;
}

static int lcs_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	int r = check_header(input, choice, err);
	uint64_t version, n_requests;

	if (r < 0) {
		loci_input_close(input);
		return r;
	}
	version = loci_le(input->data + input->pos + 8, 8);
	n_requests = loci_le(input->data + input->pos + 24, 8);
	input->pos += LCS_HEADER_BYTES;
	return loci_records_open(
		&layouts[version], n_requests >> 63 ? 0 : n_requests, input, choice, ret, err);
}

const struct loci_importer loci_importer_lcs = { lcs_recognise, lcs_open };
