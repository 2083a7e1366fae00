/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How clang, flang and lld come to the pass: at the end of the optimiser, or of link-time
 * optimisation. */
#include "collect/llvm/pass.h"

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif

using namespace llvm;

namespace
{

struct LociPass : PassInfoMixin<LociPass> {
	enum loci_pass_place place;
	explicit LociPass(enum loci_pass_place at) : place(at)
	{
	}
	PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
	{
		return loci_instrument(wrap(&module), place) ? PreservedAnalyses::none()
							     : PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

void add_passes(PassBuilder &builder)
{
	builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, auto...) {
		passes.addPass(LociPass(LOCI_PASS_COMPILING));
	});
#if LLVM_VERSION_MAJOR >= 15
	builder.registerFullLinkTimeOptimizationLastEPCallback(
		[](ModulePassManager &passes, auto...) {
			passes.addPass(LociPass(LOCI_PASS_LINKING));
		});
#endif
}

} // namespace

/* flang knows no assembler of its own accord, and the pass leaves a few instructions of it. Where
 * all of LLVM is within the compiler it may be missing, and is then there already. */
extern "C" __attribute__((weak)) void LLVMInitializeX86AsmParser();

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	if (LLVMInitializeX86AsmParser)
		LLVMInitializeX86AsmParser();
	return { LLVM_PLUGIN_API_VERSION, "loci", LLVM_VERSION_STRING, add_passes };
}
