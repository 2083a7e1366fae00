/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gcc gives locals relative to the canonical frame address (CFA), clang relative to rbp or rsp. The
 * unwind tables say how the CFA follows from these, from instruction to instruction: the row that
 * holds for most of the code in question is taken, which leaves prologues and epilogues out. */
#include "symbol/frame_base.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RBP          6
#define RETURN_BYTES 8  /* the return address lies this much below the CFA */
#define STANDARD_RBP 16 /* the CFA above rbp after push %rbp; mov %rsp,%rbp */
#define ROWS_MAX     512

static void read_base(struct loci_frame_base *frame, Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attr) ||
		dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1)
		return;
	frame->known = true;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		frame->is_cfa = true;
	else if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		frame->base.reg = ops[0].atom - DW_OP_reg0;
	else
		frame->known = loci_location_frame(ops, n, &frame->base) && frame->base.reg >= 0;
}

static int add_row(struct loci_frame_base *frame, const struct loci_frame_row *row)
{
	if (frame->n == frame->cap) {
		size_t cap = frame->cap ? frame->cap * 2 : 16;
		void *rows = realloc(frame->rows, cap * sizeof(*frame->rows));

		if (!rows)
			return -ENOMEM;
		frame->rows = rows;
		frame->cap = cap;
	}
	frame->rows[frame->n++] = *row;
	return 0;
}

/* The row in effect at pc; *end is where it ends. */
static bool row_at(Dwarf_CFI *cfi, uint64_t pc, struct loci_frame_row *ret, uint64_t *end)
{
	struct loci_location_frame cfa;
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr low, high;
	Dwarf_Op *ops;
	size_t n;
	bool found = false;

	if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
		return false;
	if (dwarf_frame_info(frame, &low, &high, NULL) >= 0) {
		*end = high;
		found = dwarf_frame_cfa(frame, &ops, &n) == 0 &&
			loci_location_frame(ops, n, &cfa) && cfa.reg >= 0;
		if (found)
			*ret = (struct loci_frame_row){
				.low = low, .high = high, .reg = cfa.reg, .offset = cfa.offset
			};
	}
	free(frame);
	return found;
}

static int read_rows(
	struct loci_frame_base *frame, Dwarf_CFI *cfi, uint64_t bias, uint64_t low, uint64_t high)
{
	while (low < high && frame->n < ROWS_MAX) {
		struct loci_frame_row row;
		uint64_t end = 0;
		bool found = row_at(cfi, low - bias, &row, &end);

		end += bias;
		if (found) {
			row.low = low;
			row.high = end < high ? end : high;
			if (add_row(frame, &row) < 0)
				return -ENOMEM;
		}
		if (end <= low)
			break;
		low = end;
	}
	return 0;
}

int loci_frame_base_init(
	struct loci_frame_base *frame, struct loci_symbol_module *module, Dwarf_Die *function)
{
	Dwarf_Addr bias = 0, base, low, high;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module->dwfl_module, &bias);
	ptrdiff_t at = 0;
	int r = 0;

	memset(frame, 0, sizeof(*frame));
	read_base(frame, function);
	if (!cfi)
		cfi = dwfl_module_dwarf_cfi(module->dwfl_module, &bias);
	/* Both biases are relative to the file: bring the unwind tables to the debug information.
	 */
	bias -= module->dwarf_bias;
	while (cfi && r == 0 && (at = dwarf_ranges(function, at, &base, &low, &high)) > 0)
		r = read_rows(frame, cfi, bias, low, high);
	return r;
}

void loci_frame_base_fini(struct loci_frame_base *frame)
{
	free(frame->rows);
	memset(frame, 0, sizeof(*frame));
}

static uint64_t overlap(const struct loci_frame_row *row, uint64_t low, uint64_t high)
{
	uint64_t from = row->low > low ? row->low : low;
	uint64_t to = row->high < high ? row->high : high;

	return from < to ? to - from : 0;
}

/* How far the CFA lies above a register. Where it mostly follows from another register, as in a
 * frame that was aligned at run time, there is no answer. */
static bool cfa_above(
	const struct loci_frame_base *frame, int reg, uint64_t low, uint64_t high, int64_t *ret)
{
	uint64_t best = 0, others = 0;

	if (!frame->n && reg == RBP) {
		*ret = STANDARD_RBP;
		return true;
	}
	for (size_t i = 0; i < frame->n; i++) {
		const struct loci_frame_row *row = &frame->rows[i];
		uint64_t bytes = 0;

		if (row->reg != reg)
			others += overlap(row, low, high);
		/* Rows of one kind come in pieces: sum them up. */
		for (size_t j = i; row->reg == reg && j < frame->n; j++)
			if (frame->rows[j].reg == reg && frame->rows[j].offset == row->offset)
				bytes += overlap(&frame->rows[j], low, high);
		if (bytes > best) {
			best = bytes;
			*ret = row->offset;
		}
	}
	return best > others;
}

bool loci_frame_base_resolve(const struct loci_frame_base *frame,
	const struct loci_location_frame *location, uint64_t low, uint64_t high, int64_t *ret)
{
	int64_t offset = location->offset, above = 0;
	int reg = location->reg;

	if (reg < 0) {
		if (!frame->known)
			return false;
		if (frame->is_cfa)
			return !__builtin_add_overflow(offset, RETURN_BYTES, ret);
		reg = frame->base.reg;
		if (__builtin_add_overflow(offset, frame->base.offset, &offset))
			return false;
	}
	return cfa_above(frame, reg, low, high, &above) &&
		!__builtin_sub_overflow(offset, above, &offset) &&
		!__builtin_add_overflow(offset, RETURN_BYTES, ret);
}
