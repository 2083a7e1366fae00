/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/asking.h"

#include <string.h>

/* In assembly, since LLVM 14 to 19 at the least may pop into a register that preserve_most keeps.
 * These return the cursor in rax and the state in r11, and keep all but these, flags and vectors.
 */
#define FIND                                          \
	"movq __loci_thread@GOTTPOFF(%rip), %rax\n\t" \
	"movq %fs:8(%rax), %r11\n\t"                  \
	"movq (%r11), %rax\n\t"
#define ASK(what)                            \
	"pushq %rbp\n\t"                     \
	"movq %rsp, %rbp\n\t"                \
	"callq *" what "@GOTPCREL(%rip)\n\t" \
	"popq %rbp\n\t"
static const char ready_code[] = FIND "cmpq 8(%r11), %rax\n\t"
				      "ja 1f\n\t"
				      "retq\n"
				      "1:\n\t" ASK("__loci_room") FIND "retq";
#define CROSS                                                   \
	FIND "cmpq 8(%r11), %rax\n\t"                           \
	     "ja 1f\n\t"                                        \
	     "cmpq $$0, (%rdi)\n\t"                             \
	     "jne 4f\n\t"                                       \
	     "jmp 2f\n"                                         \
	     "1:\n\t" ASK("__loci_room") "cmpq $$0, (%rdi)\n\t" \
					 "jne 3f\n"             \
					 "2:\n\t" ASK("__loci_define") "3:\n\t" FIND "4:\n\t"
static const char cross_code[] = CROSS "retq";
/* Behind it the words that every function begins with, where the cursor is and has not moved: its
 * marker, and what the frame pointer says of its frame and who called it. It takes r10, too. */
static const char enter_code[] = CROSS "movq (%rdi), %r10\n\t"
				       "movq %r10, (%rax)\n\t"
				       "leaq 8(%rbp), %r10\n\t"
				       "movq %r10, 8(%rax)\n\t"
				       "movq 8(%rbp), %r10\n\t"
				       "movq %r10, 16(%rax)\n\t"
				       "retq";

/* What those who call them must say: all registers that need not be kept. */
#define VECTORS(tens)                                                                      \
	"~{xmm" tens "0},~{xmm" tens "1},~{xmm" tens "2},~{xmm" tens "3},~{xmm" tens "4}," \
	"~{xmm" tens "5},~{xmm" tens "6},~{xmm" tens "7},~{xmm" tens "8},~{xmm" tens "9},"
#define CALLING(takes)                                                              \
	"={rax},={r11},i,*m" takes                                                  \
	",~{memory},~{dirflag},~{fpsr},~{flags}," VECTORS("") VECTORS("1") VECTORS( \
		"2") "~{xmm30},~{xmm31},"                                           \
		     "~{k0},~{k1},~{k2},~{k3},~{k4},~{k5},~{k6},~{k7},"             \
		     "~{st},~{st(1)},~{st(2)},~{st(3)},~{st(4)},~{st(5)},~{st(6)},~{st(7)}"

static void add_attribute(LLVMContextRef context, LLVMValueRef function, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAddAttributeAtIndex(
		function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
}

LLVMValueRef loci_asking_own(
	struct loci_emit *emit, const char *name, LLVMTypeRef type, const char *code)
{
	LLVMTypeRef nothing = LLVMFunctionType(LLVMVoidTypeInContext(emit->context), NULL, 0, 0);
	LLVMValueRef function = LLVMAddFunction(emit->module, name, type ? type : nothing);
	LLVMSetLinkage(function, LLVMInternalLinkage);
	add_attribute(emit->context, function, "naked");
	add_attribute(emit->context, function, "nounwind");
	add_attribute(emit->context, function, "noinline");
	loci_emit_at_end(emit, LLVMAppendBasicBlockInContext(emit->context, function, ""));
	LLVMValueRef body = loci_ir_assembly(nothing, code, "", LOCI_ASSEMBLY_ACTS);
	LLVMBuildCall2(emit->builder, nothing, body, NULL, 0, "");
	LLVMBuildUnreachable(emit->builder);
	return function;
}

void loci_asking_init(struct loci_emit *emit)
{
	emit->ready = loci_asking_own(emit, "loci.ready", NULL, ready_code);
	emit->cross = loci_asking_own(emit, "loci.cross", NULL, cross_code);
	emit->enter = loci_asking_own(emit, "loci.enter", NULL, enter_code);
}

/* A call that is assembly returns in registers which it does not keep anyway. That it has to do
 * with memory of the frame makes the compiler set up the frame before it. */
static void ask(
	struct loci_emit *emit, const char *constraints, LLVMValueRef function, LLVMValueRef record)
{
	LLVMTypeRef both[] = { emit->pointer, emit->pointer }, taken[3];
	LLVMValueRef argument[] = { function,
		LLVMBuildPointerCast(
			emit->builder, loci_emit_frame_address(emit), emit->pointer, ""),
		record };
	unsigned n = record ? 3 : 2;
	for (unsigned i = 0; i < n; i++)
		taken[i] = LLVMTypeOf(argument[i]);
	LLVMTypeRef type =
		LLVMFunctionType(LLVMStructTypeInContext(emit->context, both, 2, 0), taken, n, 0);
	LLVMValueRef code =
		loci_ir_assembly(type, "callq ${2:P}", constraints, LOCI_ASSEMBLY_CALLS);
	LLVMValueRef found = LLVMBuildCall2(emit->builder, type, code, argument, n, "");
	LLVMAddCallSiteAttribute(found, 2,
		LLVMCreateTypeAttribute(emit->context,
			LLVMGetEnumAttributeKindForName("elementtype", 11), emit->word));
	LLVMBuildStore(
		emit->builder, LLVMBuildExtractValue(emit->builder, found, 0, ""), emit->cursor);
	LLVMBuildStore(
		emit->builder, LLVMBuildExtractValue(emit->builder, found, 1, ""), emit->state);
}

static LLVMValueRef record_of(struct loci_emit *emit)
{
	return LLVMBuildPointerCast(emit->builder, emit->record, emit->pointer, "");
}

void loci_emit_ready(struct loci_emit *emit)
{
	ask(emit, CALLING(""), emit->ready, NULL);
}

void loci_asking_cross(struct loci_emit *emit)
{
	ask(emit, CALLING(",{rdi}"), emit->cross, record_of(emit));
}

void loci_asking_enter(struct loci_emit *emit)
{
	ask(emit, CALLING(",{rdi}") ",~{r10}", emit->enter, record_of(emit));
}
