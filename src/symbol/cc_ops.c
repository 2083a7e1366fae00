// SPDX-License-Identifier: GPL-2.0-or-later
/* See cc_ops.h. What holds of an accepted definition: the operations of blocks lie in their table,
 * ascend and are none twice; invocations ascend by block; scopes are there. */
#include "symbol/cc_ops.h"

#include <string.h>

enum { BLOCKS, OPS, INVOCATIONS, TERMS, TABLES };

static uint64_t bytes_before(const struct loci_cc_definition *header, unsigned table)
{
	const uint64_t rows[] = { header->n_blocks, header->n_ops, header->n_invocations,
		header->n_terms };
	const uint64_t bytes[] = { sizeof(struct loci_cc_block_ops), sizeof(struct loci_cc_op),
		sizeof(struct loci_cc_invocation), sizeof(struct loci_cc_term) };
	uint64_t sum = 0;

	for (unsigned i = 0; i < table; i++)
		sum += rows[i] * bytes[i]; /* 32 bits times little */
	return sum;
}

uint64_t loci_cc_ops_bytes(const struct loci_cc_definition *header)
{
	return header->n_ops ? bytes_before(header, TABLES) : 0;
}

bool loci_cc_has_ops(const struct loci_cc_known *known)
{
	return known->header.n_ops > 0;
}

static const uint8_t *row_at(
	const struct loci_cc_known *known, unsigned table, uint32_t index, size_t bytes)
{
	return known->ops + bytes_before(&known->header, table) + index * bytes;
}

struct loci_cc_block_ops loci_cc_block_ops(const struct loci_cc_known *known, uint32_t block)
{
	struct loci_cc_block_ops row;

	memcpy(&row, row_at(known, BLOCKS, block, sizeof(row)), sizeof(row));
	return row;
}

struct loci_cc_op loci_cc_op(const struct loci_cc_known *known, uint32_t index)
{
	struct loci_cc_op row;

	memcpy(&row, row_at(known, OPS, index, sizeof(row)), sizeof(row));
	return row;
}

struct loci_cc_invocation loci_cc_invocation(const struct loci_cc_known *known, uint32_t index)
{
	struct loci_cc_invocation row;

	memcpy(&row, row_at(known, INVOCATIONS, index, sizeof(row)), sizeof(row));
	return row;
}

/* The first invocation of this block or a later one. */
static uint32_t first_invocation(const struct loci_cc_known *known, uint32_t block)
{
	uint32_t low = 0, high = known->header.n_invocations;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (loci_cc_invocation(known, middle).block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t loci_cc_invocations(const struct loci_cc_known *known, uint32_t block, uint32_t *ret_first)
{
	*ret_first = loci_cc_has_ops(known) ? first_invocation(known, block) : 0;
	return loci_cc_has_ops(known) ? first_invocation(known, block + 1) - *ret_first : 0;
}

const char *loci_cc_invocation_callee(
	const struct loci_cc_section *section, const struct loci_cc_known *known, uint32_t index)
{
	const uint8_t *row = row_at(known, INVOCATIONS, index, sizeof(struct loci_cc_invocation));

	return loci_cc_text_at(section, known,
		(size_t)(row - known->bytes) + offsetof(struct loci_cc_invocation, callee));
}

const char *loci_cc_op_kind_text(uint8_t kind)
{
	static const char *const text[] = {
		[LOCI_CC_OP_LOAD] = "load",
		[LOCI_CC_OP_STORE] = "store",
		[LOCI_CC_OP_INT_ADD] = "int add",
		[LOCI_CC_OP_INT_SUB] = "int sub",
		[LOCI_CC_OP_INT_MUL] = "int mul",
		[LOCI_CC_OP_INT_DIV] = "int div",
		[LOCI_CC_OP_INT_LOGIC] = "int logic",
		[LOCI_CC_OP_INT_SHIFT] = "int shift",
		[LOCI_CC_OP_INT_COMPARE] = "int compare",
		[LOCI_CC_OP_INT_OTHER] = "int other",
		[LOCI_CC_OP_FLOAT_ADD] = "float add",
		[LOCI_CC_OP_FLOAT_MUL] = "float mul",
		[LOCI_CC_OP_FLOAT_DIV] = "float div",
		[LOCI_CC_OP_FLOAT_FMA] = "float fma",
		[LOCI_CC_OP_FLOAT_SQRT] = "float sqrt",
		[LOCI_CC_OP_FLOAT_COMPARE] = "float compare",
		[LOCI_CC_OP_FLOAT_OTHER] = "float other",
		[LOCI_CC_OP_CONVERT] = "convert",
		[LOCI_CC_OP_SELECT] = "select",
		[LOCI_CC_OP_ADDRESS] = "address",
		[LOCI_CC_OP_LANES] = "lanes",
		[LOCI_CC_OP_BRANCH] = "branch",
		[LOCI_CC_OP_BRANCH_COND] = "branch cond",
		[LOCI_CC_OP_BRANCH_INDIRECT] = "branch indirect",
		[LOCI_CC_OP_SWITCH] = "switch",
		[LOCI_CC_OP_RETURN] = "return",
		[LOCI_CC_OP_CALL] = "call",
		[LOCI_CC_OP_CALL_INDIRECT] = "call indirect",
		[LOCI_CC_OP_MEMSET] = "memset",
		[LOCI_CC_OP_MEMCPY] = "memcpy",
		[LOCI_CC_OP_ALLOCA] = "alloca",
		[LOCI_CC_OP_FENCE] = "fence",
		[LOCI_CC_OP_ASM] = "asm",
		[LOCI_CC_OP_OTHER] = "other",
	};

	return kind < sizeof(text) / sizeof(text[0]) ? text[kind] : NULL;
}

const char *loci_cc_type_text(uint8_t type)
{
	static const char *const text[] = {
		[LOCI_CC_TYPE_I1] = "i1",
		[LOCI_CC_TYPE_I8] = "i8",
		[LOCI_CC_TYPE_I16] = "i16",
		[LOCI_CC_TYPE_I32] = "i32",
		[LOCI_CC_TYPE_I64] = "i64",
		[LOCI_CC_TYPE_I128] = "i128",
		[LOCI_CC_TYPE_INT] = "int",
		[LOCI_CC_TYPE_F16] = "f16",
		[LOCI_CC_TYPE_F32] = "f32",
		[LOCI_CC_TYPE_F64] = "f64",
		[LOCI_CC_TYPE_F80] = "f80",
		[LOCI_CC_TYPE_F128] = "f128",
		[LOCI_CC_TYPE_POINTER] = "pointer",
		[LOCI_CC_TYPE_OTHER] = "other",
	};

	return type < sizeof(text) / sizeof(text[0]) ? text[type] : NULL;
}

static bool blocks_sound(const struct loci_cc_known *known)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < known->header.n_blocks; i++) {
		struct loci_cc_block_ops row = loci_cc_block_ops(known, i);

		if (row.first_op < end ||
			(uint64_t)row.first_op + row.n_ops > known->header.n_ops ||
			row.scope >= known->header.n_scopes)
			return false;
		end = (uint64_t)row.first_op + row.n_ops;
	}
	return true;
}

static bool terms_sound(const struct loci_cc_known *known)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < known->header.n_terms; i++) {
		struct loci_cc_term row;

		memcpy(&row, row_at(known, TERMS, i, sizeof(row)), sizeof(row));
		if (row.block < last || row.block >= known->header.n_blocks ||
			(row.counter & ~LOCI_CC_TERM_MINUS) >= known->header.n_counters)
			return false;
		last = row.block;
	}
	return true;
}

bool loci_cc_ops_sound(const struct loci_cc_known *known)
{
	uint32_t last = 0;

	if (!loci_cc_has_ops(known))
		return !known->header.n_invocations && !known->header.n_terms;
	for (uint32_t i = 0; i < known->header.n_invocations; i++) {
		uint32_t block = loci_cc_invocation(known, i).block;

		if (block < last || block >= known->header.n_blocks)
			return false;
		last = block;
	}
	return blocks_sound(known) && terms_sound(known);
}
