// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/repeat.h"

#include <errno.h>
#include <inttypes.h>

#define HEAD 2 /* raw words before those of the references */

/* No access, or more than one word. */
static bool is_odd(const struct loci_ref_kind *kind)
{
	return kind->n_words != 1 || (kind->op >= LOCI_OP_FRAME && kind->op <= LOCI_OP_TURN);
}

int loci_repeat_read(const struct loci_definitions *defs, uint64_t marker, const uint64_t *raw,
	struct loci_repeat *ret, struct loci_err *err)
{
	uint64_t id = loci_word_payload(marker);
	const struct loci_block *block = loci_definitions_find(defs, id);

	if (!loci_block_is_defined(block))
		return loci_err_set(err, EBADMSG, "block %" PRIu64 " has no definition", id);
	if (loci_word_n_raw(marker) != HEAD + 2ull * block->n_refs)
		return loci_err_set(err, EBADMSG,
			"run of block %" PRIu64 ", which has %" PRIu32
			" references, with %u raw words",
			id, block->n_refs, loci_word_n_raw(marker));
	if (!raw[0] || raw[1])
		return loci_err_set(err, EBADMSG,
			"run of block %" PRIu64 " for %" PRIu64 " times, and 0x%" PRIx64
			" where zero should be",
			id, raw[0], raw[1]);
	for (uint32_t i = 0; i < block->n_refs; i++)
		if (is_odd(&defs->kind[block->first + i]))
			return loci_err_set(err, EBADMSG,
				"run of block %" PRIu64 ", whose reference %" PRIu32
				" is a range or no access",
				id, i);
	loci_repeat_take(block, raw, ret);
	return 0;
}

void loci_repeat_take(const struct loci_block *block, const uint64_t *raw, struct loci_repeat *ret)
{
	*ret = (struct loci_repeat){
		.times = raw[0], .first = block->first, .n_refs = block->n_refs, .at = raw + HEAD
	};
}
