/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/derived.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InlineAsm.h>
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

/* How far back what is computed is followed. */
#define FOLLOWED_MAX 4

struct parting {
	BasicBlock *entry;
	SmallPtrSet<BasicBlock *, 16> rare, around;
	DenseMap<Value *, Value *> made;

	static bool is_computed(const Instruction *value)
	{
		return value->getType()->isIntOrPtrTy() &&
			(isa<GetElementPtrInst>(value) || isa<CastInst>(value) ||
				(isa<BinaryOperator>(value) && !value->isIntDivRem()));
	}
	/* May go on from turn to turn, as what stays the same does not, and fits a register. */
	static bool may_step(const Instruction *value)
	{
		auto *phi = dyn_cast<PHINode>(value);
		const Type *type = value->getType();
		return !(phi && is_contained(phi->incoming_values(), phi)) &&
			(type->isIntegerTy(64) || type->isIntegerTy(32) ||
				(type->isPointerTy() && type->getPointerAddressSpace() == 0));
	}
	bool is_rare(const Use &use) const
	{
		auto *phi = dyn_cast<PHINode>(use.getUser());
		return rare.count(phi ? phi->getIncomingBlock(use)
				      : cast<Instruction>(use.getUser())->getParent());
	}
	/* The same, of which the compiler does not know that it is. */
	Value *hidden(Instruction *value)
	{
		Type *type = value->getType();
		auto *copy =
			InlineAsm::get(FunctionType::get(type, { type }, false), "", "=r,0", false);
		return CallInst::Create(copy, { value }, "", entry->getTerminator());
	}
	Value *anew(Value *value, unsigned depth)
	{
		auto *i = dyn_cast<Instruction>(value);
		if (!i || !around.count(i->getParent()))
			return value;
		Value *&known = made[value];
		if (known)
			return known;
		if (depth == 0 || !is_computed(i))
			return known = may_step(i) ? hidden(i) : i;
		Instruction *copy = i->clone();
		copy->setDebugLoc(DebugLoc());
		for (Use &operand : copy->operands())
			operand.set(anew(operand.get(), depth - 1));
		copy->insertBefore(entry->getTerminator());
		return made[value] = copy;
	}
};

void loci_derived_apart(LLVMBasicBlockRef entry, const LLVMBasicBlockRef *block, size_t n,
	const LLVMBasicBlockRef *around, size_t n_around)
{
	parting parting;
	SmallVector<Use *, 32> uses;
	parting.entry = unwrap(entry);
	parting.rare.insert(unwrap(entry));
	for (size_t i = 0; i < n; i++)
		parting.rare.insert(unwrap(block[i]));
	for (BasicBlock *from : predecessors(unwrap(block[0])))
		if (!parting.rare.count(from))
			return;
	for (BasicBlock *to : successors(unwrap(block[n - 1])))
		if (to->getSinglePredecessor())
			parting.rare.insert(to);
	for (size_t i = 0; i < n_around; i++)
		parting.around.insert(unwrap(around[i]));
	for (size_t i = 0; i < n_around; i++)
		for (Instruction &value : *unwrap(around[i]))
			if (parting::is_computed(&value))
				for (Use &use : value.uses())
					if (parting.is_rare(use))
						uses.push_back(&use);
	for (Use *use : uses)
		use->set(parting.anew(use->get(), FOLLOWED_MAX));
}
