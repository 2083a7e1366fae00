/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci cc` makes of a function, by hand: a loop of two references, of addresses that say who
 * made them and how many came before. tag: bits 40 and up; then 2 i and 2 i + 1. */
#ifndef LOCI_TESTS_RUNTIME_BY_HAND_H
#define LOCI_TESTS_RUNTIME_BY_HAND_H

#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

/* The program's status says which line went wrong. */
#define MUST(condition)                            \
	do                                         \
		if (!(condition))                  \
			_exit(__LINE__ % 199 + 1); \
	while (0)

#define TAG_SHIFT 40
#define MAX_TAGS  4096

/* Shared with the test and with children: loops finished, by tag. */
struct totals {
	uint64_t done[MAX_TAGS];
	uint64_t value[16]; /* anything else the test wants to know */
};

#define BY_HAND_BLOCKS 2
struct by_hand {
	struct loci_cc_definition header;
	struct loci_cc_block block[BY_HAND_BLOCKS];
	struct loci_cc_site site[4];
	struct loci_cc_call call[1]; /* of malloc, as it says */
	char callee[8];
};

#define BY_HAND_DEFINITION                                                                    \
	{                                                                                     \
		.header = { .magic = LOCI_CC_DEFINITION_MAGIC,                                \
			.version = LOCI_CC_VERSION,                                           \
			.bytes = sizeof(struct by_hand),                                      \
			.n_blocks = BY_HAND_BLOCKS,                                           \
			.n_sites = 4,                                                         \
			.n_calls = 1 },                                                       \
		.block = { { .n_sites = 2, .flags = LOCI_BLOCK_ENTRY, .loop = LOCI_CC_NONE }, \
			{ .first_site = 2, .n_sites = 2, .flags = LOCI_BLOCK_LOOP } },        \
		.site = { { .size_bytes = 8, .op = LOCI_OP_FRAME },                           \
			{ .size_bytes = 8, .op = LOCI_OP_CALLER },                            \
			{ .size_bytes = 8, .op = LOCI_OP_LOAD },                              \
			{ .size_bytes = 4, .op = LOCI_OP_STORE } },                           \
		.callee = "malloc"                                                            \
	}

/* The two sections' contents; distances are filled in at the first call, since C cannot. */
#define BY_HAND(name)                                                                           \
	static struct by_hand definition_##name __attribute__((section("loci_def"))) =          \
		BY_HAND_DEFINITION;                                                             \
	static struct loci_cc_function function_##name __attribute__((section("loci_fn")));     \
	static uint64_t calls_##name;                                                           \
	static __attribute__((noinline)) void name(struct totals *to, uint64_t tag, uint64_t n) \
	{                                                                                       \
		by_hand_link(                                                                   \
			&function_##name, &definition_##name, &calls_##name, (char *)&(name));  \
		calls_##name++;                                                                 \
		by_hand_run(&function_##name, to, tag, n, __builtin_frame_address(0));          \
	}

static inline void by_hand_link(struct loci_cc_function *function, struct by_hand *definition,
	const uint64_t *calls, const char *code)
{
	struct loci_cc_call *call = definition->call;

	if (function->definition)
		return;
	call->callee = (int32_t)(definition->callee - (char *)&call->callee);
	call->count = (int32_t)((const char *)calls - (char *)&call->count);
	function->code = (int32_t)(code - (char *)&function->code);
	function->definition = (int32_t)((char *)definition - (char *)&function->definition);
}

static inline __attribute__((always_inline)) void by_hand_run(
	struct loci_cc_function *function, struct totals *to, uint64_t tag, uint64_t n, void *frame)
{
	struct loci_cc_state *state = __loci_thread.state;
	uint64_t *cursor = state->cursor, i = 0, base;
	uint64_t first = to->done[tag], address = tag << TAG_SHIFT | 2 * first;
	int64_t budget = __loci_thread.budget;

	if (budget >= 0)
		goto counting;
tracing:
	if (!__atomic_load_n(&function->base, __ATOMIC_ACQUIRE))
		__loci_define(function);
	if (cursor > state->limit) {
		__loci_room();
		state = __loci_thread.state;
		cursor = state->cursor;
		budget = __loci_thread.budget;
		if (budget >= 0)
			goto counting;
		if (!__atomic_load_n(&function->base, __ATOMIC_ACQUIRE))
			__loci_define(function);
	}
	base = function->base;
	if (i == 0) {
		*cursor++ = base;
		*cursor++ = (uint64_t)frame;
		*cursor++ = (uint64_t)frame + 1;
		__atomic_store_n(&state->cursor, cursor, __ATOMIC_RELEASE);
	}
	for (; i < n; i++) {
		*cursor++ = base + 1;
		*cursor++ = address++;
		*cursor++ = address++;
		budget -= 2;
		/* as far as the process itself can see, before it is known to all */
		__atomic_store_n(&state->cursor, cursor, __ATOMIC_RELEASE);
		__atomic_store_n(&to->done[tag], first + i + 1, __ATOMIC_RELEASE);
		__atomic_store_n(&__loci_thread.budget, budget, __ATOMIC_RELEASE);
		if (cursor > state->limit) {
			i++;
			goto tracing;
		}
	}
	return;
counting:
	for (; i < n; i++) {
		address += 2;
		budget -= 2;
		__atomic_store_n(&to->done[tag], first + i + 1, __ATOMIC_RELEASE);
		__atomic_store_n(&__loci_thread.budget, budget, __ATOMIC_RELEASE);
		if (budget < 0) {
			i++;
			goto tracing;
		}
	}
}

#endif
