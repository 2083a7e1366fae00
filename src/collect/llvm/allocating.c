/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ALLOCATE of Fortran is a call of malloc only in simple cases. Of derived types, with STAT= or
 * SOURCE=, of pointers, and where an assignment gives an array its size, flang's runtime library
 * does it: malloc is then called from there, and the statement would be unknown. */
#include "collect/llvm/allocating.h"

#include "collect/llvm/callee.h"
#include "collect/llvm/ir.h"

#include <llvm-c/DebugInfo.h>

#include <string.h>

/* Names that begin so: some have siblings for what comes with them (Source, Polymorphic). */
static const char *const allocators[] = { "_FortranAAllocatableAllocate",
	"_FortranAPointerAllocate", "_FortranAAssign" };

static bool allocates(LLVMValueRef instruction)
{
	LLVMValueRef callee = LLVMIsACallInst(instruction) ? loci_callee_of(instruction) : NULL;

	if (!callee || !LLVMIsDeclaration(callee))
		return false;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (!strncmp(LLVMGetValueName(callee), allocators[i], strlen(allocators[i])))
			return true;
	return false;
}

/* Where the call stands, so that the address it returns to has its line. */
static void call_runtime(LLVMValueRef before, LLVMMetadataRef location, unsigned begins)
{
	LLVMModuleRef module =
		LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(before)));
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef number = LLVMInt32TypeInContext(context);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &number, 1, 0);
	LLVMValueRef function = LLVMGetNamedFunction(module, "__loci_allocating");
	LLVMValueRef argument = LLVMConstInt(number, begins, 0);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);

	if (!function)
		function = LLVMAddFunction(module, "__loci_allocating", type);
	LLVMPositionBuilderBefore(builder, before);
	LLVMInstructionSetDebugLoc(
		LLVMBuildCall2(builder, type, function, &argument, 1, ""), location);
	LLVMDisposeBuilder(builder);
}

void loci_allocating_mark(LLVMValueRef function)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
			at = LLVMGetNextInstruction(at)) {
			LLVMMetadataRef location;

			if (!allocates(at) || loci_ir_is_musttail(at))
				continue;
			location = LLVMInstructionGetDebugLoc(at);
			call_runtime(at, location, 1);
			at = LLVMGetNextInstruction(at);
			call_runtime(at, location, 0);
		}
}
