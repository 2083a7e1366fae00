/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the runtime is asked for room, and made to know a function: by functions of the module's own,
 * which are small where they are called and ask only if they must. */
#ifndef LOCI_COLLECT_LLVM_ASKING_H
#define LOCI_COLLECT_LLVM_ASKING_H

#include "collect/llvm/emit.h"

void loci_asking_init(struct loci_emit *emit);
/* A function of the module that is this assembly alone; NULL: it takes and returns nothing. */
LLVMValueRef loci_asking_own(
	struct loci_emit *emit, const char *name, LLVMTypeRef type, const char *code);
/* Makes room unless there is, and the function at hand known; cursor and state are in their slots
 * then. */
void loci_asking_cross(struct loci_emit *emit);
/* The same where the function begins, whose marker, FRAME and CALLER stand at the cursor then. */
void loci_asking_enter(struct loci_emit *emit);

#endif
