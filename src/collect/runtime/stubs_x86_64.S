/* SPDX-License-Identifier: BSD-2-Clause */
/* What instrumented code calls without giving up its registers: LLVM's preserve_most, for which all
 * general registers but r11 are the callee's to keep, and the vectors are the caller's; and rax, where
 * there is a result. */

	.text

	.macro keeping name, function, gives=0
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	andq	$-16, %rsp
	call	\function
	leaq	-64(%rbp), %rsp
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	.if	\gives
	addq	$8, %rsp
	.else
	popq	%rax
	.endif
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	keeping __loci_room, rt_room
	keeping __loci_define, rt_define
	keeping __loci_counters, rt_counters
	keeping __loci_atomic_begin, rt_atomic_begin, 1
	keeping __loci_atomic_end, rt_atomic_end

/* Entries for signal handlers: which one it is tells the handler. See handlers.c. */
	.globl	rt_handler_entries
	.hidden	rt_handler_entries
	.type	rt_handler_entries, @function
	.p2align 4
rt_handler_entries:
	.cfi_startproc
	.set	i, 0
	.rept	256
	.p2align 4
	endbr64
	movl	$i, %ecx
	jmp	rt_on_signal
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	rt_handler_entries, .-rt_handler_entries

/* Goes on at another frame of a signal: rt_continue_on(frame, function, signal, info, context). */
	.globl	rt_continue_on
	.hidden	rt_continue_on
	.type	rt_continue_on, @function
	.p2align 4
rt_continue_on:
	.cfi_startproc
	endbr64
	movq	%rdi, %rsp
	movq	%rsi, %rax
	movl	%edx, %edi
	movq	%rcx, %rsi
	movq	%r8, %rdx
	jmp	*%rax
	.cfi_endproc
	.size	rt_continue_on, .-rt_continue_on

	.section .note.GNU-stack, "", @progbits
