/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LOCI_COLLECT_RUNTIME_ATOMICS_H
#define LOCI_COLLECT_RUNTIME_ATOMICS_H

#include "collect/runtime/runtime.h"

/* What __loci_atomic_begin and its end are: see cc_abi.h. Called by stubs_x86_64.S. */
uint64_t *rt_atomic_begin(uint64_t *at, uint64_t address, uint64_t kind);
void rt_atomic_end(void);
/* One that does not come to its end as it should: its fault has a handler, its thread ends. Others
 * go on, and signals that wait for it are still to be told so: returns 1, or 0 if there is none. */
unsigned rt_atomic_let_go(struct rt_thread *thread);

#endif
