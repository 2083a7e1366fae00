// SPDX-License-Identifier: BSD-2-Clause
/* longjmp, as far as it leaves handlers of signals. Code of `loci cc` says where it landed; that of
 * other compilers does not. Where a jump goes stands in its buffer, disguised as the C library
 * (GNU, x86-64) disguises pointers: exclusive-or with a secret word of the thread's, rotated. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"

#include <setjmp.h>

#define STACK_POINTER 6 /* of the words in a buffer */
#define ROTATED_BITS  17

static void before(struct __jmp_buf_tag *buffer)
{
	uint64_t word = (uint64_t)buffer->__jmpbuf[STACK_POINTER], secret;

	if (!rt_self) {
		if (rt_own_taken && buffer->__mask_was_saved)
			rt_own_block_only(0);
		return;
	}
	__asm__("movq %%fs:0x30, %0" : "=r"(secret));
	rt_handlers_leave((word >> ROTATED_BITS | word << (64 - ROTATED_BITS)) ^ secret,
		buffer->__mask_was_saved);
}

#define JUMP(name)                                                     \
	RT_WRAP(void, name, struct __jmp_buf_tag buffer[1], int value) \
	{                                                              \
		before(buffer);                                        \
		RT_REAL(name)(buffer, value);                          \
		__builtin_unreachable();                               \
	}

#undef longjmp
#undef _longjmp
#undef siglongjmp
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)

/* It asks the kernel whether the thread is on its alternate stack, which is another. */
RT_WRAP(void, __longjmp_chk, struct __jmp_buf_tag buffer[1], int value)
{
	before(buffer);
	if (rt_own_stack_is_on())
		RT_REAL(longjmp)(buffer, value);
	RT_REAL(__longjmp_chk)(buffer, value);
	__builtin_unreachable();
}
