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

/* Of several one is told from the other by the name of its type. */
static DILocalVariable *make(
	DIBuilder &builder, DISubprogram *subprogram, const char *name, const char *type_name)
{
	DIType *type = builder.createBasicType(type_name, 64, dwarf::DW_ATE_signed);
	return builder.createAutoVariable(
		subprogram, name, subprogram->getFile(), 0, type, true, DINode::FlagArtificial);
}

LLVMMetadataRef loci_budget_variable_new(LLVMValueRef slot, const char *name)
{
	AllocaInst *memory = unwrap<AllocaInst>(slot);
	DISubprogram *subprogram = memory->getFunction()->getSubprogram();
	if (!subprogram)
		return nullptr;
	DIBuilder builder(*memory->getModule(), false, subprogram->getUnit());
	DILocalVariable *variable = make(builder, subprogram, name, name);
	builder.insertDeclare(memory, variable, builder.createExpression(), nowhere(subprogram),
		memory->getNextNode());
	return wrap(variable);
}

LLVMMetadataRef loci_budget_variable_second(LLVMValueRef function, const char *name)
{
	Function *of = unwrap<Function>(function);
	DISubprogram *subprogram = of->getSubprogram();
	if (!subprogram)
		return nullptr;
	DIBuilder builder(*of->getParent(), false, subprogram->getUnit());
	return wrap(make(builder, subprogram, name, "loci.left"));
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

/* Where the code generator counts otherwise (strength reduction) it may describe what is gone by
 * the counter of a loop around this one, which stands still. It leaves alone what has a value that
 * is no integer; such is named, and not used. */
static ValueAsMetadata *real(LLVMContext &context)
{
	return ValueAsMetadata::get(ConstantFP::get(Type::getDoubleTy(context), 0));
}

void loci_budget_variable_run(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	const struct loci_countdown *turns, LLVMValueRef last, uint32_t each)
{
	if (!variable)
		return;
	if (!turns->counter) {
		loci_budget_variable_set(variable, header, nullptr);
		return;
	}
	LLVMContext &context = unwrap(header)->getContext();
	auto *end = ValueAsMetadata::get(unwrap(last));
	/* last + (bound - counter) / step * each */
	set(variable, unwrap(header),
		DIArgList::get(context,
			{ end, ValueAsMetadata::get(unwrap(turns->bound)),
				ValueAsMetadata::get(unwrap(turns->counter)), real(context) }),
		DIExpression::get(context,
			{ dwarf::DW_OP_LLVM_arg, 0, dwarf::DW_OP_LLVM_arg, 1, dwarf::DW_OP_LLVM_arg,
				2, dwarf::DW_OP_minus, dwarf::DW_OP_consts, turns->step,
				dwarf::DW_OP_div, dwarf::DW_OP_constu, each, dwarf::DW_OP_mul,
				dwarf::DW_OP_plus, dwarf::DW_OP_stack_value }));
}

void loci_budget_variable_left(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	const struct loci_countdown *turns, LLVMValueRef last, uint32_t each)
{
	if (!variable || !turns->left)
		return;
	LLVMContext &context = unwrap(header)->getContext();
	/* last + left / step * each */
	set(variable, unwrap(header),
		DIArgList::get(context,
			{ ValueAsMetadata::get(unwrap(last)),
				ValueAsMetadata::get(unwrap(turns->left)), real(context) }),
		DIExpression::get(context,
			{ dwarf::DW_OP_LLVM_arg, 0, dwarf::DW_OP_LLVM_arg, 1, dwarf::DW_OP_consts,
				turns->step, dwarf::DW_OP_div, dwarf::DW_OP_constu, each,
				dwarf::DW_OP_mul, dwarf::DW_OP_plus, dwarf::DW_OP_stack_value }));
}

void loci_budget_variable_bound(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	LLVMValueRef base, LLVMValueRef counter, int64_t factor)
{
	if (!variable)
		return;
	LLVMContext &context = unwrap(header)->getContext();
	set(variable, unwrap(header),
		DIArgList::get(context,
			{ ValueAsMetadata::get(unwrap(base)), ValueAsMetadata::get(unwrap(counter)),
				real(context) }),
		DIExpression::get(context,
			{ dwarf::DW_OP_LLVM_arg, 0, dwarf::DW_OP_LLVM_arg, 1, dwarf::DW_OP_consts,
				(uint64_t)factor, dwarf::DW_OP_mul, dwarf::DW_OP_minus,
				dwarf::DW_OP_stack_value }));
}
