// SPDX-License-Identifier: BSD-2-Clause
/* The operators new of C++: the C++ library's do the work, by way of malloc; here is noted where
 * they were called from. Written in C, by the names that the C++ ABI gives them.
 *
 * Not in static programs: naming the library's functions would bring the C++ library into programs
 * that are written in C. There the site is within operator new. */
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"

#ifndef LOCI_RT_STATIC
static void note(void *caller)
{
	struct rt_thread *thread = rt_mode() == RT_TRACE ? rt_thread() : NULL;

	if (thread)
		thread->new_site = (uintptr_t)caller - 1;
}

#define NEW(name, parameters, ...)                 \
	RT_WRAP(void *, name, parameters)          \
	{                                          \
		note(__builtin_return_address(0)); \
		return RT_REAL(name)(__VA_ARGS__); \
	}
#define PLAIN   size_t bytes
#define NOTHROW size_t bytes, const void *nothrow
#define ALIGNED size_t bytes, size_t alignment
#define BOTH    size_t bytes, size_t alignment, const void *nothrow

NEW(_Znwm, PLAIN, bytes)
NEW(_Znam, PLAIN, bytes)
NEW(_ZnwmRKSt9nothrow_t, NOTHROW, bytes, nothrow)
NEW(_ZnamRKSt9nothrow_t, NOTHROW, bytes, nothrow)
NEW(_ZnwmSt11align_val_t, ALIGNED, bytes, alignment)
NEW(_ZnamSt11align_val_t, ALIGNED, bytes, alignment)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, BOTH, bytes, alignment, nothrow)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, BOTH, bytes, alignment, nothrow)
#endif
