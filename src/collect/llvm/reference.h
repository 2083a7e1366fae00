/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which references an instruction makes. */
#ifndef LOCI_COLLECT_LLVM_REFERENCE_H
#define LOCI_COLLECT_LLVM_REFERENCE_H

#include "collect/llvm/plan.h"

#include <llvm-c/Target.h>

struct loci_references {
	LLVMTargetDataRef layout;
	unsigned nontemporal; /* kind of metadata */
	unsigned byval;       /* kind of attribute */
	struct loci_plan_ref *ref;
	size_t n;
};

void loci_references_init(struct loci_references *references, LLVMModuleRef module);
/* Appends those of the instruction, in the order they happen. */
void loci_references_add(struct loci_references *references, LLVMValueRef instruction);
/* For the tables that know functions of the C library. */
void loci_references_add_one(struct loci_references *references, struct loci_plan_ref ref);

#endif
