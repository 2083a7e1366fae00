/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives a function's control flow the shape that the plan and the copies count on:
 *
 *  - the first block has nothing but allocas that last as long as the function, and goes to the
 *    body;
 *  - the block that an invoke returns to has no other predecessor;
 *  - the target of a back edge has one predecessor from behind, which does nothing else (a gate;
 *    of a landing pad, a landing pad), and one from ahead;
 *  - what returns right after a call does not meet others for that.
 *
 * Where edges cannot be split (`is_rigid`) the last two are left out, and where operations are
 * counted the last one, which takes jumps away. */
#ifndef LOCI_COLLECT_LLVM_PREPARE_H
#define LOCI_COLLECT_LLVM_PREPARE_H

#include "collect/llvm/flow.h"

void loci_prepare(LLVMValueRef function, bool is_rigid, bool has_ops, struct loci_flow *ret);

#endif
