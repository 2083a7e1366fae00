/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Natural loops, and what scalar evolution knows of them: how often they go round, and whether
 * addresses go in equal steps. */
#include "collect/llvm/loops.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

using namespace llvm;

/* Of what is computed where a loop is entered. */
#define OPERATIONS_MAX 24
#define DEPTH_MAX      12
/* More than any budget, and no less than that by so much that the difference could not be told. */
#define TOO_MANY       (3ull << 61)

/* Turns that are few enough to be multiplied by the references of a block, which are no more than
 * there is room for. To test for that when a loop begins gains next to nothing.
 */
#define TURNS_BITS 40

struct loci_ir_loops {
	DominatorTree tree;
	LoopInfo info;
	SmallVector<Loop *, 8> list;
	DenseMap<const Loop *, uint32_t> number;
	DenseMap<uint32_t, const SCEV *> turns; /* of counted loops: back edges taken */
	TargetLibraryInfoImpl library;
	TargetLibraryInfo functions;
	AssumptionCache assumptions;
	ScalarEvolution evolution;
	explicit loci_ir_loops(Function &f)
	    : tree(f), info(tree), library(Triple(f.getParent()->getTargetTriple())),
	      functions(library), assumptions(f), evolution(f, functions, assumptions, tree, info)
	{
		for (Loop *loop : info.getLoopsInPreorder()) {
			number[loop] = list.size();
			list.push_back(loop);
		}
	}
	uint32_t of(const Loop *loop) const
	{
		return loop ? number.lookup(loop) : LOCI_IR_NONE;
	}
};

struct loci_ir_loops *loci_ir_loops_new(LLVMValueRef function)
{
	return new loci_ir_loops(*unwrap<Function>(function));
}

void loci_ir_loops_free(struct loci_ir_loops *loops)
{
	delete loops;
}

size_t loci_ir_loops_count(const struct loci_ir_loops *loops)
{
	return loops->list.size();
}

LLVMBasicBlockRef loci_ir_loop_header(const struct loci_ir_loops *loops, size_t loop)
{
	return wrap(loops->list[loop]->getHeader());
}

uint32_t loci_ir_loop_parent(const struct loci_ir_loops *loops, size_t loop)
{
	return loops->of(loops->list[loop]->getParentLoop());
}

uint32_t loci_ir_loop_turns_max(struct loci_ir_loops *loops, size_t loop)
{
	return loops->evolution.getSmallConstantMaxTripCount(loops->list[loop]);
}

bool loci_ir_loop_is_known(struct loci_ir_loops *loops, size_t loop)
{
	return loops->evolution.hasLoopInvariantBackedgeTakenCount(loops->list[loop]);
}

uint32_t loci_ir_loop_of(const struct loci_ir_loops *loops, LLVMBasicBlockRef block)
{
	return loops->of(loops->info.getLoopFor(unwrap(block)));
}

/* Turns what goes in equal steps in loops around into those loops' own variables, so that nothing
 * is added to them. */
struct Flattening : SCEVRewriteVisitor<Flattening> {
	bool failed = false;
	explicit Flattening(ScalarEvolution &evolution) : SCEVRewriteVisitor(evolution)
	{
	}
	/* How many times as far it goes each turn as the other. */
	const SCEV *ratio(const SCEVAddRecExpr *steps, const SCEVAddRecExpr *other)
	{
		const SCEV *step = steps->getStepRecurrence(SE);
		const SCEV *others = other->getStepRecurrence(SE);
		if (step == others)
			return SE.getOne(step->getType());
		auto *n = dyn_cast<SCEVConstant>(step), *of = dyn_cast<SCEVConstant>(others);
		if (!n || !of || n->getAPInt().isMinSignedValue() ||
			n->getAPInt().srem(of->getAPInt()) != 0)
			return nullptr;
		return SE.getConstant(n->getAPInt().sdiv(of->getAPInt()));
	}
	/* steps = ratio * phi + what is the same each turn */
	const SCEV *in_terms_of(PHINode &phi, const SCEVAddRecExpr *steps)
	{
		if (!SE.isSCEVable(phi.getType()))
			return nullptr;
		const SCEV *has = SE.getSCEV(&phi), *is = SE.getUnknown(&phi);
		if (phi.getType()->isPointerTy()) {
			has = SE.getPtrToIntExpr(has, steps->getType());
			is = SE.getPtrToIntExpr(is, steps->getType());
		}
		auto *other = dyn_cast<SCEVAddRecExpr>(has);
		if (!other || other->getLoop() != steps->getLoop() || !other->isAffine() ||
			other->getType() != steps->getType())
			return nullptr;
		const SCEV *times = ratio(steps, other);
		if (!times)
			return nullptr;
		const SCEV *rest =
			SE.getMinusSCEV(steps->getStart(), SE.getMulExpr(times, other->getStart()));
		return SE.getAddExpr(SE.getMulExpr(times, is), visit(rest));
	}
	const SCEV *visitAddRecExpr(const SCEVAddRecExpr *steps)
	{
		if (steps->isAffine() && steps->getType()->isIntegerTy())
			for (PHINode &phi : steps->getLoop()->getHeader()->phis())
				if (const SCEV *flat = in_terms_of(phi, steps))
					return flat;
		failed = true;
		return steps;
	}
};

/* Whether it is worth computing, and can be, before the instruction. */
static bool is_simple(const loci_ir_loops *loops, const SCEV *what, const Instruction *place,
	unsigned *operations)
{
	if (isa<SCEVConstant>(what))
		return true;
	if (++*operations > OPERATIONS_MAX)
		return false;
	if (auto *unknown = dyn_cast<SCEVUnknown>(what)) {
		auto *i = dyn_cast<Instruction>(unknown->getValue());
		return !i || loops->tree.dominates(i, place);
	}
	if (auto *cast = dyn_cast<SCEVCastExpr>(what))
		return is_simple(loops, cast->getOperand(), place, operations);
	if (auto *quotient = dyn_cast<SCEVUDivExpr>(what))
		return isa<SCEVConstant>(quotient->getRHS()) && !quotient->getRHS()->isZero() &&
			is_simple(loops, quotient->getLHS(), place, operations);
	if (!isa<SCEVCommutativeExpr>(what))
		return false;
	for (const SCEV *operand : cast<SCEVNAryExpr>(what)->operands())
		if (!is_simple(loops, operand, place, operations))
			return false;
	return true;
}

bool loci_ir_loop_is_counted(struct loci_ir_loops *loops, size_t number, uint64_t least,
	uint64_t most, LLVMBasicBlockRef *ret_exiting)
{
	Loop *loop = loops->list[number];
	BasicBlock *entry = loop->getLoopPreheader(), *latch = loop->getLoopLatch();
	BasicBlock *exiting = loop->getExitingBlock();
	if (!entry || !latch || !exiting || !loops->tree.dominates(exiting, latch) ||
		!isa<BranchInst>(exiting->getTerminator()))
		return false;
	ScalarEvolution &evolution = loops->evolution;
	const SCEV *turns = evolution.getBackedgeTakenCount(loop);
	if (isa<SCEVCouldNotCompute>(turns) || evolution.getTypeSizeInBits(turns->getType()) > 64)
		return false;
	if (auto *constant = dyn_cast<SCEVConstant>(turns)) {
		uint64_t n = constant->getAPInt().getZExtValue();
		if (n + 1 < least || n >= most)
			return false;
	}
	Flattening flattening(evolution);
	unsigned operations = 0;
	turns = flattening.visit(turns);
	if (flattening.failed || !is_simple(loops, turns, entry->getTerminator(), &operations))
		return false;
	loops->turns[(uint32_t)number] = turns;
	*ret_exiting = wrap(exiting);
	return true;
}

bool loci_ir_loop_always(
	const struct loci_ir_loops *loops, LLVMBasicBlockRef block, LLVMBasicBlockRef before)
{
	return loops->tree.dominates(unwrap(block), unwrap(before));
}

/* Whether the value can be computed for the first turns before the loop begins. */
static bool is_computable(const Loop *loop, const Value *value, bool with_next, unsigned depth)
{
	auto *i = dyn_cast<Instruction>(value);
	if (!i || !loop->contains(i))
		return true;
	if (depth == 0)
		return false;
	if (auto *phi = dyn_cast<PHINode>(i))
		return phi->getParent() == loop->getHeader() &&
			(!with_next ||
				is_computable(loop,
					phi->getIncomingValueForBlock(loop->getLoopLatch()), false,
					depth - 1));
	if (!isa<GetElementPtrInst>(i) && !isa<CastInst>(i) &&
		!(isa<BinaryOperator>(i) && !i->isIntDivRem()))
		return false;
	for (const Value *operand : i->operands())
		if (!is_computable(loop, operand, with_next, depth - 1))
			return false;
	return true;
}

bool loci_ir_loop_steps(
	struct loci_ir_loops *loops, size_t number, LLVMValueRef address, LLVMValueRef *ret_step)
{
	Loop *loop = loops->list[number];
	ScalarEvolution &evolution = loops->evolution;
	Value *value = unwrap(address);
	*ret_step = nullptr;
	if (!value->getType()->isPointerTy() || !evolution.isSCEVable(value->getType()))
		return false;
	const SCEV *is = evolution.getSCEV(value);
	auto *word = Type::getInt64Ty(value->getContext());
	if (evolution.isLoopInvariant(is, loop)) {
		*ret_step = wrap(ConstantInt::get(word, 0));
		return is_computable(loop, value, false, DEPTH_MAX);
	}
	auto *steps = dyn_cast<SCEVAddRecExpr>(is);
	if (!steps || steps->getLoop() != loop || !steps->isAffine())
		return false;
	if (auto *constant = dyn_cast<SCEVConstant>(steps->getStepRecurrence(evolution)))
		*ret_step = wrap(ConstantInt::get(word, constant->getAPInt().getSExtValue(), true));
	return is_computable(loop, value, *ret_step == nullptr, DEPTH_MAX);
}

struct Computing {
	IRBuilder<> &builder;

	Value *fold(const SCEVNAryExpr *what)
	{
		Value *value = nullptr;
		for (const SCEV *operand : what->operands()) {
			Value *next = make(operand);
			value = value ? join(what->getSCEVType(), value, next) : next;
		}
		return value;
	}
	Value *join(unsigned kind, Value *a, Value *b)
	{
		auto chosen = [&](CmpInst::Predicate when) {
			return builder.CreateSelect(builder.CreateICmp(when, a, b), a, b);
		};
		switch (kind) {
		case scAddExpr:
			return builder.CreateAdd(a, b);
		case scMulExpr:
			return builder.CreateMul(a, b);
		case scUMaxExpr:
			return chosen(CmpInst::ICMP_UGT);
		case scSMaxExpr:
			return chosen(CmpInst::ICMP_SGT);
		case scUMinExpr:
			return chosen(CmpInst::ICMP_ULT);
		default:
			return chosen(CmpInst::ICMP_SLT);
		}
	}
	Value *unknown(const SCEVUnknown *what)
	{
		Value *value = what->getValue();
		return value->getType()->isPointerTy()
			? builder.CreatePtrToInt(value, builder.getInt64Ty())
			: value;
	}
	/* Pointers as numbers. */
	Value *make(const SCEV *what)
	{
		switch (what->getSCEVType()) {
		case scConstant:
			return cast<SCEVConstant>(what)->getValue();
		case scUnknown:
			return unknown(cast<SCEVUnknown>(what));
		case scPtrToInt:
			return make(cast<SCEVCastExpr>(what)->getOperand());
		case scTruncate:
			return builder.CreateTrunc(
				make(cast<SCEVCastExpr>(what)->getOperand()), what->getType());
		case scZeroExtend:
			return builder.CreateZExt(
				make(cast<SCEVCastExpr>(what)->getOperand()), what->getType());
		case scSignExtend:
			return builder.CreateSExt(
				make(cast<SCEVCastExpr>(what)->getOperand()), what->getType());
		case scUDivExpr:
			return builder.CreateUDiv(make(cast<SCEVUDivExpr>(what)->getLHS()),
				make(cast<SCEVUDivExpr>(what)->getRHS()));
		default:
			return fold(cast<SCEVNAryExpr>(what));
		}
	}
};

/* The end of the block before the outermost loop around this one in which it is always the same. */
static Instruction *earliest(struct loci_ir_loops *loops, const Loop *loop, const SCEV *what)
{
	Instruction *place = loop->getLoopPreheader()->getTerminator();
	unsigned operations = 0;
	while ((loop = loop->getParentLoop()) && loop->getLoopPreheader() &&
		loops->evolution.isLoopInvariant(what, loop) &&
		is_simple(loops, what, loop->getLoopPreheader()->getTerminator(), &operations))
		place = loop->getLoopPreheader()->getTerminator();
	return place;
}

LLVMValueRef loci_ir_loop_times(struct loci_ir_loops *loops, size_t number, uint64_t most,
	uint32_t each, uint32_t more, LLVMValueRef *ret_all)
{
	const SCEV *what = loops->turns.lookup((uint32_t)number);
	Loop *loop = loops->list[number];
	IRBuilder<> builder(earliest(loops, loop, what));
	builder.SetCurrentDebugLocation(DebugLoc());
	Value *turns = Computing{ builder }.make(what);
	turns = builder.CreateZExtOrTrunc(turns, builder.getInt64Ty());
	Value *times = builder.CreateAdd(turns, builder.getInt64(1));
	Value *all = builder.CreateMul(times, builder.getInt64(each));
	if (most > 0)
		all = builder.CreateSelect(builder.CreateICmpULT(turns, builder.getInt64(most)),
			all, builder.getInt64(TOO_MANY));
	all = builder.CreateAdd(all, builder.getInt64(more));
	/* The same wherever they are used, whatever they are made of. */
	builder.SetInsertPoint(loop->getLoopPreheader()->getTerminator());
	builder.SetCurrentDebugLocation(DebugLoc());
	*ret_all = wrap(builder.CreateFreeze(all));
	return wrap(builder.CreateFreeze(times));
}

/* What goes in constant steps from turn to turn, of which a whole number is `each`. */
static bool is_counter(
	struct loci_ir_loops *loops, const Loop *loop, PHINode &phi, uint32_t each, int64_t *factor)
{
	ScalarEvolution &evolution = loops->evolution;
	if (!phi.getType()->isIntegerTy(64) && !phi.getType()->isPointerTy())
		return false;
	auto *steps = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi));
	if (!steps || steps->getLoop() != loop || !steps->isAffine())
		return false;
	auto *step = dyn_cast<SCEVConstant>(steps->getStepRecurrence(evolution));
	int64_t n = step ? step->getAPInt().getSExtValue() : 0;
	*factor = n != 0 && n != INT64_MIN ? (int64_t)each / n : 0;
	return *factor * n == (int64_t)each;
}

bool loci_ir_loop_is_bounded(struct loci_ir_loops *loops, size_t number, uint32_t each,
	LLVMValueRef *ret_counter, int64_t *ret_factor)
{
	Loop *loop = loops->list[number];
	BasicBlock *entry = loop->getLoopPreheader();
	if (!entry || !loop->getLoopLatch())
		return false;
	ScalarEvolution &evolution = loops->evolution;
	const SCEV *turns = evolution.getSymbolicMaxBackedgeTakenCount(loop);
	if (isa<SCEVCouldNotCompute>(turns) || evolution.getTypeSizeInBits(turns->getType()) > 64)
		return false;
	APInt most = evolution.getUnsignedRangeMax(evolution.applyLoopGuards(turns, loop));
	if (most.getActiveBits() > TURNS_BITS)
		return false;
	Flattening flattening(evolution);
	unsigned operations = 0;
	turns = flattening.visit(turns);
	if (flattening.failed || !is_simple(loops, turns, entry->getTerminator(), &operations))
		return false;
	for (PHINode &phi : loop->getHeader()->phis())
		if (is_counter(loops, loop, phi, each, ret_factor)) {
			loops->turns[(uint32_t)number] = turns;
			*ret_counter = wrap(&phi);
			return true;
		}
	return false;
}

LLVMValueRef loci_ir_loop_all(struct loci_ir_loops *loops, size_t number, uint32_t each)
{
	const SCEV *what = loops->turns.lookup((uint32_t)number);
	Loop *loop = loops->list[number];
	IRBuilder<> builder(earliest(loops, loop, what));
	builder.SetCurrentDebugLocation(DebugLoc());
	Value *turns = Computing{ builder }.make(what);
	turns = builder.CreateZExtOrTrunc(turns, builder.getInt64Ty());
	Value *all = builder.CreateMul(
		builder.CreateAdd(turns, builder.getInt64(1)), builder.getInt64(each));
	builder.SetInsertPoint(loop->getLoopPreheader()->getTerminator());
	builder.SetCurrentDebugLocation(DebugLoc());
	return wrap(builder.CreateFreeze(all));
}

struct loci_ir_start {
	SmallPtrSet<const BasicBlock *, 4> blocks;
	const BasicBlock *header;
	BasicBlock *entry, *latch;
	DenseMap<std::pair<Value *, unsigned>, Value *> known;
};

struct loci_ir_start *loci_ir_start_new(
	const LLVMBasicBlockRef *block, size_t n, LLVMBasicBlockRef entry, LLVMBasicBlockRef latch)
{
	auto *start = new loci_ir_start;
	for (size_t i = 0; i < n; i++)
		start->blocks.insert(unwrap(block[i]));
	start->header = unwrap(block[0]);
	start->entry = unwrap(entry);
	start->latch = unwrap(latch);
	return start;
}

void loci_ir_start_free(struct loci_ir_start *start)
{
	delete start;
}

static Value *value_at(
	struct loci_ir_start *start, IRBuilderBase &builder, Value *value, unsigned turn)
{
	auto *i = dyn_cast<Instruction>(value);
	if (!i || !start->blocks.count(i->getParent()))
		return value;
	if (auto *phi = dyn_cast<PHINode>(i))
		return turn == 0 ? phi->getIncomingValueForBlock(start->entry)
				 : value_at(start, builder,
					   phi->getIncomingValueForBlock(start->latch), turn - 1);
	if (Value *known = start->known.lookup({ value, turn }))
		return known;
	Instruction *made = i->clone();
	made->setDebugLoc(DebugLoc());
	for (Use &operand : made->operands())
		operand.set(value_at(start, builder, operand.get(), turn));
	builder.Insert(made);
	start->known[{ value, turn }] = made;
	return made;
}

LLVMValueRef loci_ir_start_value(
	struct loci_ir_start *start, LLVMBuilderRef builder, LLVMValueRef value, unsigned turn)
{
	return wrap(value_at(start, *unwrap(builder), unwrap(value), turn));
}
