// SPDX-License-Identifier: BSD-2-Clause
/* Atomic operations: what gcc's -fsanitize=thread calls instead of making them. They are made here,
 * in the order asked for or a stronger one; on x86-64 only stores and fences differ. One that
 * changes memory is a load and a store. */
#include "collect/runtime/tsan.h"
#include "collect/runtime/wrap.h"

typedef uint8_t a8;
typedef uint16_t a16;
typedef uint32_t a32;
typedef uint64_t a64;
typedef unsigned __int128 a128;

/* Bits 0..15 of an order; above them the compiler may put hints. */
#define ORDER_MASK 0xffff

static void load_or_store(
	uintptr_t back, const volatile void *address, const struct rt_shape *shape)
{
	uint64_t word = (uintptr_t)address;

	if (__builtin_expect(__loci_thread.budget >= 0, 1))
		__loci_thread.budget--;
	else
		rt_plain_refer(back, shape, &word, 1);
}

static void modify(uintptr_t back, const volatile void *address, const struct rt_shape *shape)
{
	if (__builtin_expect(__loci_thread.budget >= 0, 1))
		__loci_thread.budget -= 2;
	else
		rt_tsan_refer_twice(back, (uintptr_t)address, (uintptr_t)address, shape);
}

#define MODIFIES (LOCI_REF_ATOMIC | LOCI_REF_MODIFY)
#define SHAPE_MODIFY(bytes)                                      \
	{                                                        \
		.n_refs = 2, .n_counted = 2,                     \
		.ref = { RT_REF(bytes, LOCI_OP_LOAD, MODIFIES),  \
			RT_REF(bytes, LOCI_OP_STORE, MODIFIES) } \
	}

#define FETCH(bits, name, expression)                                          \
	RT_PUBLIC a##bits __tsan_atomic##bits##_##name(                        \
		volatile a##bits *address, a##bits value, int order);          \
	RT_PUBLIC a##bits __tsan_atomic##bits##_##name(                        \
		volatile a##bits *address, a##bits value, int order)           \
	{                                                                      \
		static const struct rt_shape shape = SHAPE_MODIFY((bits) / 8); \
                                                                               \
		(void)order;                                                   \
		modify(RT_BACK, address, &shape);                              \
		return expression;                                             \
	}

#define COMPARE(bits, name)                                                                    \
	RT_PUBLIC int __tsan_atomic##bits##_compare_exchange_##name(volatile a##bits *address, \
		a##bits *expected, a##bits value, int order, int order_failed);                \
	RT_PUBLIC int __tsan_atomic##bits##_compare_exchange_##name(volatile a##bits *address, \
		a##bits *expected, a##bits value, int order, int order_failed)                 \
	{                                                                                      \
		static const struct rt_shape shape = SHAPE_MODIFY((bits) / 8);                 \
                                                                                               \
		(void)order;                                                                   \
		(void)order_failed;                                                            \
		modify(RT_BACK, address, &shape);                                              \
		return EXCHANGED_##bits(address, expected, value);                             \
	}

#define EVERY(bits)                                                                               \
	RT_PUBLIC a##bits __tsan_atomic##bits##_load(const volatile a##bits *address, int order); \
	RT_PUBLIC a##bits __tsan_atomic##bits##_load(const volatile a##bits *address, int order)  \
	{                                                                                         \
		static const struct rt_shape shape =                                              \
			RT_SHAPE_ONE((bits) / 8, LOCI_OP_LOAD, LOCI_REF_ATOMIC);                  \
                                                                                                  \
		(void)order;                                                                      \
		load_or_store(RT_BACK, address, &shape);                                          \
		return LOADED_##bits(address);                                                    \
	}                                                                                         \
	RT_PUBLIC void __tsan_atomic##bits##_store(                                               \
		volatile a##bits *address, a##bits value, int order);                             \
	RT_PUBLIC void __tsan_atomic##bits##_store(                                               \
		volatile a##bits *address, a##bits value, int order)                              \
	{                                                                                         \
		static const struct rt_shape shape =                                              \
			RT_SHAPE_ONE((bits) / 8, LOCI_OP_STORE, LOCI_REF_ATOMIC);                 \
                                                                                                  \
		load_or_store(RT_BACK, address, &shape);                                          \
		STORE_##bits(address, value, order);                                              \
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
                                                                                                  \
		(void)order;                                                                      \
		(void)order_failed;                                                               \
		modify(RT_BACK, address, &shape);                                                 \
		EXCHANGED_##bits(address, &expected, value);                                      \
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
