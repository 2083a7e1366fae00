/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/ir.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>

using namespace llvm;

void loci_ir_remove_unreachable(LLVMValueRef function)
{
	EliminateUnreachableBlocks(*unwrap<Function>(function));
}

LLVMBasicBlockRef loci_ir_split_before(LLVMValueRef instruction)
{
	Instruction *at = unwrap<Instruction>(instruction);
	return wrap(SplitBlock(at->getParent(), at));
}

LLVMBasicBlockRef loci_ir_gather(
	LLVMBasicBlockRef block, const LLVMBasicBlockRef *predecessor, size_t n)
{
	SmallVector<BasicBlock *, 8> from;
	for (size_t i = 0; i < n; i++)
		from.push_back(unwrap(predecessor[i]));
	return wrap(SplitBlockPredecessors(unwrap(block), from, ".loci"));
}

void loci_ir_rename_predecessor(
	LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	unwrap(block)->replacePhiUsesWith(unwrap(from), unwrap(to));
}

void loci_ir_forget_predecessors(LLVMBasicBlockRef block)
{
	for (PHINode &phi : unwrap(block)->phis())
		for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
			if (!is_contained(predecessors(unwrap(block)), phi.getIncomingBlock(i)))
				phi.removeIncomingValue(i, false);
}

LLVMValueRef loci_ir_incoming(LLVMValueRef phi, LLVMBasicBlockRef block)
{
	auto *p = unwrap<PHINode>(phi);
	int at = p->getBasicBlockIndex(unwrap(block));
	return at < 0 ? nullptr : wrap(p->getIncomingValue((unsigned)at));
}

void loci_ir_set_incoming(LLVMValueRef phi, LLVMBasicBlockRef block, LLVMValueRef value)
{
	unwrap<PHINode>(phi)->setIncomingValueForBlock(unwrap(block), unwrap(value));
}

/* Ways that meet to return, with nothing else to do. */
static ReturnInst *only_return(BasicBlock &block)
{
	auto *end = dyn_cast<ReturnInst>(block.getTerminator());
	return end && block.getFirstNonPHIOrDbg() == end ? end : nullptr;
}

void loci_ir_return_at_once(LLVMValueRef function, bool (*is_wanted)(LLVMValueRef before))
{
	Function *f = unwrap<Function>(function);
	SmallVector<BasicBlock *, 8> from;
	for (BasicBlock &block : make_early_inc_range(*f)) {
		ReturnInst *end = only_return(block);
		if (!end || block.isEntryBlock())
			continue;
		from.clear();
		for (BasicBlock *before : predecessors(&block)) {
			auto *jump = dyn_cast<BranchInst>(before->getTerminator());
			Instruction *last = jump ? jump->getPrevNonDebugInstruction() : nullptr;
			if (last && !jump->isConditional() && is_wanted(wrap(last)))
				from.push_back(before);
		}
		for (BasicBlock *before : from)
			FoldReturnIntoUncondBranch(end, &block, before);
		if (pred_empty(&block))
			DeleteDeadBlock(&block);
	}
}

void loci_ir_fold_latch(LLVMBasicBlockRef latch)
{
	BasicBlock *block = unwrap(latch), *before = block->getSinglePredecessor();
	auto *end = dyn_cast<BranchInst>(block->getTerminator());
	if (!before || !end || end->isConditional() || &block->front() != end)
		return;
#if LLVM_VERSION_MAJOR >= 19
	if (end->hasDbgRecords())
		return;
#endif
	BasicBlock *header = end->getSuccessor(0);
	header->replacePhiUsesWith(block, before);
	before->getTerminator()->replaceSuccessorWith(block, header);
	/* What says of the loop stands with the jump that goes round. */
	before->getTerminator()->setMetadata(
		LLVMContext::MD_loop, end->getMetadata(LLVMContext::MD_loop));
	block->eraseFromParent();
}

void loci_ir_align_loop(LLVMBasicBlockRef latch, unsigned bytes)
{
	Instruction *end = unwrap(latch)->getTerminator();
	LLVMContext &context = end->getContext();
	MDNode *was = end->getMetadata(LLVMContext::MD_loop);
	if (findOptionMDForLoopID(was, "llvm.loop.align"))
		return;
	Metadata *wanted[] = { MDString::get(context, "llvm.loop.align"),
		ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), bytes)) };
	SmallVector<Metadata *, 4> said = { nullptr };
	if (was)
		append_range(said, drop_begin(was->operands()));
	said.push_back(MDNode::get(context, wanted));
	MDNode *loop = MDNode::getDistinct(context, said);
	loop->replaceOperandWith(0, loop); /* which is what tells it from others */
	end->setMetadata(LLVMContext::MD_loop, loop);
}

LLVMValueRef loci_ir_first_place(LLVMBasicBlockRef block)
{
	return wrap(&*unwrap(block)->getFirstInsertionPt());
}

LLVMValueRef loci_ir_first_code(LLVMBasicBlockRef block)
{
	return wrap(&*unwrap(block)->getFirstNonPHIOrDbg());
}

void loci_ir_move_before(LLVMValueRef instruction, LLVMValueRef place)
{
	unwrap<Instruction>(instruction)->moveBefore(unwrap<Instruction>(place));
}

bool loci_ir_is_static_alloca(LLVMValueRef instruction)
{
	auto *alloca = dyn_cast<AllocaInst>(unwrap(instruction));
	return alloca && alloca->isStaticAlloca();
}

bool loci_ir_is_musttail(LLVMValueRef call)
{
	auto *c = dyn_cast<CallInst>(unwrap(call));
	return c && c->isMustTailCall();
}

bool loci_ir_is_token(LLVMValueRef value)
{
	return unwrap(value)->getType()->isTokenTy();
}

bool loci_ir_has_asm_label(LLVMValueRef call)
{
	auto *assembly = dyn_cast<InlineAsm>(cast<CallBase>(unwrap(call))->getCalledOperand());
	if (!assembly)
		return false;
	StringRef rest = assembly->getAsmString();
	/* A colon after a name that is no number: `1:` may stand any number of times. */
	for (size_t at; (at = rest.find(':')) != StringRef::npos; rest = rest.substr(at + 1)) {
		size_t from = at;
		while (from > 0 &&
			(isalnum((unsigned char)rest[from - 1]) || strchr("_.$", rest[from - 1])))
			from--;
		StringRef name = rest.slice(from, at);
		bool starts = from == 0 || strchr(" \t\n;", rest[from - 1]);
		if (starts && !name.empty() && !name.trim("0123456789").empty())
			return true;
	}
	return false;
}

LLVMValueRef loci_ir_assembly(LLVMTypeRef type, const char *code, const char *constraints,
	enum loci_ir_assembly_kind kind)
{
	return wrap(InlineAsm::get(unwrap<FunctionType>(type), code, constraints,
		kind != LOCI_ASSEMBLY_PURE, kind == LOCI_ASSEMBLY_CALLS));
}

bool loci_ir_asm_mentions(LLVMValueRef call, const char *text)
{
	auto *assembly = dyn_cast<InlineAsm>(cast<CallBase>(unwrap(call))->getCalledOperand());
	return assembly && StringRef(assembly->getAsmString()).contains(text);
}

bool loci_ir_call_has(LLVMValueRef call, const char *attribute)
{
	auto kind = Attribute::getAttrKindFromName(attribute);
	return kind != Attribute::None && cast<CallBase>(unwrap(call))->hasFnAttr(kind);
}

bool loci_ir_function_has(LLVMValueRef function, const char *attribute)
{
	auto *f = unwrap<Function>(function);
	auto kind = Attribute::getAttrKindFromName(attribute);
	return kind != Attribute::None ? f->hasFnAttribute(kind) : f->hasFnAttribute(attribute);
}

void loci_ir_forget_memory(LLVMValueRef function_or_call)
{
	static const char *const name[] = { "memory", "readnone", "readonly", "writeonly",
		"argmemonly", "inaccessiblememonly", "inaccessiblemem_or_argmemonly",
		"speculatable", "nosync" };
	for (const char *one : name) {
		auto kind = Attribute::getAttrKindFromName(one);
		if (kind == Attribute::None)
			continue;
		if (auto *f = dyn_cast<Function>(unwrap(function_or_call)))
			f->removeFnAttr(kind);
		else
			cast<CallBase>(unwrap(function_or_call))->removeFnAttr(kind);
	}
}

/* Constant offsets and casts, which cost nothing where an instruction uses them as its address. */
static bool is_cheap_address(const Instruction &i)
{
	auto *away = dyn_cast<GetElementPtrInst>(&i);
	if (away)
		return away->hasAllConstantIndices() && away->getType()->isPointerTy();
	return isa<BitCastInst>(i) && i.getType()->isPointerTy();
}

static void sink(Instruction *address)
{
	DenseMap<BasicBlock *, Instruction *> sunk;
	SmallVector<Use *, 16> uses;
	for (Use &use : address->uses())
		uses.push_back(&use);
	for (Use *use : uses) {
		auto *user = cast<Instruction>(use->getUser());
		auto *phi = dyn_cast<PHINode>(user);
		BasicBlock *at = phi ? phi->getIncomingBlock(*use) : user->getParent();
		if (at == address->getParent() || at->isEHPad())
			continue;
		Instruction *&here = sunk[at];
		if (!here) {
			here = address->clone();
			here->insertBefore(&*at->getFirstInsertionPt());
		}
		use->set(here);
	}
}

void loci_ir_sink_addresses(LLVMValueRef function)
{
	SmallVector<Instruction *, 64> addresses;
	loci_ir_remove_unreachable(function);
	for (Instruction &i : instructions(*unwrap<Function>(function)))
		if (is_cheap_address(i))
			addresses.push_back(&i);
	/* What is an offset from another comes before it. */
	std::reverse(addresses.begin(), addresses.end());
	DominatorTree tree(*unwrap<Function>(function));
	tree.updateDFSNumbers();
	std::stable_sort(addresses.begin(), addresses.end(), [&](Instruction *a, Instruction *b) {
		return tree.getNode(a->getParent())->getDFSNumIn() >
			tree.getNode(b->getParent())->getDFSNumIn();
	});
	for (Instruction *address : addresses)
		sink(address);
}

struct loci_ir_copy {
	ValueToValueMapTy map;
};

/* Copies keep their lines. Variables are told of in the original alone: where one lives for good
 * may not be said twice, and the rest would take much of the compiler's time. */
static void forget_variables(BasicBlock *block)
{
	for (auto at = block->begin(); at != block->end();) {
		Instruction &i = *at++;
#if LLVM_VERSION_MAJOR >= 19
		i.dropDbgRecords();
#endif
		if (isa<DbgInfoIntrinsic>(i))
			i.eraseFromParent();
	}
}

struct loci_ir_copy *loci_ir_copy_new(const LLVMBasicBlockRef *block, size_t n)
{
	auto *copy = new loci_ir_copy;
	SmallVector<BasicBlock *, 32> made;
	for (size_t i = 0; i < n; i++) {
		BasicBlock *from = unwrap(block[i]);
		made.push_back(CloneBasicBlock(from, copy->map, ".loci", from->getParent()));
		copy->map[from] = made.back();
	}
	RemapFlags flags = RF_NoModuleLevelChanges | RF_IgnoreMissingLocals;
	for (BasicBlock *b : made) {
		forget_variables(b);
		for (Instruction &i : *b)
			RemapInstruction(&i, copy->map, flags);
	}
	return copy;
}

void loci_ir_copy_free(struct loci_ir_copy *copy)
{
	delete copy;
}

LLVMValueRef loci_ir_copy_of(const struct loci_ir_copy *copy, LLVMValueRef value)
{
	auto found = copy->map.find(unwrap(value));
	return found == copy->map.end() ? value : wrap(&*found->second);
}

/* The block in which a value can be used from its start or from its definition on. */
static BasicBlock *home_of(Instruction *value)
{
	auto *invoke = dyn_cast<InvokeInst>(value);
	return invoke ? invoke->getNormalDest() : value->getParent();
}

void loci_ir_demote(LLVMValueRef value, LLVMValueRef slot)
{
	auto *v = unwrap<Instruction>(value);
	BasicBlock *home = home_of(v);
	DenseMap<BasicBlock *, LoadInst *> loaded;
	SmallVector<Use *, 16> uses;
	for (Use &use : v->uses())
		uses.push_back(&use);
	for (Use *use : uses) {
		auto *user = cast<Instruction>(use->getUser());
		auto *phi = dyn_cast<PHINode>(user);
		BasicBlock *at = phi ? phi->getIncomingBlock(*use) : user->getParent();
		if (at == home || (phi && at == v->getParent()))
			continue;
		LoadInst *&load = loaded[at];
		if (!load)
			load = new LoadInst(
				v->getType(), unwrap(slot), "", &*at->getFirstInsertionPt());
		use->set(load);
	}
	bool after = !isa<PHINode>(v) && !isa<InvokeInst>(v);
	new StoreInst(v, unwrap(slot), after ? v->getNextNode() : &*home->getFirstInsertionPt());
}

void loci_ir_promote(LLVMValueRef function, const LLVMValueRef *slot, size_t n)
{
	DominatorTree tree(*unwrap<Function>(function));
	SmallVector<AllocaInst *, 32> slots;
	for (size_t i = 0; i < n; i++)
		slots.push_back(unwrap<AllocaInst>(slot[i]));
	PromoteMemToReg(slots, tree);
}

bool loci_ir_verify(LLVMValueRef function, bool loudly)
{
	return !verifyFunction(*unwrap<Function>(function), loudly ? &errs() : nullptr);
}
