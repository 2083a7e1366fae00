// SPDX-License-Identifier: GPL-2.0-or-later
/* libCacheSim's oracleGeneral: no header, records of 24 bytes
 *
 *	0  uint32 time   4  uint64 object   12  uint32 size   16  int64 number of the next request
 *
 * for the same object, -1 or the largest value if there is none. Having no magic number it is
 * recognised by what its fields must obey: time does not run back, and the next request lies ahead.
 */
#include "import/records.h"

const struct loci_record_layout loci_record_oracle_general = { 24, 4, 12, 4, 0 };

#define LOOK_RECORDS 1024
#define NEXT_LIMIT   (1ull << 40) /* no trace is longer */

static bool plausible(const char *record, uint64_t number, uint32_t *last_time)
{
	uint32_t time = (uint32_t)loci_le(record, 4);
	uint64_t next = loci_le(record + 16, 8);
	bool forward = time >= *last_time;

	*last_time = time;
	return forward &&
		(next == UINT64_MAX || next == INT64_MAX || (next > number && next < NEXT_LIMIT));
}

static bool oracle_general_recognise(const struct loci_input *input)
{
	size_t bytes = loci_record_oracle_general.record_bytes;
	size_t n = (input->end - input->pos) / bytes;
	uint32_t last_time = 0;

	if (n > LOOK_RECORDS)
		n = LOOK_RECORDS;
	for (size_t i = 0; i < n; i++)
		if (!plausible(input->data + input->pos + i * bytes, i, &last_time))
			return false;
	return n > 0;
}

static int oracle_general_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return loci_records_open(&loci_record_oracle_general, 0, input, choice, ret, err);
}

const struct loci_importer loci_importer_oracle_general = { oracle_general_recognise,
	oracle_general_open };
