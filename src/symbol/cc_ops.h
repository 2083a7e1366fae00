/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations in a definition (collect/runtime/cc_abi.h), of functions that were compiled with
 * `loci cc --loci-ops`. Numbers are those of a definition that cc_section.c has accepted: what they
 * lead to is there.
 *
 * From a stream to a block's number: the DEFINE flagged LOCI_BLOCK_ENTRY has a first site, whose
 * definition is loci_cc_find()'s; its id is that of block 0, and those of the others follow. */
#ifndef LOCI_SYMBOL_CC_OPS_H
#define LOCI_SYMBOL_CC_OPS_H

#include "symbol/cc_section.h"

bool loci_cc_has_ops(const struct loci_cc_known *known);

/* Of a block: line, column, scope and which of the operations are its own. */
struct loci_cc_block_ops loci_cc_block_ops(const struct loci_cc_known *known, uint32_t block);
struct loci_cc_op loci_cc_op(const struct loci_cc_known *known, uint32_t index);

/* How many of the invocations are the block's, and the first of them. */
uint32_t loci_cc_invocations(
	const struct loci_cc_known *known, uint32_t block, uint32_t *ret_first);
struct loci_cc_invocation loci_cc_invocation(const struct loci_cc_known *known, uint32_t index);
/* Its callee's name in the symbol table; NULL: none. */
const char *loci_cc_invocation_callee(
	const struct loci_cc_section *section, const struct loci_cc_known *known, uint32_t index);

/* "int add", "f64"; NULL: there is no such kind, no such type, or it is none. */
const char *loci_cc_op_kind_text(uint8_t kind);
const char *loci_cc_type_text(uint8_t type);

/* For cc_section.c: bytes of these tables, and whether all that they say can be followed. */
uint64_t loci_cc_ops_bytes(const struct loci_cc_definition *header);
bool loci_cc_ops_sound(const struct loci_cc_known *known);

#endif
