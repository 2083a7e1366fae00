/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/derived.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

struct deriving {
	BasicBlock *entry;
	SmallPtrSet<BasicBlock *, 16> blocks;
	SetVector<Instruction *> used; /* from outside */
	DenseMap<Instruction *, Instruction *> made;

	Instruction *from_outside(Value *value) const
	{
		auto *i = dyn_cast<Instruction>(value);
		return i && !blocks.count(i->getParent()) ? i : nullptr;
	}
	/* Of what is known anyway, in one step or two. */
	bool is_derived(const Instruction *value) const
	{
		if (!isa<GetElementPtrInst>(value) && !isa<CastInst>(value) &&
			!(isa<BinaryOperator>(value) && !value->isIntDivRem()))
			return false;
		bool is_of_value = false;
		for (Value *operand : value->operands()) {
			auto *i = dyn_cast<Instruction>(operand);
			if (i && !used.count(i))
				return false;
			is_of_value |= i != nullptr;
		}
		return is_of_value && value->getType()->isIntOrPtrTy();
	}
	Instruction *anew(Instruction *value)
	{
		if (Instruction *known = made.lookup(value))
			return known;
		if (!is_derived(value))
			return value;
		Instruction *copy = value->clone();
		copy->setDebugLoc(DebugLoc());
		for (Use &operand : copy->operands())
			if (auto *i = dyn_cast<Instruction>(operand.get()))
				operand.set(anew(i));
		copy->insertBefore(entry->getTerminator());
		made[value] = copy;
		return copy;
	}
};

void loci_derived_anew(LLVMBasicBlockRef entry, const LLVMBasicBlockRef *block, size_t n)
{
	deriving deriving;
	SmallVector<Use *, 64> uses;
	deriving.entry = unwrap(entry);
	for (size_t i = 0; i < n; i++)
		deriving.blocks.insert(unwrap(block[i]));
	for (size_t i = 0; i < n; i++)
		for (Instruction &at : *unwrap(block[i]))
			for (Use &operand : at.operands())
				if (Instruction *value = deriving.from_outside(operand.get())) {
					deriving.used.insert(value);
					uses.push_back(&operand);
				}
	for (Use *use : uses)
		use->set(deriving.anew(cast<Instruction>(use->get())));
}
