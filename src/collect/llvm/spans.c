/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A range counts as one reference. How long it is the tracing copy asks the runtime before the call
 * is made, for then the arguments are what the function will find. strncat writes one byte more
 * than it reads if it is cut short: that byte is left out. */
#include "collect/llvm/spans.h"

#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

/* Where a range's length comes from: an argument's value, or a function of the runtime's. */
enum measure {
	NO_MORE,
	BY_ARGUMENT,
	BY_FUNCTION,
};

struct span {
	uint8_t measure;
	uint8_t op;
	uint8_t address; /* argument */
	uint8_t length;  /* argument, for BY_ARGUMENT */
	const char *function;
	int8_t argument[3]; /* for BY_FUNCTION; -1: none */
	bool is_at_end;     /* of the string that is at the address */
};

#define SPANS_MAX 3
struct known {
	const char *name;
	uint8_t n_arguments;
	struct span span[SPANS_MAX];
};

/* clang-format off */
#define BY(kind, to, n) { .measure = BY_ARGUMENT, .op = (kind), .address = (to), .length = (n) }
#define READ(address, length) BY(LOCI_OP_LOAD, address, length)
#define WRITE(address, length) BY(LOCI_OP_STORE, address, length)
#define ASKED(kind, to, end, name, ...) \
	{ .measure = BY_FUNCTION, .op = (kind), .address = (to), .is_at_end = (end), \
		.function = "__loci_span_" #name, .argument = { __VA_ARGS__ } }
#define READ_BY(name, address, ...) ASKED(LOCI_OP_LOAD, address, false, name, __VA_ARGS__)
#define WRITE_BY(name, address, ...) ASKED(LOCI_OP_STORE, address, false, name, __VA_ARGS__)
#define APPEND_BY(name, address, ...) ASKED(LOCI_OP_STORE, address, true, name, __VA_ARGS__)

/* Sorted. */
static const struct known table[] = {
	{ "__memcpy_chk", 4, { READ(1, 2), WRITE(0, 2) } },
	{ "__memmove_chk", 4, { READ(1, 2), WRITE(0, 2) } },
	{ "__memset_chk", 4, { WRITE(0, 2) } },
	{ "__stpcpy_chk", 3, { READ_BY(string, 1, 1, -1, -1), WRITE_BY(string, 0, 1, -1, -1) } },
	{ "__strcat_chk", 3, { READ_BY(string, 0, 0, -1, -1), READ_BY(string, 1, 1, -1, -1),
		APPEND_BY(string, 0, 1, -1, -1) } },
	{ "__strcpy_chk", 3, { READ_BY(string, 1, 1, -1, -1), WRITE_BY(string, 0, 1, -1, -1) } },
	{ "__strncat_chk", 4, { READ_BY(string, 0, 0, -1, -1), READ_BY(string_n, 1, 1, 2, -1),
		APPEND_BY(string_n, 0, 1, 2, -1) } },
	{ "__strncpy_chk", 4, { READ_BY(string_n, 1, 1, 2, -1), WRITE(0, 2) } },
	{ "bcmp", 3, { READ_BY(memory, 0, 0, 1, 2), READ_BY(memory, 1, 0, 1, 2) } },
	{ "bcopy", 3, { READ(0, 2), WRITE(1, 2) } },
	{ "bzero", 2, { WRITE(0, 1) } },
	{ "memchr", 3, { READ_BY(byte, 0, 0, 1, 2) } },
	{ "memcmp", 3, { READ_BY(memory, 0, 0, 1, 2), READ_BY(memory, 1, 0, 1, 2) } },
	{ "memcpy", 3, { READ(1, 2), WRITE(0, 2) } },
	{ "memmove", 3, { READ(1, 2), WRITE(0, 2) } },
	{ "mempcpy", 3, { READ(1, 2), WRITE(0, 2) } },
	{ "memset", 3, { WRITE(0, 2) } },
	{ "stpcpy", 2, { READ_BY(string, 1, 1, -1, -1), WRITE_BY(string, 0, 1, -1, -1) } },
	{ "stpncpy", 3, { READ_BY(string_n, 1, 1, 2, -1), WRITE(0, 2) } },
	{ "strcasecmp", 2, { READ_BY(compare_case, 0, 0, 1, -1), READ_BY(compare_case, 1, 0, 1, -1) } },
	{ "strcat", 2, { READ_BY(string, 0, 0, -1, -1), READ_BY(string, 1, 1, -1, -1),
		APPEND_BY(string, 0, 1, -1, -1) } },
	{ "strchr", 2, { READ_BY(character, 0, 0, 1, -1) } },
	{ "strcmp", 2, { READ_BY(compare, 0, 0, 1, -1), READ_BY(compare, 1, 0, 1, -1) } },
	{ "strcpy", 2, { READ_BY(string, 1, 1, -1, -1), WRITE_BY(string, 0, 1, -1, -1) } },
	{ "strcspn", 2, { READ_BY(any, 0, 0, 1, -1), READ_BY(string, 1, 1, -1, -1) } },
	{ "strlen", 1, { READ_BY(string, 0, 0, -1, -1) } },
	{ "strncasecmp", 3, { READ_BY(compare_case_n, 0, 0, 1, 2), READ_BY(compare_case_n, 1, 0, 1, 2) } },
	{ "strncat", 3, { READ_BY(string, 0, 0, -1, -1), READ_BY(string_n, 1, 1, 2, -1),
		APPEND_BY(string_n, 0, 1, 2, -1) } },
	{ "strncmp", 3, { READ_BY(compare_n, 0, 0, 1, 2), READ_BY(compare_n, 1, 0, 1, 2) } },
	{ "strncpy", 3, { READ_BY(string_n, 1, 1, 2, -1), WRITE(0, 2) } },
	{ "strnlen", 2, { READ_BY(string_n, 0, 0, 1, -1) } },
	{ "strpbrk", 2, { READ_BY(any, 0, 0, 1, -1), READ_BY(string, 1, 1, -1, -1) } },
	{ "strrchr", 2, { READ_BY(string, 0, 0, -1, -1) } },
	{ "strspn", 2, { READ_BY(all, 0, 0, 1, -1), READ_BY(string, 1, 1, -1, -1) } },
};
/* clang-format on */

static int compare(const void *name, const void *entry)
{
	return strcmp(name, ((const struct known *)entry)->name);
}

static const struct known *find(const char *name)
{
	return bsearch(name, table, sizeof(table) / sizeof(table[0]), sizeof(table[0]), compare);
}

bool loci_spans_know(const char *name)
{
	return find(name) != NULL;
}

static bool is_word(LLVMValueRef value)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64;
}

static void add(struct loci_references *references, LLVMValueRef call, const struct span *span)
{
	struct loci_plan_ref ref = { .instruction = call,
		.address = LLVMGetOperand(call, span->address),
		.op = span->op,
		.is_at_end = span->is_at_end,
		.flags = LOCI_REF_BULK };
	if (span->measure == BY_ARGUMENT) {
		ref.length = LLVMGetOperand(call, span->length);
		ref.length_kind = LOCI_LENGTH_VALUE;
		if (!is_word(ref.length))
			return;
	} else {
		ref.length_kind = LOCI_LENGTH_SPAN;
		ref.span = span->function;
		for (int i = 0; i < 3 && span->argument[i] >= 0; i++)
			ref.span_argument[ref.n_span_arguments++] =
				LLVMGetOperand(call, (unsigned)span->argument[i]);
	}
	loci_references_add_one(references, ref);
}

void loci_spans_add(struct loci_references *references, LLVMValueRef call, const char *name)
{
	const struct known *known = find(name);
	if (!known || LLVMGetNumArgOperands(call) != known->n_arguments)
		return;
	for (int i = 0; i < SPANS_MAX && known->span[i].measure != NO_MORE; i++)
		add(references, call, &known->span[i]);
}
