/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/emit.h"

#include "collect/llvm/asking.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <string.h>

/* Of LLVM's calling conventions. */
#define PRESERVE_MOST LLVMPreserveMostCallConv
#define UNLIKELY      1
#define LIKELY        (1u << 20)
/* The tracing copy is no cold code: it, too, is to run well. */
#define TRACING       1
#define COUNTING      63

static void add_attribute(LLVMContextRef context, LLVMValueRef function, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	if (kind)
		LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
			LLVMCreateEnumAttribute(context, kind, 0));
}

static LLVMValueRef declare(
	struct loci_emit *emit, const char *name, LLVMTypeRef type, bool preserves)
{
	LLVMValueRef function = LLVMGetNamedFunction(emit->module, name);
	if (function)
		return function;
	function = LLVMAddFunction(emit->module, name, type);
	add_attribute(emit->context, function, "nounwind");
	/* A dynamic linker that binds lazily keeps fewer registers than preserve_most promises. */
	add_attribute(emit->context, function, "nonlazybind");
	if (preserves)
		LLVMSetFunctionCallConv(function, PRESERVE_MOST);
	return function;
}

static LLVMValueRef call(struct loci_emit *emit, LLVMValueRef function, LLVMTypeRef type,
	LLVMValueRef *argument, unsigned n)
{
	LLVMValueRef made = LLVMBuildCall2(emit->builder, type, function, argument, n, "");
	LLVMSetInstructionCallConv(made, LLVMGetFunctionCallConv(function));
	return made;
}

LLVMValueRef loci_emit_number(const struct loci_emit *emit, uint64_t value)
{
	return LLVMConstInt(emit->word, value, 0);
}

LLVMValueRef loci_emit_thread_field(struct loci_emit *emit, unsigned number)
{
	LLVMValueRef index[] = { loci_emit_number(emit, 0), loci_emit_number(emit, number) };
	return LLVMBuildInBoundsGEP2(emit->builder, emit->members, emit->thread, index, 2, "");
}

LLVMValueRef loci_emit_away(struct loci_emit *emit, LLVMValueRef base, uint32_t n_words)
{
	LLVMValueRef index = loci_emit_number(emit, n_words);
	return LLVMBuildInBoundsGEP2(emit->builder, emit->word, base, &index, 1, "");
}

LLVMValueRef loci_emit_load_word(struct loci_emit *emit, LLVMValueRef address)
{
	LLVMValueRef value = LLVMBuildLoad2(emit->builder, emit->word, address, "");
	LLVMSetAlignment(value, 8);
	return value;
}

void loci_emit_store_word(struct loci_emit *emit, LLVMValueRef value, LLVMValueRef address)
{
	LLVMSetAlignment(LLVMBuildStore(emit->builder, value, address), 8);
}

static LLVMValueRef to_pointer(struct loci_emit *emit, LLVMValueRef word)
{
	return LLVMBuildIntToPtr(emit->builder, word, emit->pointer, "");
}

static LLVMValueRef slot_value(struct loci_emit *emit, LLVMTypeRef type, LLVMValueRef slot)
{
	return LLVMBuildLoad2(emit->builder, type, slot, "");
}

static LLVMValueRef base_of(struct loci_emit *emit, LLVMValueRef record)
{
	LLVMValueRef at = LLVMBuildPointerCast(emit->builder, record, emit->pointer, "");
	return loci_emit_load_word(emit, at);
}

/* Whether cursor > limit. */
static LLVMValueRef is_full(struct loci_emit *emit, LLVMValueRef state, LLVMValueRef cursor)
{
	LLVMValueRef limit = loci_emit_load_word(emit, loci_emit_away(emit, state, 1));
	LLVMValueRef at = LLVMBuildPtrToInt(emit->builder, cursor, emit->word, "");
	return LLVMBuildICmp(emit->builder, LLVMIntUGT, at, limit, "");
}

static void branch(struct loci_emit *emit, LLVMValueRef condition, LLVMBasicBlockRef yes,
	LLVMBasicBlockRef no, unsigned weight_yes, unsigned weight_no)
{
	LLVMTypeRef half = LLVMInt32TypeInContext(emit->context);
	LLVMValueRef weight[] = { LLVMMDStringInContext(emit->context, "branch_weights", 14),
		LLVMConstInt(half, weight_yes, 0), LLVMConstInt(half, weight_no, 0) };
	LLVMValueRef made = LLVMBuildCondBr(emit->builder, condition, yes, no);
	LLVMSetMetadata(made, emit->weights, LLVMMDNodeInContext(emit->context, weight, 3));
}

void loci_emit_branch_unlikely(struct loci_emit *emit, LLVMValueRef condition,
	LLVMBasicBlockRef unlikely, LLVMBasicBlockRef likely)
{
	branch(emit, condition, unlikely, likely, UNLIKELY, LIKELY);
}

void loci_emit_branch_copy(
	struct loci_emit *emit, LLVMBasicBlockRef tracing, LLVMBasicBlockRef counting)
{
	branch(emit, loci_emit_is_tracing(emit), tracing, counting, TRACING, COUNTING);
}

static LLVMValueRef thread_state(struct loci_emit *emit)
{
	return to_pointer(emit, loci_emit_load_word(emit, loci_emit_thread_field(emit, 1)));
}

void loci_emit_init(struct loci_emit *emit, LLVMModuleRef module)
{
	*emit = (struct loci_emit){ .module = module, .context = LLVMGetModuleContext(module) };
	emit->builder = LLVMCreateBuilderInContext(emit->context);
	emit->word = LLVMInt64TypeInContext(emit->context);
	emit->pointer = LLVMPointerType(emit->word, 0);
	emit->members = LLVMArrayType(emit->word, sizeof(struct loci_cc_thread) / 8);
	emit->weights = LLVMGetMDKindIDInContext(emit->context, "prof", 4);
	emit->thread = LLVMGetNamedGlobal(module, "__loci_thread");
	if (!emit->thread)
		emit->thread = LLVMAddGlobal(module, emit->members, "__loci_thread");
	LLVMSetThreadLocalMode(emit->thread, LLVMInitialExecTLSModel);
	LLVMSetAlignment(emit->thread, 8);
	loci_asking_init(emit);
}

void loci_emit_fini(struct loci_emit *emit)
{
	LLVMDisposeBuilder(emit->builder);
}

LLVMValueRef loci_emit_slot(struct loci_emit *emit, LLVMTypeRef type)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(emit->function);
	LLVMPositionBuilderBefore(emit->builder, LLVMGetFirstInstruction(entry));
	return LLVMBuildAlloca(emit->builder, type, "");
}

void loci_emit_slots(struct loci_emit *emit, LLVMValueRef function)
{
	emit->function = function;
	emit->budget = loci_emit_slot(emit, emit->word);
	emit->cursor = loci_emit_slot(emit, emit->pointer);
	emit->state = loci_emit_slot(emit, emit->pointer);
}

void loci_emit_before(struct loci_emit *emit, LLVMValueRef instruction)
{
	LLVMPositionBuilderBefore(emit->builder, instruction);
}

void loci_emit_at_end(struct loci_emit *emit, LLVMBasicBlockRef block)
{
	LLVMPositionBuilderAtEnd(emit->builder, block);
	LLVMSetCurrentDebugLocation2(emit->builder, NULL);
}

void loci_emit_store_budget(struct loci_emit *emit)
{
	LLVMValueRef value = slot_value(emit, emit->word, emit->budget);
	loci_emit_store_word(emit, value, loci_emit_thread_field(emit, 0));
}

void loci_emit_load_budget(struct loci_emit *emit)
{
	LLVMValueRef value = loci_emit_load_word(emit, loci_emit_thread_field(emit, 0));
	LLVMBuildStore(emit->builder, value, emit->budget);
}

void loci_emit_load_cursor(struct loci_emit *emit)
{
	LLVMValueRef state = thread_state(emit);
	LLVMBuildStore(emit->builder, state, emit->state);
	LLVMBuildStore(
		emit->builder, to_pointer(emit, loci_emit_load_word(emit, state)), emit->cursor);
}

LLVMValueRef loci_emit_get_budget(struct loci_emit *emit)
{
	return slot_value(emit, emit->word, emit->budget);
}

LLVMValueRef loci_emit_left(struct loci_emit *emit, LLVMValueRef n_refs)
{
	return LLVMBuildSub(emit->builder, loci_emit_get_budget(emit), n_refs, "");
}

void loci_emit_leave(struct loci_emit *emit, LLVMValueRef left)
{
	/* Frozen it is no induction variable, which loops would be rewritten to have fewer of. */
	LLVMBuildStore(emit->builder, LLVMBuildFreeze(emit->builder, left, ""), emit->budget);
}

void loci_emit_count(struct loci_emit *emit, uint32_t n_refs)
{
	if (n_refs > 0)
		loci_emit_leave(emit, loci_emit_left(emit, loci_emit_number(emit, n_refs)));
}

void loci_emit_count_in_memory(struct loci_emit *emit, uint32_t n_refs)
{
	if (n_refs > 0)
		loci_emit_take_in_memory(emit, loci_emit_number(emit, n_refs));
}

void loci_emit_take_in_memory(struct loci_emit *emit, LLVMValueRef n_refs)
{
	LLVMValueRef at = loci_emit_thread_field(emit, 0);
	LLVMValueRef value = loci_emit_load_word(emit, at);
	loci_emit_store_word(emit, LLVMBuildSub(emit->builder, value, n_refs, ""), at);
}

LLVMValueRef loci_emit_budget_in_memory(struct loci_emit *emit)
{
	return loci_emit_load_word(emit, loci_emit_thread_field(emit, 0));
}

LLVMValueRef loci_emit_is_counting_in_memory(struct loci_emit *emit)
{
	LLVMValueRef value = loci_emit_budget_in_memory(emit);
	return LLVMBuildICmp(emit->builder, LLVMIntSGE, value, loci_emit_number(emit, 0), "");
}

LLVMValueRef loci_emit_is_tracing(struct loci_emit *emit)
{
	LLVMValueRef value = slot_value(emit, emit->word, emit->budget);
	return LLVMBuildICmp(emit->builder, LLVMIntSLT, value, loci_emit_number(emit, 0), "");
}

LLVMValueRef loci_emit_is_full(struct loci_emit *emit)
{
	return is_full(
		emit, slot_value(emit, emit->pointer, emit->state), loci_emit_get_cursor(emit));
}

LLVMValueRef loci_emit_is_undefined(struct loci_emit *emit)
{
	LLVMValueRef base = base_of(emit, emit->record);
	return LLVMBuildICmp(emit->builder, LLVMIntEQ, base, loci_emit_number(emit, 0), "");
}

void loci_emit_cross(struct loci_emit *emit)
{
	loci_emit_store_budget(emit);
	loci_emit_enter(emit);
}

void loci_emit_enter(struct loci_emit *emit)
{
	loci_asking_cross(emit);
	loci_emit_load_budget(emit);
}

LLVMValueRef loci_emit_get_cursor(struct loci_emit *emit)
{
	return slot_value(emit, emit->pointer, emit->cursor);
}

void loci_emit_set_cursor(struct loci_emit *emit, LLVMValueRef cursor, uint32_t n_words)
{
	LLVMValueRef end = loci_emit_away(emit, cursor, n_words);
	LLVMBuildStore(emit->builder, end, emit->cursor);
	LLVMValueRef word = LLVMBuildPtrToInt(emit->builder, end, emit->word, "");
	loci_emit_store_word(emit, word, slot_value(emit, emit->pointer, emit->state));
}

void loci_emit_move_cursor_in_memory(struct loci_emit *emit, uint32_t n_words)
{
	LLVMValueRef at = slot_value(emit, emit->pointer, emit->state);
	LLVMValueRef bytes = loci_emit_number(emit, (uint64_t)n_words * sizeof(uint64_t));
	LLVMValueRef value = loci_emit_load_word(emit, at);
	loci_emit_store_word(emit, LLVMBuildAdd(emit->builder, value, bytes, ""), at);
}

void loci_emit_marker(struct loci_emit *emit, LLVMValueRef cursor, uint32_t at, uint32_t block)
{
	LLVMValueRef first = LLVMBuildPointerCast(emit->builder, emit->markers, emit->pointer, "");
	LLVMValueRef marker = loci_emit_load_word(emit, loci_emit_away(emit, first, block));
	loci_emit_store_word(emit, marker, loci_emit_away(emit, cursor, at));
}

void loci_emit_marker_beyond(
	struct loci_emit *emit, LLVMValueRef cursor, uint32_t at, uint64_t beyond)
{
	LLVMValueRef base = base_of(emit, emit->record);
	LLVMValueRef marker = LLVMBuildAdd(emit->builder, base, loci_emit_number(emit, beyond), "");
	loci_emit_store_word(emit, marker, loci_emit_away(emit, cursor, at));
}

LLVMValueRef loci_emit_mark(struct loci_emit *emit)
{
	LLVMTypeRef type = LLVMFunctionType(emit->pointer, NULL, 0, 0);
	LLVMValueRef mark = declare(emit, "__loci_mark", type, false);
	LLVMBasicBlockRef here = LLVMGetInsertBlock(emit->builder);
	LLVMValueRef state = call(emit, mark, type, NULL, 0);
	/* In memory for good, where it outlives a jump. */
	LLVMValueRef slot = loci_emit_slot(emit, emit->pointer);
	LLVMValueRef after = LLVMGetNextInstruction(state);
	if (after)
		LLVMPositionBuilderBefore(emit->builder, after);
	else
		LLVMPositionBuilderAtEnd(emit->builder, here);
	LLVMSetVolatile(LLVMBuildStore(emit->builder, state, slot), 1);
	return slot;
}

void loci_emit_landed(struct loci_emit *emit, LLVMValueRef slot)
{
	LLVMTypeRef type =
		LLVMFunctionType(LLVMVoidTypeInContext(emit->context), &emit->pointer, 1, 0);
	LLVMValueRef landed = declare(emit, "__loci_landed", type, false);
	LLVMValueRef state = LLVMBuildLoad2(emit->builder, emit->pointer, slot, "");
	LLVMSetVolatile(state, 1);
	call(emit, landed, type, &state, 1);
}

LLVMValueRef loci_emit_call(struct loci_emit *emit, const char *name, LLVMTypeRef type,
	LLVMValueRef *argument, unsigned n)
{
	return call(emit, declare(emit, name, type, false), type, argument, n);
}

LLVMValueRef loci_emit_call_keeping(struct loci_emit *emit, const char *name, LLVMTypeRef type,
	LLVMValueRef *argument, unsigned n)
{
	return call(emit, declare(emit, name, type, true), type, argument, n);
}
