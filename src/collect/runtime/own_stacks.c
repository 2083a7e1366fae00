// SPDX-License-Identifier: BSD-2-Clause
/* The alternate stack that a thread has for our handlers while the program gives it none. The
 * program sees its own, or that there is none. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>

#define SYS_SIGALTSTACK 131
#define STACK_BYTES     65536

static __thread char *stack __attribute__((tls_model("initial-exec")));
static __thread bool is_installed __attribute__((tls_model("initial-exec")));

static long set(const stack_t *new, stack_t *old)
{
	return loci_syscall3(SYS_SIGALTSTACK, (long)new, (long)old, 0);
}

static void install(void)
{
	stack_t ours = { .ss_sp = stack, .ss_size = STACK_BYTES };

	is_installed = stack && set(&ours, NULL) == 0;
}

void rt_own_stack_begin(void)
{
	stack_t now = { 0 };

	if (is_installed || set(NULL, &now) < 0 || !(now.ss_flags & SS_DISABLE))
		return;
	if (!stack)
		stack = loci_sys_map(STACK_BYTES, -1);
	install();
}

/* Unless the thread is on it. */
void rt_own_stack_end(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	if (!stack || (is_installed && set(&none, NULL) < 0))
		return;
	is_installed = false;
	rt_unmap(stack, STACK_BYTES);
	stack = NULL;
}

bool rt_own_stack_is(const void *start)
{
	return stack && start == stack;
}

/* In front of ours: to the program there is none. */
static int set_first(int (*real)(const stack_t *, stack_t *), const stack_t *new, stack_t *old)
{
	stack_t wanted = { .ss_flags = SS_DISABLE };

	if (new)
		wanted = *new;
	if (!(wanted.ss_flags & SS_DISABLE)) {
		if (real(&wanted, NULL) < 0)
			return -1;
		is_installed = false;
	} else if (wanted.ss_flags != SS_DISABLE) {
		errno = EINVAL;
		return -1;
	}
	if (old)
		*old = (stack_t){ .ss_flags = SS_DISABLE };
	return 0;
}

RT_WRAP(int, sigaltstack, const stack_t *new, stack_t *old)
{
	bool removes = new &&new->ss_flags == SS_DISABLE;
	int r;

	if (is_installed)
		return set_first(RT_REAL(sigaltstack), new, old);
	r = RT_REAL(sigaltstack)(new, old);
	if (r == 0 && removes && rt_own_taken)
		rt_own_stack_begin();
	return r;
}
