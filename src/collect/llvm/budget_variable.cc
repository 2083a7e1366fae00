/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/budget_variable.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

using namespace llvm;

/* Of no line. */
static DILocation *nowhere(DISubprogram *subprogram)
{
	return DILocation::get(subprogram->getContext(), 0, 0, subprogram);
}

LLVMMetadataRef loci_budget_variable_new(LLVMValueRef slot, const char *name)
{
	AllocaInst *memory = unwrap<AllocaInst>(slot);
	DISubprogram *subprogram = memory->getFunction()->getSubprogram();
	if (!subprogram)
		return nullptr;
	DIBuilder builder(*memory->getModule(), false, subprogram->getUnit());
	DIType *type = builder.createBasicType(name, 64, dwarf::DW_ATE_signed);
	DILocalVariable *variable = builder.createAutoVariable(
		subprogram, name, subprogram->getFile(), 0, type, true, DINode::FlagArtificial);
	builder.insertDeclare(memory, variable, builder.createExpression(), nowhere(subprogram),
		memory->getNextNode());
	return wrap(variable);
}

static void set(LLVMMetadataRef variable, BasicBlock *block, Metadata *values, DIExpression *how)
{
	LLVMContext &context = block->getContext();
	DIBuilder builder(*block->getModule(), false);
	/* The builder knows single values only. */
	auto made = builder.insertDbgValueIntrinsic(PoisonValue::get(Type::getInt64Ty(context)),
		unwrap<DILocalVariable>(variable), how,
		nowhere(block->getParent()->getSubprogram()), &*block->getFirstInsertionPt());
#if LLVM_VERSION_MAJOR >= 19
	if (auto *record = dyn_cast<DbgRecord *>(made)) {
		cast<DbgVariableRecord>(record)->setRawLocation(values);
		return;
	}
	Instruction *intrinsic = cast<Instruction *>(made);
#else
	Instruction *intrinsic = made;
#endif
	cast<CallBase>(intrinsic)->setArgOperand(0, MetadataAsValue::get(context, values));
}

void loci_budget_variable_set(LLVMMetadataRef variable, LLVMBasicBlockRef block, LLVMValueRef value)
{
	if (!variable)
		return;
	LLVMContext &context = unwrap(block)->getContext();
	Value *known = value ? unwrap(value) : PoisonValue::get(Type::getInt64Ty(context));
	set(variable, unwrap(block), ValueAsMetadata::get(known), DIExpression::get(context, {}));
}

/* What counts the turns, and what it is compared with. */
struct turns {
	PHINode *counter;
	Value *bound;
	uint64_t step;
};

/* What goes up by so many each turn. */
struct counter {
	Value *start;
	Instruction *next;
	uint64_t step;
};

static bool find_counter(PHINode *phi, struct counter *ret)
{
	for (unsigned i = 0; i < phi->getNumIncomingValues(); i++) {
		auto *next = dyn_cast<BinaryOperator>(phi->getIncomingValue(i));
		if (!next || next->getOpcode() != Instruction::Add || next->getOperand(0) != phi)
			continue;
		auto *step = dyn_cast<ConstantInt>(next->getOperand(1));
		if (!step || step->isZero() || phi->getNumIncomingValues() != 2)
			return false;
		*ret = { phi->getIncomingValue(1 - i), next, step->getZExtValue() };
		return true;
	}
	return false;
}

/* Of several that count alike the code generator keeps the first. */
static PHINode *first_alike(BasicBlock *header, const struct counter *counter)
{
	for (PHINode &phi : header->phis()) {
		struct counter other;
		if (phi.getType()->isIntegerTy(64) && find_counter(&phi, &other) &&
			other.start == counter->start && other.step == counter->step)
			return &phi;
	}
	return nullptr;
}

/* counter + step == bound, after a turn. */
static bool find_turns(BasicBlock *header, BasicBlock *exiting, struct turns *ret)
{
	auto *end = dyn_cast<BranchInst>(exiting->getTerminator());
	auto *test =
		end && end->isConditional() ? dyn_cast<ICmpInst>(end->getCondition()) : nullptr;
	if (!test || !test->isEquality() || !test->getOperand(0)->getType()->isIntegerTy(64))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		auto *next = dyn_cast<BinaryOperator>(test->getOperand(i));
		auto *phi = next ? dyn_cast<PHINode>(next->getOperand(0)) : nullptr;
		struct counter counter;
		if (!phi || phi->getParent() != header || !find_counter(phi, &counter) ||
			counter.next != next)
			continue;
		*ret = { first_alike(header, &counter), test->getOperand(1 - i), counter.step };
		return true;
	}
	return false;
}

void loci_budget_variable_run(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	LLVMBasicBlockRef exiting, LLVMValueRef last, uint32_t each)
{
	struct turns turns;
	if (!variable)
		return;
	if (!find_turns(unwrap(header), unwrap(exiting), &turns)) {
		loci_budget_variable_set(variable, header, nullptr);
		return;
	}
	LLVMContext &context = unwrap(header)->getContext();
	/* Where the code generator counts otherwise (strength reduction) it may describe the
	 * counter by that of a loop around this one, which stands still. It leaves alone what has a
	 * value that is no integer; such is named, and not used. */
	Value *real = ConstantFP::get(Type::getDoubleTy(context), 0);
	Metadata *values = DIArgList::get(context,
		{ ValueAsMetadata::get(unwrap(last)), ValueAsMetadata::get(turns.bound),
			ValueAsMetadata::get(turns.counter), ValueAsMetadata::get(real) });
	/* last + (bound - counter) / step * each */
	set(variable, unwrap(header), values,
		DIExpression::get(context,
			{ dwarf::DW_OP_LLVM_arg, 0, dwarf::DW_OP_LLVM_arg, 1, dwarf::DW_OP_LLVM_arg,
				2, dwarf::DW_OP_minus, dwarf::DW_OP_consts, turns.step,
				dwarf::DW_OP_div, dwarf::DW_OP_constu, each, dwarf::DW_OP_mul,
				dwarf::DW_OP_plus, dwarf::DW_OP_stack_value }));
}

void loci_budget_variable_bound(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	LLVMValueRef base, LLVMValueRef counter, int64_t factor)
{
	if (!variable)
		return;
	LLVMContext &context = unwrap(header)->getContext();
	/* See above. */
	Value *real = ConstantFP::get(Type::getDoubleTy(context), 0);
	Metadata *values = DIArgList::get(context,
		{ ValueAsMetadata::get(unwrap(base)), ValueAsMetadata::get(unwrap(counter)),
			ValueAsMetadata::get(real) });
	set(variable, unwrap(header), values,
		DIExpression::get(context,
			{ dwarf::DW_OP_LLVM_arg, 0, dwarf::DW_OP_LLVM_arg, 1, dwarf::DW_OP_consts,
				(uint64_t)factor, dwarf::DW_OP_mul, dwarf::DW_OP_minus,
				dwarf::DW_OP_stack_value }));
}
