/* SPDX-License-Identifier: BSD-2-Clause */
/* A copy or fill of many blocks is one reference, or two, of which hardly any would be a sample.
 * Of those of LOCI_CC_LARGE_BYTES and more the parts are sampled instead, cache lines or whatever
 * blocks are larger: as many parts pass between two samples as references do between the others,
 * by a draw of their own. Such a sample is watched at once, for the next touch of its block may be
 * the next instruction. */
#ifndef LOCI_COLLECT_RUNTIME_WATCH_BULK_H
#define LOCI_COLLECT_RUNTIME_WATCH_BULK_H

#include "collect/runtime/runtime.h"

/* In a thread that samples. */
void rt_bulk_begin(struct rt_thread *thread);
/* A touch of one that is on its way. */
struct rt_bulk_touch {
	uint64_t touches; /* of that so far, itself included */
	uint64_t descriptor;
};
/* Whether the thread, whose stack is down to here, touches the address by such a one. The thread's
 * count is right then. */
bool rt_bulk_is_within(const struct rt_thread *thread, uintptr_t address, uintptr_t stack,
	struct rt_bulk_touch *ret);

#endif
