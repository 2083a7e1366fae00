/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One counter for each callee and module of the compiler, not for each function: few, and the
 * runtime asks for each name once. It belongs to no function, so the linker keeps it where a
 * function that is kept refers to it, whichever copy of an inline function that is. Threads share
 * it, so it is counted up atomically where there are some. */
#include "collect/llvm/outside.h"

#include "collect/llvm/callee.h"
#include "collect/llvm/spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "loci.calls."

/* The function a call names, also if it was declared otherwise than it is called. */
static LLVMValueRef named_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	while (LLVMIsAConstantExpr(callee) && LLVMGetConstOpcode(callee) == LLVMBitCast)
		callee = LLVMGetOperand(callee, 0);
	return LLVMIsAFunction(callee);
}

/* Those whose references are told by who calls them are seen; the runtime's are nobody's. */
static bool is_outside(LLVMValueRef callee)
{
	const char *name = LLVMGetValueName(callee);
	if (!LLVMIsDeclaration(callee) && LLVMGetLinkage(callee) != LLVMAvailableExternallyLinkage)
		return false;
	return strncmp(name, "llvm.", 5) != 0 && strncmp(name, "__loci_", 7) != 0 &&
		!loci_spans_know(name);
}

static uint32_t number_of(struct loci_plan *plan, LLVMValueRef callee)
{
	for (size_t i = 0; i < plan->n_callees; i++)
		if (plan->callee[i] == callee)
			return (uint32_t)i;
	plan->callee = loci_grown(plan->callee, plan->n_callees, sizeof(*plan->callee));
	plan->callee[plan->n_callees] = callee;
	return (uint32_t)plan->n_callees++;
}

static void take(struct loci_plan *plan, LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return;
	LLVMValueRef callee = named_callee(instruction);
	if (!callee || !is_outside(callee))
		return;
	plan->outside = loci_grown(plan->outside, plan->n_outside, sizeof(*plan->outside));
	plan->outside[plan->n_outside++] = (struct loci_plan_outside){ .instruction = instruction,
		.callee = number_of(plan, callee) };
}

void loci_outside_find(struct loci_plan *plan, const struct loci_flow *flow)
{
	for (size_t i = 1; i < flow->n_blocks; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(flow->block[i].block); at;
			at = LLVMGetNextInstruction(at))
			take(plan, at);
}

static LLVMValueRef counter_of(LLVMModuleRef module, LLVMValueRef callee)
{
	LLVMTypeRef word = LLVMInt64TypeInContext(LLVMGetModuleContext(module));
	size_t n;
	const char *name = LLVMGetValueName2(callee, &n);
	char *own = loci_zeroed(sizeof(PREFIX) + n, 1);
	memcpy(own, PREFIX, sizeof(PREFIX) - 1);
	memcpy(own + sizeof(PREFIX) - 1, name, n);
	for (char *c = own; *c; c++)
		if (*c == 1) /* "not to be decorated" */
			*c = '_';
	LLVMValueRef counter = LLVMGetNamedGlobal(module, own);
	if (!counter) {
		counter = LLVMAddGlobal(module, word, own);
		LLVMSetInitializer(counter, LLVMConstInt(word, 0, 0));
		LLVMSetLinkage(counter, LLVMPrivateLinkage);
		LLVMSetAlignment(counter, 8);
	}
	free(own);
	return counter;
}

LLVMValueRef *loci_outside_counters(const struct loci_plan *plan)
{
	LLVMValueRef *counter = loci_zeroed(plan->n_callees, sizeof(*counter));
	for (size_t i = 0; i < plan->n_callees; i++)
		counter[i] = counter_of(plan->module, plan->callee[i]);
	return counter;
}

/* A locked instruction waits for all before it, which is most of a call of sin: only where there
 * may be other threads is it locked. Never in two, for handlers of signals count, too. */
static const char count_code[] = "movq __loci_shared@GOTPCREL(%rip), %r11\n\t"
				 "cmpl $$0, (%r11)\n\t"
				 "je 1f\n\t"
				 "lock\n"
				 "1:\n\t"
				 "incq ($0)";

static void count(struct loci_emit *emit, LLVMValueRef counter)
{
	LLVMTypeRef type =
		LLVMFunctionType(LLVMVoidTypeInContext(emit->context), &emit->pointer, 1, 0);
	LLVMValueRef code = loci_ir_assembly(type, count_code,
		"r,~{r11},~{memory},~{dirflag},~{fpsr},~{flags}", LOCI_ASSEMBLY_ACTS);
	LLVMBuildCall2(emit->builder, type, code, &counter, 1, "");
}

static void count_if_tracing(struct loci_emit *emit, LLVMValueRef call, LLVMValueRef counter)
{
	LLVMBasicBlockRef before = LLVMGetInstructionParent(call);
	LLVMBasicBlockRef after = loci_ir_split_before(call);
	LLVMBasicBlockRef wanted = LLVMInsertBasicBlockInContext(emit->context, after, "");

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
	loci_emit_at_end(emit, before);
	loci_emit_branch_copy(emit, wanted, after);
	loci_emit_at_end(emit, wanted);
	count(emit, counter);
	LLVMBuildBr(emit->builder, after);
}

void loci_outside_make(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_ir_copy *copy)
{
	for (size_t i = 0; i < plan->n_outside; i++) {
		const struct loci_plan_outside *call = &plan->outside[i];
		if (copy) {
			loci_emit_before(emit, loci_ir_copy_of(copy, call->instruction));
			count(emit, emit->counter[call->callee]);
		} else {
			count_if_tracing(emit, call->instruction, emit->counter[call->callee]);
		}
	}
}
