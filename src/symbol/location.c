/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/location.h"

#include <dwarf.h>

static bool operand_address(Dwarf_Attribute *attr, const Dwarf_Op *op, uint64_t *ret)
{
	Dwarf_Attribute indirect;
	Dwarf_Addr address;

	switch (op->atom) {
	case DW_OP_addr:
		*ret = op->number;
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (dwarf_getlocation_attr(attr, op, &indirect) != 0 ||
			dwarf_formaddr(&indirect, &address) != 0)
			return false;
		*ret = address;
		return true;
	}
	return false;
}

bool loci_location_address(Dwarf_Die *variable, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(variable, DW_AT_location, &attr) ||
		dwarf_getlocation(&attr, &ops, &n) != 0 || !n ||
		!operand_address(&attr, &ops[0], ret))
		return false;
	if (n == 2 && ops[1].atom == DW_OP_plus_uconst) {
		*ret += ops[1].number;
		return true;
	}
	return n == 1;
}

bool loci_location_frame(const Dwarf_Op *ops, size_t n, struct loci_location_frame *ret)
{
	if (n != 1)
		return false;
	if (ops[0].atom == DW_OP_fbreg) {
		ret->reg = -1;
		ret->offset = (int64_t)ops[0].number;
		return true;
	}
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		ret->reg = ops[0].atom - DW_OP_breg0;
		ret->offset = (int64_t)ops[0].number;
		return true;
	}
	if (ops[0].atom == DW_OP_bregx && ops[0].number <= 31) {
		ret->reg = (int)ops[0].number;
		ret->offset = (int64_t)ops[0].number2;
		return true;
	}
	return false;
}

int loci_location_piece(const Dwarf_Op *ops, size_t n, size_t *pos, struct loci_location_frame *ret,
	uint64_t *ret_bytes)
{
	size_t from = *pos, end = from;

	while (end < n && ops[end].atom != DW_OP_piece)
		end++;
	if (end == n)
		return -1;
	*pos = end + 1;
	*ret_bytes = ops[end].number;
	return loci_location_frame(ops + from, end - from, ret);
}
