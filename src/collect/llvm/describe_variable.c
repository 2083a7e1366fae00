// SPDX-License-Identifier: GPL-2.0-or-later
/* What a reference refers to. The address is followed to where it comes from: a global or local
 * variable, or a pointer that a variable holds or that was read from another thing of which the
 * same is asked; then the way back leads through the types. Without debug information only global
 * variables have names.
 *
 * Of several variables that hold the same pointer it is one that the code at the reference can see;
 * by then another value may have been assigned to it. */
#include "collect/llvm/thing.h"

#include "stream/stream.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

#include <stdlib.h>
#include <string.h>

#if LLVM_VERSION_MAJOR < 15
#define LLVMGetAggregateElement LLVMGetElementAsConstant
#endif

#define DEPTH_MAX    20 /* steps from the address to a name */
#define INCOMING_MAX 16

struct search {
	LLVMTargetDataRef layout;
	LLVMMetadataRef location; /* of the reference */
};

static bool find(
	const struct search *search, LLVMValueRef address, unsigned depth, struct loci_thing *ret);

/* How many calls further out than the reference a variable's function is; UINT_MAX: not there. */
static unsigned distance_to(const struct search *search, const struct loci_debug_variable *variable)
{
	LLVMMetadataRef location = search->location;

	if (!location)
		return variable->inlined_at ? UINT32_MAX : 0;
	for (unsigned i = 0; location && i < 256; i++) {
		LLVMMetadataRef inlined_at = LLVMDILocationGetInlinedAt(location);

		if (inlined_at == variable->inlined_at &&
			loci_debug_subprogram(LLVMDILocationGetScope(location)) ==
				variable->subprogram)
			return i;
		location = inlined_at;
	}
	return UINT32_MAX;
}

/* How much is known of what a variable points to: nothing of void *, little of the base that a
 * record begins with. */
static uint64_t extent(const struct loci_debug_variable *variable)
{
	struct loci_debug_type type;

	loci_debug_type_of(variable->type, &type);
	if (type.kind == LOCI_DEBUG_POINTER || type.kind == LOCI_DEBUG_REFERENCE)
		loci_debug_type_of(type.target, &type);
	return type.kind == LOCI_DEBUG_UNKNOWN ? 0 : type.bytes;
}

/* Those that tell most; parameters, since others are mostly set from them; then as they stand in
 * the source. */
static bool precedes(const struct loci_debug_variable *a, const struct loci_debug_variable *b)
{
	if (extent(a) != extent(b))
		return extent(a) > extent(b);
	if (!a->argument != !b->argument)
		return a->argument != 0;
	if (a->line != b->line)
		return a->line < b->line;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n;
	return memcmp(a->name.text, b->name.text, a->name.n) < 0;
}

struct choice {
	const struct search *search;
	struct loci_debug_variable variable;
	unsigned distance; /* UINT32_MAX: there is none so far */
};

static void consider(void *context, const struct loci_debug_variable *variable)
{
	struct choice *choice = context;
	unsigned distance = distance_to(choice->search, variable);

	if (distance == UINT32_MAX || distance > choice->distance ||
		(distance == choice->distance && !precedes(variable, &choice->variable)))
		return;
	choice->distance = distance;
	choice->variable = *variable;
}

static bool find_variable(const struct search *search, LLVMValueRef value, bool address,
	struct loci_debug_variable *ret)
{
	struct choice choice = { .search = search, .distance = UINT32_MAX };

	loci_debug_variables(value, address, consider, &choice);
	*ret = choice.variable;
	return choice.distance != UINT32_MAX;
}

static bool name_memory(const struct search *search, LLVMValueRef address, struct loci_thing *ret)
{
	struct loci_debug_variable variable;

	if (!find_variable(search, address, true, &variable) ||
		!loci_thing_name(ret, variable.name, variable.type))
		return false;
	ret->offset = (int64_t)variable.offset_bytes;
	return true;
}

static bool name_value(const struct search *search, LLVMValueRef value, struct loci_thing *ret)
{
	struct loci_debug_variable variable;

	return find_variable(search, value, false, &variable) &&
		loci_thing_name(ret, variable.name, variable.type) && loci_thing_follow(ret);
}

static bool name_global(LLVMValueRef global, struct loci_thing *ret)
{
	struct loci_debug_text name;
	LLVMMetadataRef type = NULL;
	uint64_t offset = 0;
	char *source;
	bool named;

	if (loci_debug_global(global, &name, &type, &offset)) {
		named = loci_thing_name(ret, name, type);
		ret->offset = (int64_t)offset;
		return named;
	}
	/* What has no name in the symbol table the compiler made up itself. */
	if (LLVMGetLinkage(global) == LLVMPrivateLinkage)
		return false;
	name.text = LLVMGetValueName2(global, &name.n);
	source = loci_debug_demangle(name.text);
	if (source) {
		name.text = source;
		name.n = strlen(source);
	}
	named = loci_thing_name(ret, name, NULL);
	free(source);
	return named;
}

static bool is_element_pointer(LLVMValueRef value)
{
	return LLVMIsAGetElementPtrInst(value) ||
		(LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMGetElementPtr);
}

static bool is_cast(LLVMValueRef value)
{
	LLVMOpcode opcode;

	if (LLVMIsAInstruction(value))
		opcode = LLVMGetInstructionOpcode(value);
	else if (LLVMIsAConstantExpr(value))
		opcode = LLVMGetConstOpcode(value);
	else
		return false;
	return opcode == LLVMBitCast || opcode == LLVMAddrSpaceCast || opcode == LLVMFreeze;
}

/* The number that an index is, in all lanes if it has several. */
static bool is_number(LLVMValueRef index, int64_t *ret)
{
	LLVMTypeRef type = LLVMTypeOf(index);

	*ret = 0;
	if (LLVMIsAConstantInt(index)) {
		*ret = LLVMConstIntGetSExtValue(index);
		return true;
	}
	if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
		return false;
	if (LLVMIsAConstantDataVector(index)) {
		*ret = LLVMConstIntGetSExtValue(LLVMGetAggregateElement(index, 0));
		for (unsigned i = 1; i < LLVMGetVectorSize(type); i++)
			if (LLVMConstIntGetSExtValue(LLVMGetAggregateElement(index, i)) != *ret)
				return false;
		return true;
	}
	return LLVMIsNull(index);
}

static bool is_index(LLVMValueRef index)
{
	LLVMTypeRef type = LLVMTypeOf(index);

	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
		type = LLVMGetElementType(type);
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64;
}

/* One index into a type: what it adds, and the type that it leads to. A variable one has a stride.
 */
static bool step(const struct search *search, LLVMValueRef index, bool first, LLVMTypeRef *type,
	int64_t *ret_bytes, uint64_t *ret_stride)
{
	LLVMTypeKind kind = LLVMGetTypeKind(*type);
	int64_t number = 0;
	bool known;

	*ret_bytes = 0;
	*ret_stride = 0;
	if (!is_index(index))
		return false;
	known = is_number(index, &number);
	if (!first && kind == LLVMStructTypeKind) {
		if (!known || number < 0 || number >= LLVMCountStructElementTypes(*type))
			return false;
		*ret_bytes = (int64_t)LLVMOffsetOfElement(search->layout, *type, (unsigned)number);
		*type = LLVMStructGetTypeAtIndex(*type, (unsigned)number);
		return true;
	}
	if (!first && kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind)
		return false;
	if (!first)
		*type = LLVMGetElementType(*type);
	if (!LLVMTypeIsSized(*type) || LLVMGetTypeKind(*type) == LLVMScalableVectorTypeKind)
		return false;
	if (known)
		*ret_bytes = number * (int64_t)LLVMABISizeOfType(search->layout, *type);
	else
		*ret_stride = LLVMABISizeOfType(search->layout, *type);
	return true;
}

static bool find_element(
	const struct search *search, LLVMValueRef pointer, unsigned depth, struct loci_thing *ret)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
	int n = LLVMGetNumOperands(pointer);

	if (!find(search, LLVMGetOperand(pointer, 0), depth + 1, ret))
		return false;
	for (int i = 1; i < n; i++) {
		int64_t bytes;
		uint64_t stride;

		if (!step(search, LLVMGetOperand(pointer, (unsigned)i), i == 1, &type, &bytes,
			    &stride) ||
			(stride && !loci_thing_index(ret, stride)))
			return false;
		ret->offset += bytes;
	}
	return true;
}

/* Whether a pointer is another one moved on, as in a loop that counts by its pointer. */
static bool moves(LLVMValueRef pointer, LLVMValueRef from)
{
	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		if (pointer == from)
			return true;
		if (!is_cast(pointer) && !is_element_pointer(pointer))
			return false;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return false;
}

static bool same(const struct loci_thing *a, const struct loci_thing *b)
{
	return !strcmp(a->text, b->text) && a->type == b->type && a->pointed == b->pointed;
}

/* Where several ways meet, all must lead to the same thing; one that comes from here moves along
 * in it. */
static bool find_merged(
	const struct search *search, LLVMValueRef phi, unsigned depth, struct loci_thing *ret)
{
	unsigned n = LLVMCountIncoming(phi), known = 0;
	bool moving = false;

	for (unsigned i = 0; i < n && n <= INCOMING_MAX; i++) {
		LLVMValueRef from = LLVMGetIncomingValue(phi, i);
		struct loci_thing other;

		if (moves(from, phi)) {
			moving = true;
			continue;
		}
		if (!find(search, from, depth + 2, known ? &other : ret) ||
			(known && !same(&other, ret)))
			return false;
		if (known && other.offset != ret->offset)
			moving = true;
		known++;
	}
	if (!known)
		return false;
	if (moving) {
		struct loci_debug_type type;

		/* By how much is not looked at; if in steps of the type it stays in place. */
		loci_debug_type_of(ret->type, &type);
		return loci_thing_index(
			ret, type.kind == LOCI_DEBUG_ARRAY || !type.bytes ? 1 : type.bytes);
	}
	return true;
}

/* From LLVM 15 on, the address of a thread's own copy of a variable is asked for. */
static bool is_of_thread(LLVMValueRef value)
{
	static const char name[] = "llvm.threadlocal.address";
	size_t n;

	return LLVMIsAIntrinsicInst(value) &&
		strncmp(LLVMGetValueName2(LLVMGetCalledValue(value), &n), name, sizeof(name) - 1) ==
		0;
}

static bool find(
	const struct search *search, LLVMValueRef address, unsigned depth, struct loci_thing *ret)
{
	if (depth > DEPTH_MAX)
		return false;
	if (LLVMIsAGlobalVariable(address))
		return name_global(address, ret);
	if (LLVMIsAConstant(address) && !LLVMIsAConstantExpr(address))
		return false;
	if (is_cast(address) || is_of_thread(address))
		return find(search, LLVMGetOperand(address, 0), depth + 1, ret);
	if (!LLVMIsAConstant(address) &&
		(name_memory(search, address, ret) || name_value(search, address, ret)))
		return true;
	if (is_element_pointer(address))
		return find_element(search, address, depth, ret);
	if (LLVMIsALoadInst(address)) {
		return find(search, LLVMGetOperand(address, 0), depth + 1, ret) &&
			loci_thing_narrow(ret, LLVMPointerSize(search->layout), false) &&
			loci_thing_follow(ret);
	}
	if (LLVMIsAPHINode(address))
		return find_merged(search, address, depth, ret);
	return false;
}

bool loci_variable_of(
	const struct loci_plan *plan, const struct loci_plan_ref *ref, char ret[LOCI_VARIABLE_MAX])
{
	struct search search = {
		.layout = LLVMGetModuleDataLayout(plan->module),
		.location = LLVMInstructionGetDebugLoc(ref->instruction),
	};
	uint64_t size = ref->size_bytes;
	struct loci_thing thing;

	if (!ref->address)
		return false;
	if (!size && ref->length && LLVMIsAConstantInt(ref->length))
		size = LLVMConstIntGetZExtValue(ref->length);
	if (!find(&search, ref->address, 0, &thing) ||
		!loci_thing_narrow(
			&thing, size, !ref->size_bytes || (ref->flags & LOCI_REF_BULK) != 0))
		return false;
	memcpy(ret, thing.text, sizeof(thing.text));
	return true;
}
