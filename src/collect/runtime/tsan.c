// SPDX-License-Identifier: BSD-2-Clause
/* What gcc's -fsanitize=thread calls before every access that it cannot prove to be a thread's own
 * business, and when a function is entered and left. ThreadSanitizer's runtime answers these calls
 * to look for races (Serebryany and Iskhodzhanov 2009); here they append the same words as the
 * tracing copies of `loci cc`. While none are wanted they count.
 *
 * What the compiler does not tell is not seen: locals whose address nobody has, accesses that it
 * has merged or moved into registers; and it vectorises nothing that it tells. */
#include "collect/runtime/tsan.h"
#include "collect/runtime/wrap.h"

__thread struct rt_range rt_read_last __attribute__((tls_model("initial-exec")));
__thread struct rt_range rt_written_last __attribute__((tls_model("initial-exec")));

/* A frame pointer further above the stack pointer is none. */
#define FRAME_MAX_BYTES (64ul << 20)

#ifdef LOCI_RT_STATIC
/* By which the recorder knows a static program that has the runtime. */
__attribute__((section(LOCI_CC_RUNTIME), used, retain)) static const char mark[8] = "runtime";
#endif

RT_PUBLIC void __tsan_init(void);
RT_PUBLIC void __tsan_init(void)
{
}

static __attribute__((noinline)) void refer_slowly(
	uintptr_t back, uint64_t address, const struct rt_shape *shape)
{
	rt_plain_refer(back, shape, &address, 1);
}

/* One word beside the marker. */
static __attribute__((noinline)) void refer(
	uintptr_t back, uint64_t address, const struct rt_shape *shape)
{
	struct loci_cc_state *state = __loci_thread.state;
	uint64_t *at = state->cursor, marker = rt_place_find(back);

	if (__builtin_expect(at > state->limit || !marker || loci_word_is_marker(address), 0)) {
		refer_slowly(back, address, shape);
		return;
	}
	at[0] = marker;
	at[1] = address;
	__loci_thread.budget--;
	state->cursor = at + 2;
}

void rt_tsan_refer_twice(
	uintptr_t back, uint64_t first, uint64_t second, const struct rt_shape *shape)
{
	struct loci_cc_state *state = __loci_thread.state;
	uint64_t *at = state->cursor, marker = rt_place_find(back);

	if (__builtin_expect(
		    at > state->limit || !marker || loci_word_is_marker(first | second), 0)) {
		rt_plain_refer(back, shape, (uint64_t[]){ first, second }, 2);
		return;
	}
	at[0] = marker;
	at[1] = first;
	at[2] = second;
	__loci_thread.budget -= shape->n_counted;
	state->cursor = at + 3;
}

#define ONE(name, bytes, op, flags)                                                  \
	RT_PUBLIC void name(const void *address);                                    \
	RT_PUBLIC void name(const void *address)                                     \
	{                                                                            \
		static const struct rt_shape shape = RT_SHAPE_ONE(bytes, op, flags); \
                                                                                     \
		if (__builtin_expect(__loci_thread.budget >= 0, 1))                  \
			__loci_thread.budget--;                                      \
		else                                                                 \
			refer(RT_BACK, (uintptr_t)address, &shape);                  \
	}

#define ALL_SIZES(name, op)    \
	ONE(name##1, 1, op, 0) \
	ONE(name##2, 2, op, 0) \
	ONE(name##4, 4, op, 0) \
	ONE(name##8, 8, op, 0) \
	ONE(name##16, 16, op, 0)

ALL_SIZES(__tsan_read, LOCI_OP_LOAD)
ALL_SIZES(__tsan_write, LOCI_OP_STORE)
ALL_SIZES(__tsan_unaligned_read, LOCI_OP_LOAD)
ALL_SIZES(__tsan_unaligned_write, LOCI_OP_STORE)
ALL_SIZES(__tsan_volatile_read, LOCI_OP_LOAD)
ALL_SIZES(__tsan_volatile_write, LOCI_OP_STORE)
ALL_SIZES(__tsan_unaligned_volatile_read, LOCI_OP_LOAD)
ALL_SIZES(__tsan_unaligned_volatile_write, LOCI_OP_STORE)

/* A pointer to a table of virtual functions. */
ONE(__tsan_vptr_read, 8, LOCI_OP_LOAD, 0)

RT_PUBLIC void __tsan_vptr_update(void **address, void *value);
RT_PUBLIC void __tsan_vptr_update(void **address, void *value)
{
	static const struct rt_shape shape = RT_SHAPE_ONE(8, LOCI_OP_STORE, 0);

	(void)value;
	if (__builtin_expect(__loci_thread.budget >= 0, 1))
		__loci_thread.budget--;
	else
		refer(RT_BACK, (uintptr_t)address, &shape);
}

static void remember(const void *address, size_t bytes, bool is_write)
{
	struct rt_range range = { (uintptr_t)address, bytes, 0 };

	if (!rt_self)
		return;
	range.count = rt_thread_count(rt_self);
	*(is_write ? &rt_written_last : &rt_read_last) = range;
}

#define RANGE(name, op)                                                                  \
	RT_PUBLIC void name(const void *address, unsigned long bytes);                   \
	RT_PUBLIC void name(const void *address, unsigned long bytes)                    \
	{                                                                                \
		static const struct rt_shape shape = RT_SHAPE_ONE(0, op, 0);             \
                                                                                         \
		if (__builtin_expect(__loci_thread.budget >= 0, 1))                      \
			__loci_thread.budget--;                                          \
		else                                                                     \
			rt_tsan_refer_twice(RT_BACK, (uintptr_t)address, bytes, &shape); \
		remember(address, bytes, (op) == LOCI_OP_STORE);                         \
	}

RANGE(__tsan_read_range, LOCI_OP_LOAD)
RANGE(__tsan_write_range, LOCI_OP_STORE)

/* Where the return address of the function stands that was entered and returns to `back`: above the
 * frame pointer, if it keeps one. Otherwise a place below it that serves as well to tell frames
 * apart. */
static uintptr_t frame_of(const void *own, uintptr_t back)
{
	uintptr_t here = (uintptr_t)own, pointer = *(const uintptr_t *)own;

	if (pointer - here < FRAME_MAX_BYTES && !(pointer & 7) &&
		*(const uintptr_t *)(pointer + 8) == back)
		return pointer + 8;
	return here + 16;
}

RT_PUBLIC void __tsan_func_entry(void *back);
RT_PUBLIC void __tsan_func_entry(void *back)
{
	static const struct rt_shape shape = { .flags = LOCI_BLOCK_ENTRY,
		.n_refs = 2,
		.ref = { (uint64_t)LOCI_OP_FRAME << 32 | 8, (uint64_t)LOCI_OP_CALLER << 32 | 8 } };

	if (__builtin_expect(rt.learns, 0) && !rt_place_find(RT_BACK))
		rt_place_define(RT_BACK, &shape);
	if (__loci_thread.budget < 0)
		rt_tsan_refer_twice(RT_BACK, frame_of(__builtin_frame_address(0), (uintptr_t)back),
			(uintptr_t)back, &shape);
}

/* Returns are found out by what comes after them. */
RT_PUBLIC void __tsan_func_exit(void);
RT_PUBLIC void __tsan_func_exit(void)
{
}
