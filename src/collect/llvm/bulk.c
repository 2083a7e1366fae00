/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/bulk.h"

#include "collect/llvm/asking.h"
#include "collect/llvm/callee.h"
#include "collect/runtime/cc_abi.h"

#include <string.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

/* Takes what the function takes, and behind it the budget. */
#define LEAD(function, runtime)                                      \
	"cmpq $$" TEXT(LOCI_CC_LARGE_BYTES) ", %rdx\n\t"             \
					    "jae 1f\n\t"             \
					    "jmp " function "@PLT\n" \
					    "1:\n\t"                 \
					    "jmpq *" runtime "@GOTPCREL(%rip)"

static const struct {
	const char *intrinsic, *name, *code;
} kinds[LOCI_EMIT_BULK] = {
	{ "llvm.memcpy.p", "loci.memcpy", LEAD("memcpy", "__loci_memcpy") },
	{ "llvm.memmove.p", "loci.memmove", LEAD("memmove", "__loci_memmove") },
	{ "llvm.memset.p", "loci.memset", LEAD("memset", "__loci_memset") },
};

/* LOCI_EMIT_BULK: of none. */
static unsigned kind_of(LLVMValueRef call)
{
	LLVMValueRef callee = loci_callee_of(call);
	const char *name = callee ? LLVMGetValueName(callee) : "";
	unsigned i = 0;
	while (i < LOCI_EMIT_BULK &&
		strncmp(name, kinds[i].intrinsic, strlen(kinds[i].intrinsic)) != 0)
		i++;
	return i;
}

/* In another address space. */
static bool is_elsewhere(LLVMValueRef value)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
		LLVMGetPointerAddressSpace(type) != 0;
}

bool loci_bulk_may_be_large(LLVMValueRef call)
{
	if (kind_of(call) == LOCI_EMIT_BULK)
		return false;
	LLVMValueRef length = LLVMGetOperand(call, 2);
	if (LLVMGetIntTypeWidth(LLVMTypeOf(length)) != 64 ||
		is_elsewhere(LLVMGetOperand(call, 0)) || is_elsewhere(LLVMGetOperand(call, 1)))
		return false;
	return !LLVMIsAConstantInt(length) ||
		LLVMConstIntGetZExtValue(length) >= LOCI_CC_LARGE_BYTES;
}

static void lead(struct loci_emit *emit, LLVMValueRef call, bool is_tracing)
{
	unsigned kind = kind_of(call);
	LLVMValueRef argument[4];
	LLVMTypeRef taken[4];
	for (unsigned i = 0; i < 3; i++) {
		argument[i] = LLVMGetOperand(call, i);
		taken[i] = LLVMTypeOf(argument[i]);
	}
	taken[3] = emit->word;
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(emit->context), taken, 4, 0);
	if (!emit->bulk[kind])
		emit->bulk[kind] = loci_asking_own(emit, kinds[kind].name, type, kinds[kind].code);
	loci_emit_before(emit, call);
	argument[3] = is_tracing ? loci_emit_budget_in_memory(emit) : loci_emit_get_budget(emit);
	LLVMBuildCall2(emit->builder, type, emit->bulk[kind], argument, 4, "");
	LLVMInstructionEraseFromParent(call);
}

void loci_bulk_make(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_ir_copy *copy)
{
	/* Both references of a copy are of one instruction, one after the other. */
	LLVMValueRef last = NULL;
	for (size_t i = 0; i < plan->n_refs; i++) {
		LLVMValueRef call = plan->ref[i].instruction;
		if (!plan->ref[i].may_be_large || call == last)
			continue;
		last = call;
		if (copy)
			lead(emit, loci_ir_copy_of(copy, call), true);
		lead(emit, call, false);
	}
}
