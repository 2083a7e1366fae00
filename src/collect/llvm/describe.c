// SPDX-License-Identifier: GPL-2.0-or-later
/* The definition of a function in the sections of its object file (cc_abi.h): what the runtime
 * hands to the recorder, and what names are taken from afterwards.
 *
 * Both variables belong to the function: they are in its comdat, so that the linker takes them from
 * the object it takes the function from; and they are associated with it, which gives them sections
 * of their own that name the function's, so that --gc-sections drops them one by one. Only the
 * function's code refers to them: nothing else keeps a function that nobody calls. Distances to the
 * function are taken to a private alias, since the symbol may be replaced by another module's. */
#include "collect/llvm/describe.h"

#include "stream/stream.h"

#include <llvm-c/Comdat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tables {
	struct loci_blob blocks, sites, loops, calls;
	struct loci_scopes scopes;
	struct loci_debug_loops *looping;
	struct loci_ops_tables ops;
};

static void add_block(struct tables *to, const struct loci_plan_block *block)
{
	struct loci_cc_block row = {
		.first_site = (uint32_t)(to->sites.n / sizeof(struct loci_cc_site)),
		.n_sites = (uint16_t)block->n_refs,
		.flags = block->flags,
		.depth = block->depth,
		.loop = block->loop == LOCI_PLAN_NONE ? LOCI_CC_NONE : block->loop,
	};

	loci_blob_add(&to->blocks, &row, sizeof(row));
}

/* Notes, which are no accesses, stand where the function or the loop does. */
static void place_site(struct tables *to, const struct loci_plan *plan,
	const struct loci_plan_block *block, const struct loci_plan_ref *ref,
	struct loci_place *ret)
{
	if (ref->op == LOCI_OP_FRAME || ref->op == LOCI_OP_CALLER)
		loci_place_of_function(&to->scopes, ret);
	else if (ref->op == LOCI_OP_TURN && block->loop < plan->n_loops)
		loci_place_of_loop(&to->scopes, to->looping, &plan->loop[block->loop], ret);
	else
		loci_place_of(&to->scopes, ref->instruction, ret);
}

static void add_site(struct tables *to, const struct loci_plan *plan,
	const struct loci_plan_block *block, const struct loci_plan_ref *ref)
{
	struct loci_cc_site row = {
		.size_bytes = ref->size_bytes,
		.op = ref->op,
		.may_be_large = ref->may_be_large,
		.flags = ref->flags,
	};
	size_t at = to->sites.n;
	struct loci_place place;
	char variable[LOCI_VARIABLE_MAX];

	place_site(to, plan, block, ref, &place);
	row.line = place.line;
	row.column = (uint16_t)place.column;
	row.scope = place.scope;
	loci_blob_add(&to->sites, &row, sizeof(row));
	if (ref->op < LOCI_OP_FRAME && loci_variable_of(plan, ref, variable))
		loci_blob_refer(&to->sites, at + offsetof(struct loci_cc_site, variable),
			loci_text(plan->module, variable, strlen(variable)));
}

static void add_loop(struct tables *to, const struct loci_plan_loop *loop)
{
	struct loci_place place;
	struct loci_cc_loop row = {
		.parent = loop->parent == LOCI_PLAN_NONE ? LOCI_CC_NONE : loop->parent,
		.depth = loop->depth,
	};

	loci_place_of_loop(&to->scopes, to->looping, loop, &place);
	row.line = place.line;
	row.column = (uint16_t)place.column;
	row.scope = place.scope;
	loci_blob_add(&to->loops, &row, sizeof(row));
}

LLVMValueRef loci_symbol_text(LLVMModuleRef module, LLVMValueRef value)
{
	size_t n = 0;
	const char *name = LLVMGetValueName2(value, &n);

	if (n && name[0] == 1) { /* not to be decorated */
		name++;
		n--;
	}
	return loci_text(module, name, n);
}

static void add_call(
	struct tables *to, LLVMModuleRef module, LLVMValueRef callee, LLVMValueRef counter)
{
	struct loci_cc_call row = { 0 };
	size_t at = to->calls.n;

	loci_blob_add(&to->calls, &row, sizeof(row));
	loci_blob_refer(&to->calls, at + offsetof(struct loci_cc_call, callee),
		loci_symbol_text(module, callee));
	loci_blob_refer(&to->calls, at + offsetof(struct loci_cc_call, count), counter);
}

static int fill(struct tables *to, const struct loci_plan *plan, const LLVMValueRef *counter,
	const struct loci_executions *executions)
{
	if (loci_scopes_init(&to->scopes, plan->module, plan->function) < 0)
		return -1;
	to->looping = plan->n_loops ? loci_debug_loops_new(plan->function) : NULL;
	for (size_t i = 0; i < plan->n_blocks; i++) {
		const struct loci_plan_block *block = &plan->block[i];

		add_block(to, block);
		for (uint32_t k = 0; k < block->n_refs; k++)
			add_site(to, plan, block, &plan->ref[block->first_ref + k]);
	}
	for (size_t i = 0; i < plan->n_loops; i++)
		add_loop(to, &plan->loop[i]);
	for (size_t i = 0; i < plan->n_callees; i++)
		add_call(to, plan->module, plan->callee[i], counter ? counter[i] : NULL);
	if (to->looping)
		loci_debug_loops_free(to->looping);
	if (executions)
		loci_ops_tables_fill(&to->ops, &to->scopes, plan, executions);
	return 0;
}

static void add_header(struct loci_blob *to, const struct tables *tables,
	const struct loci_plan *plan, LLVMValueRef code, LLVMValueRef markers)
{
	struct loci_debug_text unit = loci_debug_producer(plan->module, tables->scopes.subprogram);
	const struct loci_ops_tables *ops = &tables->ops;
	size_t ops_bytes = ops->blocks.n + ops->ops.n + ops->invocations.n + ops->terms.n;
	struct loci_cc_definition header = {
		.magic = LOCI_CC_DEFINITION_MAGIC,
		.version = LOCI_CC_VERSION,
		.bytes = (uint32_t)(sizeof(header) + tables->blocks.n + tables->sites.n +
			tables->scopes.table.n + tables->loops.n + tables->calls.n +
			(ops->n_ops ? ops_bytes : 0)),
		.n_blocks = (uint32_t)plan->n_blocks,
		.n_sites = (uint32_t)(tables->sites.n / sizeof(struct loci_cc_site)),
		.n_scopes = (uint32_t)tables->scopes.n,
		.n_loops = (uint32_t)plan->n_loops,
		.n_calls = (uint32_t)plan->n_callees,
	};

	if (ops->n_ops) {
		header.n_ops = ops->n_ops;
		header.n_invocations = ops->n_invocations;
		header.n_counters = ops->n_counters;
		header.n_terms = ops->n_terms;
	}

	loci_blob_add(to, &header, sizeof(header));
	loci_blob_refer(to, offsetof(struct loci_cc_definition, code), code);
	loci_blob_refer(to, offsetof(struct loci_cc_definition, name),
		loci_symbol_text(plan->module, plan->function));
	loci_blob_refer(to, offsetof(struct loci_cc_definition, unit),
		loci_text(plan->module, unit.text, unit.n));
	if (markers)
		loci_blob_refer(to, offsetof(struct loci_cc_definition, markers), markers);
}

/* The name of a part of the function's, for those who read the code of the compiler. */
static char *part_name(const char *prefix, LLVMValueRef function)
{
	size_t n = 0, prefix_n = strlen(prefix);
	const char *name = LLVMGetValueName2(function, &n);
	char *result = malloc(prefix_n + n + 1);

	if (!result)
		return NULL;
	memcpy(result, prefix, prefix_n);
	memcpy(result + prefix_n, name, n);
	result[prefix_n + n] = '\0';
	for (size_t i = prefix_n; i < prefix_n + n; i++)
		if (result[i] == 1)
			result[i] = '_';
	return result;
}

static void belong(const struct loci_plan *plan, LLVMValueRef variable)
{
	LLVMContextRef context = LLVMGetModuleContext(plan->module);
	unsigned kind = LLVMGetMDKindIDInContext(context, "associated", 10);
	LLVMMetadataRef function = LLVMValueAsMetadata(plan->function);
	LLVMComdatRef comdat = LLVMGetComdat(plan->function);

	LLVMGlobalSetMetadata(variable, kind, LLVMMDNodeInContext2(context, &function, 1));
	if (comdat)
		LLVMSetComdat(variable, comdat);
}

static LLVMValueRef add_alias(const struct loci_plan *plan)
{
	char *name = part_name("loci.code.", plan->function);
	LLVMValueRef alias;

	if (!name)
		return NULL;
	alias = LLVMAddAlias2(
		plan->module, LLVMGlobalGetValueType(plan->function), 0, plan->function, name);
	LLVMSetLinkage(alias, LLVMPrivateLinkage);
	free(name);
	return alias;
}

static LLVMValueRef add_definition(const struct loci_plan *plan, const struct tables *tables,
	LLVMValueRef code, LLVMValueRef markers)
{
	char *name = part_name("loci.def.", plan->function);
	LLVMValueRef result = NULL;
	struct loci_blob all = { 0 };

	if (!name)
		return NULL;
	add_header(&all, tables, plan, code, markers);
	loci_blob_join(&all, &tables->blocks);
	loci_blob_join(&all, &tables->sites);
	loci_blob_join(&all, &tables->scopes.table);
	loci_blob_join(&all, &tables->loops);
	loci_blob_join(&all, &tables->calls);
	if (tables->ops.n_ops) {
		loci_blob_join(&all, &tables->ops.blocks);
		loci_blob_join(&all, &tables->ops.ops);
		loci_blob_join(&all, &tables->ops.invocations);
		loci_blob_join(&all, &tables->ops.terms);
	}
	result = loci_blob_global(&all, plan->module, name, LOCI_CC_DEFINITIONS);
	loci_blob_fini(&all);
	free(name);
	if (!result)
		return NULL;
	LLVMSetGlobalConstant(result, 1);
	belong(plan, result);
	return result;
}

static LLVMValueRef add_variable(
	const struct loci_plan *plan, const char *prefix, LLVMValueRef initial)
{
	char *name = part_name(prefix, plan->function);
	LLVMValueRef result;

	if (!name)
		return NULL;
	result = LLVMAddGlobal(plan->module, LLVMTypeOf(initial), name);
	LLVMSetInitializer(result, initial);
	LLVMSetLinkage(result, LLVMPrivateLinkage);
	LLVMSetAlignment(result, 8);
	free(name);
	return result;
}

static LLVMValueRef add_function(
	const struct loci_plan *plan, LLVMValueRef code, LLVMValueRef definition)
{
	LLVMContextRef context = LLVMGetModuleContext(plan->module);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
	LLVMTypeRef field[] = { i64, i32, i32 };
	LLVMTypeRef type = LLVMStructTypeInContext(context, field, 3, 0);
	char *name = part_name("loci.fn.", plan->function);
	LLVMValueRef value[3], result;

	if (!name)
		return NULL;
	result = LLVMAddGlobal(plan->module, type, name);
	value[0] = LLVMConstInt(i64, 0, 0);
	value[1] = loci_distance(type, result, 1, false, code);
	value[2] = loci_distance(type, result, 2, false, definition);
	LLVMSetInitializer(result, LLVMConstStructInContext(context, value, 3, 0));
	LLVMSetLinkage(result, LLVMPrivateLinkage);
	LLVMSetSection(result, LOCI_CC_FUNCTIONS);
	LLVMSetAlignment(result, 8);
	belong(plan, result);
	free(name);
	return result;
}

LLVMValueRef loci_describe_counters(const struct loci_plan *plan)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetModuleContext(plan->module));
	LLVMValueRef result =
		add_variable(plan, "loci.count.", LLVMConstInt(i64, LOCI_CC_COUNTERS_UNKNOWN, 0));

	if (result) {
		LLVMSetSection(result, LOCI_CC_COUNTERS);
		belong(plan, result);
	}
	return result;
}

/* Where all zeros are: those who refer to it keep it, or do not. */
LLVMValueRef loci_describe_markers(const struct loci_plan *plan)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetModuleContext(plan->module));
	LLVMComdatRef comdat = LLVMGetComdat(plan->function);
	LLVMValueRef result = add_variable(
		plan, "loci.markers.", LLVMConstNull(LLVMArrayType(i64, (unsigned)plan->n_blocks)));

	if (result && comdat)
		LLVMSetComdat(result, comdat);
	return result;
}

LLVMValueRef loci_describe(const struct loci_plan *plan, const LLVMValueRef *counter,
	LLVMValueRef markers, const struct loci_executions *executions)
{
	LLVMValueRef code, definition = NULL, result = NULL;
	struct tables tables = { 0 };

	code = add_alias(plan);
	if (code && fill(&tables, plan, counter, executions) == 0)
		definition = add_definition(plan, &tables, code, markers);
	if (definition)
		result = add_function(plan, code, definition);
	loci_blob_fini(&tables.blocks);
	loci_blob_fini(&tables.sites);
	loci_blob_fini(&tables.loops);
	loci_blob_fini(&tables.calls);
	loci_ops_tables_fini(&tables.ops);
	loci_scopes_fini(&tables.scopes);
	return result;
}
