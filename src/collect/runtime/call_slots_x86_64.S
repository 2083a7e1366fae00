/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls of the program that are led past watched pages (led_calls.c) are made here, with the
 * program's registers and on its stack, and go on behind the place they came from: each place that
 * calls the kernel has a slot of its own. That the call is over is noted. rcx, r11 and, since no
 * compiler relies on them, the flags of a comparison may be changed. */

	.text
	.globl	rt_call_slots
	.hidden	rt_call_slots
	.hidden	rt_call_returns
	.hidden	rt_calls_self
	.p2align 5
rt_call_slots:
	.set	slot, 0
	.rept	512			/* RT_CALL_SLOTS, each of 32 bytes */
	.p2align 5
	syscall
	movq	rt_calls_self@gottpoff(%rip), %rcx
	movq	%fs:(%rcx), %rcx
	decl	(%rcx)
	jmp	*rt_call_returns+8*slot(%rip)
	.set	slot, slot+1
	.endr

/* Returns from handlers of ours, by a call that is not led anywhere. */
	.globl	rt_pages_restorer
	.hidden	rt_pages_restorer
	.p2align 4
	nop				/* unwinders look at the byte before */
rt_pages_restorer:
	movq	$15, %rax		/* rt_sigreturn, as unwinders know it */
	syscall

	.section .note.GNU-stack,"",@progbits
