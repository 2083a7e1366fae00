// SPDX-License-Identifier: BSD-2-Clause
/* Atomic operations: what gcc's -fsanitize=thread calls instead of making them. They are made here,
 * in the order asked for or a stronger one; on x86-64 only stores and fences differ. One that
 * changes memory is a load and a store. */
#include "collect/runtime/atomics.h"
#include "collect/runtime/tsan.h"
#include "collect/runtime/wrap.h"

#include <errno.h>

typedef uint8_t a8;
typedef uint16_t a16;
typedef uint32_t a32;
typedef uint64_t a64;
typedef unsigned __int128 a128;

/* Bits 0..15 of an order; above them the compiler may put hints. */
#define ORDER_MASK 0xffff

/* Makes room, and the place known; 0: no words are wanted. */
static __attribute__((noinline)) uint64_t make_ready(uintptr_t back, const struct rt_shape *shape)
{
	struct loci_cc_thread *thread = &__loci_thread;
	int error = errno;
	uint64_t marker = rt_place_find(back);

	if (thread->state->cursor > thread->state->limit)
		rt_room();
	if (thread->budget < 0 && !marker)
		marker = rt_place_define(back, shape);
	errno = error;
	if (thread->budget >= 0 || thread->state->cursor > thread->state->limit)
		return 0;
	return marker;
}

/* Whether the operation is to end with rt_atomic_end. */
static __attribute__((noinline)) bool begin_tracing(
	uintptr_t back, uint64_t address, const struct rt_shape *shape, enum loci_cc_atomic kind)
{
	const struct loci_cc_state *state = __loci_thread.state;
	uint64_t marker = rt_place_find(back);

	if (__builtin_expect(loci_word_is_marker(address), 0)) {
		rt_plain_refer(back, shape, (uint64_t[]){ address, address }, shape->n_refs);
		return false;
	}
	if (__builtin_expect(state->cursor > state->limit || !marker, 0))
		marker = make_ready(back, shape);
	__loci_thread.budget -= shape->n_counted;
	if (!marker)
		return false;
	*__loci_thread.state->cursor = marker;
	rt_atomic_begin(__loci_thread.state->cursor + 1, address, kind);
	return true;
}

static bool begin(uintptr_t back, const volatile void *address, const struct rt_shape *shape,
	enum loci_cc_atomic kind)
{
	if (__builtin_expect(__loci_thread.budget < 0, 0))
		return begin_tracing(back, (uintptr_t)address, shape, kind);
	__loci_thread.budget -= shape->n_counted;
	return false;
}

static void end(bool is_traced)
{
	if (__builtin_expect(is_traced, 0))
		rt_atomic_end();
}

#define MODIFIES (LOCI_REF_ATOMIC | LOCI_REF_MODIFY)
#define SHAPE_MODIFY(bytes)                                      \
	{                                                        \
		.n_refs = 2, .n_counted = 2,                     \
		.ref = { RT_REF(bytes, LOCI_OP_LOAD, MODIFIES),  \
			RT_REF(bytes, LOCI_OP_STORE, MODIFIES) } \
	}

#define FETCH(bits, name, expression)                                                    \
	RT_PUBLIC a##bits __tsan_atomic##bits##_##name(                                  \
		volatile a##bits *address, a##bits value, int order);                    \
	RT_PUBLIC a##bits __tsan_atomic##bits##_##name(                                  \
		volatile a##bits *address, a##bits value, int order)                     \
	{                                                                                \
		static const struct rt_shape shape = SHAPE_MODIFY((bits) / 8);           \
		bool is_traced = begin(RT_BACK, address, &shape, LOCI_CC_ATOMIC_MODIFY); \
		a##bits result = expression;                                             \
                                                                                         \
		(void)order;                                                             \
		end(is_traced);                                                          \
		return result;                                                           \
	}

#define COMPARE(bits, name)                                                                    \
	RT_PUBLIC int __tsan_atomic##bits##_compare_exchange_##name(volatile a##bits *address, \
		a##bits *expected, a##bits value, int order, int order_failed);                \
	RT_PUBLIC int __tsan_atomic##bits##_compare_exchange_##name(volatile a##bits *address, \
		a##bits *expected, a##bits value, int order, int order_failed)                 \
	{                                                                                      \
		static const struct rt_shape shape = SHAPE_MODIFY((bits) / 8);                 \
		bool is_traced = begin(RT_BACK, address, &shape, LOCI_CC_ATOMIC_MODIFY);       \
		bool is_done = EXCHANGED_##bits(address, expected, value);                     \
                                                                                               \
		(void)order;                                                                   \
		(void)order_failed;                                                            \
		end(is_traced);                                                                \
		return is_done;                                                                \
	}

#define EVERY(bits)                                                                               \
	RT_PUBLIC a##bits __tsan_atomic##bits##_load(const volatile a##bits *address, int order); \
	RT_PUBLIC a##bits __tsan_atomic##bits##_load(const volatile a##bits *address, int order)  \
	{                                                                                         \
		static const struct rt_shape shape =                                              \
			RT_SHAPE_ONE((bits) / 8, LOCI_OP_LOAD, LOCI_REF_ATOMIC);                  \
		bool is_traced = begin(RT_BACK, address, &shape, LOCI_CC_ATOMIC_LOAD);            \
		a##bits result = LOADED_##bits(address);                                          \
                                                                                                  \
		(void)order;                                                                      \
		end(is_traced);                                                                   \
		return result;                                                                    \
	}                                                                                         \
	RT_PUBLIC void __tsan_atomic##bits##_store(                                               \
		volatile a##bits *address, a##bits value, int order);                             \
	RT_PUBLIC void __tsan_atomic##bits##_store(                                               \
		volatile a##bits *address, a##bits value, int order)                              \
	{                                                                                         \
		static const struct rt_shape shape =                                              \
			RT_SHAPE_ONE((bits) / 8, LOCI_OP_STORE, LOCI_REF_ATOMIC);                 \
                                                                                                  \
		bool is_traced = begin(RT_BACK, address, &shape, LOCI_CC_ATOMIC_STORE);           \
                                                                                                  \
		STORE_##bits(address, value, order);                                              \
		end(is_traced);                                                                   \
	}                                                                                         \
	FETCH(bits, exchange, CHANGED_##bits(address, value))                                     \
	FETCH(bits, fetch_add, FETCHED_##bits(add, address, was + value))                         \
	FETCH(bits, fetch_sub, FETCHED_##bits(sub, address, was - value))                         \
	FETCH(bits, fetch_and, FETCHED_##bits(and, address, was &value))                          \
	FETCH(bits, fetch_or, FETCHED_##bits(or, address, was | value))                           \
	FETCH(bits, fetch_xor, FETCHED_##bits(xor, address, was ^ value))                         \
	FETCH(bits, fetch_nand, FETCHED_##bits(nand, address, ~(was & value)))                    \
	COMPARE(bits, strong)                                                                     \
	COMPARE(bits, weak)                                                                       \
	RT_PUBLIC a##bits __tsan_atomic##bits##_compare_exchange_val(volatile a##bits *address,   \
		a##bits expected, a##bits value, int order, int order_failed);                    \
	RT_PUBLIC a##bits __tsan_atomic##bits##_compare_exchange_val(volatile a##bits *address,   \
		a##bits expected, a##bits value, int order, int order_failed)                     \
	{                                                                                         \
		static const struct rt_shape shape = SHAPE_MODIFY((bits) / 8);                    \
		bool is_traced = begin(RT_BACK, address, &shape, LOCI_CC_ATOMIC_MODIFY);          \
                                                                                                  \
		(void)order;                                                                      \
		(void)order_failed;                                                               \
		EXCHANGED_##bits(address, &expected, value);                                      \
		end(is_traced);                                                                   \
		return expected;                                                                  \
	}

#define LOADED(address)         __atomic_load_n(address, __ATOMIC_SEQ_CST)
#define CHANGED(address, value) __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST)
#define FETCHED(name, address)  __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST)
#define EXCHANGED(address, expected, value) \
	__atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define STORE(address, value, order)                                        \
	do {                                                                \
		if (((order)&ORDER_MASK) == __ATOMIC_SEQ_CST)               \
			__atomic_store_n(address, value, __ATOMIC_SEQ_CST); \
		else                                                        \
			__atomic_store_n(address, value, __ATOMIC_RELEASE); \
	} while (0)

#define LOADED_8                            LOADED
#define LOADED_16                           LOADED
#define LOADED_32                           LOADED
#define LOADED_64                           LOADED
#define CHANGED_8                           CHANGED
#define CHANGED_16                          CHANGED
#define CHANGED_32                          CHANGED
#define CHANGED_64                          CHANGED
#define FETCHED_8(name, address, computed)  FETCHED(name, address)
#define FETCHED_16(name, address, computed) FETCHED(name, address)
#define FETCHED_32(name, address, computed) FETCHED(name, address)
#define FETCHED_64(name, address, computed) FETCHED(name, address)
#define EXCHANGED_8                         EXCHANGED
#define EXCHANGED_16                        EXCHANGED
#define EXCHANGED_32                        EXCHANGED
#define EXCHANGED_64                        EXCHANGED
#define STORE_8                             STORE
#define STORE_16                            STORE
#define STORE_32                            STORE
#define STORE_64                            STORE

/* Sixteen bytes at once can only be compared and exchanged, which is how libatomic does it too, for
 * the same memory in code that is not told. Read-only memory cannot be loaded so: a value that is
 * exchanged for itself is written. */
static inline bool exchange_128(volatile a128 *address, a128 *expected, a128 value)
{
	uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
	bool done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*address), "+a"(low), "+d"(high)
			 : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
			 : "memory");
	*expected = (a128)high << 64 | low;
	return done;
}

static inline a128 load_128(const volatile a128 *address)
{
	a128 was = 0;

	exchange_128((volatile a128 *)address, &was, 0);
	return was;
}

#define LOADED_128    load_128
#define EXCHANGED_128 exchange_128
#define FETCHED_128(name, address, computed)                   \
	({                                                     \
		a128 was = load_128(address);                  \
                                                               \
		while (!exchange_128(address, &was, computed)) \
			;                                      \
		was;                                           \
	})
#define CHANGED_128(address, value)      FETCHED_128(, address, value)
#define STORE_128(address, value, order) ((void)(order), (void)CHANGED_128(address, value))

EVERY(8)
EVERY(16)
EVERY(32)
EVERY(64)
EVERY(128)

/* The compiler's own fence has gone into the call. */
RT_PUBLIC void __tsan_atomic_thread_fence(int order);
RT_PUBLIC void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

RT_PUBLIC void __tsan_atomic_signal_fence(int order);
RT_PUBLIC void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
