// SPDX-License-Identifier: BSD-2-Clause
/* The alternate stack of a thread. While signals are taken the kernel has one of ours, with room
 * for our handlers whatever the program does; the program's own is kept here. It sees that, or that
 * there is none, and the frames of its handlers are moved to it (own_signals.c): of those that the
 * runtime took, and of others by their entries (handlers.c).
 *
 * Handlers that come without an entry, and those for which the program's stack is too small with
 * what the runtime needs beside them, run on ours. So does one that comes while another's frame has
 * not been moved yet. A stack that is set without the C library replaces ours. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/watched_pages.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <sys/mman.h>

#define SYS_MPROTECT    10
#define SYS_SIGALTSTACK 131
#define STACK_BYTES     262144 /* handlers of the program's may run there: see above */
#define GUARD_BYTES     4096   /* below it */
#define RED_ZONE_BYTES  128
#define ROOM_BYTES      4096 /* for a handler, and what of the runtime it calls */
#define AUTODISARM      (1 << 31)

static __thread char *stack __attribute__((tls_model("initial-exec")));
/* As the kernel would keep it, if it has ours. */
static __thread stack_t program __attribute__((tls_model("initial-exec")));
/* The last that a handler disarmed, which may be on it still. */
static __thread stack_t disarmed __attribute__((tls_model("initial-exec")));
static __thread bool is_over __attribute__((tls_model("initial-exec")));
static bool is_off; /* nobody ends threads any more: they have no new ones */

static long set(const stack_t *new, stack_t *old)
{
	return loci_syscall3(SYS_SIGALTSTACK, (long)new, (long)old, 0);
}

static stack_t in_kernel(void)
{
	stack_t now = { .ss_flags = SS_DISABLE };

	set(NULL, &now);
	return now;
}

static bool is_ours(const stack_t *of)
{
	return stack && of->ss_sp == stack;
}

static stack_t ours(void)
{
	return (stack_t){ .ss_sp = stack, .ss_size = STACK_BYTES };
}

static bool is_on(const stack_t *of, uintptr_t address)
{
	return !(of->ss_flags & SS_DISABLE) && address - (uintptr_t)of->ss_sp < of->ss_size;
}

static stack_t kept(const stack_t *given)
{
	return given->ss_flags & SS_DISABLE ? (stack_t){ .ss_flags = given->ss_flags } : *given;
}

static char *make(void)
{
	char *low = loci_sys_map(GUARD_BYTES + STACK_BYTES, -1);

	if (!low)
		return NULL;
	loci_syscall3(SYS_MPROTECT, (long)low, GUARD_BYTES, PROT_NONE);
	low += GUARD_BYTES;
	rt_pages_refuse((uintptr_t)low, (uintptr_t)low + STACK_BYTES);
	return low;
}

/* Unless the thread is on the program's. */
static void adopt(void)
{
	stack_t now = in_kernel(), was = program, own;

	if (is_ours(&now))
		return;
	if (!stack)
		stack = make();
	if (!stack)
		return;
	own = ours();
	program = kept(&now); /* before a handler comes on ours */
	if (set(&own, NULL) < 0)
		program = was;
}

void rt_own_stacks_off(void)
{
	__atomic_store_n(&is_off, true, __ATOMIC_RELAXED);
}

void rt_own_stack_begin(void)
{
	is_over = false;
	adopt();
}

/* Unless the thread is on ours. */
void rt_own_stack_end(void)
{
	stack_t now = in_kernel();

	is_over = true;
	if (!stack || (is_ours(&now) && set(&program, NULL) < 0))
		return;
	rt_unmap(stack - GUARD_BYTES, GUARD_BYTES + STACK_BYTES);
	stack = NULL;
}

void rt_own_stack_give_back(void)
{
	stack_t now = in_kernel();

	if (is_ours(&now))
		set(&program, NULL);
}

const stack_t *rt_own_stack_program(void)
{
	return program.ss_size ? &program : &disarmed;
}

bool rt_own_stack_is_under(const ucontext_t *context)
{
	const stack_t *now = &context->uc_stack;

	return is_ours(now) && is_on(now, (uintptr_t)__builtin_frame_address(0)) &&
		!is_on(now, (uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
}

uintptr_t rt_own_stack_for(const ucontext_t *context, bool wants_own, size_t bytes)
{
	const stack_t *now = &context->uc_stack;
	uintptr_t interrupted = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
	uintptr_t top = interrupted - RED_ZONE_BYTES, low = (uintptr_t)program.ss_sp;
	bool is_on_program;

	if (!is_on(now, (uintptr_t)__builtin_frame_address(0)) || is_on(now, interrupted) ||
		(wants_own && !is_ours(now)))
		return 0;
	if (!is_ours(now))
		return top;
	is_on_program = is_on(&program, interrupted);
	if (wants_own && program.ss_size && !is_on_program) {
		top = low + program.ss_size;
		is_on_program = true;
	}
	return is_on_program && top < low + bytes + ROOM_BYTES ? 0 : top;
}

bool rt_own_stack_enter(ucontext_t *context)
{
	if (!is_ours(&context->uc_stack))
		return false;
	context->uc_stack = program;
	if (program.ss_flags & AUTODISARM) {
		disarmed = program;
		program = (stack_t){ .ss_flags = SS_DISABLE };
	}
	return true;
}

void rt_own_stack_leave(ucontext_t *context)
{
	if (!is_on(&program, (uintptr_t)__builtin_frame_address(0)))
		program = kept(&context->uc_stack);
	context->uc_stack = stack ? ours() : program;
}

bool rt_own_stack_is_on(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	stack_t own = ours();

	return program.ss_size && !(program.ss_flags & AUTODISARM) &&
		(is_on(&program, here) || is_on(&own, here));
}

static stack_t shown(void)
{
	stack_t is = program;

	is.ss_flags = (program.ss_flags & AUTODISARM) |
		(!program.ss_size                      ? SS_DISABLE
				: rt_own_stack_is_on() ? SS_ONSTACK
						       : 0);
	return is;
}

/* The kernel says whether it would take it, and what follows its calls sees it (led_calls.c). */
static int change(int (*real)(const stack_t *, stack_t *), const stack_t *new)
{
	stack_t wanted = *new, own = ours();
	uint64_t mask;
	int r;

	if (rt_own_stack_is_on()) {
		errno = EPERM;
		return -1;
	}
	mask = rt_block();
	r = real(&wanted, NULL);
	if (r == 0) {
		set(&own, NULL);
		program = kept(&wanted);
	}
	rt_unblock(mask);
	return r;
}

RT_WRAP(int, sigaltstack, const stack_t *new, stack_t *old)
{
	bool is_kept = rt_own_is_kept();
	stack_t now = in_kernel(), before;
	int r;

	if (is_kept && is_ours(&now)) {
		before = shown();
		r = new ? change(RT_REAL(sigaltstack), new) : 0;
		if (r == 0 && old)
			*old = before;
		return r;
	}
	r = RT_REAL(sigaltstack)(new, old);
	if (r == 0 && new &&is_kept && !is_over && !is_off)
		adopt();
	return r;
}
