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

#endif
