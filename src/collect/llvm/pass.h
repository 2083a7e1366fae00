/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOCI_COLLECT_LLVM_PASS_H
#define LOCI_COLLECT_LLVM_PASS_H

#include <llvm-c/Core.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum loci_pass_place {
	LOCI_PASS_COMPILING, /* at the end of optimising one source file */
	LOCI_PASS_LINKING,   /* at the end of optimising all of a program */
};

/* Instruments the functions of a module. Returns whether anything changed. */
bool loci_instrument(LLVMModuleRef module, enum loci_pass_place place);

#ifdef __cplusplus
}
#endif

#endif
