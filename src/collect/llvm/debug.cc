// SPDX-License-Identifier: GPL-2.0-or-later
/* See debug.h. From LLVM 19 on variables stand in records beside the instructions, before in calls
 * of intrinsics; either way one describes a value, or the memory at an address. */
#include "collect/llvm/debug.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <cstring>

using namespace llvm;

static loci_debug_text text_of(StringRef text)
{
	return { text.data(), text.size() };
}

template <class T> static const T *node_of(LLVMMetadataRef ref)
{
	return dyn_cast_or_null<T>(reinterpret_cast<const Metadata *>(ref));
}

static LLVMMetadataRef ref_of(const Metadata *node)
{
	return reinterpret_cast<LLVMMetadataRef>(const_cast<Metadata *>(node));
}

LLVMMetadataRef loci_debug_subprogram(LLVMMetadataRef scope)
{
	const DILocalScope *local = node_of<DILocalScope>(scope);

	return local ? ref_of(local->getSubprogram()) : nullptr;
}

void loci_debug_function_of(LLVMMetadataRef subprogram, struct loci_debug_function *ret)
{
	const DISubprogram *node = node_of<DISubprogram>(subprogram);

	memset(ret, 0, sizeof(*ret));
	if (!node)
		return;
	ret->name = text_of(node->getName());
	ret->linkage = text_of(node->getLinkageName());
	ret->line = node->getLine();
	ret->body_line = node->getScopeLine();
}

struct loci_debug_text loci_debug_producer(LLVMModuleRef module, LLVMMetadataRef subprogram)
{
	const DISubprogram *node = node_of<DISubprogram>(subprogram);
	const NamedMDNode *ident = unwrap(module)->getNamedMetadata("llvm.ident");

	if (node && node->getUnit() && !node->getUnit()->getProducer().empty())
		return text_of(node->getUnit()->getProducer());
	if (ident && ident->getNumOperands() && ident->getOperand(0)->getNumOperands())
		if (auto *text = dyn_cast_or_null<MDString>(ident->getOperand(0)->getOperand(0)))
			return text_of(text->getString());
	return { nullptr, 0 };
}

struct loci_debug_loops {
	DominatorTree tree;
	LoopInfo info;
	explicit loci_debug_loops(Function &function) : tree(function), info(tree)
	{
	}
};

struct loci_debug_loops *loci_debug_loops_new(LLVMValueRef function)
{
	return new loci_debug_loops(*cast<Function>(unwrap(function)));
}

void loci_debug_loops_free(struct loci_debug_loops *loops)
{
	delete loops;
}

/* The first location that the metadata on a jump back to the header names is where the loop begins;
 * the second, where it ends. */
static const DILocation *named_start(const BasicBlock *block)
{
	const MDNode *id = block->getTerminator()->getMetadata(LLVMContext::MD_loop);

	for (unsigned i = 1; id && i < id->getNumOperands(); i++)
		if (auto *at = dyn_cast_or_null<DILocation>(id->getOperand(i)))
			return at;
	return nullptr;
}

/* Of the code that stands where the header's does, the first line: a statement that loops begins
 * before what it repeats. */
static const DILocation *first_line(const Loop *loop)
{
	const DILocation *first = nullptr;

	for (const BasicBlock *block : loop->blocks())
		for (const Instruction &instruction : *block) {
			const DILocation *at = instruction.getDebugLoc().get();

			if (!at || !at->getLine() || isa<DbgInfoIntrinsic>(instruction))
				continue;
			if (!first ||
				(at->getLine() < first->getLine() &&
					at->getInlinedAt() == first->getInlinedAt() &&
					at->getScope()->getSubprogram() ==
						first->getScope()->getSubprogram() &&
					at->getFile() == first->getFile()))
				first = at;
		}
	return first;
}

LLVMMetadataRef loci_debug_loop(
	struct loci_debug_loops *loops, LLVMBasicBlockRef header, bool *ret_exact)
{
	const Loop *loop = loops->info.getLoopFor(unwrap(header));
	SmallVector<BasicBlock *, 8> latches;

	*ret_exact = true;
	if (!loop || loop->getHeader() != unwrap(header))
		return nullptr;
	loop->getLoopLatches(latches);
	for (const BasicBlock *latch : latches) {
		if (const DILocation *at = named_start(latch))
			return ref_of(at);
		/* Jumps back may have been led through a block of their own. */
		for (const BasicBlock *before : predecessors(latch))
			if (loops->info.getLoopFor(before) == loop)
				if (const DILocation *at = named_start(before))
					return ref_of(at);
	}
	*ret_exact = false;
	return ref_of(first_line(loop));
}

/* What an expression makes of its value: nothing, or the memory at it, and which part of the
 * variable is meant. false: something else. */
static bool simple(const DIExpression *expression, bool *ret_memory, uint64_t *ret_offset_bytes)
{
	*ret_memory = false;
	*ret_offset_bytes = 0;
	if (!expression || !expression->isValid())
		return false;
	for (auto op : expression->expr_ops()) {
		switch (op.getOp()) {
		case dwarf::DW_OP_deref:
			if (*ret_memory)
				return false;
			*ret_memory = true;
			break;
		case dwarf::DW_OP_stack_value:
			break;
		case dwarf::DW_OP_LLVM_fragment:
			if (op.getArg(0) % 8)
				return false;
			*ret_offset_bytes = op.getArg(0) / 8;
			break;
		default:
			return false;
		}
	}
	return true;
}

struct asking {
	bool address;
	loci_debug_visit *visit;
	void *context;
};

/* One description of a value. declares: it is the variable's address, not its value. */
static void take(const asking &to, bool declares, const DILocalVariable *variable,
	const DIExpression *expression, const DILocation *at)
{
	loci_debug_variable found = {};
	uint64_t offset;
	bool memory;

	/* Such as hold the ends of a range while a loop runs over it. */
	bool made_up = variable && variable->isArtificial() && !variable->isObjectPointer();

	if (!variable || made_up || variable->getName().empty() ||
		!simple(expression, &memory, &offset) || (declares && memory) ||
		(declares || memory) != to.address)
		return;
	/* A part of a variable that is a value of its own has no name that is known here. */
	if (!to.address && expression->isFragment())
		return;
	found.name = text_of(variable->getName());
	found.type = ref_of(variable->getType());
	found.subprogram =
		ref_of(variable->getScope() ? variable->getScope()->getSubprogram() : nullptr);
	found.inlined_at = ref_of(at ? at->getInlinedAt() : nullptr);
	found.argument = variable->getArg();
	found.line = variable->getLine();
	found.offset_bytes = offset;
	to.visit(to.context, &found);
}

void loci_debug_variables(
	LLVMValueRef value_ref, bool address, loci_debug_visit *visit, void *context)
{
	SmallVector<DbgVariableIntrinsic *, 8> calls;
	Value *value = unwrap(value_ref);
	const asking to = { address, visit, context };

#if LLVM_VERSION_MAJOR >= 18
	SmallVector<DbgVariableRecord *, 8> records;

	findDbgUsers(calls, value, &records);
	for (DbgVariableRecord *record : records) {
		bool assigns = record->isDbgAssign();
		bool at_address = assigns && record->getAddress() == value &&
			record->getAddressExpression()->getNumElements() == 0;

		if (at_address && address) {
			uint64_t offset;
			bool memory;

			if (simple(record->getExpression(), &memory, &offset) && !memory)
				take(to, true, record->getVariable(), record->getExpression(),
					record->getDebugLoc().get());
		} else if (record->getNumVariableLocationOps() == 1 &&
			record->getVariableLocationOp(0) == value)
			take(to, record->isDbgDeclare(), record->getVariable(),
				record->getExpression(), record->getDebugLoc().get());
	}
#else
	findDbgUsers(calls, value);
#endif
	for (const DbgVariableIntrinsic *call : calls)
		if (call->getNumVariableLocationOps() == 1 &&
			call->getVariableLocationOp(0) == value)
			take(to, isa<DbgDeclareInst>(call), call->getVariable(),
				call->getExpression(), call->getDebugLoc().get());
}

bool loci_debug_global(LLVMValueRef global, struct loci_debug_text *ret_name,
	LLVMMetadataRef *ret_type, uint64_t *ret_offset_bytes)
{
	SmallVector<DIGlobalVariableExpression *, 2> nodes;
	bool memory;

	if (auto *variable = dyn_cast<GlobalVariable>(unwrap(global)))
		variable->getDebugInfo(nodes);
	if (nodes.size() != 1 || !nodes[0]->getVariable() ||
		nodes[0]->getVariable()->getName().empty() ||
		!simple(nodes[0]->getExpression(), &memory, ret_offset_bytes) || memory)
		return false;
	*ret_name = text_of(nodes[0]->getVariable()->getName());
	*ret_type = ref_of(nodes[0]->getVariable()->getType());
	return true;
}

char *loci_debug_demangle(const char *symbol)
{
	std::string text = demangle(symbol);

	return text == symbol ? nullptr : strdup(text.c_str());
}

/* What names and qualifies another type. Odd metadata may go in a circle. */
static const DIType *bare(const DIType *type)
{
	for (unsigned i = 0; i < 64; i++) {
		auto *derived = dyn_cast_or_null<DIDerivedType>(type);

		if (!derived)
			return type;
		switch (derived->getTag()) {
		case dwarf::DW_TAG_typedef:
		case dwarf::DW_TAG_const_type:
		case dwarf::DW_TAG_volatile_type:
		case dwarf::DW_TAG_restrict_type:
		case dwarf::DW_TAG_atomic_type:
			type = derived->getBaseType();
			break;
		default:
			return type;
		}
	}
	return nullptr;
}

static void composite_type(const DICompositeType *type, struct loci_debug_type *ret)
{
	ret->n_members = type->getElements().size();
	switch (type->getTag()) {
	case dwarf::DW_TAG_structure_type:
	case dwarf::DW_TAG_class_type:
	case dwarf::DW_TAG_union_type:
		if (!type->isForwardDecl())
			ret->kind = LOCI_DEBUG_RECORD;
		break;
	case dwarf::DW_TAG_array_type:
		ret->kind = type->isVector() ? LOCI_DEBUG_SCALAR : LOCI_DEBUG_ARRAY;
		ret->target = ref_of(type->getBaseType());
		ret->dimensions = ret->n_members;
		break;
	case dwarf::DW_TAG_enumeration_type:
		ret->kind = LOCI_DEBUG_SCALAR;
		break;
	default:
		break;
	}
}

void loci_debug_type_of(LLVMMetadataRef ref, struct loci_debug_type *ret)
{
	const DIType *type = bare(node_of<DIType>(ref));

	memset(ret, 0, sizeof(*ret));
	if (!type)
		return;
	ret->node = ref_of(type);
	ret->bytes = type->getSizeInBits() / 8;
	if (isa<DIBasicType>(type)) {
		ret->kind = LOCI_DEBUG_SCALAR;
	} else if (auto *composite = dyn_cast<DICompositeType>(type)) {
		composite_type(composite, ret);
	} else if (auto *derived = dyn_cast<DIDerivedType>(type)) {
		unsigned tag = derived->getTag();

		ret->target = ref_of(derived->getBaseType());
		if (tag == dwarf::DW_TAG_pointer_type)
			ret->kind = LOCI_DEBUG_POINTER;
		else if (tag == dwarf::DW_TAG_reference_type ||
			tag == dwarf::DW_TAG_rvalue_reference_type)
			ret->kind = LOCI_DEBUG_REFERENCE;
		else if (tag == dwarf::DW_TAG_ptr_to_member_type)
			ret->kind = LOCI_DEBUG_SCALAR;
	}
}

bool loci_debug_member_at(LLVMMetadataRef record, unsigned index, struct loci_debug_member *ret)
{
	const DICompositeType *type = node_of<DICompositeType>(record);
	const DIDerivedType *member;

	memset(ret, 0, sizeof(*ret));
	if (!type || index >= type->getElements().size())
		return false;
	member = dyn_cast_or_null<DIDerivedType>(type->getElements()[index]);
	if (!member || member->isStaticMember())
		return false;
	ret->base = member->getTag() == dwarf::DW_TAG_inheritance;
	if (!ret->base && member->getTag() != dwarf::DW_TAG_member)
		return false;
	if (ret->base && member->isVirtual())
		return false; /* its place is known at run time only */
	ret->name = text_of(member->getName());
	ret->type = ref_of(member->getBaseType());
	ret->offset_bits = member->getOffsetInBits();
	ret->bits = member->getSizeInBits();
	ret->bit_field = member->isBitField();
	if (ret->base) {
		struct loci_debug_type inherited;

		loci_debug_type_of(ret->type, &inherited);
		ret->bits = inherited.bytes * 8;
	}
	return true;
}
