// SPDX-License-Identifier: GPL-2.0-or-later
/* What code compiled by `loci cc` has left of its budget, from where DWARF says that it keeps it
 * (collect/runtime/cc_abi.h). Of location expressions those that compilers make of sums, products
 * and what lies in the frame. */
#include "symbol/die.h"
#include "symbol/module.h"

#include "collect/runtime/cc_abi.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH_MAX 16
#define FRAME_REG 6 /* rbp */

struct evaluation {
	const struct loci_symbol_machine *machine;
	int64_t stack[DEPTH_MAX];
	size_t n;
	bool failed;
};

static void push(struct evaluation *e, int64_t value)
{
	if (e->n < DEPTH_MAX)
		e->stack[e->n++] = value;
	else
		e->failed = true;
}

static int64_t pop(struct evaluation *e)
{
	if (e->n)
		return e->stack[--e->n];
	e->failed = true;
	return 0;
}

static int64_t load(struct evaluation *e, int64_t address)
{
	uint64_t below = e->machine->reg[FRAME_REG] - (uint64_t)address;

	if (below & 7 || !below || below / 8 > e->machine->n_memory) {
		e->failed = true;
		return 0;
	}
	return (int64_t)e->machine->memory[below / 8 - 1];
}

static int64_t combined(struct evaluation *e, unsigned atom, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (atom) {
	case DW_OP_plus:
		return (int64_t)(x + y);
	case DW_OP_minus:
		return (int64_t)(x - y);
	case DW_OP_mul:
		return (int64_t)(x * y);
	case DW_OP_shl:
		return y < 64 ? (int64_t)(x << y) : 0;
	case DW_OP_shr:
		return y < 64 ? (int64_t)(x >> y) : 0;
	case DW_OP_shra:
		return a >> (y < 64 ? y : 63);
	case DW_OP_and:
		return a & b;
	case DW_OP_div:
		if (b && (b != -1 || a != INT64_MIN))
			return a / b;
		break;
	default:
		break;
	}
	e->failed = true;
	return 0;
}

static void step(struct evaluation *e, const Dwarf_Op *op)
{
	int64_t b;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(e, op->atom - DW_OP_lit0);
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg15) {
		push(e, (int64_t)(e->machine->reg[op->atom - DW_OP_breg0] + op->number));
	} else if ((op->atom >= DW_OP_const1u && op->atom <= DW_OP_const8s) ||
		op->atom == DW_OP_constu || op->atom == DW_OP_consts) {
		push(e, (int64_t)op->number);
	} else if (op->atom == DW_OP_plus_uconst) {
		push(e, (int64_t)((uint64_t)pop(e) + op->number));
	} else if (op->atom == DW_OP_deref) {
		push(e, load(e, pop(e)));
	} else {
		b = pop(e);
		push(e, combined(e, op->atom, pop(e), b));
	}
}

static bool evaluate(
	const Dwarf_Op *ops, size_t n, const struct loci_symbol_machine *machine, int64_t *ret)
{
	struct evaluation e = { .machine = machine };
	bool is_value = n && ops[n - 1].atom == DW_OP_stack_value;

	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15) {
		*ret = (int64_t)machine->reg[ops[0].atom - DW_OP_reg0];
		return true;
	}
	for (size_t i = 0; i < n - is_value && !e.failed; i++)
		step(&e, &ops[i]);
	*ret = pop(&e);
	if (!is_value && !e.failed)
		*ret = load(&e, *ret);
	return !e.failed;
}

static bool is_budget(Dwarf_Die *die)
{
	const char *name =
		dwarf_tag(die) == DW_TAG_variable ? loci_die_string(die, DW_AT_name) : NULL;

	return name && !strcmp(name, LOCI_CC_BUDGET);
}

static bool is_known(
	Dwarf_Die *variable, uint64_t pc, const struct loci_symbol_machine *machine, int64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr(variable, DW_AT_location, &attr) &&
		dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) == 1 &&
		evaluate(ops, n, machine, ret);
}

/* A function may have several, of which one is known here and another there. */
static bool find(
	Dwarf_Die *function, uint64_t pc, const struct loci_symbol_machine *machine, int64_t *ret)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child) != 0)
		return false;
	do
		if (is_budget(&child) && is_known(&child, pc, machine, ret))
			return true;
	while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static struct loci_scope *function_at(struct loci_unit *unit, uint64_t pc)
{
	const struct loci_interval *code = loci_intervals_find(&unit->code, pc);
	uint32_t at = code ? code->id : LOCI_SCOPE_NONE;

	while (at != LOCI_SCOPE_NONE && unit->scopes[at].kind != LOCI_SCOPE_FUNCTION)
		at = unit->scopes[at].parent;
	return at == LOCI_SCOPE_NONE ? NULL : &unit->scopes[at];
}

int loci_symbols_budget(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	const struct loci_symbol_machine *machine, int64_t *ret, struct loci_err *err)
{
	struct loci_symbol_module *module;
	struct loci_scope *function;
	struct loci_unit *unit;
	uint64_t pc;
	int r = loci_symbols_opened(symbols, number, &module, err);

	if (r < 0)
		return r;
	pc = address - module->dwarf_bias;
	r = loci_unit_find(module, pc, &unit, err);
	function = r == 0 && unit ? function_at(unit, pc) : NULL;
	if (!function)
		return r;
	return find(&function->die, pc, machine, ret);
}
