// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/call_stack.h"
#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#define SYS_RT_SIGPROCMASK 14
#define NO_SUCH_WAY        (-1) /* of changing the mask: it stays, once it was read */
#define SIGSET_BYTES       8
#define EFAULT_NR          14
#define PAGE_BYTES         4096u
#define FRAME_MAX_BYTES    (1ul << 20) /* a frame pointer further away is none */

/* The kernel reads it, and says so where it cannot. */
static bool is_readable(uintptr_t address)
{
	return loci_syscall6(SYS_RT_SIGPROCMASK, NO_SUCH_WAY, (long)address, 0, SIGSET_BYTES, 0,
		       0) != -EFAULT_NR;
}

void rt_call_stack_walk(struct rt_call_stack *stack, uintptr_t pointer, uintptr_t inside)
{
	struct rt_call found[RT_CALLS];
	uintptr_t known = UINTPTR_MAX, below = 0; /* a page that can be read */
	unsigned n = 0;

	while (n < RT_CALLS && pointer && !(pointer & 15) &&
		(!below || pointer - below - 1 < FRAME_MAX_BYTES)) {
		if (pointer / PAGE_BYTES != known && !is_readable(pointer))
			break;
		known = pointer / PAGE_BYTES;
		found[n] = (struct rt_call){ .inside = inside,
			.frame = pointer + 8,
			.back = ((const uintptr_t *)pointer)[1] };
		if (!found[n].back)
			break;
		inside = found[n++].back;
		below = pointer;
		pointer = *(const uintptr_t *)pointer;
	}
	stack->n = n;
	for (unsigned i = 0; i < n; i++)
		stack->call[i] = found[n - 1 - i];
}

void rt_call_stack_enter(struct rt_call_stack *stack, const struct loci_cc_definition *function,
	uintptr_t frame, uintptr_t back)
{
	while (stack->n && stack->call[stack->n - 1].frame <= frame)
		stack->n--;
	if (stack->n == RT_CALLS_ROOM) {
		stack->n = RT_CALLS;
		for (unsigned i = 0; i < RT_CALLS; i++)
			stack->call[i] = stack->call[RT_CALLS_ROOM - RT_CALLS + i];
	}
	stack->call[stack->n++] =
		(struct rt_call){ .function = function, .frame = frame, .back = back };
}

static bool is_of(struct rt_call *call, const struct loci_cc_definition *function)
{
	if (!call->function && call->inside)
		call->function = rt_definition_at(call->inside);
	return call->function == function;
}

/* Where it is none of those that called, these are not known: on another stack, say. */
void rt_call_stack_within(struct rt_call_stack *stack, const struct loci_cc_definition *function)
{
	while (stack->n && !is_of(&stack->call[stack->n - 1], function))
		stack->n--;
}

unsigned rt_call_stack_list(const struct rt_call_stack *stack, uint64_t ret[RT_CALLS])
{
	unsigned n = stack->n < RT_CALLS ? stack->n : RT_CALLS;

	for (unsigned i = 0; i < n; i++)
		ret[i] = stack->call[stack->n - 1 - i].back;
	return n;
}
