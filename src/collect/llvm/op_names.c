/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An intrinsic is known by how its name begins; the longest beginning holds. What is not here is
 * taken by the type of its result. */
#include "collect/llvm/op_names.h"

#include "collect/runtime/cc_abi.h"

#include <string.h>

int loci_op_kind_of(LLVMOpcode opcode)
{
	switch (opcode) {
	case LLVMAdd:
		return LOCI_CC_OP_INT_ADD;
	case LLVMSub:
		return LOCI_CC_OP_INT_SUB;
	case LLVMMul:
		return LOCI_CC_OP_INT_MUL;
	case LLVMUDiv:
	case LLVMSDiv:
	case LLVMURem:
	case LLVMSRem:
		return LOCI_CC_OP_INT_DIV;
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
		return LOCI_CC_OP_INT_LOGIC;
	case LLVMShl:
	case LLVMLShr:
	case LLVMAShr:
		return LOCI_CC_OP_INT_SHIFT;
	case LLVMICmp:
		return LOCI_CC_OP_INT_COMPARE;
	case LLVMFAdd:
	case LLVMFSub:
		return LOCI_CC_OP_FLOAT_ADD;
	case LLVMFMul:
		return LOCI_CC_OP_FLOAT_MUL;
	case LLVMFDiv:
	case LLVMFRem:
		return LOCI_CC_OP_FLOAT_DIV;
	case LLVMFNeg:
		return LOCI_CC_OP_FLOAT_OTHER;
	case LLVMFCmp:
		return LOCI_CC_OP_FLOAT_COMPARE;
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMFPToUI:
	case LLVMFPToSI:
	case LLVMUIToFP:
	case LLVMSIToFP:
	case LLVMFPTrunc:
	case LLVMFPExt:
	case LLVMAddrSpaceCast:
		return LOCI_CC_OP_CONVERT;
	case LLVMSelect:
		return LOCI_CC_OP_SELECT;
	case LLVMGetElementPtr:
		return LOCI_CC_OP_ADDRESS;
	case LLVMInsertElement:
	case LLVMExtractElement:
	case LLVMShuffleVector:
		return LOCI_CC_OP_LANES;
	case LLVMAlloca:
		return LOCI_CC_OP_ALLOCA;
	case LLVMFence:
		return LOCI_CC_OP_FENCE;
	case LLVMCallBr:
		return LOCI_CC_OP_ASM;
	case LLVMVAArg:
	case LLVMCatchSwitch:
	case LLVMCatchRet:
	case LLVMCleanupRet:
		return LOCI_CC_OP_OTHER;
	default: /* PHIs, casts that make no code, parts of aggregates, pads, unreachable */
		return 0;
	}
}

#define NONE  0
#define INT   LOCI_CC_OP_INT_OTHER
#define FLOAT LOCI_CC_OP_FLOAT_OTHER

static const struct {
	const char *start; /* without "llvm." */
	uint8_t kind;
	uint8_t argument;
} names[] = {
	/* That say something to the compiler. */
	{ "dbg.", NONE, 0 },
	{ "lifetime.", NONE, 0 },
	{ "invariant.", NONE, 0 },
	{ "launder.invariant.group", NONE, 0 },
	{ "strip.invariant.group", NONE, 0 },
	{ "assume", NONE, 0 },
	{ "expect", NONE, 0 },
	{ "experimental.noalias.scope.decl", NONE, 0 },
	{ "donothing", NONE, 0 },
	{ "sideeffect", NONE, 0 },
	{ "pseudoprobe", NONE, 0 },
	{ "annotation", NONE, 0 },
	{ "var.annotation", NONE, 0 },
	{ "ptr.annotation", NONE, 0 },
	{ "codeview.annotation", NONE, 0 },
	{ "is.constant", NONE, 0 },
	{ "objectsize", NONE, 0 },
	{ "eh.typeid.for", NONE, 0 },
	{ "threadlocal.address", NONE, 0 },
	{ "ssa.copy", NONE, 0 },
	{ "type.test", NONE, 0 },
	{ "public.type.test", NONE, 0 },
	{ "fake.use", NONE, 0 },
	{ "va_end", NONE, 0 },
	/* Memory. */
	{ "memset", LOCI_CC_OP_MEMSET, 0 },
	{ "memcpy", LOCI_CC_OP_MEMCPY, 0 },
	{ "memmove", LOCI_CC_OP_MEMCPY, 0 },
	{ "masked.load", LOCI_CC_OP_LOAD, 0 },
	{ "masked.gather", LOCI_CC_OP_LOAD, 0 },
	{ "masked.expandload", LOCI_CC_OP_LOAD, 0 },
	{ "masked.store", LOCI_CC_OP_STORE, 0 },
	{ "masked.scatter", LOCI_CC_OP_STORE, 0 },
	{ "masked.compressstore", LOCI_CC_OP_STORE, 0 },
	{ "x86.avx.maskload", LOCI_CC_OP_LOAD, 0 },
	{ "x86.avx2.maskload", LOCI_CC_OP_LOAD, 0 },
	{ "x86.avx.maskstore", LOCI_CC_OP_STORE, 2 },
	{ "x86.avx2.maskstore", LOCI_CC_OP_STORE, 2 },
	{ "x86.avx2.gather", LOCI_CC_OP_LOAD, 0 },
	{ "x86.avx512.mask.gather", LOCI_CC_OP_LOAD, 0 },
	{ "x86.avx512.mask.scatter", LOCI_CC_OP_STORE, 3 },
	/* Integers. */
	{ "sadd.with.overflow", LOCI_CC_OP_INT_ADD, 0 },
	{ "uadd.with.overflow", LOCI_CC_OP_INT_ADD, 0 },
	{ "ssub.with.overflow", LOCI_CC_OP_INT_SUB, 0 },
	{ "usub.with.overflow", LOCI_CC_OP_INT_SUB, 0 },
	{ "smul.with.overflow", LOCI_CC_OP_INT_MUL, 0 },
	{ "umul.with.overflow", LOCI_CC_OP_INT_MUL, 0 },
	{ "fshl", LOCI_CC_OP_INT_SHIFT, 0 },
	{ "fshr", LOCI_CC_OP_INT_SHIFT, 0 },
	{ "vector.reduce.", INT, 0 },
	{ "vector.reduce.f", FLOAT, 0 },
	/* Floating point. */
	{ "fma", LOCI_CC_OP_FLOAT_FMA, 0 },
	{ "fmuladd", LOCI_CC_OP_FLOAT_FMA, 0 },
	{ "sqrt", LOCI_CC_OP_FLOAT_SQRT, 0 },
	{ "is.fpclass", FLOAT, 0 },
	{ "experimental.constrained.", FLOAT, 0 },
	{ "experimental.constrained.fadd", LOCI_CC_OP_FLOAT_ADD, 0 },
	{ "experimental.constrained.fsub", LOCI_CC_OP_FLOAT_ADD, 0 },
	{ "experimental.constrained.fmul", LOCI_CC_OP_FLOAT_MUL, 0 },
	{ "experimental.constrained.fdiv", LOCI_CC_OP_FLOAT_DIV, 0 },
	{ "experimental.constrained.frem", LOCI_CC_OP_FLOAT_DIV, 0 },
	{ "experimental.constrained.fma", LOCI_CC_OP_FLOAT_FMA, 0 },
	{ "experimental.constrained.fmuladd", LOCI_CC_OP_FLOAT_FMA, 0 },
	{ "experimental.constrained.sqrt", LOCI_CC_OP_FLOAT_SQRT, 0 },
	{ "experimental.constrained.fcmp", LOCI_CC_OP_FLOAT_COMPARE, 0 },
	{ "experimental.constrained.fpto", LOCI_CC_OP_CONVERT, 0 },
	{ "experimental.constrained.fptrunc", LOCI_CC_OP_CONVERT, 0 },
	{ "experimental.constrained.fpext", LOCI_CC_OP_CONVERT, 0 },
	{ "experimental.constrained.sitofp", LOCI_CC_OP_CONVERT, 0 },
	{ "experimental.constrained.uitofp", LOCI_CC_OP_CONVERT, 0 },
	/* Between types. */
	{ "fptosi.sat", LOCI_CC_OP_CONVERT, 0 },
	{ "fptoui.sat", LOCI_CC_OP_CONVERT, 0 },
	{ "convert.", LOCI_CC_OP_CONVERT, 0 },
	{ "lround", LOCI_CC_OP_CONVERT, 0 },
	{ "llround", LOCI_CC_OP_CONVERT, 0 },
	{ "lrint", LOCI_CC_OP_CONVERT, 0 },
	{ "llrint", LOCI_CC_OP_CONVERT, 0 },
	/* Lanes. */
	{ "vector.insert", LOCI_CC_OP_LANES, 0 },
	{ "vector.extract", LOCI_CC_OP_LANES, 0 },
	{ "vector.reverse", LOCI_CC_OP_LANES, 0 },
	{ "vector.splice", LOCI_CC_OP_LANES, 0 },
	{ "experimental.vector.", LOCI_CC_OP_LANES, 0 },
	/* Not by the type of what they give. */
	{ "va_start", LOCI_CC_OP_OTHER, 0 },
	{ "va_copy", LOCI_CC_OP_OTHER, 0 },
	{ "readcyclecounter", LOCI_CC_OP_OTHER, 0 },
	{ "x86.rdtsc", LOCI_CC_OP_OTHER, 0 },
	{ "get.", LOCI_CC_OP_OTHER, 0 },
};

struct loci_op_name loci_op_name(const char *intrinsic)
{
	struct loci_op_name found = { 0 };
	const char *name = intrinsic + strlen("llvm.");
	size_t longest = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].start);
		if (n < longest || strncmp(name, names[i].start, n) != 0)
			continue;
		longest = n;
		found = (struct loci_op_name){ true, names[i].kind, names[i].argument };
	}
	return found;
}
