/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions and intrinsics of LLVM by the operation that they are. */
#ifndef LOCI_COLLECT_LLVM_OP_NAMES_H
#define LOCI_COLLECT_LLVM_OP_NAMES_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stdint.h>

/* enum loci_cc_op_kind; 0: it is none. Of those that need no closer look. */
int loci_op_kind_of(LLVMOpcode opcode);

struct loci_op_name {
	bool is_known;
	uint8_t kind;     /* enum loci_cc_op_kind; 0: it is none */
	uint8_t argument; /* of a store: which is stored */
};
struct loci_op_name loci_op_name(const char *intrinsic);

#endif
