/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where variables lie: the few location expressions that mean memory at a fixed place. */
#ifndef LOCI_SYMBOL_LOCATION_H
#define LOCI_SYMBOL_LOCATION_H

#include "symbol/die.h"

/* A fixed address. Variables of threads have none. */
bool loci_location_address(Dwarf_Die *variable, uint64_t *ret);

/* Memory at an offset from the frame base or from a register. */
struct loci_location_frame {
	int reg; /* -1: the frame base */
	int64_t offset;
};
bool loci_location_frame(const Dwarf_Op *ops, size_t n, struct loci_location_frame *ret);
/* Of a location in pieces the one that begins at ops[*pos], which advances behind it. 1: it is in
 * such memory, 0: it is not, -1: these are no pieces, or there are no more. */
int loci_location_piece(const Dwarf_Op *ops, size_t n, size_t *pos, struct loci_location_frame *ret,
	uint64_t *ret_bytes);

#endif
