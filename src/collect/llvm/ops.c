/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations are counted as Byfl does (Pakin and McCormick 2013; Anger et al. 2014): instructions
 * of the intermediate code, whatever the machine makes of them. Unlike there, intrinsics are what
 * they compute, and no calls. */
#include "collect/llvm/ops.h"

#include "collect/llvm/ir.h"
#include "collect/llvm/op_names.h"

#include <string.h>

static const char mark[] = "loci.op";

static void set_marks(LLVMValueRef function, LLVMValueRef node, unsigned kind)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
		if (end && LLVMIsABranchInst(end) && !LLVMIsConditional(end))
			LLVMSetMetadata(end, kind, node);
	}
}

static unsigned mark_kind(LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	return LLVMGetMDKindIDInContext(context, mark, sizeof(mark) - 1);
}

void loci_ops_mark(LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	set_marks(function, LLVMMDNodeInContext(context, NULL, 0), mark_kind(function));
}

void loci_ops_unmark(LLVMValueRef function)
{
	set_marks(function, NULL, mark_kind(function));
}

static uint8_t type_of_width(unsigned bits)
{
	switch (bits) {
	case 1:
		return LOCI_CC_TYPE_I1;
	case 8:
		return LOCI_CC_TYPE_I8;
	case 16:
		return LOCI_CC_TYPE_I16;
	case 32:
		return LOCI_CC_TYPE_I32;
	case 64:
		return LOCI_CC_TYPE_I64;
	case 128:
		return LOCI_CC_TYPE_I128;
	default:
		return LOCI_CC_TYPE_INT;
	}
}

static bool is_vector(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static uint8_t scalar_type(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMVoidTypeKind:
	case LLVMLabelTypeKind:
	case LLVMMetadataTypeKind:
	case LLVMTokenTypeKind:
		return LOCI_CC_TYPE_NONE;
	case LLVMIntegerTypeKind:
		return type_of_width(LLVMGetIntTypeWidth(type));
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
		return LOCI_CC_TYPE_F16;
	case LLVMFloatTypeKind:
		return LOCI_CC_TYPE_F32;
	case LLVMDoubleTypeKind:
		return LOCI_CC_TYPE_F64;
	case LLVMX86_FP80TypeKind:
		return LOCI_CC_TYPE_F80;
	case LLVMFP128TypeKind:
	case LLVMPPC_FP128TypeKind:
		return LOCI_CC_TYPE_F128;
	case LLVMPointerTypeKind:
		return LOCI_CC_TYPE_POINTER;
	default:
		return LOCI_CC_TYPE_OTHER;
	}
}

static void set_type(struct loci_cc_op *op, LLVMTypeRef type)
{
	unsigned lanes = is_vector(type) ? LLVMGetVectorSize(type) : 1;
	op->type = scalar_type(is_vector(type) ? LLVMGetElementType(type) : type);
	op->lanes = lanes > UINT16_MAX ? UINT16_MAX : (uint16_t)lanes;
}

static uint32_t bits_of(LLVMTargetDataRef layout, LLVMTypeRef type)
{
	unsigned long long bits = 0;
	if (scalar_type(type) != LOCI_CC_TYPE_NONE && LLVMTypeIsSized(type))
		bits = LLVMSizeOfTypeInBits(layout, type);
	return bits > UINT32_MAX ? UINT32_MAX : (uint32_t)bits;
}

/* Operands that are values; of a call its arguments. */
static unsigned operands_of(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction)
		? LLVMGetNumArgOperands(instruction)
		: (unsigned)LLVMGetNumOperands(instruction);
}

static uint32_t all_bits(LLVMTargetDataRef layout, LLVMValueRef instruction)
{
	uint32_t bits = bits_of(layout, LLVMTypeOf(instruction));
	for (unsigned i = 0; i < operands_of(instruction); i++)
		bits += bits_of(layout, LLVMTypeOf(LLVMGetOperand(instruction, i)));
	return bits;
}

static struct loci_cc_op make(
	LLVMTargetDataRef layout, enum loci_cc_op_kind kind, LLVMTypeRef type, uint32_t bits)
{
	struct loci_cc_op op = { .kind = (uint8_t)kind, .count = 1, .lanes = 1, .bits = bits };
	(void)layout;
	if (type)
		set_type(&op, type);
	return op;
}

static struct loci_cc_op moved(
	LLVMTargetDataRef layout, enum loci_cc_op_kind kind, LLVMTypeRef type)
{
	unsigned long long bits = 8 * LLVMStoreSizeOfType(layout, type);
	return make(layout, kind, type, bits > UINT32_MAX ? UINT32_MAX : (uint32_t)bits);
}

static enum loci_cc_op_kind modifying(LLVMAtomicRMWBinOp how)
{
	switch (how) {
	case LLVMAtomicRMWBinOpAdd:
		return LOCI_CC_OP_INT_ADD;
	case LLVMAtomicRMWBinOpSub:
		return LOCI_CC_OP_INT_SUB;
	case LLVMAtomicRMWBinOpAnd:
	case LLVMAtomicRMWBinOpNand:
	case LLVMAtomicRMWBinOpOr:
	case LLVMAtomicRMWBinOpXor:
		return LOCI_CC_OP_INT_LOGIC;
	case LLVMAtomicRMWBinOpFAdd:
	case LLVMAtomicRMWBinOpFSub:
		return LOCI_CC_OP_FLOAT_ADD;
	default:
		return LOCI_CC_OP_INT_OTHER;
	}
}

static unsigned modify(LLVMTargetDataRef layout, LLVMValueRef instruction, struct loci_cc_op *ret)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, 1));
	uint32_t bits = bits_of(layout, type);
	bool compares = LLVMIsAAtomicCmpXchgInst(instruction) != NULL;
	ret[0] = moved(layout, LOCI_CC_OP_LOAD, type);
	ret[1] = moved(layout, LOCI_CC_OP_STORE, type);
	if (compares) {
		ret[2] = make(layout, LOCI_CC_OP_INT_COMPARE, type, 2 * bits + 1);
		return 3;
	}
	LLVMAtomicRMWBinOp how = LLVMGetAtomicRMWBinOp(instruction);
	if (how == LLVMAtomicRMWBinOpXchg)
		return 2;
	ret[2] = make(layout, modifying(how), type, 3 * bits);
	if (ret[2].kind == LOCI_CC_OP_INT_OTHER && ret[2].type >= LOCI_CC_TYPE_F16 &&
		ret[2].type <= LOCI_CC_TYPE_F128)
		ret[2].kind = LOCI_CC_OP_FLOAT_OTHER;
	return 3;
}

LLVMValueRef loci_ops_callee(LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return NULL;
	LLVMValueRef callee = LLVMGetCalledValue(instruction);
	while (LLVMIsAConstantExpr(callee) && LLVMGetConstOpcode(callee) == LLVMBitCast)
		callee = LLVMGetOperand(callee, 0);
	if (!LLVMIsAGlobalValue(callee) || LLVMIsAGlobalVariable(callee))
		return NULL;
	return strncmp(LLVMGetValueName(callee), "llvm.", 5) == 0 ? NULL : callee;
}

/* What an intrinsic works on: a vector if it takes one, otherwise its first argument. */
static LLVMTypeRef worked_on(LLVMValueRef call)
{
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n; i++)
		if (is_vector(LLVMTypeOf(LLVMGetOperand(call, i))))
			return LLVMTypeOf(LLVMGetOperand(call, i));
	return n ? LLVMTypeOf(LLVMGetOperand(call, 0)) : LLVMTypeOf(call);
}

/* Of the machine's own, or not known. */
static enum loci_cc_op_kind by_type(LLVMValueRef call)
{
	LLVMTypeRef type = LLVMTypeOf(call);
	uint8_t scalar = scalar_type(is_vector(type) ? LLVMGetElementType(type) : type);
	if (scalar >= LOCI_CC_TYPE_F16 && scalar <= LOCI_CC_TYPE_F128)
		return LOCI_CC_OP_FLOAT_OTHER;
	return scalar >= LOCI_CC_TYPE_I1 && scalar <= LOCI_CC_TYPE_INT ? LOCI_CC_OP_INT_OTHER
								       : LOCI_CC_OP_OTHER;
}

static unsigned of_intrinsic(
	LLVMTargetDataRef layout, LLVMValueRef call, const char *name, struct loci_cc_op *ret)
{
	struct loci_op_name how = loci_op_name(name);
	if (!how.is_known)
		how.kind = (uint8_t)by_type(call);
	switch (how.kind) {
	case 0:
		return 0;
	case LOCI_CC_OP_LOAD:
		ret[0] = moved(layout, LOCI_CC_OP_LOAD, LLVMTypeOf(call));
		return 1;
	case LOCI_CC_OP_STORE:
		ret[0] = moved(
			layout, LOCI_CC_OP_STORE, LLVMTypeOf(LLVMGetOperand(call, how.argument)));
		return 1;
	case LOCI_CC_OP_CONVERT:
	case LOCI_CC_OP_LANES:
		ret[0] = make(layout, how.kind, LLVMTypeOf(call), all_bits(layout, call));
		return 1;
	case LOCI_CC_OP_MEMSET:
	case LOCI_CC_OP_MEMCPY:
	case LOCI_CC_OP_OTHER:
		ret[0] = make(layout, how.kind, NULL, 0);
		return 1;
	default:
		ret[0] = make(layout, how.kind, worked_on(call), all_bits(layout, call));
		return 1;
	}
}

static unsigned of_call(LLVMTargetDataRef layout, LLVMValueRef call, struct loci_cc_op *ret)
{
	LLVMValueRef called = LLVMGetCalledValue(call), function = LLVMIsAFunction(called);
	const char *name = function ? LLVMGetValueName(function) : "";
	if (strncmp(name, "llvm.", 5) == 0)
		return of_intrinsic(layout, call, name, ret);
	enum loci_cc_op_kind kind = LLVMIsAInlineAsm(called) ? LOCI_CC_OP_ASM
		: loci_ops_callee(call)                      ? LOCI_CC_OP_CALL
							     : LOCI_CC_OP_CALL_INDIRECT;
	ret[0] = make(layout, kind, NULL, 0);
	return 1;
}

/* The callee returns in place of a caller that must call it last. */
static bool is_done_by_callee(LLVMValueRef end)
{
	LLVMValueRef before = LLVMGetPreviousInstruction(end);
	if (before && LLVMIsABitCastInst(before))
		before = LLVMGetPreviousInstruction(before);
	return before && loci_ir_is_musttail(before);
}

static unsigned of_end(LLVMTargetDataRef layout, LLVMValueRef end, struct loci_cc_op *ret)
{
	LLVMValueRef on = NULL;
	enum loci_cc_op_kind kind = LOCI_CC_OP_RETURN;
	switch (LLVMGetInstructionOpcode(end)) {
	case LLVMRet:
		if (is_done_by_callee(end))
			return 0;
		on = LLVMGetNumOperands(end) ? LLVMGetOperand(end, 0) : NULL;
		break;
	case LLVMBr:
		if (!LLVMIsConditional(end) &&
			!LLVMGetMetadata(end,
				mark_kind(LLVMGetBasicBlockParent(LLVMGetInstructionParent(end)))))
			return 0;
		kind = LLVMIsConditional(end) ? LOCI_CC_OP_BRANCH_COND : LOCI_CC_OP_BRANCH;
		on = LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
		break;
	case LLVMSwitch:
		kind = LOCI_CC_OP_SWITCH;
		on = LLVMGetOperand(end, 0);
		break;
	case LLVMIndirectBr:
		kind = LOCI_CC_OP_BRANCH_INDIRECT;
		on = LLVMGetOperand(end, 0);
		break;
	default:
		break; /* resume */
	}
	LLVMTypeRef type = on ? LLVMTypeOf(on) : NULL;
	ret[0] = make(layout, kind, type, type ? bits_of(layout, type) : 0);
	return 1;
}

static bool is_zero(LLVMValueRef value)
{
	return LLVMIsConstant(value) && LLVMIsNull(value);
}

static bool has_offset(LLVMValueRef address)
{
	for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); i++)
		if (!is_zero(LLVMGetOperand(address, i)))
			return true;
	return false;
}

unsigned loci_ops_of(
	LLVMTargetDataRef layout, LLVMValueRef instruction, struct loci_cc_op ret[LOCI_OPS_MAX])
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	LLVMTypeRef type = LLVMTypeOf(instruction);
	int kind = loci_op_kind_of(opcode);

	switch (opcode) {
	case LLVMRet:
	case LLVMBr:
	case LLVMSwitch:
	case LLVMIndirectBr:
	case LLVMResume:
		return of_end(layout, instruction, ret);
	case LLVMCall:
	case LLVMInvoke:
		return of_call(layout, instruction, ret);
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return modify(layout, instruction, ret);
	case LLVMLoad:
		ret[0] = moved(layout, LOCI_CC_OP_LOAD, type);
		return 1;
	case LLVMStore:
		ret[0] =
			moved(layout, LOCI_CC_OP_STORE, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
		return 1;
	case LLVMAlloca:
		if (loci_ir_is_static_alloca(instruction))
			return 0;
		break;
	case LLVMGetElementPtr:
		if (!has_offset(instruction))
			return 0;
		break;
	case LLVMICmp:
	case LLVMFCmp:
	case LLVMExtractElement:
		type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
		break;
	default:
		break;
	}
	if (kind == 0)
		return 0;
	bool has_values = kind < LOCI_CC_OP_BRANCH;
	ret[0] = make(layout, (enum loci_cc_op_kind)kind, has_values ? type : NULL,
		has_values ? all_bits(layout, instruction) : 0);
	return 1;
}
