// SPDX-License-Identifier: GPL-2.0-or-later
/* Global variables that hold tables with distances to other things of the module in them. A
 * distance is known when the program is linked, so that nothing is left to do when it is loaded.
 * The tables are made as bytes, by the structs of cc_abi.h themselves, and turned into words. */
#include "collect/llvm/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void loci_blob_fini(struct loci_blob *blob)
{
	free(blob->bytes);
	free(blob->fields);
	memset(blob, 0, sizeof(*blob));
}

static void *grown(void *items, size_t *cap, size_t need, size_t item_bytes)
{
	size_t more = *cap ? *cap : 64;
	void *result;

	while (more < need)
		more *= 2;
	result = realloc(items, more * item_bytes);
	if (result)
		*cap = more;
	return result;
}

void loci_blob_add(struct loci_blob *blob, const void *bytes, size_t n)
{
	if (blob->n + n > blob->cap) {
		uint8_t *room = grown(blob->bytes, &blob->cap, blob->n + n, 1);

		if (!room) {
			blob->failed = true;
			return;
		}
		blob->bytes = room;
	}
	if (n)
		memcpy(blob->bytes + blob->n, bytes, n);
	blob->n += n;
}

void loci_blob_refer(struct loci_blob *blob, size_t at, LLVMValueRef target)
{
	if (!target || blob->failed)
		return;
	if (blob->n_fields == blob->cap_fields) {
		struct loci_blob_field *fields = grown(
			blob->fields, &blob->cap_fields, blob->n_fields + 1, sizeof(*blob->fields));

		if (!fields) {
			blob->failed = true;
			return;
		}
		blob->fields = fields;
	}
	blob->fields[blob->n_fields].at = at;
	blob->fields[blob->n_fields++].target = target;
}

void loci_blob_join(struct loci_blob *blob, const struct loci_blob *other)
{
	size_t at = blob->n;

	blob->failed |= other->failed;
	loci_blob_add(blob, other->bytes, other->n);
	for (size_t i = 0; i < other->n_fields; i++)
		loci_blob_refer(blob, at + other->fields[i].at, other->fields[i].target);
}

LLVMValueRef loci_distance(
	LLVMTypeRef type, LLVMValueRef global, uint64_t index, bool array, LLVMValueRef target)
{
	LLVMContextRef context = LLVMGetTypeContext(type);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
	LLVMValueRef path[2] = { LLVMConstInt(i64, 0, 0),
		LLVMConstInt(array ? i64 : i32, index, 0) };
	LLVMValueRef field = LLVMConstInBoundsGEP2(type, global, path, 2);

	return LLVMConstTrunc(
		LLVMConstSub(LLVMConstPtrToInt(target, i64), LLVMConstPtrToInt(field, i64)), i32);
}

LLVMValueRef loci_blob_global(
	const struct loci_blob *blob, LLVMModuleRef module, const char *name, const char *section)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
	size_t n = blob->n / 4, next = 0;
	LLVMTypeRef type = LLVMArrayType(i32, (unsigned)n);
	LLVMValueRef *words, global;

	if (blob->failed || n > UINT32_MAX || !(words = calloc(n ? n : 1, sizeof(*words))))
		return NULL;
	global = LLVMAddGlobal(module, type, name);
	for (size_t i = 0; i < n; i++) {
		uint32_t word;

		memcpy(&word, blob->bytes + 4 * i, 4);
		if (next < blob->n_fields && blob->fields[next].at == 4 * i)
			words[i] =
				loci_distance(type, global, i, true, blob->fields[next++].target);
		else
			words[i] = LLVMConstInt(i32, word, 0);
	}
	LLVMSetInitializer(global, LLVMConstArray(i32, words, (unsigned)n));
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetSection(global, section);
	LLVMSetAlignment(global, 8);
	free(words);
	return global;
}

static bool same_text(LLVMValueRef global, const char *text, size_t n)
{
	LLVMValueRef value = LLVMGetInitializer(global);
	const char *have;
	size_t have_n = 0;

	if (!value || !LLVMIsConstantString(value))
		return false;
	have = LLVMGetAsString(value, &have_n);
	return have_n == n + 1 && !memcmp(have, text, n) && !have[n];
}

/* The name of the variable is made of the text, so that the module itself knows which are there. */
LLVMValueRef loci_text(LLVMModuleRef module, const char *text, size_t n)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	uint64_t hash = 14695981039346656037u;
	LLVMValueRef global, value;
	char name[64];

	n = text ? strnlen(text, n) : 0;
	if (!n || n > UINT32_MAX / 2)
		return NULL;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
	for (;; hash++) {
		snprintf(name, sizeof(name), "loci.text.%016llx", (unsigned long long)hash);
		global = LLVMGetNamedGlobal(module, name);
		if (!global)
			break;
		if (same_text(global, text, n))
			return global;
	}
	value = LLVMConstStringInContext(context, text, (unsigned)n, 0);
	global = LLVMAddGlobal(module, LLVMTypeOf(value), name);
	LLVMSetInitializer(global, value);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(global, 1);
	LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
	LLVMSetAlignment(global, 1);
	return global;
}
