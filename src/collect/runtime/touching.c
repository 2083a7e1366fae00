// SPDX-License-Identifier: BSD-2-Clause
/* Functions of the C library that touch memory for their callers. gcc tells nothing of that, so
 * `loci gcc` has the linker lead the calls from what it links here (--wrap, by touched.txt). Only
 * calls from functions that gcc tells of count: code of `loci cc` has told of its own, and other
 * code is not seen.
 *
 * gcc itself calls some of them, to copy or to clear what it has just told as a range. Such a call
 * is known by its address and length. The one mistake in this: a copy that the program asks for
 * right after gcc has copied the same, in place and without a call, is not seen. */
#include "collect/runtime/tsan.h"
#include "collect/runtime/wrap.h"

#include <string.h>
#include <strings.h>

#define REFUSED 1024 /* a power of two */

static bool is_told(const struct rt_range *range, const void *address, size_t bytes, uint64_t count)
{
	return range->address == (uintptr_t)address && range->bytes == bytes &&
		range->count == count;
}

/* Whether gcc has told it. Either is told last; the other may stay in its function. */
static bool is_copied_by_gcc(const void *to, const void *from, size_t bytes)
{
	uint64_t count = rt_thread_count(rt_self);
	bool is = is_told(&rt_written_last, to, bytes, count) ||
		is_told(&rt_read_last, from, bytes, count);

	rt_read_last.count = rt_written_last.count = 0;
	return is;
}

static bool is_cleared_by_gcc(const void *to, size_t bytes)
{
	bool is = is_told(&rt_written_last, to, bytes, rt_thread_count(rt_self));

	rt_written_last.count = 0;
	return is;
}

/* Calls of code that is not seen, which is so until more functions are known. The address, 48 bits,
 * above 16 bits of how many were known. */
static uint64_t refused[REFUSED];

static bool is_from_gcc(uintptr_t back)
{
	uint64_t *slot = &refused[back >> 2 & (REFUSED - 1)];
	uint64_t now = (uint64_t)back << 16 | (rt_places_functions() & 0xffff);

	if (rt_place_find(back))
		return true;
	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == now)
		return false;
	if (rt_places_have_function(rt_function_start(back - 1)))
		return true;
	__atomic_store_n(slot, now, __ATOMIC_RELAXED);
	return false;
}

/* In a static program the C library comes here before there are threads. */
static bool is_seen(uintptr_t back)
{
	return __atomic_load_n(&rt.mode, __ATOMIC_RELAXED) > RT_OFF && rt_self && is_from_gcc(back);
}

static __attribute__((noinline)) void touch(
	uintptr_t back, const struct rt_shape *shape, const uint64_t *words)
{
	if (__loci_thread.budget >= 0)
		__loci_thread.budget -= shape->n_counted;
	else
		rt_plain_refer(back, shape, words, 2 * shape->n_refs);
}

#ifdef LOCI_RT_STATIC
#define REAL(name) __real_##name
#else
#define REAL(name) name
#endif

#define LOADS  RT_REF(0, LOCI_OP_LOAD, LOCI_REF_BULK)
#define STORES RT_REF(0, LOCI_OP_STORE, LOCI_REF_BULK)
#define OF(p)  (uintptr_t)(p)

/* A function, its parameters and arguments, whether gcc has told it, its references, and for each
 * of these an address and a length. */
#define WRAP(result, name, parameters, arguments, told, n, refs, ...)              \
	extern result REAL(name) parameters;                                       \
	RT_PUBLIC result __wrap_##name parameters;                                 \
	RT_PUBLIC result __wrap_##name parameters                                  \
	{                                                                          \
		static const struct rt_shape shape = {                             \
			.n_refs = (n), .n_counted = (n), .ref = refs               \
		};                                                                 \
                                                                                   \
		if (is_seen(RT_BACK) && !(told))                                   \
			touch(RT_BACK, &shape, (const uint64_t[]){ __VA_ARGS__ }); \
		return REAL(name) arguments;                                       \
	}

/* clang-format off */
#define ONE(kind)         { kind }
#define TWO(first, next)  { first, next }
#define THREE(a, b, c)    { a, b, c }

#define COPY(result, name, parameters, arguments) \
	WRAP(result, name, parameters, arguments, is_copied_by_gcc(to, from, n), 2, TWO(LOADS, STORES), \
		OF(from), n, OF(to), n)
#define SET(name, parameters, arguments) \
	WRAP(void *, name, parameters, arguments, is_cleared_by_gcc(to, n), 1, ONE(STORES), OF(to), n)

COPY(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n))
COPY(void *, memmove, (void *to, const void *from, size_t n), (to, from, n))
COPY(void *, mempcpy, (void *to, const void *from, size_t n), (to, from, n))
COPY(void *, __memcpy_chk, (void *to, const void *from, size_t n, size_t room), (to, from, n, room))
COPY(void *, __memmove_chk, (void *to, const void *from, size_t n, size_t room), (to, from, n, room))
COPY(void, bcopy, (const void *from, void *to, size_t n), (from, to, n))
SET(memset, (void *to, int value, size_t n), (to, value, n))
SET(__memset_chk, (void *to, int value, size_t n, size_t room), (to, value, n, room))
WRAP(void, bzero, (void *to, size_t n), (to, n), is_cleared_by_gcc(to, n), 1, ONE(STORES), OF(to), n)

/* What reads two, or one. */
#define COMPARE(name, parameters, arguments, length) \
	WRAP(int, name, parameters, arguments, false, 2, TWO(LOADS, LOADS), \
		OF(a), length, OF(b), length)
#define READ(result, name, parameters, arguments, length) \
	WRAP(result, name, parameters, arguments, false, 1, ONE(LOADS), OF(s), length)
#define READ_TWO(result, name, length) \
	WRAP(result, name, (const char *s, const char *t), (s, t), false, 2, TWO(LOADS, LOADS), \
		OF(s), length, OF(t), __loci_span_string(t))

COMPARE(memcmp, (const void *a, const void *b, size_t n), (a, b, n), __loci_span_memory(a, b, n))
COMPARE(bcmp, (const void *a, const void *b, size_t n), (a, b, n), __loci_span_memory(a, b, n))
COMPARE(strcmp, (const char *a, const char *b), (a, b), __loci_span_compare(a, b))
COMPARE(strncmp, (const char *a, const char *b, size_t n), (a, b, n), __loci_span_compare_n(a, b, n))
COMPARE(strcasecmp, (const char *a, const char *b), (a, b), __loci_span_compare_case(a, b))
COMPARE(strncasecmp, (const char *a, const char *b, size_t n), (a, b, n),
	__loci_span_compare_case_n(a, b, n))
READ(size_t, strlen, (const char *s), (s), __loci_span_string(s))
READ(size_t, strnlen, (const char *s, size_t n), (s, n), __loci_span_string_n(s, n))
READ(char *, strchr, (const char *s, int c), (s, c), __loci_span_character(s, c))
READ(char *, strrchr, (const char *s, int c), (s, c), __loci_span_string(s))
READ(void *, memchr, (const void *s, int c, size_t n), (s, c, n), __loci_span_byte(s, c, n))
READ_TWO(size_t, strspn, __loci_span_all(s, t))
READ_TWO(size_t, strcspn, __loci_span_any(s, t))
READ_TWO(char *, strpbrk, __loci_span_any(s, t))

/* Strings that are copied, and put behind others. */
#define STRING(name, parameters, arguments, length, written) \
	WRAP(char *, name, parameters, arguments, false, 2, TWO(LOADS, STORES), \
		OF(from), length, OF(to), written)
#define APPEND(name, parameters, arguments, length) \
	WRAP(char *, name, parameters, arguments, false, 3, THREE(LOADS, LOADS, STORES), \
		OF(to), __loci_span_string(to), OF(from), length, OF(to + strlen(to)), length)

STRING(strcpy, (char *to, const char *from), (to, from), __loci_span_string(from), __loci_span_string(from))
STRING(stpcpy, (char *to, const char *from), (to, from), __loci_span_string(from), __loci_span_string(from))
STRING(__strcpy_chk, (char *to, const char *from, size_t room), (to, from, room),
	__loci_span_string(from), __loci_span_string(from))
STRING(__stpcpy_chk, (char *to, const char *from, size_t room), (to, from, room),
	__loci_span_string(from), __loci_span_string(from))
STRING(strncpy, (char *to, const char *from, size_t n), (to, from, n), __loci_span_string_n(from, n), n)
STRING(stpncpy, (char *to, const char *from, size_t n), (to, from, n), __loci_span_string_n(from, n), n)
STRING(__strncpy_chk, (char *to, const char *from, size_t n, size_t room), (to, from, n, room),
	__loci_span_string_n(from, n), n)
APPEND(strcat, (char *to, const char *from), (to, from), __loci_span_string(from))
APPEND(strncat, (char *to, const char *from, size_t n), (to, from, n), __loci_span_string_n(from, n))
APPEND(__strcat_chk, (char *to, const char *from, size_t room), (to, from, room), __loci_span_string(from))
APPEND(__strncat_chk, (char *to, const char *from, size_t n, size_t room), (to, from, n, room),
	__loci_span_string_n(from, n))
