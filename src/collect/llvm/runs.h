/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops that are told by one marker, RUN, and counted at once: beside its loop either copy has a
 * plain one. The tracing copy's appends when it has ended; the counting copy's is for when the
 * budget lasts, so that it need not be tested. */
#ifndef LOCI_COLLECT_LLVM_RUNS_H
#define LOCI_COLLECT_LLVM_RUNS_H

#include "collect/llvm/emit.h"
#include "collect/llvm/flow.h"

/* Fewer turns take no more words as they are. */
#define LOCI_RUN_TIMES_MIN 4

/* Finds them for the plan, whose blocks are known. */
void loci_runs_find(struct loci_plan *plan, const struct loci_flow *flow);
void loci_runs_forget(struct loci_plan *plan);

/* The plain copies of a function's runs. */
struct loci_runs;
/* Before anything else changes: computes how often they go round, in the body that is to be copied,
 * so that what this is made of is known to be needed there. */
struct loci_runs *loci_runs_new(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow);
/* Right after the body was copied. */
void loci_runs_copy(struct loci_runs *runs, const struct loci_ir_copy *copy);
/* Connects them with the tracing copy when it is complete but for where control crosses, and with
 * the counting copy when that is done, too. */
void loci_runs_make_tracing(struct loci_runs *runs);
struct loci_increments; /* NULL: executions are not counted */
void loci_runs_make_counting(struct loci_runs *runs, struct loci_increments *increments);
/* Tells the debug information what the budget is in the counting copy's plain loops. When slots are
 * registers again: only then do the values that it is made of live in the loops. Not NULL: in a
 * copy of some of these. */
void loci_runs_describe_budget(const struct loci_runs *runs, const struct loci_ir_copy *copy);
/* Then, too: takes from the counting copy's loops that test the budget each turn, which are hardly
 * ever entered, what they have in common with the loops around them. */
void loci_runs_part(const struct loci_runs *runs);
/* Values of the function's body that are used behind a loop that has a plain copy,
 * from 0; NULL: no more. */
LLVMValueRef loci_runs_outliving(const struct loci_runs *runs, size_t number);
/* Keeps the plain copies of a value of the body, if there are any, in a slot. */
void loci_runs_demote(const struct loci_runs *runs, LLVMValueRef value, LLVMValueRef slot);
void loci_runs_free(struct loci_runs *runs);

#endif
