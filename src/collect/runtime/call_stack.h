/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that a thread is in, as far as they can be known: by frame pointers, which code of
 * `loci cc` keeps, and from there on by the blocks that it runs. Returns are found out by what
 * comes after them; of a function that calls itself one call too many may stand there. */
#ifndef LOCI_COLLECT_RUNTIME_CALL_STACK_H
#define LOCI_COLLECT_RUNTIME_CALL_STACK_H

#include "collect/runtime/cc_abi.h"

#define RT_CALLS      64 /* the innermost ones */
#define RT_CALLS_ROOM (2 * RT_CALLS)

struct rt_call {
	const struct loci_cc_definition *function; /* NULL: not known yet */
	uintptr_t inside;                          /* an address of its code; 0: none known */
	uintptr_t frame;                           /* where its return address stands .. */
	uintptr_t back;                            /* .. and that */
};

struct rt_call_stack {
	unsigned n;
	struct rt_call call[RT_CALLS_ROOM]; /* outermost first */
};

/* From code whose frame pointer this is, at an address of code. Never faults. */
void rt_call_stack_walk(struct rt_call_stack *stack, uintptr_t pointer, uintptr_t inside);
/* A function has begun, .. */
void rt_call_stack_enter(struct rt_call_stack *stack, const struct loci_cc_definition *function,
	uintptr_t frame, uintptr_t back);
/* .. or runs on. Lock held. */
void rt_call_stack_within(struct rt_call_stack *stack, const struct loci_cc_definition *function);
/* Return addresses, innermost first. */
unsigned rt_call_stack_list(const struct rt_call_stack *stack, uint64_t ret[RT_CALLS]);

#endif
