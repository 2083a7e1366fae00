/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LOCI_COLLECT_RUNTIME_TSAN_H
#define LOCI_COLLECT_RUNTIME_TSAN_H

#include "collect/runtime/call_places.h"

#define RT_BACK ((uintptr_t)__builtin_return_address(0))

#define RT_REF(bytes, op, flags) \
	((uint64_t)(bytes) | (uint64_t)(op) << 32 | (uint64_t)(flags) << 40)
#define RT_SHAPE_ONE(bytes, op, flags)                                           \
	{                                                                        \
		.n_refs = 1, .n_counted = 1, .ref = { RT_REF(bytes, op, flags) } \
	}

/* The range that gcc told last: it may go on to call what copies or clears it (touching.c). */
struct rt_range {
	uint64_t address, bytes, count; /* of references, with this one */
};
extern __thread struct rt_range rt_read_last,
	rt_written_last __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Two words beside the marker. */
void rt_tsan_refer_twice(
	uintptr_t back, uint64_t first, uint64_t second, const struct rt_shape *shape);

#endif
