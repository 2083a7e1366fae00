// SPDX-License-Identifier: BSD-2-Clause
/* The mask of signals, less those that are taken: of these the kernel is not told. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>

#define SYS_RT_SIGPROCMASK 14
#define SIGSET_BYTES       8
#define ALL                (~(RT_SIGNAL_BIT(SIGKILL) | RT_SIGNAL_BIT(SIGSTOP)))

/* By the program, of the taken ones. */
static __thread uint64_t blocked __attribute__((tls_model("initial-exec")));
/* In a call with a mask of its own: what a handler that comes within it is to restore. */
static __thread bool is_instead __attribute__((tls_model("initial-exec")));
static __thread uint64_t instead_of __attribute__((tls_model("initial-exec")));
/* Handlers of the program's that have begun. */
static __thread uint32_t n_entered __attribute__((tls_model("initial-exec")));
/* In such a call, all of its mask. */
static __thread bool is_in_call __attribute__((tls_model("initial-exec")));
static __thread uint64_t call_mask __attribute__((tls_model("initial-exec")));

bool rt_own_is_blocked(int signal)
{
	return (blocked & RT_SIGNAL_BIT(signal)) != 0;
}

uint64_t rt_own_blocked(void)
{
	return blocked;
}

void rt_own_release_due(void)
{
	if (rt_own_parked() & ~blocked)
		rt_own_release(~blocked);
}

void rt_own_block_only(uint64_t mask)
{
	__atomic_store_n(&blocked, mask & rt_own_taken, __ATOMIC_RELAXED);
	rt_own_release_due();
}

/* Of the signals that nobody else may block. SIGSYS is what returning from a handler may need. */
void rt_own_hold(uint64_t signals)
{
	loci_syscall6(SYS_RT_SIGPROCMASK, SIG_BLOCK, (long)&signals, 0, SIGSET_BYTES, 0, 0);
}

void rt_own_block_instead(uint64_t mask)
{
	instead_of = blocked;
	is_instead = true;
	rt_own_block_only(mask);
}

void rt_own_block_again(uint64_t mask)
{
	is_instead = false;
	rt_own_block_only(mask);
}

void rt_own_call_has(uint64_t mask)
{
	call_mask = mask;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	is_in_call = true;
}

void rt_own_call_over(void)
{
	is_in_call = false;
}

/* The kernel says what it interrupted: on the way there and back there is another mask. */
bool rt_own_is_in_call(const ucontext_t *context, uint64_t *ret_mask)
{
	*ret_mask = call_mask;
	return is_in_call && context->uc_mcontext.gregs[REG_RAX] == -EINTR;
}

bool rt_own_is_instead(void)
{
	return is_instead;
}

uint32_t rt_own_entered(void)
{
	return n_entered;
}

uint64_t rt_own_masks_kept(void)
{
	return is_instead ? instead_of : blocked;
}

void rt_own_masks_enter(uint64_t mask, ucontext_t *context)
{
	sigset_t *set = &context->uc_sigmask;

	if (!rt_own_is_kept())
		return;
	rt_set_be(set, (rt_set_word(set) & ~rt_own_taken) | rt_own_masks_kept());
	is_instead = is_in_call = false;
	n_entered++;
	__atomic_store_n(&blocked, blocked | (mask & rt_own_taken), __ATOMIC_RELAXED);
}

void rt_own_masks_leave(ucontext_t *context)
{
	sigset_t *set = &context->uc_sigmask;
	uint64_t word = rt_set_word(set);

	if (!rt_own_is_kept())
		return;
	rt_set_be(set, word & ~rt_own_taken);
	__atomic_store_n(&blocked, word & rt_own_taken, __ATOMIC_RELAXED);
}

void rt_own_masks_left(void)
{
	uint64_t due = rt_own_taken ? rt_own_parked() & ~blocked : 0;

	if (!due)
		return;
	rt_block(); /* they come when it has returned */
	rt_own_hold(due & ~RT_SIGNAL_BIT(SIGSYS));
	rt_own_release(due);
}

/* Where all are blocked it is by the runtime, or within the C library. */
uint64_t rt_own_masks_adopt(uint64_t mask)
{
	if (!(mask & rt_own_taken) || mask == ALL)
		return mask;
	blocked |= mask & rt_own_taken;
	return mask & ~rt_own_taken;
}

static uint64_t in_kernel(int how, uint64_t mask)
{
	uint64_t before = 0;

	if (how == SIG_BLOCK)
		mask = rt_blockable(mask);
	loci_syscall6(SYS_RT_SIGPROCMASK, how, (long)&mask, (long)&before, SIGSET_BYTES, 0, 0);
	return before;
}

/* If there they are blocked already, it is by the program, in a way that was not seen. */
void rt_own_masks_close(void)
{
	rt_own_masks_adopt(in_kernel(SIG_BLOCK, rt_own_taken));
}

void rt_own_masks_open(void)
{
	in_kernel(SIG_UNBLOCK, rt_own_taken);
	rt_own_release_due();
}

void rt_own_masks_show(void)
{
	in_kernel(SIG_BLOCK, blocked);
}

void rt_own_masks_hide(void)
{
	in_kernel(SIG_UNBLOCK, blocked);
}

static uint64_t changed(int how, uint64_t from, uint64_t by)
{
	return how == SIG_BLOCK ? from | by : how == SIG_UNBLOCK ? from & ~by : by;
}

static int change(
	int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	uint64_t word = set ? rt_set_word(set) : 0, unseen, before;
	sigset_t others, was;
	int r;

	if (set) {
		others = *set;
		rt_set_be(&others, how == SIG_UNBLOCK ? word : word & ~rt_own_taken);
	}
	r = real(how, set ? &others : NULL, &was);
	if (r)
		return r;
	unseen = rt_set_word(&was) & rt_own_taken;
	before = blocked | unseen;
	if (old) {
		*old = was;
		rt_set_be(old, rt_set_word(&was) | before);
	}
	rt_own_block_only(set ? changed(how, before, word) : before);
	if (unseen)
		in_kernel(SIG_UNBLOCK, unseen);
	return 0;
}

#define RT_WRAP_MASK(name)                                              \
	RT_WRAP(int, name, int how, const sigset_t *set, sigset_t *old) \
	{                                                               \
		if (!rt_own_is_kept())                                  \
			return RT_REAL(name)(how, set, old);            \
		return change(RT_REAL(name), how, set, old);            \
	}
RT_WRAP_MASK(sigprocmask)
RT_WRAP_MASK(pthread_sigmask)

RT_WRAP(int, sigpending, sigset_t *set)
{
	int r = RT_REAL(sigpending)(set);

	if (r == 0 && rt_own_is_kept())
		rt_set_be(set, rt_set_word(set) | (rt_own_parked() & blocked));
	return r;
}
