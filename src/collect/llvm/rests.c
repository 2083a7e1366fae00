/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/rests.h"

#include <stdlib.h>

struct rest {
	uint32_t loop;
	LLVMBasicBlockRef from;
	struct loci_ir_copy *copy;
	LLVMValueRef *slot; /* its own, for those that it uses; NULL: it does not */
};

struct loci_rests {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const struct loci_ir_copy *tracing;
	struct rest *rest;
	size_t n;
	struct loci_numbers target; /* of blocks that leave the counting copy */
	/* Of each value: where it is made, its slot, and where it is on the way. */
	uint32_t *home;
	const LLVMValueRef *slot;
	LLVMValueRef *memory;
	size_t n_values;
	bool **lives; /* of basic blocks that loops are left to or go round to: which values do */
	LLVMValueRef *own;
	size_t n_own;
};

/* The blocks of a loop in the counting copy, and those by which it is left that are no blocks of
 * the function's own. */
struct region {
	struct loci_numbers known;
	LLVMBasicBlockRef *block;
	size_t n;
};

static void find_living(struct loci_rests *rests, const LLVMValueRef *value, uint32_t block,
	uint32_t *seen, uint32_t *stamp)
{
	if (rests->lives[block])
		return;
	bool *wanted = loci_zeroed(rests->flow->n_blocks, sizeof(*wanted));
	rests->lives[block] = loci_zeroed(rests->n_values, sizeof(bool));
	wanted[block] = true;
	for (size_t i = 0; i < rests->n_values; i++)
		rests->lives[block][i] =
			loci_flow_lives_into(rests->flow, value[i], wanted, seen, ++*stamp);
	free(wanted);
}

/* Where it goes round, and where it is left. */
static bool is_end(const struct loci_rests *rests, uint32_t loop, uint32_t from, uint32_t to)
{
	return to <= from || !loci_flow_is_within(rests->flow, to, loop);
}

struct loci_rests *loci_rests_new(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const LLVMValueRef *value, size_t n)
{
	struct loci_rests *rests = loci_zeroed(1, sizeof(*rests));
	*rests = (struct loci_rests){ .emit = emit, .plan = plan, .flow = flow, .n_values = n };
	rests->home = loci_zeroed(n, sizeof(*rests->home));
	rests->memory = loci_zeroed(n, sizeof(*rests->memory));
	rests->lives = loci_zeroed(flow->n_blocks, sizeof(*rests->lives));
	for (size_t i = 0; i < n; i++)
		rests->home[i] = loci_flow_number(flow, LLVMGetInstructionParent(value[i]));
	uint32_t *seen = loci_zeroed(flow->n_blocks, sizeof(*seen)), stamp = 0;
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		for (uint32_t loop = flow->block[i].loop; loop != LOCI_FLOW_NONE;
			loop = flow->loop[loop].parent)
			for (uint32_t k = 0;
				plan->is_resting[loop] && k < flow->block[i].n_successors; k++)
				if (is_end(rests, loop, i, flow->block[i].successor[k]))
					find_living(rests, value, flow->block[i].successor[k], seen,
						&stamp);
	free(seen);
	return rests;
}

void loci_rests_cross(struct loci_rests *rests, uint32_t target, LLVMBasicBlockRef leaving,
	LLVMBasicBlockRef from)
{
	loci_numbers_set(&rests->target, leaving, target);
	if (!from)
		return;
	rests->rest = loci_grown(rests->rest, rests->n, sizeof(*rests->rest));
	rests->rest[rests->n++] =
		(struct rest){ .loop = rests->flow->block[target].loop, .from = from };
}

static void add_block(struct region *region, LLVMBasicBlockRef block)
{
	if (loci_numbers_get(&region->known, block) != LOCI_NUMBER_NONE)
		return;
	loci_numbers_set(&region->known, block, (uint32_t)region->n);
	region->block = loci_grown(region->block, region->n, sizeof(LLVMBasicBlockRef));
	region->block[region->n++] = block;
}

static void add_before(struct region *region, LLVMBasicBlockRef block)
{
	LLVMValueRef value = LLVMBasicBlockAsValue(block);
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsATerminatorInst(user))
			add_block(region, LLVMGetInstructionParent(user));
	}
}

static void find_region(const struct loci_rests *rests, uint32_t loop, struct region *region)
{
	const struct loci_flow *flow = rests->flow;
	*region = (struct region){ 0 };
	add_block(region, flow->block[flow->loop[loop].header].block);
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		if (loci_flow_is_within(flow, i, loop))
			add_block(region, flow->block[i].block);
	for (size_t i = 1; i < region->n; i++)
		add_before(region, region->block[i]);
	for (size_t i = 0, n = region->n; i < n; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(region->block[i]);
		for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
			if (loci_flow_number(flow, LLVMGetSuccessor(end, k)) == LOCI_NUMBER_NONE)
				add_block(region, LLVMGetSuccessor(end, k));
	}
}

static LLVMBasicBlockRef copied(const struct loci_ir_copy *copy, LLVMBasicBlockRef block)
{
	return LLVMValueAsBasicBlock(loci_ir_copy_of(copy, LLVMBasicBlockAsValue(block)));
}

static LLVMValueRef own_slot(struct loci_rests *rests, struct rest *rest, LLVMValueRef slot)
{
	size_t i = 0;
	while (i < rests->n_values && rests->slot[i] != slot)
		i++;
	if (i == rests->n_values)
		return slot;
	if (!rest->slot[i]) {
		rest->slot[i] = loci_emit_slot(rests->emit, LLVMGetAllocatedType(slot));
		rests->own = loci_grown(rests->own, rests->n_own, sizeof(*rests->own));
		rests->own[rests->n_own++] = rest->slot[i];
	}
	return rest->slot[i];
}

static void use_own_slots(struct loci_rests *rests, struct rest *rest, LLVMBasicBlockRef block)
{
	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
		at = LLVMGetNextInstruction(at)) {
		if (LLVMIsALoadInst(at))
			LLVMSetOperand(at, 0, own_slot(rests, rest, LLVMGetOperand(at, 0)));
		else if (LLVMIsAStoreInst(at))
			LLVMSetOperand(at, 1, own_slot(rests, rest, LLVMGetOperand(at, 1)));
	}
}

static LLVMValueRef memory_of(struct loci_rests *rests, size_t number)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(rests->emit->builder);
	if (!rests->memory[number])
		rests->memory[number] =
			loci_emit_slot(rests->emit, LLVMGetAllocatedType(rests->slot[number]));
	LLVMValueRef end = LLVMGetBasicBlockTerminator(here);
	if (end)
		loci_emit_before(rests->emit, end);
	else
		loci_emit_at_end(rests->emit, here);
	return rests->memory[number];
}

/* To memory and back. */
static void store(struct loci_emit *emit, LLVMValueRef slot, LLVMValueRef memory)
{
	LLVMTypeRef type = LLVMGetAllocatedType(slot);
	LLVMValueRef value = LLVMBuildLoad2(emit->builder, type, slot, "");
	LLVMSetVolatile(LLVMBuildStore(emit->builder, value, memory), 1);
}

static void load(struct loci_emit *emit, LLVMValueRef memory, LLVMValueRef slot)
{
	LLVMTypeRef type = LLVMGetAllocatedType(slot);
	LLVMValueRef value = LLVMBuildLoad2(emit->builder, type, memory, "");
	LLVMSetVolatile(value, 1);
	LLVMBuildStore(emit->builder, value, slot);
}

/* What lives where the loop goes round, before its copy is entered. */
static void move_in(struct loci_rests *rests, const struct rest *rest)
{
	const bool *lives = rests->lives[rests->flow->loop[rest->loop].header];
	loci_emit_before(rests->emit, LLVMGetBasicBlockTerminator(rest->from));
	for (size_t i = 0; i < rests->n_values; i++) {
		if (!lives[i])
			continue;
		LLVMValueRef memory = memory_of(rests, i);
		store(rests->emit, rests->slot[i], memory);
		if (rest->slot[i])
			load(rests->emit, memory, rest->slot[i]);
	}
}

/* What lives at `to`, when the copy has been left. */
static void move_out(struct loci_rests *rests, const struct rest *rest, uint32_t to)
{
	for (size_t i = 0; i < rests->n_values; i++) {
		if (!rests->lives[to][i])
			continue;
		LLVMValueRef memory = memory_of(rests, i);
		if (loci_flow_is_within(rests->flow, rests->home[i], rest->loop))
			store(rests->emit, rest->slot[i], memory);
		load(rests->emit, memory, rests->slot[i]);
	}
}

static LLVMValueRef by_memory(struct loci_emit *emit, LLVMValueRef value, LLVMValueRef before)
{
	LLVMValueRef memory = loci_emit_slot(emit, LLVMTypeOf(value));
	loci_emit_before(emit, before);
	LLVMSetVolatile(LLVMBuildStore(emit->builder, value, memory), 1);
	value = LLVMBuildLoad2(emit->builder, LLVMTypeOf(value), memory, "");
	LLVMSetVolatile(value, 1);
	return value;
}

/* Where the block, of the loop, leads to `target`, its copy leads from `from` to it, or to its copy
 * in `tracing`. */
static void add_incoming(struct loci_rests *rests, const struct rest *rest,
	LLVMBasicBlockRef target, const struct loci_ir_copy *tracing, LLVMBasicBlockRef block,
	LLVMBasicBlockRef from)
{
	for (LLVMValueRef phi = LLVMGetFirstInstruction(target); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef value = loci_ir_copy_of(rest->copy, loci_ir_incoming(phi, block));
		value = by_memory(rests->emit, value, LLVMGetBasicBlockTerminator(from));
		LLVMAddIncoming(tracing ? loci_ir_copy_of(tracing, phi) : phi, &value, &from, 1);
	}
}

/* To where the tracing copy goes on when it has left the loop. */
static LLVMBasicBlockRef way_out(struct loci_rests *rests, const struct rest *rest,
	LLVMBasicBlockRef exiting, LLVMBasicBlockRef exit)
{
	struct loci_emit *emit = rests->emit;
	LLVMBasicBlockRef on = copied(rests->tracing, exit);
	LLVMBasicBlockRef way = LLVMInsertBasicBlockInContext(emit->context, on, "");
	loci_emit_at_end(emit, way);
	move_out(rests, rest, loci_flow_number(rests->flow, exit));
	loci_emit_cross(emit);
	LLVMBuildBr(emit->builder, on);
	add_incoming(rests, rest, exit, rests->tracing, exiting, way);
	return way;
}

static void connect_exits(
	struct loci_rests *rests, const struct rest *rest, const struct region *region)
{
	for (size_t i = 0; i < region->n; i++) {
		LLVMBasicBlockRef block = region->block[i];
		LLVMBasicBlockRef copy = copied(rest->copy, block);
		LLVMValueRef end = LLVMGetBasicBlockTerminator(copy);
		uint32_t target = loci_numbers_get(&rests->target, block);
		for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
			LLVMBasicBlockRef to =
				LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), k);
			if (loci_numbers_get(&region->known, to) != LOCI_NUMBER_NONE)
				continue;
			if (target == LOCI_NUMBER_NONE) {
				LLVMSetSuccessor(end, k, way_out(rests, rest, block, to));
				continue;
			}
			add_incoming(rests, rest, to, NULL, block, copy);
			loci_emit_before(rests->emit, end);
			move_out(rests, rest, target);
		}
	}
}

static void connect_entry(struct loci_rests *rests, const struct rest *rest)
{
	uint32_t header = rests->flow->loop[rest->loop].header;
	LLVMBasicBlockRef counting = rests->flow->block[header].block;
	LLVMBasicBlockRef own = copied(rest->copy, counting);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(rest->from);

	LLVMSetSuccessor(end, 0, own);
	loci_ir_forget_predecessors(counting);
	loci_ir_forget_predecessors(own);
	for (LLVMValueRef phi = LLVMGetFirstInstruction(own); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi))
		loci_ir_set_incoming(phi, rest->from,
			by_memory(rests->emit, loci_ir_incoming(phi, rest->from), end));
	move_in(rests, rest);
}

static void make(struct loci_rests *rests, struct rest *rest)
{
	struct region region;
	find_region(rests, rest->loop, &region);
	rest->copy = loci_ir_copy_new(region.block, region.n);
	rest->slot = loci_zeroed(rests->n_values, sizeof(*rest->slot));
	for (size_t i = 0; i < region.n; i++)
		use_own_slots(rests, rest, copied(rest->copy, region.block[i]));
	connect_entry(rests, rest);
	connect_exits(rests, rest, &region);
	loci_numbers_fini(&region.known);
	free(region.block);
}

void loci_rests_make(
	struct loci_rests *rests, const struct loci_ir_copy *tracing, const LLVMValueRef *slot)
{
	rests->tracing = tracing;
	rests->slot = slot;
	/* Those within first, which come later: until then there are two ways into each. */
	for (size_t i = rests->n; i-- > 0;)
		make(rests, &rests->rest[i]);
}

const struct loci_ir_copy *loci_rests_copy(const struct loci_rests *rests, size_t number)
{
	return number < rests->n ? rests->rest[number].copy : NULL;
}

LLVMValueRef loci_rests_slot(const struct loci_rests *rests, size_t number)
{
	return number < rests->n_own ? rests->own[number] : NULL;
}

void loci_rests_free(struct loci_rests *rests)
{
	for (size_t i = 0; i < rests->n; i++) {
		loci_ir_copy_free(rests->rest[i].copy);
		free(rests->rest[i].slot);
	}
	for (size_t i = 0; i < rests->flow->n_blocks; i++)
		free(rests->lives[i]);
	loci_numbers_fini(&rests->target);
	free(rests->rest);
	free(rests->home);
	free(rests->memory);
	free(rests->lives);
	free(rests->own);
	free(rests);
}
