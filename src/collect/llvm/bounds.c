/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/bounds.h"

#include "collect/llvm/budget_variable.h"
#include "collect/llvm/loops.h"

#include <stdlib.h>

struct bound {
	const struct loci_plan_bound *plan;
	LLVMValueRef all;         /* the references that it has at most */
	LLVMBasicBlockRef *block; /* its header first, its latch last */
	uint32_t *number;         /* of each */
	size_t n_blocks;
	struct loci_ir_copy *plain;
	LLVMValueRef base; /* the budget is this less factor * counter when a turn begins */
};

struct loci_bounds {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	struct bound *bound; /* by number of the plan's */
	LLVMValueRef *outliving;
	size_t n_outliving;
	/* Where plain loops are left, and the budget there. */
	struct left {
		LLVMBasicBlockRef block;
		LLVMValueRef budget;
	} * left;
	size_t n_left;
};

struct loci_bounds *loci_bounds_new(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow)
{
	struct loci_bounds *bounds = loci_zeroed(1, sizeof(*bounds));
	*bounds = (struct loci_bounds){ .emit = emit, .plan = plan, .flow = flow };
	bounds->bound = loci_zeroed(plan->n_bounds, sizeof(*bounds->bound));
	for (size_t i = 0; i < plan->n_bounds; i++) {
		bounds->bound[i].plan = &plan->bound[i];
		bounds->bound[i].all =
			loci_ir_loop_all(plan->evolution, plan->bound[i].loop, plan->bound[i].each);
	}
	return bounds;
}

static bool is_within(const struct loci_bounds *bounds, const struct bound *bound, uint32_t block)
{
	return bounds->flow->block[block].loop == bound->plan->loop;
}

/* Whether the loop's value is used behind it otherwise than where it is left. */
static bool outlives(
	const struct loci_bounds *bounds, const struct bound *bound, LLVMValueRef value)
{
	const struct loci_flow *flow = bounds->flow;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		uint32_t at = loci_flow_number(flow, LLVMGetInstructionParent(user));
		if (is_within(bounds, bound, at))
			continue;
		if (!LLVMIsAPHINode(user))
			return true;
		for (unsigned i = 0; i < LLVMCountIncoming(user); i++)
			if (LLVMGetIncomingValue(user, i) == value &&
				!is_within(bounds, bound,
					loci_flow_number(flow, LLVMGetIncomingBlock(user, i))))
				return true;
	}
	return false;
}

static void find_outliving(struct loci_bounds *bounds, const struct bound *bound)
{
	for (size_t i = 0; i < bound->n_blocks; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(bound->block[i]); at;
			at = LLVMGetNextInstruction(at)) {
			if (!outlives(bounds, bound, at))
				continue;
			bounds->outliving = loci_grown(
				bounds->outliving, bounds->n_outliving, sizeof(*bounds->outliving));
			bounds->outliving[bounds->n_outliving++] = at;
		}
}

static LLVMBasicBlockRef plain_block(const struct bound *bound, LLVMBasicBlockRef block)
{
	return LLVMValueAsBasicBlock(loci_ir_copy_of(bound->plain, LLVMBasicBlockAsValue(block)));
}

void loci_bounds_copy(struct loci_bounds *bounds)
{
	const struct loci_flow *flow = bounds->flow;
	for (size_t i = 0; i < bounds->plan->n_bounds; i++) {
		struct bound *bound = &bounds->bound[i];
		bound->block = loci_zeroed(flow->n_blocks, sizeof(*bound->block));
		bound->number = loci_zeroed(flow->n_blocks, sizeof(*bound->number));
		for (uint32_t k = 1; k < flow->n_blocks; k++)
			if (is_within(bounds, bound, k)) {
				bound->number[bound->n_blocks] = k;
				bound->block[bound->n_blocks++] = flow->block[k].block;
			}
		bound->plain = loci_ir_copy_new(bound->block, bound->n_blocks);
		find_outliving(bounds, bound);
	}
}

static LLVMValueRef to_word(struct loci_emit *emit, LLVMValueRef value)
{
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(emit->builder, value, emit->word, "");
	return value;
}

/* factor * value */
static LLVMValueRef scaled(struct loci_emit *emit, int64_t factor, LLVMValueRef value)
{
	if (factor == 1)
		return to_word(emit, value);
	return LLVMBuildMul(
		emit->builder, to_word(emit, value), loci_emit_number(emit, (uint64_t)factor), "");
}

/* The references of a turn up to where the basic block ends, which all come before or after it. */
static uint32_t counted_until(
	const struct loci_bounds *bounds, const struct bound *bound, uint32_t exiting)
{
	uint32_t n = 0;
	for (size_t i = 0; i < bounds->plan->n_pieces; i++) {
		const struct loci_plan_piece *piece = &bounds->plan->piece[i];
		if (is_within(bounds, bound, piece->home) && piece->n_counted > 0 &&
			loci_ir_loop_always(bounds->plan->evolution,
				bounds->flow->block[piece->home].block,
				bounds->flow->block[exiting].block))
			n += piece->n_counted;
	}
	return n;
}

/* From the plain loop to where it is left; in between the budget is what it has left. */
static void connect_exit(
	struct loci_bounds *bounds, const struct bound *bound, uint32_t exiting, uint32_t exit)
{
	struct loci_emit *emit = bounds->emit;
	LLVMBasicBlockRef from = bounds->flow->block[exiting].block;
	LLVMBasicBlockRef to = bounds->flow->block[exit].block;
	LLVMBasicBlockRef between =
		LLVMAppendBasicBlockInContext(emit->context, bounds->plan->function, "");
	LLVMValueRef end = LLVMGetBasicBlockTerminator(plain_block(bound, from));
	for (LLVMValueRef phi = LLVMGetFirstInstruction(to); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef value = loci_ir_copy_of(bound->plain, loci_ir_incoming(phi, from));
		LLVMAddIncoming(phi, &value, &between, 1);
	}
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (LLVMGetSuccessor(end, i) == to)
			LLVMSetSuccessor(end, i, between);
	loci_emit_at_end(emit, between);
	LLVMValueRef counter = loci_ir_copy_of(bound->plain, bound->plan->counter);
	LLVMValueRef left = LLVMBuildSub(
		emit->builder, bound->base, scaled(emit, bound->plan->factor, counter), "");
	left = LLVMBuildSub(emit->builder, left,
		loci_emit_number(emit, counted_until(bounds, bound, exiting)), "");
	loci_emit_leave(emit, left);
	LLVMBuildBr(emit->builder, to);
	bounds->left = loci_grown(bounds->left, bounds->n_left, sizeof(*bounds->left));
	bounds->left[bounds->n_left++] = (struct left){ between, left };
}

static void make(struct loci_bounds *bounds, struct bound *bound)
{
	struct loci_emit *emit = bounds->emit;
	const struct loci_flow *flow = bounds->flow;
	LLVMBasicBlockRef entry = flow->block[bound->plan->entry].block;
	LLVMValueRef start = loci_ir_incoming(bound->plan->counter, entry);
	LLVMValueRef enter = LLVMGetBasicBlockTerminator(entry);
	LLVMBasicBlockRef plain = plain_block(bound, bound->block[0]);

	LLVMBasicBlockRef usual = loci_ir_split_before(enter);
	LLVMBasicBlockRef begun = LLVMInsertBasicBlockInContext(emit->context, usual, "");
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(entry));
	loci_emit_at_end(emit, entry);
	LLVMValueRef least = loci_emit_left(emit, bound->all);
	loci_emit_branch_unlikely(emit,
		LLVMBuildICmp(emit->builder, LLVMIntSLT, least, loci_emit_number(emit, 0), ""),
		usual, begun);
	loci_emit_at_end(emit, begun);
	LLVMValueRef base = LLVMBuildAdd(emit->builder, loci_emit_get_budget(emit),
		scaled(emit, bound->plan->factor, start), "");
	bound->base = LLVMBuildFreeze(emit->builder, base, "");
	LLVMBuildBr(emit->builder, plain);
	loci_ir_rename_predecessor(plain, entry, begun);
	for (size_t i = 0; i < bound->n_blocks; i++) {
		const struct loci_flow_block *block = &flow->block[bound->number[i]];
		for (uint32_t k = 0; k < block->n_successors; k++)
			if (!is_within(bounds, bound, block->successor[k]))
				connect_exit(bounds, bound, bound->number[i], block->successor[k]);
	}
	loci_ir_fold_latch(plain_block(bound, bound->block[bound->n_blocks - 1]));
}

void loci_bounds_make(struct loci_bounds *bounds)
{
	for (size_t i = 0; i < bounds->plan->n_bounds; i++)
		make(bounds, &bounds->bound[i]);
}

static LLVMValueRef copy_of(const struct loci_ir_copy *copy, LLVMValueRef value)
{
	return copy ? loci_ir_copy_of(copy, value) : value;
}

void loci_bounds_describe_budget(const struct loci_bounds *bounds, const struct loci_ir_copy *copy)
{
	LLVMMetadataRef variable = bounds->emit->budget_variable;
	for (size_t i = 0; i < bounds->plan->n_bounds; i++) {
		const struct bound *bound = &bounds->bound[i];
		LLVMValueRef counter = loci_ir_copy_of(bound->plain, bound->plan->counter);
		if (copy && copy_of(copy, counter) == counter)
			continue;
		counter = copy_of(copy, counter);
		loci_budget_variable_bound(variable, LLVMGetInstructionParent(counter),
			copy_of(copy, bound->base), counter, bound->plan->factor);
	}
	for (size_t i = 0; i < bounds->n_left; i++) {
		LLVMValueRef block = LLVMBasicBlockAsValue(bounds->left[i].block);
		if (!copy || copy_of(copy, block) != block)
			loci_budget_variable_set(variable,
				LLVMValueAsBasicBlock(copy_of(copy, block)),
				copy_of(copy, bounds->left[i].budget));
	}
}

LLVMValueRef loci_bounds_outliving(const struct loci_bounds *bounds, size_t number)
{
	return number < bounds->n_outliving ? bounds->outliving[number] : NULL;
}

void loci_bounds_demote(const struct loci_bounds *bounds, LLVMValueRef value, LLVMValueRef slot)
{
	for (size_t i = 0; i < bounds->plan->n_bounds; i++) {
		LLVMValueRef plain = loci_ir_copy_of(bounds->bound[i].plain, value);
		if (plain != value)
			loci_ir_demote(plain, slot);
	}
}

void loci_bounds_free(struct loci_bounds *bounds)
{
	for (size_t i = 0; i < bounds->plan->n_bounds; i++) {
		loci_ir_copy_free(bounds->bound[i].plain);
		free(bounds->bound[i].block);
		free(bounds->bound[i].number);
	}
	free(bounds->bound);
	free(bounds->outliving);
	free(bounds->left);
	free(bounds);
}
