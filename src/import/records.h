/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libCacheSim's binary formats share: little-endian records of one size, each a request for a
 * whole object. */
#ifndef LOCI_IMPORT_RECORDS_H
#define LOCI_IMPORT_RECORDS_H

#include "import/emitter.h"
#include "import/format.h"

/* Offsets in a record. The id is 8 bytes, an op 1; 0 where there is no op. */
struct loci_record_layout {
	unsigned record_bytes, id, size, size_bytes, op;
};

extern const struct loci_record_layout loci_record_oracle_general;

/* Reads records from input->pos on. n_promised is how many there should be, 0 if unknown. Takes the
 * input over in any case. */
int loci_records_open(const struct loci_record_layout *layout, uint64_t n_promised,
	struct loci_input *input, const struct loci_import_choice *choice, struct loci_source **ret,
	struct loci_err *err);

/* libCacheSim's numbers for operations: how they count. */
enum loci_request { LOCI_REQUEST_LOAD, LOCI_REQUEST_STORE, LOCI_REQUEST_LEFT_OUT };
enum loci_request loci_request_of(unsigned op);

/* One request, of any size. NULL when out of memory. */
uint64_t *loci_emit_request(struct loci_emitter *emitter, uint64_t *out, uint64_t id,
	uint64_t size_bytes, enum loci_request request);

static inline uint64_t loci_le(const void *data, unsigned bytes)
{
	const unsigned char *at = data;
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

#endif
