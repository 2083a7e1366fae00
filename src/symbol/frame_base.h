/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From offsets that debug information gives, from the frame base or from a register, to offsets
 * from where the return address stands. */
#ifndef LOCI_SYMBOL_FRAME_BASE_H
#define LOCI_SYMBOL_FRAME_BASE_H

#include "symbol/location.h"

/* How the canonical frame address follows from a register in a part of a function. */
struct loci_frame_row {
	uint64_t low, high;
	int reg;
	int64_t offset;
};

struct loci_frame_base {
	bool known, is_cfa; /* the frame base: the canonical frame address itself, or .. */
	struct loci_location_frame base; /* .. register and offset */
	struct loci_frame_row *rows;
	size_t n, cap;
};

int loci_frame_base_init(
	struct loci_frame_base *frame, struct loci_symbol_module *module, Dwarf_Die *function);
void loci_frame_base_fini(struct loci_frame_base *frame);
/* For code in [low, high). false: no fixed offset. */
bool loci_frame_base_resolve(const struct loci_frame_base *frame,
	const struct loci_location_frame *location, uint64_t low, uint64_t high, int64_t *ret);

#endif
