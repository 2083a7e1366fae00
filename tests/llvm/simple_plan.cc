// SPDX-License-Identifier: GPL-2.0-or-later
/* A pass for the tests of loci_describe(): plans every function in the simplest way, all loads and
 * stores in their order, a block of the stream for each block that has some, and lets it be
 * described. The function then reads its struct loci_cc_function, as instrumented code does. */
#ifndef __clang__
#define _Static_assert static_assert
#endif
extern "C" {
#include "collect/llvm/plan.h"
}
#include "stream/stream.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include <map>
#include <set>
#include <vector>

using namespace llvm;

namespace
{

struct simple_plan {
	Function &function;
	const DataLayout &layout;
	std::vector<loci_plan_ref> refs;
	std::vector<loci_plan_block> blocks;
	std::vector<loci_plan_loop> loops;
	std::vector<LLVMValueRef> callees;
	std::map<const Loop *, uint32_t> number;
	std::set<const Function *> called;
	DominatorTree tree;
	LoopInfo info;

	explicit simple_plan(Function &f)
	    : function(f), layout(f.getParent()->getDataLayout()), tree(f), info(tree)
	{
		for (Loop *loop : info.getLoopsInPreorder())
			add_loop(loop);
		for (BasicBlock &block : function)
			add_block(block);
	}

	void add_loop(Loop *loop)
	{
		loci_plan_loop row = {};
		Loop *parent = loop->getParentLoop();

		row.header = wrap(loop->getHeader());
		row.place = wrap(loop->getHeader()->getTerminator());
		row.parent = parent ? number[parent] : LOCI_PLAN_NONE;
		row.depth = loop->getLoopDepth();
		number[loop] = loops.size();
		loops.push_back(row);
	}

	void add(Instruction &at, Value *address, Type *type, Value *length, unsigned op,
		unsigned flags)
	{
		loci_plan_ref ref = {};

		ref.instruction = wrap(&at);
		ref.address = wrap(address);
		ref.length = wrap(length);
		ref.length_kind = length ? LOCI_LENGTH_VALUE : LOCI_LENGTH_FIXED;
		ref.size_bytes = type ? (uint32_t)layout.getTypeStoreSize(type) : 0;
		ref.op = op;
		ref.flags = flags;
		refs.push_back(ref);
	}

	void add_instruction(Instruction &at)
	{
		if (auto *load = dyn_cast<LoadInst>(&at)) {
			add(at, load->getPointerOperand(), load->getType(), nullptr, LOCI_OP_LOAD,
				0);
		} else if (auto *store = dyn_cast<StoreInst>(&at)) {
			add(at, store->getPointerOperand(), store->getValueOperand()->getType(),
				nullptr, LOCI_OP_STORE, 0);
		} else if (auto *copy = dyn_cast<MemTransferInst>(&at)) {
			add(at, copy->getSource(), nullptr, copy->getLength(), LOCI_OP_LOAD,
				LOCI_REF_BULK);
			add(at, copy->getDest(), nullptr, copy->getLength(), LOCI_OP_STORE,
				LOCI_REF_BULK);
		} else if (auto *set = dyn_cast<MemSetInst>(&at)) {
			add(at, set->getDest(), nullptr, set->getLength(), LOCI_OP_STORE,
				LOCI_REF_BULK);
		} else if (auto *call = dyn_cast<CallBase>(&at)) {
			Function *callee = call->getCalledFunction();

			if (callee && callee->isDeclaration() && !callee->isIntrinsic() &&
				called.insert(callee).second)
				callees.push_back(wrap(callee));
		}
	}

	void add_block(BasicBlock &block)
	{
		Loop *loop = info.getLoopFor(&block);
		loci_plan_block row = {};

		row.first_ref = refs.size();
		if (&block == &function.getEntryBlock()) {
			add(block.front(), nullptr, nullptr, nullptr, LOCI_OP_FRAME, 0);
			row.flags = LOCI_BLOCK_ENTRY;
		}
		for (Instruction &at : block)
			add_instruction(at);
		row.n_refs = refs.size() - row.first_ref;
		row.loop = loop ? number[loop] : LOCI_PLAN_NONE;
		row.depth = loop ? loop->getLoopDepth() : 0;
		if (row.n_refs)
			blocks.push_back(row);
	}
};

struct simple_plan_pass : PassInfoMixin<simple_plan_pass> {
	static bool isRequired()
	{
		return true;
	}

	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		std::vector<Function *> functions;

		for (Function &function : module)
			if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage())
				functions.push_back(&function);
		for (Function *function : functions) {
			simple_plan from(*function);
			loci_plan plan = {};

			plan.module = wrap(&module);
			plan.function = wrap(function);
			plan.ref = from.refs.data();
			plan.n_refs = from.refs.size();
			plan.block = from.blocks.data();
			plan.n_blocks = from.blocks.size();
			plan.loop = from.loops.data();
			plan.n_loops = from.loops.size();
			plan.callee = from.callees.data();
			plan.n_callees = from.callees.size();
			Value *described = unwrap(loci_describe(&plan, nullptr, nullptr, nullptr));
			IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
			Type *word = builder.getInt64Ty();

			builder.CreateLoad(word,
				ConstantExpr::getBitCast(
					cast<Constant>(described), word->getPointerTo()),
				true);
		}
		return PreservedAnalyses::none();
	}
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return { LLVM_PLUGIN_API_VERSION, "simple-plan", "1", [](PassBuilder &builder) {
			builder.registerPipelineParsingCallback(
				[](StringRef name, ModulePassManager &manager,
					ArrayRef<PassBuilder::PipelineElement>) {
					if (name != "simple-plan")
						return false;
					manager.addPass(simple_plan_pass());
					return true;
				});
			builder.registerOptimizerLastEPCallback(
				[](ModulePassManager &manager, auto...) {
					manager.addPass(simple_plan_pass());
				});
		} };
}
