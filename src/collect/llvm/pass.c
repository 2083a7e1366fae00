/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/pass.h"

#include "collect/llvm/allocating.h"
#include "collect/llvm/choose.h"
#include "collect/llvm/copies.h"
#include "collect/llvm/executions.h"
#include "collect/llvm/ops.h"
#include "collect/llvm/outside.h"
#include "collect/llvm/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_attribute(LLVMValueRef function, const char *name, const char *value)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
		LLVMCreateStringAttribute(
			context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

/* Each copy counts in its own way. */
static void make(struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow,
	const struct loci_executions *executions, bool by_piece)
{
	struct loci_increments *increments =
		executions ? loci_increments_new(emit, executions, plan, flow) : NULL;
	if (by_piece)
		loci_pieces_make(emit, plan, flow, increments);
	else
		loci_copies_make(emit, plan, flow, increments);
	if (increments)
		loci_increments_free(increments);
}

static void instrument(struct loci_emit *emit, LLVMValueRef function, bool has_ops)
{
	struct loci_flow flow;
	struct loci_plan plan;
	struct loci_executions executions;
	bool by_piece = loci_choose_by_piece(function);

	if (has_ops)
		loci_ops_mark(function);
	else /* they would be operations that were none */
		loci_ir_sink_addresses(function);
	loci_allocating_mark(function);
	loci_prepare(function, by_piece, has_ops, &flow);
	loci_plan_init(&plan, function, &flow, by_piece, has_ops);
	if (has_ops) {
		loci_executions_init(&executions, &plan, &flow, by_piece);
		emit->counters = loci_describe_counters(&plan);
	}
	emit->counter = loci_outside_counters(&plan);
	emit->markers = loci_describe_markers(&plan);
	emit->record =
		loci_describe(&plan, emit->counter, emit->markers, has_ops ? &executions : NULL);
	if (has_ops)
		loci_ops_unmark(function);
	loci_ir_forget_memory(function);
	set_attribute(function, "frame-pointer", "all");
	set_attribute(function, LOCI_CHOICE_DONE, "");
	for (size_t i = 0; i < plan.n_syncs; i++)
		if (plan.sync[i].leaves && plan.sync[i].returns)
			loci_ir_forget_memory(plan.sync[i].instruction);
	make(emit, &plan, &flow, has_ops ? &executions : NULL, by_piece);
	if (has_ops)
		loci_executions_fini(&executions);
	free(emit->counter);
	loci_plan_fini(&plan);
	loci_flow_fini(&flow);
}

/* For those who work on the pass: LOCI_PASS_VERIFY=1 stops the compiler at wrong code. */
static void verify(LLVMValueRef function)
{
	if (getenv("LOCI_PASS_VERIFY") && !loci_ir_verify(function, true))
		__builtin_trap();
}

/* LOCI_LTO=link: nothing when sources are compiled, all when the linker optimises. That ends with
 * the same place as compiling does if modules stay apart (ThinLTO): then only who runs the pass
 * tells. */
static bool is_wanted_here(enum loci_pass_place place)
{
	const char *link = getenv("LOCI_LTO");
	if (!link || strcmp(link, "link") != 0)
		return place == LOCI_PASS_COMPILING;
	return place == LOCI_PASS_LINKING ||
		!(strstr(program_invocation_short_name, "clang") ||
			strstr(program_invocation_short_name, "flang"));
}

bool loci_instrument(LLVMModuleRef module, enum loci_pass_place place)
{
	struct loci_emit emit;
	struct loci_choice choice;
	bool has_ops = getenv("LOCI_OPS") != NULL;
	if (!is_wanted_here(place))
		return false;
	loci_choice_init(&choice, module);
	if (choice.n > 0) {
		loci_emit_init(&emit, module);
		for (size_t i = 0; i < choice.n; i++) {
			instrument(&emit, choice.function[i], has_ops);
			verify(choice.function[i]);
		}
		loci_emit_fini(&emit);
	}
	bool changed = choice.n > 0;
	loci_choice_fini(&choice);
	return changed;
}
