/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads, stores, atomic operations, intrinsics and arguments passed by value. Inline assembly is
 * not seen, nor are address spaces other than 0 (segments of x86). */
#include "collect/llvm/reference.h"

#include "collect/llvm/bulk.h"
#include "collect/llvm/callee.h"
#include "collect/llvm/numbers.h"
#include "collect/llvm/spans.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <string.h>

#define VA_LIST_BYTES 24

void loci_references_init(struct loci_references *references, LLVMModuleRef module)
{
	*references = (struct loci_references){
		.layout = LLVMGetModuleDataLayout(module),
		.nontemporal = LLVMGetMDKindID("nontemporal", 11),
		.byval = LLVMGetEnumAttributeKindForName("byval", 5),
	};
}

static bool is_plain_pointer(LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
		type = LLVMGetElementType(type);
	return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
		LLVMGetPointerAddressSpace(type) == 0;
}

void loci_references_add_one(struct loci_references *references, struct loci_plan_ref ref)
{
	if (!is_plain_pointer(LLVMTypeOf(ref.address)))
		return;
	references->ref = loci_grown(references->ref, references->n, sizeof(*references->ref));
	references->ref[references->n++] = ref;
}

static unsigned type_flags(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LOCI_REF_VECTOR : 0;
}

static void add_access(struct loci_references *references, LLVMValueRef instruction,
	LLVMValueRef address, LLVMTypeRef type, enum loci_op op, unsigned flags)
{
	uint64_t bytes = LLVMStoreSizeOfType(references->layout, type);
	if (bytes == 0 || bytes > UINT32_MAX)
		return;
	if (LLVMGetMetadata(instruction, references->nontemporal))
		flags |= LOCI_REF_STREAMING;
	loci_references_add_one(references,
		(struct loci_plan_ref){ .instruction = instruction,
			.address = address,
			.size_bytes = (uint32_t)bytes,
			.op = op,
			.flags = (uint16_t)(flags | type_flags(type)) });
}

/* So many references of an atomic operation have just been added, or none. */
static void mark_atomic(struct loci_references *references, size_t first, enum loci_cc_atomic kind)
{
	if (references->n > first)
		references->ref[first].atomic = kind;
}

static void add_modify(struct loci_references *references, LLVMValueRef instruction)
{
	size_t first = references->n;
	LLVMValueRef address = LLVMGetOperand(instruction, 0);
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, 1));
	unsigned flags = LOCI_REF_ATOMIC | LOCI_REF_MODIFY;
	add_access(references, instruction, address, type, LOCI_OP_LOAD, flags);
	add_access(references, instruction, address, type, LOCI_OP_STORE, flags);
	mark_atomic(references, first, LOCI_CC_ATOMIC_MODIFY);
}

static void add_bulk(struct loci_references *references, LLVMValueRef call, unsigned address,
	unsigned length, enum loci_op op)
{
	struct loci_plan_ref ref = { .instruction = call,
		.address = LLVMGetOperand(call, address),
		.length_kind = LOCI_LENGTH_VALUE,
		.length = LLVMGetOperand(call, length),
		.op = op,
		.flags = LOCI_REF_BULK,
		.may_be_large = loci_bulk_may_be_large(call) };
	if (LLVMIsAConstantInt(ref.length)) {
		uint64_t bytes = LLVMConstIntGetZExtValue(ref.length);
		if (bytes == 0)
			return;
		if (bytes <= UINT32_MAX) {
			ref.length_kind = LOCI_LENGTH_FIXED;
			ref.size_bytes = (uint32_t)bytes;
		}
	}
	loci_references_add_one(references, ref);
}

static void add_list(
	struct loci_references *references, LLVMValueRef call, unsigned address, enum loci_op op)
{
	loci_references_add_one(references,
		(struct loci_plan_ref){ .instruction = call,
			.address = LLVMGetOperand(call, address),
			.size_bytes = VA_LIST_BYTES,
			.op = op });
}

static bool is_all_ones(LLVMValueRef mask)
{
	return LLVMIsConstant(mask) && mask == LLVMConstAllOnes(LLVMTypeOf(mask));
}

struct masked {
	const char *name;
	uint8_t op;
	uint8_t kind; /* enum loci_plan_length */
	int8_t address, mask;
	int8_t value;        /* argument that has the accessed type; -1: the result has */
	int8_t index, scale; /* arguments, if not 0: of gathers by x86's own names */
};

static const struct masked masked[] = {
	{ "llvm.masked.load.", LOCI_OP_LOAD, LOCI_LENGTH_LANES, 0, 2, -1, 0, 0 },
	{ "llvm.masked.store.", LOCI_OP_STORE, LOCI_LENGTH_LANES, 1, 3, 0, 0, 0 },
	{ "llvm.masked.gather.", LOCI_OP_LOAD, LOCI_LENGTH_LANE, 0, 2, -1, 0, 0 },
	{ "llvm.masked.scatter.", LOCI_OP_STORE, LOCI_LENGTH_LANE, 1, 3, 0, 0, 0 },
	{ "llvm.masked.expandload.", LOCI_OP_LOAD, LOCI_LENGTH_PACKED, 0, 1, -1, 0, 0 },
	{ "llvm.masked.compressstore.", LOCI_OP_STORE, LOCI_LENGTH_PACKED, 1, 2, 0, 0, 0 },
	{ "llvm.x86.avx.maskload.", LOCI_OP_LOAD, LOCI_LENGTH_LANES, 0, 1, -1, 0, 0 },
	{ "llvm.x86.avx2.maskload.", LOCI_OP_LOAD, LOCI_LENGTH_LANES, 0, 1, -1, 0, 0 },
	{ "llvm.x86.avx.maskstore.", LOCI_OP_STORE, LOCI_LENGTH_LANES, 0, 1, 2, 0, 0 },
	{ "llvm.x86.avx2.maskstore.", LOCI_OP_STORE, LOCI_LENGTH_LANES, 0, 1, 2, 0, 0 },
	{ "llvm.x86.avx2.gather.", LOCI_OP_LOAD, LOCI_LENGTH_LANE, 1, 3, -1, 2, 4 },
	{ "llvm.x86.avx512.mask.gather", LOCI_OP_LOAD, LOCI_LENGTH_LANE, 1, 3, -1, 2, 4 },
	{ "llvm.x86.avx512.mask.scatter", LOCI_OP_STORE, LOCI_LENGTH_LANE, 0, 1, 3, 2, 4 },
};

static void add_masked(
	struct loci_references *references, LLVMValueRef call, const struct masked *how)
{
	LLVMTypeRef type =
		LLVMTypeOf(how->value < 0 ? call : LLVMGetOperand(call, (unsigned)how->value));
	LLVMValueRef address = LLVMGetOperand(call, (unsigned)how->address);
	LLVMValueRef mask = LLVMGetOperand(call, (unsigned)how->mask);
	if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
		return;
	LLVMTypeRef element = LLVMGetElementType(type);
	uint32_t lane_bytes = (uint32_t)LLVMStoreSizeOfType(references->layout, element);
	bool all = is_all_ones(mask);
	if (all && how->kind != LOCI_LENGTH_LANE) {
		add_access(references, call, address, type, how->op, 0);
		return;
	}
	unsigned n = how->kind == LOCI_LENGTH_LANE ? LLVMGetVectorSize(type) : 1;
	LLVMValueRef index = how->index ? LLVMGetOperand(call, (unsigned)how->index) : NULL;
	uint32_t index_bytes = 0;
	if (index) {
		/* There may be more results than indices, or the reverse. */
		LLVMValueRef scale = LLVMGetOperand(call, (unsigned)how->scale);
		index_bytes = (uint32_t)LLVMConstIntGetZExtValue(scale);
		if (LLVMGetVectorSize(LLVMTypeOf(index)) < n)
			n = LLVMGetVectorSize(LLVMTypeOf(index));
	}
	for (unsigned lane = 0; lane < n; lane++)
		loci_references_add_one(references,
			(struct loci_plan_ref){ .instruction = call,
				.address = address,
				.mask = all ? NULL : mask,
				.length_kind = how->kind,
				.lane = lane,
				.lane_bytes = lane_bytes,
				.index = index,
				.index_bytes = index_bytes,
				.size_bytes = all ? lane_bytes : 0,
				.op = how->op,
				.flags = LOCI_REF_VECTOR });
}

static bool starts_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void add_intrinsic(struct loci_references *references, LLVMValueRef call, const char *name)
{
	if (starts_with(name, "llvm.memcpy.") || starts_with(name, "llvm.memmove.")) {
		add_bulk(references, call, 1, 2, LOCI_OP_LOAD);
		add_bulk(references, call, 0, 2, LOCI_OP_STORE);
	} else if (starts_with(name, "llvm.memset.")) {
		add_bulk(references, call, 0, 2, LOCI_OP_STORE);
	} else if (starts_with(name, "llvm.va_start")) {
		add_list(references, call, 0, LOCI_OP_STORE);
	} else if (starts_with(name, "llvm.va_copy")) {
		add_list(references, call, 1, LOCI_OP_LOAD);
		add_list(references, call, 0, LOCI_OP_STORE);
	}
	for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++)
		if (starts_with(name, masked[i].name))
			add_masked(references, call, &masked[i]);
}

/* The caller reads what it copies to the callee's arguments; where those stand is not known yet. */
static void add_by_value(struct loci_references *references, LLVMValueRef call)
{
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		LLVMAttributeRef attribute =
			LLVMGetCallSiteEnumAttribute(call, i + 1, references->byval);
		if (!attribute)
			continue;
		add_access(references, call, LLVMGetOperand(call, i),
			LLVMGetTypeAttributeValue(attribute), LOCI_OP_LOAD, LOCI_REF_BULK);
	}
}

static void add_call(struct loci_references *references, LLVMValueRef call)
{
	LLVMValueRef callee = loci_callee_of(call);
	const char *name = callee ? LLVMGetValueName(callee) : "";
	if (starts_with(name, "llvm.")) {
		add_intrinsic(references, call, name);
		return;
	}
	add_by_value(references, call);
	if (callee && LLVMIsDeclaration(callee))
		loci_spans_add(references, call, name);
}

/* One that is only whole (unordered) says nothing of others. */
static bool is_ordered(LLVMValueRef access)
{
	LLVMAtomicOrdering ordering = LLVMGetOrdering(access);
	return ordering != LLVMAtomicOrderingNotAtomic && ordering != LLVMAtomicOrderingUnordered;
}

void loci_references_add(struct loci_references *references, LLVMValueRef instruction)
{
	size_t first = references->n;
	bool atomic = false;
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
		atomic = LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
		add_access(references, instruction, LLVMGetOperand(instruction, 0),
			LLVMTypeOf(instruction), LOCI_OP_LOAD, atomic ? LOCI_REF_ATOMIC : 0);
		if (is_ordered(instruction))
			mark_atomic(references, first, LOCI_CC_ATOMIC_LOAD);
		break;
	case LLVMStore:
		atomic = LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
		add_access(references, instruction, LLVMGetOperand(instruction, 1),
			LLVMTypeOf(LLVMGetOperand(instruction, 0)), LOCI_OP_STORE,
			atomic ? LOCI_REF_ATOMIC : 0);
		if (is_ordered(instruction))
			mark_atomic(references, first, LOCI_CC_ATOMIC_STORE);
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		add_modify(references, instruction);
		break;
	case LLVMCall:
	case LLVMInvoke:
		add_call(references, instruction);
		break;
	default:
		break;
	}
}
