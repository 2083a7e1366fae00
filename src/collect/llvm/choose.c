/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Not instrumented: what runs before threads have their storage (resolvers of indirect functions,
 * and what they call), functions that are all assembly, bodies that are emitted elsewhere, and
 * functions of the C library's that the program itself defines, whose callers count for them. */
#include "collect/llvm/choose.h"

#include "collect/llvm/callee.h"
#include "collect/llvm/ir.h"
#include "collect/llvm/numbers.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define COPY_INSTRUCTIONS_MAX 30000

static bool matches(const char *patterns, const char *name)
{
	while (*patterns) {
		char pattern[512];
		size_t length = strcspn(patterns, ",");
		if (length > 0 && length < sizeof(pattern)) {
			memcpy(pattern, patterns, length);
			pattern[length] = '\0';
			if (fnmatch(pattern, name, FNM_NOESCAPE) == 0)
				return true;
		}
		patterns += length;
		patterns += *patterns == ',';
	}
	return false;
}

static bool is_asked_for(const char *name)
{
	const char *only = getenv("LOCI_ONLY"), *skip = getenv("LOCI_SKIP");
	return !(only && *only && !matches(only, name)) && !(skip && matches(skip, name));
}

static bool is_possible(LLVMValueRef function, const char *name)
{
	return !LLVMIsDeclaration(function) &&
		LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
		!loci_ir_function_has(function, LOCI_CHOICE_DONE) &&
		!loci_ir_function_has(function, "naked") &&
		!loci_ir_function_has(function, "disable_sanitizer_instrumentation") &&
		!loci_ir_function_has(function, "presplitcoroutine") &&
		!loci_ir_function_has(function, "coroutine.presplit") &&
		strncmp(name, "__loci_", 7) != 0 && strncmp(name, "loci.", 5) != 0 &&
		!loci_callee_is_library(name);
}

static void add(struct loci_choice *choice, LLVMValueRef function)
{
	choice->function = loci_grown(choice->function, choice->n, sizeof(*choice->function));
	choice->function[choice->n++] = function;
}

/* Functions that run while the program is still being relocated. */
struct early {
	struct loci_numbers known;
	LLVMValueRef *function;
	size_t n;
};

static void add_early(struct early *early, LLVMValueRef function)
{
	if (!function || loci_numbers_get(&early->known, function) != LOCI_NUMBER_NONE)
		return;
	loci_numbers_set(&early->known, function, 1);
	early->function = loci_grown(early->function, early->n, sizeof(*early->function));
	early->function[early->n++] = function;
}

static LLVMValueRef resolver_of(LLVMValueRef indirect)
{
	LLVMValueRef resolver = LLVMGetGlobalIFuncResolver(indirect);
	while (resolver && LLVMIsAConstantExpr(resolver))
		resolver = LLVMGetOperand(resolver, 0);
	return resolver ? LLVMIsAFunction(resolver) : NULL;
}

static void find_early(struct early *early, LLVMModuleRef module)
{
	for (LLVMValueRef at = LLVMGetFirstGlobalIFunc(module); at; at = LLVMGetNextGlobalIFunc(at))
		add_early(early, resolver_of(at));
	for (size_t i = 0; i < early->n; i++)
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(early->function[i]); block;
			block = LLVMGetNextBasicBlock(block))
			for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
				at = LLVMGetNextInstruction(at))
				if (LLVMIsACallInst(at))
					add_early(early, loci_callee_of(at));
}

void loci_choice_init(struct loci_choice *choice, LLVMModuleRef module)
{
	struct early early = { 0 };
	*choice = (struct loci_choice){ 0 };
	find_early(&early, module);
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at)) {
		const char *name = LLVMGetValueName(at);
		if (is_possible(at, name) && is_asked_for(name) &&
			loci_numbers_get(&early.known, at) == LOCI_NUMBER_NONE)
			add(choice, at);
	}
	free(early.function);
	loci_numbers_fini(&early.known);
}

void loci_choice_fini(struct loci_choice *choice)
{
	free(choice->function);
}

static bool is_uncopyable(LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMIndirectBr:
	case LLVMCallBr:
	case LLVMCatchSwitch:
	case LLVMCatchPad:
	case LLVMCleanupPad:
		return true;
	case LLVMCall:
	case LLVMInvoke:
		return loci_ir_call_has(instruction, "noduplicate") ||
			loci_ir_call_has(instruction, "convergent") ||
			loci_ir_has_asm_label(instruction) || loci_ir_is_token(instruction);
	default:
		return false;
	}
}

bool loci_choose_by_piece(LLVMValueRef function)
{
	size_t n = 0;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
			at = LLVMGetNextInstruction(at))
			if (is_uncopyable(at) || ++n > COPY_INSTRUCTIONS_MAX)
				return true;
	return false;
}
