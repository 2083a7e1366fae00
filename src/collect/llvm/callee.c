/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/callee.h"

#include "collect/llvm/ir.h"
#include "collect/llvm/spans.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

LLVMValueRef loci_callee_of(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee);
}

bool loci_callee_is_intrinsic(LLVMValueRef call)
{
	LLVMValueRef callee = loci_callee_of(call);
	return callee && strncmp(LLVMGetValueName(callee), "llvm.", 5) == 0;
}

/* Functions of <math.h> and the like; those of <string.h> stand in the table of spans. Sorted. */
static const char *const plain[] = { "abs", "acos", "acosf", "acosh", "asin", "asinf", "asinh",
	"atan", "atan2", "atan2f", "atanf", "atanh", "cbrt", "cbrtf", "ceil", "ceilf", "copysign",
	"copysignf", "cos", "cosf", "cosh", "coshf", "erf", "erfc", "exp", "exp2", "exp2f", "expf",
	"expm1", "fabs", "fabsf", "ffs", "floor", "floorf", "fma", "fmaf", "fmax", "fmaxf", "fmin",
	"fminf", "fmod", "fmodf", "hypot", "hypotf", "isalnum", "isalpha", "isdigit", "islower",
	"isspace", "isupper", "labs", "ldexp", "ldexpf", "llabs", "llround", "log", "log10",
	"log10f", "log1p", "log2", "log2f", "logb", "logf", "lrint", "lround", "nearbyint", "pow",
	"powf", "remainder", "rint", "rintf", "round", "roundf", "scalbn", "sin", "sinf", "sinh",
	"sinhf", "sqrt", "sqrtf", "tan", "tanf", "tanh", "tanhf", "tgamma", "tolower", "toupper",
	"trunc", "truncf" };

static int compare(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

bool loci_callee_is_library(const char *name)
{
	return loci_spans_know(name) ||
		bsearch(name, plain, sizeof(plain) / sizeof(plain[0]), sizeof(plain[0]), compare);
}

/* Assembly that might go somewhere else before it comes back. */
static bool asm_may_record(LLVMValueRef call)
{
	return loci_ir_asm_mentions(call, "call") || loci_ir_asm_mentions(call, "jmp") ||
		loci_ir_asm_mentions(call, "ret") || loci_ir_asm_mentions(call, "sp") ||
		loci_ir_asm_mentions(call, "syscall") || loci_ir_asm_mentions(call, "int");
}

bool loci_callee_may_record(LLVMValueRef call)
{
	if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
		return asm_may_record(call);
	LLVMValueRef callee = loci_callee_of(call);
	if (!callee)
		return true;
	const char *name = LLVMGetValueName(callee);
	if (strncmp(name, "llvm.", 5) == 0)
		return strncmp(name, "llvm.experimental.", 18) == 0 &&
			(strstr(name, "patchpoint") || strstr(name, "statepoint"));
	return !(LLVMIsDeclaration(callee) && loci_callee_is_library(name));
}
