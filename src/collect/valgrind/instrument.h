/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pass over the intermediate code of a superblock that makes it tell its references. */
#ifndef LOCI_COLLECT_VALGRIND_INSTRUMENT_H
#define LOCI_COLLECT_VALGRIND_INSTRUMENT_H

#include "collect/valgrind/core.h"

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word);

#endif
