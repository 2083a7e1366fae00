// SPDX-License-Identifier: BSD-2-Clause
/* The malloc family. Sequence numbers order the events of different threads: memory is free from a
 * number taken before it is freed, and taken from one after it was given. A realloc that moves is
 * both, and one event only where no other thread can come between.
 *
 * The allocator behind is whoever's it is. Looking for it may itself allocate, before it is found;
 * that comes from a small heap of its own, which is never given back. */
#include "collect/runtime/deferring.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/untold.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define SITE ((uintptr_t)__builtin_return_address(0) - 1)

/* What operator new was called from, if it is that which allocates. */
static uint64_t site_of(struct rt_thread *thread, uintptr_t caller)
{
	uintptr_t site = thread->new_site;

	thread->new_site = 0;
	return site ? site : caller;
}

/* What the loader allocates is not told: it may do so where code that is in the midst of its words
 * does not know of a call, when a thread first comes to a library's thread-local variable. */
static struct rt_thread *watching(uintptr_t caller)
{
	return rt_mode() == RT_TRACE && !rt_is_loader(caller) ? rt_thread() : NULL;
}

RT_PUBLIC void __loci_allocating(uint32_t begins)
{
	struct rt_thread *thread = watching(SITE);

	if (thread)
		thread->new_site = begins ? SITE : 0;
}

static void *tell_given(void *memory, size_t bytes, uintptr_t caller)
{
	struct rt_thread *thread = watching(caller);
	uint64_t raw[3] = { (uintptr_t)memory };

	if (!thread)
		return memory;
	raw[2] = site_of(thread, caller);
	if (!memory)
		return memory;
	rt_defer(thread); /* no handler between a number and its words */
	if (rt.watches) {
		rt_untold_keep(thread, raw[0], bytes, raw[2]);
	} else {
		raw[1] = rt_next_sequence();
		rt_mark(thread, LOCI_MARK_ALLOC, bytes, 3, raw);
	}
	rt_undefer(thread);
	return memory;
}

static void tell_free(struct rt_thread *thread, void *memory, uint64_t sequence)
{
	uint64_t raw[2] = { (uintptr_t)memory, sequence };

	rt_mark(thread, LOCI_MARK_FREE, 0, 2, raw);
}

#ifdef LOCI_RT_STATIC
#define CAN_CALL(name) true
#else
/* True if the library's function is known or can be looked for; false while that is going on. */
static __thread bool is_looking __attribute__((tls_model("initial-exec")));
static char early[16384] __attribute__((aligned(16)));
static size_t n_early;

static void *early_alloc(size_t bytes)
{
	size_t need = (bytes + 15) & ~(size_t)15;
	size_t at = __atomic_fetch_add(&n_early, need, __ATOMIC_RELAXED);

	return at + need <= sizeof(early) ? early + at : NULL;
}

static bool is_early(const void *memory)
{
	return (uintptr_t)memory - (uintptr_t)early < sizeof(early);
}

static bool look_for(const struct rt_real *real)
{
	if (*real->function)
		return true;
	if (is_looking)
		return false;
	is_looking = true;
	rt_next(real);
	is_looking = false;
	return *real->function != NULL;
}
#define CAN_CALL(name) (__builtin_expect(real_##name != NULL, 1) || look_for(&to_##name))
#endif

RT_WRAP(void *, malloc, size_t bytes)
{
#ifndef LOCI_RT_STATIC
	if (!CAN_CALL(malloc))
		return early_alloc(bytes);
#endif
	return tell_given(RT_REAL(malloc)(bytes), bytes, SITE);
}

RT_WRAP(void, free, void *memory)
{
	struct rt_thread *thread;

#ifndef LOCI_RT_STATIC
	if (is_early(memory) || !CAN_CALL(free))
		return;
#endif
	thread = memory ? watching(SITE) : NULL;
	if (thread) {
		rt_defer(thread);
		if (!rt.watches || !rt_untold_drop(thread, (uintptr_t)memory))
			tell_free(thread, memory, rt_next_sequence());
		rt_undefer(thread);
	}
	RT_REAL(free)(memory);
}

RT_WRAP(void *, calloc, size_t n, size_t bytes)
{
#ifndef LOCI_RT_STATIC
	if (!CAN_CALL(calloc))
		return early_alloc(n * bytes);
#endif
	return tell_given(RT_REAL(calloc)(n, bytes), n * bytes, SITE);
}

/* The sequence number was taken before. */
static void tell_resized(struct rt_thread *thread, void *old, void *new, size_t bytes,
	uint64_t sequence, uintptr_t site)
{
	uint64_t raw[4] = { (uintptr_t)old, (uintptr_t) new, sequence, site };

	if (!new &&bytes) { /* failed: nothing has happened */
		tell_free(thread, NULL, sequence);
	} else if (!new) {
		tell_free(thread, old, sequence);
	} else if (old != new &&rt_is_threaded()) {
		tell_free(thread, old, sequence);
		tell_given(new, bytes, site);
	} else {
		rt_mark(thread, LOCI_MARK_RESIZE, bytes, 4, raw);
	}
}

static void *resize(void *(*real)(void *, size_t), void *old, size_t bytes, uintptr_t site)
{
	struct rt_thread *thread = old ? watching(site) : NULL;
	uint64_t sequence;
	void *new;
	int error;

	if (thread)
		rt_defer(thread);
	if (thread && rt.watches)
		rt_untold_say(thread, (uintptr_t)old);
	sequence = thread ? rt_next_sequence() : 0;
	new = real(old, bytes);
	error = errno;
	if (thread) {
		tell_resized(thread, old, new, bytes, sequence, site);
		rt_undefer(thread);
	} else if (!old) {
		tell_given(new, bytes, site);
	}
	errno = error;
	return new;
}

#ifndef LOCI_RT_STATIC
static void *resize_early(void *old, size_t bytes)
{
	size_t most = sizeof(early) - (size_t)((char *)old - early);
	void *new = RT_WRAPPED(malloc)(bytes);

	if (new)
		memcpy(new, old, bytes < most ? bytes : most);
	return new;
}
#endif

RT_WRAP(void *, realloc, void *old, size_t bytes)
{
#ifndef LOCI_RT_STATIC
	if (is_early(old))
		return resize_early(old, bytes);
	if (!CAN_CALL(realloc))
		return old ? NULL : early_alloc(bytes);
#endif
	return resize(RT_REAL(realloc), old, bytes, SITE);
}

RT_WRAP(void *, reallocarray, void *old, size_t n, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
#ifndef LOCI_RT_STATIC
	if (is_early(old))
		return resize_early(old, all);
	return resize(RT_REAL(realloc), old, all, SITE);
#else
	return resize(&__real_realloc, old, all, SITE);
#endif
}

RT_WRAP(void *, memalign, size_t alignment, size_t bytes)
{
	return tell_given(RT_REAL(memalign)(alignment, bytes), bytes, SITE);
}

RT_WRAP(void *, aligned_alloc, size_t alignment, size_t bytes)
{
	return tell_given(RT_REAL(aligned_alloc)(alignment, bytes), bytes, SITE);
}

RT_WRAP(int, posix_memalign, void **ret, size_t alignment, size_t bytes)
{
	int r = RT_REAL(posix_memalign)(ret, alignment, bytes);

	tell_given(r == 0 ? *ret : NULL, bytes, SITE);
	return r;
}

RT_WRAP(void *, valloc, size_t bytes)
{
	return tell_given(RT_REAL(valloc)(bytes), bytes, SITE);
}

RT_WRAP(void *, pvalloc, size_t bytes)
{
	return tell_given(RT_REAL(pvalloc)(bytes), bytes, SITE);
}
