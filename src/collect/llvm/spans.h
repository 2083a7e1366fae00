/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What functions of the C library refer to, said by the caller, for they are not instrumented. */
#ifndef LOCI_COLLECT_LLVM_SPANS_H
#define LOCI_COLLECT_LLVM_SPANS_H

#include "collect/llvm/reference.h"

bool loci_spans_know(const char *name);
/* The references of a call of a function of that name, if it is known. */
void loci_spans_add(struct loci_references *references, LLVMValueRef call, const char *name);

#endif
