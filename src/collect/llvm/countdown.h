/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops that count what is left of their turns. The code generator's strength reduction puts
 * counters of its own in the place of those that addresses were made of, and then mostly counts
 * down to zero. What it would have counted by is in the loop already if this has made it so, and is
 * kept; the code is the same. So the debug information can name it (budget_variable.h). */
#ifndef LOCI_COLLECT_LLVM_COUNTDOWN_H
#define LOCI_COLLECT_LLVM_COUNTDOWN_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* (bound - counter) / step turns are ahead when one begins, and where it counts down as well left /
 * step. */
struct loci_countdown {
	LLVMValueRef counter, bound;
	LLVMValueRef left; /* NULL: it does not count down */
	uint64_t step;
};
/* Of a loop that is left by `exiting` alone. False: it does not count its turns in a plain way, and
 * is as it was. */
bool loci_countdown_make(
	LLVMBasicBlockRef header, LLVMBasicBlockRef exiting, struct loci_countdown *ret);

#ifdef __cplusplus
}
#endif

#endif
