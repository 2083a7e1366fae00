// SPDX-License-Identifier: GPL-2.0-or-later
/* The function, and the inlined calls that its instructions come from, as a table; and where in the
 * source an instruction, a loop, the function stand.
 *
 * A scope is a function together with the call that brought it here. Code of one function that
 * stands in several files (a body that includes another file) has a scope for each, alike but for
 * the file. Parents stand before what is called in them. */
#include "collect/llvm/describe.h"

#include <llvm-c/DebugInfo.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SCOPES_MAX    UINT16_MAX /* the last number means none */
#define INLINED_MAX   256        /* calls within calls */
#define NEIGHBOUR_MAX 32         /* instructions to either side that are asked for a line */
#define BLOCKS_MAX    64         /* blocks before, where all around has none */

static LLVMValueRef file_text(LLVMModuleRef module, LLVMMetadataRef file)
{
	unsigned directory_n = 0, name_n = 0;
	const char *directory, *name;
	LLVMValueRef result;
	char *path;

	if (!file)
		return NULL;
	directory = LLVMDIFileGetDirectory(file, &directory_n);
	name = LLVMDIFileGetFilename(file, &name_n);
	if (!name_n || name[0] == '/' || !directory_n)
		return loci_text(module, name, name_n);
	path = malloc((size_t)directory_n + name_n + 1);
	if (!path)
		return NULL;
	memcpy(path, directory, directory_n);
	path[directory_n] = '/';
	memcpy(path + directory_n + 1, name, name_n);
	result = loci_text(module, path, (size_t)directory_n + name_n + 1);
	free(path);
	return result;
}

static size_t slot_of(const struct loci_scopes *scopes, const struct loci_scope_key *key)
{
	uint64_t hash = (uintptr_t)key->subprogram * 31 + (uintptr_t)key->inlined_at;
	size_t slot;

	hash = (hash * 31 + (uintptr_t)key->file) * 0x9e3779b97f4a7c15u >> 20;
	slot = hash & (scopes->cap_keys - 1);
	while (scopes->keys[slot].subprogram &&
		(scopes->keys[slot].subprogram != key->subprogram ||
			scopes->keys[slot].inlined_at != key->inlined_at ||
			scopes->keys[slot].file != key->file))
		slot = (slot + 1) & (scopes->cap_keys - 1);
	return slot;
}

static int make_room(struct loci_scopes *scopes)
{
	struct loci_scope_key *old = scopes->keys;
	size_t old_cap = scopes->cap_keys;

	if (scopes->n_keys * 2 < old_cap)
		return 0;
	scopes->keys = calloc(old_cap ? old_cap * 2 : 64, sizeof(*scopes->keys));
	if (!scopes->keys) {
		scopes->keys = old;
		return -1;
	}
	scopes->cap_keys = old_cap ? old_cap * 2 : 64;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].subprogram)
			scopes->keys[slot_of(scopes, &old[i])] = old[i];
	free(old);
	return 0;
}

static void add_row(struct loci_scopes *scopes, struct loci_cc_scope row,
	struct loci_debug_text name, struct loci_debug_text linkage, LLVMMetadataRef file)
{
	size_t at = scopes->table.n;
	LLVMModuleRef module = scopes->module;

	loci_blob_add(&scopes->table, &row, sizeof(row));
	loci_blob_refer(&scopes->table, at + offsetof(struct loci_cc_scope, name),
		loci_text(module, name.text, name.n));
	loci_blob_refer(&scopes->table, at + offsetof(struct loci_cc_scope, linkage),
		loci_text(module, linkage.text, linkage.n));
	loci_blob_refer(
		&scopes->table, at + offsetof(struct loci_cc_scope, file), file_text(module, file));
	scopes->n++;
}

/* The number of a new scope; UINT32_MAX: there are too many, or no memory. */
static uint32_t add_scope(
	struct loci_scopes *scopes, const struct loci_scope_key *key, struct loci_cc_scope row)
{
	struct loci_debug_function function;
	LLVMMetadataRef own_file = LLVMDIScopeGetFile(key->subprogram);
	size_t slot;

	if (scopes->n >= SCOPES_MAX || make_room(scopes) < 0)
		return UINT32_MAX;
	loci_debug_function_of(key->subprogram, &function);
	row.line = key->file == own_file ? function.line : 0;
	slot = slot_of(scopes, key);
	scopes->keys[slot] = *key;
	scopes->keys[slot].index = (uint32_t)scopes->n;
	scopes->n_keys++;
	add_row(scopes, row, function.name, function.linkage, key->file);
	return (uint32_t)scopes->n - 1;
}

/* Of code of `scope`, inlined by the calls from inlined_at on. UINT32_MAX: not one of this
 * function. */
static uint32_t scope_of(struct loci_scopes *scopes, LLVMMetadataRef scope,
	LLVMMetadataRef inlined_at, unsigned depth)
{
	struct loci_scope_key key = { .inlined_at = inlined_at };
	struct loci_cc_scope row = { .parent = UINT16_MAX };
	size_t slot;

	key.subprogram = loci_debug_subprogram(scope);
	if (!key.subprogram || depth > INLINED_MAX)
		return UINT32_MAX;
	key.file = LLVMDIScopeGetFile(scope);
	slot = slot_of(scopes, &key);
	if (scopes->keys[slot].subprogram)
		return scopes->keys[slot].index;
	if (inlined_at) {
		uint32_t parent = scope_of(scopes, LLVMDILocationGetScope(inlined_at),
			LLVMDILocationGetInlinedAt(inlined_at), depth + 1);
		unsigned column = LLVMDILocationGetColumn(inlined_at);

		if (parent == UINT32_MAX)
			return UINT32_MAX;
		row.parent = (uint16_t)parent;
		row.call_line = LLVMDILocationGetLine(inlined_at);
		row.call_column = column <= UINT16_MAX ? (uint16_t)column : 0;
	} else if (key.subprogram != scopes->subprogram) {
		return UINT32_MAX;
	}
	return add_scope(scopes, &key, row);
}

int loci_scopes_init(struct loci_scopes *scopes, LLVMModuleRef module, LLVMValueRef function)
{
	struct loci_cc_scope row = { .parent = UINT16_MAX };
	struct loci_debug_text name = { 0 }, none = { 0 };
	struct loci_scope_key key = { 0 };

	memset(scopes, 0, sizeof(*scopes));
	scopes->module = module;
	scopes->subprogram = LLVMGetSubprogram(function);
	if (make_room(scopes) < 0)
		return -1;
	if (scopes->subprogram) {
		key.subprogram = scopes->subprogram;
		key.file = LLVMDIScopeGetFile(scopes->subprogram);
		add_scope(scopes, &key, row);
	} else {
		name.text = LLVMGetValueName2(function, &name.n);
		add_row(scopes, row, name, none, NULL);
	}
	return scopes->table.failed ? -1 : 0;
}

void loci_scopes_fini(struct loci_scopes *scopes)
{
	loci_blob_fini(&scopes->table);
	free(scopes->keys);
}

bool loci_scopes_place(struct loci_scopes *scopes, LLVMMetadataRef location, struct loci_place *ret)
{
	uint32_t scope;
	unsigned column;

	memset(ret, 0, sizeof(*ret));
	if (!location || !scopes->subprogram)
		return false;
	scope = scope_of(
		scopes, LLVMDILocationGetScope(location), LLVMDILocationGetInlinedAt(location), 0);
	if (scope == UINT32_MAX)
		return false;
	column = LLVMDILocationGetColumn(location);
	ret->scope = (uint16_t)scope;
	ret->line = LLVMDILocationGetLine(location);
	ret->column = column <= UINT16_MAX ? column : 0;
	return true;
}

void loci_place_of_function(struct loci_scopes *scopes, struct loci_place *ret)
{
	struct loci_debug_function function;

	memset(ret, 0, sizeof(*ret));
	if (!scopes->subprogram)
		return;
	loci_debug_function_of(scopes->subprogram, &function);
	ret->line = function.body_line ? function.body_line : function.line;
}

/* The nearest instruction before or after that has a line; descriptions of variables have that of
 * the variable's declaration. */
static bool neighbour(struct loci_scopes *scopes, LLVMValueRef instruction,
	LLVMValueRef (*next)(LLVMValueRef), struct loci_place *ret)
{
	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++) {
		instruction = next(instruction);
		if (!instruction)
			return false;
		if (!LLVMIsADbgInfoIntrinsic(instruction) &&
			loci_scopes_place(scopes, LLVMInstructionGetDebugLoc(instruction), ret) &&
			ret->line)
			return true;
	}
	return false;
}

/* Code of a function that has no lines, inlined: flang makes such of intrinsics (SUM). It stands
 * behind what leads to the call. */
static bool block_before(
	struct loci_scopes *scopes, LLVMBasicBlockRef block, struct loci_place *ret)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++) {
		LLVMValueRef last;

		block = LLVMGetPreviousBasicBlock(block);
		if (!block)
			return false;
		last = LLVMGetBasicBlockTerminator(block);
		if (loci_scopes_place(scopes, LLVMInstructionGetDebugLoc(last), ret) && ret->line)
			return true;
		if (neighbour(scopes, last, LLVMGetPreviousInstruction, ret))
			return true;
	}
	return false;
}

/* Compilers leave out the line of what they made themselves, and of what stands for several. */
void loci_place_of(struct loci_scopes *scopes, LLVMValueRef instruction, struct loci_place *ret)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
	bool placed = loci_scopes_place(scopes, LLVMInstructionGetDebugLoc(instruction), ret);
	struct loci_place near;

	if (!scopes->subprogram || (placed && ret->line))
		return;
	if (neighbour(scopes, instruction, LLVMGetPreviousInstruction, &near) &&
		(!placed || near.scope == ret->scope)) {
		*ret = near;
		ret->column = 0;
	} else if (!placed && block == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block))) {
		loci_place_of_function(scopes, ret);
	} else if (neighbour(scopes, instruction, LLVMGetNextInstruction, &near) &&
		(!placed || near.scope == ret->scope)) {
		*ret = near;
		ret->column = 0;
	} else if (!placed && block_before(scopes, block, &near)) {
		*ret = near;
		ret->column = 0;
	}
}

void loci_place_of_loop(struct loci_scopes *scopes, struct loci_debug_loops *loops,
	const struct loci_plan_loop *loop, struct loci_place *ret)
{
	LLVMValueRef first = LLVMGetFirstInstruction(loop->header);
	bool exact;
	LLVMMetadataRef location = loci_debug_loop(loops, loop->header, &exact);

	if (loci_scopes_place(scopes, location, ret) && ret->line) {
		ret->column = exact ? ret->column : 0;
		return;
	}
	if (loop->place &&
		loci_scopes_place(scopes, LLVMInstructionGetDebugLoc(loop->place), ret) &&
		ret->line)
		return;
	if (first)
		loci_place_of(scopes, first, ret);
}
