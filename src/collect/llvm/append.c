/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a reference's words come about. */
#include "collect/llvm/emit.h"

#include "stream/stream.h"

#include <stdbool.h>
#include <string.h>

static LLVMValueRef mapped(const struct loci_ir_copy *copy, LLVMValueRef value)
{
	return copy ? loci_ir_copy_of(copy, value) : value;
}

LLVMValueRef loci_emit_frame_address(struct loci_emit *emit)
{
	static const char name[] = "llvm.addressofreturnaddress";
	unsigned id = LLVMLookupIntrinsicID(name, sizeof(name) - 1);
	LLVMTypeRef byte = LLVMPointerType(LLVMInt8TypeInContext(emit->context), 0);
	LLVMValueRef function = LLVMGetIntrinsicDeclaration(emit->module, id, &byte, 1);
	LLVMTypeRef type = LLVMIntrinsicGetType(emit->context, id, &byte, 1);
	return LLVMBuildCall2(emit->builder, type, function, NULL, 0, "");
}

static LLVMValueRef to_word(struct loci_emit *emit, LLVMValueRef value)
{
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(emit->builder, value, emit->word, "");
	return LLVMBuildZExtOrBitCast(emit->builder, value, emit->word, "");
}

static LLVMValueRef span_length(
	struct loci_emit *emit, const struct loci_plan_ref *ref, const struct loci_ir_copy *copy)
{
	LLVMValueRef argument[3];
	LLVMTypeRef type[3];
	for (unsigned i = 0; i < ref->n_span_arguments; i++) {
		argument[i] = mapped(copy, ref->span_argument[i]);
		if (LLVMGetTypeKind(LLVMTypeOf(argument[i])) == LLVMPointerTypeKind)
			argument[i] =
				LLVMBuildPointerCast(emit->builder, argument[i], emit->pointer, "");
		type[i] = LLVMTypeOf(argument[i]);
	}
	LLVMTypeRef span = LLVMFunctionType(emit->word, type, ref->n_span_arguments, 0);
	return loci_emit_call(emit, ref->span, span, argument, ref->n_span_arguments);
}

static LLVMValueRef intrinsic_of(struct loci_emit *emit, const char *name, LLVMTypeRef over,
	LLVMValueRef *argument, unsigned n)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef function = LLVMGetIntrinsicDeclaration(emit->module, id, &over, 1);
	LLVMTypeRef type = LLVMIntrinsicGetType(emit->context, id, &over, 1);
	return LLVMBuildCall2(emit->builder, type, function, argument, n, "");
}

/* Active lanes as bits of a word. Masks of x86's own are the signs of lanes. */
static LLVMValueRef mask_bits(struct loci_emit *emit, LLVMValueRef mask)
{
	LLVMTypeRef type = LLVMTypeOf(mask), lane = LLVMGetElementType(type);
	unsigned n = LLVMGetVectorSize(type);
	if (LLVMGetTypeKind(lane) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(lane) != 1) {
		bool is_wide = LLVMGetTypeKind(lane) == LLVMDoubleTypeKind ||
			(LLVMGetTypeKind(lane) == LLVMIntegerTypeKind &&
				LLVMGetIntTypeWidth(lane) == 64);
		LLVMTypeRef integer = LLVMIntTypeInContext(emit->context, is_wide ? 64 : 32);
		LLVMTypeRef integers = LLVMVectorType(integer, n);
		mask = LLVMBuildBitCast(emit->builder, mask, integers, "");
		mask = LLVMBuildICmp(emit->builder, LLVMIntSLT, mask, LLVMConstNull(integers), "");
	}
	mask = LLVMBuildBitCast(emit->builder, mask, LLVMIntTypeInContext(emit->context, n), "");
	return n == 64 ? mask : LLVMBuildZExt(emit->builder, mask, emit->word, "");
}

static LLVMValueRef zeros(struct loci_emit *emit, const char *which, LLVMValueRef bits)
{
	LLVMValueRef argument[] = { bits,
		LLVMConstInt(LLVMInt1TypeInContext(emit->context), 0, 0) };
	return intrinsic_of(emit, which, emit->word, argument, 2);
}

/* The range of a masked access: address and length. */
static void masked_range(struct loci_emit *emit, const struct loci_plan_ref *ref, LLVMValueRef mask,
	LLVMValueRef *address, LLVMValueRef *length)
{
	LLVMBuilderRef b = emit->builder;
	LLVMValueRef bits = mask_bits(emit, mask), size = loci_emit_number(emit, ref->lane_bytes);
	LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, bits, loci_emit_number(emit, 0), "");
	if (ref->length_kind == LOCI_LENGTH_PACKED) {
		LLVMValueRef n = intrinsic_of(emit, "llvm.ctpop", emit->word, &bits, 1);
		*length = LLVMBuildMul(b, n, size, "");
	} else {
		LLVMValueRef first = zeros(emit, "llvm.cttz", bits),
			     after = zeros(emit, "llvm.ctlz", bits);
		LLVMValueRef end = LLVMBuildSub(b, loci_emit_number(emit, 64), after, "");
		LLVMValueRef lanes = LLVMBuildSub(b, end, first, "");
		lanes = LLVMBuildSelect(b, none, loci_emit_number(emit, 0), lanes, "");
		*address = LLVMBuildAdd(b, *address, LLVMBuildMul(b, first, size, ""), "");
		*length = LLVMBuildMul(b, lanes, size, "");
	}
	*address = LLVMBuildSelect(b, none, loci_emit_number(emit, 0), *address, "");
}

static void lane_range(struct loci_emit *emit, const struct loci_plan_ref *ref, LLVMValueRef mask,
	LLVMValueRef *address, LLVMValueRef *length)
{
	LLVMBuilderRef b = emit->builder;
	LLVMValueRef bits = mask_bits(emit, mask), bit = loci_emit_number(emit, 1ull << ref->lane);
	LLVMValueRef is_active = LLVMBuildICmp(
		b, LLVMIntNE, LLVMBuildAnd(b, bits, bit, ""), loci_emit_number(emit, 0), "");
	*address = LLVMBuildSelect(b, is_active, *address, loci_emit_number(emit, 0), "");
	*length = LLVMBuildSelect(b, is_active, loci_emit_number(emit, ref->lane_bytes),
		loci_emit_number(emit, 0), "");
}

static LLVMValueRef indexed(struct loci_emit *emit, const struct loci_plan_ref *ref,
	LLVMValueRef base, LLVMValueRef index)
{
	LLVMBuilderRef b = emit->builder;
	index = LLVMBuildExtractElement(b, index, loci_emit_number(emit, ref->lane), "");
	index = LLVMBuildSExtOrBitCast(b, index, emit->word, "");
	index = LLVMBuildMul(b, index, loci_emit_number(emit, ref->index_bytes), "");
	return LLVMBuildAdd(b, base, index, "");
}

static LLVMValueRef string_length(
	struct loci_emit *emit, const struct loci_plan_ref *ref, const struct loci_ir_copy *copy)
{
	LLVMValueRef string =
		LLVMBuildPointerCast(emit->builder, mapped(copy, ref->address), emit->pointer, "");
	LLVMTypeRef type = LLVMFunctionType(emit->word, &emit->pointer, 1, 0);
	LLVMValueRef bytes = loci_emit_call(emit, "__loci_span_string", type, &string, 1);
	return LLVMBuildSub(emit->builder, bytes, loci_emit_number(emit, 1), "");
}

static LLVMValueRef address_of(
	struct loci_emit *emit, const struct loci_plan_ref *ref, const struct loci_ir_copy *copy)
{
	if (ref->op == LOCI_OP_FRAME)
		return to_word(emit, loci_emit_frame_address(emit));
	if (ref->op == LOCI_OP_CALLER)
		return loci_emit_load_word(emit,
			LLVMBuildPointerCast(
				emit->builder, loci_emit_frame_address(emit), emit->pointer, ""));
	if (ref->op == LOCI_OP_TURN)
		return loci_emit_number(emit, 0);
	LLVMValueRef address = mapped(copy, ref->address);
	if (LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind)
		address = LLVMBuildExtractElement(
			emit->builder, address, loci_emit_number(emit, ref->lane), "");
	address = to_word(emit, address);
	if (ref->index)
		address = indexed(emit, ref, address, mapped(copy, ref->index));
	if (ref->is_at_end)
		address = LLVMBuildAdd(emit->builder, address, string_length(emit, ref, copy), "");
	return address;
}

/* The operand of a load or store that is its address. */
static int address_operand(LLVMValueRef instruction)
{
	return LLVMIsALoadInst(instruction) ? 0 : LLVMIsAStoreInst(instruction) ? 1 : -1;
}

/* Whether a register must be made for the address, which an instruction could have computed. */
static bool is_computed(LLVMValueRef address)
{
	return LLVMIsAGetElementPtrInst(address) || LLVMIsAConstant(address);
}

void loci_emit_forget_shared(struct loci_emit *emit)
{
	emit->n_shared = 0;
}

/* The value that stands for an address here; made unless there is one. What it is made of the
 * compiler is not to know, lest it be computed again. */
static LLVMValueRef shared_of(struct loci_emit *emit, LLVMValueRef address)
{
	for (unsigned i = 0; i < emit->n_shared && i < LOCI_EMIT_SHARED; i++)
		if (emit->shared[i].address == address)
			return emit->shared[i].value;
	LLVMTypeRef pointer = LLVMTypeOf(address);
	LLVMTypeRef type = LLVMFunctionType(pointer, &pointer, 1, 0);
	LLVMValueRef opaque = loci_ir_assembly(type, "", "=r,0", LOCI_ASSEMBLY_PURE);
	LLVMValueRef value = LLVMBuildCall2(emit->builder, type, opaque, &address, 1, "");
	emit->shared[emit->n_shared++ % LOCI_EMIT_SHARED] =
		(struct loci_emit_shared){ .address = address, .value = value };
	return value;
}

/* The address stands in a register for its word: the access takes it from there, which is shorter
 * than to compute it again. */
static LLVMValueRef share_address(
	struct loci_emit *emit, const struct loci_plan_ref *ref, const struct loci_ir_copy *copy)
{
	LLVMValueRef access = copy ? loci_ir_copy_of(copy, ref->instruction) : NULL;
	int number = access ? address_operand(access) : -1;
	if (number < 0)
		return NULL;
	LLVMValueRef address = LLVMGetOperand(access, (unsigned)number);
	if (address != mapped(copy, ref->address) || !is_computed(address))
		return NULL;
	LLVMValueRef shared = shared_of(emit, address);
	LLVMSetOperand(access, (unsigned)number, shared);
	return shared;
}

uint32_t loci_emit_ref(struct loci_emit *emit, LLVMValueRef cursor, uint32_t at,
	const struct loci_plan_ref *ref, const struct loci_ir_copy *copy)
{
	LLVMValueRef shared = share_address(emit, ref, copy);
	LLVMValueRef address = shared ? to_word(emit, shared) : address_of(emit, ref, copy);
	LLVMValueRef length = NULL;
	if (ref->mask && ref->length_kind == LOCI_LENGTH_LANE)
		lane_range(emit, ref, mapped(copy, ref->mask), &address, &length);
	else if (ref->mask)
		masked_range(emit, ref, mapped(copy, ref->mask), &address, &length);
	else if (ref->length_kind == LOCI_LENGTH_VALUE)
		length = to_word(emit, mapped(copy, ref->length));
	else if (ref->length_kind == LOCI_LENGTH_SPAN)
		length = span_length(emit, ref, copy);
	loci_emit_store_word(emit, address, loci_emit_away(emit, cursor, at));
	if (!length)
		return 1;
	loci_emit_store_word(emit, length, loci_emit_away(emit, cursor, at + 1));
	return 2;
}

LLVMValueRef loci_emit_atomic(struct loci_emit *emit, LLVMValueRef cursor, uint32_t at,
	const struct loci_plan_ref *ref, const struct loci_ir_copy *copy)
{
	LLVMTypeRef taken[] = { emit->pointer, emit->word, emit->word };
	LLVMValueRef argument[] = { loci_emit_away(emit, cursor, at), address_of(emit, ref, copy),
		loci_emit_number(emit, ref->atomic) };
	LLVMTypeRef type = LLVMFunctionType(emit->pointer, taken, 3, 0);
	return loci_emit_call_keeping(emit, "__loci_atomic_begin", type, argument, 3);
}

void loci_emit_atomic_end(struct loci_emit *emit)
{
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(emit->context), NULL, 0, 0);
	loci_emit_call_keeping(emit, "__loci_atomic_end", type, NULL, 0);
}
