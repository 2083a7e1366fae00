/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/twin.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

using namespace llvm;

/* Operands: of a subprogram its variables, of a variable its scope. LLVM 14 has no other way to
 * change them. */
#define RETAINED_NODES 7
#define VARIABLE_SCOPE 0

namespace
{

/* What code moved from one function to another says of its lines is said within the latter. */
class Lines
{
	DISubprogram *from, *to;
	DenseMap<MDNode *, MDNode *> known;

      public:
	Lines(DISubprogram *from, DISubprogram *to) : from(from), to(to)
	{
	}

	DILocalScope *scope(DILocalScope *old)
	{
		auto *block = dyn_cast<DILexicalBlockBase>(old);
		if (!block)
			return old == from ? to : old;
		if (MDNode *found = known.lookup(block))
			return cast<DILocalScope>(found);
		auto *made = MDNode::replaceWithDistinct(block->clone());
		made->replaceOperandWith(1, scope(block->getScope()));
		known[block] = made;
		return cast<DILocalScope>(made);
	}

	/* Of code that was inlined, only where it was inlined to is another. */
	DILocation *operator()(DILocation *old)
	{
		if (!old)
			return nullptr;
		if (MDNode *found = known.lookup(old))
			return cast<DILocation>(found);
		DILocation *at = old->getInlinedAt(), *made;
		DILocalScope *within = at ? old->getScope() : scope(old->getScope());
		auto &context = old->getContext();
		if (old->isDistinct())
			made = DILocation::getDistinct(context, old->getLine(), old->getColumn(),
				within, (*this)(at), old->isImplicitCode());
		else
			made = DILocation::get(context, old->getLine(), old->getColumn(), within,
				(*this)(at), old->isImplicitCode());
		known[old] = made;
		return made;
	}
};

} // namespace

typedef SetVector<BasicBlock *> Blocks;

static Blocks reached_from(BasicBlock *first)
{
	Blocks found;
	found.insert(first);
	for (size_t i = 0; i < found.size(); i++)
		for (BasicBlock *next : successors(found[i]))
			found.insert(next);
	return found;
}

static bool is_passed_in_memory(const Argument &a)
{
	return a.hasPassPointeeByValueCopyAttr() || a.hasSwiftErrorAttr();
}

/* Whether its arguments can be handed on as they came, and nothing is done at its start that would
 * be done twice. */
static bool can_hand_on(const Function &f)
{
	static const char *const started[] = { "fentry-call", "patchable-function",
		"patchable-function-entry", "patchable-function-prefix", "function-instrument",
		"instrument-function-entry", "instrument-function-exit",
		"instrument-function-entry-inlined", "instrument-function-exit-inlined" };
	for (const char *one : started)
		if (f.hasFnAttribute(one))
			return false;
	return !f.isVarArg() && !f.hasPrefixData() && !f.hasPrologueData() &&
		(f.getCallingConv() == CallingConv::C || f.getCallingConv() == CallingConv::Fast) &&
		none_of(f.args(), is_passed_in_memory);
}

static bool has_memory(const Function &f)
{
	for (const BasicBlock &block : f)
		for (const Instruction &i : block)
			if (isa<AllocaInst>(i))
				return true;
	return false;
}

static Function *declare_behind(Function *f, const Twine &name)
{
	auto *made = Function::Create(
		f->getFunctionType(), Function::InternalLinkage, f->getAddressSpace(), name);
	f->getParent()->getFunctionList().insertAfter(f->getIterator(), made);
	made->copyAttributesFrom(f);
	made->setLinkage(Function::InternalLinkage);
	made->setVisibility(Function::DefaultVisibility);
	made->setDLLStorageClass(Function::DefaultStorageClass);
	made->setDSOLocal(true);
	made->setComdat(f->getComdat());
#if LLVM_VERSION_MAJOR >= 19
	made->IsNewDbgInfoFormat = f->IsNewDbgInfoFormat;
#endif
	return made;
}

static void move_lines(const Blocks &moved, Lines &lines)
{
	for (BasicBlock *block : moved)
		for (auto at = block->begin(); at != block->end();) {
			Instruction &i = *at++;
#if LLVM_VERSION_MAJOR >= 19
			i.dropDbgRecords();
			i.setMetadata(LLVMContext::MD_DIAssignID, nullptr);
#endif
			if (isa<DbgInfoIntrinsic>(i)) {
				i.eraseFromParent();
				continue;
			}
			i.setDebugLoc(DebugLoc(lines(i.getDebugLoc().get())));
			updateLoopMetadataDebugLocations(i, [&](Metadata *m) -> Metadata * {
				auto *location = dyn_cast<DILocation>(m);
				return location ? lines(location) : m;
			});
		}
}

/* Where they are is not told, as it is not in any tracing copy; but that they are there, and their
 * types, by which what is assigned to them is known. Of code that was inlined its origin says so.
 */
static void keep_variables(DISubprogram *from, DISubprogram *to, Lines &lines)
{
	SmallVector<Metadata *, 16> kept;
	for (DINode *node : from->getRetainedNodes()) {
		auto *variable = dyn_cast<DILocalVariable>(node);
		if (!variable)
			continue;
		auto *made = MDNode::replaceWithDistinct(variable->clone());
		made->replaceOperandWith(VARIABLE_SCOPE, lines.scope(variable->getScope()));
		kept.push_back(made);
	}
	to->replaceOperandWith(RETAINED_NODES, MDTuple::get(to->getContext(), kept));
}

static void move_body(const Blocks &moved, Function *from, Function *to)
{
	for (BasicBlock *block : moved) {
		block->removeFromParent();
		block->insertInto(to);
	}
	for (unsigned i = 0; i < from->arg_size(); i++) {
		to->getArg(i)->setName(from->getArg(i)->getName());
		from->getArg(i)->replaceUsesWithIf(to->getArg(i), [&](Use &use) {
			auto *user = dyn_cast<Instruction>(use.getUser());
			return user && user->getFunction() == to;
		});
	}
	if (DISubprogram *subprogram = from->getSubprogram()) {
		/* The same function, as far as debuggers can tell. */
		to->setSubprogram(MDNode::replaceWithDistinct(subprogram->clone()));
		Lines lines(subprogram, to->getSubprogram());
		move_lines(moved, lines);
		keep_variables(subprogram, to->getSubprogram(), lines);
	}
}

/* A block that goes on in the other function, and returns what that returns. */
static BasicBlock *make_jump(Function *from, Function *to)
{
	auto *block = BasicBlock::Create(from->getContext(), "", from);
	IRBuilder<> builder(block);
	SmallVector<Value *, 8> arguments;
	for (Argument &a : from->args())
		arguments.push_back(&a);
	CallInst *call = builder.CreateCall(to, arguments);
	call->setTailCallKind(CallInst::TCK_MustTail);
	call->setCallingConv(to->getCallingConv());
	call->setAttributes(to->getAttributes().removeFnAttributes(from->getContext()));
	if (DISubprogram *subprogram = from->getSubprogram())
		call->setDebugLoc(DILocation::get(from->getContext(), 0, 0, subprogram));
	if (call->getType()->isVoidTy())
		builder.CreateRetVoid();
	else
		builder.CreateRet(call);
	return block;
}

/* Whether all that it uses moves along, or is the function's to hand on. */
static bool is_whole(const Blocks &moved)
{
	for (BasicBlock *block : moved) {
		if (block->hasAddressTaken())
			return false;
		for (Instruction &i : *block)
			for (Value *used : i.operands()) {
				auto *by = dyn_cast<Instruction>(used);
				if (by && !moved.count(by->getParent()))
					return false;
			}
	}
	return true;
}

void loci_twin_make(
	LLVMBasicBlockRef wanted_block, LLVMBasicBlockRef counting_block, const char *suffix)
{
	BasicBlock *wanted = unwrap(wanted_block), *counting = unwrap(counting_block);
	Function *f = wanted->getParent();
	auto *end = dyn_cast<BranchInst>(wanted->getTerminator());
	if (!can_hand_on(*f) || has_memory(*f) || !end || !end->isConditional())
		return;
	BasicBlock *tracing = end->getSuccessor(end->getSuccessor(0) == counting ? 1 : 0);
	Blocks moved = reached_from(tracing);
	if (moved.count(&f->getEntryBlock()) || moved.count(counting) || moved.count(wanted))
		return;
	for (BasicBlock *left : reached_from(counting))
		if (moved.count(left))
			return;
	Blocks all;
	all.insert(wanted);
	all.insert(moved.begin(), moved.end());
	if (!is_whole(all) || wanted->getSinglePredecessor() != &f->getEntryBlock())
		return;

	counting->removePredecessor(wanted);
	BranchInst::Create(tracing, end);
	end->eraseFromParent();
	Function *twin = declare_behind(f, f->getName() + suffix);
	BasicBlock *jump = make_jump(f, twin);
	f->getEntryBlock().getTerminator()->replaceSuccessorWith(wanted, jump);
	move_body(all, f, twin);
}
