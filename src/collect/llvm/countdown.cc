/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/countdown.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

/* What goes up by so many each turn. */
struct counter {
	PHINode *phi;
	Value *start;
	Instruction *next;
	ConstantInt *step;
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
		*ret = { phi, phi->getIncomingValue(1 - i), next, step };
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

/* The test after a turn whether next, one of the operands, is the bound. */
static ICmpInst *find_test(
	BasicBlock *header, BasicBlock *exiting, struct counter *ret, unsigned *at)
{
	auto *end = dyn_cast<BranchInst>(exiting->getTerminator());
	auto *test =
		end && end->isConditional() ? dyn_cast<ICmpInst>(end->getCondition()) : nullptr;
	if (!test || !test->isEquality() || !test->getOperand(0)->getType()->isIntegerTy(64))
		return nullptr;
	for (*at = 0; *at < 2; ++*at) {
		auto *next = dyn_cast<BinaryOperator>(test->getOperand(*at));
		auto *phi = next ? dyn_cast<PHINode>(next->getOperand(0)) : nullptr;
		if (phi && phi->getParent() == header && find_counter(phi, ret) &&
			ret->next == next)
			return test;
	}
	return nullptr;
}

/* Whether it is computed in the loop, whose last block goes round. */
static bool is_within(const Value *value, BasicBlock *header, BasicBlock *last)
{
	auto *made = dyn_cast<Instruction>(value);
	SmallPtrSet<BasicBlock *, 16> loop;
	SmallVector<BasicBlock *, 16> ahead;
	if (!made)
		return false;
	loop.insert(header);
	ahead.push_back(last);
	while (!ahead.empty()) {
		BasicBlock *block = ahead.pop_back_val();
		if (loop.insert(block).second)
			append_range(ahead, predecessors(block));
	}
	return loop.count(made->getParent());
}

/* From the bound to zero, as the other one goes from zero to the bound. */
static PHINode *count_down(ICmpInst *test, const struct counter *counter, Value *bound)
{
	Type *type = bound->getType();
	BasicBlock *header = counter->phi->getParent();
	auto *start = dyn_cast<Constant>(counter->start);
	/* In larger steps the code generator would not do so by itself. */
	if (!start || !start->isNullValue() || !test->hasOneUse() || !counter->step->isOne())
		return nullptr;
	for (unsigned i = 0; i < 2; i++)
		if (counter->phi->getIncomingValue(i) == counter->next &&
			is_within(bound, header, counter->phi->getIncomingBlock(i)))
			return nullptr;
	PHINode *left = PHINode::Create(type, 2, "", &header->front());
	Instruction *next =
		BinaryOperator::CreateAdd(left, ConstantExpr::getNeg(counter->step), "", test);
	for (unsigned i = 0; i < 2; i++) {
		bool goes_round = counter->phi->getIncomingValue(i) == counter->next;
		left->addIncoming(goes_round ? next : bound, counter->phi->getIncomingBlock(i));
	}
	test->setOperand(0, next);
	test->setOperand(1, ConstantInt::get(type, 0));
	return left;
}

bool loci_countdown_make(
	LLVMBasicBlockRef header, LLVMBasicBlockRef exiting, struct loci_countdown *ret)
{
	struct counter counter;
	unsigned at;
	ICmpInst *test = find_test(unwrap(header), unwrap(exiting), &counter, &at);
	if (!test)
		return false;
	Value *bound = test->getOperand(1 - at);
	PHINode *first = first_alike(unwrap(header), &counter);
	PHINode *left = count_down(test, &counter, bound);
	*ret = { wrap(first), wrap(bound), left ? wrap(left) : nullptr,
		counter.step->getZExtValue() };
	return true;
}
