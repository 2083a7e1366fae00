/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Definitions without names. */
#include "collect/llvm/numbers.h"
#include "collect/llvm/plan.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

LLVMValueRef loci_describe(const struct loci_plan *plan, const LLVMValueRef *counter)
{
	LLVMContextRef c = LLVMGetModuleContext(plan->module);
	LLVMTypeRef i8 = LLVMInt8TypeInContext(c), i32 = LLVMInt32TypeInContext(c),
		    i64 = LLVMInt64TypeInContext(c);
	size_t bytes = sizeof(struct loci_cc_definition) + plan->n_blocks * 16 + plan->n_refs * 24;
	char *data = loci_zeroed(1, bytes);
	struct loci_cc_definition *d = (void *)data;
	*d = (struct loci_cc_definition){ .magic = LOCI_CC_DEFINITION_MAGIC,
		.version = 1,
		.bytes = (uint32_t)bytes,
		.n_blocks = (uint32_t)plan->n_blocks,
		.n_sites = (uint32_t)plan->n_refs };
	struct loci_cc_block *b = (void *)(d + 1);
	for (size_t i = 0; i < plan->n_blocks; i++)
		b[i] = (struct loci_cc_block){ .first_site = plan->block[i].first_ref,
			.n_sites = (uint16_t)plan->block[i].n_refs,
			.flags = plan->block[i].flags,
			.depth = plan->block[i].depth,
			.loop = plan->block[i].loop };
	struct loci_cc_site *s = (void *)(b + plan->n_blocks);
	for (size_t i = 0; i < plan->n_refs; i++)
		s[i] = (struct loci_cc_site){ .size_bytes = plan->ref[i].size_bytes,
			.op = plan->ref[i].op,
			.flags = plan->ref[i].flags };
	LLVMValueRef text = LLVMConstStringInContext(c, data, (unsigned)bytes, 1);
	LLVMValueRef def = LLVMAddGlobal(plan->module, LLVMTypeOf(text), "loci.def");
	LLVMSetInitializer(def, text);
	LLVMSetSection(def, LOCI_CC_DEFINITIONS);
	LLVMSetGlobalConstant(def, 1);
	LLVMSetAlignment(def, 8);
	LLVMSetLinkage(def, LLVMPrivateLinkage);
	LLVMTypeRef field[] = { i64, i32, i32 };
	LLVMTypeRef type = LLVMStructTypeInContext(c, field, 3, 0);
	LLVMValueRef fn = LLVMAddGlobal(plan->module, type, "loci.fn");
	LLVMSetSection(fn, LOCI_CC_FUNCTIONS);
	LLVMSetAlignment(fn, 8);
	LLVMSetLinkage(fn, LLVMPrivateLinkage);
	(void)i8;
	LLVMValueRef at[2];
	for (unsigned i = 0; i < 2; i++) {
		LLVMValueRef index[] = { LLVMConstInt(i32, 0, 0), LLVMConstInt(i32, i + 1, 0) };
		LLVMValueRef here = LLVMConstPtrToInt(LLVMConstGEP2(type, fn, index, 2), i64);
		LLVMValueRef there = LLVMConstPtrToInt(i ? def : plan->function, i64);
		at[i] = LLVMConstTrunc(LLVMConstSub(there, here), i32);
	}
	LLVMValueRef value[] = { LLVMConstInt(i64, 0, 0), at[0], at[1] };
	LLVMSetInitializer(fn, LLVMConstStructInContext(c, value, 3, 0));
	free(data);
	return fn;
}
